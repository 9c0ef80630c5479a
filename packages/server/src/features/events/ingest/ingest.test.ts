import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Person } from '../../../domain/person.ts'
import { onEachPersonsDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'

onEachPersonsDatabase('ingest', (dialect, persons) => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect, persons)
  })
  afterAll(() => s.close())

  const client = () => s.as(undefined)
  const capture = (...batch: object[]) => client().post('/batch/', { api_key: s.projectToken, batch })
  const person = (distinctId: string): Promise<Person | undefined> =>
    s.halyard.database.people.read(async tx =>
      (await tx.persons.findByDistinctIds(s.projectId, [distinctId])).get(distinctId),
    )
  const today = () => new Date().toISOString().slice(0, 10)
  const usage = (flagKey: string, kind: 'called' | 'viewed' | 'interacted' = 'called') =>
    s.halyard.database.read(tx => tx.usage.series(s.projectId, { flagKey, kind, from: '2000-01-01', to: '2999-01-01' }))
  const metric = async (name: string): Promise<number> => {
    const { text } = await client().get('/metrics')
    const line = text.split('\n').find((candidate: string) => candidate.startsWith(`${name} `))
    return Number(line?.split(' ').at(-1) ?? 0)
  }

  describe('bodies', () => {
    const event = (distinct_id: string) => ({ event: 'seen', properties: { distinct_id, token: s.projectToken } })

    it.each(['/e/', '/i/v0/e/', '/batch/', '/capture/', '/track/', '/engage/', '/e'])(
      'accepts events at %s',
      async path => {
        const id = `path-${path}`
        const reply = await client().post(path, {
          api_key: s.projectToken,
          batch: [{ event: 'seen', distinct_id: id }],
        })
        expect([reply.status, reply.body]).toEqual([200, { status: 1 }])
        expect(reply.headers.get('access-control-allow-origin')).toBe('*')
        expect(await person(id)).toMatchObject({ isIdentified: false, properties: {} })
      },
    )

    it('accepts one event, a list, and `data` in a form, with the token wherever SDKs put it', async () => {
      const bodies: [unknown, string][] = [
        [{ api_key: s.projectToken, event: 'seen', distinct_id: 'one-event' }, 'one-event'],
        [{ token: s.projectToken, event: 'seen', properties: { distinct_id: 'in-properties' } }, 'in-properties'],
        [[event('in-list'), event('in-list-2')], 'in-list-2'],
        [{ $token: s.projectToken, $distinct_id: 'engaged', $set: { plan: 'pro' } }, 'engaged'],
        [{ api_key: s.projectToken, event: 'seen', distinct_id: 42 }, '42'],
      ]
      for (const [body, id] of bodies) {
        expect((await client().post(id === 'engaged' ? '/engage/' : '/e/', body)).status).toBe(200)
        expect(await person(id), id).toBeDefined()
      }
      expect((await person('engaged'))?.properties).toEqual({ plan: 'pro' })
      const data = Buffer.from(JSON.stringify(event('in-form'))).toString('base64')
      const form = await client().send('/e/?compression=base64', {
        method: 'POST',
        body: new URLSearchParams({ data }),
      })
      expect(form.status).toBe(200)
      expect(await person('in-form')).toBeDefined()
    })

    it('accepts gzip without a content-encoding header, as browsers send it', async () => {
      const reply = await client().send('/i/v0/e/?ip=0&_=1&ver=1.434.18', {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: gzipSync(JSON.stringify({ api_key: s.projectToken, batch: [event('gzip-js')] })),
      })
      expect([reply.status, reply.body]).toEqual([200, { status: 1 }])
      expect(await person('gzip-js')).toBeDefined()
    })

    it('responds to a preflight request', async () => {
      const reply = await client().send('/e/', { method: 'OPTIONS', headers: { origin: 'https://example.com' } })
      expect(reply.status).toBe(204)
      expect(reply.headers.get('access-control-allow-origin')).toBe('*')
      expect(reply.headers.get('access-control-allow-methods')).toContain('POST')
    })

    it.each<[string, unknown, number]>([
      ['no token', { event: 'x', distinct_id: 'a' }, 401],
      ['an unknown token', { api_key: 'phc_unknown', event: 'x', distinct_id: 'a' }, 401],
      ['a number', 5, 400],
      ['null', null, 400],
      ['too many events', { api_key: 'x', batch: Array.from({ length: 20_001 }, () => 0) }, 413],
    ])('rejects %s', async (_name, body, status) => {
      const reply = await client().post('/batch/', body)
      expect(reply.status).toBe(status)
      expect(reply.body).toHaveProperty('detail')
      expect(reply.headers.get('access-control-allow-origin')).toBe('*')
    })

    it.each([
      ['an event without a name', { distinct_id: 'a' }],
      ['an event without an id', { event: 'x' }],
      ['an event whose id is blank', { event: 'x', distinct_id: '  ' }],
      ['a string', 'hello'],
    ])('rejects a body that holds only %s', async (_name, entry) => {
      expect((await capture(entry as object)).status).toBe(400)
    })

    it('rejects a decompression bomb and bytes in no known format', async () => {
      const send = (body: Buffer) => client().send('/e/', { method: 'POST', body })
      expect((await send(gzipSync(Buffer.alloc(30_000_000)))).status).toBe(413)
      expect((await send(Buffer.from([1, 2, 3]))).status).toBe(400)
      expect((await send(Buffer.alloc(0))).status).toBe(400)
    })

    it('records the valid events of a batch and counts the malformed ones', async () => {
      const before = await metric('halyard_events_dropped_total{reason="malformed"}')
      expect((await capture({ event: 'x', distinct_id: 'good' }, { event: 'x' }, 5 as unknown as object)).status).toBe(
        200,
      )
      expect(await person('good')).toBeDefined()
      expect(await metric('halyard_events_dropped_total{reason="malformed"}')).toBe(before + 2)
    })

    it('accepts an empty batch', async () => {
      expect((await capture()).body).toEqual({ status: 1 })
    })
  })

  describe('persons', () => {
    it('applies $set, $set_once and $unset, beside and inside the properties', async () => {
      await capture(
        { event: '$set', distinct_id: 'p', $set: { a: 1, b: 1 }, properties: { $set: { b: 0, c: 1 } } },
        { event: 'bought', distinct_id: 'p', properties: { $set_once: { a: 2, first: 'x' }, $set: { c: 2 } } },
        { event: '$set', distinct_id: 'p', properties: { $unset: ['b'] } },
      )
      expect((await person('p'))?.properties).toEqual({ a: 1, c: 2, first: 'x' })
    })

    it('merges an anonymous and an identified id into one person', async () => {
      await capture({ event: 'seen', distinct_id: 'anon', properties: { $set: { plan: 'free', from: 'ad' } } })
      await capture({ event: '$set', distinct_id: 'user', properties: { $set: { plan: 'pro' } } })
      await capture({
        event: '$identify',
        distinct_id: 'user',
        $set: { email: 'user@example.com' },
        properties: { $anon_distinct_id: 'anon' },
      })
      const [user, anon] = [await person('user'), await person('anon')]
      expect(anon?.id).toBe(user?.id)
      expect(user).toMatchObject({
        isIdentified: true,
        properties: { plan: 'pro', from: 'ad', email: 'user@example.com' },
        distinctIdCount: 2,
      })
    })

    it('does not merge two users who share a device', async () => {
      await capture({ event: '$identify', distinct_id: 'first', properties: { $anon_distinct_id: 'device' } })
      await capture({ event: '$identify', distinct_id: 'second', properties: { $anon_distinct_id: 'device' } })
      expect((await person('device'))?.id).toBe((await person('first'))?.id)
      expect((await person('second'))?.id).not.toBe((await person('first'))?.id)
      expect(await metric('halyard_person_merges_total{outcome="already_identified"}')).toBe(1)
      await capture({ event: '$merge_dangerously', distinct_id: 'first', properties: { alias: 'second' } })
      expect((await person('second'))?.id).toBe((await person('first'))?.id)
    })

    it('supports $create_alias and never merges placeholder ids', async () => {
      await capture(
        { event: '$create_alias', distinct_id: 'main', properties: { alias: 'nickname' } },
        { event: '$create_alias', distinct_id: 'main', properties: { alias: 'null' } },
      )
      expect((await person('nickname'))?.id).toBe((await person('main'))?.id)
      expect(await person('null')).toBeUndefined()
    })

    it('stores a feature enrollment', async () => {
      await capture({
        event: '$feature_enrollment_update',
        distinct_id: 'early',
        properties: { $feature_flag: 'beta', $feature_enrollment: true, $set: { '$feature_enrollment/beta': true } },
      })
      expect((await person('early'))?.properties).toEqual({ '$feature_enrollment/beta': true })
    })

    it('creates no person without profile processing, and ignores properties of exceptions', async () => {
      await capture(
        { event: 'seen', distinct_id: 'ghost', properties: { $process_person_profile: false, $set: { a: 1 } } },
        { event: '$exception', distinct_id: 'unlucky', properties: { $set: { a: 1 } } },
      )
      expect(await person('ghost')).toBeUndefined()
      expect((await person('unlucky'))?.properties).toEqual({})
    })

    it('stores ids and properties with NUL and lone surrogates as closely as the database can', async () => {
      const id = `nul\u0000 lone \ud83d ${'x'.repeat(300)}`
      expect(
        (await capture({ event: 'x\u0000', distinct_id: id, $set: { 'k\u0000': '\ud83d', __proto__: 1 } })).status,
      ).toBe(200)
      const page = await s.halyard.database.people.read(tx => tx.persons.list(s.projectId, {}, { limit: 1, offset: 0 }))
      expect(page.items[0]?.properties).toEqual({ 'k\u0000': '\ud83d' })
    })
  })

  describe('groups', () => {
    it('stores groups and assigns their type indexes', async () => {
      await capture({
        event: '$groupidentify',
        distinct_id: '$company_acme',
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { tier: 'gold' } },
      })
      await capture({
        event: '$groupidentify',
        distinct_id: 'someone',
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 5 } },
      })
      await capture({ event: 'seen', distinct_id: 'someone', properties: { $groups: { team: 7, company: 'acme' } } })
      const { body } = await s.get(`${s.project}/`)
      expect(body.group_types).toEqual({ 0: 'company', 1: 'team' })
      const acme = await s.halyard.database.people.read(tx =>
        tx.groups.find(s.projectId, { typeIndex: 0, key: 'acme' }),
      )
      expect(acme?.properties).toEqual({ tier: 'gold', size: 5 })
      expect(await person('$company_acme')).toBeUndefined()
      expect(await person('someone')).toBeDefined()
      expect((await s.halyard.serving.snapshots.forProject(s.projectId))?.project.groupTypes).toEqual(body.group_types)
    })

    it('ignores a sixth group type', async () => {
      const groups = { c: 1, d: 1, e: 1, f: 1 }
      expect((await capture({ event: 'seen', distinct_id: 'g', properties: { $groups: groups } })).status).toBe(200)
      expect(Object.keys((await s.get(`${s.project}/`)).body.group_types)).toHaveLength(5)
      expect(await metric('halyard_event_facts_refused_total{reason="too_many_group_types"}')).toBe(1)
    })
  })

  describe('usage', () => {
    const called = (
      distinct_id: string,
      $feature_flag: string,
      $feature_flag_response: unknown,
      more: object = {},
    ) => ({
      event: '$feature_flag_called',
      distinct_id,
      properties: { $feature_flag, $feature_flag_response },
      ...more,
    })

    /** A developer has overridden the value, which is no use of the flag. */
    const overridden = (distinct_id: string, $feature_flag: string) => ({
      event: '$feature_flag_called',
      distinct_id,
      properties: { $feature_flag, $feature_flag_response: 'test', $feature_flag_reason: 'Overridden' },
    })

    it('counts calls and distinct users by flag, value and day', async () => {
      await s.post(`${s.project}/feature_flags/`, {
        key: 'counted',
        filters: {
          groups: [{}],
          multivariate: { variants: [{ key: 'test', rollout_percentage: 100 }] },
        },
      })
      const yesterday = new Date(Date.now() - 86_400_000).toISOString()
      await capture(
        called('u1', 'counted', 'test'),
        called('u1', 'counted', 'test'),
        called('u2', 'counted', 'test'),
        called('u2', 'counted', false),
        called('u3', 'counted', undefined),
        called('u3', 'counted', 'made-up'),
        called('u1', 'counted', 'test', { timestamp: yesterday }),
        called('u1', 'no-such-flag', true),
        overridden('u4', 'counted'),
        called('u1', 'counted', 'test', { timestamp: '2001-01-01T00:00:00Z' }),
      )
      expect(await usage('counted')).toEqual([
        { day: yesterday.slice(0, 10), variant: 'test', calls: 1, users: 1 },
        { day: today(), variant: '', calls: 1, users: 1 },
        { day: today(), variant: '(other)', calls: 1, users: 1 },
        { day: today(), variant: 'false', calls: 1, users: 1 },
        { day: today(), variant: 'test', calls: 3, users: 2 },
      ])
      expect(await usage('no-such-flag')).toEqual([])
      expect(await metric('halyard_events_uncounted_total{reason="unknown_flag"}')).toBe(1)
      const last = await s.halyard.database.read(tx => tx.usage.lastUsed(s.projectId, 'called'))
      expect(last.get('counted')?.slice(0, 10)).toBe(today())
    })

    it('counts views and interactions', async () => {
      await capture(
        { event: '$feature_view', distinct_id: 'u1', properties: { feature_flag: 'counted' } },
        { event: '$feature_interaction', distinct_id: 'u1', properties: { feature_flag: 'counted' } },
        { event: '$feature_interaction', distinct_id: 'u1', properties: { feature_flag: 'counted' } },
      )
      expect(await usage('counted', 'viewed')).toMatchObject([{ calls: 1, users: 1 }])
      expect(await usage('counted', 'interacted')).toMatchObject([{ calls: 2, users: 1 }])
    })

    it('corrects a skewed client clock by `sent_at`', async () => {
      const batch = [called('skewed', 'counted', 'test', { timestamp: '2010-01-01T00:00:00Z' })]
      const before = (await usage('counted')).find(point => point.variant === 'test' && point.day === today())?.calls
      await client().post('/batch/', { api_key: s.projectToken, batch, sent_at: '2010-01-01T00:00:01Z' })
      const after = (await usage('counted')).filter(point => point.variant === 'test')
      expect(after.reduce((sum, point) => sum + point.calls, 0)).toBe((before ?? 0) + 2)
    })

    it('counts events by name, and by flag value for flags with rollback conditions', async () => {
      await s.post(`${s.project}/feature_flags/`, { key: 'watched', rollback_conditions: { any: 'thing' } })
      await s.post(`${s.project}/feature_flags/`, { key: 'unwatched' })
      const properties = (value: unknown) => ({ '$feature/watched': value, '$feature/unwatched': true })
      await capture(
        { event: '$exception', distinct_id: 'u1', properties: properties(true) },
        { event: '$exception', distinct_id: 'u2', properties: properties(false) },
        { event: '$exception', distinct_id: 'u3' },
      )
      const now = Date.now()
      const window = {
        event: '$exception',
        from: new Date(now - 120_000).toISOString(),
        to: new Date(now + 120_000).toISOString(),
      }
      await s.halyard.database.read(async tx => {
        const sum = (flag?: { key: string; value?: string }) =>
          tx.eventCounts.sum(s.projectId, { ...window, ...(flag && { flag }) })
        expect(await sum()).toBe(4)
        expect(await sum({ key: 'watched' })).toBe(1)
        expect(await sum({ key: 'watched', value: 'false' })).toBe(1)
        expect(await sum({ key: 'unwatched' })).toBe(0)
      })
    })
  })

  it('exports its counters on /metrics', async () => {
    expect(await metric('halyard_events_waiting')).toBe(0)
    const received = await metric('halyard_events_received_total')
    const dropped = await metric('halyard_events_dropped_total{reason="malformed"}')
    expect(await metric('halyard_events_recorded_total')).toBe(received - dropped)
  })
})
