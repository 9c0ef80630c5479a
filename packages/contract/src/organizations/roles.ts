import Type, { type Static } from 'typebox'
import { Page, PageQuery } from '../page.ts'
import { inOrganization, routesOf } from '../route.ts'
import {
  IdInput,
  IdParam,
  Instant,
  Integer,
  NamedObject,
  NonEmptyTextInput,
  OrganizationParams,
  Text,
  Uuid,
} from '../schema.ts'
import { UserBasic } from './users.ts'

/** Contract 2.3. `members` and `associated_flags` are text: sorted email addresses and flag keys, joined by commas. */
export const Role = NamedObject('Role', 'A role groups members of an organization.', {
  id: Uuid('Unique id of the role.'),
  name: Text('Name of the role.', 'Checkout team'),
  feature_flags_access_level: Integer('21 view, 37 edit', 37),
  created_at: Instant('When the role was created.'),
  created_by: UserBasic,
  members: Text('Email addresses of the members, sorted and joined by commas.', 'ada@example.com,grace@example.com'),
  associated_flags: Text('Keys of the flags that the role has access to, sorted and joined by commas.', 'new-checkout'),
})
export type Role = Static<typeof Role>

export const RoleMembership = NamedObject('RoleMembership', 'A member of a role.', {
  id: Uuid('Unique id of the membership.'),
  role_id: Uuid('Id of the role.'),
  user: UserBasic,
  joined_at: Instant('When the user was added.'),
  updated_at: Instant('When the membership was last changed.'),
})
export type RoleMembership = Static<typeof RoleMembership>

export const ResourceAccess = NamedObject('ResourceAccess', 'The access level of all members for a type of resource.', {
  id: Integer('Unique id of the setting.', 1),
  resource: Text('Type of resource.', 'feature flags'),
  access_level: Integer('21 view, 37 edit.', 37),
  organization: Uuid('Id of the organization.'),
  created_at: Instant('When the setting was created.'),
  updated_at: Instant('When the setting was last changed.'),
  created_by: UserBasic,
})
export type ResourceAccess = Static<typeof ResourceAccess>

const organization = '/api/organizations/:parent_lookup_organization_id' as const
const RoleParams = Type.Object({
  ...OrganizationParams.properties,
  role_id: Text('Id of the role.'),
})
const MembershipParams = Type.Object({
  ...RoleParams.properties,
  membership_id: Text('Id of the membership.'),
})
const ResourceParams = Type.Object({ ...OrganizationParams.properties, id: IdParam('Id of the setting.') })
const RoleName = NonEmptyTextInput(200, 'Name of the role.', 'Checkout team')
const reading = inOrganization('organization:read')
const writing = inOrganization('organization:write')

const organizationRoute = routesOf('Roles', { params: OrganizationParams })
const roleRoute = routesOf('Roles', { params: RoleParams })
const membershipRoute = routesOf('Roles', { params: MembershipParams })
const resourceRoute = routesOf('Roles', { params: ResourceParams })

