import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { packFiles, type RegistryServer, startRegistryServer } from '../../testing/registry-server.ts'
import { type Client, type Scenario, startScenario } from '../../testing/scenario.ts'

const kinds = (entries: { activity: string }[]) => entries.map(entry => entry.activity)

onEachDatabase('plugins', dialect => {
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

  const create = async (body: object = {}) => (await s.post(plugins, body)).body
  const activity = async () => (await s.get(`${plugins}activity/?limit=100`)).body.results

  describe('code that would crash the compiler', () => {
    const deep = `x = ${'['.repeat(1_000_000)}`
    const expected = { code: 'compile_error', detail: 'index.js: the code is nested deeper than 2000 levels.' }

    it('is a 400 in update_source, and the next source compiles', async () => {
      const { id } = await create()
      const reply = await s.patch(`${plugins}${id}/update_source/`, { 'index.js': deep })
      expect([reply.status, reply.body]).toEqual([400, expect.objectContaining({ ...expected, attr: 'index.js' })])
      expect((await s.get(`${plugins}${id}/source/`)).body.source).toEqual({})
      expect((await s.patch(`${plugins}${id}/update_source/`, { 'index.js': 'exports.a = 1' })).status).toBe(200)
    })

    it('is a 400 in a package, and the next package installs', async () => {
      const manifest = { name: 'deep' }
      registry.publish('deep-plugin', '1.0.0', { 'plugin.json': manifest, 'index.js': deep })
      const install = () => s.post(`${plugins}install/`, { url: 'https://www.npmjs.com/package/deep-plugin' })
      const reply = await install()
      expect([reply.status, reply.body]).toEqual([400, expect.objectContaining(expected)])
      registry.publish('deep-plugin', '1.0.1', { 'plugin.json': manifest, 'index.js': 'exports.a = 1' })
      expect((await install()).status).toBe(201)
    })
  })

  describe('4.4 POST create', () => {
    it('registers a plugin from an empty body', async () => {
      const reply = await s.post(plugins, {})
      expect(reply.status).toBe(201)
      expect(reply.body).toEqual({
        id: expect.any(Number),
        plugin_type: 'source',
        name: 'Untitled plugin',
        description: '',
        url: null,
        icon: null,
        config_schema: {},
        tag: null,
        latest_tag: null,
        is_global: false,
        organization_id: s.organization.split('/').pop(),
        organization_name: expect.any(String),
        capabilities: {},
        metrics: {},
        public_jobs: {},
      })
    })

    it('gives back exactly what was written', async () => {
      const body = {
        plugin_type: 'custom',
        name: 'round trip 🦔',
        description: 'lines\nand more',
        icon: 'https://x.test/i.png',
        config_schema: JSON.parse('{"a":{"type":"odd"},"__proto__":{"x":1},"":[null]}'),
        tag: 'v1',
        is_global: true,
        capabilities: { methods: ['x'], other: 1.5 },
        metrics: { sum: 'max' },
        public_jobs: { any: [true] },
      }
      const made = await create(body)
      const { body: read } = await s.get(`${plugins}${made.id}/`)
      expect(read).toEqual(made)
      expect(JSON.stringify(read.config_schema)).toBe(JSON.stringify(body.config_schema))
      expect(read).toMatchObject({ ...body, config_schema: {}, latest_tag: null, url: null })
    })

    it.each([
      [{ plugin_type: 'custom', name: '@posthog/geoip-plugin' }, 'https://www.npmjs.com/package/@posthog/geoip-plugin'],
      [{ plugin_type: 'custom', name: 'Not A Package' }, null],
      [{ plugin_type: 'local', name: 'my-folder' }, 'file:my-folder'],
      [{ plugin_type: 'source', name: 'x' }, null],
      [{ plugin_type: 'repository', name: 'GeoIP' }, 'https://www.npmjs.com/package/@posthog/geoip-plugin'],
      [{ plugin_type: 'repository', name: 'unknown' }, null],
      [{ plugin_type: 'custom', name: 'x', url: 'https://evil.test', id: 5 }, 'https://www.npmjs.com/package/x'],
    ])('finds the address of %j without any request', async (body, url) => {
      registry.requests.length = 0
      expect((await create(body)).url).toBe(url)
      expect(registry.requests).toEqual([])
    })

    it('fills omitted fields from the catalog', async () => {
      const made = await create({ plugin_type: 'repository', name: 'GeoIP' })
      expect(made.description).toMatch(/IP address/)
      const own = { plugin_type: 'repository', name: 'GeoIP', description: 'mine' }
      expect((await create(own)).description).toBe('mine')
    })

    it.each([
      [{ plugin_type: 'other' }, 'plugin_type', 'invalid_choice'],
      [{ plugin_type: 5 }, 'plugin_type', 'invalid_choice'],
      [{ name: '' }, 'name', 'blank'],
      [{ name: ' ' }, 'name', 'blank'],
      [{ name: null }, 'name', 'null'],
      [{ name: 5 }, 'name', 'invalid_input'],
      [{ name: 'x'.repeat(201) }, 'name', 'max_length'],
      [{ description: 5 }, 'description', 'invalid_input'],
      [{ icon: 5 }, 'icon', 'invalid_input'],
      [{ config_schema: [] }, 'config_schema', 'not_a_dict'],
      [{ config_schema: 'x' }, 'config_schema', 'not_a_dict'],
      [{ tag: 5 }, 'tag', 'invalid_input'],
      [{ is_global: 'yes' }, 'is_global', 'invalid_input'],
      [{ is_global: null }, 'is_global', 'null'],
      [{ capabilities: [] }, 'capabilities', 'not_a_dict'],
      [{ metrics: 1 }, 'metrics', 'not_a_dict'],
      [{ public_jobs: null }, 'public_jobs', 'null'],
    ])('refuses %j and stores nothing', async (body, attr, code) => {
      const { id } = await create()
      const before = (await s.get(plugins)).body.count
      for (const reply of [
        await s.post(plugins, body),
        await s.patch(`${plugins}${id}/`, body),
        await s.patch(`${plugins}${id}/update_source/`, { ...body, 'a.txt': 'x' }),
        await s.post(`${plugins}${id}/upgrade/`, body),
      ]) {
        expect([reply.status, reply.body]).toEqual([
          400,
          { type: 'validation_error', code, attr, detail: expect.any(String) },
        ])
      }
      expect((await s.get(plugins)).body.count).toBe(before)
      expect((await s.get(`${plugins}${id}/source/`)).body.source).toEqual({})
    })
  })

  describe('4.4 list, get, PATCH, DELETE', () => {
    it('pages through plugins by id', async () => {
      for (let i = 0; i < 3; i += 1) await create({ name: `page ${i}` })
      const all = (await s.get(`${plugins}?limit=1000`)).body
      const ids = all.results.map((plugin: { id: number }) => plugin.id)
      expect(ids).toEqual([...ids].sort((a, b) => a - b))
      const page = (await s.get(`${plugins}?limit=2&offset=1`)).body
      expect(page.count).toBe(all.count)
      expect(page.results).toEqual(all.results.slice(1, 3))
      expect(page.next).toContain('limit=2')
      expect(page.previous).toContain('limit=2')
    })

    it('changes only the sent fields, and records the changes', async () => {
      const made = await create({ name: 'before', description: 'same' })
      const reply = await s.patch(`${plugins}${made.id}/`, { name: 'after', unknown: 1, url: 'x', latest_tag: 'y' })
      expect(reply.body).toEqual({ ...made, name: 'after' })
      expect((await s.patch(`${plugins}${made.id}/`, {})).body).toEqual({ ...made, name: 'after' })
      const [entry] = await activity()
      expect(entry).toMatchObject({ activity: 'updated', scope: 'Plugin', item_id: String(made.id) })
      expect(entry.detail.changes).toEqual([
        { type: 'Plugin', action: 'changed', field: 'name', before: 'before', after: 'after' },
      ])
    })

    it('finds a new address when the type changes', async () => {
      const { id } = await create({ name: 'lodash' })
      const reply = await s.patch(`${plugins}${id}/`, { plugin_type: 'custom' })
      expect(reply.body.url).toBe('https://www.npmjs.com/package/lodash')
    })

    it('deletes for good, with an entry that stays', async () => {
      const { id } = await create({ name: 'gone' })
      const reply = await s.delete(`${plugins}${id}/`)
      expect([reply.status, reply.text]).toEqual([204, ''])
      expect((await s.get(`${plugins}${id}/`)).status).toBe(404)
      expect((await activity())[0]).toMatchObject({ activity: 'uninstalled', detail: { name: 'gone' } })
    })

    it('does not delete a global plugin before it is local again', async () => {
      const { id } = await create({ is_global: true })
      expect((await s.delete(`${plugins}${id}/`)).status).toBe(400)
      expect((await s.patch(`${plugins}${id}/`, { is_global: false })).status).toBe(200)
      expect((await s.delete(`${plugins}${id}/`)).status).toBe(204)
    })

    it.each(['999999', 'abc', '-1', '1e3', '99999999999999999999'])('knows no plugin %s', async id => {
      for (const reply of [
        await s.get(`${plugins}${id}/`),
        await s.patch(`${plugins}${id}/`, { name: 5 }),
        await s.delete(`${plugins}${id}/`),
        await s.get(`${plugins}${id}/check_for_updates/`),
        await s.get(`${plugins}${id}/source/`),
        await s.patch(`${plugins}${id}/update_source/`, {}),
        await s.post(`${plugins}${id}/upgrade/`, {}),
      ]) {
        expect([reply.status, reply.body.code]).toEqual([404, 'not_found'])
      }
    })

    it('keeps twenty parallel changes', async () => {
      const { id } = await create()
      const fields = ['description', 'icon', 'tag', 'name']
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => s.patch(`${plugins}${id}/`, { [fields[n % 4]!]: `value ${n % 4}` })),
      )
      const { body } = await s.get(`${plugins}${id}/`)
      expect(fields.map(field => body[field])).toEqual(['value 0', 'value 1', 'value 2', 'value 3'])
    })
  })

  describe('4.4 source', () => {
    const manifest = (json: object) => JSON.stringify(json)

    it('is written, read and deleted by file', async () => {
      const { id } = await create({ name: 'written' })
      const first = await s.patch(`${plugins}${id}/update_source/`, {
        'plugin.json': manifest({ name: 'From file', config: [{ key: 'a', type: 'string', secret: true }] }),
        'index.ts': 'export function processEvent(event: any) { return event }\nexport const jobs = { go() {} }',
        'lib/b.ts': 'export const b = 1',
      })
      expect(first.status).toBe(200)
      expect(first.body).toMatchObject({
        id,
        name: 'From file',
        config_schema: { a: { key: 'a', type: 'string', secret: true } },
        capabilities: { methods: ['processEvent'], scheduled_tasks: [], jobs: ['go'] },
      })
      expect(Object.keys(first.body.source)).toEqual(['index.ts', 'lib/b.ts', 'plugin.json'])
      const second = await s.patch(`${plugins}${id}/update_source/`, { 'lib/b.ts': null, 'gone.ts': null })
      expect(Object.keys(second.body.source)).toEqual(['index.ts', 'plugin.json'])
      expect((await s.get(`${plugins}${id}/source/`)).body).toEqual(second.body)
      const [entry, earlier] = await activity()
      expect(entry.detail.changes).toEqual([
        { type: 'Plugin', action: 'deleted', field: 'lib/b.ts', before: 'export const b = 1', after: null },
      ])
      expect(earlier.detail.changes.map((change: { field: string }) => change.field)).toContain('index.ts')
    })

    it('loses its capabilities when its code is removed, and keeps those stored without code', async () => {
      const { id } = await create({ capabilities: { said: true } })
      const text = await s.patch(`${plugins}${id}/update_source/`, { 'readme.md': 'Hello' })
      expect(text.body.capabilities).toEqual({ said: true })
      const code = await s.patch(`${plugins}${id}/update_source/`, { 'index.ts': 'export const onEvent = () => {}' })
      expect(code.body.capabilities).toEqual({ methods: ['onEvent'], scheduled_tasks: [], jobs: [] })
      const none = await s.patch(`${plugins}${id}/update_source/`, { 'index.ts': null })
      expect(none.body.capabilities).toEqual({})
    })

    it('applies plugin fields of the same request, which go before plugin.json', async () => {
      const { id } = await create()
      const reply = await s.patch(`${plugins}${id}/update_source/`, {
        name: 'body wins',
        description: 'from body',
        capabilities: { mine: 1 },
        latest_tag: 'ignored',
        organization_id: 'ignored',
        nonsense: 1,
        'plugin.json': manifest({ name: 'file', description: 'file' }),
        'index.js': 'exports.onEvent = () => {}',
      })
      expect(reply.body).toMatchObject({ name: 'body wins', description: 'from body', capabilities: { mine: 1 } })
      expect(reply.body.latest_tag).toBeNull()
      expect(Object.keys(reply.body.source)).toEqual(['index.js', 'plugin.json'])
    })

    it('leaves what plugin.json does not say, and what was patched, alone', async () => {
      const { id } = await create({ description: 'kept', icon: 'kept' })
      await s.patch(`${plugins}${id}/update_source/`, { 'plugin.json': manifest({ name: 'n' }) })
      await s.patch(`${plugins}${id}/`, { config_schema: { mine: 1 } })
      const reply = await s.patch(`${plugins}${id}/update_source/`, { 'index.js': 'exports.onEvent = () => {}' })
      expect(reply.body).toMatchObject({ name: 'n', description: 'kept', icon: 'kept', config_schema: { mine: 1 } })
    })

    it.each<[Record<string, unknown>, string, string]>([
      [{ 'index.ts': 'const a: = 1' }, 'index.ts', 'index.ts:1:10'],
      [{ 'index.ts': '\n\n  const <' }, 'index.ts', 'index.ts:3:9'],
      [{ 'frontend.tsx': 'export const a = <p>' }, 'frontend.tsx', 'frontend.tsx:1:'],
      [{ 'index.js': "import 'lodash'" }, 'index.js', 'lodash'],
      [{ 'plugin.json': '{' }, 'plugin.json', 'plugin.json:1:2: '],
      [{ 'plugin.json': '[]' }, 'plugin.json', 'object'],
      [{ 'plugin.json': '{"posthogVersion":">9"}' }, 'plugin.json', '1.43.0'],
      [{ 'plugin.json': '{"publicJobs":{"x":{}}}', 'index.js': '1' }, 'plugin.json', 'public job x'],
      [{ 'index.js': 'throw new Error("at load")' }, 'null', 'at load'],
      [{ 'index.js': 'while (true) {}' }, 'null', 'does not load'],
      [{ 'index.ts': 5 }, 'index.ts', 'string'],
      [{ 'index.ts': ['x'] }, 'index.ts', 'string'],
      [{ '../x.ts': '' }, '../x.ts', 'cannot have this name'],
      [{ '/etc/x.ts': '' }, '/etc/x.ts', 'cannot have this name'],
      [{ 'a\\b.ts': '' }, 'a\\b.ts', 'cannot have this name'],
      [{ 'a.txt': 'nul \u0000' }, 'a.txt', 'characters'],
      [{ 'big.txt': 'x'.repeat(1024 * 1024 + 1) }, 'big.txt', 'larger'],
    ])('refuses %j and stores nothing', async (files, attr, detail) => {
      const { id } = await create({ name: 'unharmed' })
      await s.patch(`${plugins}${id}/update_source/`, { 'a.txt': 'before' })
      const reply = await s.patch(`${plugins}${id}/update_source/`, { name: 'harmed', ...files })
      expect(reply.status).toBe(400)
      expect(String(reply.body.attr)).toBe(attr)
      expect(reply.body.detail).toContain(detail)
      const { body } = await s.get(`${plugins}${id}/source/`)
      expect([body.name, body.source]).toEqual(['unharmed', { 'a.txt': 'before' }])
    })

    it('accepts an empty body and no body', async () => {
      const made = await create({ name: 'still' })
      expect((await s.patch(`${plugins}${made.id}/update_source/`, {})).body).toEqual({ ...made, source: {} })
      expect((await s.send(`${plugins}${made.id}/update_source/`, { method: 'PATCH' })).status).toBe(200)
    })

    it('keeps every file of parallel writers', async () => {
      const { id } = await create()
      const names = Array.from({ length: 8 }, (_, n) => `file${n}.ts`)
      const replies = await Promise.all(names.map(name => s.patch(`${plugins}${id}/update_source/`, { [name]: '' })))
      expect(replies.map(reply => reply.status)).toEqual(names.map(() => 200))
      expect(Object.keys((await s.get(`${plugins}${id}/source/`)).body.source)).toEqual(names)
    })
  })

  describe('4.4 check_for_updates and upgrade', () => {
    const files = (name: string, method: string) => ({
      'plugin.json': { name, description: `${name} does it`, config: [{ key: method, type: 'string' }] },
      'index.js': `exports.${method} = () => {}`,
    })
    const publish = (packageName: string) => {
      registry.publish(packageName, '1.0.0', files('One', 'onEvent'))
      registry.publish(packageName, '2.0.0', files('Two', 'processEvent'))
    }

    it('finds the newest version without installing it', async () => {
      publish('@t/check')
      const made = await create({ plugin_type: 'custom', name: '@t/check' })
      const reply = await s.get(`${plugins}${made.id}/check_for_updates/`)
      const after = { ...made, latest_tag: '2.0.0' }
      expect(reply.body).toEqual({ ...after, plugin: after, update_available: true })
      expect((await s.get(`${plugins}${made.id}/`)).body).toEqual(after)
    })

    it('installs the newest, goes back to an older by tag, and forward again', async () => {
      publish('@t/up')
      const { id } = await create({ plugin_type: 'custom', name: '@t/up', description: 'mine' })
      const newest = await s.post(`${plugins}${id}/upgrade/`)
      expect(newest.status).toBe(200)
      expect(newest.body).toMatchObject({
        name: 'Two',
        plugin_type: 'custom',
        description: 'Two does it',
        tag: '2.0.0',
        latest_tag: '2.0.0',
        update_available: false,
        config_schema: { processEvent: { key: 'processEvent', type: 'string' } },
        capabilities: { methods: ['processEvent'], scheduled_tasks: [], jobs: [] },
      })
      const older = await s.post(`${plugins}${id}/upgrade/`, { tag: '1.0.0', name: 'no effect' })
      expect(older.body).toMatchObject({ name: 'One', tag: '1.0.0', latest_tag: '2.0.0', update_available: true })
      expect(Object.keys((await s.get(`${plugins}${id}/source/`)).body.source)).toEqual(['index.ts', 'plugin.json'])
      expect((await s.post(`${plugins}${id}/upgrade/`, {})).body.tag).toBe('2.0.0')
      const [entry] = await activity()
      expect(entry.activity).toBe('upgraded')
      expect(entry.detail.changes).toContainEqual({
        type: 'Plugin',
        action: 'changed',
        field: 'tag',
        before: '1.0.0',
        after: '2.0.0',
      })
    })

    it('names the failed step and keeps the old version', async () => {
      publish('@t/fail')
      const { id } = await create({ plugin_type: 'custom', name: '@t/fail' })
      await s.post(`${plugins}${id}/upgrade/`, { tag: '1.0.0' })
      const before = (await s.get(`${plugins}${id}/source/`)).body
      registry.publish('@t/fail', '3.0.0', files('x', 'y'), { integrity: 'sha512-AAAA' })
      registry.publish('@t/fail', '3.0.1', { 'plugin.json': { name: 'x' }, 'index.js': 'let a; let a' })
      registry.publish('@t/fail', '3.0.2', { 'plugin.json': { name: 'x' }, 'index.js': 'null.x' })
      registry.publish('@t/fail', '3.0.3', { 'index.js': '' })
      registry.publish('@t/fail', '3.0.4', { 'plugin.json': {}, 'index.js': '' })
      registry.publish('@t/fail', '3.0.5', packFiles({ '../../x': '' }))
      for (const [tag, code] of [
        ['9.9.9', 'lookup_failed'],
        ['3.0.0', 'download_failed'],
        ['3.0.1', 'compile_error'],
        ['3.0.2', 'load_error'],
        ['3.0.3', 'invalid_archive'],
        ['3.0.4', 'required'],
        ['3.0.5', 'invalid_archive'],
      ]) {
        const reply = await s.post(`${plugins}${id}/upgrade/`, { tag })
        expect([tag, reply.status, reply.body.code]).toEqual([tag, 400, code])
      }
      expect((await s.get(`${plugins}${id}/source/`)).body).toEqual(before)
    })

    it('warns when the registry cannot say', async () => {
      const made = await create({ plugin_type: 'custom', name: '@t/unknown' })
      const reply = await s.get(`${plugins}${made.id}/check_for_updates/`)
      expect(reply.status).toBe(200)
      expect(reply.body).toEqual({ ...made, plugin: made, update_available: null, warning: expect.any(String) })
      const nowhere = await create({ plugin_type: 'custom', name: 'No Package' })
      const none = await s.get(`${plugins}${nowhere.id}/check_for_updates/`)
      expect([none.status, none.body.update_available, typeof none.body.warning]).toEqual([200, null, 'string'])
      expect((await s.post(`${plugins}${nowhere.id}/upgrade/`)).status).toBe(400)
    })

    it('leaves a source plugin what it is, but looks at its code again', async () => {
      const made = await create({ name: 'in place', description: 'kept', capabilities: { written: 1 } })
      expect((await s.get(`${plugins}${made.id}/check_for_updates/`)).body.update_available).toBe(false)
      expect((await s.post(`${plugins}${made.id}/upgrade/`)).body).toMatchObject(made)
      await s.patch(`${plugins}${made.id}/update_source/`, { 'index.js': 'exports.onEvent = () => {}' })
      await s.patch(`${plugins}${made.id}/`, { capabilities: { written: 2 } })
      const after = (await s.post(`${plugins}${made.id}/upgrade/`)).body
      expect(after).toMatchObject({ description: 'kept', capabilities: { methods: ['onEvent'] } })
    })

    it('reads a local folder again, and only below the plugin directory', async () => {
      const { id } = await create({ plugin_type: 'local', name: '../../etc' })
      const reply = await s.post(`${plugins}${id}/upgrade/`)
      expect([reply.status, reply.body.code]).toEqual([400, 'lookup_failed'])
      expect((await s.get(`${plugins}${id}/check_for_updates/`)).status).toBe(200)
    })
  })

  describe('POST install', () => {
    it('installs in one step, once', async () => {
      registry.publish('@t/install', '1.0.0', {
        'plugin.json': { name: 'Installed' },
        'index.js': 'exports.onEvent=()=>{}',
      })
      const url = 'https://www.npmjs.com/package/@t/install'
      const reply = await s.post(`${plugins}install/`, { url: `${url}?private_token=s3cret` })
      expect(reply.status).toBe(201)
      expect(reply.body).toMatchObject({
        name: 'Installed',
        plugin_type: 'custom',
        url,
        tag: '1.0.0',
        latest_tag: '1.0.0',
      })
      expect(JSON.stringify((await s.get(plugins)).body)).not.toContain('s3cret')
      const again = await s.post(`${plugins}install/`, { url })
      expect([again.status, again.body.attr, again.body.code]).toEqual([400, 'url', 'unique'])
      expect((await activity())[0]).toMatchObject({ activity: 'installed', detail: { name: 'Installed' } })
    })

    it('installs one of many at the same time', async () => {
      registry.publish('@t/race', '1.0.0', { 'plugin.json': { name: 'Race' }, 'index.js': '' })
      const url = 'https://www.npmjs.com/package/@t/race'
      const replies = await Promise.all(Array.from({ length: 6 }, () => s.post(`${plugins}install/`, { url })))
      expect(replies.map(reply => reply.status).sort()).toEqual([201, 400, 400, 400, 400, 400])
    })

    it.each([
      [{}, 'url', 'required'],
      [{ url: '' }, 'url', 'blank'],
      [{ url: 5 }, 'url', 'invalid_input'],
      [{ url: 'https://evil.test/x' }, 'url', 'invalid_input'],
      [{ url: 'https://www.npmjs.com/package/@t/nothing' }, 'url', 'lookup_failed'],
      [{ url: 'file:../etc' }, 'url', 'lookup_failed'],
    ])('refuses %j and stores nothing', async (body, attr, code) => {
      const before = (await s.get(plugins)).body.count
      const reply = await s.post(`${plugins}install/`, body)
      expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, attr, code])
      expect((await s.get(plugins)).body.count).toBe(before)
    })
  })

  describe('4.4 activity, repository, unused', () => {
    it('returns the plugin shape with its content next to it', async () => {
      const { body } = await s.get(`${plugins}activity/?limit=2`)
      expect(body).toMatchObject({ id: 0, name: '', plugin_type: 'source', url: null, config_schema: {} })
      expect(body.results).toHaveLength(2)
      expect(body.count).toBe(body.total_count)
      expect(body.next).toContain('page=2')
    })

    it('has a catalog of plugins that can be registered by name', async () => {
      const { body } = await s.get(`${plugins}repository/`)
      expect(body.id).toBe(0)
      expect(body.results.length).toBeGreaterThanOrEqual(11)
      for (const entry of body.results) {
        const made = await create({ plugin_type: 'repository', name: entry.name })
        expect(made).toMatchObject({ url: entry.url, description: entry.description })
      }
    })

    it('lists unused plugins by id', async () => {
      const made = await create()
      const { body } = await s.get(`${plugins}unused/`)
      expect(body.id).toBe(0)
      expect(body.results).toContain(made.id)
      expect(body.results).toEqual([...body.results].sort((a: number, b: number) => a - b))
    })
  })

  describe('who may do what', () => {
    let member: Client
    let stranger: Client & { organization: string; project: string }
    beforeAll(async () => {
      member = await s.join('plugin-member')
      stranger = await s.stranger('plugin-stranger')
    })

    const attempts = async (client: Client, base: string, id: number) => ({
      list: (await client.get(base)).status,
      get: (await client.get(`${base}${id}/`)).status,
      source: (await client.get(`${base}${id}/source/`)).status,
      activity: (await client.get(`${base}activity/`)).status,
      repository: (await client.get(`${base}repository/`)).status,
      unused: (await client.get(`${base}unused/`)).status,
      create: (await client.post(base, { name: 5 })).status,
      install: (await client.post(`${base}install/`, {})).status,
      update: (await client.patch(`${base}${id}/`, { name: 5 })).status,
      updateSource: (await client.patch(`${base}${id}/update_source/`, { 'index.ts': 5 })).status,
      upgrade: (await client.post(`${base}${id}/upgrade/`, { tag: 5 })).status,
      remove: (await client.delete(`${base}${id}/`)).status,
    })
    const reads = (status: number) => ({
      list: status,
      get: status,
      source: status,
      activity: status,
      repository: status,
      unused: status,
    })
    const writes = (status: number) => ({
      create: status,
      install: status,
      update: status,
      updateSource: status,
      upgrade: status,
      remove: status,
    })

    it('lets members read and only admins write', async () => {
      const { id } = await create()
      expect(await attempts(member, plugins, id)).toEqual({ ...reads(200), ...writes(403) })
    })

    it('hides the organization from strangers and from requests without a key', async () => {
      const { id } = await create()
      expect(await attempts(stranger, plugins, id)).toEqual({ ...reads(404), ...writes(404) })
      expect(await attempts(s.as(undefined), plugins, id)).toEqual({ ...reads(401), ...writes(401) })
    })

    it('shows global plugins to every organization, read-only', async () => {
      const { id } = await create({ name: 'shared', is_global: true })
      const theirs = `${stranger.organization}/plugins/`
      expect((await stranger.get(theirs)).body.results.at(-1)).toMatchObject({ id, name: 'shared' })
      const got = await attempts(stranger, theirs, id)
      expect(got).toMatchObject({ ...reads(200), update: 403, updateSource: 403, upgrade: 403, remove: 403 })
      expect((await stranger.get(`${theirs}unused/`)).body.results).toEqual([])
      expect(kinds((await stranger.get(`${theirs}activity/`)).body.results)).toEqual([])
      await s.patch(`${plugins}${id}/`, { is_global: false })
      expect((await stranger.get(`${theirs}${id}/`)).status).toBe(404)
    })

    it.each([
      [0, reads(403), writes(403)],
      [3, reads(200), writes(403)],
    ])('keeps to access level %s', async (plugins_access_level, read, write) => {
      const { id } = await create()
      await s.patch(`${s.organization}/`, { plugins_access_level })
      expect(await attempts(s, plugins, id)).toEqual({ ...read, ...write })
      await s.patch(`${s.organization}/`, { plugins_access_level: 9 })
    })

    it('lets only root organizations share', async () => {
      const { id } = await create()
      await s.patch(`${s.organization}/`, { plugins_access_level: 6 })
      for (const reply of [
        await s.post(plugins, { is_global: true }),
        await s.patch(`${plugins}${id}/`, { is_global: false }),
        await s.patch(`${plugins}${id}/update_source/`, { is_global: true }),
        await s.post(`${plugins}install/`, { url: 'https://www.npmjs.com/package/@t/up', is_global: true }),
      ]) {
        expect(reply.status).toBe(403)
      }
      expect((await s.post(plugins, { is_global: false })).status).toBe(201)
      await s.patch(`${s.organization}/`, { plugins_access_level: 9 })
    })

    it('requires the scope of a key', async () => {
      const key = async (scope: string) => {
        const made = await s.post('/api/personal_api_keys/', { label: scope, scopes: [scope] })
        return s.as(made.body.value)
      }
      const reader = await key('plugin:read')
      const writer = await key('plugin:write')
      const other = await key('feature_flag:write')
      expect([(await reader.get(plugins)).status, (await reader.post(plugins, {})).status]).toEqual([200, 403])
      expect([(await writer.get(plugins)).status, (await writer.post(plugins, {})).status]).toEqual([200, 201])
      expect([(await other.get(plugins)).status, (await other.post(plugins, {})).status]).toEqual([403, 403])
    })
  })

  it('responds 405 to methods that the contract does not list', async () => {
    const { id } = await create()
    for (const [method, path] of [
      ['PUT', `${plugins}${id}/`],
      ['DELETE', plugins],
      ['POST', `${plugins}${id}/source/`],
      ['PATCH', `${plugins}${id}/upgrade/`],
    ] as const) {
      expect((await s.send(path, { method })).status).toBe(405)
    }
  })
})
