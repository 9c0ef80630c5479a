import Type, { type Static } from 'typebox'
import { asUser, routesOf } from '../route.ts'
import { Bool, FreeObject, Instant, Integer, List, NamedObject, Nullable, Text, TextInput, Uuid } from '../schema.ts'

/** Contract 2.2: a user as embedded in other objects. */
export const UserBasic = NamedObject('User', 'A user, as embedded in other objects.', {
  id: Integer('Unique id of the user.', 1),
  uuid: Uuid('UUID of the user.'),
  distinct_id: Text('Distinct id of the user as a person.', 'ada@example.com'),
  first_name: Text('First name of the user.', 'Ada'),
  email: Type.String({ format: 'email', description: 'Email address of the user.', examples: ['ada@example.com'] }),
  is_email_verified: Bool('Whether the email address was verified.', true),
})
export type UserBasic = Static<typeof UserBasic>

const OrganizationBasic = NamedObject('OrganizationSummary', 'An organization of the user.', {
  id: Uuid('Unique id of the organization.'),
  name: Text('Name of the organization.', 'Acme'),
  slug: Text('Name in URLs.', 'acme'),
  membership_level: Integer('1 member, 8 admin, 15 owner.', 15),
  default_access_level: Integer('What members without a role can do with flags: 21 view, 37 edit.', 37),
})

const requestEmails = { description: 'Whether the user gets emails about change requests.', examples: [true] }
const Language = Type.Union([Type.Literal('en'), Type.Literal('de')], {
  description: 'Language of emails to the user.',
  examples: ['en'],
})

export const User = NamedObject('CurrentUser', 'The calling user.', {
  ...UserBasic.properties,
  date_joined: Instant('When the user was created.'),
  has_password: Bool('Whether the user can sign in with a password.', true),
  is_staff: Bool('Whether the user is an instance administrator.', false),
  change_request_emails: Type.Boolean(requestEmails),
  language: Nullable(Language),
  needs_second_factor: Bool('Whether an organization requires a second factor before anything else.', false),
  team: Nullable(FreeObject('The current project.', { id: 1, name: 'Web shop' })),
  organization: Nullable(
    FreeObject('The current organization.', { id: '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d', name: 'Acme' }),
  ),
  organizations: List(OrganizationBasic, 'Organizations of the user.'),
})
export type User = Static<typeof User>

export const UserPatch = NamedObject(
  'CurrentUserWrite',
  'Writable fields of the calling user.',
  {
    first_name: Type.Optional(TextInput(150, 'First name of the user.', 'Ada')),
    email: Type.Optional(Type.String({ minLength: 3, maxLength: 254, description: 'Email address of the user.' })),
    password: Type.Optional(
      Type.String({ minLength: 8, maxLength: 128, description: 'New password, at least 8 characters.' }),
    ),
    current_password: Type.Optional(TextInput(1000, 'Required to change `password` or `email`.')),
    change_request_emails: Type.Optional(Type.Boolean(requestEmails)),
    language: Type.Optional(Nullable(Language)),
    set_current_organization: Type.Optional(TextInput(64, 'Id of the organization to work in.')),
    set_current_team: Type.Optional(Integer('Id of the project to work in.', 1)),
  },
  { first_name: 'Ada' },
)

const route = routesOf('Users')
export const userRoutes = {
  getMe: route.get('/api/users/@me', {
    operationId: 'getCurrentUser',
    summary: 'Get the caller',
    description: 'Returns the user of the key with the current organization and project.',
    access: asUser('user:read'),
    isForSetUp: true,
    responses: { 200: User },
  }),
  updateMe: route.patch('/api/users/@me', {
    operationId: 'updateCurrentUser',
    summary:
      'Change the caller: name, email and password (both require `current_password`), emails, current organization and project',
    description: 'Changes only the fields that the body contains. A new password ends all sign-ins of the user.',
    access: asUser('user:write'),
    body: UserPatch,
    responses: { 200: User },
  }),
}
