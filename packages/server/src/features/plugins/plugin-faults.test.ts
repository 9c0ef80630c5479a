import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import { type RegistryServer, startRegistryServer } from '../../testing/registry-server.ts'
import { type Reply, type Scenario, startScenario } from '../../testing/scenario.ts'

/** Every writing request about plugins, with its first, second, third … statement failing: nothing is torn. */

const statementsMax = 80
const tables = ['plugins', 'plugin_files', 'plugin_code', 'plugin_configs', 'plugin_attachments', 'plugin_jobs']
tables.push('plugin_flag_cursors', 'activity', 'changes')

onEachDatabase('plugins when the database fails', dialect => {
  const injector = createFaultInjector()
  let registry: RegistryServer
  let s: Scenario
  let plugins: string
  let configs: string
  let sourceId: number
  let packageId: number
  let configId: number
  let counter = 0
  beforeAll(async () => {
    registry = await startRegistryServer()
    const files = (name: string) => ({ 'plugin.json': { name }, 'index.js': `exports.onFlagChange = () => '${name}'` })
    for (const version of ['1.0.0', '2.0.0']) registry.publish('@t/up', version, files(version))
    for (let n = 0; n < statementsMax; n += 1) registry.publish(`@t/i${n}`, '1.0.0', files(`i${n}`))
    s = await startScenario(dialect, { storage: injector, environment: { HALYARD_NPM_REGISTRY: registry.url } })
    plugins = `${s.organization}/plugins/`
    configs = `${s.project}/plugin_configs/`
    sourceId = (await s.post(plugins, { name: 'source' })).body.id
    packageId = (await s.post(plugins, { plugin_type: 'custom', name: '@t/up' })).body.id
    const json = { config: [{ key: 'a', type: 'string', secret: true }], publicJobs: { go: {} } }
    const source = { 'plugin.json': JSON.stringify(json), 'index.js': 'exports.jobs = { go() {} }' }
    await s.patch(`${plugins}${sourceId}/update_source/`, source)
    configId = (await s.post(configs, { plugin: sourceId, enabled: true })).body.id
  })
  afterAll(async () => {
    await s.close()
    await registry.close()
  })

  it('refuses a source with a conflict when the plugin keeps changing while it is compiled', async () => {
    const { pluginBuilder } = s.halyard.plugins
    const compile = pluginBuilder.compile.bind(pluginBuilder)
    let changes = 0
    const contended = vi.spyOn(pluginBuilder, 'compile').mockImplementation(async (name, files) => {
      const ready = await compile(name, files)
      await s.patch(`${plugins}${sourceId}/`, { description: `change ${++changes}` })
      return ready
    })
    try {
      const before = (await s.get(`${plugins}${sourceId}/source/`)).body.source
      const reply = await s.patch(`${plugins}${sourceId}/update_source/`, { 'more.ts': 'export const more = 1' })
      expect([reply.status, changes]).toEqual([409, 10])
      const { body } = await s.get(`${plugins}${sourceId}/source/`)
      expect([body.source, body.description]).toEqual([before, 'change 10'])
    } finally {
      contended.mockRestore()
    }
  })

  async function everything(): Promise<Record<string, string>> {
    const prints = tables.map(async name => {
      const { rows } = await sql.raw(`select * from ${name} order by 1, 2`).execute(s.halyard.storage.kysely)
      return [name, createHash('sha1').update(JSON.stringify(rows)).digest('hex').slice(0, 12)]
    })
    return Object.fromEntries(await Promise.all(prints))
  }

  const writes: [string, () => Promise<Reply>][] = [
    ['register', () => s.post(plugins, { name: `n${counter++}` })],
    ['update', () => s.patch(`${plugins}${sourceId}/`, { description: `d${counter++}` })],
    ['update the source', () => s.patch(`${plugins}${sourceId}/update_source/`, { 'a.txt': `t${counter++}` })],
    ['upgrade', () => s.post(`${plugins}${packageId}/upgrade/`, { tag: `${(counter++ % 2) + 1}.0.0` })],
    ['check for updates', () => s.get(`${plugins}${packageId}/check_for_updates/`)],
    [
      'install',
      () => s.post(`${plugins}install/`, { url: `https://www.npmjs.com/package/@t/i${counter++ % statementsMax}` }),
    ],
    ['configure', () => s.post(configs, { plugin: packageId, enabled: true, name: `c${counter++}` })],
    [
      'change a configuration',
      () => s.patch(`${configs}${configId}/`, { config: { a: `s${counter++}` }, order: counter }),
    ],
    ['rearrange', () => s.patch(`${configs}rearrange/`, { orders: { [sourceId]: counter++, [packageId]: counter } })],
    ['start a job', () => s.post(`${configs}${configId}/job/`, { job: { type: 'go' } })],
    ['switch off', () => s.delete(`${configs}${configId}/`)],
    ['uninstall', () => s.delete(`${plugins}${sourceId}/`)],
  ]

  it.each(writes)('%s: all or nothing', async (_title, write) => {
    for (let n = 1; n <= statementsMax; n += 1) {
      const before = await everything()
      injector.failAt(n)
      const { status } = await write()
      const wasReached = injector.disarm()
      if (!wasReached || status < 500) {
        expect(status).toBeLessThan(300)
        return
      }
      expect(await everything(), `after statement ${n} failed`).toEqual(before)
    }
    throw new Error(`It takes more than ${statementsMax} statements.`)
  })
})
