import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { IncomingEvent } from '../../../domain/event.ts'
import { instantOf } from '../../../instant.ts'
import { expectAtomic } from '../../../testing/atomicity.ts'
import { countsAreInDatabase } from '../../../testing/clickhouse-lane.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { createFaultInjector } from '../../../testing/failing-statement.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import type { EventPipeline } from '../event-pipeline.ts'
import { createIngest, type IngestObserver } from './ingest.ts'

const untouched = {
  persons: 0,
  person_distinct_ids: 0,
  hash_key_overrides: 0,
  cohort_people: 0,
  groups: 0,
  group_types: 0,
  flag_usage: 0,
  flag_usage_users: 0,
  flag_last_used: 0,
  event_backlog: 0,
  event_counts: 0,
  changes: 0,
}

/** ClickHouse gets them from the backlog. */
const countedLater = { flag_usage: 0, flag_usage_users: 0, event_backlog: 1 }

onEachDatabase('ingest under faults', dialect => {
  const injector = createFaultInjector()
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect, { storage: injector })
    await s.post(`${s.project}/feature_flags/`, { key: 'counted' })
  })
  afterAll(() => s.close())

  const capture = (...batch: object[]) => s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
  const find = (distinctId: string) =>
    s.halyard.database.people.read(async tx =>
      (await tx.persons.findByDistinctIds(s.projectId, [distinctId])).get(distinctId),
    )

  it('records a batch atomically whichever statement fails', async () => {
    await capture(
      { event: '$set', distinct_id: 'anon', $set: { a: 1 } },
      { event: '$set', distinct_id: 'user', $set: { b: 1 } },
    )
    await s.halyard.database.people.transaction(async tx => {
      const anon = (await tx.persons.findByDistinctIds(s.projectId, ['anon'])).get('anon')
      await tx.persons.addHashKeys(s.projectId, anon?.id ?? 0, [{ flagKey: 'counted', hashKey: 'anon' }])
    })
    const cohort = await s.post(`${s.project}/cohorts/`, { name: 'Static', is_static: true })
    await s.halyard.database.people.transaction(async tx => {
      const anon = (await tx.persons.findByDistinctIds(s.projectId, ['anon'])).get('anon')
      await tx.cohortMembers.add(s.projectId, cohort.body.id, [anon?.id ?? 0])
    })
    const identified = {
      persons: 2,
      person_distinct_ids: 2,
      hash_key_overrides: 1,
      cohort_people: 1,
      groups: 1,
      group_types: 1,
      ...(countsAreInDatabase ? { flag_usage: 1, flag_usage_users: 1, event_backlog: 0 } : countedLater),
      flag_last_used: 1,
      event_counts: 4,
      // Of the project, and of the merged persons.
      changes: 2,
    }
    const reply = await expectAtomic(s, injector, identified, () =>
      capture(
        { event: '$identify', distinct_id: 'user', $set: { c: 1 }, properties: { $anon_distinct_id: 'anon' } },
        { event: 'seen', distinct_id: 'new' },
        {
          event: '$groupidentify',
          distinct_id: 'user',
          properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 1 } },
        },
        { event: '$feature_flag_called', distinct_id: 'user', properties: { $feature_flag: 'counted' } },
      ),
    )
    expect(reply.body).toEqual({ status: 1 })
    const user = await find('anon')
    expect(user?.properties).toEqual({ a: 1, b: 1, c: 1 })
    const cohorts = await s.halyard.database.people.read(tx =>
      tx.cohortMembers.holding(user?.id ?? 0, [cohort.body.id]),
    )
    expect([...cohorts]).toEqual([cohort.body.id])
    const usage = { flagKey: 'counted', kind: 'called', from: '2000-01-01', to: '2999-01-01' } as const
    const series = await s.halyard.database.read(tx => tx.usage.series(s.projectId, usage))
    expect(series).toMatchObject([{ calls: 1, users: 1 }])
  })

  it('rejects events of a project that is deleted while they wait', async () => {
    const { body: project } = await s.post('/api/projects/', { name: 'Short-lived' })
    const send = (distinctId: string) =>
      s.as(undefined).post('/batch/', {
        api_key: project.api_token,
        batch: [{ event: 'seen', distinct_id: distinctId, $set: { a: 1 } }],
      })
    expect((await send('first')).status).toBe(200)
    const deleting = s.delete(`/api/projects/${project.id}/`)
    const replies = await Promise.all(Array.from({ length: 40 }, (_, index) => send(`p${index}`)))
    expect((await deleting).status).toBe(204)
    for (const { status, body } of replies.filter(reply => reply.status !== 200))
      expect([status, body.detail]).toEqual([401, 'No project has this token.'])
  })

  it('deletes a person atomically', async () => {
    const { snapshots } = s.halyard.serving
    // The previous test changed the project: its reload must not consume the injected faults.
    await expect
      .poll(async () => (await snapshots.forProject(s.projectId))?.project.groupTypes)
      .toEqual({ 0: 'company' })
    const person = await find('user')
    const rows = { persons: 1, person_distinct_ids: 2, hash_key_overrides: 1, cohort_people: 1 }
    // The person, and the cohort that records the loss of a member.
    const deleted = { ...untouched, ...rows, changes: 2, activity: 1 }
    const reply = await expectAtomic(s, injector, deleted, () => s.delete(`${s.project}/persons/${person?.uuid}/`))
    expect(reply.status).toBe(202)
    expect(await find('anon')).toBeUndefined()
    expect(await s.halyard.storage.kysely.selectFrom('cohort_people').selectAll().execute()).toEqual([])
  })

  it('results in the same persons however the events are split into requests', async () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd')
    const anEvent = fc.oneof(
      fc.record({ name: fc.constant('$set'), id, other: id, value: fc.nat(3) }),
      fc.record({
        name: fc.constantFrom('$identify', '$create_alias', '$merge_dangerously'),
        id,
        other: id,
        value: fc.nat(3),
      }),
    )
    let round = 0
    const personsOf = async (prefix: string) => {
      const found = await Promise.all(['a', 'b', 'c', 'd'].map(name => find(`${prefix}${name}`)))
      const first = (person: (typeof found)[number]) => found.findIndex(other => other?.id === person?.id)
      return found.map(
        person => person && [first(person), person.properties, person.isIdentified, person.distinctIdCount],
      )
    }
    await fc.assert(
      fc.asyncProperty(fc.array(anEvent, { minLength: 1, maxLength: 8 }), fc.nat(7), async (steps, cut) => {
        const [whole, parts] = [`w${round}-`, `p${round++}-`]
        const events = (prefix: string) =>
          steps.map(({ name, id, other, value }) => ({
            event: name,
            distinct_id: prefix + id,
            properties: { $anon_distinct_id: prefix + other, alias: prefix + other, $set: { last: value } },
          }))
        await capture(...events(whole))
        await capture(...events(parts).slice(0, cut))
        await capture(...events(parts).slice(cut))
        expect(await personsOf(parts)).toEqual(await personsOf(whole))
      }),
      { numRuns: 15 },
    )
  })

  describe('before the queue', () => {
    const dropped: [string, number][] = []
    const observer: IngestObserver = {
      received() {},
      dropped: (reason, events) => void dropped.push([reason, events]),
      committed() {},
    }
    const ingestOf = (more: { pipeline?: EventPipeline; eventsWaitingMax?: number } = {}) =>
      createIngest({
        database: s.halyard.database,
        findProject: s.halyard.serving.snapshots.forToken,
        pipeline: { handles: () => false, transform: async (_, event) => event, keep: async () => () => {} },
        observer,
        now: () => instantOf(new Date()),
        ...more,
      })
    const send = (ingest: ReturnType<typeof ingestOf>, ...batch: object[]) =>
      ingest.receive({ api_key: s.projectToken, batch }, '/batch', null)

    it('under overload drops and reports events that are only counted, and rejects profile updates', async () => {
      dropped.length = 0
      const ingest = ingestOf({ eventsWaitingMax: 10 })
      const counted = Array.from({ length: 5 }, (_, n) => ({ event: 'seen', distinct_id: `counted-${n}` }))
      const updates = Array.from({ length: 8 }, (_, n) => ({ event: '$set', distinct_id: `update-${n}`, $set: { n } }))
      const first = send(ingest, ...counted)
      const second = send(ingest, ...counted)
      const third = send(ingest, ...updates.slice(0, 4))
      const fourth = send(ingest, ...updates)
      await expect(fourth).rejects.toMatchObject({ kind: 'unavailable' })
      await Promise.all([first, second, third])
      expect(dropped).toEqual([['overload', 5]])
      expect(ingest.waiting).toBe(0)
      expect(await find('update-3')).toBeDefined()
      expect(await find('update-7')).toBeUndefined()
      await send(ingest, ...updates)
      expect(await find('update-7')).toBeDefined()
    })

    it('runs events through the pipeline and delivers those that were recorded', async () => {
      dropped.length = 0
      const delivered: IncomingEvent[] = []
      const ingest = ingestOf({
        pipeline: {
          handles: () => true,
          transform: async (_, event) =>
            event.name === 'unwanted'
              ? null
              : { ...event, properties: { ...event.properties, $set: { by: 'plugin' } } },
          keep: async (_tx, _project, events) => () => void delivered.push(...events),
        },
      })
      await send(ingest, { event: 'wanted', distinct_id: 'piped' }, { event: 'unwanted', distinct_id: 'piped' })
      expect((await find('piped'))?.properties).toEqual({ by: 'plugin' })
      expect(delivered.map(event => event.name)).toEqual(['wanted'])
      expect(dropped).toEqual([['plugin', 1]])
    })
  })
})
