import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../../../instant.ts'
import { onEachDatabase } from '../../../../testing/databases.ts'
import { enablePlugin } from '../../../../testing/enabled-plugins.ts'
import { createFaultInjector } from '../../../../testing/failing-statement.ts'
import { type Scenario, startScenario } from '../../../../testing/scenario.ts'
import { takenUntil } from '../job-worker.ts'

/** At-least-once delivery to plugins, counted where they send it: by nodes that die, lag behind or lose their database. */

/** By then the lease of a crashed holder has expired. */
const muchLater = (): Instant => plusMilliseconds(instantOf(new Date()), 2 * 60_000)

onEachDatabase('deliveries to plugins', dialect => {
  const injector = createFaultInjector()
  let s: Scenario
  let other: Scenario
  let server: Server
  let host: string
  let received: string[] = []
  /** Requests are not answered. */
  let isHolding = false
  const held: ServerResponse[] = []

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      received.push(Buffer.concat(chunks).toString())
      if (isHolding) held.push(response)
      else response.end('{}')
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`
    const environment = { HALYARD_TRUSTED_ORIGINS: `http://${host}` }
    s = await startScenario(dialect, { environment, storage: injector })
    other = await s.startAnother({ environment })
  })
  afterAll(async () => {
    await s.close()
    server.close()
  })
  afterEach(async () => {
    const { results } = (await s.get(`${s.project}/plugin_configs/?limit=1000`)).body
    for (const { id } of results) await s.patch(`${s.project}/plugin_configs/${id}/`, { enabled: false })
    received = []
  })

  const enable = async (source: string) =>
    (await enablePlugin(s, source, { allowedHosts: [host] }, { allowed_hosts: [host] })).path
  const send = (text: string) => `await fetch('http://${host}/', { method: 'POST', body: ${text} })`
  const sendsChanges = (name: string) =>
    `export const onFlagChange = async c => { ${send(`'${name} ' + c.key + ' ' + c.version`)} }`
  const tick = (at: Instant, node = s) => node.halyard.plugins.runtime.tick(at)
  const waitingJobs = async () =>
    (await s.halyard.storage.kysely.selectFrom('plugin_jobs').select('id').execute()).length
  const event = (name: string) => ({
    uuid: '01a1dd5c-4a05-79f8-af16-7dd175c73f78',
    name,
    distinctId: 'x',
    properties: {},
    at: instantOf(new Date()),
    ip: null,
  })

  it('of events: by another node when the one that stored them crashes', async () => {
    await enable(`export const onEvent = async e => { ${send('e.event')} }`)
    await other.halyard.changes.catchUp()
    const now = instantOf(new Date())
    await s.halyard.database.transaction(async tx => {
      const project = await tx.projects.find(s.projectId)
      // The returned function would start the delivery. This node dies before.
      await s.halyard.plugins.runtime.events.keep(tx, project!, ['a', 'b'].map(event), now)
    })
    // No other node delivers before the lease ends.
    await tick(now, other)
    expect(received).toEqual([])
    await tick(muchLater(), other)
    expect(received.toSorted()).toEqual(['a', 'b'])
    expect(await waitingJobs()).toBe(0)
  })

  it('of events: again when the plugin was interrupted or throws RetryError', async () => {
    const config = await enable(
      `export const onEvent = async e => { try { ${send('e.event')} } catch { throw new RetryError('no response') } }`,
    )
    isHolding = true
    const body = { token: s.projectToken, event: 'interrupted', distinct_id: 'x', properties: {} }
    expect((await s.as(undefined).post('/e/', body)).status).toBe(200)
    await expect.poll(() => received).toEqual(['interrupted'])
    isHolding = false
    // A changed configuration ends the plugin as it was, and with it what it was doing.
    await s.patch(config, { order: 77 })
    await expect
      .poll(async () => {
        await tick(muchLater())
        return waitingJobs()
      })
      .toBe(0)
    expect(received.length).toBeGreaterThan(1)
    for (const response of held.splice(0)) response.destroy()
  })

  it('that a minute has begun: by another node when the one that claimed it does not live to', async () => {
    const config = await enable(`export const runEveryMinute = async () => { ${send(`'minute'`)} }`)
    await other.halyard.changes.catchUp()
    const now = instantOf(new Date())
    const configId = Number(config.split('/').at(-2))
    const job = { configId, kind: 'task', name: 'runEveryMinute', payload: null, runAt: now } as const
    await s.halyard.database.transaction(tx => tx.pluginJobs.enqueueTaken([job], now, takenUntil(now)))
    // The one that was left, and the one of this minute.
    await tick(muchLater(), other)
    await tick(muchLater(), other)
    expect(received.length).toBeGreaterThan(1)
    expect(await waitingJobs()).toBe(0)
  })

  it('of changes: to all subscribers, also for changes that were pending when another plugin subscribed', async () => {
    await enable(sendsChanges('first'))
    await s.post(`${s.project}/feature_flags/`, { key: 'waiting' })
    await enable(sendsChanges('second'))
    await s.post(`${s.project}/feature_flags/`, { key: 'to-both' })
    await tick(muchLater())
    expect(received.toSorted()).toEqual(['first to-both 1', 'first waiting 1', 'second to-both 1'])
  })

  it('of changes: also by a node that has not yet loaded a plugin that was enabled before them', async () => {
    await enable(sendsChanges('old'))
    await other.halyard.changes.catchUp()
    // The other node does its work before it learns of the change.
    await enable(sendsChanges('new'))
    await s.post(`${s.project}/feature_flags/`, { key: 'fresh' })
    await tick(muchLater(), other)
    await other.halyard.changes.catchUp()
    await tick(muchLater(), other)
    expect(received.toSorted()).toEqual(['new fresh 1', 'old fresh 1'])
  })

  it('of changes: every one, however many there are', async () => {
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'busy' })
    await enable(sendsChanges('x'))
    const changes = 25
    for (let n = 0; n < changes; n++) {
      expect((await s.patch(`${s.project}/feature_flags/${flag.id}/`, { name: `n${n}` })).status).toBe(200)
    }
    await tick(muchLater())
    const expected = Array.from({ length: changes }, (_, n) => `x busy ${n + 2}`)
    expect(received.toSorted()).toEqual(expected.toSorted())
  })

  it('of changes: no past changes when new code subscribes', async () => {
    await s.post(`${s.project}/feature_flags/`, { key: 'past' })
    await enable('export const onEvent = () => {}')
    const { body } = await s.get(`${s.project}/plugin_configs/?limit=1000`)
    const plugin = body.results.find(({ enabled }: { enabled: boolean }) => enabled).plugin
    await s.patch(`${s.organization}/plugins/${plugin}/update_source/`, { 'index.ts': sendsChanges('new') })
    await s.post(`${s.project}/feature_flags/`, { key: 'future' })
    await tick(muchLater())
    expect(received).toEqual(['new future 1'])
  })

  it('of changes: whichever statement fails', async () => {
    const config = await enable(sendsChanges('x'))
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'failing' })
    for (let n = 1, isReached = true; isReached; n++) {
      // A changed configuration is opened again, which needs the database.
      await s.patch(config, { order: n })
      const { body: changed } = await s.patch(`${s.project}/feature_flags/${flag.id}/`, { name: `n${n}` })
      injector.failAt(n)
      await tick(instantOf(new Date())).catch(() => {})
      isReached = injector.disarm()
      // Leases end, and what was postponed becomes due.
      await expect
        .poll(async () => {
          await tick(muchLater())
          return received
        })
        .toContainEqual(`x failing ${changed.version}`)
    }
  }, 240_000)
})
