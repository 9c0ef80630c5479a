import { gzipSync } from 'node:zlib'
import { allRoutes, ProblemBody, type Route, sdkRoutes } from '@halyard/contract'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { shapeChecker } from '../../packages/server/src/http/routes/check-body.ts'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Program, startProgram } from '../program/start-program.ts'

const requests = Number(process.env.HALYARD_FUZZ_REQUESTS ?? 400)
/** The short run is deterministic; a long one uses a new seed. */
const seed = Number(process.env.HALYARD_FAULT_SEED) || (process.env.HALYARD_FUZZ_REQUESTS ? undefined : 1)
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

/** Existing ids and keys; without them most requests would end in a 404. */
type Known = Readonly<Record<string, readonly string[]>>

/** Bodies of the documented shape. */
function valid(schema: AnySchema, known: Known = {}): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(one => valid(one, known)))
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
      return fc.array(schema.items ? valid(schema.items, known) : anyJson, { maxLength: 5 })
    case 'object':
      if (!schema.properties) return fc.oneof(filters, events(known), fc.dictionary(nastyText, anyJson, { maxKeys: 4 }))
      return fc.record(
        Object.fromEntries(
          Object.entries(schema.properties).map(([name, property]) => [
            name,
            orKnown(valid(property, known), known[name]),
          ]),
        ),
        { requiredKeys: [...(schema.required ?? [])] },
      )
    default:
      return anyJson
  }
}

const orKnown = (anything: fc.Arbitrary<unknown>, known: readonly string[] | undefined): fc.Arbitrary<unknown> =>
  known ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: anything }) : anything

/** What SDKs send, from afar. */
const events = (known: Known) => {
  const event = fc.record(
    {
      event: fc.oneof(
        nastyText,
        fc.constantFrom('$feature_flag_called', '$identify', '$set', '$groupidentify', '$create_alias'),
      ),
      distinct_id: fc.oneof(nastyText, fc.constantFrom('a', 'b'), anyJson),
      timestamp: fc.oneof(nastyText, fc.constantFrom('2024-01-01T00:00:00Z', '9999-12-31', '-1')),
      properties: fc.oneof(
        anyJson,
        fc.record(
          {
            $set: anyJson,
            $set_once: anyJson,
            $unset: anyJson,
            $groups: anyJson,
            $feature_flag: nastyText,
            $anon_distinct_id: nastyText,
          },
          { requiredKeys: [] },
        ),
      ),
      $set: anyJson,
    },
    { requiredKeys: [] },
  )
  const token = orKnown(nastyText, known.token)
  return fc.oneof(
    fc.record({ api_key: token, batch: fc.oneof(fc.array(event, { maxLength: 4 }), anyJson) }),
    fc.tuple(token, event).map(([api_key, one]) => ({ api_key, ...one })),
  )
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
  readonly method: string
  readonly path: string
  readonly body: string | Buffer | undefined
  readonly contentType: string
  readonly contentEncoding: string | undefined
}

/** In every encoding of bodies, also where it is not expected. */
const packings: readonly ((text: string) => Pick<Attempt, 'body' | 'contentEncoding'>)[] = [
  text => ({ body: text, contentEncoding: undefined }),
  text => ({ body: gzipSync(text), contentEncoding: 'gzip' }),
  text => ({ body: gzipSync(text), contentEncoding: undefined }),
  text => ({ body: gzipSync(text).subarray(0, 20), contentEncoding: 'gzip' }),
  text => ({ body: text, contentEncoding: 'br' }),
  text => ({ body: `data=${encodeURIComponent(Buffer.from(text).toString('base64'))}`, contentEncoding: undefined }),
]

