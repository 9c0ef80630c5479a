import { allRoutes, type Route } from '@halyard/contract'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

const requests = Number(process.env.HALYARD_FUZZ_REQUESTS ?? 600)
const answerMillisecondsMax = 20_000

type AnySchema = TSchema & {
  type?: string
  properties?: Record<string, AnySchema>
  required?: readonly string[]
  anyOf?: readonly AnySchema[]
  items?: AnySchema
  const?: unknown
}

/** Texts that have broken other programs. */
const nastyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '__proto__',
    'constructor',
    "'; drop table flags; --",
    '../../etc/passwd',
    '$' + '{7*7}',
    '%00',
    '１２',
    '-1',
    '1e309',
    'NaN',
    '(a+)+$',
    '\r\nX-Injected: yes',
    'a'.repeat(5000),
  ),
)

const anyJson = fc.jsonValue({ maxDepth: 5, noUnicodeString: false })

/** Bodies of the documented shape. */
function valid(schema: AnySchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valid))
  if ('const' in schema) return fc.constant(schema.const)
  switch (schema.type) {
    case 'string':
      return nastyText
    case 'integer':
      return fc.oneof(fc.integer(), fc.constantFrom(0, 1, -1, 2 ** 53, 2 ** 31, 1e300))
    case 'number':
      return fc.double()
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(schema.items ? valid(schema.items) : anyJson, { maxLength: 5 })
    case 'object':
      if (!schema.properties) return fc.oneof(filters, fc.dictionary(nastyText, anyJson, { maxKeys: 4 }))
      return fc.record(mapValues(schema.properties, valid), { requiredKeys: [...(schema.required ?? [])] })
    default:
      return anyJson
  }
}

/** Conditions that look like conditions. */
const property = fc.record(
  {
    key: nastyText,
    value: fc.oneof(anyJson, nastyText, fc.constantFrom('1.2.3', '2024-01-01', '-7d', '^a+$')),
    operator: fc.constantFrom(
      'exact',
      'is_not',
      'regex',
      'icontains',
      'gt',
      'is_date_before',
      'in',
      'semver_gte',
      'is_set',
      'nonsense',
      'constructor',
    ),
    type: fc.constantFrom('person', 'group', 'cohort', 'flag', 'nonsense'),
    group_type_index: fc.integer({ min: -2, max: 6 }),
    negation: fc.boolean(),
  },
  { requiredKeys: [] },
)
const filters = fc.record(
  {
    groups: fc.array(
      fc.record(
        {
          properties: fc.array(property, { maxLength: 3 }),
          rollout_percentage: fc.oneof(fc.double(), fc.integer({ min: 0, max: 100 }), fc.constant(null)),
          variant: nastyText,
        },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
    multivariate: fc.oneof(
      fc.constant(null),
      fc.record({
        variants: fc.array(fc.record({ key: nastyText, rollout_percentage: fc.integer({ min: 0, max: 100 }) }), {
          maxLength: 3,
        }),
      }),
    ),
    payloads: fc.dictionary(fc.constantFrom('true', 'control', 'x'), anyJson, { maxKeys: 2 }),
    super_groups: anyJson,
    aggregation_group_type_index: fc.oneof(fc.integer(), fc.constant(null)),
  },
  { requiredKeys: [] },
)

const mapValues = <T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))

const brokenBody = fc.oneof(
  anyJson.map(value => JSON.stringify(value)),
  nastyText,
  fc.constantFrom(
    '{',
    '[',
    '"',
    '{"a":',
    `${'['.repeat(20_000)}`,
    '{"key":1e400}',
    '\ufeff{}',
    'null',
    'true',
    `{"a":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`,
  ),
)

interface Attempt {
  readonly route: Route
  readonly path: string
  readonly body: string | undefined
  readonly contentType: string
}

