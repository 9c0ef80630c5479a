import { type Credential, ProblemBody, type Route, shapeKeyword } from '@halyard/contract'
import type { TObject, TSchema } from 'typebox'
import { type ComponentSchemas, createComponentSchemas, type Json } from './component-schemas.ts'
import { errorComponents, errorResponses, headerRefs, responseHeaders } from './error-responses.ts'
import { exampleOf } from './example-of.ts'

const json = 'application/json'

/** In the order of the API reference. */
const tags: Readonly<Record<string, string>> = {
  'Feature flags': 'Create, change, list and delete flags, and see who changed what.',
  'Code references': 'Lines of source code that name flags, as uploaded after a scan.',
  'Flag overrides': 'Values of flags for development, signed for a limited time.',
  'Flag list': 'Flags as a list shows them: summaries, recent usage, tags.',
  Evaluation: 'Evaluate flags with the reason for each value, for debugging.',
  'Flag versions': 'Every change of a flag is a version that can be restored.',
  'Bulk changes': 'Change or delete many flags in one transaction.',
  'Flag edits': 'Switch, archive and edit a flag in one small step.',
  'Token exchange': 'Trust relationships with issuers, whose tokens are exchanged for short-lived keys.',
  'Typed flags': 'Payload schemas, and the manifest of the OpenFeature CLI.',
  'Flag health': 'Flags that need attention, their owners, links and comments, and what uses a flag or a cohort.',
  'Flag presence': 'Who has a flag open in the dashboard.',
  'Approval policies': 'Which changes need approval, and by which users.',
  'Change requests': 'Changes that wait for approval: review, decide, rebase and apply them.',
  Home: 'What waits for the caller, what comes next and what happened in a project.',
  Environments: 'Projects as environments of an application; promotion from one to another.',
  Imports: 'Flags and segments of other services: a plan, then its application.',
  Freezes: 'Times in which flags and cohorts are not changed.',
  Webhooks: 'Addresses that are notified of changes, and what was sent to them.',
  'Shadow mode': 'How often another service and Halyard have the same value.',
  'Scheduled changes': 'Change a flag at a later time, or roll it out step by step.',
  Rollback: 'Switch a flag off automatically when a metric crosses a threshold.',
  'Flags of an organization': 'Find and copy flags across the projects of an organization.',
  Cohorts: 'Named sets of persons that flags can target.',
  'Persons and groups': 'Persons and groups that events have created.',
  'Events and properties': 'Names of events and properties with sampled values, for suggestions.',
  'Connected SDKs': 'Libraries and versions that call a project.',
  'Event counts': 'How often events arrived, over time.',
  Dashboards: 'Usage of flags over time.',
  'Role access': 'Which roles can edit a flag.',
  Roles: 'Group the members of an organization.',
  Plugins: 'Install, write and upgrade plugins.',
  'Plugin configurations': 'Configure plugins in a project; their jobs, logs and metrics.',
  Organizations: 'Organizations, members and invitations.',
  Projects: 'Projects, their tokens and secret keys.',
  Users: 'The calling user.',
  'Personal API keys': 'Keys of the calling user.',
  'Service keys': 'Keys of an organization, which belong to no person.',
  'Audit log': 'Who changed what in an organization, as a chain of hashes.',
  'Second factor': 'Authenticator apps, passkeys and recovery codes.',
  'Sign-in': 'Sign in, sign out and accept invitations.',
  'Single sign-on': 'Identity providers (OpenID Connect) of an organization, and signing in with them.',
  'Provisioning (SCIM)': 'Users and groups from an identity provider, by SCIM 2.0 (RFC 7643, RFC 7644).',
  'Evaluation (project token)': 'What PostHog SDKs call to evaluate flags.',
  'Events (project token)': 'What PostHog SDKs call to send events.',
  'Definitions (personal or project secret key)': 'Definitions for SDKs that evaluate locally.',
  'OFREP (project token or secret key)': 'The OpenFeature Remote Evaluation Protocol.',
  Edges: 'What edge nodes call on their upstream.',
}

const securitySchemes: Readonly<Record<Credential, Json>> = {
  personalApiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'phx_…',
    description: 'A personal API key. Its scopes limit what it can do.',
  },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'phx_…',
    description: 'The key that `POST /api/login/` returns. It expires after 12 hours.',
  },
  projectToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'phc_…',
    description: 'The public token of a project. `/flags/` and the event paths take it in the body instead.',
  },
  projectSecretKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'phs_…',
    description: 'A secret key of a project, for server SDKs. Also accepted in the header `X-API-Key`.',
  },
  scimToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'scim_…',
    description: 'A SCIM token of an organization. It works on `/scim/v2/` of this organization only.',
  },
}

