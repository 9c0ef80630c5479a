import { beforeAll, describe, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import type { Client } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'
import { secretMask } from '../package/config-values.ts'

const manifest = {
  name: 'Configurable',
  config: [
    { markdown: 'Hello' },
    { key: 'host', type: 'string', required: true, default: 'https://x.test' },
    { key: 'token', type: 'string', secret: true },
    { key: 'mode', type: 'choice', choices: ['a', 'b'], default: 'a' },
    { key: 'data', type: 'json' },
    { key: 'file', type: 'attachment', required_if: [['mode', 'b']] },
  ],
  publicJobs: { Send: { payload: { text: { type: 'string', required: true }, note: { type: 'string' } } } },
  allowedHosts: ['api.x.test', '*.y.test'],
}
const code = 'export const jobs = { Send: async payload => console.log(payload.text), hidden() {} }'

onEachDatabase('plugin configurations', dialect => {
  const s = suiteScenario(dialect)
  let configs: string
  let pluginId: number
  beforeAll(async () => {
    configs = `${s.project}/plugin_configs/`
    pluginId = await makePlugin()
  })

  async function makePlugin(json: object = manifest, source = code): Promise<number> {
    const { body } = await s.post(`${s.organization}/plugins/`, { name: 'x' })
    const files = { 'plugin.json': JSON.stringify(json), 'index.ts': source }
    const reply = await s.patch(`${s.organization}/plugins/${body.id}/update_source/`, files)
    expect(reply.status).toBe(200)
    return body.id
  }
  const make = async (body: object = {}) => {
    const plugin = await makePlugin()
    return (await s.post(configs, { plugin, ...body })).body
  }
  const entries = async () => (await s.get(`${s.organization}/plugins/activity/?limit=50`)).body.results

  it('is created with defaults, disabled, in the last position', async () => {
    const reply = await s.post(configs, { plugin: pluginId })
    expect(reply.status).toBe(201)
    expect(reply.body).toEqual({
      id: expect.any(Number),
      plugin: pluginId,
      enabled: false,
      order: expect.any(Number),
      config: { host: 'https://x.test', mode: 'a' },
      error: null,
      team_id: s.projectId,
      plugin_info: null,
      delivery_rate_24h: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      name: null,
      description: null,
      deleted: false,
      allowed_hosts: [],
      update_available: false,
    })
    const one = await s.get(`${configs}${reply.body.id}/`)
    expect(one.body).toMatchObject({ ...reply.body, plugin_info: { id: pluginId, name: 'Configurable' } })
  })

  it('exists once per plugin: creating it again changes it', async () => {
    const first = await make({ config: { host: 'h', mode: 'a' }, name: 'mine' })
    const again = await s.post(configs, { plugin: first.plugin, enabled: true })
    expect(again.status).toBe(201)
    expect(again.body).toMatchObject({ id: first.id, enabled: true, name: 'mine', config: { host: 'h', mode: 'a' } })
  })

  it('never shows a secret, and keeps one that was not sent', async () => {
    const made = await make({ config: { host: 'h', token: 's3cret' } })
    expect(made.config).toEqual({ host: 'h', token: secretMask, mode: 'a' })
    const kept = await s.patch(`${configs}${made.id}/`, { config: { host: 'i', token: secretMask } })
    expect(kept.body.config).toEqual({ host: 'i', token: secretMask })
    const rows = await s.halyard.storage.kysely
      .selectFrom('plugin_configs')
      .selectAll()
      .where('id', '=', made.id)
      .execute()
    expect(JSON.stringify(rows)).not.toContain('s3cret')
    expect(rows[0]?.secrets).toMatch(/^v1:/)
    const loaded = s.halyard.plugins.secretBox.open(rows[0]!.secrets!, `plugin config ${s.projectId}/${made.plugin}`)
    expect(JSON.parse(loaded)).toEqual({ token: 's3cret' })
    const changed = await s.patch(`${configs}${made.id}/`, { config: { host: 'i', token: 'other' } })
    expect(changed.body.config.token).toBe(secretMask)
    const cleared = await s.patch(`${configs}${made.id}/`, { config: { host: 'i', token: '' } })
    expect(cleared.body.config.token).toBe('')
    expect(JSON.stringify(await entries())).not.toMatch(/s3cret|other/)
    expect((await entries())[0].detail.changes).toMatchObject([{ field: 'token', before: secretMask, after: '' }])
  })

  it.each([
    [{ enabled: true, config: { host: '' } }, 'config__host', 'required'],
    [{ config: { host: 5 } }, 'config__host', 'invalid_input'],
    [{ config: { host: 'h', mode: 'c' } }, 'config__mode', 'invalid_choice'],
    [{ config: { host: 'h', data: '{' } }, 'config__data', 'invalid_input'],
    [{ config: { host: 'h', mode: 'b' } }, 'config__file', 'required'],
    [{ config: [] }, 'config', 'not_a_dict'],
    [{ config: 'x' }, 'config', 'not_a_dict'],
    [{ enabled: 'yes' }, 'enabled', 'invalid_input'],
    [{ order: '1' }, 'order', 'invalid_input'],
    [{ order: 1.5 }, 'order', 'invalid_input'],
    [{ name: 'x'.repeat(401) }, 'name', 'max_length'],
    [{ description: 5 }, 'description', 'invalid_input'],
    [{ deleted: 1 }, 'deleted', 'invalid_input'],
    [{ allowed_hosts: ['evil.test'] }, 'allowed_hosts', 'invalid_choice'],
    [{ allowed_hosts: 'api.x.test' }, 'allowed_hosts', 'not_a_list'],
    [{ attachments: { nofile: { file_name: 'x', contents_base64: '' } } }, 'attachments', 'invalid_input'],
    [{ attachments: { file: { file_name: 'x', contents_base64: '%' } } }, 'attachments', 'invalid_input'],
  ])('refuses %j and stores nothing', async (body, attr, code) => {
    const made = await make()
    for (const reply of [
      await s.patch(`${configs}${made.id}/`, body),
      await s.post(configs, { plugin: made.plugin, ...body }),
    ]) {
      expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, attr, code])
    }
    expect((await s.get(`${configs}${made.id}/`)).body).toMatchObject({ ...made, plugin_info: {} })
  })

  it.each([[{}], [{ plugin: 'x' }], [{ plugin: 999999 }], [{ plugin: null }]])('needs a plugin: %j', async body => {
    expect((await s.post(configs, body)).body.attr).toBe('plugin')
  })

  it('keeps attachments apart', async () => {
    const file = { file_name: 'a.txt', content_type: 'text/plain', contents_base64: btoa('hello') }
    const made = await make({ enabled: true, config: { host: 'h', mode: 'b' }, attachments: { file } })
    const shown = { uid: expect.any(Number), saved: true, size: 5, name: 'a.txt', type: 'text/plain' }
    expect(made.config.file).toEqual(shown)
    const replaced = await s.patch(`${configs}${made.id}/`, { attachments: { file: { ...file, file_name: 'b.txt' } } })
    expect(replaced.body.config.file).toEqual({ ...made.config.file, name: 'b.txt' })
    expect((await s.patch(`${configs}${made.id}/`, { attachments: { file: null } })).body.attr).toBe('config__file')
    const removed = await s.patch(`${configs}${made.id}/`, { enabled: false, attachments: { file: null } })
    expect(removed.body.config.file).toBeUndefined()
    const kinds = (await entries()).slice(0, 4).map((entry: { activity: string }) => entry.activity)
    expect(kinds).toEqual(['disabled', 'attachment_deleted', 'attachment_updated', 'enabled'])
  })

  it('lists in order, and rearranges', async () => {
    const [a, b] = [await make({ order: 102 }), await make({ order: 101 })]
    const ids = async () =>
      (await s.get(`${configs}?limit=1000`)).body.results.map((one: { id: number }) => one.id).slice(-2)
    expect(await ids()).toEqual([b.id, a.id])
    const reply = await s.patch(`${configs}rearrange/`, { orders: { [a.plugin]: 201, [b.plugin]: 202 } })
    expect(reply.body.map((one: { order: number }) => one.order)).toEqual([201, 202])
    expect(await ids()).toEqual([a.id, b.id])
    const kinds = (await entries()).map((entry: { activity: string }) => entry.activity)
    expect(kinds.slice(0, 2)).toEqual(['order_changed', 'order_changed'])
    for (const orders of [{ 999999: 1 }, { x: 1 }, { [a.plugin]: 'x' }, undefined]) {
      expect((await s.patch(`${configs}rearrange/`, { orders })).status).toBe(400)
    }
  })

  it('is switched off by DELETE and by deleting, and comes back', async () => {
    const made = await make({ enabled: true })
    const gone = await s.delete(`${configs}${made.id}/`)
    expect([gone.status, gone.text]).toEqual([204, ''])
    expect((await s.get(`${configs}${made.id}/`)).body.enabled).toBe(false)
    await s.patch(`${configs}${made.id}/`, { enabled: true })
    const deleted = await s.patch(`${configs}${made.id}/`, { deleted: true })
    expect(deleted.body).toMatchObject({ deleted: true, enabled: false })
    const listed = (await s.get(`${configs}?limit=1000`)).body.results.map((one: { id: number }) => one.id)
    expect(listed).not.toContain(made.id)
    expect((await s.patch(`${configs}${made.id}/`, { enabled: true })).body).toMatchObject({
      deleted: false,
      enabled: true,
    })
  })

  it('determines which plugins are unused', async () => {
    const made = await make()
    const unused = async () => (await s.get(`${s.organization}/plugins/unused/`)).body.results
    expect(await unused()).toContain(made.plugin)
    await s.patch(`${configs}${made.id}/`, { enabled: true })
    expect(await unused()).not.toContain(made.plugin)
    await s.patch(`${configs}${made.id}/`, { enabled: false })
    expect(await unused()).toContain(made.plugin)
  })

  it('writes nothing when nothing changes', async () => {
    const made = await make({ config: { host: 'h', token: 't' } })
    const count = (await entries()).length
    const reply = await s.patch(`${configs}${made.id}/`, { config: made.config, enabled: false })
    expect(reply.body).toEqual(made)
    expect(await entries()).toHaveLength(count)
  })

  it('starts public jobs, and only those', async () => {
    const made = await make({ enabled: true })
    const job = (body: unknown) => s.post(`${configs}${made.id}/job/`, body)
    for (const body of [
      {},
      { job: {} },
      { job: { type: '' } },
      { job: { type: 'none' } },
      { job: { type: 'hidden' } },
      { job: { type: 'Send' } },
      { job: { type: 'Send', payload: { text: 'x', other: 1 } } },
      { job: { type: 'Send', payload: 'x' } },
    ]) {
      expect((await job(body)).status).toBe(400)
    }
    const started = await job({ job: { type: 'Send', payload: { text: 'hello job' } } })
    expect([started.status, started.text]).toEqual([200, ''])
    const jobs = async () => (await s.get(`${configs}${made.id}/jobs/`)).body
    const due = expect.stringMatching(/Z$/)
    expect(await jobs()).toMatchObject({
      count: 1,
      results: [{ name: 'Send', kind: 'job', state: 'waiting', attempts: 0, run_at: due, created_at: due }],
    })
    await s.halyard.plugins.runtime.tick(instantOf(new Date()))
    const logs = async () => (await s.get(`${configs}${made.id}/logs/`)).body
    await expect.poll(async () => (await logs()).results[0]?.message).toBe('hello job')
    await expect.poll(jobs).toMatchObject({ count: 0, results: [] })
    expect((await logs()).results[0]).toMatchObject({ source: 'CONSOLE', type: 'LOG', plugin_config_id: made.id })
    expect((await entries())[0]).toMatchObject({ activity: 'job_triggered', detail: { trigger: { job_type: 'Send' } } })
    await s.patch(`${configs}${made.id}/`, { enabled: false })
    expect((await job({ job: { type: 'Send', payload: { text: 'x' } } })).status).toBe(400)
  })

  it.each(['999999', 'abc', '-1'])('knows no configuration %s', async id => {
    for (const reply of [
      await s.get(`${configs}${id}/`),
      await s.patch(`${configs}${id}/`, { order: 'x' }),
      await s.delete(`${configs}${id}/`),
      await s.post(`${configs}${id}/job/`, {}),
      await s.get(`${configs}${id}/logs/`),
      await s.get(`${configs}${id}/metrics/`),
      await s.get(`${configs}${id}/jobs/`),
    ]) {
      expect(reply.status).toBe(404)
    }
  })

  describe('who may do what', () => {
    let member: Client
    let stranger: Client & { project: string; organization: string }
    beforeAll(async () => {
      member = await s.join('config-member')
      stranger = await s.stranger('config-stranger')
    })

    it('lets members read and only admins write', async () => {
      const made = await make()
      expect((await member.get(configs)).status).toBe(200)
      expect((await member.get(`${configs}${made.id}/logs/`)).status).toBe(200)
      for (const reply of [
        await member.post(configs, { plugin: made.plugin }),
        await member.patch(`${configs}${made.id}/`, { order: 'x' }),
        await member.delete(`${configs}${made.id}/`),
        await member.patch(`${configs}rearrange/`, {}),
        await member.post(`${configs}${made.id}/job/`, {}),
      ]) {
        expect(reply.status).toBe(403)
      }
      expect((await stranger.get(configs)).status).toBe(404)
      expect((await s.as(undefined).get(configs)).status).toBe(401)
    })

    it('lets a project configure only what its organization can see', async () => {
      const plugin = await makePlugin()
      const theirs = `${stranger.project}/plugin_configs/`
      expect((await stranger.post(theirs, { plugin })).body).toMatchObject({ code: 'does_not_exist', attr: 'plugin' })
      await s.patch(`${s.organization}/plugins/${plugin}/`, { is_global: true })
      const made = await stranger.post(theirs, { plugin, enabled: true })
      expect(made.status).toBe(201)
      await s.patch(`${s.organization}/plugins/${plugin}/`, { is_global: false })
      expect((await stranger.get(`${stranger.organization}/plugins/${plugin}/`)).status).toBe(200)
      expect((await stranger.get(`${theirs}${made.body.id}/`)).status).toBe(200)
      expect((await s.get(`${configs}${made.body.id}/`)).status).toBe(404)
    })

    it('is closed to organizations without plugins', async () => {
      await s.patch(`${s.organization}/`, { plugins_access_level: 0 })
      expect((await s.get(configs)).status).toBe(403)
      expect((await s.post(configs, { plugin: pluginId })).status).toBe(403)
      await s.patch(`${s.organization}/`, { plugins_access_level: 9 })
    })
  })
})
