import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type RegistryServer, startRegistryServer } from '../../../testing/registry-server.ts'
import { type Client, type Scenario, startScenario } from '../../../testing/scenario.ts'
import { secretMask } from '../package/config-values.ts'

const secret = 'TOPSECRET-4711'

onEachDatabase('a plugin setting that was secret once', dialect => {
  let s: Scenario
  let registry: RegistryServer
  beforeAll(async () => {
    registry = await startRegistryServer()
    s = await startScenario(dialect, { environment: { HALYARD_NPM_REGISTRY: registry.url } })
  })
  afterAll(async () => {
    await s.close()
    await registry.close()
  })

  const withFields = (fields: object[]) => JSON.stringify({ name: 'sealed', config: fields })
  const other = { key: 'host', type: 'string' }
  const token = { key: 'token', type: 'string', secret: true }

  async function makePlugin(source = 'export const onEvent = () => {}', body: object = {}) {
    const { id } = (await s.post(`${s.organization}/plugins/`, body)).body
    const files = { 'plugin.json': withFields([token, other]), 'index.ts': source }
    expect((await s.patch(`${s.organization}/plugins/${id}/update_source/`, files)).status).toBe(200)
    return id as number
  }

  const declare = (plugin: number, fields: object[]) =>
    s.patch(`${s.organization}/plugins/${plugin}/update_source/`, { 'plugin.json': withFields(fields) })

  async function configure(client: Client & { project: string }, plugin: number, body: object = {}) {
    const config = { token: secret, host: 'h' }
    const reply = await client.post(`${client.project}/plugin_configs/`, { plugin, config, ...body })
    expect(reply.status).toBe(201)
    return `${client.project}/plugin_configs/${reply.body.id}/`
  }

  /** All responses of the API about the configuration and its plugin. */
  async function shown(client: Client & { organization: string }, path: string, plugin: number): Promise<string> {
    const paths = [
      path,
      `${path}logs/?limit=1000`,
      `${client.organization}/plugins/${plugin}/`,
      `${client.organization}/plugins/activity/?limit=100`,
    ]
    const replies = await Promise.all(paths.map(each => client.get(each)))
    expect(replies.map(reply => reply.status)).toEqual(paths.map(() => 200))
    return replies.map(reply => reply.text).join('\n')
  }

  const stored = async () => {
    const db = s.halyard.storage.kysely
    const rows = [
      ...(await db.selectFrom('activity').select('detail as text').execute()),
      ...(await db.selectFrom('plugin_configs').select('config as text').execute()),
      ...(await db.selectFrom('plugin_logs').select('message as text').execute()),
    ]
    return rows.map(row => row.text).join('\n')
  }

  const laterManifests: [string, object[]][] = [
    ['drops the word secret', [{ ...token, secret: false }, other]],
    ['renames the field', [{ ...token, key: 'api_token' }, other]],
    ['removes the field', [other]],
  ]
  describe.each(laterManifests)('when the manifest %s', (_case, fields) => {
    it('stays masked, whatever is sent afterwards', async () => {
      const plugin = await makePlugin()
      const path = await configure(s, plugin)
      expect((await declare(plugin, fields)).status).toBe(200)
      for (const config of [{ host: 'i' }, { host: 'j', token: secretMask }, { host: 'k', token: secret }]) {
        expect((await s.patch(path, { config })).status).toBe(200)
        expect(await shown(s, path, plugin)).not.toContain(secret)
      }
      expect(await stored()).not.toContain(secret)
    })
  })

  it('is still passed to the plugin after `secret` was removed from the manifest, and masked in its log', async () => {
    const source = `export const jobs = { Show: (_, { config }) => { console.log('it is ' + config.token) } }`
    const plugin = await makePlugin(source)
    const path = await configure(s, plugin, { enabled: true })
    const manifest = { ...JSON.parse(withFields([{ ...token, secret: false }, other])), publicJobs: { Show: {} } }
    const files = { 'plugin.json': JSON.stringify(manifest) }
    expect((await s.patch(`${s.organization}/plugins/${plugin}/update_source/`, files)).status).toBe(200)
    expect((await s.patch(path, { config: { host: 'other' } })).status).toBe(200)
    expect((await s.post(`${path}job/`, { job: { type: 'Show' } })).status).toBe(200)
    await s.halyard.plugins.runtime.tick(instantOf(new Date(Date.now() + 60_000)))
    await expect.poll(async () => (await s.get(`${path}logs/`)).text).toContain(`it is ${secretMask}`)
    await s.patch(path, { enabled: false })
  })

  it('is masked in logged errors, in the error that disables the plugin, and in the error of a rejected flag', async () => {
    const source = `
      export const beforeFlagSave = (_, { config }) => { throw new Error('no flag with ' + config.token) }
      export const setupPlugin = ({ config }) => { if (config.host === 'bad') throw new Error('bad key ' + config.token) }`
    const plugin = await makePlugin(source)
    const path = await configure(s, plugin, { enabled: true })
    const rejected = await s.post(`${s.project}/feature_flags/`, { key: 'rejected' })
    expect([rejected.status, rejected.body.detail]).toEqual([400, `sealed: no flag with ${secretMask}`])
    await s.patch(path, { config: { host: 'bad' } })
    await s.post(`${s.project}/feature_flags/`, { key: 'passes' })
    await expect.poll(async () => (await s.get(path)).body.error?.message).toContain(`bad key ${secretMask}`)
    await expect.poll(async () => (await s.get(`${path}logs/`)).text).toContain(`bad key ${secretMask}`)
    expect(await shown(s, path, plugin)).not.toContain(secret)
    expect(await stored()).not.toContain(`bad key ${secret}`)
  })

  it('stays masked for organizations that use a global plugin which its owner upgrades', async () => {
    const publish = (version: string, fields: object[]) =>
      registry.publish('sealed-plugin', version, {
        'plugin.json': withFields(fields),
        'index.js': `exports.onEvent = () => ${version[0]}`,
      })
    publish('1.0.0', [token, other])
    const install = { url: 'https://www.npmjs.com/package/sealed-plugin', is_global: true }
    const { body: made, status } = await s.post(`${s.organization}/plugins/install/`, install)
    expect(status).toBe(201)
    const tenant = await s.stranger('tenant')
    const path = await configure(tenant, made.id)
    publish('2.0.0', [{ ...token, secret: false }, other])
    expect((await s.post(`${s.organization}/plugins/${made.id}/upgrade/`)).status).toBe(200)
    expect((await tenant.patch(path, { config: { host: 'before' } })).status).toBe(200)
    expect((await tenant.post(`${tenant.organization}/plugins/${made.id}/accept/`)).status).toBe(200)
    expect((await tenant.patch(path, { config: { host: 'after' } })).status).toBe(200)
    expect((await tenant.patch(path, { config: { host: 'last', token: '' } })).status).toBe(200)
    expect(await shown(tenant, path, made.id)).not.toContain(secret)
  })
})
