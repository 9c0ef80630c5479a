import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../../testing/databases.ts'
import { enablePlugin, pluginEvent, projectOf, transformEvent } from '../../../testing/enabled-plugins.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'

interface Received {
  path: string
  body: string
}

const askFields = { path: { type: 'string' }, key: { type: 'string' } }

onEachDatabase('running plugins', dialect => {
  let s: Scenario
  let shared: TestDatabase
  let server: Server
  let origin: string
  const received: Received[] = []
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      received.push({ path: request.url!, body: Buffer.concat(chunks).toString() })
      response.end('{"ok":true}')
    })
    await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    shared = await createTestDatabase(dialect)
    s = await startScenario(dialect, {
      environment: { HALYARD_TRUSTED_ORIGINS: origin },
      databaseUrl: shared.url,
    })
  })
  afterAll(async () => {
    await s.close()
    await shared.drop()
    server.close()
  })

  afterEach(async () => {
    const { results } = (await s.get(`${s.project}/plugin_configs/?limit=1000`)).body
    for (const { id, enabled } of results) {
      if (enabled) await s.patch(`${s.project}/plugin_configs/${id}/`, { enabled: false })
    }
  })

  const now = (): Instant => instantOf(new Date())
  const host = () => origin.replace('http://', '')

  const enable = (source: string, manifest?: object, config?: object, scenario = s) =>
    enablePlugin(scenario, source, manifest, config)
  const transform = (incoming: ReturnType<typeof pluginEvent>) => transformEvent(s, incoming)

  describe('events', () => {
    it('pass through the plugins of the project in their order', async () => {
      const add = (letter: string) =>
        `export const processEvent = e => ({ ...e, properties: { ...e.properties, way: (e.properties.way ?? '') + '${letter}' } })`
      const second = await enable(add('b'), {}, { order: 20 })
      const first = await enable(add('a'), {}, { order: 10 })
      const result = await transform(pluginEvent('x'))
      expect(result?.properties).toMatchObject({ way: 'ab', $plugins_failed: [], $plugins_deferred: [] })
      expect((result!.properties as Record<string, string[]>).$plugins_succeeded).toHaveLength(2)
      await s.patch(first.path, { order: 30 })
      expect((await transform(pluginEvent('x')))?.properties).toMatchObject({ way: 'ba' })
      await first.off()
      await second.off()
      expect(s.halyard.plugins.runtime.events.handles(await projectOf(s))).toBe(false)
    })

    it('are dropped by a plugin that returns nothing, and counted', async () => {
      const plugin = await enable('export const processEvent = e => (e.event === "drop" ? undefined : e)')
      expect(await transform(pluginEvent('drop'))).toBeNull()
      expect((await transform(pluginEvent('keep')))?.name).toBe('keep')
      const metrics = async () => (await s.get(`${plugin.path}metrics/`)).body
      await expect.poll(metrics).toMatchObject({ calls: 2, failures: 0, dropped_events: 1 })
      const { hours } = await metrics()
      expect(hours.reduce((sum: number, hour: { calls: number }) => sum + hour.calls, 0)).toBe(2)
      expect(hours[0].hour).toMatch(/:00:00/)
      const shown = (await s.get(`${s.organization}/plugins/${plugin.plugin}/`)).body
      expect(shown.metrics).toMatchObject({
        calls: 2,
        failures: 0,
        dropped_events: 1,
        memory_bytes: expect.any(Number),
      })
      const { text } = await s.get('/metrics')
      expect(text).toContain(`halyard_plugin_dropped_events_total{plugin="p${plugin.plugin}"} 1`)
      expect(text).toContain(
        `halyard_plugin_calls_total{plugin="p${plugin.plugin}",method="processEvent",outcome="ok"} 2`,
      )
      await plugin.off()
    })

    it('go on as they are when a plugin fails, and stay in their project', async () => {
      const plugin = await enable(`export const processEvent = e => {
        if (e.event === 'throw') throw new Error('no good')
        if (e.event === 'odd') return { nothing: true }
        return { ...e, team_id: 999, uuid: 'other', distinct_id: '', event: e.event + '!' }
      }`)
      const failed = await transform(pluginEvent('throw', { a: 1 }))
      expect(failed).toMatchObject({ name: 'throw', properties: { a: 1, $plugins_succeeded: [] } })
      expect((await transform(pluginEvent('odd')))?.name).toBe('odd')
      expect(await transform(pluginEvent('x'))).toMatchObject({
        name: 'x!',
        distinctId: 'd',
        uuid: pluginEvent('x').uuid,
      })
      await expect.poll(plugin.messages).toContainEqual('processEvent failed: Error: no good')
      await expect.poll(async () => (await plugin.read()).delivery_rate_24h).toBeCloseTo(2 / 3)
      await plugin.off()
    })

    it('bring person properties along wherever a plugin puts them', async () => {
      const plugin = await enable(
        'export const processEvent = e => { delete e.ip; e.$set = { a: 1 }; e.properties.$set = { b: 2 }; return e }',
      )
      expect(await transform(pluginEvent('x'))).toMatchObject({ ip: null, properties: { $set: { a: 1, b: 2 } } })
      await plugin.off()
    })

    it('reach onEvent and webhooks once they are stored', async () => {
      const plugin = await enable(
        `export const onEvent = async (e, meta) => { await meta.storage.set('last', e.event); console.info('seen', e.event) }
         export const composeWebhook = e => ({ url: '${origin}/hook', body: { name: e.event } })`,
        { allowedHosts: [host()] },
        { allowed_hosts: [host()] },
      )
      const body = { token: s.projectToken, event: 'arrived', distinct_id: 'x', properties: {} }
      expect((await s.as(undefined).post('/e/', body)).status).toBe(200)
      await expect.poll(plugin.messages).toContainEqual('seen arrived')
      await expect.poll(() => received).toContainEqual({ path: '/hook', body: '{"name":"arrived"}' })
      await plugin.off()
    })

    it('return the responses of the API to plugins with a key', async () => {
      const asking = `export const jobs = { ask: async ({ path, key }) => {
        try {
          const answer = await posthog.api.get(path, { personalApiKey: key })
          const body = await answer.text()
          console.log(answer.status, body.slice(0, 40))
        } catch (error) { console.log(error.message) }
      } }`
      const plugin = await enable(asking, { publicJobs: { ask: { payload: askFields } } })
      const asked = async (path: string, key: string) => {
        const before = (await plugin.messages()).length
        await s.post(`${plugin.path}job/`, { job: { type: 'ask', payload: { path, key } } })
        await s.halyard.plugins.runtime.tick(now())
        await expect.poll(async () => (await plugin.messages()).length).toBe(before + 1)
        return (await plugin.messages()).at(-1)
      }
      expect(await asked(`${s.project}/`, s.key)).toMatch(/^200 \{"id":/)
      expect(await asked(`${s.project}/`, 'phx_wrong')).toMatch(/^401 /)
      for (const path of ['/metrics', 'https://elsewhere.test/api/', '//elsewhere.test/api/', '/api/../metrics']) {
        expect(await asked(path, s.key)).toContain('takes a path of Halyard')
      }
      await plugin.off()
    })

    it('that plugins capture arrive, and do not set plugins off again', async () => {
      const plugin = await enable(
        `export const onEvent = async e => { console.log('got ' + e.event); await posthog.capture('echo', { of: e.event, $set: { echoed: true } }) }`,
      )
      const body = { token: s.projectToken, event: 'first', distinct_id: 'someone', properties: {} }
      await s.as(undefined).post('/e/', body)
      const person = async () =>
        (await s.halyard.storage.kysely.selectFrom('persons').selectAll().execute()) as object[]
      await expect.poll(async () => JSON.stringify(await person())).toContain('echoed')
      await expect.poll(plugin.messages).toEqual(['got first'])
      await plugin.off()
    })
  })

  describe('the outside', () => {
    const ask = `export const jobs = { ask: async ({ url }) => {
      try { const r = await fetch(url); console.log('answer', r.status, (await r.json()).ok) } catch (e) { console.log('refused', e.message) }
    } }`
    const manifest = () => ({ publicJobs: { ask: { payload: { url: { type: 'string' } } } }, allowedHosts: [host()] })

    it('is reached only when plugin.json requests it and an admin grants it', async () => {
      const plugin = await enable(ask, manifest())
      const run = async (url: string) => {
        await s.post(`${plugin.path}job/`, { job: { type: 'ask', payload: { url } } })
        await s.halyard.plugins.runtime.tick(now())
      }
      await run(`${origin}/a`)
      await expect.poll(plugin.messages).toEqual([`refused ${host()} is not an allowed host.`])
      await s.patch(plugin.path, { allowed_hosts: [host()] })
      await run(`${origin}/b`)
      await run('http://169.254.169.254/')
      await run('http://example.com/')
      await expect
        .poll(async () => (await plugin.messages()).slice(1))
        .toEqual([
          'answer 200 true',
          'refused 169.254.169.254 is not an allowed host.',
          'refused example.com is not an allowed host.',
        ])
      expect(received.map(({ path }) => path)).not.toContain('/a')
      await plugin.off()
    })
  })

  describe('settings and memory', () => {
    it('has its configuration in the clear, and storage that lasts', async () => {
      const plugin = await enable(
        `export async function setupPlugin({ config, global, attachments, storage }) {
           global.text = config.token + config.plain + String.fromCharCode(...attachments.file.contents)
           console.log('set up', (await storage.get('count', 0)))
         }
         export async function processEvent(e, { global, storage }) {
           await storage.set('count', (await storage.get('count', 0)) + 1)
           return { ...e, properties: { text: global.text } }
         }`,
        {
          config: [
            { key: 'token', type: 'string', secret: true },
            { key: 'plain', type: 'string' },
            { key: 'file', type: 'attachment' },
          ],
        },
        {
          config: { token: 's3cret', plain: '-' },
          attachments: { file: { file_name: 'f', contents_base64: btoa('file') } },
        },
      )
      expect((await transform(pluginEvent('x')))?.properties).toMatchObject({ text: 's3cret-file' })
      await s.patch(plugin.path, { config: { plain: '+' } })
      expect((await transform(pluginEvent('x')))?.properties).toMatchObject({ text: 's3cret+file' })
      await expect.poll(plugin.messages).toEqual(['set up 0', 'set up 1'])
      await plugin.off()
    })

    it('cannot fill the storage without end', async () => {
      const plugin = await enable(`export const processEvent = async (e, { storage }) => {
        for (let i = 0; i < 20; i++) await storage.set('k' + i, 'x'.repeat(100000))
        return e
      }`)
      expect((await transform(pluginEvent('x')))?.properties).toMatchObject({ $plugins_succeeded: [] })
      await expect.poll(plugin.messages).toEqual(['processEvent failed: Error: The storage of this plugin is full.'])
      await plugin.off()
    })
  })

  describe('schedules and jobs', () => {
    it('run once in their period on all nodes together', async () => {
      const other = await startScenario(dialect, { databaseUrl: shared.url })
      const plugin = await enable(
        'export const runEveryMinute = () => console.log("minute"), runEveryDay = () => console.log("day")',
      )
      await other.halyard.changes.catchUp()
      const nodes = [s.halyard.plugins.runtime, other.halyard.plugins.runtime]
      const start = '2030-01-01T10:00:00.000000Z'
      for (const after of [0, 1_000, 61_000, 62_000]) {
        await Promise.all(nodes.map(node => node.tick(plusMilliseconds(start, after))))
      }
      const lines = async () => (await plugin.messages()).toSorted()
      await expect.poll(lines).toEqual(['day', 'minute', 'minute'])
      await other.close()
      await plugin.off()
    })

    it('keep jobs until they are done, in their time, once on all nodes together', async () => {
      const other = await startScenario(dialect, { databaseUrl: shared.url })
      const plugin = await enable(
        `export const jobs = {
           now: async (p, { jobs, storage }) => { console.log('now', p.n); await jobs.later({ n: p.n + 1 }).runIn(10, 'minutes') },
           later: p => console.log('later', p.n),
         }`,
        { publicJobs: { now: { payload: { n: { type: 'number' } } } } },
      )
      await other.halyard.changes.catchUp()
      const nodes = [s.halyard.plugins.runtime, other.halyard.plugins.runtime]
      const tick = (at: Instant) => Promise.all(nodes.map(node => node.tick(at)))
      await s.post(`${plugin.path}job/`, { job: { type: 'now', payload: { n: 1 } } })
      await tick(now())
      await tick(now())
      await expect.poll(plugin.messages).toEqual(['now 1'])
      await tick(plusMilliseconds(now(), 11 * 60_000))
      await tick(plusMilliseconds(now(), 12 * 60_000))
      await expect.poll(plugin.messages).toEqual(['now 1', 'later 2'])
      await other.close()
      await plugin.off()
    })

    it('are retried after a RetryError, a limited number of times', async () => {
      const plugin = await enable(
        `export const jobs = { again: () => { console.log('try'); throw new RetryError('busy') } }`,
        { publicJobs: { again: {} } },
      )
      await s.post(`${plugin.path}job/`, { job: { type: 'again' } })
      for (let minute = 0; minute < 8; minute += 1) {
        await s.halyard.plugins.runtime.tick(plusMilliseconds(now(), minute * 10 * 60_000))
      }
      const tries = async () => (await plugin.messages()).filter(message => message === 'try').length
      await expect.poll(tries).toBe(5)
      await expect.poll(plugin.messages).toContainEqual('The job again was given up: RetryError: busy')
      await plugin.off()
    })

    it('are taken over by another node when theirs crashes', async () => {
      const plugin = await enable('export const jobs = { go: () => console.log("gone on") }', {
        publicJobs: { go: {} },
      })
      await s.post(`${plugin.path}job/`, { job: { type: 'go' } })
      const { database } = s.halyard
      const [job] = await database.read(tx => tx.pluginJobs.listDue(now(), 10))
      const until = plusMilliseconds(now(), 60_000)
      expect(await database.transaction(tx => tx.pluginJobs.lease(job!, now(), until))).toBe(true)
      expect(await database.transaction(tx => tx.pluginJobs.lease(job!, now(), until))).toBe(false)
      await s.halyard.plugins.runtime.tick(now())
      expect(await plugin.messages()).toEqual([])
      await s.halyard.plugins.runtime.tick(plusMilliseconds(now(), 61_000))
      await expect.poll(plugin.messages).toEqual(['gone on'])
      await plugin.off()
    })
  })

  describe('flags', () => {
    const flags = () => `${s.project}/feature_flags/`

    it('deliver every committed change once, with before and after', async () => {
      await s.post(flags(), { key: `old-${dialect}` })
      const other = await startScenario(dialect, { databaseUrl: shared.url })
      const plugin = await enable(
        `export const onFlagChange = c => console.log(c.action, c.key, c.version, c.changes.map(x => x.field).join(), c.before?.name ?? '-', c.after.name, c.user?.email)`,
      )
      await other.halyard.changes.catchUp()
      const { body } = await s.post(flags(), { key: 'changed', name: 'one' })
      await s.patch(`${flags()}${body.id}/`, { name: 'two', tags: ['x'] })
      await s.patch(`${flags()}${body.id}/`, { deleted: true })
      await Promise.all([s, other].map(one => one.halyard.plugins.runtime.tick(now())))
      await Promise.all([s, other].map(one => one.halyard.plugins.runtime.tick(now())))
      await expect
        .poll(async () => (await plugin.messages()).toSorted())
        .toEqual([
          'created changed 1  - one owner@halyard.local',
          'deleted changed 3 deleted two two owner@halyard.local',
          'updated changed 2 name,tags one two owner@halyard.local',
        ])
      await other.close()
      await plugin.off()
    })

    it('rejects a save with the message of the plugin', async () => {
      const plugin = await enable(`
        export function beforeFlagSave(flag, { config }) {
          if (flag.key === 'bug') return undefinedFunction()
          if (flag.key === 'slow') while (true) {}
          if (flag.previous && flag.previous.tags.includes('locked')) return 'This flag is locked.'
          if (!flag.tags.some(tag => tag.startsWith('owner:'))) throw new Error('Flags need an owner tag.')
        }`)
      const refused = await s.post(flags(), { key: 'guarded' })
      expect([refused.status, refused.body.code]).toEqual([400, 'rejected_by_plugin'])
      expect(refused.body.detail).toBe(`p${plugin.plugin}: Flags need an owner tag.`)
      const made = await s.post(flags(), { key: 'guarded', tags: ['owner:me', 'locked'] })
      expect(made.status).toBe(201)
      const locked = await s.patch(`${flags()}${made.body.id}/`, { active: false })
      expect([locked.status, locked.body.detail]).toEqual([400, `p${plugin.plugin}: This flag is locked.`])
      expect((await s.get(`${flags()}${made.body.id}/`)).body.active).toBe(true)
      expect((await s.post(flags(), { key: 'bug' })).status).toBe(201)
      expect((await s.post(flags(), { key: 'slow' })).status).toBe(201)
      await expect.poll(plugin.messages).toContainEqual(expect.stringContaining('undefinedFunction'))
      await plugin.off()
      expect((await s.patch(`${flags()}${made.body.id}/`, { active: false })).status).toBe(200)
    })

    it('is not asked about a save that changes nothing', async () => {
      const { body: flag } = await s.post(flags(), { key: 'unowned', name: 'kept' })
      const plugin = await enable(`export const beforeFlagSave = () => 'Never.'`)
      const path = `${flags()}${flag.id}/`
      expect((await s.patch(path, { name: 'kept' })).body).toMatchObject({ name: 'kept', version: 1 })
      expect((await s.post(`${path}enable/`, {})).body).toMatchObject({ active: true, version: 1 })
      const bulk = await s.post(`${flags()}bulk_update/`, { ids: [flag.id], active: true })
      expect(bulk.body).toMatchObject({ updated: [{ id: flag.id, version: 1 }], errors: [] })
      expect((await s.patch(path, { name: 'other' })).body).toMatchObject({ code: 'rejected_by_plugin' })
      await plugin.off()
    })

    it('is called on every way to save a flag, once for each content', async () => {
      const { body: flag } = await s.post(flags(), { key: 'ways', name: 'first' })
      await s.patch(`${flags()}${flag.id}/`, { name: 'second' })
      const plugin = await enable(`export function beforeFlagSave(flag) {
        console.log('asked', flag.previous?.name, flag.name)
        if (flag.name === 'first') return 'Never again.'
      }`)
      const restored = await s.post(`${flags()}${flag.id}/restore/`, { version: 1 })
      expect([restored.status, restored.body.code]).toEqual([400, 'rejected_by_plugin'])
      expect((await s.patch(`${flags()}${flag.id}/`, { name: 'third' })).body).toMatchObject({
        name: 'third',
        version: 3,
      })
      await expect
        .poll(plugin.messages)
        .toEqual(['asked second first', 'Rejected a flag: Never again.', 'asked second third'])
      await plugin.off()
    })
  })

  describe('plugins that fail', () => {
    it('are switched off with a reason when they keep throwing', async () => {
      const plugin = await enable('export const processEvent = e => { throw new Error("always") }')
      for (let n = 0; n < 20; n += 1) await transform(pluginEvent('x'))
      await expect
        .poll(plugin.read)
        .toMatchObject({ enabled: false, error: { message: expect.stringContaining('always') } })
      const [entry] = (await s.get(`${s.organization}/plugins/activity/`)).body.results
      expect(entry).toMatchObject({ activity: 'disabled', user: { is_system: true } })
      expect(s.halyard.plugins.runtime.events.handles(await projectOf(s))).toBe(false)
      const again = await s.patch(plugin.path, { enabled: true })
      expect(again.body).toMatchObject({ enabled: true, error: null })
      await plugin.off()
    })

    it('are switched off at once when they cannot be set up', async () => {
      const plugin = await enable(
        'export const setupPlugin = () => { throw new Error("no way") }; export const processEvent = e => e',
      )
      expect((await transform(pluginEvent('x')))?.name).toBe('x')
      await expect
        .poll(plugin.read)
        .toMatchObject({ enabled: false, error: { message: 'setupPlugin failed: Error: no way' } })
    })
  })

  it('tears plugins down when they are switched off', async () => {
    const plugin = await enable(
      'export const processEvent = e => e; export const teardownPlugin = () => { console.log("bye") }',
    )
    await transform(pluginEvent('x'))
    await plugin.off()
    await expect.poll(plugin.messages).toEqual(['bye'])
  })

  it('runs the new code after a change of source', async () => {
    const plugin = await enable('export const processEvent = e => ({ ...e, event: "old" })')
    expect((await transform(pluginEvent('x')))?.name).toBe('old')
    const source = { 'index.ts': 'export const processEvent = e => ({ ...e, event: "new" })' }
    await s.patch(`${s.organization}/plugins/${plugin.plugin}/update_source/`, source)
    expect((await transform(pluginEvent('x')))?.name).toBe('new')
    await s.delete(`${s.organization}/plugins/${plugin.plugin}/`)
    expect(s.halyard.plugins.runtime.events.handles(await projectOf(s))).toBe(false)
  })
})
