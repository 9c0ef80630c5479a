import Type, { type Static, type TSchema } from 'typebox'
import { routesOf, withScimToken } from '../route.ts'
import {
  FreeListInput,
  FreeObject,
  Integer,
  kibibyte,
  List,
  mebibyte,
  NamedObject,
  ShapedObjectInput,
  Text,
} from '../schema.ts'

export const scimUserSchema = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const scimGroupSchema = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const scimEnterpriseSchema = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const scimPatchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
export const scimListSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
export const scimErrorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'

export const scimUserBytesMax = 64 * kibibyte
export const scimOperationsMax = 1000
export const scimMembersMax = 5000
export const scimPageMax = 100

/** Values of `roles`, with which SCIM sets the level of a member. */
export const scimRoles = ['auditor', 'view_only', 'member', 'admin'] as const

const schemasMax = 20
const schemaCharactersMax = 200

const Schemas = (schema: string) => List(Type.String(), 'URNs of the schemas.', [schema])
const SchemasInput = (schema: string) =>
  Type.Array(Type.String({ maxLength: schemaCharactersMax }), {
    maxItems: schemasMax,
    description: 'URNs of the schemas.',
    examples: [[schema]],
  })

const Meta = NamedObject('ScimMeta', 'Metadata of a resource.', {
  resourceType: Text('Kind of the resource.', 'User'),
  created: Text('When it was provisioned.', '2026-03-01T09:30:00.000Z'),
  lastModified: Text('When it was last changed.', '2026-03-01T09:30:00.000Z'),
  location: Text(
    'URL of the resource.',
    'https://flags.acme.com/scim/v2/0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d/Users/0198c1d2',
  ),
})

const userFields = {
  schemas: Schemas(scimUserSchema),
  userName: Text('Unique name at the identity provider, in any case.', 'ada@acme.com'),
  externalId: Type.Optional(Text('Id at the identity provider.', '00u1')),
  displayName: Type.Optional(Text('Name, as shown.', 'Ada Lovelace')),
  name: Type.Optional(FreeObject('Parts of the name.', { givenName: 'Ada', familyName: 'Lovelace' })),
  emails: Type.Optional(
    List(Type.Unknown(), 'Addresses. The primary one counts, then that for work, then the first, then `userName`.', [
      { value: 'ada@acme.com', type: 'work', primary: true },
    ]),
  ),
  active: Type.Optional(
    Type.Unknown({ description: 'Whether the user is a member of the organization.', examples: [true] }),
  ),
  roles: Type.Optional(
    List(Type.Unknown(), `Level in the organization: ${scimRoles.join(', ')}. Without it, new users are members.`, [
      { value: 'admin' },
    ]),
  ),
}

const ScimUser = NamedObject('ScimUser', 'A provisioned user. Further attributes are stored and returned.', {
  ...userFields,
  id: Text('UUID of the account.'),
  meta: Meta,
})
const ScimUserWrite = NamedObject('ScimUserWrite', 'A user to provision.', userFields)

const groupFields = {
  schemas: Schemas(scimGroupSchema),
  displayName: Text('Name of the role.', 'Release managers'),
  externalId: Type.Optional(Text('Id at the identity provider.', '00g1')),
  members: Type.Optional(
    List(Type.Unknown(), 'Provisioned users in the role.', [
      { value: '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d', display: 'ada@acme.com' },
    ]),
  ),
}
const ScimGroup = NamedObject('ScimGroup', 'A group of the identity provider: a role of the organization.', {
  ...groupFields,
  id: Text('Id of the role.'),
  meta: Meta,
})
const ScimGroupWrite = NamedObject('ScimGroupWrite', 'A group to provision.', groupFields)

const ScimPatch = NamedObject('ScimPatch', 'Changes of a resource; all of them or none.', {
  schemas: SchemasInput(scimPatchSchema),
  Operations: FreeListInput(
    scimOperationsMax,
    mebibyte,
    'Operations with `op` (add, remove or replace, in any case), `path` and `value`.',
    [{ op: 'replace', path: 'active', value: false }],
  ),
})
export type ScimPatch = Static<typeof ScimPatch>

