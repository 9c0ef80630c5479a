import Type, { type Static } from 'typebox'
import { Page, PageQuery } from '../page.ts'
import { inOrganization, routesOf } from '../route.ts'
import { IdInput, IdParam, Instant, OrganizationParams, Uuid } from '../schema.ts'
import { UserBasic } from './users.ts'

/** Contract 2.3. `members` and `associated_flags` are text: sorted email addresses and flag keys, joined by commas. */
export const Role = Type.Object(
  {
    id: Uuid('Unique id of the role.'),
    name: Type.String({ description: 'Name of the role.', examples: ['Checkout team'] }),
    feature_flags_access_level: Type.Integer({ description: '21 view, 37 edit', examples: [37] }),
    created_at: Instant('When the role was created.'),
    created_by: UserBasic,
    members: Type.String({
      description: 'Email addresses of the members, sorted and joined by commas.',
      examples: ['ada@example.com,grace@example.com'],
    }),
    associated_flags: Type.String({
      description: 'Keys of the flags that the role has access to, sorted and joined by commas.',
      examples: ['new-checkout'],
    }),
  },
  { title: 'Role', description: 'A role groups members of an organization.' },
)
export type Role = Static<typeof Role>

export const RoleMembership = Type.Object(
  {
    id: Uuid('Unique id of the membership.'),
    role_id: Uuid('Id of the role.'),
    user: UserBasic,
    joined_at: Instant('When the user was added.'),
    updated_at: Instant('When the membership was last changed.'),
  },
  { title: 'RoleMembership', description: 'A member of a role.' },
)
export type RoleMembership = Static<typeof RoleMembership>

export const ResourceAccess = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id of the setting.', examples: [1] }),
    resource: Type.String({ description: 'Type of resource.', examples: ['feature flags'] }),
    access_level: Type.Integer({ description: '21 view, 37 edit.', examples: [37] }),
    organization: Uuid('Id of the organization.'),
    created_at: Instant('When the setting was created.'),
    updated_at: Instant('When the setting was last changed.'),
    created_by: UserBasic,
  },
  { title: 'ResourceAccess', description: 'The access level of all members for a type of resource.' },
)
export type ResourceAccess = Static<typeof ResourceAccess>

const route = routesOf('Roles')
const organization = '/api/organizations/:parent_lookup_organization_id' as const
const RoleParams = Type.Object({
  ...OrganizationParams.properties,
  role_id: Type.String({ description: 'Id of the role.' }),
})
const MembershipParams = Type.Object({
  ...RoleParams.properties,
  membership_id: Type.String({ description: 'Id of the membership.' }),
})
const ResourceParams = Type.Object({ ...OrganizationParams.properties, id: IdParam('Id of the setting.') })
const RoleName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name of the role.',
  examples: ['Checkout team'],
})
const reading = inOrganization('organization:read')
const writing = inOrganization('organization:write')

