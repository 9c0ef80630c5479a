import Type, { type Static } from 'typebox'
import { Flag } from './flags.ts'
import { Page, PageQuery } from './page.ts'
import { Role } from './roles.ts'
import { inProject, route } from './route.ts'
import { IdInput, IdParam, Instant, ProjectParams, Uuid } from './schema.ts'

/** Contract 2.4. */
export const RoleAccess = Type.Object({
  id: Type.Integer(),
  feature_flag: Flag,
  role: Role,
  role_id: Uuid(),
  added_at: Instant(),
  updated_at: Instant(),
})
export type RoleAccess = Static<typeof RoleAccess>

const tag = 'Role access'
const roleAccess = '/api/projects/:project_id/feature_flags/:parent_lookup_feature_flag_id/role_access' as const
const FlagOfRoleAccessParams = Type.Object({ ...ProjectParams.properties, parent_lookup_feature_flag_id: IdParam() })
const RoleAccessParams = Type.Object({ ...FlagOfRoleAccessParams.properties, id: IdParam() })

export const roleAccessRoutes = {
  list: route({
    method: 'GET',
    path: roleAccess,
    tag,
    summary: 'List the roles that can edit this flag',
    access: inProject('feature_flag:read'),
    params: FlagOfRoleAccessParams,
    query: PageQuery,
    answers: { 200: Page(RoleAccess) },
  }),
  create: route({
    method: 'POST',
    path: roleAccess,
    tag,
    summary: 'Grant a role edit access to this flag (users who can edit it without that grant)',
    access: inProject('feature_flag:write'),
    params: FlagOfRoleAccessParams,
    body: Type.Object({ role_id: IdInput() }),
    answers: { 201: RoleAccess },
  }),
  get: route({
    method: 'GET',
    path: `${roleAccess}/:id`,
    tag,
    summary: 'Get a role access record',
    access: inProject('feature_flag:read'),
    params: RoleAccessParams,
    answers: { 200: RoleAccess },
  }),
  remove: route({
    method: 'DELETE',
    path: `${roleAccess}/:id`,
    tag,
    summary: 'Revoke the access of a role (users who can edit the flag without that grant)',
    access: inProject('feature_flag:write'),
    params: RoleAccessParams,
    answers: { 204: null },
  }),
}
