import Type, { type Static } from 'typebox'
import { asUser, inOrganization, open, routesOf } from '../route.ts'
import {
  Bool,
  FreeObjectInput,
  Instant,
  Integer,
  List,
  NamedObject,
  Nullable,
  OrganizationParams,
  Text,
  TextInput,
} from '../schema.ts'
import { Methods, PasskeyOptions, Session, Token } from './session.ts'

const route = routesOf('Second factor')
const passkeyBytesMax = 32 * 1024

const Passkey = FreeObjectInput(passkeyBytesMax, 'What `navigator.credentials` returned, as JSON (WebAuthn Level 3).', {
  id: 'dGVzdA',
  rawId: 'dGVzdA',
  type: 'public-key',
  response: {},
  clientExtensionResults: {},
})
const Code = TextInput(40, 'Code of the authenticator app, six digits.', '492039')
const RecoveryCode = TextInput(40, 'One of the recovery codes; each works once.', 'k7fd-2mzq-9xhw-c4tp')
const answers = {
  code: Type.Optional(Code),
  recovery_code: Type.Optional(RecoveryCode),
  passkey: Type.Optional(Passkey),
}
const FactorName = Type.Optional(TextInput(64, 'Name to recognize it by.', 'Work phone'))

const SecondFactor = NamedObject('SecondFactor', 'A second factor of the caller.', {
  id: Text('Id of the factor.', '5fG6hJ7kL8n0pQ1rS2tU3v'),
  kind: Type.Union([Type.Literal('code'), Type.Literal('passkey')], {
    description: 'An authenticator app (`code`) or a passkey.',
    examples: ['code'],
  }),
  name: Text('Name that the user chose.', 'Work phone'),
  created_at: Instant('When it was added.'),
  last_used_at: Nullable(Instant('When it was last used.')),
})
export type SecondFactor = Static<typeof SecondFactor>

const RecoveryCodes = List(Type.String(), 'New recovery codes. Only this response contains them.', [
  'k7fd-2mzq-9xhw-c4tp',
])

const SecondFactors = NamedObject('SecondFactors', 'The second factors of the caller.', {
  factors: List(SecondFactor, 'Oldest first.'),
  recovery_codes_left: Integer('How many recovery codes are unused.', 10),
  required_by: List(Type.String(), 'Names of organizations of the caller that require a second factor.', ['Acme']),
})
export type SecondFactors = Static<typeof SecondFactors>

const NewSecondFactor = NamedObject('NewSecondFactor', 'The added factor; with the first one come recovery codes.', {
  factor: SecondFactor,
  recovery_codes: Nullable(RecoveryCodes),
})
export type NewSecondFactor = Static<typeof NewSecondFactor>

const factors = '/api/users/@me/second_factors' as const
const needsProof = 'Needs a sign-in whose user proved who they are within 10 minutes (403 `proof_required` otherwise).'

