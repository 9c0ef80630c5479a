import Type, { type Static } from 'typebox'
import { inOrganization, open, routesOf } from '../route.ts'
import {
  Bool,
  IdInput,
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
import { Session } from './session.ts'

const levelText = '-1 auditor, 0 view only, 1 member, 8 admin'

const GroupMapping = NamedObject('GroupMapping', 'What the members of a group of the provider get.', {
  group: NonEmptyTextInput(200, 'A group as the provider names it.', 'platform'),
  level: Type.Optional(Nullable(Integer(`Level of its members: ${levelText}.`, 8))),
  role_id: Type.Optional(Nullable(IdInput('Role that its members get.'))),
})
export const groupMappingsMax = 200

const providerFields = {
  name: NonEmptyTextInput(100, 'Shown on the button of the sign-in page.', 'Acme Okta'),
  issuer: NonEmptyTextInput(
    500,
    'Issuer of the provider: discovery starts at `{issuer}/.well-known/openid-configuration`.',
    'https://acme.okta.com',
  ),
  client_id: NonEmptyTextInput(300, 'Client id of Halyard at the provider.', '0oa1b2c3d4'),
}
const optionalFields = {
  scopes: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 20,
    description: 'Scopes that are requested; include the one that carries groups. `openid` is always requested.',
    examples: [['openid', 'email', 'profile', 'groups']],
  }),
  group_claim: NonEmptyTextInput(200, 'Claim with the groups of the user; default `groups`.', 'groups'),
  group_mappings: Type.Array(GroupMapping, {
    maxItems: groupMappingsMax,
    description: 'Applied at every sign-in. The highest level counts; roles that are named here follow the groups.',
    examples: [[{ group: 'platform', level: 8 }]],
  }),
  default_level: Integer(`Level of users without a mapped group: ${levelText}.`, 1),
  session_hours: Type.Integer({
    minimum: 1,
    maximum: 12,
    description: 'Hours after which a sign-in ends, at most those of a session at the provider.',
    examples: [12],
  }),
  enabled: Bool('Whether users can sign in with it.', true),
}
const ClientSecret = TextInput(
  2000,
  'Client secret at the provider. Never returned. Empty for a public client.',
  's3cr3t',
)
/** What a body can leave out. */
const optionalWrites = {
  client_secret: Type.Optional(ClientSecret),
  scopes: Type.Optional(optionalFields.scopes),
  group_claim: Type.Optional(optionalFields.group_claim),
  group_mappings: Type.Optional(optionalFields.group_mappings),
  default_level: Type.Optional(optionalFields.default_level),
  session_hours: Type.Optional(optionalFields.session_hours),
  enabled: Type.Optional(optionalFields.enabled),
}

export const IdentityProvider = NamedObject(
  'IdentityProvider',
  'An OpenID Connect provider that members sign in with.',
  {
    id: Uuid('Unique id of the provider.'),
    ...providerFields,
    ...optionalFields,
    has_client_secret: Bool('Whether a client secret is stored.', true),
    redirect_uri: Text(
      'To be registered at the provider.',
      'https://flags.acme.com/login/sso/0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d',
    ),
    backchannel_logout_uri: Text(
      'To be registered at the provider, if it supports back-channel logout.',
      'https://flags.acme.com/api/login/sso/0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d/backchannel_logout/',
    ),
    problem: Nullable(Text('What was wrong at the last sign-in, such as a missing claim.', null)),
    last_sign_in_at: Nullable(Instant('When someone last signed in with it.', null)),
    created_at: Instant('When the provider was created.'),
    updated_at: Instant('When the provider was last changed.'),
  },
)
export type IdentityProvider = Static<typeof IdentityProvider>

const ProviderCheck = NamedObject('IdentityProviderCheck', 'What the discovery document of a provider shows.', {
  is_usable: Bool('Whether a sign-in can work.', true),
  problems: List(Type.String(), 'What is wrong, and what to do.', []),
})

export const OrganizationDomain = NamedObject(
  'OrganizationDomain',
  'A domain of email addresses that belongs to the organization.',
  {
    id: Uuid('Unique id of the domain.'),
    domain: Text('The part of email addresses after the @.', 'acme.com'),
    record_name: Text('Name of the TXT record.', '_halyard.acme.com'),
    record_value: Text('Value of the TXT record.', 'halyard-verification=4Zr0mW9sT1uVxY2bC3dE5f'),
    verified_at: Nullable(Instant('When the domain was verified; null when it was not.', null)),
    created_at: Instant('When the domain was added.'),
  },
)
export type OrganizationDomain = Static<typeof OrganizationDomain>

