import Type, { type Static } from 'typebox'
import { adminLevel } from '../levels.ts'
import { keyLabel } from '../organizations/api-keys.ts'
import { UserBasic } from '../organizations/users.ts'
import { inOrganization, routesOf } from '../route.ts'
import { Instant, InstantInput, NamedObject, Nullable, OrganizationParams, Text, Uuid } from '../schema.ts'

export const ScimToken = NamedObject(
  'ScimToken',
  'A token with which an identity provider provisions users and groups by SCIM.',
  {
    id: Uuid('Unique id of the token.'),
    label: Text('What the token is for.', 'Entra ID'),
    mask_value: Text('Beginning and end of the token.', 'scim...7kL8'),
    created_by: UserBasic,
    created_at: Instant('When the token was created.'),
    last_used_at: Nullable(Instant('When the token was last used, to the hour.', null)),
    expires_at: Nullable(Instant('When the token expires; null if it does not.', null)),
  },
)
export type ScimToken = Static<typeof ScimToken>
const NewScimToken = NamedObject('NewScimToken', 'A new SCIM token with its value.', {
  ...ScimToken.properties,
  value: Text('The token itself.', 'scim_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'),
})

const route = routesOf('Provisioning (SCIM)', { params: OrganizationParams })
const path = '/api/organizations/:parent_lookup_organization_id/scim_tokens' as const

export const scimTokenRoutes = {
  list: route.get(path, {
    operationId: 'listScimTokens',
    summary: 'List the SCIM tokens of the organization (admin), newest first, without their values',
    description: 'Requires the admin level.',
    access: { ...inOrganization('organization:read'), level: adminLevel },
    responses: { 200: Type.Array(ScimToken) },
  }),
  create: route.post(path, {
    operationId: 'createScimToken',
    summary: 'Create a token for SCIM (owner); its value is returned once',
    description:
      'Requires the owner: who has the token decides who is a member and what email addresses they have. It works on `/scim/v2/` of this organization only.',
    access: { ...inOrganization('organization:write'), level: adminLevel },
    body: Type.Object({
      label: keyLabel,
      expires_at: Type.Optional(Nullable(InstantInput('When the token expires. Without it, the token does not.'))),
    }),
    responses: { 201: NewScimToken },
  }),
  remove: route.delete(`${path}/:token_id`, {
    operationId: 'deleteScimToken',
    summary: 'Revoke a SCIM token (owner)',
    description:
      'Requires the owner. Members stay. Without a valid token no account is managed by SCIM, and all can be changed by hand.',
    access: { ...inOrganization('organization:write'), level: adminLevel },
    params: Type.Object({
      ...OrganizationParams.properties,
      token_id: Text('Id of the token.'),
    }),
    responses: { 204: null },
  }),
}
