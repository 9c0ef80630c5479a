import Type, { type Static } from 'typebox'
import { Page, PageQuery } from '../page.ts'
import { asUser, inOrganization, inProject, routesOf } from '../route.ts'
import {
  IdInput,
  Instant,
  Integer,
  NamedObject,
  NonEmptyTextInput,
  ObjectOf,
  OrganizationParams,
  ProjectParams,
  Text,
  TextInput,
  Uuid,
} from '../schema.ts'

export const ProjectBasic = NamedObject('ProjectSummary', 'A project, as embedded in other objects.', {
  id: Integer('Unique id of the project.', 1),
  uuid: Uuid('UUID of the project.'),
  organization: Uuid('Id of the organization.'),
  api_token: Text('Public token for SDKs, `phc_…`.', 'phc_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'),
  name: Text('Name of the project.', 'Web shop'),
  timezone: Text('IANA time zone.', 'UTC'),
})
export const Project = NamedObject('Project', 'A project: flags, cohorts, persons and plugin configurations.', {
  ...ProjectBasic.properties,
  created_at: Instant('When the project was created.'),
  updated_at: Instant('When the project was last changed.'),
  property_matching_version: Integer('How `exact` compares; 2 for new projects.', 2),
  group_types: Type.Record(Type.String(), Type.String(), {
    description: 'Group type index → name.',
    examples: [{ '0': 'company' }],
  }),
  effective_membership_level: Integer('Level of the caller: 1 member, 8 admin, 15 owner.', 15),
  previous_token: Type.Optional(
    ObjectOf('Only after a rotation with an overlap: the token that still works.', {
      mask_value: Text('First and last four characters.', 'phc_…a1b2'),
      expires_at: Instant('Until when the previous token works.'),
    }),
  ),
})
export type ProjectBasic = Static<typeof ProjectBasic>
export type Project = Static<typeof Project>

/** The longest time that a rotated token keeps working. */
export const tokenOverlapHoursMax = 30 * 24

export const ProjectSecretKey = NamedObject('ProjectSecretKey', 'A secret key of a project, for server SDKs.', {
  id: Text('Unique id of the key.', '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'),
  label: Text('Name of the key.', 'Backend'),
  mask_value: Text('First and last four characters.', 'phs_…a1b2'),
  created_at: Instant('When the key was created.'),
  value: Type.Optional(Text('Returned once, when the key is created.')),
})
export type ProjectSecretKey = Static<typeof ProjectSecretKey>
const NewProjectSecretKey = NamedObject('NewProjectSecretKey', 'A new secret key with its value.', {
  ...ProjectSecretKey.properties,
  value: Type.Optional(Text('The key itself.', 'phs_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n')),
})

const project = '/api/projects/:project_id' as const
const environment = '/api/environments/:project_id' as const
const ofOrganization = '/api/organizations/:parent_lookup_organization_id/projects' as const
const OrganizationProjectParams = Type.Object({ ...OrganizationParams.properties, ...ProjectParams.properties })
const ProjectName = NonEmptyTextInput(200, 'Name of the project.', 'Web shop')
const fields = {
  timezone: Type.Optional(TextInput(100, 'IANA time zone.', 'Europe/Berlin')),
  property_matching_version: Type.Optional(
    Type.Union([Type.Literal(1), Type.Literal(2)], {
      description:
        'How `exact` compares: 2 for new projects, 1 as in projects created earlier. Cannot change while approval policies or a freeze protect the project.',
    }),
  ),
}

const ProjectChange = Type.Object({ name: Type.Optional(ProjectName), ...fields })

const LoadedDemo = NamedObject('LoadedDemo', 'What the demo created.', {
  flags: Integer('How many flags were created.', 8),
  people: Integer('How many people were created.', 200),
})

const route = routesOf('Projects')
const projectRoute = routesOf('Projects', { params: ProjectParams })
const organizationRoute = routesOf('Projects', { params: OrganizationParams })
const organizationProjectRoute = routesOf('Projects', { params: OrganizationProjectParams })

