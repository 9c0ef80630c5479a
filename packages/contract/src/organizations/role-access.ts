import Type, { type Static } from 'typebox'
import { Flag } from '../flags/flags.ts'
import { Page, PageQuery } from '../page.ts'
import { inOrganization, inProject, routesOf } from '../route.ts'
import {
  IdInput,
  IdParam,
  Instant,
  Integer,
  NamedObject,
  Nullable,
  ObjectOf,
  OrganizationParams,
  ProjectParams,
  Text,
  Uuid,
} from '../schema.ts'
import { Role } from './roles.ts'
import { UserBasic } from './users.ts'

/** Contract 2.4. */
export const RoleAccess = NamedObject('RoleAccess', 'Grants a role edit access to a flag.', {
  id: Integer('Unique id of the record.', 6),
  feature_flag: Flag,
  role: Role,
  role_id: Uuid('Id of the role.'),
  added_at: Instant('When the access was granted.'),
  updated_at: Instant('When the record was last changed.'),
})
export type RoleAccess = Static<typeof RoleAccess>

export const EffectiveAccess = NamedObject('EffectiveAccess', 'What a member can do with a flag, and why.', {
  user: UserBasic,
  access_level: Type.Union([Type.Literal('viewer'), Type.Literal('editor')], {
    description: 'What the member can do with the flag.',
    examples: ['editor'],
  }),
  source: Type.Union(
    [
      Type.Literal('level'),
      Type.Literal('creator'),
      Type.Literal('admin'),
      Type.Literal('organization'),
      Type.Literal('default'),
      Type.Literal('role'),
      Type.Literal('role_access'),
    ],
    {
      description:
        'The rule that decides: a `level` below member, `creator` of the flag, `admin` of the organization, the setting of the `organization` for flags, its `default` for members without a role, a `role`, or `role_access` to this flag.',
      examples: ['role'],
    },
  ),
  role: Nullable(
    ObjectOf('The role that decides, if one does.', {
      id: Uuid('Id of the role.'),
      name: Text('Name of the role.', 'Release managers'),
    }),
  ),
})
export type EffectiveAccess = Static<typeof EffectiveAccess>

/** Maximum number of keys per member in a list of members. */
export const editableFlagsMax = 20

export const FlagAccess = NamedObject('FlagAccess', 'What a member can do with flags that others created, and why.', {
  ...EffectiveAccess.properties,
  editable_flags: Type.Array(Type.String(), {
    maxItems: editableFlagsMax,
    description: 'Keys of flags that a role lets the member edit, when the member cannot edit all: the first ones.',
    examples: [[]],
  }),
  editable_flag_count: Integer('How many such flags there are.', 0),
})
export type FlagAccess = Static<typeof FlagAccess>

const roleAccess = '/api/projects/:project_id/feature_flags/:parent_lookup_feature_flag_id/role_access' as const
const FlagOfRoleAccessParams = Type.Object({
  ...ProjectParams.properties,
  parent_lookup_feature_flag_id: IdParam('Flag id.'),
})
const RoleAccessParams = Type.Object({
  ...FlagOfRoleAccessParams.properties,
  id: IdParam('Id of the role access record.'),
})

const route = routesOf('Role access')
const flagOfRoleAccessRoute = routesOf('Role access', { params: FlagOfRoleAccessParams })
const roleAccessRoute = routesOf('Role access', { params: RoleAccessParams })

export const roleAccessRoutes = {
  listFlagAccess: route.get('/api/organizations/:parent_lookup_organization_id/flag_access', {
    operationId: 'listFlagAccess',
    summary: 'List what each member of the organization can do with flags, and why',
    description: 'Decided by the same rules as requests. Everyone can edit the flags they created.',
    access: inOrganization('member:read', 'organization:read'),
    params: OrganizationParams,
    query: PageQuery,
    responses: { 200: Page(FlagAccess) },
  }),
  listEffective: route.get('/api/projects/:project_id/feature_flags/:id/effective_access', {
    operationId: 'listEffectiveAccess',
    summary: 'List what each member of the organization can do with this flag, and why',
    description: 'Decided by the same rules as requests. The key needs `feature_flag:read` too.',
    access: inProject('member:read', 'organization:read'),
    params: Type.Object({ ...ProjectParams.properties, id: IdParam('Flag id.') }),
    query: PageQuery,
    responses: { 200: Page(EffectiveAccess) },
  }),
  list: flagOfRoleAccessRoute.get(roleAccess, {
    operationId: 'listRoleAccess',
    summary: 'List the roles that can edit this flag',
    description: 'Members of these roles can edit the flag, even if their level does not allow it.',
    access: inProject('feature_flag:read'),
    query: PageQuery,
    responses: { 200: Page(RoleAccess) },
  }),
  create: flagOfRoleAccessRoute.post(roleAccess, {
    operationId: 'createRoleAccess',
    summary: 'Grant a role edit access to this flag (users who can edit it without that grant)',
    description: 'Returns 400 (`unique`) if the role already has access.',
    access: inProject('feature_flag:write'),
    body: Type.Object({ role_id: IdInput('Id of the role.') }),
    responses: { 201: RoleAccess },
  }),
  get: roleAccessRoute.get(`${roleAccess}/:id`, {
    operationId: 'getRoleAccess',
    summary: 'Get a role access record',
    description: 'Returns the record with the flag and the role.',
    access: inProject('feature_flag:read'),
    responses: { 200: RoleAccess },
  }),
  remove: roleAccessRoute.delete(`${roleAccess}/:id`, {
    operationId: 'deleteRoleAccess',
    summary: 'Revoke the access of a role (users who can edit the flag without that grant)',
    description: 'Members of the role lose edit access unless another rule grants it.',
    access: inProject('feature_flag:write'),
    responses: { 204: null },
  }),
}
