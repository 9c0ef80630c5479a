import Type from 'typebox'
import { asUser, open, route } from '../route.ts'
import { Instant } from '../schema.ts'
import { UserBasic } from './users.ts'

/** A sign-in is a personal API key that expires: the dashboard uses the same contract as every other client. */
export const Session = Type.Object(
  {
    user: UserBasic,
    api_key: Type.String({
      description: 'Personal API key of the sign-in.',
      examples: ['phx_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'],
    }),
    expires_at: Instant('When the sign-in expires.'),
  },
  { title: 'Session', description: 'A sign-in.' },
)

const tag = 'Sign-in'
const InviteTokenParams = Type.Object({
  token: Type.String({
    pattern: '^[0-9A-Za-z]{43}$',
    description: 'The secret of the invitation, never its id.',
    examples: ['4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n0pQ1rS2tU3vW'],
  }),
})

export const sessionRoutes = {
  login: route({
    method: 'POST',
    path: '/api/login',
    tag,
    operationId: 'login',
    summary: 'Sign in with email and password; returns a personal API key that expires after 12 hours',
    description: 'Failed attempts are throttled by account and address (429).',
    access: open,
    body: Type.Object({
      email: Type.String({
        minLength: 1,
        maxLength: 254,
        description: 'Email address of the user.',
        examples: ['ada@example.com'],
      }),
      password: Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Password of the user.',
        examples: ['correct horse battery staple'],
      }),
    }),
    answers: { 200: Session },
  }),
  logout: route({
    method: 'POST',
    path: '/api/logout',
    tag,
    operationId: 'logout',
    summary: 'Sign out: revoke the key of this request, if it is a sign-in',
    description: 'A personal API key that was created explicitly is not revoked.',
    access: asUser(),
    answers: { 204: null },
  }),
  readInvite: route({
    method: 'GET',
    path: '/api/signup/:token',
    tag,
    operationId: 'getInvite',
    summary: 'Get the email address and organization of an invitation',
    description: 'For the sign-up page. The token is the only credential.',
    access: open,
    params: InviteTokenParams,
    answers: {
      200: Type.Object({
        target_email: Type.String({
          description: 'Email address of the invited person.',
          examples: ['grace@example.com'],
        }),
        first_name: Type.String({ description: 'First name of the invited person.', examples: ['Grace'] }),
        organization_name: Type.String({ description: 'Name of the organization.', examples: ['Acme'] }),
      }),
    },
  }),
  signup: route({
    method: 'POST',
    path: '/api/signup/:token',
    tag,
    operationId: 'signUp',
    summary: 'Accept an invitation',
    description: 'Creates the account, joins the organization and signs in.',
    access: open,
    params: InviteTokenParams,
    body: Type.Object({
      first_name: Type.String({
        minLength: 1,
        maxLength: 150,
        description: 'First name of the new user.',
        examples: ['Grace'],
      }),
      password: Type.String({
        minLength: 8,
        maxLength: 128,
        description: 'Password of the new user, at least 8 characters.',
        examples: ['correct horse battery staple'],
      }),
    }),
    answers: { 201: Session },
  }),
  join: route({
    method: 'POST',
    path: '/api/signup/:token/join',
    tag,
    operationId: 'joinOrganization',
    summary: 'Accept an invitation with an existing account',
    description: 'The caller joins the organization of the invitation.',
    access: asUser('user:write'),
    params: InviteTokenParams,
    answers: { 204: null },
  }),
}