const attemptOf = (route: Route, ids: Record<string, readonly string[]>): fc.Arbitrary<Attempt> => {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(match => match[1]!)
  const parameter = (name: string) => {
    const noun = route.path.split(`/:${name}`)[0]!.split('/').at(-1)!
    const known = ids[name] ?? ids[noun] ?? ['1']
    return fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: nastyText.map(text => encode(text)) },
    )
  }
  const query = fc.dictionary(
    fc.constantFrom(
      'limit',
      'offset',
      'search',
      'order',
      'active',
      'tags',
      'type',
      'page',
      'token',
      'groups',
      'distinct_id',
      'created_by_id',
      'deleted',
    ),
    nastyText,
    { maxKeys: 3 },
  )
  const body = route.body
    ? fc.oneof(
        { weight: 6, arbitrary: valid(route.body as AnySchema).map(value => JSON.stringify(value) ?? '') },
        { weight: 2, arbitrary: brokenBody },
        { weight: 1, arbitrary: fc.constant(undefined) },
      )
    : fc.oneof(fc.constant(undefined), brokenBody)
  return fc
    .record({
      parameters: fc.tuple(...names.map(parameter)),
      query,
      body: route.method === 'GET' ? fc.constant(undefined) : body,
      contentType: fc.oneof(
        { weight: 8, arbitrary: fc.constant('application/json') },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            'text/plain',
            'multipart/form-data',
            'application/x-www-form-urlencoded',
            'nonsense',
          ),
        },
      ),
    })
    .map(({ parameters, query: asked, body: text, contentType }) => {
      let index = 0
      const path = route.path.replace(/:\w+/g, () => parameters[index++] as string)
      const search = Object.entries(asked)
        .map(([name, value]) => `${name}=${encode(value)}`)
        .join('&')
      return { route, path: `${path}/${search && `?${search}`}`, body: text, contentType }
    })
}

/** A lone surrogate cannot be sent in an address at all. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E') || '%20'

/** These end the session that the test works with, need another service, or go on for ever. */
const leftOut = (route: Route): boolean =>
  (route.method === 'DELETE' && /^\/api\/(organizations|projects)\/:\w+$/.test(route.path)) ||
  /\/(logout|install|check_for_updates|upgrade|reset_token|edge\/stream)$/.test(route.path) ||
  (route.path.includes('/members/') && route.method !== 'GET')

let s: Scenario
beforeAll(async () => {
  s = await startScenario('sqlite')
})
afterAll(() => s.close())

it(
  `answers ${requests} requests of every kind without a 5xx and without hanging`,
  async () => {
    const flag = (await s.post(`${s.project}/feature_flags/`, { key: 'fuzzed' })).body
    const role = (await s.post(`${s.organization}/roles/`, { name: 'fuzzed' })).body
    const ids = {
      project_id: [String(s.projectId), '@current'],
      parent_lookup_organization_id: [s.organization.split('/').at(-1)!, '@current'],
      feature_flags: [String(flag.id), '999999'],
      roles: [role.id],
      dashboards: [String(flag.usage_dashboard)],
      feature_flag_key: ['fuzzed'],
    }
    const routes = allRoutes.filter(route => !leftOut(route))
    const attempt = fc.oneof(...routes.map(route => attemptOf(route, ids)))
    const statuses = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(attempt, async ({ route, path, body, contentType }) => {
        const response = await fetch(s.url + path, {
          method: route.method,
          headers: { authorization: `Bearer ${s.key}`, ...(body !== undefined && { 'content-type': contentType }) },
          ...(body !== undefined && { body: body.toWellFormed() }),
          signal: AbortSignal.timeout(answerMillisecondsMax),
        })
        const text = await response.text()
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
        expect(response.status, `${route.method} ${path} ${body}: ${text}`).toBeLessThan(500)
        expect(response.headers.get('x-injected')).toBeNull()
        if (response.status >= 400 && response.status !== 405) expect(JSON.parse(text)).toHaveProperty('detail')
      }),
      { numRuns: requests, ...(process.env.HALYARD_FAULT_SEED && { seed: Number(process.env.HALYARD_FAULT_SEED) }) },
    )
    console.log(
      `answers by status: ${[...statuses]
        .sort(([a], [b]) => a - b)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', ')}`,
    )
    expect((await s.get('/_readyz')).status).toBe(200)
  },
  requests * 60 + 60_000,
)