const SingleSignOn = NamedObject('SingleSignOn', 'How members of an organization sign in.', {
  is_required: Bool(
    'Whether members must sign in with a provider. The owner can always sign in, with password and second factor.',
    false,
  ),
})

const organization = '/api/organizations/:parent_lookup_organization_id' as const
const providers = `${organization}/identity_providers` as const
const domains = `${organization}/domains` as const
const ProviderParams = Type.Object({ ...OrganizationParams.properties, provider_id: IdInput('Id of the provider.') })
const DomainParams = Type.Object({ ...OrganizationParams.properties, domain_id: IdInput('Id of the domain.') })
const reading = inOrganization('organization:read')
const writing = inOrganization('organization:write')

const organizationRoute = routesOf('Single sign-on', { params: OrganizationParams })
const providerRoute = routesOf('Single sign-on', { params: ProviderParams })
const domainRoute = routesOf('Single sign-on', { params: DomainParams })
const route = routesOf('Single sign-on')

export const identityProviderRoutes = {
  list: organizationRoute.get(providers, {
    operationId: 'listIdentityProviders',
    summary: 'List the identity providers (admin)',
    description: 'Requires the admin level. At most 20, oldest first, without their secrets.',
    access: reading,
    responses: { 200: Type.Array(IdentityProvider) },
  }),
  create: organizationRoute.post(providers, {
    operationId: 'createIdentityProvider',
    summary: 'Add an OpenID Connect provider (owner)',
    description:
      'Requires the owner level: a provider can sign in as any member. Register the `redirect_uri` of the response at the provider.',
    access: writing,
    body: Type.Object({
      ...providerFields,
      ...optionalWrites,
    }),
    responses: { 201: IdentityProvider },
  }),
  get: providerRoute.get(`${providers}/:provider_id`, {
    operationId: 'getIdentityProvider',
    summary: 'Get an identity provider (admin)',
    description: 'Requires the admin level. The client secret is never returned.',
    access: reading,
    responses: { 200: IdentityProvider },
  }),
  update: providerRoute.patch(`${providers}/:provider_id`, {
    operationId: 'updateIdentityProvider',
    summary: 'Change an identity provider (owner)',
    description:
      'Requires the owner level. Changes only the fields that the body contains. Sessions go on; a new issuer unlinks all accounts.',
    access: writing,
    body: Type.Object({
      name: Type.Optional(providerFields.name),
      issuer: Type.Optional(providerFields.issuer),
      client_id: Type.Optional(providerFields.client_id),
      ...optionalWrites,
    }),
    responses: { 200: IdentityProvider },
  }),
  remove: providerRoute.delete(`${providers}/:provider_id`, {
    operationId: 'deleteIdentityProvider',
    summary: 'Remove an identity provider (owner); its sessions end',
    description: 'Requires the owner level. Accounts, memberships and API keys stay.',
    access: writing,
    responses: { 204: null },
  }),
  test: providerRoute.post(`${providers}/:provider_id/test`, {
    operationId: 'testIdentityProvider',
    summary: 'Fetch the discovery document and the keys of a provider, and report what is wrong (admin)',
    description: 'Requires the admin level. Nothing is changed.',
    access: writing,
    isAudited: false,
    responses: { 200: ProviderCheck },
  }),
  listDomains: organizationRoute.get(domains, {
    operationId: 'listOrganizationDomains',
    summary: 'List the domains of the organization (admin)',
    description: 'Requires the admin level. At most 50, by name.',
    access: reading,
    responses: { 200: Type.Array(OrganizationDomain) },
  }),
  addDomain: organizationRoute.post(domains, {
    operationId: 'addOrganizationDomain',
    summary: 'Add a domain (owner); it counts when it is verified',
    description:
      'Requires the owner level. Accounts with an address of a verified domain are linked to the provider by email.',
    access: writing,
    body: Type.Object({
      domain: Type.String({
        minLength: 3,
        maxLength: 253,
        description: 'The part of email addresses after the @.',
        examples: ['acme.com'],
      }),
    }),
    responses: { 201: OrganizationDomain },
  }),
  verifyDomain: domainRoute.post(`${domains}/:domain_id/verify`, {
    operationId: 'verifyOrganizationDomain',
    summary: 'Verify a domain by its TXT record (owner)',
    description: 'Requires the owner level. Instance administrators can verify a domain without the record.',
    access: writing,
    body: Type.Object({
      without_record: Type.Optional(Bool('Verify without the record (instance administrators).', false)),
    }),
    bodyOptional: true,
    responses: { 200: OrganizationDomain },
  }),
  removeDomain: domainRoute.delete(`${domains}/:domain_id`, {
    operationId: 'removeOrganizationDomain',
    summary: 'Remove a domain (owner)',
    description: 'Requires the owner level. Accounts that are linked stay linked.',
    access: writing,
    responses: { 204: null },
  }),
  getRequirement: organizationRoute.get(`${organization}/single_sign_on`, {
    operationId: 'getSingleSignOn',
    summary: 'Get whether members must sign in with a provider',
    description: 'Every member can read it.',
    access: reading,
    responses: { 200: SingleSignOn },
  }),
  updateRequirement: organizationRoute.patch(`${organization}/single_sign_on`, {
    operationId: 'updateSingleSignOn',
    summary: 'Require single sign-on (owner)',
    description:
      'Requires the owner level, a second factor of the owner, and a provider that was used. Sessions with a password lose the organization at once, except those of the owner. API keys go on.',
    access: writing,
    body: Type.Object({
      is_required: Bool('Whether members must sign in with a provider.', true),
    }),
    responses: { 200: SingleSignOn },
  }),
}

