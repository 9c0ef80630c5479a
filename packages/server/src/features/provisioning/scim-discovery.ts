import {
  scimGroupSchema,
  scimListSchema,
  scimOperationsMax,
  scimPageMax,
  scimRoles,
  scimUserSchema,
} from '@halyard/contract'

/** What identity providers read before they provision (RFC 7643, sections 5 to 7). */

export const serviceProviderConfig = (root: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: scimPageMax },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: `A SCIM token of the organization. A patch can have ${scimOperationsMax} operations.`,
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${root}/ServiceProviderConfig` },
})

const resourceType = (root: string, name: 'User' | 'Group', schema: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id: name,
  name,
  endpoint: `/${name}s`,
  schema,
  meta: { resourceType: 'ResourceType', location: `${root}/ResourceTypes/${name}` },
})

export const resourceTypes = (root: string) => [
  resourceType(root, 'User', scimUserSchema),
  resourceType(root, 'Group', scimGroupSchema),
]

export const schemas = (root: string) => [
  schema(root, scimUserSchema, 'User', [
    attribute('userName', { required: true, uniqueness: 'server' }),
    attribute('displayName'),
    complex('name', [attribute('formatted'), attribute('givenName'), attribute('familyName')]),
    complex('emails', [attribute('value'), attribute('type'), attribute('primary', { type: 'boolean' })], true),
    attribute('active', { type: 'boolean' }),
    complex('roles', [attribute('value', { canonicalValues: scimRoles })], true),
  ]),
  schema(root, scimGroupSchema, 'Group', [
    attribute('displayName', { required: true, uniqueness: 'server' }),
    complex('members', [attribute('value', { mutability: 'immutable' }), attribute('display')], true),
  ]),
]

const schema = (root: string, id: string, name: string, attributes: readonly object[]) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  name,
  attributes,
  meta: { resourceType: 'Schema', location: `${root}/Schemas/${id}` },
})

const attribute = (name: string, characteristics: object = {}) => ({
  name,
  type: 'string',
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...characteristics,
})

const complex = (name: string, subAttributes: readonly object[], multiValued = false) =>
  attribute(name, { type: 'complex', multiValued, subAttributes })

export const listOf = (resources: readonly object[]) => ({
  schemas: [scimListSchema],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources,
})
