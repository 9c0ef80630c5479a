import Type, { type Static } from 'typebox'
import { Page, PageQuery } from './page.ts'
import { ProjectBasic } from './projects.ts'
import { asUser, inOrganization, route } from './route.ts'
import { Instant, OrganizationParams, Uuid } from './schema.ts'
import { UserBasic } from './users.ts'

export const Organization = Type.Object({
  id: Uuid(),
  name: Type.String(),
  slug: Type.String(),
  created_at: Instant(),
  updated_at: Instant(),
  membership_level: Type.Integer({ description: '1 member, 8 admin, 15 owner' }),
  plugins_access_level: Type.Integer({ description: '0 none, 3 configure, 6 install, 9 root' }),
  default_access_level: Type.Integer({
    description: 'What members without a role can do with flags: 21 view, 37 edit.',
  }),
  teams: Type.Array(ProjectBasic),
})
export type Organization = Static<typeof Organization>
const OrganizationName = Type.String({ minLength: 1, maxLength: 64 })

export const Member = Type.Object({
  id: Uuid(),
  user: UserBasic,
  level: Type.Integer(),
  joined_at: Instant(),
  updated_at: Instant(),
})
export type Member = Static<typeof Member>

export const Invite = Type.Object({
  id: Uuid(),
  target_email: Type.String(),
  first_name: Type.String(),
  level: Type.Integer(),
  is_expired: Type.Boolean(),
  created_by: UserBasic,
  created_at: Instant(),
  expires_at: Instant(),
})
export type Invite = Static<typeof Invite>
export const NewInvite = Type.Object({
  ...Invite.properties,
  token: Type.String({ description: 'The secret that redeems the invitation. Only this response contains it.' }),
  signup_path: Type.String({ description: 'The path of the sign-up page, with the token.' }),
})
export type NewInvite = Static<typeof NewInvite>

const tag = 'Organizations'
const organization = '/api/organizations/:parent_lookup_organization_id' as const
const MemberParams = Type.Object({ ...OrganizationParams.properties, user_uuid: Type.String() })
const InviteParams = Type.Object({ ...OrganizationParams.properties, invite_id: Type.String() })

export const organizationRoutes = {
  list: route({
    method: 'GET',
    path: '/api/organizations',
    tag,
    summary: 'List the organizations of the caller',
    access: asUser('organization:read'),
    query: PageQuery,
    answers: { 200: Page(Organization) },
  }),
  create: route({
    method: 'POST',
    path: '/api/organizations',
    tag,
    summary: 'Create an organization with a first project (admin of any organization); the caller becomes its owner',
    access: asUser('organization:write'),
    body: Type.Object({ name: OrganizationName }),
    answers: { 201: Organization },
  }),
  get: route({
    method: 'GET',
    path: organization,
    tag,
    summary: 'Get an organization',
    access: inOrganization('organization:read'),
    params: OrganizationParams,
    answers: { 200: Organization },
  }),
  update: route({
    method: 'PATCH',
    path: organization,
    tag,
    summary: 'Change an organization (admin)',
    access: inOrganization('organization:write'),
    params: OrganizationParams,
    body: Type.Object({
      name: Type.Optional(OrganizationName),
      default_access_level: Type.Optional(Type.Integer({ description: '21 view, 37 edit' })),
      plugins_access_level: Type.Optional(
        Type.Integer({ description: 'Writable by instance administrators; ignored from other callers.' }),
      ),
    }),
    answers: { 200: Organization },
  }),
  remove: route({
    method: 'DELETE',
    path: organization,
    tag,
    summary: 'Delete an organization with everything in it (owner)',
    access: inOrganization('organization:write'),
    params: OrganizationParams,
    answers: { 204: null },
  }),
  listMembers: route({
    method: 'GET',
    path: `${organization}/members`,
    tag,
    summary: 'List the members',
    access: inOrganization('organization_member:read', 'organization:read'),
    params: OrganizationParams,
    query: PageQuery,
    answers: { 200: Page(Member) },
  }),
  updateMember: route({
    method: 'PATCH',
    path: `${organization}/members/:user_uuid`,
    tag,
    summary: 'Change the level of a member (admin)',
    access: inOrganization('organization_member:write', 'organization:write'),
    params: MemberParams,
    body: Type.Object({ level: Type.Integer() }),
    answers: { 200: Member },
  }),
  removeMember: route({
    method: 'DELETE',
    path: `${organization}/members/:user_uuid`,
    tag,
    summary: 'Remove a member (admin), or leave',
    access: inOrganization('organization_member:write', 'organization:write'),
    params: MemberParams,
    answers: { 204: null },
  }),
  listInvites: route({
    method: 'GET',
    path: `${organization}/invites`,
    tag,
    summary: 'List the open invitations (admin), without their tokens',
    access: inOrganization('organization_member:read', 'organization:read'),
    params: OrganizationParams,
    query: PageQuery,
    answers: { 200: Page(Invite) },
  }),
  createInvite: route({
    method: 'POST',
    path: `${organization}/invites`,
    tag,
    summary: 'Invite a user (admin); the token is returned once',
    access: inOrganization('organization_member:write', 'organization:write'),
    params: OrganizationParams,
    body: Type.Object({
      target_email: Type.String({ minLength: 3, maxLength: 254 }),
      first_name: Type.Optional(Type.String({ maxLength: 150 })),
      level: Type.Optional(Type.Integer()),
    }),
    answers: { 201: NewInvite },
  }),
  removeInvite: route({
    method: 'DELETE',
    path: `${organization}/invites/:invite_id`,
    tag,
    summary: 'Revoke an invitation (admin)',
    access: inOrganization('organization_member:write', 'organization:write'),
    params: InviteParams,
    answers: { 204: null },
  }),
}
