import { beforeAll, describe, expect, it } from 'vitest'
import { onEachPersonsDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachPersonsDatabase('persons and groups over HTTP', (dialect, stores) => {
  const s = suiteScenario(dialect, stores)
  let persons: string
  beforeAll(async () => {
    persons = `${s.project}/persons/`
    const set = (distinct_id: string, $set: object) => ({ event: '$set', distinct_id, $set })
    const group = ($group_key: string, $group_set: object) => ({
      event: '$groupidentify',
      distinct_id: 'ada',
      properties: { $group_type: 'company', $group_key, $group_set },
    })
    await s.as(undefined).post('/batch/', {
      api_key: s.projectToken,
      batch: [
        set('ada', { email: 'ada@example.com', plan: 'pro', age: 36 }),
        set('bob', { name: 'Bob 100%', plan: 'free', age: 20 }),
        { event: 'seen', distinct_id: '0190b5e8-0000-7000-8000-000000000001' },
        {
          event: '$identify',
          distinct_id: 'cy',
          properties: { $anon_distinct_id: '0190b5e8-0000-7000-8000-000000000002' },
        },
        group('acme', { tier: 'gold' }),
        group('globex', { tier: 'silver' }),
      ],
    })
  })

  const names = async (query: string) =>
    (await s.get(persons + query)).body.results.map((p: { name: string }) => p.name)

  describe('list', () => {
    it('returns all persons, newest first, in the list envelope', async () => {
      const { status, body } = await s.get(`${persons}?limit=2`)
      expect(status).toBe(200)
      expect(body.count).toBe(4)
      expect(body.results).toHaveLength(2)
      expect(body.results[0]).toMatchObject({
        type: 'person',
        name: 'cy',
        distinct_ids: ['0190b5e8-0000-7000-8000-000000000002', 'cy'],
        is_identified: true,
      })
      expect(body.results[0].id).toBe(body.results[0].uuid)
      const next = await s.get(new URL(body.next).pathname + new URL(body.next).search)
      expect(next.body.results.map((p: { name: string }) => p.name)).toEqual(['Bob 100%', 'ada@example.com'])
      expect(next.body.next).toBeNull()
    })

    it.each([
      ['?distinct_id=bob', ['Bob 100%']],
      ['?distinct_id=unknown', []],
      ['?email=ada@example.com', ['ada@example.com']],
      ['?email=ADA@example.com', []],
      ['?search=ADA@EX', ['ada@example.com']],
      ['?search=100%25', ['Bob 100%']],
      ['?search=_', []],
      ['?search=7000-8000', ['cy', '0190b5e8-0000-7000-8000-000000000001']],
      ['?search=pro&distinct_id=ada', ['ada@example.com']],
      ['?search=pro&distinct_id=bob', []],
    ])('finds with %s', async (query, expected) => {
      expect(await names(query)).toEqual(expected)
    })

    it('filters by properties as a flag condition would', async () => {
      const where = (...properties: object[]) => names(`?properties=${encodeURIComponent(JSON.stringify(properties))}`)
      expect(await where({ key: 'plan', value: 'pro' })).toEqual(['ada@example.com'])
      expect(await where({ key: 'age', value: 18, operator: 'gt' })).toEqual(['Bob 100%', 'ada@example.com'])
      expect(
        await where({ key: 'age', value: 18, operator: 'gt' }, { key: 'name', operator: 'is_set', value: 'is_set' }),
      ).toEqual(['Bob 100%'])
      for (const wrong of [
        '{',
        '{}',
        '[{"key":"a","value":"(","operator":"regex"}]',
        '[{"key":"id","type":"cohort","value":1}]',
      ]) {
        const reply = await s.get(`${persons}?properties=${encodeURIComponent(wrong)}`)
        expect([reply.status, reply.body.attr]).toEqual([400, 'properties'])
      }
    })

    it('paginates search results', async () => {
      const { body } = await s.get(`${persons}?search=e&limit=1&offset=1`)
      expect(body.count).toBeGreaterThan(1)
      expect(body.results).toHaveLength(1)
      expect(body.previous).toContain('search=e')
    })
  })

  describe('a single person', () => {
    it('is found by number and by UUID', async () => {
      const { uuid } = (await s.get(`${persons}?distinct_id=ada`)).body.results[0]
      const byUuid = await s.get(`${persons}${uuid.toUpperCase()}/`)
      expect(byUuid.body).toMatchObject({
        uuid,
        name: 'ada@example.com',
        properties: { plan: 'pro' },
        distinct_ids: ['ada'],
      })
      expect((await s.get(`${persons}${byUuid.body.id}/`)).body).toEqual(byUuid.body)
    })

    it.each([
      ['999999', 404],
      ['0190b5e8-0000-7000-8000-00000000dead', 404],
      ['ada', 400],
    ])('%s is %i', async (id, status) => {
      expect((await s.get(`${persons}${id}/`)).status).toBe(status)
      expect((await s.delete(`${persons}${id}/`)).status).toBe(status)
    })

    it('is removed when deleted, and created again by the next event', async () => {
      const capture = () =>
        s.as(undefined).post('/e/', { api_key: s.projectToken, event: 'seen', distinct_id: 'brief' })
      await capture()
      const { uuid } = (await s.get(`${persons}?distinct_id=brief`)).body.results[0]
      expect((await s.delete(`${persons}${uuid}/`)).status).toBe(202)
      expect((await s.get(`${persons}${uuid}/`)).status).toBe(404)
      expect((await s.get(`${persons}?distinct_id=brief`)).body.count).toBe(0)
      await capture()
      expect((await s.get(`${persons}?distinct_id=brief`)).body.results[0].uuid).not.toBe(uuid)
    })
  })

  describe('groups', () => {
    it('are listed by type, found and deleted', async () => {
      const groups = `${s.project}/groups/`
      expect((await s.get(`${s.project}/groups_types/`)).body).toEqual([
        { group_type: 'company', group_type_index: 0, name_singular: null, name_plural: null },
      ])
      const page = await s.get(`${groups}?group_type_index=0&search=GOLD`)
      expect(page.body).toMatchObject({
        count: 1,
        results: [{ group_key: 'acme', group_properties: { tier: 'gold' } }],
      })
      expect((await s.get(`${groups}find?group_type_index=0&group_key=globex`)).body.group_key).toBe('globex')
      const remove = () => s.delete(`${groups}?group_type_index=0&group_key=globex`)
      expect((await remove()).status).toBe(204)
      expect((await remove()).status).toBe(404)
      expect((await s.get(`${groups}find?group_type_index=0&group_key=globex`)).status).toBe(404)
      expect((await s.get(`${groups}?group_type_index=4`)).body.count).toBe(0)
    })

    it.each([
      ['', 'group_type_index', 'required'],
      ['?group_type_index=5', 'group_type_index', 'invalid_input'],
      ['find/?group_type_index=0', 'group_key', 'required'],
    ])('require valid parameters: %s', async (query, attr, code) => {
      expect((await s.get(`${s.project}/groups/${query}`)).body).toMatchObject({ attr, code })
    })
  })

  it('are not accessible to other organizations or to keys without the scope', async () => {
    const stranger = await s.stranger(`eve-${dialect}`)
    expect((await stranger.get(persons)).status).toBe(404)
    expect((await s.as(undefined).get(persons)).status).toBe(401)
    const { body } = await s.post('/api/personal_api_keys/', { label: 'flags', scopes: ['feature_flag:write'] })
    const key = s.as(body.value)
    for (const path of ['persons/', 'groups/?group_type_index=0', 'groups_types/']) {
      expect((await key.get(`${s.project}/${path}`)).status).toBe(403)
    }
    const { uuid } = (await s.get(`${persons}?distinct_id=ada`)).body.results[0]
    const readOnly = await s.post('/api/personal_api_keys/', { label: 'reader', scopes: ['person:read'] })
    expect((await s.as(readOnly.body.value).delete(`${persons}${uuid}/`)).status).toBe(403)
    const foreign = `${stranger.project}/persons/${uuid}/`
    expect((await stranger.get(foreign)).status).toBe(404)
  })
})
