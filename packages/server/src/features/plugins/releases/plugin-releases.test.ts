import { beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import type { Client } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('releases of a global plugin', dialect => {
  const s = suiteScenario(dialect)
  let other: Client & { project: string; organization: string }
  beforeAll(async () => {
    other = await s.stranger('other')
  })

  const manifest = (extra: object = {}) => JSON.stringify({ name: 'shared', ...extra })
  const tags = (text: string) =>
    `export const processEvent = e => ({ ...e, properties: { ...e.properties, by: '${text}' } })`

  async function publish(source: string) {
    const { body } = await s.post(`${s.organization}/plugins/`, { is_global: true })
    const path = `/plugins/${body.id}/`
    await write(path, source)
    return { id: body.id as number, path }
  }

  const write = async (path: string, source: string, extra: object = {}) => {
    const files = { 'index.ts': source, 'plugin.json': manifest(extra) }
    expect((await s.patch(`${s.organization}${path}update_source/`, files)).status).toBe(200)
  }

  async function processedBy(client: { project: string }) {
    const id = Number(client.project.split('/').at(-1))
    const project = await s.halyard.database.read(tx => tx.projects.find(id))
    const event = {
      uuid: '01a1dd5c-4a05-79f8-af16-7dd175c73f78',
      name: 'x',
      distinctId: 'd',
      properties: {},
      at: instantOf(new Date()),
      ip: null,
    }
    return (await s.halyard.plugins.runtime.events.transform(project!, event))?.properties.by
  }

  const use = async (client: Client & { project: string }, plugin: number) => {
    const { status, body } = await client.post(`${client.project}/plugin_configs/`, { plugin, enabled: true })
    expect(status).toBe(201)
    return body
  }

  it('runs as it was accepted until another organization accepts the change', async () => {
    const { id, path } = await publish(tags('one'))
    const config = await use(other, id)
    await use(s, id)
    expect(config.update_available).toBe(false)
    const accepted = (await other.get(`${other.organization}${path}`)).body
    expect(accepted).toMatchObject({ update_available: false, organization_name: expect.any(String) })
    expect(accepted.accepted_release).toBe(accepted.release)

    await write(path, tags('two'))
    expect([await processedBy(s), await processedBy(other)]).toEqual(['two', 'one'])
    const changed = (await other.get(`${other.organization}${path}`)).body
    expect(changed).toMatchObject({ update_available: true, accepted_release: accepted.release })
    expect(changed.release).not.toBe(accepted.release)
    const listed = (await other.get(`${other.organization}/plugins/`)).body.results
    expect(listed.find((plugin: { id: number }) => plugin.id === id)).toMatchObject({ update_available: true })
    expect((await other.get(`${other.project}/plugin_configs/${config.id}/`)).body.update_available).toBe(true)
    // Its own configuration continues to run, and this accepts nothing.
    expect((await other.patch(`${other.project}/plugin_configs/${config.id}/`, { name: 'mine' })).status).toBe(200)
    expect((await other.patch(`${other.project}/plugin_configs/${config.id}/`, { enabled: true })).status).toBe(200)
    expect(await processedBy(other)).toBe('one')

    const review = (await other.get(`${other.organization}${path}release_changes/`)).body
    expect(review).toMatchObject({ release: changed.release, accepted_release: accepted.release, source_known: true })
    const source = (text: string) => expect.stringContaining(`by: '${text}'`)
    expect(review.changes).toEqual([
      expect.objectContaining({ field: 'index.ts', action: 'changed', before: source('one'), after: source('two') }),
    ])

    const stale = await other.post(`${other.organization}${path}accept/`, { release: accepted.release })
    expect(stale.status).toBe(409)
    const reply = await other.post(`${other.organization}${path}accept/`, { release: changed.release })
    expect([reply.status, reply.body]).toEqual([200, expect.objectContaining({ id, update_available: false })])
    expect(await processedBy(other)).toBe('two')
    const [entry] = (await other.get(`${other.organization}/plugins/activity/`)).body.results
    expect(entry).toMatchObject({ activity: 'release_accepted', item_id: String(id) })
  })

  it('does not gain hosts, settings or methods before the change is accepted', async () => {
    const { id, path } = await publish('export const onEvent = () => {}')
    const config = await use(other, id)
    const extra = { allowedHosts: ['evil.example'], config: [{ key: 'token', type: 'string', required: true }] }
    await write(path, 'export const beforeFlagSave = () => "no"', extra)
    expect((await other.post(`${other.project}/feature_flags/`, { key: `free-${id}` })).status).toBe(201)
    const grant = { allowed_hosts: ['evil.example'] }
    expect((await other.patch(`${other.project}/plugin_configs/${config.id}/`, grant)).status).toBe(400)
    const { changes } = (await other.get(`${other.organization}${path}release_changes/`)).body
    const fields = ['allowed_hosts', 'capabilities', 'config_schema', 'index.ts', 'plugin.json']
    expect(changes.map(({ field }: { field: string }) => field).sort()).toEqual(fields)
    expect((await other.post(`${other.organization}${path}accept/`)).status).toBe(200)
    expect((await other.get(`${other.organization}${path}release_changes/`)).body.changes).toEqual([])
    expect((await other.post(`${other.project}/feature_flags/`, { key: `bound-${id}` })).status).toBe(400)
    await other.patch(`${other.project}/plugin_configs/${config.id}/`, { enabled: false })
  })

  it('is pinned also when it is upgraded, and its description may change freely', async () => {
    const { id, path } = await publish(tags('kept'))
    const { id: config } = await use(other, id)
    await s.patch(`${s.organization}${path}`, { description: 'better' })
    expect((await other.get(`${other.project}/plugin_configs/${config}/`)).body.update_available).toBe(false)
    await s.patch(`${s.organization}${path}`, { capabilities: { methods: ['processEvent', 'onEvent'] } })
    expect((await other.get(`${other.project}/plugin_configs/${config}/`)).body.update_available).toBe(true)
    await other.patch(`${other.project}/plugin_configs/${config}/`, { enabled: false })
  })

  it('is accepted by admins only, and only where it is visible', async () => {
    const { path } = await publish(tags('x'))
    const member = await s.join('member')
    expect((await member.post(`${s.organization}${path}accept/`)).status).toBe(403)
    expect((await s.post(`${s.organization}${path}accept/`)).status).toBe(200)
    const { body: own } = await other.post(`${other.organization}/plugins/`, {})
    expect((await s.post(`${s.organization}/plugins/${own.id}/accept/`)).status).toBe(404)
    expect((await other.post(`${other.organization}${path}accept/`, { release: 5 })).status).toBe(400)
  })

  it('is published only by an organization of level 9', async () => {
    await other.patch(`${other.organization}/`, { plugins_access_level: 6 })
    expect((await other.post(`${other.organization}/plugins/`, { is_global: true })).status).toBe(403)
    const { body } = await other.post(`${other.organization}/plugins/`, {})
    expect((await other.patch(`${other.organization}/plugins/${body.id}/`, { is_global: true })).status).toBe(403)
  })
})
