import Type, { type Static } from 'typebox'
import { asUser, route } from './route.ts'
import { FreeObject, Instant, Nullable, Uuid } from './schema.ts'

/** Contract 2.2: a user as embedded in other objects. */
export const UserBasic = Type.Object({
  id: Type.Integer(),
  uuid: Uuid(),
  distinct_id: Type.String(),
  first_name: Type.String(),
  email: Type.String({ format: 'email' }),
  is_email_verified: Type.Boolean(),
})
export type UserBasic = Static<typeof UserBasic>

const OrganizationBasic = Type.Object({
  id: Uuid(),
  name: Type.String(),
  slug: Type.String(),
  membership_level: Type.Integer(),
  default_access_level: Type.Integer(),
})

export const User = Type.Object({
  ...UserBasic.properties,
  date_joined: Instant(),
  has_password: Type.Boolean(),
  is_staff: Type.Boolean(),
  team: Nullable(FreeObject('The current project.')),
  organization: Nullable(FreeObject('The current organization.')),
  organizations: Type.Array(OrganizationBasic),
})
export type User = Static<typeof User>

export const UserPatch = Type.Object({
  first_name: Type.Optional(Type.String({ maxLength: 150 })),
  email: Type.Optional(Type.String({ minLength: 3, maxLength: 254 })),
  password: Type.Optional(Type.String({ minLength: 8, maxLength: 128 })),
  current_password: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Required to change `password` or `email`.' }),
  ),
  set_current_organization: Type.Optional(Type.String({ maxLength: 64 })),
  set_current_team: Type.Optional(Type.Integer()),
})

const tag = 'Users'
export const userRoutes = {
  getMe: route({
    method: 'GET',
    path: '/api/users/@me',
    tag,
    summary: 'Get the caller',
    access: asUser('user:read'),
    answers: { 200: User },
  }),
  updateMe: route({
    method: 'PATCH',
    path: '/api/users/@me',
    tag,
    summary:
      'Change the caller: name, email and password (both require `current_password`), current organization and project',
    access: asUser('user:write'),
    body: UserPatch,
    answers: { 200: User },
  }),
}