const ScimList = <S extends TSchema>(resource: S, title: string) =>
  Type.Object(
    {
      schemas: Schemas(scimListSchema),
      totalResults: Integer('How many there are.', 1),
      startIndex: Integer('Position of the first one, from 1.', 1),
      itemsPerPage: Integer('How many are listed.', 1),
      Resources: List(resource, 'The resources.'),
    },
    { title, description: 'A page of resources.' },
  )
const ScimUserList = ScimList(ScimUser, 'ScimUserList')
const ScimGroupList = ScimList(ScimGroup, 'ScimGroupList')
const ScimDocument = FreeObject('A document of RFC 7643, section 5 to 7.', { schemas: [scimListSchema] })

export const ScimError = NamedObject('ScimError', 'An error as RFC 7644, section 3.12 describes it.', {
  schemas: Schemas(scimErrorSchema),
  status: Text('HTTP status.', '400'),
  scimType: Type.Optional(Text('What is wrong, as RFC 7644 names it.', 'invalidFilter')),
  detail: Text('What is wrong and what to do.', '`filter` is not supported.'),
})
export type ScimError = Static<typeof ScimError>

const Params = Type.Object({ organization_id: Text('Id of the organization.') })
const ResourceParams = Type.Object({
  ...Params.properties,
  id: Text('Id of the resource.'),
})
const Shown = {
  attributes: Type.Optional(Text('Attributes to return, separated by commas.')),
  excludedAttributes: Type.Optional(Text('Attributes to leave out, separated by commas.', 'members')),
}
const ListQuery = (filter: string) =>
  Type.Object({
    filter: Type.Optional(Text('Comparisons with `eq`, joined by `and`.', filter)),
    startIndex: Type.Optional(Text('Position of the first one, from 1.', '1')),
    count: Type.Optional(Text(`How many to list, at most ${scimPageMax}.`, `${scimPageMax}`)),
    ...Shown,
  })
const ShownQuery = Type.Object(Shown)

const root = '/scim/v2/:organization_id' as const
const shared = {
  access: withScimToken,
  credentials: ['scimToken'],
  errorShape: 'scim',
  refusal: ScimError,
  mediaType: 'application/scim+json',
} as const
const route = routesOf('Provisioning (SCIM)', { ...shared, params: Params })
const resourceRoute = routesOf('Provisioning (SCIM)', { ...shared, params: ResourceParams })
const UserInput = ShapedObjectInput(ScimUserWrite, scimUserBytesMax)
const GroupInput = ShapedObjectInput(ScimGroupWrite, mebibyte)

const userRoutes = {
  listUsers: route.get(`${root}/Users`, {
    operationId: 'listScimUsers',
    summary: 'List provisioned users',
    description: 'Filters compare `userName`, `externalId` or `id` with `eq`, joined by `and`.',
    query: ListQuery('userName eq "ada@acme.com"'),
    responses: { 200: ScimUserList },
  }),
  createUser: route.post(`${root}/Users`, {
    operationId: 'createScimUser',
    summary: 'Provision a user',
    description:
      'Creates an account, or links the one with the same address: of a member, or of a domain that is verified for the organization.',
    body: UserInput,
    mayConflict: true,
    responses: { 201: ScimUser },
  }),
  getUser: resourceRoute.get(`${root}/Users/:id`, {
    operationId: 'getScimUser',
    summary: 'Read a provisioned user',
    description: 'Users who are not active are listed until they are deleted.',
    query: ShownQuery,
    responses: { 200: ScimUser },
  }),
  replaceUser: resourceRoute.put(`${root}/Users/:id`, {
    operationId: 'replaceScimUser',
    summary: 'Replace a provisioned user',
    description: 'Attributes that are not sent are removed; without `active` the user is active.',
    body: UserInput,
    mayConflict: true,
    responses: { 200: ScimUser },
  }),
  patchUser: resourceRoute.patch(`${root}/Users/:id`, {
    operationId: 'patchScimUser',
    summary: 'Change attributes of a provisioned user',
    description:
      '`active: false` ends the membership and revokes sessions and keys on all nodes. `active: true` restores level and roles.',
    body: ScimPatch,
    mayConflict: true,
    responses: { 200: ScimUser },
  }),
  deleteUser: resourceRoute.delete(`${root}/Users/:id`, {
    operationId: 'deleteScimUser',
    summary: 'Deprovision a user',
    description: 'As `active: false`, and the user is no longer listed. What the account created stays.',
    mayConflict: true,
    responses: { 204: null },
  }),
}

