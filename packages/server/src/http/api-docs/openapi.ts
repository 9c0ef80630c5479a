import { type Access, ProblemBody, type Route } from '@halyard/contract'
import type { TObject } from 'typebox'

type Json = Record<string, unknown>

const json = 'application/json'
const problem = { $ref: '#/components/schemas/Problem' }

/** OpenAPI 3.1 of the table of routes. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = `${route.path.replace(/:(\w+)/g, '{$1}')}/`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Halyard',
      version,
      description:
        'Feature flags and plugins. Requests are authenticated with a personal API key; a trailing slash is optional.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      securitySchemes: { personalApiKey: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: plain(ProblemBody) },
    },
  }
}

function operation(route: Route): Json {
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.tag],
    ...security(route.access),
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(route.body && {
      requestBody: {
        required: !route.bodyOptional,
        content: { [json]: { schema: plain(route.body) } },
      },
    }),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, schema]) => [
          status,
          schema
            ? { description: 'Success', content: { [route.mediaType ?? json]: { schema: plain(schema) } } }
            : { description: Number(status) < 400 ? 'Success, without a body' : 'Refused, without a body' },
        ]),
      ),
      default: {
        description: 'What is wrong',
        content: {
          [json]: { schema: route.refusal ? { anyOf: [plain(route.refusal), problem] } : problem },
        },
      },
    },
  }
}

const operationId = (route: Route): string =>
  `${route.method.toLowerCase()}${route.path.replace(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`

const security = (access: Access): Json =>
  access.kind === 'open'
    ? { security: [] }
    : { security: [{ personalApiKey: [] }], 'x-scopes': access.scopes, 'x-within': access.within }

function parameters(schema: TObject | undefined, place: 'path' | 'query'): Json[] {
  if (!schema) return []
  const required = new Set((schema as { required?: readonly string[] }).required)
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...rest } = plain(property) as { description?: string }
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      ...(description && { description }),
      schema: rest,
    }
  })
}

/** Schemas carry symbols and are shared; the document is plain JSON. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))
