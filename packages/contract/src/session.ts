import Type from 'typebox'
import { asUser, open, route } from './route.ts'
import { Instant } from './schema.ts'
import { UserBasic } from './users.ts'

/** A sign-in is a personal API key that expires: the dashboard uses the same contract as every other client. */
export const Session = Type.Object({ user: UserBasic, api_key: Type.String(), expires_at: Instant() })

const tag = 'Sign-in'
const InviteTokenParams = Type.Object({
  token: Type.String({ pattern: '^[0-9A-Za-z]{43}$', description: 'The secret of the invitation, never its id.' }),
})

export const sessionRoutes = {
  login: route({
    method: 'POST',
    path: '/api/login',
    tag,
    summary: 'Sign in with email and password; returns a personal API key that expires after 12 hours',
    access: open,
    body: Type.Object({
      email: Type.String({ minLength: 1, maxLength: 254 }),
      password: Type.String({ minLength: 1, maxLength: 1000 }),
    }),
    answers: { 200: Session },
  }),
  logout: route({
    method: 'POST',
    path: '/api/logout',
    tag,
    summary: 'Sign out: revoke the key of this request, if it is a sign-in',
    access: asUser(),
    answers: { 204: null },
  }),
  readInvite: route({
    method: 'GET',
    path: '/api/signup/:token',
    tag,
    summary: 'Get the email address and organization of an invitation',
    access: open,
    params: InviteTokenParams,
    answers: {
      200: Type.Object({
        target_email: Type.String(),
        first_name: Type.String(),
        organization_name: Type.String(),
      }),
    },
  }),
  signup: route({
    method: 'POST',
    path: '/api/signup/:token',
    tag,
    summary: 'Accept an invitation',
    access: open,
    params: InviteTokenParams,
    body: Type.Object({
      first_name: Type.String({ minLength: 1, maxLength: 150 }),
      password: Type.String({ minLength: 8, maxLength: 128 }),
    }),
    answers: { 201: Session },
  }),
  join: route({
    method: 'POST',
    path: '/api/signup/:token/join',
    tag,
    summary: 'Accept an invitation with an existing account',
    access: asUser('user:write'),
    params: InviteTokenParams,
    answers: { 204: null },
  }),
}
