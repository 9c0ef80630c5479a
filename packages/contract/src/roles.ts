import Type, { type Static } from 'typebox'
import { Page, PageQuery } from './page.ts'
import { inOrganization, route } from './route.ts'
import { IdInput, IdParam, Instant, OrganizationParams, Uuid } from './schema.ts'
import { UserBasic } from './users.ts'

/** Contract 2.3. `members` and `associated_flags` are text: sorted email addresses and flag keys, joined by commas. */
export const Role = Type.Object({
  id: Uuid(),
  name: Type.String(),
  feature_flags_access_level: Type.Integer({ description: '21 view, 37 edit' }),
  created_at: Instant(),
  created_by: UserBasic,
  members: Type.String(),
  associated_flags: Type.String(),
})
export type Role = Static<typeof Role>

export const RoleMembership = Type.Object({
  id: Uuid(),
  role_id: Uuid(),
  user: UserBasic,
  joined_at: Instant(),
  updated_at: Instant(),
})
export type RoleMembership = Static<typeof RoleMembership>

export const ResourceAccess = Type.Object({
  id: Type.Integer(),
  resource: Type.String(),
  access_level: Type.Integer(),
  organization: Uuid(),
  created_at: Instant(),
  updated_at: Instant(),
  created_by: UserBasic,
})
export type ResourceAccess = Static<typeof ResourceAccess>

const tag = 'Roles'
const organization = '/api/organizations/:parent_lookup_organization_id' as const
const RoleParams = Type.Object({ ...OrganizationParams.properties, role_id: Type.String() })
const MembershipParams = Type.Object({ ...RoleParams.properties, membership_id: Type.String() })
const ResourceParams = Type.Object({ ...OrganizationParams.properties, id: IdParam() })
const RoleName = Type.String({ minLength: 1, maxLength: 200 })
const reading = inOrganization('organization:read')
const writing = inOrganization('organization:write')

export const roleRoutes = {
  list: route({
    method: 'GET',
    path: `${organization}/roles`,
    tag,
    summary: 'List the roles of the organization',
    access: reading,
    params: OrganizationParams,
    query: PageQuery,
    answers: { 200: Page(Role) },
  }),
  create: route({
    method: 'POST',
    path: `${organization}/roles`,
    tag,
    summary: 'Create a role (admin)',
    access: writing,
    params: OrganizationParams,
    body: Type.Object({ name: RoleName, feature_flags_access_level: Type.Optional(Type.Integer()) }),
    answers: { 201: Role },
  }),
  get: route({
    method: 'GET',
    path: `${organization}/roles/:role_id`,
    tag,
    summary: 'Get a role',
    access: reading,
    params: RoleParams,
    answers: { 200: Role },
  }),
  update: route({
    method: 'PATCH',
    path: `${organization}/roles/:role_id`,
    tag,
    summary: 'Rename a role or set its access level (admin)',
    access: writing,
    params: RoleParams,
    body: Type.Object({ name: Type.Optional(RoleName), feature_flags_access_level: Type.Optional(Type.Integer()) }),
    answers: { 200: Role },
  }),
  remove: route({
    method: 'DELETE',
    path: `${organization}/roles/:role_id`,
    tag,
    summary: 'Delete a role (admin)',
    access: writing,
    params: RoleParams,
    answers: { 204: null },
  }),
  listMemberships: route({
    method: 'GET',
    path: `${organization}/roles/:role_id/role_memberships`,
    tag,
    summary: 'List the members of a role',
    access: reading,
    params: RoleParams,
    query: PageQuery,
    answers: { 200: Page(RoleMembership) },
  }),
  createMembership: route({
    method: 'POST',
    path: `${organization}/roles/:role_id/role_memberships`,
    tag,
    summary: 'Add a user to a role (admin)',
    access: writing,
    params: RoleParams,
    body: Type.Object({ user_uuid: IdInput() }),
    answers: { 201: RoleMembership },
  }),
  removeMembership: route({
    method: 'DELETE',
    path: `${organization}/roles/:role_id/role_memberships/:membership_id`,
    tag,
    summary: 'Remove a user from a role (admin)',
    access: writing,
    params: MembershipParams,
    answers: { 204: null },
  }),
  listResourceAccess: route({
    method: 'GET',
    path: `${organization}/resource_access`,
    tag,
    summary: 'List the organization-wide access settings',
    access: reading,
    params: OrganizationParams,
    query: PageQuery,
    answers: { 200: Page(ResourceAccess) },
  }),
  createResourceAccess: route({
    method: 'POST',
    path: `${organization}/resource_access`,
    tag,
    summary: 'Set the access level of all members for a type of resource (admin)',
    access: writing,
    params: OrganizationParams,
    body: Type.Object({
      resource: Type.String({ minLength: 1, maxLength: 100 }),
      access_level: Type.Optional(Type.Integer()),
    }),
    answers: { 201: ResourceAccess },
  }),
  getResourceAccess: route({
    method: 'GET',
    path: `${organization}/resource_access/:id`,
    tag,
    summary: 'Get an access setting',
    access: reading,
    params: ResourceParams,
    answers: { 200: ResourceAccess },
  }),
  updateResourceAccess: route({
    method: 'PATCH',
    path: `${organization}/resource_access/:id`,
    tag,
    summary: 'Change an access setting (admin)',
    access: writing,
    params: ResourceParams,
    body: Type.Object({ access_level: Type.Optional(Type.Integer()) }),
    answers: { 200: ResourceAccess },
  }),
  removeResourceAccess: route({
    method: 'DELETE',
    path: `${organization}/resource_access/:id`,
    tag,
    summary: 'Remove an access setting (admin)',
    access: writing,
    params: ResourceParams,
    answers: { 204: null },
  }),
}
