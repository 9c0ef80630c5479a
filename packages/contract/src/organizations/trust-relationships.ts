import Type, { type Static } from 'typebox'
import { inOrganization, open, routesOf } from '../route.ts'
import {
  IdInput,
  Instant,
  Integer,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  OneOfInput,
  OrganizationParams,
  Text,
  Uuid,
} from '../schema.ts'
import { UserBasic } from './users.ts'

export const claimRulesMax = 20
export const exchangedKeySecondsMax = 3600

const ClaimRule = NamedObject('ClaimRule', 'A condition on a claim; all rules must hold.', {
  claim: NonEmptyTextInput(100, 'Name of a claim of the token whose value is a text.', 'sub'),
  match: OneOfInput(['exact', 'prefix'] as const, {
    description: '`exact`, or `prefix`, which must end with a separator.',
    examples: ['exact'],
  }),
  value: NonEmptyTextInput(500, 'What the claim must be, or begin with.', 'repo:acme/shop:ref:refs/heads/main'),
})

const fields = {
  name: NonEmptyTextInput(100, 'Name of the relationship.', 'Deployments of the shop'),
  issuer: NonEmptyTextInput(
    500,
    'Issuer of the tokens (`iss`), which publishes its keys by OpenID Connect discovery.',
    'https://token.actions.githubusercontent.com',
  ),
  audience: NonEmptyTextInput(300, 'Audience of the tokens (`aud`).', 'https://flags.acme.com'),
  rules: Type.Array(ClaimRule, {
    maxItems: claimRulesMax,
    description: 'Conditions on claims, at least one. All must hold.',
    examples: [[{ claim: 'sub', match: 'exact', value: 'repo:acme/shop:ref:refs/heads/main' }]],
  }),
  scopes: Type.Array(Type.String({ maxLength: 100 }), {
    maxItems: 100,
    description: 'Scopes of the keys, such as `feature_flag:write`; `*` is refused.',
    examples: [['feature_flag:write']],
  }),
  projects: Type.Array(Type.Integer(), {
    maxItems: 1000,
    description: 'Ids of the projects that the keys are limited to; empty means all of the organization.',
    examples: [[1]],
  }),
  ttl_seconds: Type.Integer({
    minimum: 60,
    maximum: exchangedKeySecondsMax,
    description: 'Seconds after which a key expires, at most an hour.',
    examples: [900],
  }),
}

export const TrustRelationship = NamedObject(
  'TrustRelationship',
  'Which tokens of an issuer are exchanged for which keys.',
  {
    id: Uuid('Unique id of the relationship, and `audience` of the exchange.'),
    ...fields,
    created_by: UserBasic,
    created_at: Instant('When the relationship was created.'),
    updated_at: Instant('When the relationship was last changed.'),
    last_used_at: Nullable(Instant('When a token was last exchanged.', null)),
  },
)
export type TrustRelationship = Static<typeof TrustRelationship>

const relationships = '/api/organizations/:parent_lookup_organization_id/trust_relationships' as const
const RelationshipParams = Type.Object({
  ...OrganizationParams.properties,
  relationship_id: IdInput('Id of the relationship.'),
})
const reading = inOrganization('organization:read')
const writing = inOrganization('organization:write')

const organizationRoute = routesOf('Token exchange', { params: OrganizationParams })
const relationshipRoute = routesOf('Token exchange', { params: RelationshipParams })
const route = routesOf('Token exchange')

export const trustRelationshipRoutes = {
  list: organizationRoute.get(relationships, {
    operationId: 'listTrustRelationships',
    summary: 'List the trust relationships (admin)',
    description: 'Requires the admin level. At most 100, oldest first.',
    access: reading,
    responses: { 200: Type.Array(TrustRelationship) },
  }),
  create: organizationRoute.post(relationships, {
    operationId: 'createTrustRelationship',
    summary: 'Trust tokens of an issuer (admin)',
    description:
      'Requires the admin level. Every token that the rules accept gets a key with these scopes, so name the repository and the branch.',
    access: writing,
    body: Type.Object({
      name: fields.name,
      issuer: fields.issuer,
      audience: fields.audience,
      rules: fields.rules,
      scopes: fields.scopes,
      projects: Type.Optional(fields.projects),
      ttl_seconds: Type.Optional(fields.ttl_seconds),
    }),
    responses: { 201: TrustRelationship },
  }),
  get: relationshipRoute.get(`${relationships}/:relationship_id`, {
    operationId: 'getTrustRelationship',
    summary: 'Get a trust relationship (admin)',
    description: 'Requires the admin level.',
    access: reading,
    responses: { 200: TrustRelationship },
  }),
  update: relationshipRoute.patch(`${relationships}/:relationship_id`, {
    operationId: 'updateTrustRelationship',
    summary: 'Change a trust relationship (admin); its keys are revoked',
    description: 'Requires the admin level. Changes only the fields that the body contains.',
    access: writing,
    body: Type.Object({
      name: Type.Optional(fields.name),
      issuer: Type.Optional(fields.issuer),
      audience: Type.Optional(fields.audience),
      rules: Type.Optional(fields.rules),
      scopes: Type.Optional(fields.scopes),
      projects: Type.Optional(fields.projects),
      ttl_seconds: Type.Optional(fields.ttl_seconds),
    }),
    responses: { 200: TrustRelationship },
  }),
  remove: relationshipRoute.delete(`${relationships}/:relationship_id`, {
    operationId: 'deleteTrustRelationship',
    summary: 'Remove a trust relationship (admin); its keys stop at once',
    description: 'Requires the admin level. What its keys changed stays attributed to it.',
    access: writing,
    responses: { 204: null },
  }),
}

const OAuthProblem = NamedObject('OAuthProblem', 'An error in the shape of OAuth 2.0.', {
  error: Text('Code of RFC 6749 and RFC 8693.', 'invalid_request'),
  error_description: Text('What is wrong.', 'The claim `ref` does not match.'),
})

export const tokenExchangeRoutes = {
  exchange: route.post('/api/token', {
    operationId: 'exchangeToken',
    summary: 'Exchange the identity token of a CI job or workload for a key (RFC 8693)',
    description:
      'A form with `grant_type` = `urn:ietf:params:oauth:grant-type:token-exchange`, `subject_token` (a JWT), `subject_token_type` = `urn:ietf:params:oauth:token-type:jwt` or `…:id_token`, and `audience` = id of the trust relationship.',
    access: open,
    errorShape: 'oauth',
    refusal: OAuthProblem,
    responses: {
      200: NamedObject('ExchangedToken', 'A short-lived key.', {
        access_token: Text('The key.', 'phx_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'),
        issued_token_type: Text('Type of the key.', 'urn:ietf:params:oauth:token-type:access_token'),
        token_type: Text('How it is sent.', 'Bearer'),
        expires_in: Integer('Seconds until it expires.', 900),
        scope: Text('Its scopes, separated by spaces.', 'feature_flag:write'),
      }),
    },
  }),
}
