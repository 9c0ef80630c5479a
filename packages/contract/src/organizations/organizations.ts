import Type, { type Static } from 'typebox'
import { auditorLevel, levelsText } from '../levels.ts'
import { Page, PageQuery } from '../page.ts'
import { asUser, inOrganization, routesOf } from '../route.ts'
import {
  Bool,
  Instant,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OrganizationParams,
  Text,
  TextInput,
  Uuid,
} from '../schema.ts'
import { ProjectBasic } from './projects.ts'
import { UserBasic } from './users.ts'

export const Organization = NamedObject('Organization', 'An organization: members, projects and plugins.', {
  id: Uuid('Unique id of the organization.'),
  name: Text('Name of the organization.', 'Acme'),
  slug: Text('Name in URLs.', 'acme'),
  created_at: Instant('When the organization was created.'),
  updated_at: Instant('When the organization was last changed.'),
  membership_level: Integer(levelsText, 15),
  plugins_access_level: Integer('0 none, 3 configure, 6 install, 9 root', 9),
  default_access_level: Integer('What members without a role can do with flags: 21 view, 37 edit.', 37),
  requires_second_factor: Bool('Whether members who sign in with a password need a second factor.', false),
  teams: List(ProjectBasic, 'Projects of the organization.'),
})
export type Organization = Static<typeof Organization>
const OrganizationName = NonEmptyTextInput(64, 'Name of the organization.', 'Acme')

export const Member = NamedObject('OrganizationMember', 'A member of an organization.', {
  id: Uuid('Unique id of the membership.'),
  user: UserBasic,
  level: Integer(levelsText, 8),
  is_2fa_enabled: Bool('Whether the user has a second factor.', true),
  is_provisioned: Bool('Whether SCIM provisioned the user.', false),
  joined_at: Instant('When the user joined.'),
  updated_at: Instant('When the membership was last changed.'),
})
export type Member = Static<typeof Member>

export const Invite = NamedObject('OrganizationInvite', 'An invitation to an organization.', {
  id: Uuid('Unique id of the invitation.'),
  target_email: Text('Email address of the invited person.', 'grace@example.com'),
  first_name: Text('First name of the invited person.', 'Grace'),
  level: Integer(`Level after joining: ${levelsText}.`, 1),
  is_expired: Bool('Whether the invitation has expired.', false),
  created_by: UserBasic,
  created_at: Instant('When the invitation was created.'),
  expires_at: Instant('When the invitation expires.'),
})
export type Invite = Static<typeof Invite>
export const NewInvite = NamedObject('NewOrganizationInvite', 'A new invitation with its secret token.', {
  ...Invite.properties,
  token: Nullable(
    Text(
      'The secret that redeems the invitation, shown once. Null when it was emailed.',
      '4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n0pQ1rS2tU3vW',
    ),
  ),
  signup_path: Nullable(
    Text(
      'The path of the sign-up page, with the token. Null when it was emailed.',
      '/signup/4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n0pQ1rS2tU3vW',
    ),
  ),
})
export type NewInvite = Static<typeof NewInvite>

const organization = '/api/organizations/:parent_lookup_organization_id' as const
const MemberParams = Type.Object({
  ...OrganizationParams.properties,
  user_uuid: Text('UUID of the user.'),
})
const InviteParams = Type.Object({
  ...OrganizationParams.properties,
  invite_id: Text('Id of the invitation.'),
})

const route = routesOf('Organizations')
const organizationRoute = routesOf('Organizations', { params: OrganizationParams })
const memberRoute = routesOf('Organizations', { params: MemberParams })

