import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ClientOptions, createClient, type HalyardClient } from '@halyard/client'
import { HalyardProvider } from '@halyard/openfeature-server'
import { OpenFeature } from '@openfeature/server-sdk'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'
import { type StreamProxy, startStreamProxy } from './stream-proxy.ts'

const keys = ['stored-a', 'stored-b', 'stored-c']
const properties = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
const filters = { groups: [{ properties }] }

// On a busy machine a burst takes longer than the time limits of an application.
describe('evaluations that need the server', { timeout: 120_000 }, () => {
  let server: ServerProcess
  let proxy: StreamProxy
  let secret: string
  const opened: HalyardClient[] = []
  beforeAll(async () => {
    server = await startServer('sqlite::memory:')
    proxy = await startStreamProxy(server.url)
    const call = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
      const response = await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await response.json()) as Record<string, string>
    }
    for (const key of keys) await call('/api/projects/@current/feature_flags/', { key, filters })
    secret = (await call('/api/projects/@current/secret_keys/', { label: 'bursts' })).value!
    const { api_token: token } = (await (
      await fetch(`${server.url}/api/projects/@current/`, { headers: { authorization: `Bearer ${ownerKey}` } })
    ).json()) as { api_token: string }
    const batch = Array.from({ length: 400 }, (_, n) => ({
      event: '$set',
      distinct_id: `user-${n}`,
      properties: { $set: { plan: n % 2 === 0 ? 'pro' : 'free' } },
    }))
    await call('/batch/', { api_key: token, batch })
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(client => client.close()))
    proxy.isDown = false
    proxy.requested.length = 0
  })
  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })

  async function openReady(options: Partial<ClientOptions> = {}): Promise<HalyardClient> {
    const client = createClient({
      url: proxy.url,
      key: secret,
      exposures: false,
      requestTimeoutMilliseconds: 120_000,
      ...options,
    })
    opened.push(client)
    await expect.poll(() => client.status).toBe('ready')
    return client
  }
  const requests = () => proxy.requested.filter(path => path === 'POST /flags/?v=2').length
  const people = Array.from({ length: 400 }, (_, n) => ({ distinctId: `user-${n}` }))

  /** On a busy machine the server can fail to read a person in time. It says so, and the client reports it. */
  const failures = (errors: readonly Error[]) =>
    errors.filter(({ message }) => message.startsWith('The server failed to evaluate ')).length

  it('get values in a burst of 400, with one request per person, or are reported', async () => {
    const errors: Error[] = []
    const client = await openReady({ onError: error => errors.push(error) })
    const evaluations = await Promise.all(
      people.map(person => Promise.all(keys.map(key => client.evaluate(key, person)))),
    )
    const valuesOf = evaluations.map(each => each.map(({ value }) => value))
    const isWithoutValue = valuesOf.map(values => values.includes(undefined))
    expect(valuesOf.filter((_, n) => !isWithoutValue[n])).toEqual(
      people.flatMap((_, n) => (isWithoutValue[n] ? [] : [keys.map(() => n % 2 === 0)])),
    )
    expect(errors).toHaveLength(isWithoutValue.filter(Boolean).length)
    expect(failures(errors)).toBe(errors.length)
    expect(requests()).toBe(people.length)
  })

  it('get values in a burst through OpenFeature, or are reported', async () => {
    const errors: Error[] = []
    const provider = new HalyardProvider(await openReady({ onError: error => errors.push(error) }))
    await OpenFeature.setProviderAndWait('burst', provider)
    const client = OpenFeature.getClient('burst')
    const details = await Promise.all(
      people.map(({ distinctId }) => client.getBooleanDetails('stored-a', false, { targetingKey: distinctId })),
    )
    expect(details.filter(({ errorCode }) => errorCode !== undefined)).toHaveLength(errors.length)
    expect(failures(errors)).toBe(errors.length)
    const wrong = details.filter(({ value, errorCode }, n) => errorCode === undefined && value !== (n % 2 === 0))
    expect(wrong).toEqual([])
    await OpenFeature.clearProviders()
  })

  it('have no value and are reported while the server does not respond, and have one afterwards', async () => {
    const errors: Error[] = []
    const client = await openReady({ onError: error => errors.push(error) })
    proxy.isDown = true
    const failed = await Promise.all(people.slice(0, 200).map(person => client.evaluate('stored-a', person)))
    expect(new Set(failed.map(({ value, reason }) => `${value} ${reason.code}`))).toEqual(
      new Set(['undefined needs_person']),
    )
    expect(errors.filter(({ message }) => message.includes('/flags/ returned 502'))).toHaveLength(200)
    proxy.isDown = false
    expect((await client.evaluate('stored-a', people[0]!)).value).toBe(true)
  })
})

