import Type, { type Static } from 'typebox'
import { asUser, open, routesOf } from '../route.ts'
import { Bool, FreeObject, Instant, List, NamedObject, NonEmptyTextInput, Nullable, Text } from '../schema.ts'
import { UserBasic } from './users.ts'

/** A sign-in is a personal API key that expires: the dashboard uses the same contract as every other client. */
export const Session = NamedObject('Session', 'A sign-in.', {
  user: UserBasic,
  api_key: Text('Personal API key of the sign-in.', 'phx_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'),
  expires_at: Instant('When the sign-in expires.'),
})

export const Token = (description: string) =>
  NonEmptyTextInput(1000, description, '4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n0pQ1rS2tU3vW')
export const PasskeyOptions = (description: string) =>
  FreeObject(description, { challenge: 'q8Yt0c3zWJr5u1oK', rpId: 'flags.example.com', userVerification: 'preferred' })
const Kind = Type.Union([Type.Literal('code'), Type.Literal('passkey'), Type.Literal('recovery_code')])
export const Methods = List(Kind, 'What can be used, each on its own.', ['code'])

const PendingSignIn = NamedObject(
  'PendingSignIn',
  'A sign-in whose password was right and that needs a second factor.',
  {
    token: Token('Continues this sign-in at `/api/login/second_factor/`, once.'),
    expires_at: Instant('When the password is needed again.'),
    methods: Methods,
    passkey_options: Nullable(
      PasskeyOptions('Argument of `navigator.credentials.get` as JSON; null without a passkey.'),
    ),
  },
)
export type PendingSignIn = Static<typeof PendingSignIn>

const SignIn = NamedObject('SignIn', 'A browser in which the user is signed in.', {
  id: Text('Id of the sign-in.', '5fG6hJ7kL8n0pQ1rS2tU3v'),
  method: Type.Union(
    [
      Type.Literal('password'),
      Type.Literal('password_and_code'),
      Type.Literal('password_and_recovery_code'),
      Type.Literal('password_and_passkey'),
      Type.Literal('passkey'),
      Type.Literal('single_sign_on'),
    ],
    { description: 'How the user signed in.', examples: ['password_and_code'] },
  ),
  user_agent: Text('The browser that signed in.', 'Mozilla/5.0 Firefox/140.0'),
  address: Text('Its address when it signed in.', '192.0.2.7'),
  created_at: Instant('When the user signed in.'),
  last_used_at: Instant('When it was last used, within an hour.'),
  expires_at: Instant('When the password is needed again.'),
  is_remembered: Bool('Whether the user chose to stay signed in.', true),
  is_current: Bool('Whether it is the sign-in of this request.', true),
})
export type SignIn = Static<typeof SignIn>

const InviteTokenParams = Type.Object({
  token: Type.String({
    pattern: '^[0-9A-Za-z]{43}$',
    description: 'The secret of the invitation, never its id.',
    examples: ['4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n0pQ1rS2tU3vW'],
  }),
})

const route = routesOf('Sign-in')
const inviteTokenRoute = routesOf('Sign-in', { params: InviteTokenParams })

export const sessionRoutes = {
  login: route.post('/api/login', {
    operationId: 'login',
    summary: 'Sign in with email and password; returns a personal API key that expires after 12 hours',
    description:
      'Failed attempts are throttled by account and address (429). An account with a second factor gets 202: complete the sign-in at `/api/login/second_factor/`.',
    access: open,
    body: Type.Object({
      email: NonEmptyTextInput(254, 'Email address of the user.', 'ada@example.com'),
      password: NonEmptyTextInput(1000, 'Password of the user.', 'correct horse battery staple'),
      remember: Type.Optional(
        Bool('Stay signed in for 30 days: sets an `HttpOnly` cookie that only `/api/session/resume/` accepts.', false),
      ),
    }),
    responses: { 200: Session, 202: PendingSignIn },
  }),
  resume: route.post('/api/session/resume', {
    operationId: 'resumeSession',
    summary: 'Continue a sign-in with the cookie of a browser that stays signed in',
    description:
      'Returns a new personal API key that expires after 12 hours. Requests of other sites are rejected (403).',
    access: open,
    responses: { 200: Session },
  }),
  listSignIns: route.get('/api/users/@me/sign_ins', {
    operationId: 'listSignIns',
    summary: 'List the browsers in which the caller is signed in',
    description: 'Newest first, at most 50.',
    access: asUser('user:read'),
    responses: { 200: Type.Array(SignIn) },
  }),
  revokeSignIn: route.delete('/api/users/@me/sign_ins/:sign_in_id', {
    operationId: 'revokeSignIn',
    summary: 'Sign out another browser',
    description: 'Its keys are revoked at once, and its cookie is worthless.',
    access: asUser('user:write'),
    params: Type.Object({
      sign_in_id: Type.String({
        pattern: '^[0-9A-Za-z]{22}$',
        description: 'Id of the sign-in.',
        examples: ['5fG6hJ7kL8n0pQ1rS2tU3v'],
      }),
    }),
    responses: { 204: null },
  }),
  logout: route.post('/api/logout', {
    operationId: 'logout',
    summary: 'Sign out: revoke the key of this request, if it is a sign-in',
    description:
      'A personal API key that was created explicitly is not revoked. 200 with `redirect_url` when the sign-in can be ended at its provider as well; 204 otherwise.',
    access: asUser(),
    isForSetUp: true,
    responses: {
      204: null,
      200: NamedObject('ProviderLogout', 'How to end the sign-in at the provider.', {
        redirect_url: Text(
          'Where the sign-in at the provider ends; open it in the browser.',
          'https://acme.okta.com/oauth2/v1/logout?…',
        ),
      }),
    },
  }),
  readInvite: inviteTokenRoute.get('/api/signup/:token', {
    operationId: 'getInvite',
    summary: 'Get the email address and organization of an invitation',
    description: 'For the sign-up page. The token is the only credential.',
    access: open,
    responses: {
      200: Type.Object({
        target_email: Text('Email address of the invited person.', 'grace@example.com'),
        first_name: Text('First name of the invited person.', 'Grace'),
        organization_name: Text('Name of the organization.', 'Acme'),
      }),
    },
  }),
  signup: inviteTokenRoute.post('/api/signup/:token', {
    operationId: 'signUp',
    summary: 'Accept an invitation',
    description: 'Creates the account, joins the organization and signs in.',
    access: open,
    body: Type.Object({
      first_name: NonEmptyTextInput(150, 'First name of the new user.', 'Grace'),
      password: Type.String({
        minLength: 8,
        maxLength: 128,
        description: 'Password of the new user, at least 8 characters.',
        examples: ['correct horse battery staple'],
      }),
    }),
    responses: { 201: Session },
  }),
  join: inviteTokenRoute.post('/api/signup/:token/join', {
    operationId: 'joinOrganization',
    summary: 'Accept an invitation with an existing account',
    description: 'The caller joins the organization of the invitation.',
    access: asUser('user:write'),
    responses: { 204: null },
  }),
}
