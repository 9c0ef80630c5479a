import { allRoutes, type Route, sdkRoutes } from '@halyard/contract'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { openApiDocument } from '../packages/server/src/http/api-docs/openapi.ts'
import { type Content, type Document, type Json, schemaChecker } from './openapi-document.ts'

/** The quality of the OpenAPI document: generated clients and the API reference are as good as it is. */

const routes: readonly Route[] = [...allRoutes, ...sdkRoutes]
const document = JSON.parse(JSON.stringify(openApiDocument(routes, '0.0.0'))) as Document
const operations = Object.values(document.paths).flatMap(methods => Object.values(methods))

const faultOf = schemaChecker(document)

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(document as unknown as Record<string, unknown>)
    expect(result.errors ?? []).toEqual([])
    expect(result.valid).toBe(true)
  })

  it('gives every operation a unique readable id, a summary and a description of its own', () => {
    const ids = operations.map(({ operationId }) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter(id => !/^[a-z]+([A-Z][a-z]*)*$/.test(id))).toEqual([])
    expect(ids).toEqual(expect.arrayContaining(['listFeatureFlags', 'createFeatureFlag', 'captureEvent']))
    const poor = operations.filter(
      ({ summary, description }) => !summary || !description || description.startsWith(summary),
    )
    expect(poor.map(({ operationId }) => operationId)).toEqual([])
  })

  it('describes every tag and every parameter', () => {
    const tags = new Set(operations.flatMap(operation => operation.tags))
    expect([...tags].sort()).toEqual(document.tags.map(({ name }) => name).sort())
    const bare = operations.flatMap(({ operationId, parameters }) =>
      parameters.filter(({ description }) => !description).map(({ name }) => `${operationId}: ${name}`),
    )
    expect(bare).toEqual([])
  })

  it('describes every property', () => {
    const bare = propertiesOf(document).filter(([, schema]) => !isDescribed(schema))
    expect(bare.map(([path]) => path)).toEqual([])
  })

  it('names the schemas that programs pass around', () => {
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining([
        'FeatureFlag',
        'FeatureFlagWrite',
        'Filters',
        'Condition',
        'PropertyFilter',
        'Variant',
        'Plugin',
        'PluginWrite',
        'PluginConfig',
        'Cohort',
        'Organization',
        'Project',
        'PageOfFeatureFlag',
        'Error',
      ]),
    )
    expect(document.components.schemas.FeatureFlag).toMatchObject({
      properties: { filters: { $ref: '#/components/schemas/Filters' } },
    })
  })

  it('has an example for every body and response, valid against its schema', () => {
    const contents = operations.flatMap(({ operationId, requestBody, responses }): [string, Content][] => [
      ...Object.values(requestBody?.content ?? {}).map((body): [string, Content] => [operationId, body]),
      ...Object.entries(responses).flatMap(([status, { content }]) =>
        Object.values(content ?? {}).map((body): [string, Content] => [`${operationId} ${status}`, body]),
      ),
    ])
    const shared = Object.entries(document.components.responses).map(([name, { content }]): [string, Content] => [
      name,
      Object.values(content)[0]!,
    ])
    const wrong = [...contents, ...shared].flatMap(([name, { schema, example }]) => {
      if (example === undefined) return [`${name}: no example`]
      const fault = faultOf(schema, example)
      return fault ? [`${name}: ${fault}`] : []
    })
    expect(wrong).toEqual([])
  })

  it('has parameter examples that are valid against their schemas', () => {
    const wrong = operations.flatMap(({ operationId, parameters }) =>
      parameters.flatMap(({ name, schema, example }) =>
        example === undefined || !faultOf(schema, example) ? [] : [`${operationId}: ${name}`],
      ),
    )
    expect(wrong).toEqual([])
  })

  it('documents 4xx responses with their headers', () => {
    const silent = operations.filter(({ responses }) => !Object.keys(responses).some(status => /^4\d\d$/.test(status)))
    expect(silent.map(({ operationId }) => operationId)).toEqual([])
    const { responses } = document.components
    expect(Object.keys(responses.TooManyRequests?.headers ?? {})).toEqual(['X-Request-Id', 'Retry-After'])
    expect(Object.keys(responses.Unauthorized?.headers ?? {})).toEqual(['X-Request-Id', 'WWW-Authenticate'])
    expect(document.paths['/flags/definitions/']?.get?.responses['200']?.headers).toHaveProperty('ETag')
    const update = document.paths['/api/projects/{project_id}/feature_flags/{id}/']?.patch
    expect(Object.keys(update?.responses ?? {})).toEqual(
      expect.arrayContaining(['400', '401', '403', '404', '409', '413', '415', '429']),
    )
  })

  it('names the header with overrides on every operation that evaluates for a client', () => {
    const header = 'X-Halyard-Overrides'
    const found = operations.filter(({ parameters }) => parameters.some(({ name }) => name === header))
    expect(found.map(({ operationId }) => operationId)).toEqual([
      'evaluateFlags',
      'decide',
      'evaluateAllFlagsOfrep',
      'evaluateFlagOfrep',
    ])
    for (const { responses } of found) expect(responses['200']?.headers).toHaveProperty(header)
  })

  it('documents every credential', () => {
    const used = new Set(operations.flatMap(({ security }) => security.flatMap(scheme => Object.keys(scheme))))
    expect(used).toEqual(new Set(Object.keys(document.components.securitySchemes)))
  })

  it('has integer, boolean and enumerated parameters where the values are', () => {
    const list = document.paths['/api/projects/{project_id}/feature_flags/']?.get
    const schemas = Object.fromEntries(list?.parameters.map(({ name, schema }) => [name, schema]) ?? [])
    expect(schemas).toMatchObject({
      limit: { type: 'integer' },
      deleted: { type: 'boolean' },
      active: { type: 'string', enum: ['true', 'false', 'STALE'] },
    })
    const text = JSON.stringify(document)
    expect(text).not.toMatch(/"anyOf":\[\{"const"/)
  })
})

/** Every property of every schema, with its path. */
function propertiesOf(value: unknown, path = ''): [string, Json][] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]): [string, Json][] => {
    const here = `${path}/${key}`
    if (key === 'example' || key === 'examples') return []
    const own = key === 'properties' && isSchemaMap(value) ? Object.entries(member as Record<string, Json>) : []
    return [...own.map(([name, schema]): [string, Json] => [`${here}/${name}`, schema]), ...propertiesOf(member, here)]
  })
}

const isSchemaMap = (schema: object): boolean => (schema as Json).type === 'object'

function isDescribed(schema: Json): boolean {
  if (typeof schema.description === 'string') return true
  const options = Array.isArray(schema.anyOf) ? (schema.anyOf as Json[]) : [schema]
  return options.some(({ $ref }) => typeof $ref === 'string')
}