export const organizationRoutes = {
  list: route.get('/api/organizations', {
    operationId: 'listOrganizations',
    summary: 'List the organizations of the caller',
    description: 'Returns a page of the organizations that the caller is a member of and that the key has access to.',
    access: asUser('organization:read'),
    query: PageQuery,
    responses: { 200: Page(Organization) },
  }),
  create: route.post('/api/organizations', {
    operationId: 'createOrganization',
    summary: 'Create an organization with a first project (admin of any organization); the caller becomes its owner',
    description: 'Requires the admin level in any organization. The first project is created with it.',
    access: asUser('organization:write'),
    body: Type.Object({ name: OrganizationName }),
    responses: { 201: Organization },
  }),
  get: organizationRoute.get(organization, {
    operationId: 'getOrganization',
    summary: 'Get an organization',
    description:
      'Returns the organization with its projects and the level of the caller. `@current` is the organization that the caller works in.',
    access: inOrganization('organization:read'),
    responses: { 200: Organization },
  }),
  update: organizationRoute.patch(organization, {
    operationId: 'updateOrganization',
    summary: 'Change an organization (admin)',
    description: 'Requires the admin level.',
    access: inOrganization('organization:write'),
    body: Type.Object({
      name: Type.Optional(OrganizationName),
      default_access_level: Type.Optional(Integer('21 view, 37 edit', 37)),
      requires_second_factor: Type.Optional(
        Bool('Members without a second factor can only set one up. You need one yourself.', true),
      ),
      plugins_access_level: Type.Optional(
        Integer('Writable by instance administrators; ignored from other callers.', 9),
      ),
    }),
    responses: { 200: Organization },
  }),
  remove: organizationRoute.delete(organization, {
    operationId: 'deleteOrganization',
    summary: 'Delete an organization with everything in it (owner)',
    description:
      'Requires the owner level. Deletes all projects, flags, persons and plugins of the organization; this cannot be undone.',
    access: inOrganization('organization:write'),
    responses: { 204: null },
  }),
  listMembers: organizationRoute.get(`${organization}/members`, {
    operationId: 'listOrganizationMembers',
    summary: 'List the members',
    description: 'Returns a page of the members with their levels.',
    access: inOrganization('member:read', 'organization:read'),
    query: PageQuery,
    responses: { 200: Page(Member) },
  }),
  updateMember: memberRoute.patch(`${organization}/members/:user_uuid`, {
    operationId: 'updateOrganizationMember',
    summary: 'Change the level of a member (admin)',
    description:
      'Requires the admin level. No one can change their own level or grant more than they have. A new owner replaces the previous one, who becomes an admin.',
    access: inOrganization('member:write', 'organization:write'),
    body: Type.Object({
      level: Integer(`New level: ${levelsText}.`, 8),
    }),
    responses: { 200: Member },
  }),
  removeMember: memberRoute.delete(`${organization}/members/:user_uuid`, {
    operationId: 'removeOrganizationMember',
    summary: 'Remove a member (admin), or leave',
    description: 'Requires the admin level, except to leave. The owner cannot leave before ownership is transferred.',
    // Everyone can leave.
    access: { ...inOrganization('member:write', 'organization:write'), level: auditorLevel },
    responses: { 204: null },
  }),
  listInvites: organizationRoute.get(`${organization}/invites`, {
    operationId: 'listOrganizationInvites',
    summary: 'List the open invitations (admin), without their tokens',
    description: 'Requires the admin level. Tokens are returned only when an invitation is created.',
    access: inOrganization('member:read', 'organization:read'),
    query: PageQuery,
    responses: { 200: Page(Invite) },
  }),
  createInvite: organizationRoute.post(`${organization}/invites`, {
    operationId: 'createOrganizationInvite',
    summary: 'Invite a user (admin); the token is returned once, or emailed',
    description:
      'Requires the admin level. With a mail server, only the email contains the token, and accepting it verifies the address. Without one, pass the link with `signup_path` on to the person.',
    access: inOrganization('member:write', 'organization:write'),
    body: Type.Object({
      target_email: Type.String({
        minLength: 3,
        maxLength: 254,
        description: 'Email address of the invited person.',
        examples: ['grace@example.com'],
      }),
      first_name: Type.Optional(TextInput(150, 'First name of the invited person.', 'Grace')),
      level: Type.Optional(Integer('Level after joining: -1 auditor, 0 view only, 1 member (default), 8 admin.', 1)),
    }),
    responses: { 201: NewInvite },
  }),
  removeInvite: route.delete(`${organization}/invites/:invite_id`, {
    operationId: 'deleteOrganizationInvite',
    summary: 'Revoke an invitation (admin)',
    description: 'Requires the admin level. The token of the invitation becomes invalid.',
    access: inOrganization('member:write', 'organization:write'),
    params: InviteParams,
    responses: { 204: null },
  }),
}
