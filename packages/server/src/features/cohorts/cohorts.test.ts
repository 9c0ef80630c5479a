import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachPersonsDatabase } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import { createPersons } from '../../testing/persons.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

const tree = (...values: unknown[]) => ({ properties: { type: 'AND', values } })
const is = (key: string, value: unknown, operator = 'exact', more = {}) => ({
  key,
  value,
  operator,
  type: 'person',
  ...more,
})
const within = (id: number, more = {}) => ({ key: 'id', type: 'cohort', value: id, ...more })

onEachPersonsDatabase('cohorts', (dialect, persons) => {
  const injector = createFaultInjector()
  let s: Scenario
  let cohorts: string
  let flags: string
  beforeAll(async () => {
    s = await startScenario(dialect, { storage: injector, ...persons })
    cohorts = `${s.project}/cohorts/`
    flags = `${s.project}/feature_flags/`
    await createPersons(s, s.projectId, {
      anna: { plan: 'pro', age: 30, email: 'anna@example.com' },
      ben: { plan: 'free', age: 40, email: 'ben@example.com' },
      cleo: { plan: 'pro', age: 50, email: 'cleo@example.org', 'odd "key"': 'x' },
      dora: {},
    })
  })
  afterAll(() => s.close())

  const work = () => s.halyard.jobs.runDue(instantOf(new Date()))
  const dynamic = async (filters: unknown, name = 'dynamic') => (await s.post(cohorts, { name, filters })).body
  const listed = async (id: number, query = '') =>
    (await s.get(`${cohorts}${id}/persons/${query}`)).body.results.map(
      (one: { distinct_ids: string[] }) => one.distinct_ids[0],
    )
  const isOn = async (key: string, distinctId: string) => {
    const body = JSON.stringify({ token: s.projectToken, distinct_id: distinctId })
    const reply = await s.send('/flags/?v=2', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return reply.body.flags[key]?.enabled
  }

  describe('dynamic', () => {
    it('is created, counted in the background, read and listed', async () => {
      const made = await s.post(cohorts, { name: 'Pros', description: 'They pay', filters: tree(is('plan', 'pro')) })
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({
        name: 'Pros',
        description: 'They pay',
        groups: [],
        query: null,
        deleted: false,
        is_static: false,
        is_calculating: true,
        count: null,
        last_calculation: null,
        errors_calculating: 0,
        version: 1,
        filters: tree(is('plan', 'pro')),
      })
      await work()
      const { body } = await s.get(`${cohorts}${made.body.id}/`)
      expect(body).toMatchObject({
        is_calculating: false,
        count: 2,
        progress: null,
        last_calculation: expect.any(String),
      })
      expect(await listed(made.body.id)).toEqual(['cleo', 'anna'])
      const { body: page } = await s.get(`${cohorts}?search=PRO&limit=1`)
      expect(page).toMatchObject({ count: 1, next: null, previous: null, results: [{ id: body.id }] })
    })

    it('is recounted after a change, and discards a count of the previous version', async () => {
      const cohort = await dynamic(tree(is('plan', 'pro')))
      await s.patch(`${cohorts}${cohort.id}/`, { filters: tree(is('plan', 'free')) })
      await work()
      expect((await s.get(`${cohorts}${cohort.id}/`)).body).toMatchObject({
        count: 1,
        is_calculating: false,
        version: 2,
      })
      await createPersons(s, s.projectId, { emil: { plan: 'free' } })
      expect((await s.post(`${cohorts}${cohort.id}/calculate/`)).body.is_calculating).toBe(true)
      await work()
      expect((await s.get(`${cohorts}${cohort.id}/`)).body.count).toBe(2)
      await createPersons(s, s.projectId, { emil: { plan: 'gone' } })
    })

    it('supports nesting, negation and property names with quotes', async () => {
      const pros = await dynamic(tree(is('plan', 'pro')))
      const others = await dynamic(tree(within(pros.id, { negation: true }), is('age', '', 'is_set')))
      const odd = await dynamic(tree(is('odd "key"', 'x')))
      const either = await dynamic({ properties: { type: 'OR', values: [within(others.id), within(odd.id)] } })
      expect(await listed(others.id)).toEqual(['ben'])
      expect(await listed(odd.id)).toEqual(['cleo'])
      expect(await listed(either.id)).toEqual(['cleo', 'ben'])
      expect(await listed(either.id, '?search=BEN%40EX')).toEqual(['ben'])
    })

    it('paginates its members with valid links', async () => {
      const all = await dynamic({ properties: { type: 'AND', values: [] } })
      const first = await s.get(`${cohorts}${all.id}/persons/?limit=2`)
      expect(first.body.results).toHaveLength(2)
      expect(first.body.previous).toBeNull()
      const second = await s.get(first.body.next.slice(s.url.length))
      const third = await s.get(second.body.next.slice(s.url.length))
      const names = [first, second, third].flatMap(reply => reply.body.results.map((one: { name: string }) => one.name))
      expect(names).toEqual(['emil', 'dora', 'cleo@example.org', 'ben@example.com', 'anna@example.com'])
      expect(third.body.next).toBeNull()
    })

    it('accepts legacy groups of properties', async () => {
      const { body } = await s.post(cohorts, {
        name: 'old',
        groups: [{ properties: [is('plan', 'free')] }, { properties: [is('age', 45, 'gt')] }],
      })
      expect(body.groups).toEqual([])
      expect(await listed(body.id)).toEqual(['cleo', 'ben'])
      const refused = await s.post(cohorts, { name: 'old', groups: [{ action_id: 5, days: 3 }] })
      expect([refused.status, refused.body.attr]).toEqual([400, 'groups'])
    })

    it.each([
      [{}, 'filters'],
      [{ filters: {} }, 'filters'],
      [{ filters: { type: 'AND', values: [] } }, 'filters'],
      [{ filters: [] }, 'filters'],
      [{ filters: { properties: 'all' } }, 'filters'],
      [{ filters: { properties: { type: 'AND', value: [is('a', 'b')] } } }, 'filters'],
      [{ filters: tree(is('a', 'b', 'nope')) }, 'filters'],
      [{ filters: tree(is('a', '(', 'regex')) }, 'filters'],
      [{ filters: tree(is('a', 'someday', 'is_date_before')) }, 'filters'],
      [{ filters: tree(within(987654)) }, 'filters'],
      [{ filters: tree({ properties: [] }) }, 'filters'],
      [{ filters: tree({ type: 'AND', values: [] }, is('a', 'b')) }, 'filters'],
      [{ filters: tree(is('a', 'b')), query: { kind: 'PersonsQuery' } }, 'query'],
      [{ filters: tree(is('a', 'b')), distinct_ids: ['anna'] }, 'is_static'],
      [{ filters: tree(is('a', 'b')), is_static: true }, 'filters'],
      [{ filters: tree(is('a', 'b')), name: 5 }, 'name'],
      [{ filters: tree(is('a', 'b')), name: 'x'.repeat(401) }, 'name'],
      [{ filters: tree(is('a', 'b')), description: 'x'.repeat(1001) }, 'description'],
      [{ filters: tree(is('a', 'b')), is_static: 'true' }, 'is_static'],
      [{ is_static: true, distinct_ids: 'anna' }, 'distinct_ids'],
      [{ is_static: true, distinct_ids: [5] }, 'distinct_ids'],
    ])('rejects %j and stores nothing', async (body, attr) => {
      const before = (await s.get(cohorts)).body.count
      const reply = await s.post(cohorts, body)
      expect([reply.status, reply.body.attr]).toEqual([400, attr])
      expect((await s.get(cohorts)).body.count).toBe(before)
    })

    it('rejects circular references', async () => {
      const a = await dynamic(tree(is('plan', 'pro')), 'A')
      const b = await dynamic(tree(within(a.id)), 'B')
      const c = await dynamic(tree(within(b.id)), 'C')
      for (const [cohort, inner] of [
        [a, a],
        [a, b],
        [a, c],
      ]) {
        const reply = await s.patch(`${cohorts}${cohort.id}/`, { filters: tree(within(inner.id)) })
        expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, 'filters', 'cohort_cycle'])
      }
      const flag = await s.post(flags, { key: 'by-c', filters: { groups: [{ properties: [within(c.id)] }] } })
      expect(flag.status).toBe(201)
      const circle = tree({ type: 'flag', key: String(flag.body.id), value: true, operator: 'flag_evaluates_to' })
      expect((await s.patch(`${cohorts}${a.id}/`, { filters: circle })).status).toBe(400)
    })
  })

  describe('deleting', () => {
    it('is a soft delete that PATCH sets and reverts', async () => {
      const cohort = await dynamic(tree(is('plan', 'pro')), 'to be deleted')
      expect((await s.patch(`${cohorts}${cohort.id}/`, { deleted: true })).body.deleted).toBe(true)
      expect((await s.get(`${cohorts}?search=to be deleted`)).body.count).toBe(0)
      expect((await s.get(`${cohorts}?deleted=true&search=to be deleted`)).body.count).toBe(1)
      expect((await s.get(`${cohorts}${cohort.id}/`)).body.deleted).toBe(true)
      const flag = await s.post(flags, {
        key: 'by-deleted',
        filters: { groups: [{ properties: [within(cohort.id)] }] },
      })
      expect([flag.status, flag.body.attr]).toEqual([400, 'filters'])
      expect((await s.patch(`${cohorts}${cohort.id}/`, { deleted: false })).body).toMatchObject({
        deleted: false,
        is_calculating: true,
      })
    })

    it('is not possible with DELETE', async () => {
      for (const id of ['1', 'no-id']) {
        const reply = await s.delete(`${cohorts}${id}/`)
        expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, HEAD, PATCH'])
        expect(reply.body.detail).toBe('Cohorts are deleted by PATCH with `deleted: true`.')
      }
    })

    it('is rejected while flags and cohorts use the cohort, and the error names them', async () => {
      const cohort = await dynamic(tree(is('plan', 'pro')), 'needed')
      const outer = await dynamic(tree(within(cohort.id)), 'the outer one')
      const flag = await s.post(flags, { key: 'needs-it', filters: { groups: [{ properties: [within(cohort.id)] }] } })
      const refused = await s.patch(`${cohorts}${cohort.id}/`, { deleted: true })
      expect(refused.body).toMatchObject({ attr: 'deleted', code: 'cohort_in_use' })
      expect(refused.body.detail).toMatch(/needs-it.*the outer one/)
      await s.patch(`${flags}${flag.body.id}/`, { deleted: true })
      await s.patch(`${cohorts}${outer.id}/`, { deleted: true })
      expect((await s.patch(`${cohorts}${cohort.id}/`, { deleted: true })).status).toBe(200)
    })

    it('cannot race with a flag that starts to use the cohort', async () => {
      for (let round = 0; round < 10; round++) {
        const cohort = await dynamic(tree(is('plan', 'pro')), `wanted ${round}`)
        const filters = { groups: [{ properties: [within(cohort.id)] }] }
        const [made, gone] = await Promise.all([
          s.post(flags, { key: `wants-${round}`, filters }),
          s.patch(`${cohorts}${cohort.id}/`, { deleted: true }),
        ])
        expect([made.status, gone.status].sort()).not.toEqual([200, 201])
      }
    })
  })

  describe('static', () => {
    it('is created from distinct ids and persons, which can be added and removed', async () => {
      const made = await s.post(cohorts, {
        name: 'VIPs',
        is_static: true,
        distinct_ids: ['anna', 'ben', 'anna', 'unknown'],
      })
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({
        is_static: true,
        filters: {},
        count: 2,
        added: 2,
        unknown: 1,
        is_calculating: false,
      })
      const path = `${cohorts}${made.body.id}`
      expect(await listed(made.body.id)).toEqual(['ben', 'anna'])
      expect(await listed(made.body.id, '?search=anna@')).toEqual(['anna'])
      const [person] = (await s.get(`${path}/persons/?search=ben`)).body.results
      const removed = await s.patch(`${path}/remove_person_from_static_cohort/`, { person_id: person.uuid })
      expect(removed.body).toMatchObject({ count: 1, removed: 1, unknown: 0 })
      const added = await s.patch(`${path}/add_persons_to_static_cohort/`, { person_ids: [person.uuid, person.uuid] })
      expect(added.body).toMatchObject({ count: 2, added: 1 })
      expect((await s.post(`${path}/persons/`, { distinct_ids: ['cleo'] })).body).toMatchObject({ count: 3, added: 1 })
      expect((await s.post(`${path}/persons/`, { name: [5], query: 7, distinct_ids: [] })).body).toMatchObject({
        count: 3,
      })
      expect((await s.patch(`${path}/`, { name: 'Very', distinct_ids: ['dora'] })).body).toMatchObject({
        count: 4,
        name: 'Very',
      })
    })

    it('affects flag evaluation immediately when members are added or removed', async () => {
      const { body: cohort } = await s.post(cohorts, { name: 'deciding', is_static: true, distinct_ids: ['anna'] })
      const filters = { groups: [{ properties: [within(cohort.id)] }] }
      await s.post(flags, { key: 'by-static', filters })
      expect([await isOn('by-static', 'anna'), await isOn('by-static', 'ben')]).toEqual([true, false])
      await s.post(`${cohorts}${cohort.id}/persons/`, { distinct_ids: ['ben'] })
      await s.patch(`${cohorts}${cohort.id}/remove_person_from_static_cohort/`, { distinct_id: 'anna' })
      expect([await isOn('by-static', 'anna'), await isOn('by-static', 'ben')]).toEqual([false, true])
    })

    it('is created from a CSV file, as a form or as the body', async () => {
      const form = new FormData()
      form.set('name', 'From a form')
      form.set('is_static', 'true')
      form.set('csv', new Blob(['\ufeffanna\r\n"ben",x\n\n unknown \n']), 'people.csv')
      const made = await s.send(cohorts, { method: 'POST', body: form })
      expect(made.body).toMatchObject({ name: 'From a form', count: 2, unknown: 1, is_static: true })
      const more = new FormData()
      more.set('csv', new Blob(['email;distinct_id\nx;"cleo"\n']), 'more.csv')
      const changed = await s.send(`${cohorts}${made.body.id}/`, { method: 'PATCH', body: more })
      expect(changed.body).toMatchObject({ name: 'From a form', count: 3 })
      const csv = { 'content-type': 'text/csv' }
      const bare = await s.send(`${cohorts}?name=Bare`, { method: 'POST', headers: csv, body: 'distinct_id\ndora' })
      expect(bare.body).toMatchObject({ name: 'Bare', count: 1, is_static: true })
      const added = await s.send(`${cohorts}${bare.body.id}/persons/`, { method: 'POST', headers: csv, body: 'ben' })
      expect(added.body.count).toBe(2)
    })

    it.each([
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=b', '--b\r\nno headers'],
      ['multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="name"\r\n\r\nx\r\n--b--'],
      ['text/csv', ''],
      ['text/csv', '\n\n'],
      ['text/csv', Buffer.from([0xff, 0xfe, 0x00])],
      ['application/xml', '<a/>'],
    ])('rejects %s %j', async (type, body) => {
      const reply = await s.send(cohorts, { method: 'POST', headers: { 'content-type': type }, body })
      expect([400, 415]).toContain(reply.status)
    })

    it('imports long lists in the background, in chunks', async () => {
      const ids = Array.from({ length: 5_000 }, (_, n) => `stranger-${n}`)
      const made = await s.post(cohorts, { name: 'Long', is_static: true, distinct_ids: ['anna', ...ids, 'ben'] })
      expect(made.body).toMatchObject({ is_calculating: true, progress: { processed: 0, total: 5_002 } })
      const again = await s.send(`${cohorts}${made.body.id}/persons/`, {
        method: 'POST',
        headers: { 'content-type': 'text/csv' },
        body: ['cleo', ...ids].join('\n'),
      })
      expect(again.body.progress).toEqual({ processed: 0, total: 10_003 })
      // A busy machine may need more than one run.
      const worked = async () => {
        await work()
        return (await s.get(`${cohorts}${made.body.id}/`)).body
      }
      await expect.poll(worked).toMatchObject({ count: 3, is_calculating: false, progress: null })
    })

    it('is created as a copy of a dynamic one', async () => {
      const pros = await dynamic(tree(is('plan', 'pro')), 'Pros to copy')
      const copied = await s.post(`${cohorts}${pros.id}/duplicate_as_static_cohort/`)
      expect(copied.body).toMatchObject({
        name: 'Pros to copy (static copy)',
        is_static: true,
        is_calculating: true,
        count: null,
      })
      await work()
      expect(await listed(copied.body.id)).toEqual(['cleo', 'anna'])
      expect((await s.get(`${cohorts}${copied.body.id}/`)).body).toMatchObject({ count: 2, is_calculating: false })
      expect((await s.get(`${cohorts}${copied.body.id}/duplicate_as_static_cohort/`)).status).toBe(400)
    })

    it('cannot become dynamic', async () => {
      const { body } = await s.post(cohorts, { name: 'fixed', is_static: true })
      expect(body.count).toBe(null)
      expect((await s.patch(`${cohorts}${body.id}/`, { is_static: false })).body.attr).toBe('is_static')
      expect((await s.patch(`${cohorts}${body.id}/`, { filters: tree(is('a', 'b')) })).body.attr).toBe('filters')
      expect(
        (await s.patch(`${cohorts}${body.id}/`, { filters: { properties: { values: [] } } })).body.filters,
      ).toEqual({})
      const pros = await dynamic(tree(is('plan', 'pro')))
      expect((await s.post(`${cohorts}${pros.id}/persons/`, { distinct_ids: ['anna'] })).status).toBe(400)
      expect(
        (await s.patch(`${cohorts}${pros.id}/remove_person_from_static_cohort/`, { distinct_id: 'anna' })).status,
      ).toBe(400)
    })

    it('follows merged and removed persons', async () => {
      await createPersons(s, s.projectId, { 'm-1': {}, 'm-2': {}, 'm-3': {} })
      const { body: both } = await s.post(cohorts, {
        name: 'both',
        is_static: true,
        distinct_ids: ['m-1', 'm-2', 'm-3'],
      })
      const { body: one } = await s.post(cohorts, { name: 'one', is_static: true, distinct_ids: ['m-2'] })
      const merge = { event: '$identify', distinct_id: 'm-1', properties: { $anon_distinct_id: 'm-2' } }
      await s.post('/capture/', { api_key: s.projectToken, ...merge })
      const counts = async () => [both.id, one.id].map(async id => (await s.get(`${cohorts}${id}/`)).body.count)
      expect(await Promise.all(await counts())).toEqual([2, 1])
      expect(await listed(one.id)).toEqual(['m-1'])
      const [person] = (await s.get(`${s.project}/persons/?distinct_id=m-1`)).body.results
      await s.delete(`${s.project}/persons/${person.id}/`)
      expect(await Promise.all(await counts())).toEqual([1, 0])
      expect(await listed(one.id)).toEqual([])
    })

    it('knows how many members it has when they are added, removed, merged and deleted at once', async () => {
      const { body: cohort } = await s.post(cohorts, { name: 'busy', is_static: true })
      const rounds = [1, 2, 3, 4]
      const named = (kind: string) => rounds.map(round => `${kind}-${round}`)
      const ids = [...named('kept'), ...named('merged'), ...named('deleted')]
      await createPersons(s, s.projectId, Object.fromEntries(ids.map(id => [id, {}])))
      await s.post(`${cohorts}${cohort.id}/persons/`, { distinct_ids: [...named('merged'), ...named('deleted')] })
      const path = `${cohorts}${cohort.id}/remove_person_from_static_cohort/`
      const written = rounds.flatMap(round => {
        const properties = { $anon_distinct_id: `merged-${round}` }
        return [
          s.patch(path, { distinct_id: `merged-${round}` }),
          s.patch(path, { distinct_id: `deleted-${round}` }),
          s.post('/capture/', {
            ...{ api_key: s.projectToken, event: '$identify', distinct_id: `kept-${round}`, properties },
          }),
          s.post(`${cohorts}${cohort.id}/persons/`, { distinct_ids: ids }),
          s
            .get(`${s.project}/persons/?distinct_id=deleted-${round}`)
            .then(({ body }) => s.delete(`${s.project}/persons/${body.results[0].id}/`)),
        ]
      })
      for (const { status } of await Promise.all(written)) expect(status).toBeLessThan(300)
      expect((await s.get(`${cohorts}${cohort.id}/`)).body.count).toBe((await listed(cohort.id)).length)
    })
  })

  describe('from a flag', () => {
    const create = (id: number, body?: unknown) => s.post(`${flags}${id}/create_static_cohort_for_flag/`, body)

    it('contains every person who has the flag on, including variants', async () => {
      const filters = {
        groups: [{ properties: [is('plan', ['pro', 'free'])], rollout_percentage: 100 }],
        multivariate: {
          variants: [
            { key: 'a', rollout_percentage: 50 },
            { key: 'b', rollout_percentage: 50 },
          ],
        },
      }
      const { body: flag } = await s.post(flags, { key: 'varied', filters })
      const made = await create(flag.id)
      expect(made.status).toBe(200)
      expect(made.body).toMatchObject({ id: flag.id, key: 'varied', filters, version: 1 })
      expect(made.body.cohort).toMatchObject({
        is_static: true,
        is_calculating: true,
        count: null,
        progress: { processed: 0 },
      })
      expect(made.body.cohort.name).toMatch(/varied.*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
      await s.patch(`${flags}${flag.id}/`, { active: false })
      await work()
      expect(await listed(made.body.cohort.id)).toEqual(['cleo', 'ben', 'anna'])
      const { body: entries } = await s.get(`${cohorts}${made.body.cohort.id}/activity/`)
      expect(entries.results.map((entry: { activity: string }) => entry.activity)).toEqual(['updated', 'created'])
      expect(entries.results[0].user).toMatchObject({ is_system: true })
    })

    it('is empty for a flag that is off', async () => {
      const { body: flag } = await s.post(flags, { key: 'off', active: false })
      const made = await create(flag.id, {})
      await work()
      expect((await s.get(`${cohorts}${made.body.cohort.id}/`)).body).toMatchObject({ count: 0, is_calculating: false })
    })

    it('requires a flag, permission to edit it, and a valid body', async () => {
      expect((await create(999_999)).status).toBe(404)
      const { body: flag } = await s.post(flags, { key: 'typed' })
      expect((await create(flag.id, { active: 'yes' })).body).toMatchObject({ attr: 'active' })
      const stranger = await s.stranger(`from-flag-${dialect}`)
      expect((await stranger.post(`${flags}${flag.id}/create_static_cohort_for_flag/`)).status).toBe(404)
    })

    it('resumes where a crashed node stopped', async () => {
      const people = Object.fromEntries(Array.from({ length: 2500 }, (_, n) => [`crowd-${n}`, { crowd: true }]))
      await createPersons(s, s.projectId, people)
      const { body: flag } = await s.post(flags, {
        key: 'crowd',
        filters: { groups: [{ properties: [is('crowd', true)] }] },
      })
      const { body: made } = await create(flag.id)
      const path = `${cohorts}${made.cohort.id}/`
      for (let n = 3; ; n += 4) {
        injector.failAt(n)
        await work()
        const wasReached = injector.disarm()
        const { body } = await s.get(path)
        if (!body.is_calculating) expect(body.count).toBe(2500)
        if (!wasReached && !body.is_calculating) break
        const { n: members } = await countMembers(made.cohort.id)
        expect(members).toBe(body.count ?? 0)
        await s.halyard.database.transaction(async tx => {
          const job = await tx.cohortJobs.find(made.cohort.id)
          if (job) await tx.cohortJobs.postpone(job, '2000-01-01T00:00:00.000000Z')
        })
      }
      expect((await countMembers(made.cohort.id)).n).toBe(2500)
    })

    const countMembers = async (cohortId: number) =>
      (s.halyard.personsStorage ?? s.halyard.storage).kysely
        .selectFrom('cohort_people')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where('cohort_id', '=', cohortId)
        .executeTakeFirstOrThrow()
  })

  it('is filled exactly once by two nodes', async () => {
    const other = await startScenario(dialect, { databaseUrl: s.databaseUrl, personsUrl: s.personsUrl })
    const { body: flag } = await s.post(flags, {
      key: 'two-nodes',
      filters: { groups: [{ properties: [is('plan', 'pro')] }] },
    })
    const { body: made } = await s.post(`${flags}${flag.id}/create_static_cohort_for_flag/`)
    const path = `${cohorts}${made.cohort.id}/`
    for (let n = 0; n < 20 && (await other.get(path)).body.is_calculating; n++) {
      await Promise.all([work(), other.halyard.jobs.runDue(instantOf(new Date()))])
    }
    expect((await other.get(path)).body).toMatchObject({ count: 2, is_calculating: false })
    const { body: entries } = await s.get(`${path}activity/`)
    expect(entries.count).toBe(2)
    await other.close()
  })

  it('logs the activity of cohorts', async () => {
    const cohort = await dynamic(tree(is('plan', 'pro')), 'watched')
    await s.patch(`${cohorts}${cohort.id}/`, { name: 'renamed' })
    await s.patch(`${cohorts}${cohort.id}/`, { name: 'renamed' })
    const { body } = await s.get(`${cohorts}${cohort.id}/activity/`)
    expect(body.results).toMatchObject([
      {
        activity: 'updated',
        scope: 'Cohort',
        detail: { changes: [{ field: 'name', before: 'watched', after: 'renamed' }] },
      },
      { activity: 'created', item_id: String(cohort.id), user: { email: 'owner@halyard.local' } },
    ])
    expect((await s.get(`${cohorts}activity/?limit=1`)).body.results[0].item_id).toBe(String(cohort.id))
  })

  it('rejects an update with an out-of-date version', async () => {
    const cohort = await dynamic(tree(is('plan', 'pro')), 'versioned')
    await s.patch(`${cohorts}${cohort.id}/`, { name: 'other' })
    expect((await s.patch(`${cohorts}${cohort.id}/`, { name: 'third', version: 1 })).status).toBe(409)
    expect((await s.patch(`${cohorts}${cohort.id}/`, { name: 'third', version: 2 })).body.version).toBe(3)
  })

  it('is not accessible to other organizations', async () => {
    const cohort = await dynamic(tree(is('plan', 'pro')), 'private')
    const stranger = await s.stranger(`cohorts-${dialect}`)
    for (const path of [cohorts, `${cohorts}${cohort.id}/`, `${cohorts}${cohort.id}/persons/`]) {
      expect((await stranger.get(path)).status).toBe(404)
    }
    const own = `${stranger.project}/cohorts/`
    expect((await stranger.get(`${own}${cohort.id}/`)).status).toBe(404)
    expect((await stranger.patch(`${own}${cohort.id}/`, { name: 'mine' })).status).toBe(404)
    expect((await stranger.post(own, { name: 'x', filters: tree(within(cohort.id)) })).body.attr).toBe('filters')
    const theirs = await stranger.post(own, { name: 'x', is_static: true, distinct_ids: ['anna'] })
    expect(theirs.body).toMatchObject({ added: 0, unknown: 1 })
    const limited = await s.post('/api/personal_api_keys/', { label: 'reader', scopes: ['cohort:read'] })
    const reader = s.as(limited.body.value)
    expect((await reader.get(`${cohorts}${cohort.id}/`)).status).toBe(200)
    expect((await reader.get(`${cohorts}${cohort.id}/duplicate_as_static_cohort/`)).status).toBe(403)
    expect((await reader.post(cohorts, { name: 'x' })).status).toBe(403)
    for (const id of ['999999', 'abc', '1.5']) expect((await s.get(`${cohorts}${id}/`)).status).toBe(404)
  })

  it('writes atomically when a statement fails', async () => {
    const { body: stored } = await s.post(cohorts, { name: 'whole', is_static: true, distinct_ids: ['anna'] })
    const pros = await dynamic(tree(is('plan', 'pro')), 'whole pros')
    const writes = [
      () => s.post(cohorts, { name: 'torn', is_static: true, distinct_ids: ['anna', 'ben'] }),
      () => s.post(cohorts, { name: 'torn', filters: tree(is('plan', 'pro')) }),
      () => s.patch(`${cohorts}${stored.id}/`, { name: 'torn', distinct_ids: ['ben', 'cleo'] }),
      () => s.patch(`${cohorts}${stored.id}/remove_person_from_static_cohort/`, { distinct_id: 'anna' }),
      () => s.post(`${cohorts}${pros.id}/duplicate_as_static_cohort/`),
    ]
    const state = async () => ({
      cohorts: (await s.get(`${cohorts}?limit=1000`)).body.results.map((one: object) => ({ ...one })),
      activity: (await s.get(`${cohorts}activity/`)).body.count,
      // In a database of their own they are saved first; adding them again changes nothing.
      members: persons.persons ? [] : await s.halyard.storage.kysely.selectFrom('cohort_people').selectAll().execute(),
      jobs: await s.halyard.storage.kysely.selectFrom('cohort_jobs').selectAll().execute(),
    })
    for (const write of writes) {
      const before = await state()
      for (let n = 1; ; n++) {
        injector.failAt(n)
        const { status } = await write()
        if (!injector.disarm()) {
          expect(status).toBeLessThan(300)
          break
        }
        if (status < 300) break
        expect(await state()).toEqual(before)
      }
    }
  })
})
