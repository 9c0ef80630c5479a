import type { Reply, ServerUnderTest } from './server-under-test.ts'

/** A requirement of the protocol. `run` throws when it is not met, and returns a sentence when it does not apply. */
export interface Check {
  readonly id: string
  readonly title: string
  /** The part of the protocol that asks for it. */
  readonly source: string
  readonly level: 'must' | 'should'
  readonly run: (server: ServerUnderTest) => Promise<string | undefined>
}

const unknownKey = 'ofrep-conformance-unknown-flag'
const errorCodes = [
  'PROVIDER_NOT_READY',
  'FLAG_NOT_FOUND',
  'PARSE_ERROR',
  'TYPE_MISMATCH',
  'TARGETING_KEY_MISSING',
  'INVALID_CONTEXT',
  'PROVIDER_FATAL',
  'GENERAL',
]

export const checks: readonly Check[] = [
  {
    id: 'bulk-success',
    title: 'bulk evaluation returns 200, JSON and a list of flags',
    source: 'openapi: evaluateFlagsBulk 200',
    level: 'must',
    async run(server) {
      await flagsOf(server)
      return undefined
    },
  },
  {
    id: 'bulk-flags',
    title: 'each flag of a bulk evaluation is a success or a failure with a key',
    source: 'openapi: bulkEvaluationSuccess, ADR 3, ADR 6',
    level: 'must',
    async run(server) {
      for (const flag of await flagsOf(server)) checkFlag(flag)
      return undefined
    },
  },
  {
    id: 'bulk-unique-keys',
    title: 'no key occurs twice in a bulk evaluation',
    source: 'ADR 4',
    level: 'must',
    async run(server) {
      const keys = (await flagsOf(server)).map(({ key }) => key)
      ensure(new Set(keys).size === keys.length, 'a key occurs twice')
      return undefined
    },
  },
  {
    id: 'bulk-etag',
    title: 'bulk evaluation has an ETag',
    source: 'openapi: evaluateFlagsBulk ETag, ADR 5',
    level: 'should',
    async run(server) {
      const reply = await server.bulk({ context: server.context })
      ensure(reply.headers.get('etag') !== null, 'the response has no ETag')
      return undefined
    },
  },
  {
    id: 'bulk-not-modified',
    title: 'bulk evaluation with a current ETag returns 304 without a body',
    source: 'openapi: evaluateFlagsBulk 304, ADR 5',
    level: 'must',
    async run(server) {
      const etag = (await server.bulk({ context: server.context })).headers.get('etag')
      if (etag === null) return 'The server sends no ETag.'
      const reply = await server.bulk({ context: server.context }, { headers: { 'if-none-match': etag } })
      expectStatus(reply, 304)
      ensure(reply.text === '', 'the response has a body')
      return undefined
    },
  },
  {
    id: 'bulk-other-etag',
    title: 'bulk evaluation with another ETag returns 200',
    source: 'openapi: evaluateFlagsBulk, ADR 5',
    level: 'must',
    async run(server) {
      const headers = { 'if-none-match': '"ofrep-conformance"' }
      expectStatus(await server.bulk({ context: server.context }, { headers }), 200)
      return undefined
    },
  },
  {
    id: 'bulk-stream-metadata',
    title: 'bulk evaluation accepts flagConfigEtag and flagConfigLastModified',
    source: 'openapi: flagConfigEtag, flagConfigLastModified, ADR 8',
    level: 'must',
    async run(server) {
      for (const query of [
        'flagConfigEtag=abc&flagConfigLastModified=1771622898',
        'flagConfigLastModified=2026-02-20T21:28:18Z',
      ])
        expectStatus(await server.bulk({ context: server.context }, { query }), 200)
      return undefined
    },
  },
  {
    id: 'bulk-unparsable',
    title: 'bulk evaluation of a body that is not JSON returns 400 with an error code',
    source: 'openapi: bulkEvaluationFailure',
    level: 'must',
    async run(server) {
      expectFailure(await server.bulk('{"context":'), 400)
      return undefined
    },
  },
  {
    id: 'bulk-parse-error-code',
    title: 'a body that is not JSON has the error code PARSE_ERROR',
    source: 'OpenFeature types: error code',
    level: 'should',
    async run(server) {
      const reply = await server.bulk('{"context":')
      ensure(field(reply, 'errorCode') === 'PARSE_ERROR', `the error code is ${field(reply, 'errorCode')}`)
      return undefined
    },
  },
  {
    id: 'bulk-without-context',
    title: 'bulk evaluation without a valid context returns 400 with an error code',
    source: 'openapi: bulkEvaluationRequest requires context',
    level: 'must',
    async run(server) {
      for (const body of [{}, { context: 'text' }, { context: [] }]) expectFailure(await server.bulk(body), 400)
      return undefined
    },
  },
  {
    id: 'bulk-without-targeting-key',
    title: 'a context without a targeting key is evaluated, or returns 400 with an error code',
    source: 'openapi: context',
    level: 'must',
    async run(server) {
      const reply = await server.bulk({ context: { email: 'user@example.com' } })
      if (reply.status !== 200) expectFailure(reply, 400)
      return undefined
    },
  },
  {
    id: 'context-types',
    title: 'properties of the context may have any JSON type',
    source: 'openapi: context additionalProperties',
    level: 'must',
    async run(server) {
      const values = { text: 'ü', number: 1.5, yes: true, nothing: null, list: [1, 'a'], object: { inner: {} } }
      expectStatus(await server.bulk({ context: { ...server.context, ...values } }), 200)
      return undefined
    },
  },
  {
    id: 'single-success',
    title: 'evaluation of one flag returns 200 and the flag with its key',
    source: 'openapi: serverEvaluationSuccess',
    level: 'must',
    async run(server) {
      const key = await existingKey(server)
      if (key === undefined) return 'The server has no flag that can be evaluated.'
      const reply = await server.single(key, { context: server.context })
      expectJson(reply, 200)
      checkFlag(reply.json)
      ensure(field(reply, 'key') === key, 'the response has another key')
      return undefined
    },
  },
  {
    id: 'single-as-bulk',
    title: 'one flag has the value that it has in a bulk evaluation',
    source: 'ADR 2',
    level: 'should',
    async run(server) {
      const key = await existingKey(server)
      if (key === undefined) return 'The server has no flag that can be evaluated.'
      const inBulk = (await flagsOf(server)).find(flag => flag.key === key)
      const reply = await server.single(key, { context: server.context })
      const [one, other] = [field(reply, 'value'), inBulk?.value].map(value => JSON.stringify(value))
      ensure(one === other, `the values are ${one} and ${other}`)
      return undefined
    },
  },
  {
    id: 'single-not-found',
    title: 'an unknown flag returns 404, its key and FLAG_NOT_FOUND',
    source: 'openapi: flagNotFound',
    level: 'must',
    async run(server) {
      const reply = await server.single(unknownKey, { context: server.context })
      expectFailure(reply, 404)
      ensure(field(reply, 'errorCode') === 'FLAG_NOT_FOUND', `the error code is ${field(reply, 'errorCode')}`)
      ensure(field(reply, 'key') === unknownKey, 'the response lacks the key')
      return undefined
    },
  },
  {
    id: 'single-encoded-key',
    title: 'a key with reserved characters is decoded',
    source: 'openapi: key in path',
    level: 'should',
    async run(server) {
      const key = `${unknownKey} /?ü`
      const reply = await server.single(key, { context: server.context })
      expectFailure(reply, 404)
      ensure(field(reply, 'key') === key, `the key in the response is ${field(reply, 'key')}`)
      return undefined
    },
  },
  {
    id: 'single-bad-request',
    title: 'evaluation of one flag with an invalid body returns 400, its key and an error code',
    source: 'openapi: evaluationFailure',
    level: 'must',
    async run(server) {
      const key = (await existingKey(server)) ?? unknownKey
      for (const body of ['{"context":', {}, { context: 7 }]) {
        const reply = await server.single(key, body)
        expectFailure(reply, 400)
        ensure(field(reply, 'key') === key, 'the response lacks the key')
      }
      return undefined
    },
  },
  {
    id: 'authentication',
    title: 'a request without a credential returns 401 or 403',
    source: 'openapi: security',
    level: 'must',
    async run(server) {
      if (Object.keys(server.options.headers ?? {}).length === 0) return 'No credential was given.'
      const { status } = await server.bulk({ context: server.context }, { anonymous: true })
      ensure(status === 401 || status === 403, `the status is ${status}`)
      return undefined
    },
  },
  {
    id: 'event-streams',
    title: 'event streams have a type and either a URL or an endpoint',
    source: 'openapi: eventStream, ADR 8',
    level: 'must',
    async run(server) {
      const streams = await streamsOf(server)
      if (streams === undefined) return 'The server offers no event streams.'
      for (const stream of streams) {
        ensure(typeof stream.type === 'string', 'a stream has no type')
        ensure('url' in stream !== 'endpoint' in stream, 'a stream needs exactly one of url and endpoint')
        const delay = stream.inactivityDelaySec
        ensure(delay === undefined || (Number.isInteger(delay) && Number(delay) >= 1), 'inactivityDelaySec is below 1')
      }
      return undefined
    },
  },
  {
    id: 'event-stream-opens',
    title: 'an event stream opens as text/event-stream, without headers of its own',
    source: 'ADR 8',
    level: 'must',
    async run(server) {
      const stream = (await streamsOf(server))?.find(({ type }) => type === 'sse')
      if (stream === undefined) return 'The server offers no event stream of the type sse.'
      const { status, headers } = await server.head(addressOf(stream, server), {
        headers: { accept: 'text/event-stream' },
      })
      ensure(status === 200, `the status is ${status}`)
      const type = headers.get('content-type') ?? ''
      ensure(type.startsWith('text/event-stream'), `the content type is ${type}`)
      return undefined
    },
  },
  {
    id: 'cors',
    title: 'browsers of other origins may request a bulk evaluation',
    source: 'guideline: static context provider',
    level: 'should',
    async run(server) {
      const headers = {
        origin: 'https://app.example.com',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,if-none-match',
      }
      const reply = await server.head(server.bulkUrl, { method: 'OPTIONS', headers })
      ensure(reply.status < 300, `the status is ${reply.status}`)
      ensure(reply.headers.get('access-control-allow-origin') !== null, 'there is no Access-Control-Allow-Origin')
      const allowed = (reply.headers.get('access-control-allow-headers') ?? '').toLowerCase()
      for (const name of ['content-type', 'if-none-match'])
        ensure(allowed.includes(name) || allowed.includes('*'), `the header ${name} is not allowed`)
      return undefined
    },
  },
]

