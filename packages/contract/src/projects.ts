import Type, { type Static } from 'typebox'
import { Page, PageQuery } from './page.ts'
import { asUser, inProject, route } from './route.ts'
import { IdInput, Instant, ProjectParams, Uuid } from './schema.ts'

export const ProjectBasic = Type.Object({
  id: Type.Integer(),
  uuid: Uuid(),
  organization: Uuid(),
  api_token: Type.String({ description: 'Public token for SDKs, `phc_…`.' }),
  name: Type.String(),
  timezone: Type.String(),
})
export const Project = Type.Object({
  ...ProjectBasic.properties,
  created_at: Instant(),
  updated_at: Instant(),
  property_matching_version: Type.Integer({ description: 'How `exact` compares; 2 for new projects.' }),
  group_types: Type.Record(Type.String(), Type.String(), { description: 'Group type index → name.' }),
  effective_membership_level: Type.Integer(),
  previous_token: Type.Optional(
    Type.Object(
      { mask_value: Type.String(), expires_at: Instant() },
      { description: 'Only after a rotation with an overlap: the token that still works.' },
    ),
  ),
})
export type ProjectBasic = Static<typeof ProjectBasic>
export type Project = Static<typeof Project>

/** The longest time that a rotated token keeps working. */
export const tokenOverlapHoursMax = 30 * 24

export const ProjectSecretKey = Type.Object({
  id: Type.String(),
  label: Type.String(),
  mask_value: Type.String(),
  created_at: Instant(),
  value: Type.Optional(Type.String({ description: 'Returned once, when the key is created.' })),
})
export type ProjectSecretKey = Static<typeof ProjectSecretKey>

const tag = 'Projects'
const project = '/api/projects/:project_id' as const
const ProjectName = Type.String({ minLength: 1, maxLength: 200 })
const fields = {
  timezone: Type.Optional(Type.String({ maxLength: 100, description: 'IANA time zone.' })),
  property_matching_version: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
}

export const projectRoutes = {
  list: route({
    method: 'GET',
    path: '/api/projects',
    tag,
    summary: 'List the projects of the caller in all organizations',
    access: asUser('project:read'),
    query: PageQuery,
    answers: { 200: Page(Project) },
  }),
  create: route({
    method: 'POST',
    path: '/api/projects',
    tag,
    summary: 'Create a project (admin of the organization)',
    access: asUser('project:write'),
    body: Type.Object({ name: Type.Optional(ProjectName), organization: Type.Optional(IdInput()), ...fields }),
    answers: { 201: Project },
  }),
  get: route({
    method: 'GET',
    path: project,
    tag,
    summary: 'Get a project',
    access: inProject('project:read'),
    params: ProjectParams,
    answers: { 200: Project },
  }),
  update: route({
    method: 'PATCH',
    path: project,
    tag,
    summary: 'Change a project (admin)',
    access: inProject('project:write'),
    params: ProjectParams,
    body: Type.Object({ name: Type.Optional(ProjectName), ...fields }),
    answers: { 200: Project },
  }),
  remove: route({
    method: 'DELETE',
    path: project,
    tag,
    summary: 'Delete a project with everything in it (admin)',
    access: inProject('project:write'),
    params: ProjectParams,
    answers: { 204: null },
  }),
  resetToken: route({
    method: 'PATCH',
    path: `${project}/reset_token`,
    tag,
    summary: 'Replace the public token (admin); the previous one can keep working for a while',
    access: inProject('project:write'),
    params: ProjectParams,
    query: Type.Object({
      overlap_hours: Type.Optional(
        Type.String({
          description: `How long the previous token keeps working: 0 (default) to ${tokenOverlapHoursMax}.`,
        }),
      ),
    }),
    answers: { 200: Project },
  }),
  endTokenOverlap: route({
    method: 'DELETE',
    path: `${project}/previous_token`,
    tag,
    summary: 'Revoke the token that was in use before the last rotation (admin)',
    access: inProject('project:write'),
    params: ProjectParams,
    answers: { 204: null },
  }),
  listSecretKeys: route({
    method: 'GET',
    path: `${project}/secret_keys`,
    tag,
    summary: 'List the project secret keys (`phs_…`), newest first, without their values',
    access: inProject('project:read'),
    params: ProjectParams,
    query: PageQuery,
    answers: { 200: Page(ProjectSecretKey) },
  }),
  createSecretKey: route({
    method: 'POST',
    path: `${project}/secret_keys`,
    tag,
    summary: 'Create a project secret key (admin); its value is returned once',
    access: inProject('project:write'),
    params: ProjectParams,
    body: Type.Object({ label: Type.String({ minLength: 1, maxLength: 40 }) }),
    answers: { 201: ProjectSecretKey },
  }),
  removeSecretKey: route({
    method: 'DELETE',
    path: `${project}/secret_keys/:key_id`,
    tag,
    summary: 'Revoke a project secret key (admin)',
    access: inProject('project:write'),
    params: Type.Object({ ...ProjectParams.properties, key_id: Type.String() }),
    answers: { 204: null },
  }),
}