/** Long enough for a busy machine. */
const patient = { requestTimeoutMilliseconds: 120_000 }

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request) text += chunk
  return JSON.parse(text)
}

describe('a server that misbehaves', { timeout: 120_000 }, () => {
  let server: Server
  let respond: (request: IncomingMessage, response: ServerResponse) => void
  let url: string
  const flag = (id: number, key: string, properties: object[] = []) => ({
    id,
    key,
    active: true,
    filters: { groups: [{ properties }] },
  })
  const json = (response: ServerResponse, body: unknown, status = 200) =>
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-halyard-project-token': 'phc_any' })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  beforeEach(async () => {
    server = createServer((request, response) => respond(request, response))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })

  const stored = (response: ServerResponse) =>
    json(response, { flags: [flag(1, 'a', properties), flag(2, 'b', properties)], cohorts: {} })
  const outcome = (key: string, fields: object) => ({
    key,
    enabled: true,
    variant: null,
    reason: { code: 'x' },
    ...fields,
  })

  it('gives all 400 people of a burst their values, with one request for the flags of each', async () => {
    const bodies: string[] = []
    respond = async (request, response) => {
      if (request.url!.startsWith('/flags/definitions')) return stored(response)
      const { distinct_id: id, flag_keys_to_evaluate: keys } = (await bodyOf(request)) as {
        distinct_id: string
        flag_keys_to_evaluate: string[]
      }
      bodies.push(`${id} ${keys.join()}`)
      json(response, {
        flags: Object.fromEntries(keys.map(key => [key, outcome(key, { variant: `${key} of ${id}` })])),
      })
    }
    const client = createClient({ url, key: 'phs_any', updates: 'poll', exposures: false, ...patient })
    await expect.poll(() => client.status).toBe('ready')
    const names = Array.from({ length: 400 }, (_, n) => `user-${n}`)
    const evaluations = await Promise.all(
      names.flatMap(distinctId => ['a', 'b'].map(key => client.evaluate(key, { distinctId }))),
    )
    expect(evaluations.map(({ value }) => value)).toEqual(names.flatMap(name => [`a of ${name}`, `b of ${name}`]))
    expect(bodies.sort()).toEqual(names.map(name => `${name} a,b`).sort())
    await client.close()
  })

  it('asks again for what a server that is overloaded, or breaks a connection, did not evaluate', async () => {
    let requests = 0
    respond = (request, response) => {
      if (request.url!.startsWith('/flags/definitions')) return stored(response)
      requests += 1
      if (requests === 1) return json(response, {}, 503)
      if (requests === 2) return request.socket.destroy()
      json(response, { flags: { a: outcome('a', {}) } })
    }
    const client = createClient({ url, key: 'phs_any', updates: 'poll', exposures: false, ...patient })
    await expect.poll(() => client.status).toBe('ready')
    expect((await client.evaluate('a', { distinctId: 'user-1' })).value).toBe(true)
    expect(requests).toBe(3)
    await client.close()
  })

  it('reports what the server failed to evaluate, and requests it again', async () => {
    let failed = true
    respond = (request, response) => {
      if (request.url!.startsWith('/flags/definitions')) return stored(response)
      json(response, { flags: { a: outcome('a', { failed }) } })
    }
    const errors: string[] = []
    const onError = ({ message }: Error) => errors.push(message)
    const client = createClient({ url, key: 'phs_any', updates: 'poll', exposures: false, onError, ...patient })
    await expect.poll(() => client.status).toBe('ready')
    expect((await client.evaluate('a', { distinctId: 'user-1' })).value).toBeUndefined()
    expect(errors).toEqual(['The server failed to evaluate a.'])
    failed = false
    expect((await client.evaluate('a', { distinctId: 'user-1' })).value).toBe(true)
    await client.close()
  })

  it('ends evaluations that wait in the queue after the time limit of a request', async () => {
    let hanging = 0
    respond = (request, response) => {
      if (request.url!.startsWith('/flags/definitions')) {
        json(response, { flags: [flag(1, 'stored', properties)], cohorts: {} })
      } else hanging += 1
    }
    const errors: Error[] = []
    const client = createClient({
      url,
      key: 'phs_any',
      updates: 'poll',
      exposures: false,
      requestTimeoutMilliseconds: 500,
      onError: error => errors.push(error),
    })
    await expect.poll(() => client.status).toBe('ready')
    const evaluations = await Promise.all(
      Array.from({ length: 400 }, (_, n) => client.evaluate('stored', { distinctId: `user-${n}` })),
    )
    expect(new Set(evaluations.map(({ value }) => value))).toEqual(new Set([undefined]))
    expect(hanging).toBeLessThan(400)
    expect(errors).toHaveLength(400)
    expect(errors[399]!.message).toBe(`The server at ${url} did not respond in time.`)
    await client.close()
  })

  it.each([
    ['an entry that is not a flag', { flags: [flag(1, 'kept'), { key: 1 }], cohorts: {} }],
    ['no flags', { cohorts: {} }],
    ['no JSON', '<html>'],
  ])('keeps the definitions in use when it sends %s, and the status says so', async (_name, invalid) => {
    const valid = { flags: [flag(1, 'kept')], cohorts: {} }
    let definitions: unknown = valid
    respond = (_request, response) => json(response, definitions)
    const errors: Error[] = []
    const statuses: string[] = []
    const client = createClient({
      url,
      key: 'phs_any',
      updates: 'poll',
      pollMilliseconds: 10,
      exposures: false,
      onError: error => errors.push(error),
    })
    client.on('status', status => statuses.push(status))
    await expect.poll(() => client.status).toBe('ready')
    definitions = invalid
    await expect.poll(() => client.status).toBe('stale')
    expect(errors[0]!.name).toBe('InvalidDefinitions')
    expect(client.evaluateLocally('kept', { distinctId: 'a' }).value).toBe(true)
    definitions = valid
    await expect.poll(() => client.status).toBe('ready')
    expect(statuses).toEqual(['ready', 'stale', 'ready'])
    await client.close()
  })

  it('keeps the definitions in use when an event of the stream is not a flag', async () => {
    let stream: ServerResponse | undefined
    const frame = (event: string, id: string, data: object) =>
      `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
    respond = (request, response) => {
      if (!request.url!.includes('/stream/')) return json(response, { flags: [{ key: 1 }], cohorts: {} })
      stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
      stream.write(frame('state', 'one', { flags: [flag(1, 'kept')], cohorts: {} }))
    }
    const errors: Error[] = []
    const client = createClient({ url, key: 'phs_any', exposures: false, onError: error => errors.push(error) })
    await expect.poll(() => client.status).toBe('ready')
    const sent = stream!
    sent.write(frame('change', 'two', { from: 'one', flags: [{ key: 1 }], removed: [1] }))
    await expect.poll(() => errors.length).toBeGreaterThan(0)
    expect(client.evaluateLocally('kept', { distinctId: 'a' }).value).toBe(true)
    await client.close()
  })
})