export const secondFactorRoutes = {
  signIn: route.post('/api/login/second_factor', {
    operationId: 'completeLogin',
    summary: 'Complete a sign-in with a second factor',
    description:
      'Send one of `code`, `recovery_code` and `passkey`. After five wrong ones the password is needed again.',
    access: open,
    body: Type.Object({ token: Token('Token of the pending sign-in.'), ...answers }),
    responses: { 200: Session },
  }),
  passkeyOptions: route.post('/api/login/passkey/options', {
    operationId: 'beginPasskeyLogin',
    summary: 'Begin a sign-in with a passkey instead of a password',
    description: 'The challenge is valid for 5 minutes and works once.',
    access: open,
    responses: {
      200: Type.Object({
        token: Token('Send it with the passkey.'),
        options: PasskeyOptions('Argument of `navigator.credentials.get` as JSON.'),
      }),
    },
  }),
  passkeySignIn: route.post('/api/login/passkey', {
    operationId: 'loginWithPasskey',
    summary: 'Sign in with a passkey instead of a password',
    description: 'The passkey must have verified its user, by PIN or biometrics: it is both factors.',
    access: open,
    body: Type.Object({
      token: Token('Token of the options.'),
      passkey: Passkey,
      remember: Type.Optional(Bool('Stay signed in for 30 days.', false)),
    }),
    responses: { 200: Session },
  }),
  list: route.get(factors, {
    operationId: 'listSecondFactors',
    summary: 'List the second factors of the caller',
    description: 'Without their secrets.',
    access: asUser('user:read'),
    isForSetUp: true,
    responses: { 200: SecondFactors },
  }),
  prepareCode: route.post(`${factors}/code`, {
    operationId: 'prepareAuthenticatorApp',
    summary: 'Begin to add an authenticator app',
    description: `Returns its secret once. ${needsProof}`,
    access: asUser('user:write'),
    isForSetUp: true,
    responses: {
      200: Type.Object({
        token: Token('Send it with the first code.'),
        secret: Text('The secret in Base32, to type.', 'JBSWY3DPEHPK3PXP'),
        uri: Text(
          'The secret as a URI, to show as a QR code.',
          'otpauth://totp/Halyard:ada%40example.com?issuer=Halyard&secret=JBSWY3DPEHPK3PXP',
        ),
      }),
    },
  }),
  addCode: route.post(`${factors}/code/confirm`, {
    operationId: 'addAuthenticatorApp',
    summary: 'Add an authenticator app with its first code',
    description: needsProof,
    access: asUser('user:write'),
    isForSetUp: true,
    body: Type.Object({ token: Token('Token of the first step.'), code: Code, name: FactorName }),
    responses: { 201: NewSecondFactor },
  }),
  preparePasskey: route.post(`${factors}/passkey`, {
    operationId: 'preparePasskey',
    summary: 'Begin to add a passkey',
    description: needsProof,
    access: asUser('user:write'),
    isForSetUp: true,
    responses: {
      200: Type.Object({
        token: Token('Send it with the passkey.'),
        options: PasskeyOptions('Argument of `navigator.credentials.create` as JSON.'),
      }),
    },
  }),
  addPasskey: route.post(`${factors}/passkey/confirm`, {
    operationId: 'addPasskey',
    summary: 'Add a passkey',
    description: needsProof,
    access: asUser('user:write'),
    isForSetUp: true,
    body: Type.Object({ token: Token('Token of the first step.'), passkey: Passkey, name: FactorName }),
    responses: { 201: NewSecondFactor },
  }),
  remove: route.delete(`${factors}/:factor_id`, {
    operationId: 'removeSecondFactor',
    summary: 'Remove a second factor',
    description: `The recovery codes go with the last one. ${needsProof}`,
    access: asUser('user:write'),
    params: Type.Object({
      factor_id: Type.String({
        pattern: '^[0-9A-Za-z]{22}$',
        description: 'Id of the factor.',
        examples: ['5fG6hJ7kL8n0pQ1rS2tU3v'],
      }),
    }),
    responses: { 204: null },
  }),
  renewRecoveryCodes: route.post('/api/users/@me/recovery_codes', {
    operationId: 'createRecoveryCodes',
    summary: 'Create ten new recovery codes; the old ones stop working',
    description: needsProof,
    access: asUser('user:write'),
    responses: { 201: Type.Object({ recovery_codes: RecoveryCodes }) },
  }),
  prepareProof: route.post('/api/users/@me/proof/options', {
    operationId: 'prepareProof',
    summary: 'Begin to prove who you are again, in this sign-in',
    description: 'Without a second factor, send the password.',
    access: asUser('user:write'),
    isForSetUp: true,
    responses: {
      200: Type.Object({
        token: Token('Send it with the proof.'),
        methods: Methods,
        passkey_options: Nullable(PasskeyOptions('Argument of `navigator.credentials.get` as JSON.')),
      }),
    },
  }),
  prove: route.post('/api/users/@me/proof', {
    operationId: 'prove',
    summary: 'Prove who you are again, in this sign-in',
    description: 'Send a second factor, or the password if you have none. Good for 10 minutes.',
    access: asUser('user:write'),
    isForSetUp: true,
    body: Type.Object({
      token: Token('Token of the first step.'),
      password: Type.Optional(TextInput(1000, 'For accounts without a second factor.')),
      ...answers,
    }),
    responses: { 204: null },
  }),
  resetMember: route.delete('/api/organizations/:parent_lookup_organization_id/members/:user_uuid/second_factors', {
    operationId: 'resetMemberSecondFactors',
    summary: 'Remove all second factors of a member (admin)',
    description:
      'For a lost device: removes recovery codes too and ends all sign-ins of the member. Requires the admin level in every organization of the member, and at least the level of the member.',
    access: inOrganization('member:write', 'organization:write'),
    params: Type.Object({
      ...OrganizationParams.properties,
      user_uuid: Text('UUID of the user.'),
    }),
    responses: { 204: null },
  }),
}