const attemptOf = (route: Route, ids: Known): fc.Arbitrary<Attempt> => {
  const names = [...route.path.matchAll(/:(\w+)/g)].map(match => match[1]!)
  const parameter = (name: string) => {
    const noun = route.path.split(`/:${name}`)[0]!.split('/').at(-1)!
    const known = ids[name] ?? ids[noun] ?? ['1']
    return fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom(...known) },
      { weight: 1, arbitrary: nastyText.map(text => encode(text)) },
    )
  }
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(route.query?.properties ?? { limit: true })),
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
      'compression',
      'send_cohorts',
      'v',
      'groups',
      'distinct_id',
      'created_by_id',
      'deleted',
    ),
  )
  const text = fc.oneof(nastyText, fc.constantFrom('1', '2', 'true', 'gzip', 'base64', 'lz64', ...(ids.token ?? [])))
  // A name may come more than once.
  const query = fc.array(fc.tuple(name, text, fc.constantFrom(1, 1, 1, 2)), { maxLength: 3 })
  const body = route.body
    ? fc.oneof(
        { weight: 6, arbitrary: valid(route.body as AnySchema, ids).map(value => JSON.stringify(value) ?? '') },
        { weight: 2, arbitrary: brokenBody },
        { weight: 1, arbitrary: fc.constant(undefined) },
      )
    : fc.oneof(fc.constant(undefined), brokenBody)
  return fc
    .record({
      method: fc.oneof(
        { weight: 12, arbitrary: fc.constant(route.method as string) },
        { weight: 1, arbitrary: fc.constantFrom('HEAD', 'OPTIONS') },
      ),
      parameters: fc.tuple(...names.map(parameter)),
      query,
      body: route.method === 'GET' ? fc.constant(undefined) : body,
      packing: fc.oneof(
        { weight: 6, arbitrary: fc.constant(packings[0]!) },
        { weight: 2, arbitrary: fc.constantFrom(...packings) },
      ),
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
    .map(({ method, parameters, query: asked, body: text, packing, contentType }) => {
      let index = 0
      const path = route.path.replace(/:\w+/g, () => parameters[index++] as string)
      const search = asked
        .flatMap(([name, value, times]) => Array.from({ length: times }, () => `${name}=${encode(value)}`))
        .join('&')
      const isBare = text === undefined || method === 'HEAD'
      const packed = isBare ? { body: undefined, contentEncoding: undefined } : packing(text.toWellFormed())
      return { route, method, path: `${path}/${search && `?${search}`}`, contentType, ...packed }
    })
}

/** A lone surrogate cannot be sent in an address at all. */
const encode = (text: string): string => encodeURIComponent(text.toWellFormed()).replaceAll('.', '%2E') || '%20'

/** These take away what the test stands on, so they get a project, an organization and a key of their own. */
const isRuinous = (route: Route): boolean =>
  (route.method === 'DELETE' &&
    /^\/api\/(organizations|projects|organizations\/:\w+\/projects)\/:\w+$/.test(route.path)) ||
  /\/(logout|reset_token)$/.test(route.path) ||
  (route.path.includes('/members/') && route.method !== 'GET')

/** Nothing outside this machine is asked, and what is asked does not answer. */
const nowhere = 'http://127.0.0.1:1'
const environment = {
  HALYARD_NPM_REGISTRY: nowhere,
  HALYARD_GITHUB_API: nowhere,
  HALYARD_GITLAB_API: nowhere,
  // The client shares the process: a late event loop says nothing.
  HALYARD_LAG_MILLISECONDS_MAX: '0',
}

onEachDatabase('every route of the OpenAPI document', dialect => {
  let s: Program
  beforeAll(async () => {
    s = await startProgram(dialect, environment)
  })
  afterAll(() => s.close())

  it(
    `answers ${requests} requests, right and wrong, without a 5xx and without hanging`,
    async () => {
      const { ids, ruined, keys } = await somethingOfEverything(s)
      const routes = [...allRoutes, ...sdkRoutes]
      const attempt = fc.oneof(
        ...routes.map(route => attemptOf(route, isRuinous(route) ? { ...ids, ...ruined.ids } : ids)),
      )
      const statuses = new Map<number, number>()
      const asked = new Set<string>()
      await fc.assert(
        fc.asyncProperty(attempt, fc.constantFrom(...keys), async (tried, key) => {
          const { route, method, path, body } = tried
          const used = isRuinous(route) ? ruined.key : route.access.kind === 'open' ? key : s.key
          const { status, text, isInjected, mediaType } = await send(s.url, tried, used)
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          asked.add(`${route.method} ${route.path}`)
          const what = `${method} ${path} ${body}: ${status} ${text}`
          expect(status, what).toBeLessThan(500)
          expect(isInjected).toBe(false)
          if (method === route.method) expectDocumented(route, status, mediaType, text, what)
        }),
        { numRuns: requests, ...(seed !== undefined && { seed }) },
      )
      const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
      console.log(`${dialect}: ${asked.size} of ${routes.length} routes; answers by status: ${counts.join(', ')}`)
      expect((await s.get('/_readyz')).status).toBe(200)
      if (requests > 20 * routes.length) expect(asked.size).toBe(routes.length)
    },
    requests * 120 + 120_000,
  )
})

/** What is answered is what the OpenAPI document says: the status, what it is written in, and its shape. */
function expectDocumented(route: Route, status: number, mediaType: string, text: string, what: string): void {
  const said = route.responses[status]
  const isSuccess = status < 400
  if (said === null || text === '') {
    expect(text, what).toBe('')
    if (isSuccess) expect(said === null || route.mayBeEmpty || mediaType === 'text/event-stream', what).toBe(true)
    return
  }
  const isScimRefusal = route.errorShape === 'scim' && !isSuccess && 'schemas' in JSON.parse(text)
  const refusalType = isScimRefusal ? 'application/scim+json' : 'application/json'
  expect(mediaType, what).toBe(isSuccess ? (route.mediaType ?? 'application/json') : refusalType)
  if (isSuccess) expect(said, what).toBeDefined()
  if (isSuccess && route.mediaType) return
  // An address that cannot be decoded reaches no route, so its refusal is everyone's.
  const shapes = said ? [said] : [ProblemBody, ...(route.refusal ? [route.refusal] : [])]
  const value = JSON.parse(text)
  expect(
    shapes.some(shape => isShaped(shape, value)),
    what,
  ).toBe(true)
}

const checkers = new Map<TSchema, (value: unknown) => boolean>()
function isShaped(schema: TSchema, value: unknown): boolean {
  const check = checkers.get(schema) ?? shapeChecker(schema)
  checkers.set(schema, check)
  return check(value)
}

/** What the addresses of requests can point at. */
async function somethingOfEverything(s: Program) {
  const made = async (path: string, body: object) => (await s.post(path, body)).body
  const organizationId = s.organization.split('/').at(-1)!
  const flag = await made(`${s.project}/feature_flags/`, { key: 'fuzzed' })
  const role = await made(`${s.organization}/roles/`, { name: 'fuzzed' })
  const grant = await made(`${s.project}/feature_flags/${flag.id}/role_access/`, { role_id: role.id })
  const plugin = await made(`${s.organization}/plugins/`, { name: 'fuzzed' })
  const config = await made(`${s.project}/plugin_configs/`, { plugin: plugin.id, enabled: false, order: 1, config: {} })
  const cohort = await made(`${s.project}/cohorts/`, { name: 'fuzzed', is_static: true })
  const secret = await made(`${s.project}/secret_keys/`, { label: 'fuzzed' })
  const doomed = await s.stranger('doomed')
  const ids: Known = {
    project_id: [String(s.projectId), '@current'],
    parent_lookup_organization_id: [organizationId, '@current'],
    feature_flags: [String(flag.id), '999999'],
    role_access: [String(grant.id)],
    roles: [role.id],
    dashboards: [String(flag.usage_dashboard)],
    plugins: [String(plugin.id)],
    plugin_configs: [String(config.id)],
    cohorts: [String(cohort.id)],
    feature_flag_key: ['fuzzed'],
    key: ['fuzzed'],
    token: [s.projectToken],
    array: [s.projectToken],
  }
  const ruined: Known = {
    project_id: [doomed.project.split('/').at(-1)!],
    parent_lookup_organization_id: [doomed.organization.split('/').at(-1)!],
    organizations: [doomed.organization.split('/').at(-1)!],
    projects: [doomed.project.split('/').at(-1)!],
  }
  return {
    ids,
    ruined: { ids: ruined, key: doomed.key },
    keys: [s.key, s.projectToken, secret.value as string, 'nonsense'],
  }
}

async function send(url: string, { method, path, body, contentType, contentEncoding }: Attempt, key: string) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': contentType }),
      ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(answerMillisecondsMax),
  })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  if (isStream) await response.body?.cancel()
  const isInjected = response.headers.has('x-injected')
  const mediaType = response.headers.get('content-type')?.split(';', 1)[0] ?? ''
  return { status: response.status, text: isStream ? '' : await response.text(), isInjected, mediaType }
}
