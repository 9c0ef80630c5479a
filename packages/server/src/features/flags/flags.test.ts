import { beforeAll, describe, expect, it } from 'vitest'
import type { Authorization } from '../../domain/authorization.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('flags', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
  })

  describe('4.2 POST create', () => {
    it('creates a flag that is enabled for everyone from a key alone', async () => {
      const reply = await s.post(flags, { key: 'minimal' })
      expect(reply.status).toBe(201)
      expect(reply.body).toMatchObject({
        key: 'minimal',
        name: '',
        active: true,
        deleted: false,
        filters: { groups: [{ properties: [], rollout_percentage: null }] },
        is_simple_flag: true,
        rollout_percentage: 100,
        rollback_conditions: {},
        performed_rollback: false,
        can_edit: true,
        tags: [],
        version: 1,
        created_by: { email: 'owner@halyard.local' },
      })
    })

    it('gives back exactly what was written', async () => {
      const body = {
        key: 'round trip/ü 🦔',
        name: 'A description\nwith lines',
        filters: JSON.parse('{"groups":[],"custom":{"__proto__":{"a":[1,null,1.5,"x"]}},"":0}'),
        active: false,
        deleted: false,
        created_at: '2021-08-25T22:09:14.252123+02:00',
        ensure_experience_continuity: true,
        rollback_conditions: { any: { thing: [true] } },
        performed_rollback: true,
        tags: ['b', 'a', 1, { c: null }, ['d'], 'b'],
        has_enriched_analytics: true,
      }
      const made = await s.post(flags, body)
      expect(made.status).toBe(201)
      const { body: read } = await s.get(`${flags}${made.body.id}/`)
      expect(JSON.stringify(read.filters)).toBe(JSON.stringify(body.filters))
      expect(read).toMatchObject({ ...body, filters: {}, created_at: '2021-08-25T20:09:14.252123Z' })
    })

    it.each([
      [{}, 'key', 'required'],
      [{ key: null }, 'key', 'null'],
      [{ key: '' }, 'key', 'blank'],
      [{ key: '  ' }, 'key', 'blank'],
      [{ key: 5 }, 'key', 'invalid_input'],
      [{ key: 'x'.repeat(401) }, 'key', 'max_length'],
      [{ key: 'a\nb' }, 'key', 'invalid_input'],
      [{ key: 'k', name: null }, 'name', 'null'],
      [{ key: 'k', name: 'a\u0000b' }, 'name', 'invalid_input'],
      [{ key: 'k', filters: [] }, 'filters', 'not_a_dict'],
      [{ key: 'k', filters: null }, 'filters', 'null'],
      [{ key: 'k', active: 'true' }, 'active', 'invalid_input'],
      [{ key: 'k', deleted: 1 }, 'deleted', 'invalid_input'],
      [{ key: 'k', created_at: 'yesterday' }, 'created_at', 'invalid_input'],
      [{ key: 'k', created_at: '2024-02-30T00:00:00Z' }, 'created_at', 'invalid_input'],
      [{ key: 'k', tags: 'a' }, 'tags', 'not_a_list'],
      [{ key: 'k', analytics_dashboards: ['a'] }, 'analytics_dashboards', 'incorrect_type'],
      [{ key: 'k', analytics_dashboards: [999999] }, 'analytics_dashboards', 'does_not_exist'],
      [{ key: 'k', rollback_conditions: [] }, 'rollback_conditions', 'not_a_dict'],
    ])('refuses %j and stores nothing', async (body, attr, code) => {
      const before = (await s.get(flags)).body.count
      const reply = await s.post(flags, body)
      expect(reply.status).toBe(400)
      expect(reply.body).toEqual({ type: 'validation_error', code, attr, detail: expect.any(String) })
      expect((await s.get(flags)).body.count).toBe(before)
    })

    it.each([
      [{ groups: [{ rollout_percentage: 101 }] }],
      [{ groups: [{ properties: [{ key: 'a', value: 'b', operator: 'nope', type: 'person' }] }] }],
      [{ groups: [{ properties: [{ key: 'a', value: '(', operator: 'regex', type: 'person' }] }] }],
      [{ groups: [{ properties: [{ key: 'id', value: 12345, type: 'cohort' }] }] }],
      [{ groups: [{}], multivariate: { variants: [{ key: 'a', rollout_percentage: 50 }] } }],
      [{ groups: [{ variant: 'nope' }] }],
      [{ groups: 'all' }],
    ])('refuses filters that cannot be evaluated: %j', async filters => {
      const reply = await s.post(flags, { key: 'bad-filters', filters })
      expect(reply.status).toBe(400)
      expect(reply.body.attr).toBe('filters')
      expect(reply.body.detail).toMatch(/filters/)
    })

    it('accepts exactly one of twenty parallel creations of a key', async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, () => s.post(flags, { key: 'race' })))
      expect(replies.filter(reply => reply.status === 201)).toHaveLength(1)
      for (const reply of replies.filter(other => other.status !== 201)) {
        expect(reply.body).toMatchObject({ code: 'unique', attr: 'key' })
      }
    })

    it('reads malformed bodies as what they are', async () => {
      const json = { 'content-type': 'application/json' }
      const broken = await s.send(flags, { method: 'POST', headers: json, body: '{"key":' })
      expect([broken.status, broken.body.code]).toEqual([400, 'parse_error'])
      const list = await s.send(flags, { method: 'POST', headers: json, body: '[]' })
      expect([list.status, list.body.code]).toEqual([400, 'invalid_input'])
      const form = await s.send(flags, { method: 'POST', headers: { 'content-type': 'text/csv' }, body: 'key' })
      expect([form.status, form.body.code]).toEqual([415, 'unsupported_media_type'])
      const mangled = Buffer.concat([Buffer.from('{"key":"'), Buffer.from([0xff]), Buffer.from('"}')])
      const encoded = await s.send(flags, { method: 'POST', headers: json, body: mangled })
      expect([encoded.status, encoded.body.code]).toEqual([400, 'parse_error'])
      const deep = await s.send(flags, { method: 'POST', headers: json, body: `${'['.repeat(200)}${']'.repeat(200)}` })
      expect(deep.status).toBe(400)
      for (const number of ['9007199254740993', '1e999', '-123456789012345678901']) {
        const body = `{"key": "numbers", "filters": {"groups": [], "n": ${number}, "text": "${number}"}}`
        const rounded = await s.send(flags, { method: 'POST', headers: json, body })
        expect([rounded.status, rounded.body.code]).toEqual([400, 'parse_error'])
      }
    })
  })

  describe('4.2 PATCH', () => {
    it('never creates a circular dependency in parallel requests', async () => {
      for (let round = 0; round < 10; round++) {
        const ids: number[] = []
        for (const name of ['a', 'b']) ids.push((await s.post(flags, { key: `circle-${name}-${round}` })).body.id)
        const [a, b] = ids as [number, number]
        const on = (id: number) => ({ key: String(id), value: true, operator: 'flag_evaluates_to', type: 'flag' })
        const need = (id: number, other: number) =>
          s.patch(`${flags}${id}/`, { filters: { groups: [{ properties: [on(other)] }] } })
        const statuses = (await Promise.all([need(a, b), need(b, a)])).map(reply => reply.status)
        expect(statuses.sort()).toEqual([200, 400])
      }
    })

    it('changes only the sent fields, and records the changes', async () => {
      const { body: flag } = await s.post(flags, { key: 'patched', name: 'one', tags: ['x'] })
      const reply = await s.patch(`${flags}${flag.id}/`, { name: 'two', unknown: 1, id: 99, can_edit: false })
      expect(reply.status).toBe(200)
      expect(reply.body).toEqual({ ...flag, name: 'two', version: 2 })
      const { body } = await s.get(`${flags}${flag.id}/activity/`)
      expect(body.results.map((entry: { activity: string }) => entry.activity)).toEqual(['updated', 'created'])
      expect(body.results[0].detail.changes).toEqual([
        { type: 'FeatureFlag', action: 'changed', field: 'name', before: 'one', after: 'two' },
      ])
      expect(body.results[0].user.email).toBe('owner@halyard.local')
    })

    it('writes nothing when nothing changes', async () => {
      const { body: flag } = await s.post(flags, { key: 'unchanged' })
      expect((await s.patch(`${flags}${flag.id}/`, {})).body).toEqual(flag)
      expect((await s.patch(`${flags}${flag.id}/`, { key: 'unchanged', active: true })).body.version).toBe(1)
    })

    it('keeps twenty parallel changes of different fields', async () => {
      const { body: flag } = await s.post(flags, { key: 'parallel' })
      const patches = Array.from(
        { length: 20 },
        (_, n) =>
          [
            { name: `n${n}` },
            { tags: [n] },
            { active: false },
            { rollback_conditions: { n } },
            { has_enriched_analytics: true },
          ][n % 5],
      )
      const replies = await Promise.all(patches.map(patch => s.patch(`${flags}${flag.id}/`, patch)))
      expect(replies.map(reply => reply.status)).toEqual(patches.map(() => 200))
      const { body } = await s.get(`${flags}${flag.id}/`)
      expect(body).toMatchObject({ active: false, has_enriched_analytics: true })
      expect(body.name).not.toBe('')
      expect(body.tags).toHaveLength(1)
      expect(body.rollback_conditions).toHaveProperty('n')
    })

    it('deletes softly, frees the key, and restores only while the key is free', async () => {
      const { body: first } = await s.post(flags, { key: 'comes-and-goes' })
      expect((await s.patch(`${flags}${first.id}/`, { deleted: true })).body.deleted).toBe(true)
      expect((await s.get(`${flags}${first.id}/`)).status).toBe(200)
      const listed = (await s.get(`${flags}?search=comes-and-goes`)).body.results
      expect(listed).toEqual([])
      expect((await s.get(`${flags}?search=comes-and-goes&deleted=true`)).body.count).toBe(1)
      const second = await s.post(flags, { key: 'comes-and-goes' })
      expect(second.status).toBe(201)
      const refused = await s.patch(`${flags}${first.id}/`, { deleted: false })
      expect([refused.status, refused.body.code, refused.body.attr]).toEqual([400, 'unique', 'key'])
      await s.patch(`${flags}${second.body.id}/`, { deleted: true })
      expect((await s.patch(`${flags}${first.id}/`, { deleted: false })).body.deleted).toBe(false)
    })

    it('refuses to delete a flag that others depend on, and names them', async () => {
      const { body: base } = await s.post(flags, { key: 'base' })
      const properties = [{ key: String(base.id), type: 'flag', operator: 'flag_evaluates_to', value: true }]
      const { body: dependent } = await s.post(flags, { key: 'dependent', filters: { groups: [{ properties }] } })
      const refused = await s.patch(`${flags}${base.id}/`, { deleted: true })
      expect(refused).toMatchObject({
        status: 400,
        body: { attr: 'deleted', detail: expect.stringContaining('dependent') },
      })
      expect((await s.get(`${flags}${base.id}/`)).body).toMatchObject({ deleted: false, version: 1 })
      await s.patch(`${flags}${dependent.id}/`, { deleted: true })
      expect((await s.patch(`${flags}${base.id}/`, { deleted: true })).status).toBe(200)
    })

    it('saves no flag whose version is not one above the stored one', async () => {
      const { body } = await s.post(flags, { key: 'versioned', name: 'stored' })
      const authorization = { trigger: null } as Authorization
      await s.halyard.database.transaction(async tx => {
        const flag = (await tx.flags.find(s.projectId, body.id))!
        for (const version of [flag.version, flag.version + 2]) {
          const stale = { ...flag, name: 'stale', version }
          await expect(tx.flags.save(stale, authorization)).rejects.toMatchObject({ name: 'StaleWrite' })
          await expect(tx.flags.saveAll([{ flag: stale, authorization }])).rejects.toMatchObject({ name: 'StaleWrite' })
        }
      })
      expect((await s.get(`${flags}${body.id}/`)).body).toMatchObject({ name: 'stored', version: 1 })
    })

    it('rejects a stale write to a field that another client has changed, and only that', async () => {
      const { body: flag } = await s.post(flags, { key: 'conflict', name: 'a' })
      await s.patch(`${flags}${flag.id}/`, { name: 'b', version: 1 })
      const stale = await s.patch(`${flags}${flag.id}/`, { name: 'c', version: 1 })
      expect(stale.status).toBe(409)
      expect(stale.body).toMatchObject({ type: 'server_error', code: 'conflict' })
      expect(stale.body.detail).toContain('owner@halyard.local')
      const other = await s.patch(`${flags}${flag.id}/`, { name: 'a', active: false, version: 1 })
      expect(other.body).toMatchObject({ name: 'b', active: false, version: 3 })
    })

    it('clears the mark of a rollback when the flag is switched on again', async () => {
      const { body: flag } = await s.post(flags, { key: 'rolled-back', active: false, performed_rollback: true })
      expect((await s.patch(`${flags}${flag.id}/`, { active: true })).body.performed_rollback).toBe(false)
      const kept = await s.patch(`${flags}${flag.id}/`, { performed_rollback: true, active: true })
      expect(kept.body.performed_rollback).toBe(true)
    })

    it.each(['999999', '12abc', '-1', '0', '1.5', '%00', 'a'.repeat(50)])('answers 404 for the id %s', async id => {
      const reply = await s.patch(`${flags}${id}/`, { name: 5 })
      expect([reply.status, reply.body.code]).toEqual([404, 'not_found'])
    })
  })

  it('4.2 DELETE responds 405 without a body for any id, and changes nothing', async () => {
    const { body: flag } = await s.post(flags, { key: 'undeletable' })
    for (const id of [flag.id, 999_999, 'abc']) {
      const reply = await s.delete(`${flags}${id}/`)
      expect([reply.status, reply.text]).toEqual([405, ''])
      expect(reply.headers.get('allow')).toContain('PATCH')
    }
    expect((await s.get(`${flags}${flag.id}/`)).body).toEqual(flag)
  })

  it('4.2 methods that are not listed respond 405 with Allow', async () => {
    for (const [method, path] of [
      ['PUT', `${flags}1/`],
      ['POST', `${flags}1/`],
      ['PUT', flags],
      ['DELETE', flags],
      ['POST', `${flags}activity/`],
      ['PATCH', `${flags}activity/`],
    ] as const) {
      const reply = await s.send(path, { method })
      expect([method, path, reply.status]).toEqual([method, path, 405])
      expect(reply.headers.get('allow')).toBeTruthy()
      expect(reply.body.code).toBe('method_not_allowed')
    }
  })

  describe('4.2 GET list', () => {
    it('pages newest first with links that work', async () => {
      const other = await s.post('/api/projects/', { name: 'Pages' })
      const list = `/api/projects/${other.body.id}/feature_flags/`
      for (let n = 0; n < 7; n++) await s.post(list, { key: `f${n}` })
      const first = await s.get(`${list}?limit=3&search=f`)
      expect(first.body.count).toBe(7)
      expect(first.body.results.map((flag: { key: string }) => flag.key)).toEqual(['f6', 'f5', 'f4'])
      expect(first.body.previous).toBeNull()
      const next = new URL(first.body.next)
      expect(next.search).toBe('?limit=3&offset=3&search=f')
      const second = await s.get(next.pathname + next.search)
      expect(second.body.results.map((flag: { key: string }) => flag.key)).toEqual(['f3', 'f2', 'f1'])
      expect(new URL(second.body.previous).search).toBe('?limit=3&search=f')
      const beyond = await s.get(`${list}?limit=3&offset=100`)
      expect([beyond.status, beyond.body.results, beyond.body.next]).toEqual([200, [], null])
      for (const bad of ['limit=abc', 'limit=0', 'limit=-1', 'offset=-5', 'offset=x', 'limit=1.5']) {
        expect((await s.get(`${list}?${bad}`)).body.results).toHaveLength(7)
      }
    })

    it('filters and orders', async () => {
      const other = await s.post('/api/projects/', { name: 'Filters' })
      const list = `/api/projects/${other.body.id}/feature_flags/`
      const variants = [
        { key: 'a', rollout_percentage: 50 },
        { key: 'b', rollout_percentage: 50 },
      ]
      await s.post(list, { key: 'beta', name: '100% of_people', tags: ['x'] })
      await s.post(list, { key: 'alpha', active: false, tags: ['y', 1] })
      await s.post(list, { key: 'gamma', filters: { groups: [{}], multivariate: { variants } } })
      const keys = async (query: string) =>
        (await s.get(`${list}?${query}`)).body.results.map((flag: { key: string }) => flag.key)
      expect(await keys('active=true')).toEqual(['gamma', 'beta'])
      expect(await keys('active=false')).toEqual(['alpha'])
      expect(await keys('type=multivariant')).toEqual(['gamma'])
      expect(await keys('type=boolean')).toEqual(['alpha', 'beta'])
      expect(await keys('search=100%25')).toEqual(['beta'])
      expect(await keys('search=OF_')).toEqual(['beta'])
      expect(await keys('search=of-')).toEqual([])
      expect(await keys(`tags=${encodeURIComponent('["x","y"]')}`)).toEqual(['alpha', 'beta'])
      expect(await keys('tags=nonsense')).toHaveLength(3)
      expect(await keys('order=key')).toEqual(['alpha', 'beta', 'gamma'])
      expect(await keys('order=-key')).toEqual(['gamma', 'beta', 'alpha'])
      expect(await keys('created_by_id=999')).toEqual([])
    })
  })

  it('4.2 activity of the project has the documented shape, pages by offset and by page', async () => {
    const byOffset = await s.get(`${flags}activity/?limit=2&offset=2`)
    const beyond = await s.get(`${flags}activity/?page=${'9'.repeat(30)}`)
    expect([beyond.status, beyond.body.results]).toEqual([200, []])
    const byPage = await s.get(`${flags}activity/?limit=2&page=2`)
    expect(byPage.body.results).toEqual(byOffset.body.results)
    expect(byPage.body.results).toHaveLength(2)
    expect(byPage.body).toMatchObject({ id: 0, key: '', count: byOffset.body.count })
    expect(new URL(byPage.body.next).search).toBe('?limit=2&page=3')
    expect((await s.get(`${flags}activity/?user=unknown@example.com`)).body.count).toBe(0)
    expect((await s.get(`${flags}activity/?date_from=2999-01-01`)).body.count).toBe(0)
  })
})