export const projectRoutes = {
  list: route.get('/api/projects', {
    operationId: 'listProjects',
    summary: 'List the projects of the caller in all organizations',
    description: 'Returns a page of all projects that the caller and the key have access to.',
    access: asUser('project:read'),
    query: PageQuery,
    responses: { 200: Page(Project) },
  }),
  create: route.post('/api/projects', {
    operationId: 'createProject',
    summary: 'Create a project (admin of the organization)',
    description: 'Requires the admin level in the organization.',
    access: asUser('project:write'),
    body: Type.Object({
      name: Type.Optional(ProjectName),
      organization: Type.Optional(IdInput('Id of the organization; the current one by default.')),
      ...fields,
    }),
    responses: { 201: Project },
  }),
  get: projectRoute.get(project, {
    operationId: 'getProject',
    summary: 'Get a project',
    description: '`@current` is the project that the caller works in.',
    access: inProject('project:read'),
    responses: { 200: Project },
  }),
  update: projectRoute.patch(project, {
    operationId: 'updateProject',
    summary: 'Change a project (admin)',
    description: 'Requires the admin level.',
    access: inProject('project:write'),
    body: ProjectChange,
    mayConflict: true,
    responses: { 200: Project },
  }),
  remove: projectRoute.delete(project, {
    operationId: 'deleteProject',
    summary: 'Delete a project with everything in it (admin)',
    description:
      'Requires the admin level. Deletes all flags, cohorts and persons of the project; this cannot be undone.',
    access: inProject('project:write'),
    mayConflict: true,
    responses: { 204: null },
  }),
  loadDemo: projectRoute.post(`${project}/load_demo`, {
    operationId: 'loadDemo',
    summary: 'Load the demo into an empty project',
    description:
      'Creates flags with a history, a cohort, people, companies and a month of evaluations, as `halyard demo` does. A project with flags gets 400 and stays as it is.',
    access: inProject('project:write'),
    responses: { 200: LoadedDemo },
  }),
  resetToken: projectRoute.patch(`${project}/reset_token`, {
    operationId: 'resetProjectToken',
    summary: 'Replace the public token (admin)',
    description: 'Requires the admin level. The previous token stops working at once, or after `overlap_hours`.',
    access: inProject('project:write'),
    query: Type.Object({
      overlap_hours: Type.Optional(
        Text(`How long the previous token keeps working: 0 (default) to ${tokenOverlapHoursMax}.`),
      ),
    }),
    responses: { 200: Project },
  }),
  endTokenOverlap: projectRoute.delete(`${project}/previous_token`, {
    operationId: 'revokePreviousProjectToken',
    summary: 'Revoke the token from before the last rotation (admin)',
    description: 'Requires the admin level. Ends the overlap of a rotation: SDKs with the previous token stop working.',
    access: inProject('project:write'),
    responses: { 204: null },
  }),
  listSecretKeys: projectRoute.get(`${project}/secret_keys`, {
    operationId: 'listProjectSecretKeys',
    summary: 'List the project secret keys (`phs_…`), newest first, without their values',
    description: 'Secret keys read definitions for local evaluation.',
    access: inProject('project:read'),
    query: PageQuery,
    responses: { 200: Page(ProjectSecretKey) },
  }),
  createSecretKey: projectRoute.post(`${project}/secret_keys`, {
    operationId: 'createProjectSecretKey',
    summary: 'Create a project secret key (admin); its value is returned once',
    description: 'Requires the admin level. The response is the only one that contains the value.',
    access: inProject('project:write'),
    body: Type.Object({
      label: NonEmptyTextInput(40, 'Name of the key.', 'Backend'),
    }),
    responses: { 201: NewProjectSecretKey },
  }),
  removeSecretKey: route.delete(`${project}/secret_keys/:key_id`, {
    operationId: 'deleteProjectSecretKey',
    summary: 'Revoke a project secret key (admin)',
    description: 'Requires the admin level. SDKs with this key lose access at once.',
    access: inProject('project:write'),
    params: Type.Object({ ...ProjectParams.properties, key_id: Text('Id of the key.') }),
    responses: { 204: null },
  }),
}

/** The same projects at the paths that PostHog's Terraform provider and other tools use. */
export const organizationProjectRoutes = {
  list: organizationRoute.get(ofOrganization, {
    operationId: 'listOrganizationProjects',
    summary: 'List the projects of an organization',
    description: 'Returns a page of the projects of this organization that the caller and the key have access to.',
    access: inOrganization('project:read'),
    query: PageQuery,
    responses: { 200: Page(Project) },
  }),
  create: organizationRoute.post(ofOrganization, {
    operationId: 'createOrganizationProject',
    summary: 'Create a project in an organization (admin)',
    description: 'Requires the admin level in the organization.',
    access: inOrganization('project:write'),
    body: ProjectChange,
    responses: { 201: Project },
  }),
  get: organizationProjectRoute.get(`${ofOrganization}/:project_id`, {
    operationId: 'getOrganizationProject',
    summary: 'Get a project of an organization',
    description: 'Returns 404 for a project of another organization.',
    access: inProject('project:read'),
    responses: { 200: Project },
  }),
  update: organizationProjectRoute.patch(`${ofOrganization}/:project_id`, {
    operationId: 'updateOrganizationProject',
    summary: 'Change a project of an organization (admin)',
    description: 'Requires the admin level.',
    access: inProject('project:write'),
    body: ProjectChange,
    mayConflict: true,
    responses: { 200: Project },
  }),
  remove: organizationProjectRoute.delete(`${ofOrganization}/:project_id`, {
    operationId: 'deleteOrganizationProject',
    summary: 'Delete a project of an organization with everything in it (admin)',
    description:
      'Requires the admin level. Deletes all flags, cohorts and persons of the project; this cannot be undone.',
    access: inProject('project:write'),
    mayConflict: true,
    responses: { 204: null },
  }),
  getEnvironment: projectRoute.get(environment, {
    operationId: 'getEnvironment',
    summary: 'Get a project as an environment',
    description: 'The id of the environment is the id of the project.',
    access: inProject('project:read'),
    responses: { 200: Project },
  }),
  updateEnvironment: projectRoute.patch(environment, {
    operationId: 'updateEnvironment',
    summary: 'Change a project as an environment (admin)',
    description: 'Requires the admin level.',
    access: inProject('project:write'),
    body: ProjectChange,
    mayConflict: true,
    responses: { 200: Project },
  }),
}
