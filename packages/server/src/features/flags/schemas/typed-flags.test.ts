import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import type { Client } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('typed flags', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
  })

  const size = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] }

  it('a payload schema is checked when the flag is saved, and the payloads when the schema is set', async () => {
    const filters = (payload: unknown) => ({ groups: [{}], payloads: { true: payload } })
    const { body: flag } = await s.post(flags, { key: 'sized', filters: filters('{"size":24}') })
    const own = `${flags}${flag.id}/`
    const path = `${own}payload_schema/`
    expect((await s.get(path)).body).toEqual({ flag_id: flag.id, flag_key: 'sized', schema: null, updated_at: null })
    const refused = await s.put(path, { schema: { type: 'string' } })
    expect([refused.status, refused.body.attr, refused.body.code]).toEqual([400, 'schema', 'payload_mismatch'])
    expect((await s.put(path, { schema: { format: 'date' } })).body.attr).toBe('schema')
    expect((await s.put(path, {})).body.attr).toBe('schema')
    expect((await s.put(path, { schema: size })).body).toMatchObject({ flag_key: 'sized', schema: size })
    expect((await s.get(`${s.project}/payload_schemas/`)).body.results).toMatchObject([
      { flag_id: flag.id, schema: size },
    ])

    const wrong = await s.patch(own, { filters: filters({ size: 'large' }) })
    expect(wrong.body).toMatchObject({ code: 'payload_mismatch', attr: 'filters' })
    expect(wrong.body.detail).toContain('filters.payloads.true.size')
    expect((await s.patch(own, { filters: filters({ size: 3 }) })).status).toBe(200)
    // Disabling a flag is always possible.
    expect((await s.patch(own, { active: false })).status).toBe(200)
    const [entry] = (await s.get(`${own}activity/`)).body.results.filter(
      ({ detail }: { detail: { changes: { field: string }[] } }) => detail.changes[0]?.field === 'payload_schema',
    )
    expect(entry.detail.changes[0]).toMatchObject({ before: null, after: size })

    const other = await s.stranger('other')
    expect((await other.get(path)).status).toBe(404)
    expect((await other.put(path, { schema: {} })).status).toBe(404)
    expect((await s.delete(path)).status).toBe(204)
    expect((await s.patch(own, { filters: filters('"any"') })).status).toBe(200)
    await s.patch(own, { deleted: true })
  })

  it('of a schema and a payload that contradict each other, set at once, one is refused', async () => {
    for (let round = 0; round < 5; round++) {
      const { body: flag } = await s.post(flags, { key: `race-${round}`, filters: { payloads: { true: 1 } } })
      const own = `${flags}${flag.id}/`
      const replies = await Promise.all([
        s.put(`${own}payload_schema/`, { schema: { type: 'number' } }),
        s.patch(own, { filters: { payloads: { true: '"text"' } } }),
      ])
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 400])
      await s.patch(own, { deleted: true })
    }
  })

  /** As the client of the OpenFeature CLI sends requests. */
  const cli = (client: Client, base = '') => {
    const headers = { accept: 'application/json', 'user-agent': 'openfeature-cli/sync' }
    return {
      pull: () => client.get(`${base}/openfeature/v0/manifest`, headers),
      push: (body: object) => client.post(`${base}/openfeature/v0/manifest/flags`, body, headers),
      put: (key: string, body: object) =>
        client.put(`${base}/openfeature/v0/manifest/flags/${encodeURIComponent(key)}`, body, headers),
      remove: (key: string) =>
        client.delete(`${base}/openfeature/v0/manifest/flags/${encodeURIComponent(key)}`, headers),
    }
  }

  it('the OpenFeature CLI pulls a manifest and pushes flags', async () => {
    const { pull, push, put, remove } = cli(s)
    const variants = [
      { key: 'control', rollout_percentage: 50 },
      { key: 'fast', rollout_percentage: 50 },
    ]
    await s.post(flags, { key: 'on', name: 'A switch' })
    await s.post(flags, { key: 'color', filters: { groups: [{}], multivariate: { variants }, default_value: 'fast' } })
    const pulled = await pull()
    expect(pulled.headers.get('x-manifest-capabilities')).toBe('read,write,delete')
    expect(pulled.body.flags).toEqual([
      { key: 'color', name: 'color', type: 'string', description: null, defaultValue: 'fast' },
      { key: 'on', name: 'on', type: 'boolean', description: 'A switch', defaultValue: false },
    ])
    const secret = (await s.post(`${s.project}/secret_keys/`, { label: 'ci' })).body.value
    const bySecret = await cli(s.as(secret)).pull()
    expect([bySecret.headers.get('x-manifest-capabilities'), bySecret.body]).toEqual(['read', pulled.body])

    const limit = { key: 'max/items', type: 'integer', defaultValue: 10, description: 'Items on a page' }
    const created = await push(limit)
    expect([created.status, created.body.flag]).toEqual([201, { ...limit, name: 'max/items' }])
    expect(created.body.updatedAt).toEqual(expect.any(String))
    expect((await push({ key: 'theme', type: 'object', defaultValue: { dark: true } })).status).toBe(201)
    expect((await push({ key: 'title', type: 'string', defaultValue: 'Hello' })).status).toBe(201)
    // Disabled until someone enables it: the default in the code applies.
    const stored = (await s.get(`${flags}?search=title`)).body.results[0]
    expect(stored).toMatchObject({ active: false, filters: { return_type: 'string', default_value: 'Hello' } })

    const changed = await put('max/items', { ...limit, defaultValue: 25, description: 'Rows' })
    expect([changed.status, changed.body.flag.defaultValue, changed.body.flag.description]).toEqual([200, 25, 'Rows'])
    const second = await cli(s, s.project).pull()
    expect(second.body.flags.map(({ key }: { key: string }) => key)).toEqual([
      'color',
      'max/items',
      'on',
      'theme',
      'title',
    ])

    const archived = await remove('theme')
    expect(archived.body).toEqual({ message: expect.stringContaining('theme'), archivedAt: expect.any(String) })
    expect((await pull()).body.flags).toHaveLength(4)
    expect((await cli(s, s.project).remove('title')).status).toBe(200)
  })

  it('the manifest API returns errors in the shape that the CLI reads', async () => {
    const { pull, push, put, remove } = cli(s)
    const seen = async (reply: ReturnType<typeof pull>) => {
      const { status, body } = await reply
      expect(body.error.status).toBe(status)
      expect(body.error.message).toEqual(expect.any(String))
      return [status, body.error.details?.[0].field]
    }
    const flag = { key: 'new', type: 'boolean', defaultValue: false }
    expect(await seen(cli(s.as(undefined)).pull())).toEqual([401, undefined])
    expect(await seen(cli(s.as('phx_wrong')).push(flag))).toEqual([401, undefined])
    const { body: reader } = await s.post('/api/personal_api_keys/', { label: 'ci', scopes: ['feature_flag:read'] })
    expect((await cli(s.as(reader.value)).pull()).headers.get('x-manifest-capabilities')).toBe('read')
    expect(await seen(cli(s.as(reader.value)).push(flag))).toEqual([403, undefined])
    expect(await seen(cli(s.as(reader.value)).put('on', { ...flag, key: 'on' }))).toEqual([403, undefined])
    expect(await seen(cli(s.as(reader.value)).remove('on'))).toEqual([403, undefined])
    expect(await seen(cli(s.as('phx_wrong')).put('on', { ...flag, key: 'on' }))).toEqual([401, undefined])
    expect(await seen(cli(s.as(undefined)).remove('on'))).toEqual([401, undefined])
    const { body: other } = await s.post('/api/personal_api_keys/', { label: 'other', scopes: ['plugin:read'] })
    expect(await seen(cli(s.as(other.value)).pull())).toEqual([403, undefined])
    expect(await seen(cli(s, '/api/projects/999999').pull())).toEqual([404, undefined])
    expect(await seen(push({ ...flag, key: '' }))).toEqual([400, 'key'])
    expect(await seen(push({ ...flag, type: 'date' }))).toEqual([400, 'type'])
    expect(await seen(push({ ...flag, defaultValue: 'no' }))).toEqual([400, 'defaultValue'])
    expect(await seen(push({ key: 'new', type: 'boolean' }))).toEqual([400, 'defaultValue'])
    expect(await seen(push({ ...flag, other: 1 }))).toEqual([400, 'other'])
    expect(await seen(push({ ...flag, key: 'on' }))).toEqual([409, 'key'])
    expect(await seen(push({ ...flag, key: 'theme' }))).toEqual([409, 'key'])
    expect(await seen(put('on', { ...flag, key: 'color' }))).toEqual([400, 'key'])
    expect(await seen(put('on', { key: 'on', type: 'string' }))).toEqual([409, 'type'])
    expect(await seen(put('theme', { key: 'theme', type: 'object' }))).toEqual([409, 'key'])
    expect(await seen(put('unknown', { key: 'unknown', type: 'boolean' }))).toEqual([404, undefined])
    expect(await seen(remove('theme'))).toEqual([409, 'key'])
    expect(await seen(remove('unknown'))).toEqual([404, undefined])
    const { body: base } = (await s.get(`${flags}?search=on`)) as { body: { results: { id: number; key: string }[] } }
    const id = String(base.results.find(({ key }) => key === 'on')!.id)
    const needs = [{ key: id, type: 'flag', operator: 'flag_evaluates_to', value: true }]
    await s.post(flags, { key: 'dependent', filters: { groups: [{ properties: needs }] } })
    expect(await seen(remove('on'))).toEqual([409, 'key'])
  })
})
