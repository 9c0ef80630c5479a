import type { Route } from '@halyard/contract'
import { problemTable } from '../server/problem-response.ts'
import type { Json } from './component-schemas.ts'

/** The errors of the API, documented once. */

interface ErrorResponse {
  readonly name: string
  readonly description: string
  readonly kind: keyof typeof problemTable
  readonly detail: string
  readonly attr?: string
  readonly headers?: readonly (keyof typeof responseHeaders)[]
}

const errors: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: 'BadRequest',
    description: 'A parameter or a field of the body is invalid; `attr` names it. Nothing was changed.',
    kind: 'invalid',
    detail: '`key` must not contain control characters.',
    attr: 'key',
  },
  401: {
    name: 'Unauthorized',
    description: 'The credential is missing, invalid, revoked or expired.',
    kind: 'unauthenticated',
    detail: 'This API key is not valid.',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description: 'The key lacks the scope, or the user the level, that the operation requires.',
    kind: 'forbidden',
    detail: 'This key lacks the scope feature_flag:write.',
  },
  404: {
    name: 'NotFound',
    description: 'The object does not exist, or the caller has no access to it.',
    kind: 'missing',
    detail: 'Flag not found.',
  },
  409: {
    name: 'Conflict',
    description: 'The object has changed since it was read. Read it and try again.',
    kind: 'conflict',
    detail: 'Version 4 is out of date; the flag is at version 6.',
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The request body is larger than this server accepts.',
    kind: 'too_large',
    detail: 'The request body is larger than this server accepts.',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not JSON, or the header `Content-Type: application/json` is missing.',
    kind: 'unsupported_media',
    detail: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  429: {
    name: 'TooManyRequests',
    description: 'The rate limit is exceeded. Wait as long as `Retry-After` states.',
    kind: 'throttled',
    detail: 'Too many requests. Try again in 12 seconds.',
    headers: ['Retry-After'],
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'The server is overloaded or its database is unavailable. Try again after `Retry-After`.',
    kind: 'unavailable',
    detail: 'The database is unavailable. Try again.',
    headers: ['Retry-After'],
  },
}

export const responseHeaders = {
  'X-Request-Id': {
    description: 'Id of the request, also in the server log. The value that the client sent, if there is one.',
    schema: { type: 'string', examples: ['0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d'] },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    schema: { type: 'integer', examples: [12] },
  },
  'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { type: 'string', examples: ['Bearer'] } },
  Allow: { description: 'Methods that the path supports.', schema: { type: 'string', examples: ['GET, PATCH'] } },
  ETag: {
    description: 'Version of the response; send it as `If-None-Match`.',
    schema: { type: 'string', examples: ['W/"5d0f6a7b8c9d"'] },
  },
  'X-Halyard-Project-Token': {
    description: 'The public token of the project, with which a client of a secret key sends events.',
    schema: { type: 'string', examples: ['phc_4Zr0mW9sT1uVxY2bC3dE5fG6hJ7kL8n'] },
  },
  'X-Halyard-Overrides': {
    description: 'What became of the overrides of the request; absent when it has none. Refused ones are ignored.',
    schema: { type: 'string', enum: ['applied', 'expired', 'invalid', 'unsupported'] },
  },
} as const

export const headerRefs = (...names: (keyof typeof responseHeaders)[]): Json =>
  Object.fromEntries(['X-Request-Id' as const, ...names].map(name => [name, { $ref: `#/components/headers/${name}` }]))

const errorSchema = { $ref: '#/components/schemas/Error' }

/** The responses that operations refer to, by name. */
export const errorComponents = (): Json => ({
  ...Object.fromEntries(Object.values(errors).map(error => [error.name, errorResponse(error, errorSchema)])),
  UnexpectedError: {
    description: 'An error that is not listed.',
    headers: headerRefs(),
    content: {
      'application/json': {
        schema: errorSchema,
        example: { type: 'server_error', code: 'error', detail: 'Internal server error.', attr: null },
      },
    },
  },
})

const jsonMediaType = 'application/json'
const scimMediaType = 'application/scim+json'

function errorResponse(
  { description, kind, detail, attr = '', headers = [] }: ErrorResponse,
  schema: Json,
  mediaType = jsonMediaType,
): Json {
  const { type, code } = problemTable[kind]
  const example = { type, code, detail, attr: attr || null }
  return { description, headers: headerRefs(...headers), content: { [mediaType]: { schema, example } } }
}

/** The errors that follow from what a route declares. `refusal` is the converted schema of the same name. */
export function errorResponses(route: Route, refusal: Json | undefined): Json {
  const described = statusesOf(route).map(status => {
    const error = errors[status]!
    return [
      status,
      refusal
        ? errorResponse(
            error,
            { anyOf: [refusal, errorSchema] },
            route.errorShape === 'scim' ? scimMediaType : jsonMediaType,
          )
        : { $ref: `#/components/responses/${error.name}` },
    ]
  })
  return { ...Object.fromEntries(described), default: { $ref: '#/components/responses/UnexpectedError' } }
}

function statusesOf({ access, body, credentials, mayConflict, params, query }: Route): number[] {
  const isAuthenticated = access.kind === 'key' || credentials !== undefined
  return [
    ...(body || query ? [400] : []),
    ...(isAuthenticated ? [401] : []),
    ...(access.kind === 'key' || (credentials?.length ?? 0) > 0 ? [403] : []),
    ...(params ? [404] : []),
    ...(mayConflict ? [409] : []),
    ...(body ? [413] : []),
    ...(body && access.kind !== 'open' ? [415] : []),
    429,
    503,
  ]
}
