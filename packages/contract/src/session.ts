import Type from 'typebox'
import { asUser, open, route } from './route.ts'
import { Instant, Uuid } from './schema.ts'
import { UserBasic } from './users.ts'

/** A sign-in is a personal API key that ends by itself: the page speaks the same contract as everybody else. */
export const Session = Type.Object({ user: UserBasic, api_key: Type.String(), expires_at: Instant() })

const tag = 'Sign-in'
export const sessionRoutes = {
  login: route({
    method: 'POST',
    path: '/api/login',
    tag,
    summary: 'Sign in with e-mail and password; answers a personal API key that ends after 12 hours',
    access: open,
    body: Type.Object({ email: Type.String({ minLength: 1 }), password: Type.String({ minLength: 1 }) }),
    answers: { 200: Session },
  }),
  logout: route({
    method: 'POST',
    path: '/api/logout',
    tag,
    summary: 'End the key that this request was made with, if it came from signing in',
    access: asUser(),
    answers: { 204: null },
  }),
  readInvite: route({
    method: 'GET',
    path: '/api/signup/:invite_id',
    tag,
    summary: 'What an invitation is for',
    access: open,
    params: Type.Object({ invite_id: Uuid() }),
    answers: {
      200: Type.Object({
        id: Uuid(),
        target_email: Type.String(),
        first_name: Type.String(),
        organization_name: Type.String(),
      }),
    },
  }),
  signup: route({
    method: 'POST',
    path: '/api/signup/:invite_id',
    tag,
    summary: 'Accept an invitation',
    access: open,
    params: Type.Object({ invite_id: Uuid() }),
    body: Type.Object({
      first_name: Type.String({ minLength: 1, maxLength: 150 }),
      password: Type.String({ minLength: 8, maxLength: 128 }),
    }),
    answers: { 201: Session },
  }),
  join: route({
    method: 'POST',
    path: '/api/signup/:invite_id/join',
    tag,
    summary: 'Accept an invitation with the account that one has',
    access: asUser('user:write'),
    params: Type.Object({ invite_id: Uuid() }),
    answers: { 204: null },
  }),
}