const groupRoutes = {
  listGroups: route.get(`${root}/Groups`, {
    operationId: 'listScimGroups',
    summary: 'List provisioned groups',
    description:
      'Filters compare `displayName`, `externalId` or `id` with `eq`. With members, a page has at most 20 groups.',
    query: ListQuery('displayName eq "Release managers"'),
    responses: { 200: ScimGroupList },
  }),
  createGroup: route.post(`${root}/Groups`, {
    operationId: 'createScimGroup',
    summary: 'Provision a group',
    description: 'Creates a role, or adopts the role of the same name with its members.',
    body: GroupInput,
    mayConflict: true,
    responses: { 201: ScimGroup },
  }),
  getGroup: resourceRoute.get(`${root}/Groups/:id`, {
    operationId: 'getScimGroup',
    summary: 'Read a provisioned group',
    description: 'Lists provisioned members only; others in the role were added by hand.',
    query: ShownQuery,
    responses: { 200: ScimGroup },
  }),
  replaceGroup: resourceRoute.put(`${root}/Groups/:id`, {
    operationId: 'replaceScimGroup',
    summary: 'Replace a provisioned group',
    description: 'Provisioned members that are not sent leave the role.',
    body: GroupInput,
    mayConflict: true,
    responses: { 200: ScimGroup },
  }),
  patchGroup: resourceRoute.patch(`${root}/Groups/:id`, {
    operationId: 'patchScimGroup',
    summary: 'Rename a provisioned group, add or remove members',
    description: 'Members are removed by value or by path: `members[value eq "…"]`.',
    body: ScimPatch,
    mayConflict: true,
    responses: { 200: ScimGroup },
  }),
  deleteGroup: resourceRoute.delete(`${root}/Groups/:id`, {
    operationId: 'deleteScimGroup',
    summary: 'Delete a provisioned group with its role',
    description: 'Refused while an approval policy or a freeze names the role.',
    mayConflict: true,
    responses: { 204: null },
  }),
}

const discovery = {
  description: 'As RFC 7644, section 4 describes it.',
  responses: { 200: ScimDocument },
} as const

const discoveryRoutes = {
  getServiceProviderConfig: route.get(`${root}/ServiceProviderConfig`, {
    ...discovery,
    operationId: 'getScimServiceProviderConfig',
    summary: 'What this server supports of SCIM',
  }),
  listSchemas: route.get(`${root}/Schemas`, {
    ...discovery,
    operationId: 'listScimSchemas',
    summary: 'Attributes of users and groups',
  }),
  getSchema: resourceRoute.get(`${root}/Schemas/:id`, {
    ...discovery,
    operationId: 'getScimSchema',
    summary: 'Attributes of one kind of resource',
  }),
  listResourceTypes: route.get(`${root}/ResourceTypes`, {
    ...discovery,
    operationId: 'listScimResourceTypes',
    summary: 'Kinds of resources',
  }),
  getResourceType: resourceRoute.get(`${root}/ResourceTypes/:id`, {
    ...discovery,
    operationId: 'getScimResourceType',
    summary: 'One kind of resource',
  }),
}

export const scimRoutes = {
  ...userRoutes,
  ...groupRoutes,
  ...discoveryRoutes,
}
