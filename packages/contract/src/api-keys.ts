import Type, { type Static } from 'typebox'
import { asUser, route } from './route.ts'
import { IdInput, Instant, InstantInput, Nullable, Uuid } from './schema.ts'

export const ApiKey = Type.Object({
  id: Type.String(),
  label: Type.String(),
  mask_value: Type.String({ description: 'First and last four characters.' }),
  scopes: Type.Array(Type.String()),
  scoped_teams: Type.Array(Type.Integer()),
  scoped_organizations: Type.Array(Uuid()),
  created_at: Instant(),
  last_used_at: Nullable(Instant('Accurate to the hour.')),
  expires_at: Nullable(Instant()),
  user_id: Type.Integer(),
  value: Type.Optional(Type.String({ description: 'Only in the response that creates the key.' })),
})
export type ApiKey = Static<typeof ApiKey>

const Label = Type.String({ minLength: 1, maxLength: 40 })
const fields = {
  scopes: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 100 })),
  scoped_teams: Type.Optional(Type.Array(Type.Integer(), { maxItems: 1000 })),
  scoped_organizations: Type.Optional(Type.Array(IdInput(), { maxItems: 1000 })),
  expires_at: Type.Optional(Nullable(InstantInput('At most when the key of the request expires.'))),
}
const tag = 'Personal API keys'
const KeyParams = Type.Object({ key_id: Type.String({ description: 'Key id, or `@current`.' }) })

export const apiKeyRoutes = {
  list: route({
    method: 'GET',
    path: '/api/personal_api_keys',
    tag,
    summary: "List the caller's keys, newest first, without their values",
    access: asUser('user:read'),
    answers: { 200: Type.Array(ApiKey) },
  }),
  create: route({
    method: 'POST',
    path: '/api/personal_api_keys',
    tag,
    summary: 'Create a key with at most the scopes of the calling key; its value is returned once',
    access: asUser('user:write'),
    body: Type.Object({ label: Label, ...fields }),
    answers: { 201: ApiKey },
  }),
  get: route({
    method: 'GET',
    path: '/api/personal_api_keys/:key_id',
    tag,
    summary: 'Get a key; 404 for sign-ins',
    access: asUser('user:read'),
    params: KeyParams,
    answers: { 200: ApiKey },
  }),
  update: route({
    method: 'PATCH',
    path: '/api/personal_api_keys/:key_id',
    tag,
    summary: 'Change a key; 404 for sign-ins',
    access: asUser('user:write'),
    params: KeyParams,
    body: Type.Object({ label: Type.Optional(Label), ...fields }),
    answers: { 200: ApiKey },
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/personal_api_keys/:key_id',
    tag,
    summary: 'Revoke a key; 404 for sign-ins',
    access: asUser('user:write'),
    params: KeyParams,
    answers: { 204: null },
  }),
}
