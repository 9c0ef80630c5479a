import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import type { PersonStores } from '../../../stores.ts'
import { freeLeases, onEachPersonsDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { newUuid } from '../../identity/secret.ts'
import { createPersonLedger, type PersonLedger } from '../../persons/person-ledger.ts'

const dayMilliseconds = 24 * 3_600_000
const inDays = (days: number) => instantOf(new Date(Date.now() + days * dayMilliseconds))
const performed = (key: string, more: object = {}) => ({
  type: 'behavioral',
  event_type: 'events',
  key,
  value: 'performed_event',
  time_value: 30,
  time_interval: 'day',
  ...more,
})
const times = (key: string, operator: string, operator_value: number, more: object = {}) =>
  performed(key, { value: 'performed_event_multiple', operator, operator_value, ...more })
const firstTime = (key: string, more: object = {}) => performed(key, { value: 'performed_event_first_time', ...more })
const tree = (...values: object[]) => ({ properties: { type: 'AND', values } })
const inCohort = (value: number) => ({
  groups: [{ properties: [{ type: 'cohort', key: 'id', operator: 'in', value }] }],
})

onEachPersonsDatabase('behavioral cohorts', (dialect, persons) => {
  let s: Scenario
  let cohorts: string
  beforeAll(async () => {
    s = await startScenario(dialect, persons)
    cohorts = `${s.project}/cohorts/`
  })
  afterAll(() => s.close())

  const create = async (name: string, ...filters: object[]): Promise<number> => {
    const reply = await s.post(cohorts, { name, filters: tree(...filters) })
    expect([reply.status, reply.text]).toEqual([201, expect.anything()])
    const { status } = await s.post(`${s.project}/feature_flags/`, { key: name, filters: inCohort(reply.body.id) })
    expect(status).toBe(201)
    return reply.body.id
  }
  const send = async (...events: readonly (readonly [event: string, distinctId: string, more?: object])[]) => {
    const batch = events.map(([event, distinct_id, more]) => ({ event, distinct_id, properties: {}, ...more }))
    expect((await s.post('/batch/', { api_key: s.projectToken, batch })).status).toBe(200)
  }
  const isOn = async (flag: string, distinctId: string): Promise<boolean> => {
    const body = { token: s.projectToken, distinct_id: distinctId, flag_keys_to_evaluate: [flag] }
    return (await s.as(undefined).post('/flags/?v=2', body)).body.flags[flag].enabled
  }
  const remove = async (...ids: number[]) => {
    for (const id of ids) {
      const { results } = (await s.get(`${s.project}/feature_flags/`)).body
      const used = results.filter((flag: object) => JSON.stringify(flag).includes(`"value":${id}`))
      for (const flag of used) await s.patch(`${s.project}/feature_flags/${flag.id}/`, { deleted: true })
      expect((await s.patch(`${cohorts}${id}/`, { deleted: true })).status).toBe(200)
    }
  }
  /** Of the events that are counted now. */
  const rows = async (): Promise<object[]> => {
    const { storage, personsStorage = storage } = s.halyard
    const live = storage.kysely.selectFrom('counted_events').select('id').where('ended_at', 'is', null)
    const ids = (await live.execute()).map(({ id }) => id)
    return personsStorage.kysely.selectFrom('person_event_days').selectAll().where('event_id', 'in', ids).execute()
  }
  const countsOf = (eventId: number) => {
    const { storage, personsStorage = storage } = s.halyard
    return personsStorage.kysely.selectFrom('person_event_days').selectAll().where('event_id', '=', eventId).execute()
  }
  const ago = (days: number) => ({ timestamp: new Date(Date.now() - days * dayMilliseconds).toISOString() })

  it('change with the next event, for every operator', async () => {
    const ids = [
      await create('paid-twice', times('paid', 'gte', 2)),
      await create('never-paid', performed('paid', { negation: true })),
      await create('paid-once', times('paid', 'exact', 1)),
      await create('new-payer', firstTime('paid', { time_value: 7 })),
    ]
    expect(await isOn('never-paid', 'ada')).toBe(true)
    await send(['paid', 'ada'], ['seen', 'ada'])
    expect(
      await Promise.all(['paid-twice', 'never-paid', 'paid-once', 'new-payer'].map(flag => isOn(flag, 'ada'))),
    ).toEqual([false, false, true, true])
    await send(['paid', 'ada'])
    expect(await Promise.all(['paid-twice', 'paid-once'].map(flag => isOn(flag, 'ada')))).toEqual([true, false])
    await remove(...ids)
  })

  it('count late events on their own day and future ones today, after correcting skewed clocks', async () => {
    const id = await create('recent', times('opened', 'gte', 2, { time_value: 7 }))
    const first = await create('fresh', firstTime('opened', { time_value: 7 }))
    await send(['opened', 'late', ago(6)], ['opened', 'late', ago(8)])
    expect([await isOn('recent', 'late'), await isOn('fresh', 'late')]).toEqual([false, false])
    await send(['opened', 'late', ago(1)])
    expect(await isOn('recent', 'late')).toBe(true)
    await send(['opened', 'future', ago(-5)], ['opened', 'future', ago(-5)])
    expect([await isOn('recent', 'future'), await isOn('fresh', 'future')]).toEqual([true, true])
    // A clock that is ten days behind: sent at the same wrong time.
    await send(['opened', 'skewed', { ...ago(10), sent_at: ago(10).timestamp }], ['opened', 'skewed'])
    expect(await isOn('recent', 'skewed')).toBe(true)
    await remove(id, first)
  })

  it('add up what merged persons did, and forget deleted persons', async () => {
    const id = await create('thrice', times('bought', 'gte', 3))
    await send(['bought', 'device'], ['bought', 'user'])
    expect([await isOn('thrice', 'device'), await isOn('thrice', 'user')]).toEqual([false, false])
    await send(['bought', 'device'], ['$identify', 'user', { properties: { $anon_distinct_id: 'device' } }])
    expect([await isOn('thrice', 'device'), await isOn('thrice', 'user')]).toEqual([true, true])
    const [person] = (await s.get(`${s.project}/persons/?distinct_id=user`)).body.results
    expect((await s.delete(`${s.project}/persons/${person.id}/`)).status).toBeLessThan(300)
    expect(await isOn('thrice', 'user')).toBe(false)
    expect(await rows()).toEqual([])
    await remove(id)
  })

  it('lose no count of a person that is merged meanwhile, and keep none of one that is removed', async () => {
    const { people } = s.halyard.database
    const at = instantOf(new Date())
    const write = (ids: readonly string[], change: (ledger: PersonLedger) => void) =>
      people.transaction(async tx => {
        const ledger = createPersonLedger(await tx.persons.findByDistinctIds(s.projectId, ids), newUuid)
        change(ledger)
        await tx.persons.write(s.projectId, ledger.drafts())
      })
    const find = (tx: PersonStores, id: string) =>
      tx.persons.findByDistinctIds(s.projectId, [id]).then(found => found.get(id))
    const eventId = 1_000_000
    const count = (id: string) =>
      people.transaction(async tx => {
        const person = await find(tx, id)
        if (person) await tx.eventDays.add(s.projectId, [{ personId: person.id, eventId, day: 20_000, count: 1 }])
      })
    const indexes = Array.from({ length: 12 }, (_, index) => index)
    const ids = indexes.flatMap(index => [`from-${index}`, `into-${index}`, `gone-${index}`])
    await write(ids, ledger => {
      for (const id of ids) ledger.see(id, at)
    })
    await Promise.all(
      indexes.flatMap(index => [
        count(`from-${index}`),
        count(`into-${index}`),
        count(`gone-${index}`),
        write([`from-${index}`, `into-${index}`], ledger =>
          ledger.merge(`into-${index}`, `from-${index}`, at, 'force'),
        ),
        count(`from-${index}`),
        people.transaction(async tx => {
          const person = await find(tx, `gone-${index}`)
          await tx.persons.remove(s.projectId, person!.id)
        }),
        count(`gone-${index}`),
      ]),
    )
    const survivors = await people.read(async tx => {
      const found = await tx.persons.findByDistinctIds(s.projectId, ids)
      return indexes.map(index => found.get(`from-${index}`)!.id)
    })
    const stored = await countsOf(eventId)
    expect(stored.toSorted((a, b) => a.person_id - b.person_id)).toEqual(
      survivors.toSorted((a, b) => a - b).map(person_id => expect.objectContaining({ person_id, count: 3 })),
    )
    await people.transaction(tx => tx.eventDays.remove(eventId, 1000))
  })

  it.each(['project', 'organization'])('leave no counts behind when their %s is deleted', async deleted => {
    const account = await s.stranger(`deleted-${deleted}`)
    const project = (await account.get(`${account.project}/`)).body
    const { status } = await account.post(`${account.project}/cohorts/`, { name: 'c', filters: tree(performed('z')) })
    expect(status).toBe(201)
    const batch = [{ event: 'z', distinct_id: 'ada', properties: {} }]
    expect((await s.post('/batch/', { api_key: project.api_token, batch })).status).toBe(200)
    const live = s.halyard.storage.kysely.selectFrom('counted_events').select('id')
    const { id } = await live.where('project_id', '=', project.id).executeTakeFirstOrThrow()
    await expect.poll(() => countsOf(id)).toHaveLength(1)
    const path = deleted === 'project' ? account.project : `/api/organizations/${project.organization}`
    expect((await account.delete(`${path}/`)).status).toBeLessThan(300)
    if (persons.persons) await s.halyard.jobs.runDue(inDays(0))
    expect(await countsOf(id)).toEqual([])
  })

  it('say since when each event is counted; naming an event again starts from zero', async () => {
    const before = new Date().toISOString()
    const id = await create('counted', performed('a'), times('b', 'lte', 5))
    const shown = async () => (await s.get(`${cohorts}${id}/`)).body.counted_events
    const [a, b] = await shown()
    expect([a.event, b.event]).toEqual(['a', 'b'])
    expect(a.counted_since >= before).toBe(true)
    const listed = (await s.get(cohorts)).body.results.find((cohort: { id: number }) => cohort.id === id)
    expect(listed.counted_events).toEqual([a, b])
    await send(['a', 'ada'], ['b', 'ada'])
    expect(await isOn('counted', 'ada')).toBe(true)
    // Another window and operator use what is counted already.
    await s.patch(`${cohorts}${id}/`, { filters: tree(times('a', 'exact', 1, { time_value: 1 })) })
    expect(await shown()).toEqual([a])
    expect(await isOn('counted', 'ada')).toBe(true)
    await s.patch(`${cohorts}${id}/`, { filters: tree(times('b', 'gte', 1)) })
    const [again] = await shown()
    expect(again.counted_since > b.counted_since).toBe(true)
    expect(await isOn('counted', 'ada')).toBe(false)
    await send(['b', 'ada'])
    expect(await isOn('counted', 'ada')).toBe(true)
    await remove(id)
    expect(await shown()).toEqual([])
  })

  it('are counted, listed and measured like other cohorts', async () => {
    const id = await create('active', times('used', 'gte', 2))
    await send(['used', 'one'], ['used', 'two'], ['used', 'two'], ['other', 'three'])
    await s.post(`${cohorts}${id}/calculate/`)
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(inDays(0))
    expect((await s.get(`${cohorts}${id}/`)).body.count).toBe(1)
    const { results } = (await s.get(`${cohorts}${id}/persons/`)).body
    expect(results.map((person: { distinct_ids: string[] }) => person.distinct_ids)).toEqual([['two']])
    const blast = await s.post(`${s.project}/feature_flags/user_blast_radius/`, { filters: inCohort(id) })
    expect(blast.body.users_affected).toBe(1)
    const copy = await s.get(`${cohorts}${id}/duplicate_as_static_cohort/`)
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(inDays(0))
    expect((await s.get(`${cohorts}${copy.body.id}/`)).body.count).toBe(1)
    await remove(id)
  })

  it('are left out of the definitions for SDKs, also when another filter of theirs would decide', async () => {
    const id = await create('left-out', performed('x'))
    const key = await s.post(`${s.project}/feature_flags/`, { key: 'plain', filters: { groups: [{}] } })
    const { body } = await s.get(`/flags/definitions?token=${s.projectToken}&send_cohorts`)
    expect(body.flags.map((flag: { key: string }) => flag.key)).toContain('left-out')
    expect(Object.keys(body.cohorts)).not.toContain(String(id))
    await s.patch(`${s.project}/feature_flags/${key.body.id}/`, { deleted: true })
    await remove(id)
  })

  it('have their counts removed when no cohort names the event, or the day is beyond every window', async () => {
    const id = await create('trimmed', firstTime('old', { time_value: 1, time_interval: 'year' }))
    await send(['old', 'ada', ago(0)], ['old', 'ada', ago(200)], ['old', 'ada', ago(300)], ['old', 'new', ago(0)])
    expect(await rows()).toHaveLength(4)
    const run = async (days: number) => {
      await freeLeases(s.halyard.storage)
      await s.halyard.jobs.runDue(inDays(days))
    }
    await run(0)
    expect(await rows()).toHaveLength(4)
    // Both older days are beyond the windows; the first of them is kept, so that later ones are not taken for the first.
    await run(200)
    expect(await rows()).toHaveLength(3)
    await send(['old', 'ada', ago(290)])
    await run(201)
    expect(await rows()).toHaveLength(3)
    await remove(id)
    await run(202)
    const { kysely } = s.halyard.storage
    const { storage, personsStorage = storage } = s.halyard
    expect(await personsStorage.kysely.selectFrom('person_event_days').selectAll().execute()).toEqual([])
    expect(await kysely.selectFrom('counted_events').selectAll().execute()).toEqual([])
  })

  it('are limited per project, in filters and in events', async () => {
    const many = Array.from({ length: 50 }, (_, index) => times('same', 'gte', index))
    const id = await create('many', ...many)
    const more = await s.post(cohorts, { name: 'more', filters: tree(performed('same')) })
    expect(more.body).toMatchObject({ code: 'max_length', attr: 'filters', detail: expect.stringContaining('50') })
    expect(more.status).toBe(400)
    const names = Array.from({ length: 26 }, (_, index) => performed(`event-${index}`))
    const tooMany = await s.patch(`${cohorts}${id}/`, { filters: tree(...names) })
    expect(tooMany.body).toMatchObject({ code: 'max_length', detail: expect.stringContaining('25') })
    expect((await s.get(`${cohorts}${id}/`)).body.counted_events).toHaveLength(1)
    // Without the cohort there is space again.
    await remove(id)
    const other = await create('other', performed('same'))
    const restored = await s.patch(`${cohorts}${id}/`, { deleted: false })
    expect([restored.status, restored.body.code]).toEqual([400, 'max_length'])
    await remove(other)
  })

  it.each([
    [{ event_filters: [{ key: 'amount', value: 5 }] }, 'event_filters'],
    [{ value: 'restarted_performing_event' }, 'value'],
    [{ time_interval: 'hour' }, 'time_interval'],
    [{ seq_event: 'x' }, 'seq_event'],
  ])('refuse %j and name the path', async (more, field) => {
    const before = (await s.get(cohorts)).body.count
    const reply = await s.post(cohorts, { name: 'no', filters: tree(performed('paid', more)) })
    expect([reply.status, reply.body.attr]).toEqual([400, 'filters'])
    expect(reply.body.detail).toContain(`filters.properties.values[0].${field}: `)
    expect((await s.get(cohorts)).body.count).toBe(before)
  })
})
