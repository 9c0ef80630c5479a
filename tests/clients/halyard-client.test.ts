import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type ClientOptions, createClient, type HalyardClient } from '@halyard/client'
import { fileCache } from '@halyard/client/file-cache'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { onEachPath } from '../../packages/server/src/testing/paths.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { type StreamProxy, startStreamProxy } from './stream-proxy.ts'

onEachPath('the client', environment => {
  let s: Scenario
  let proxy: StreamProxy
  let secret: string
  let folder: string
  let flags: string
  const ids: Record<string, number> = {}
  const opened: HalyardClient[] = []

  beforeAll(async () => {
    s = await startScenario('sqlite', { environment })
    proxy = await startStreamProxy(s.url)
    flags = `${s.project}/feature_flags/`
    secret = (await s.post(`${s.project}/secret_keys/`, { label: 'client' })).body.value
    folder = mkdtempSync(join(tmpdir(), 'halyard-client-'))
    const cohort = await s.post(`${s.project}/cohorts/`, { name: 'Chosen', is_static: true })
    const paid = { type: 'behavioral', key: 'paid', value: 'performed_event', time_value: 7, time_interval: 'day' }
    const did = { name: 'Payers', filters: { properties: { type: 'AND', values: [paid] } } }
    const payers = await s.post(`${s.project}/cohorts/`, did)
    const rule = (property: object) => ({ groups: [{ properties: [property] }] })
    const variants = [
      { key: 'control', rollout_percentage: 50 },
      { key: 'test', rollout_percentage: 50 },
    ]
    for (const flag of [
      { key: 'switch' },
      { key: 'pro', filters: rule({ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }) },
      { key: 'mail', filters: rule({ key: 'email', type: 'person', operator: 'regex', value: '@example\\.com$' }) },
      { key: 'split', filters: { groups: [{}], multivariate: { variants }, payloads: { test: '{"n": 1}' } } },
      { key: 'chosen', filters: rule({ key: 'id', type: 'cohort', value: cohort.body.id }) },
      { key: 'payer', filters: rule({ key: 'id', type: 'cohort', value: payers.body.id }) },
      { key: 'browsers', evaluation_runtime: 'client' },
      { key: 'adult', filters: rule({ key: 'age', type: 'person', operator: 'number_gte', value: 18 }) },
    ]) {
      ids[flag.key] = (await s.post(flags, flag)).body.id
    }
    await s.as(undefined).post('/batch/', {
      api_key: s.projectToken,
      batch: [
        { event: '$set', distinct_id: 'stored', properties: { $set: { plan: 'pro' } } },
        { event: 'paid', distinct_id: 'stored', properties: {} },
      ],
    })
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map(client => client.close()))
    Object.assign(proxy, { buffersStreams: false, losesEvents: false, isDown: false })
    proxy.requested.length = 0
  })
  afterAll(async () => {
    await proxy.close()
    await s.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = (options: Partial<ClientOptions> = {}): HalyardClient => {
    const client = createClient({ url: proxy.url, key: secret, exposures: false, ...options })
    opened.push(client)
    return client
  }
  const openReady = async (options: Partial<ClientOptions> = {}) => {
    const client = open(options)
    await expect.poll(() => client.status).toBe('ready')
    return client
  }
  const localValue = (client: HalyardClient, key: string) => client.evaluateLocally(key, { distinctId: 'user-1' }).value
  const toggle = (key: string, active: boolean) => s.patch(`${flags}${ids[key]}/`, { active })

  it('evaluates in process and follows changes on the stream', async () => {
    const client = await openReady()
    const changes: string[] = []
    client.on('change', keys => changes.push(...keys))
    expect(localValue(client, 'switch')).toBe(true)
    await toggle('switch', false)
    await expect.poll(() => localValue(client, 'switch')).toBe(false)
    await toggle('switch', true)
    await expect.poll(() => localValue(client, 'switch')).toBe(true)
    expect(new Set(changes)).toEqual(new Set(['switch']))
    expect(proxy.requested).toEqual(['GET /api/projects/@current/feature_flags/stream/'])
    expect(client.projectId).toBe(s.projectId)
    const context = { distinctId: 'x', personProperties: { plan: 'pro', email: 'a@example.com' } }
    expect(client.evaluateLocally('pro', context)).toMatchObject({ value: true, source: 'local', flagId: ids.pro })
    expect(client.evaluateLocally('mail', context).value).toBe(true)
    expect(client.evaluateLocally('browsers', context).reason.code).toBe('flag_not_found')
  })

  it('resumes where a cut stream ended', async () => {
    const client = await openReady()
    proxy.isDown = true
    proxy.cut()
    await toggle('switch', false)
    expect(localValue(client, 'switch')).toBe(true)
    proxy.isDown = false
    await expect.poll(() => localValue(client, 'switch')).toBe(false)
    await toggle('switch', true)
    await expect.poll(() => localValue(client, 'switch')).toBe(true)
  })

  it('gets everything again after an event was lost', async () => {
    const client = await openReady()
    const { lost } = proxy
    proxy.losesEvents = true
    await toggle('switch', false)
    await expect.poll(() => proxy.lost).toBeGreaterThan(lost)
    proxy.losesEvents = false
    await toggle('adult', false)
    await expect.poll(() => [localValue(client, 'switch'), localValue(client, 'adult')]).toEqual([false, false])
    await toggle('switch', true)
    await toggle('adult', true)
    await expect.poll(() => localValue(client, 'switch')).toBe(true)
  })

  it('polls with ETags when a proxy holds the stream back', async () => {
    proxy.buffersStreams = true
    const client = await openReady({ streamTimeoutMilliseconds: 100, pollMilliseconds: 50 })
    await toggle('switch', false)
    await expect.poll(() => localValue(client, 'switch')).toBe(false)
    await toggle('switch', true)
    await expect.poll(() => localValue(client, 'switch')).toBe(true)
    expect(proxy.requested.filter(path => path.includes('/stream/'))).toHaveLength(1)
  })

  it('starts from its file or a bootstrap while the server is down, and is stale until it is back', async () => {
    const path = join(folder, 'definitions.json')
    const first = await openReady({ cache: fileCache(path) })
    const bootstrap = JSON.parse(first.definitions()!)
    await first.close()
    proxy.isDown = true
    const errors: Error[] = []
    const client = open({ cache: fileCache(path), staleMilliseconds: 50, onError: error => errors.push(error) })
    expect(await client.ready({ timeoutMilliseconds: 60_000 })).toBe(true)
    expect(localValue(client, 'switch')).toBe(true)
    const given = open({ bootstrap })
    expect([given.status, localValue(given, 'switch')]).toEqual(['cached', true])
    const statuses: string[] = []
    client.on('status', status => statuses.push(status))
    await expect.poll(() => client.status).toBe('stale')
    expect(errors.length).toBeGreaterThan(0)
    proxy.isDown = false
    await expect.poll(() => statuses).toContain('ready')
    expect(statuses.slice(0, 2)).toEqual(['stale', 'ready'])
  })

  it('asks the server for what depends on stored persons, or marks it', async () => {
    const client = await openReady()
    expect(client.evaluateLocally('pro', { distinctId: 'stored' }).reason.code).toBe('needs_person')
    const stored = { distinctId: 'stored' }
    expect(await client.evaluate('pro', stored)).toMatchObject({ value: true, source: 'server' })
    expect(await client.evaluate('pro', stored)).toMatchObject({ value: true, source: 'server' })
    expect(await client.evaluate('chosen', stored)).toMatchObject({ value: false, source: 'server' })
    expect(await client.evaluate('payer', stored)).toMatchObject({ value: true, source: 'server' })
    expect(proxy.requested.filter(path => path === 'POST /flags/?v=2')).toHaveLength(3)
    const all = new Map((await client.evaluateAll(stored)).map(each => [each.key, each.value]))
    const asked = proxy.requested.filter(path => path === 'POST /flags/?v=2').length
    for (const key of all.keys()) await client.evaluate(key, stored)
    expect(proxy.requested.filter(path => path === 'POST /flags/?v=2')).toHaveLength(asked)
    expect(all).toEqual(
      new Map([
        ['adult', false],
        ['chosen', false],
        ['payer', true],
        ['mail', false],
        ['pro', true],
        ['split', (await client.evaluate('split', stored)).value],
        ['switch', true],
      ]),
    )
    const local = await openReady({ storedPersons: 'local' })
    expect(await local.evaluate('pro', stored)).toMatchObject({ value: undefined, reason: { code: 'needs_person' } })
  })

  it('evaluates in process what PostHog SDKs leave to the server', async () => {
    const client = await openReady()
    const context = { distinctId: 'user-1', personProperties: { age: 29 } }
    expect(await client.evaluate('adult', context)).toMatchObject({ value: true, source: 'local' })
    expect(proxy.requested).not.toContain('POST /flags/?v=2')
  })

  it('has the server check signed overrides, and evaluates without those that it refuses', async () => {
    const client = await openReady({ exposures: true })
    const { token } = (await s.post(`${s.project}/flag_overrides/`, { overrides: { switch: false, split: 'test' } }))
      .body as { token: string }
    const context = { distinctId: 'user-1', personProperties: { plan: 'pro' }, overrides: token }
    const seen = async (overrides: string | undefined) => {
      const { value, source, reason } = await client.evaluate('switch', { ...context, overrides })
      return [value, source, reason.code]
    }
    expect(await seen(token)).toEqual([false, 'server', 'override'])
    expect(client.evaluateLocally('switch', context).value).toBe(true)
    const all = new Map((await client.evaluateAll(context)).map(each => [each.key, each]))
    expect(all.get('split')).toMatchObject({ value: 'test', payload: { n: 1 }, reason: { code: 'override' } })
    expect(all.get('pro')).toMatchObject({ value: true, reason: { code: 'condition_match' } })

    const asked = () => proxy.requested.filter(path => path === 'POST /flags/?v=2').length
    const before = asked()
    const ordinary = [true, 'local', 'condition_match']
    for (const refused of [
      `${token.slice(0, -5)}AAAAA`,
      `${token.slice(0, -5)}AAAAA`,
      'text',
      'ho1.\r\nx: y',
      undefined,
    ]) {
      expect(await seen(refused), refused).toEqual(ordinary)
    }
    expect(asked()).toBe(before + 1)
    proxy.isDown = true
    expect((await client.evaluate('switch', { ...context, distinctId: 'user-2' })).value).toBe(true)
  })

  it('reports each exposure once and sends tracked events', async () => {
    const client = await openReady({ exposures: true })
    const context = { distinctId: 'exposed', personProperties: { plan: 'pro' } }
    for (let n = 0; n < 3; n++) await client.evaluate('pro', context)
    client.track('bought', context, { amount: 3 })
    await client.flush()
    const day = new Date().toISOString().slice(0, 10)
    const range = { flagKey: 'pro', kind: 'called', from: '2000-01-01', to: day } as const
    const series = await s.halyard.database.read(tx => tx.usage.series(s.projectId, range))
    expect(series).toMatchObject([{ variant: 'true', calls: 1, users: 1 }])
  })

  it('never throws, whatever it is given', async () => {
    const errors: Error[] = []
    const client = open({ url: 'not a url', key: 'phs_wrong', onError: error => errors.push(error) })
    expect(await client.ready({ timeoutMilliseconds: 50 })).toBe(false)
    expect(client.evaluateLocally('x', { distinctId: 'a' }).reason.code).toBe('not_ready')
    await expect.poll(() => errors.length).toBeGreaterThan(0)
    const refused = open({ key: 'phs_wrong' })
    await expect.poll(() => refused.status).toBe('refused')
    const ready = await openReady()
    expect((await ready.evaluate('split', { distinctId: '' })).value).toBe('control')
    const cyclic: Record<string, unknown> = { plan: 'pro', big: 1n }
    cyclic.self = cyclic
    for (const context of [undefined, null, {}, { distinctId: 7 }, { distinctId: 'a', personProperties: cyclic }]) {
      for (const key of ['pro', 'chosen', '__proto__', '']) await ready.evaluate(key, context as never)
    }
    expect((await ready.evaluate('chosen', { distinctId: 'a', personProperties: cyclic })).reason.code).toBe(
      'needs_person',
    )
    const broken = open({ bootstrap: { flags: 'none' } as never, updates: 'none' })
    expect(broken.status).toBe('starting')
  })

  it('lets the process exit after close', async () => {
    const program = `
      import { createClient } from '@halyard/client'
      const client = createClient({ url: process.env.URL, key: process.env.KEY })
      console.log(await client.ready({ timeoutMilliseconds: 60_000 }), client.evaluateLocally('switch', { distinctId: 'a' }).value)
      await client.close()
    `
    const outfile = join(folder, 'program.mjs')
    const stdin = { contents: program, resolveDir: import.meta.dirname }
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', conditions: ['halyard-source'] })
    const env = { ...process.env, URL: s.url, KEY: secret }
    expect((await promisify(execFile)(process.execPath, [outfile], { env })).stdout).toBe('true true\n')
  })
})

it('receives ten thousand flags, and then only what changes', async () => {
  const flag = (id: number, percentage: number) => ({
    id,
    key: `flag-${id}`,
    active: true,
    filters: { groups: [{ properties: [], rollout_percentage: percentage }] },
  })
  const flags = Array.from({ length: 10_000 }, (_, index) => flag(index + 1, 50))
  const frame = (event: string, id: string, data: object) =>
    `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
  let stream: ServerResponse | undefined
  const server = createServer((_request, response) => {
    stream = response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(frame('state', 'one', { flags, cohorts: {}, group_type_mapping: {}, property_matching_version: 2 }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createClient({ url, key: 'phs_any', exposures: false })
  const changes: string[][] = []
  await client.ready({ timeoutMilliseconds: 60_000 })
  client.on('change', keys => changes.push([...keys]))
  const enabled = flags.filter(({ key }) => client.evaluateLocally(key, { distinctId: 'a' }).value === true).length
  expect(enabled).toBeGreaterThan(4_500)
  expect(enabled).toBeLessThan(5_500)
  stream!.write(frame('change', 'two', { from: 'one', flags: [flag(7, 100), flag(10_001, 100)], removed: [8] }))
  await expect.poll(() => changes).toEqual([['flag-7', 'flag-10001', 'flag-8']])
  const value = (key: string) => client.evaluateLocally(key, { distinctId: 'a' })
  expect([value('flag-7').value, value('flag-10001').value]).toEqual([true, true])
  expect(value('flag-8').reason.code).toBe('flag_not_found')
  await client.close()
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})