const LoginProviderParams = Type.Object({ provider_id: IdInput('Id of the provider.') })
const loginProviderRoute = routesOf('Single sign-on', { params: LoginProviderParams })
const LoginProvider = NamedObject('LoginProvider', 'A provider that the sign-in page offers.', {
  id: Uuid('Unique id of the provider.'),
  name: Text('Name for the button.', 'Acme Okta'),
})

export const singleSignOnRoutes = {
  listProviders: route.get('/api/login/sso', {
    operationId: 'listLoginProviders',
    summary: 'List the providers of an email domain or an organization, for the sign-in page',
    description:
      'Send the part of the address after the @: the response cannot depend on whether an account exists. Empty without a match.',
    access: open,
    query: Type.Object({
      domain: Type.Optional(Text('Domain of the email address.', 'acme.com')),
      organization: Type.Optional(Text('Slug of the organization.', 'acme')),
    }),
    responses: { 200: Type.Array(LoginProvider) },
  }),
  start: loginProviderRoute.post('/api/login/sso/:provider_id/start', {
    operationId: 'startSingleSignOn',
    summary: 'Start a sign-in: returns the address at the provider and binds the attempt to the browser by a cookie',
    description: 'Navigate to `redirect_url` within ten minutes. 503 when the provider is unavailable.',
    access: open,
    isAudited: false,
    body: Type.Object({
      next: Type.Optional(
        TextInput(
          2000,
          'Path of the dashboard to open after the sign-in; anything else is ignored.',
          '/project/1/flags',
        ),
      ),
    }),
    bodyOptional: true,
    responses: {
      200: Type.Object({
        redirect_url: Text('Address at the provider.', 'https://acme.okta.com/…'),
      }),
    },
  }),
  finish: loginProviderRoute.post('/api/login/sso/:provider_id/finish', {
    operationId: 'finishSingleSignOn',
    summary: 'Finish a sign-in with the parameters that the provider sent back',
    description:
      'Needs the cookie of the start. State, nonce, PKCE, issuer, audience, signature and time are checked; each attempt works once.',
    access: open,
    body: Type.Object({
      parameters: NonEmptyTextInput(
        8000,
        'The query string of the redirect, as received.',
        'code=SplxlOBeZQQYbYS6WxSbIA&state=af0ifjsldkj',
      ),
    }),
    responses: {
      200: Type.Object({
        ...Session.properties,
        next: Text('Path of the dashboard to open.', '/'),
      }),
    },
  }),
  backchannelLogout: loginProviderRoute.post('/api/login/sso/:provider_id/backchannel_logout', {
    operationId: 'backchannelLogout',
    summary: 'Receive a logout token of the provider: ends the sessions that it names on all nodes',
    description:
      'OpenID Connect Back-Channel Logout 1.0: a form with `logout_token`. Signature, issuer, audience, time, event and reuse are checked.',
    access: open,
    responses: { 200: null },
  }),
}