export const roleRoutes = {
  list: route({
    method: 'GET',
    path: `${organization}/roles`,
    operationId: 'listRoles',
    summary: 'List the roles of the organization',
    description: 'Returns a page of roles with their members and flags.',
    access: reading,
    params: OrganizationParams,
    query: PageQuery,
    responses: { 200: Page(Role) },
  }),
  create: route({
    method: 'POST',
    path: `${organization}/roles`,
    operationId: 'createRole',
    summary: 'Create a role (admin)',
    description: 'Requires the admin level.',
    access: writing,
    params: OrganizationParams,
    body: Type.Object({
      name: RoleName,
      feature_flags_access_level: Type.Optional(Type.Integer({ description: '21 view, 37 edit.', examples: [37] })),
    }),
    responses: { 201: Role },
  }),
  get: route({
    method: 'GET',
    path: `${organization}/roles/:role_id`,
    operationId: 'getRole',
    summary: 'Get a role',
    description: 'Returns the role with its members and flags.',
    access: reading,
    params: RoleParams,
    responses: { 200: Role },
  }),
  update: route({
    method: 'PATCH',
    path: `${organization}/roles/:role_id`,
    operationId: 'updateRole',
    summary: 'Rename a role or set its access level (admin)',
    description: 'Requires the admin level.',
    access: writing,
    params: RoleParams,
    body: Type.Object({
      name: Type.Optional(RoleName),
      feature_flags_access_level: Type.Optional(Type.Integer({ description: '21 view, 37 edit.', examples: [37] })),
    }),
    responses: { 200: Role },
  }),
  remove: route({
    method: 'DELETE',
    path: `${organization}/roles/:role_id`,
    operationId: 'deleteRole',
    summary: 'Delete a role (admin)',
    description: 'Requires the admin level. Access that the role grants to flags ends.',
    access: writing,
    params: RoleParams,
    responses: { 204: null },
  }),
  listMemberships: route({
    method: 'GET',
    path: `${organization}/roles/:role_id/role_memberships`,
    operationId: 'listRoleMemberships',
    summary: 'List the members of a role',
    description: 'Returns a page of the users in the role.',
    access: reading,
    params: RoleParams,
    query: PageQuery,
    responses: { 200: Page(RoleMembership) },
  }),
  createMembership: route({
    method: 'POST',
    path: `${organization}/roles/:role_id/role_memberships`,
    operationId: 'createRoleMembership',
    summary: 'Add a user to a role (admin)',
    description: 'Requires the admin level. The user must be a member of the organization.',
    access: writing,
    params: RoleParams,
    body: Type.Object({ user_uuid: IdInput('UUID of a member of the organization.') }),
    responses: { 201: RoleMembership },
  }),
  getMembership: route({
    method: 'GET',
    path: `${organization}/roles/:role_id/role_memberships/:membership_id`,
    operationId: 'getRoleMembership',
    summary: 'Get a member of a role',
    description: 'Returns the user and when they were added.',
    access: reading,
    params: MembershipParams,
    responses: { 200: RoleMembership },
  }),
  removeMembership: route({
    method: 'DELETE',
    path: `${organization}/roles/:role_id/role_memberships/:membership_id`,
    operationId: 'deleteRoleMembership',
    summary: 'Remove a user from a role (admin)',
    description: 'Requires the admin level.',
    access: writing,
    params: MembershipParams,
    responses: { 204: null },
  }),
  listResourceAccess: route({
    method: 'GET',
    path: `${organization}/resource_access`,
    operationId: 'listResourceAccess',
    summary: 'List the organization-wide access settings',
    description: 'Returns the access level of all members by type of resource.',
    access: reading,
    params: OrganizationParams,
    query: PageQuery,
    responses: { 200: Page(ResourceAccess) },
  }),
  createResourceAccess: route({
    method: 'POST',
    path: `${organization}/resource_access`,
    operationId: 'createResourceAccess',
    summary: 'Set the access level of all members for a type of resource (admin)',
    description: 'Requires the admin level. There is one setting per type of resource.',
    access: writing,
    params: OrganizationParams,
    body: Type.Object({
      resource: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Type of resource, such as `feature flags`.',
        examples: ['feature flags'],
      }),
      access_level: Type.Optional(Type.Integer({ description: '21 view, 37 edit.', examples: [37] })),
    }),
    responses: { 201: ResourceAccess },
  }),
  getResourceAccess: route({
    method: 'GET',
    path: `${organization}/resource_access/:id`,
    operationId: 'getResourceAccess',
    summary: 'Get an access setting',
    description: 'Returns one setting.',
    access: reading,
    params: ResourceParams,
    responses: { 200: ResourceAccess },
  }),
  updateResourceAccess: route({
    method: 'PATCH',
    path: `${organization}/resource_access/:id`,
    operationId: 'updateResourceAccess',
    summary: 'Change an access setting (admin)',
    description: 'Requires the admin level.',
    access: writing,
    params: ResourceParams,
    body: Type.Object({
      access_level: Type.Optional(Type.Integer({ description: '21 view, 37 edit.', examples: [37] })),
    }),
    responses: { 200: ResourceAccess },
  }),
  removeResourceAccess: route({
    method: 'DELETE',
    path: `${organization}/resource_access/:id`,
    operationId: 'deleteResourceAccess',
    summary: 'Remove an access setting (admin)',
    description: 'Requires the admin level. The default of the organization applies again.',
    access: writing,
    params: ResourceParams,
    responses: { 204: null },
  }),
}
