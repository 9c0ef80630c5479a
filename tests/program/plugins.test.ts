import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeZip } from '../../packages/server/src/testing/archive-builder.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { writeMmdb } from '../../packages/server/src/testing/mmdb-builder.ts'
import {
  archiveEntries,
  type PluginFiles,
  type RegistryServer,
  startRegistryServer,
} from '../../packages/server/src/testing/registry-server.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'

/** The built program loads archives, compiler, sandbox and databases of places from other files than the sources do. */

const files = (version: string): PluginFiles => ({
  'plugin.json': { name: `Version ${version}`, main: 'index.ts' },
  'index.ts': 'export function processEvent(event: any) { event.properties.seen = true; return event }',
})

const placePlugin: PluginFiles = {
  'plugin.json': { name: 'GeoIP' },
  'index.js': `export async function processEvent(event, { geoip }) {
    const place = await geoip.locate(event.ip)
    return { ...event, $set: { country: place?.country?.isoCode ?? 'unknown' } }
  }`,
}

onEachDatabase('plugins of the built program', dialect => {
  const places = writeMmdb({ '127.0.0.0/8': { country: { iso_code: 'SE' } } })
  let registry: RegistryServer
  let database: TestDatabase
  let server: ServerProcess
  let plugins: string
  let project: { id: number; api_token: string; organization: string }

  beforeAll(async () => {
    registry = await startRegistryServer()
    for (const version of ['1.0.0', '2.0.0']) registry.publish('@test/package', version, files(version))
    registry.publish('@posthog/geoip-plugin', '1.0.0', placePlugin)
    registry.answerJson('/repos/test/repository/commits', [{ sha: 'abc123' }])
    const zip = makeZip(archiveEntries(files('zip'), 'test-repository-abc123'))
    registry.answer('/repos/test/repository/zipball/abc123', (_request, response) => response.end(zip))
    database = await createTestDatabase(dialect)
    server = await start()
    project = (await send('GET', '/api/projects/')).body.results[0]
    plugins = `/api/organizations/${project.organization}/plugins/`
  })
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
    await registry?.close()
    places.remove()
  })

  const start = (environment: Record<string, string> = {}) =>
    startServer(database.url, {
      HALYARD_NPM_REGISTRY: registry.url,
      HALYARD_GITHUB_API: registry.url,
      HALYARD_GEOIP_DATABASE: places.path,
      ...environment,
    })

  async function send(method: string, path: string, body?: unknown) {
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: only what a test looks for is typed.
    return { status: response.status, body: (await response.json()) as any }
  }
  const install = (url: string) => send('POST', `${plugins}install/`, { url })

  it('installs a tar archive by its address and upgrades it', async () => {
    const installed = await install('https://www.npmjs.com/package/@test/package/v/1.0.0')
    expect(installed).toMatchObject({ status: 201, body: { name: 'Version 1.0.0', tag: '1.0.0' } })
    expect(installed.body.capabilities.methods).toEqual(['processEvent'])
    const upgraded = await send('POST', `${plugins}${installed.body.id}/upgrade/`, { tag: '2.0.0' })
    expect(upgraded).toMatchObject({ status: 200, body: { name: 'Version 2.0.0', tag: '2.0.0' } })
  })

  it('installs a zip archive by its address', async () => {
    const installed = await install('https://github.com/test/repository')
    expect(installed).toMatchObject({ status: 201, body: { name: 'Version zip', tag: 'abc123' } })
  })

  it('installs a plugin of the catalog, which looks addresses up in the GeoIP database', async () => {
    const created = await send('POST', plugins, { plugin_type: 'repository', name: 'GeoIP' })
    const installed = await send('POST', `${plugins}${created.body.id}/upgrade/`)
    expect(installed).toMatchObject({ status: 200, body: { tag: '1.0.0' } })
    const config = { plugin: created.body.id, enabled: true, order: 0 }
    expect((await send('POST', `/api/projects/${project.id}/plugin_configs/`, config)).status).toBe(201)
    const event = { event: 'visited', distinct_id: 'visitor', properties: {} }
    const countryOf = async () => {
      await send('POST', '/batch/', { api_key: project.api_token, batch: [event] })
      const persons = await send('GET', `/api/projects/${project.id}/persons/?distinct_id=visitor`)
      return persons.body.results[0]?.properties.country
    }
    await expect.poll(countryOf).toBe('SE')
  })

  it('names the step that fails because of the server, and keeps the plugin', async () => {
    registry.publish('@test/private', '1.0.0', files('1.0.0'))
    const url = 'https://www.npmjs.com/package/@test/private?private_token=secret'
    const installed = await install(url)
    expect(installed.status).toBe(201)
    await server.stop()
    server = await start({ HALYARD_SECRET_KEY: 'another key, which cannot decrypt the token' })
    const failed = await send('POST', `${plugins}${installed.body.id}/upgrade/`)
    expect(failed).toMatchObject({ status: 503, body: { code: 'look_up_failed', attr: null } })
    expect(failed.body.detail).toBe(
      'The version could not be looked up: the server failed. Nothing was changed; its log has the reason.',
    )
    expect((await send('GET', `${plugins}${installed.body.id}/`)).body.tag).toBe('1.0.0')
    expect(server.lines.filter(line => line.includes('request failed'))).toHaveLength(1)
  })
})