export const roleRoutes = {
  list: organizationRoute.get(`${organization}/roles`, {
    operationId: 'listRoles',
    summary: 'List the roles of the organization',
    description: 'Returns a page of roles with their members and flags.',
    access: reading,
    query: PageQuery,
    responses: { 200: Page(Role) },
  }),
  create: organizationRoute.post(`${organization}/roles`, {
    operationId: 'createRole',
    summary: 'Create a role (admin)',
    description: 'Requires the admin level.',
    access: writing,
    body: Type.Object({
      name: RoleName,
      feature_flags_access_level: Type.Optional(Integer('21 view, 37 edit.', 37)),
    }),
    responses: { 201: Role },
  }),
  get: roleRoute.get(`${organization}/roles/:role_id`, {
    operationId: 'getRole',
    summary: 'Get a role',
    description: 'Returns the role with its members and flags.',
    access: reading,
    responses: { 200: Role },
  }),
  update: roleRoute.patch(`${organization}/roles/:role_id`, {
    operationId: 'updateRole',
    summary: 'Rename a role or set its access level (admin)',
    description: 'Requires the admin level.',
    access: writing,
    body: Type.Object({
      name: Type.Optional(RoleName),
      feature_flags_access_level: Type.Optional(Integer('21 view, 37 edit.', 37)),
    }),
    responses: { 200: Role },
  }),
  remove: roleRoute.delete(`${organization}/roles/:role_id`, {
    operationId: 'deleteRole',
    summary: 'Delete a role (admin)',
    description: 'Requires the admin level. Access that the role grants to flags ends.',
    access: writing,
    responses: { 204: null },
  }),
  listMemberships: roleRoute.get(`${organization}/roles/:role_id/role_memberships`, {
    operationId: 'listRoleMemberships',
    summary: 'List the members of a role',
    description: 'Returns a page of the users in the role.',
    access: reading,
    query: PageQuery,
    responses: { 200: Page(RoleMembership) },
  }),
  createMembership: roleRoute.post(`${organization}/roles/:role_id/role_memberships`, {
    operationId: 'createRoleMembership',
    summary: 'Add a user to a role (admin)',
    description: 'Requires the admin level. The user must be a member of the organization.',
    access: writing,
    body: Type.Object({ user_uuid: IdInput('UUID of a member of the organization.') }),
    responses: { 201: RoleMembership },
  }),
  getMembership: membershipRoute.get(`${organization}/roles/:role_id/role_memberships/:membership_id`, {
    operationId: 'getRoleMembership',
    summary: 'Get a member of a role',
    description: 'Returns the user and when they were added.',
    access: reading,
    responses: { 200: RoleMembership },
  }),
  removeMembership: membershipRoute.delete(`${organization}/roles/:role_id/role_memberships/:membership_id`, {
    operationId: 'deleteRoleMembership',
    summary: 'Remove a user from a role (admin)',
    description: 'Requires the admin level.',
    access: writing,
    responses: { 204: null },
  }),
  listResourceAccess: organizationRoute.get(`${organization}/resource_access`, {
    operationId: 'listResourceAccess',
    summary: 'List the organization-wide access settings',
    description: 'Returns the access level of all members by type of resource.',
    access: reading,
    query: PageQuery,
    responses: { 200: Page(ResourceAccess) },
  }),
  createResourceAccess: organizationRoute.post(`${organization}/resource_access`, {
    operationId: 'createResourceAccess',
    summary: 'Set the access level of all members for a type of resource (admin)',
    description: 'Requires the admin level. There is one setting per type of resource.',
    access: writing,
    body: Type.Object({
      resource: NonEmptyTextInput(100, 'Type of resource, such as `feature flags`.', 'feature flags'),
      access_level: Type.Optional(Integer('21 view, 37 edit.', 37)),
    }),
    responses: { 201: ResourceAccess },
  }),
  getResourceAccess: resourceRoute.get(`${organization}/resource_access/:id`, {
    operationId: 'getResourceAccess',
    summary: 'Get an access setting',
    description: 'Returns one setting.',
    access: reading,
    responses: { 200: ResourceAccess },
  }),
  updateResourceAccess: resourceRoute.patch(`${organization}/resource_access/:id`, {
    operationId: 'updateResourceAccess',
    summary: 'Change an access setting (admin)',
    description: 'Requires the admin level.',
    access: writing,
    body: Type.Object({
      access_level: Type.Optional(Integer('21 view, 37 edit.', 37)),
    }),
    responses: { 200: ResourceAccess },
  }),
  removeResourceAccess: resourceRoute.delete(`${organization}/resource_access/:id`, {
    operationId: 'deleteResourceAccess',
    summary: 'Remove an access setting (admin)',
    description: 'Requires the admin level. The default of the organization applies again.',
    access: writing,
    responses: { 204: null },
  }),
}