type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const field = ({ json }: Reply, name: string): unknown => (isFields(json) ? json[name] : undefined)

function ensure(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message)
}

function expectStatus({ status }: Reply, wanted: number): void {
  ensure(status === wanted, `the status is ${status} instead of ${wanted}`)
}

function expectJson(reply: Reply, status: number): void {
  expectStatus(reply, status)
  const type = reply.headers.get('content-type') ?? ''
  ensure(/^application\/(?:[\w.+-]+\+)?json/.test(type), `the content type is ${type || 'missing'}`)
  ensure(isFields(reply.json), 'the body is not a JSON object')
}

function expectFailure(reply: Reply, status: number): void {
  expectJson(reply, status)
  const code = field(reply, 'errorCode')
  ensure(errorCodes.includes(String(code)), `the error code is ${JSON.stringify(code)}`)
}

async function flagsOf(server: ServerUnderTest): Promise<readonly Fields[]> {
  const reply = await server.bulk({ context: server.context })
  expectJson(reply, 200)
  const flags = field(reply, 'flags')
  ensure(Array.isArray(flags), 'the body has no list of flags')
  ensure(flags.every(isFields), 'a flag is not an object')
  return flags
}

function checkFlag(flag: unknown): void {
  ensure(isFields(flag) && typeof flag.key === 'string' && flag.key !== '', 'a flag has no key')
  const { key, reason, variant, metadata, errorCode, errorDetails } = flag
  const isText = (value: unknown) => value === undefined || typeof value === 'string'
  ensure(
    isText(reason) && isText(variant) && isText(errorDetails),
    `reason, variant or errorDetails of ${key} is no text`,
  )
  if (errorCode !== undefined) {
    ensure(errorCodes.includes(String(errorCode)), `the error code of ${key} is ${JSON.stringify(errorCode)}`)
    ensure(!('value' in flag), `${key} has an error code and a value`)
  }
  // Without a value, the default in the code applies; null is not a value.
  ensure(!('value' in flag) || (flag.value !== null && flag.value !== undefined), `the value of ${key} is null`)
  ensure(metadata === undefined || isFields(metadata), `the metadata of ${key} is not an object`)
  for (const value of Object.values(metadata ?? {}))
    ensure(['string', 'number', 'boolean'].includes(typeof value), `the metadata of ${key} is not flat`)
}

async function existingKey(server: ServerUnderTest): Promise<string | undefined> {
  const { flagKey } = server.options
  return flagKey ?? ((await flagsOf(server)).find(flag => flag.errorCode === undefined)?.key as string | undefined)
}

async function streamsOf(server: ServerUnderTest): Promise<readonly Fields[] | undefined> {
  const streams = field(await server.bulk({ context: server.context }), 'eventStreams')
  if (streams === undefined) return undefined
  ensure(Array.isArray(streams) && streams.every(isFields), 'eventStreams is not a list of objects')
  return streams
}

function addressOf({ url, endpoint }: Fields, server: ServerUnderTest): string {
  if (typeof url === 'string') return url
  ensure(isFields(endpoint) && typeof endpoint.requestUri === 'string', 'the endpoint has no requestUri')
  const origin = typeof endpoint.origin === 'string' ? endpoint.origin : server.options.url.replace(/\/+$/, '')
  return `${origin}${endpoint.requestUri}`
}
