import Type, { type Static } from 'typebox'
import { asUser, routesOf } from '../route.ts'
import {
  IdInput,
  Instant,
  InstantInput,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  Text,
  Uuid,
} from '../schema.ts'

export const ApiKey = NamedObject(
  'PersonalApiKey',
  'A personal API key. Its value is shown once, when it is created.',
  {
    id: Text('Unique id of the key.', '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'),
    label: Text('Name of the key.', 'CI'),
    mask_value: Text('First and last four characters.', 'phx_…a1b2'),
    scopes: List(Type.String(), 'Scopes such as `feature_flag:read`; `*` grants everything.', ['feature_flag:read']),
    scoped_teams: List(Type.Integer(), 'Ids of the projects that the key is restricted to; empty means all.', []),
    scoped_organizations: List(Uuid(), 'Ids of the organizations that the key is restricted to; empty means all.', []),
    created_at: Instant('When the key was created.'),
    last_used_at: Nullable(Instant('Accurate to the hour.')),
    expires_at: Nullable(Instant('When the key expires; null means never.', null)),
    user_id: Integer('Id of the owner.', 1),
    value: Type.Optional(Text('Only in the response that creates the key.')),
  },
)
export type ApiKey = Static<typeof ApiKey>
const NewApiKey = NamedObject('NewPersonalApiKey', 'A new personal API key with its value.', {
  ...ApiKey.properties,
  value: Type.Optional(Text('The key itself.', 'phx_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n')),
})

export const keyLabel = NonEmptyTextInput(40, 'Name of the key.', 'CI')
export const keyFields = {
  scopes: Type.Optional(
    Type.Array(Type.String({ maxLength: 100 }), {
      maxItems: 100,
      description: 'Scopes such as `feature_flag:read` or `*`. A key cannot grant more than the calling key.',
      examples: [['feature_flag:read']],
    }),
  ),
  scoped_teams: Type.Optional(
    Type.Array(Type.Integer(), {
      maxItems: 1000,
      description: 'Ids of the projects that the key is restricted to; empty means all.',
    }),
  ),
  scoped_organizations: Type.Optional(
    Type.Array(IdInput(), {
      maxItems: 1000,
      description: 'Ids of the organizations that the key is restricted to; empty means all.',
    }),
  ),
  expires_at: Type.Optional(
    Nullable(InstantInput('Default: in 90 days; null: never. At most when the key of the request expires.')),
  ),
}
const KeyParams = Type.Object({ key_id: Text('Key id, or `@current`.') })

const route = routesOf('Personal API keys')
const keyRoute = routesOf('Personal API keys', { params: KeyParams })

export const apiKeyRoutes = {
  list: route.get('/api/personal_api_keys', {
    operationId: 'listPersonalApiKeys',
    summary: "List the caller's keys, newest first, without their values",
    description:
      'Returns the keys of the calling user. Values are never returned again; `mask_value` identifies a key.',
    access: asUser('user:read'),
    responses: { 200: Type.Array(ApiKey) },
  }),
  create: route.post('/api/personal_api_keys', {
    operationId: 'createPersonalApiKey',
    summary: 'Create a key with at most the scopes of the calling key; its value is returned once',
    description:
      'The response is the only one that contains the value of the key. The new key cannot have more scopes, projects or time than the calling one.',
    access: asUser('user:write'),
    body: Type.Object({ label: keyLabel, ...keyFields }),
    responses: { 201: NewApiKey },
  }),
  get: keyRoute.get('/api/personal_api_keys/:key_id', {
    operationId: 'getPersonalApiKey',
    summary: 'Get a key; 404 for sign-ins',
    description: 'Returns one key of the calling user, without its value. `@current` is the key of this request.',
    access: asUser('user:read'),
    responses: { 200: ApiKey },
  }),
  update: keyRoute.patch('/api/personal_api_keys/:key_id', {
    operationId: 'updatePersonalApiKey',
    summary: 'Change a key; 404 for sign-ins',
    description: 'Changes the label, scopes, restrictions or expiry. A key cannot extend its own rights.',
    access: asUser('user:write'),
    body: Type.Object({ label: Type.Optional(keyLabel), ...keyFields }),
    responses: { 200: ApiKey },
  }),
  remove: keyRoute.delete('/api/personal_api_keys/:key_id', {
    operationId: 'deletePersonalApiKey',
    summary: 'Revoke a key; 404 for sign-ins',
    description: 'Revokes the key at once on all nodes.',
    access: asUser('user:write'),
    responses: { 204: null },
  }),
}