/** OpenAPI 3.1 of the route table. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const schemas = createComponentSchemas()
  schemas.convert(ProblemBody)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = `${route.path.replace(/:(\w+)/g, '{$1}')}/`
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) }
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
    servers: [{ url: '/', description: 'This server' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes,
      headers: responseHeaders,
      responses: errorComponents(),
      schemas: Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  }
}

function operation(route: Route, schemas: ComponentSchemas): Json {
  const { access } = route
  const scopes = access.kind === 'key' ? access.scopes : []
  return {
    operationId: route.operationId,
    // Plain text in OpenAPI, unlike the description.
    summary: route.summary.replaceAll('`', ''),
    description: [route.description, ...(scopes.length > 0 ? [`Scope: ${scopes.map(quoted).join(' or ')}.`] : [])].join(
      '\n\n',
    ),
    tags: [route.tag],
    security: credentialsOf(route).map(name => ({ [name]: [] })),
    ...(scopes.length > 0 && { 'x-scopes': scopes }),
    parameters: [
      ...parameters(route.params, 'path', schemas),
      ...parameters(route.query, 'query', schemas),
      ...(route.hasEtag ? [ifNoneMatch] : []),
      ...(route.takesOverrides ? [overridesParameter] : []),
    ],
    ...(route.body && {
      requestBody: {
        description: route.bodyOptional ? 'Optional.' : 'Required.',
        required: !route.bodyOptional,
        content: {
          [route.errorShape === 'scim' ? 'application/scim+json' : json]: {
            schema: schemas.convert(titled(route.body, route, 'Body')),
            example: exampleOf(route.body),
          },
        },
      },
    }),
    responses: {
      ...successes(route, schemas),
      ...errorResponses(route, route.refusal && schemas.convert(route.refusal)),
    },
  }
}

function successes(route: Route, { convert }: ComponentSchemas): Json {
  const headers = headerRefs(
    ...(route.hasEtag ? ['ETag' as const] : []),
    ...(route.takesOverrides ? ['X-Halyard-Overrides' as const] : []),
    ...(route.headers ?? []),
  )
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, schema]) => {
      const content = schema && {
        [route.mediaType ?? json]: { schema: convert(titled(schema, route, 'Result')), example: exampleOf(schema) },
      }
      if (status === '405') {
        const description = content ? 'Not allowed' : 'Not allowed; no body'
        return [status, { description, headers: headerRefs('Allow'), ...(content && { content }) }]
      }
      if (content) return [status, { description: 'Success', headers, content }]
      return [status, { description: status === '304' ? 'Not modified; no body' : 'Success; no body', headers }]
    }),
  )
}

/** An object that only one operation uses is named after it. */
function titled(schema: TSchema, { operationId }: Route, suffix: 'Body' | 'Result'): unknown {
  const isAnonymous = (schema as Json).type === 'object' && !('title' in schema) && !(shapeKeyword in schema)
  if (!isAnonymous) return schema
  return { title: `${operationId[0]?.toUpperCase()}${operationId.slice(1)}${suffix}`, ...schema }
}

const credentialsOf = ({ access, credentials = [] }: Route): readonly Credential[] =>
  access.kind === 'key' ? ['personalApiKey', 'session'] : credentials

const quoted = (text: string): string => `\`${text}\``

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of an earlier response.',
  schema: { type: 'string' },
}

const overridesParameter = {
  name: 'X-Halyard-Overrides',
  in: 'header',
  required: false,
  description: 'A token of `signFlagOverrides`: the response has its values, with the reason `override`.',
  schema: { type: 'string' },
  example: 'ho1.eyJvIjp7Im5ldy1jaGVja291dCI6dHJ1ZX0sImUiOjE3NzI0NTI4MDB9.kq3n…',
}

function parameters(schema: TObject | undefined, place: 'path' | 'query', { convert }: ComponentSchemas): Json[] {
  if (!schema) return []
  const required = new Set((schema as { required?: readonly string[] }).required)
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, examples, ...rest } = convert(property)
    return {
      name,
      in: place,
      required: place === 'path' || required.has(name),
      description,
      schema: rest,
      ...(Array.isArray(examples) && { example: examples[0] }),
    }
  })
}
