import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type RegistryServer, startRegistryServer } from '../../testing/registry-server.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

const files = (name: string) => ({ 'plugin.json': { name }, 'index.js': 'exports.onEvent = () => {}' })
const page = (name: string) => `https://www.npmjs.com/package/${name}`
const steps = ['look_up', 'download', 'unpack', 'compile', 'load', 'store'].map(step => ({ step }))

onEachDatabase('installing step by step', dialect => {
  let registry: RegistryServer
  let s: Scenario
  let plugins: string
  beforeAll(async () => {
    registry = await startRegistryServer()
    s = await startScenario(dialect, { environment: { HALYARD_NPM_REGISTRY: registry.url } })
    plugins = `${s.organization}/plugins/`
  })
  afterAll(async () => {
    await s.close()
    await registry.close()
  })

  const ask = (path: string, body: object, signal?: AbortSignal) =>
    fetch(s.url + plugins + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${s.key}`,
        accept: 'application/x-ndjson, application/json;q=0.5',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  const linesOf = async (response: Response) =>
    (await response.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
  const names = async () =>
    (await s.get(`${plugins}?limit=1000`)).body.results.map((each: { name: string }) => each.name)

  it('reports every step, and the response last', async () => {
    registry.publish('@t/steps', '1.0.0', files('Steps'))
    const response = await ask('install/', { url: page('@t/steps') })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
    const lines = await linesOf(response)
    const { body: stored } = await s.get(`${plugins}${lines.at(-1).body.id}/`)
    expect(lines).toEqual([...steps, { status: 201, body: stored }])
    expect(stored).toMatchObject({ name: 'Steps', tag: '1.0.0' })
  })

  it('reports those of an upgrade', async () => {
    registry.publish('@t/next', '1.0.0', files('Next'))
    const { body } = await s.post(`${plugins}install/`, { url: page('@t/next') })
    registry.publish('@t/next', '2.0.0', files('Next and better'))
    const lines = await linesOf(await ask(`${body.id}/upgrade/`, {}))
    expect(lines.slice(0, -1)).toEqual(steps)
    expect(lines.at(-1)).toMatchObject({ status: 200, body: { tag: '2.0.0', name: 'Next and better' } })
    const { results } = (await s.get(`${plugins}activity/?plugin=${body.id}`)).body
    expect(results.map((entry: { activity: string }) => entry.activity)).toEqual(['upgraded', 'installed'])
    expect(results[0].detail.changes).toContainEqual({
      type: 'Plugin',
      action: 'changed',
      field: 'plugin.json',
      before: '{"name":"Next"}',
      after: '{"name":"Next and better"}',
    })
  })

  it('says beforehand what an upgrade would change, and stores nothing', async () => {
    registry.publish('@t/look', '1.0.0', files('Look'))
    const { body } = await s.post(`${plugins}install/`, { url: page('@t/look') })
    registry.publish('@t/look', '2.0.0', { ...files('Look'), 'index.js': 'exports.processEvent = event => event' })
    const preview = await s.get(`${plugins}${body.id}/preview_upgrade/`)
    expect(preview.body).toMatchObject({ from: '1.0.0', to: '2.0.0' })
    expect(preview.body.changes).toContainEqual({
      type: 'Plugin',
      action: 'changed',
      field: 'index.ts',
      before: 'exports.onEvent = () => {}',
      after: 'exports.processEvent = event => event',
    })
    const fields = preview.body.changes.map(({ field }: { field: string }) => field)
    expect(fields).toEqual(['tag', 'capabilities', 'index.ts'])
    expect((await s.get(`${plugins}${body.id}/`)).body.tag).toBe('1.0.0')
    const same = await s.get(`${plugins}${body.id}/preview_upgrade/?tag=1.0.0`)
    expect(same.body).toEqual({ from: '1.0.0', to: '1.0.0', changes: [] })
    const member = await s.join('looker')
    expect((await member.get(`${plugins}${body.id}/preview_upgrade/`)).status).toBe(403)
  })

  it('ends with the problem at the step that failed', async () => {
    registry.publish('@t/broken', '1.0.0', { 'plugin.json': '{\n  "name": 1,,\n}', 'index.js': '' })
    const lines = await linesOf(await ask('install/', { url: page('@t/broken') }))
    expect(lines.slice(0, -1)).toEqual(steps.slice(0, 4))
    expect(lines.at(-1)).toMatchObject({ status: 400, body: { attr: 'plugin.json', code: 'compile_error' } })
    expect(lines.at(-1).body.detail).toMatch(/^plugin\.json:2:13: /)
  })

  it('responds at once to a request that is invalid from the start', async () => {
    const response = await ask('install/', { url: 'nonsense' })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ attr: 'url' })
  })

  it('cancels the download and stores nothing when the client disconnects', async () => {
    registry.publish('@t/slow', '1.0.0', files('Slow'))
    const held = new Promise<ServerResponse>(done => {
      registry.answer('/@t/slow/-/slow-1.0.0.tgz', (_request, response) => done(response))
    })
    const left = new Promise<void>(done => {
      s.halyard.app.server.once('request', (_request, response) => response.once('close', done))
    })
    const leaving = new AbortController()
    const response = await ask('install/', { url: page('@t/slow') }, leaving.signal)
    const download = await held
    leaving.abort()
    await response.text().catch(() => {})
    await left
    // The request to the registry is canceled as well.
    if (!download.destroyed) await once(download, 'close')
    registry.publish('@t/after', '1.0.0', files('After'))
    await linesOf(await ask('install/', { url: page('@t/after') }))
    expect(await names()).toContain('After')
    expect(await names()).not.toContain('Slow')
  })
})
