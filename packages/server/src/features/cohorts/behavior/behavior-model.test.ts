import { compile, dayNumber, type EventHistory } from '@halyard/engine'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Random, randomFrom } from '../../../../../engine/src/testing/random.ts'
import type { IncomingEvent } from '../../../domain/event.ts'
import { linearRegex } from '../../../evaluation/linear-regex.ts'
import { instantOf } from '../../../instant.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { recordEvents } from '../../events/record-events.ts'
import type { Tally } from '../../events/usage/tally.ts'
import { newUuid } from '../../identity/secret.ts'

/** Random events, merges, deletions and edits, compared with a model that counts a list of everything that happened. */

const eventsCount = Number(process.env.HALYARD_BEHAVIOR_EVENTS ?? 4000)
const dayMilliseconds = 24 * 3_600_000
const daysCount = 500
const names = ['paid', 'seen', 'left', 'opened']
const noTally: Tally = { usage: [], counts: [], uncounted: new Map() }
/** Counting a long list takes a while. */
const comparisonsMax = 250

interface Occurrence {
  readonly event: string
  readonly day: number
}

interface Condition {
  readonly event: string
  readonly kind: 'performed_event' | 'performed_event_multiple' | 'performed_event_first_time'
  readonly operator: 'gte' | 'gt' | 'lte' | 'lt' | 'exact'
  readonly count: number
  readonly days: number
  readonly negation: boolean
}

const randomCondition = (random: Random): Condition => ({
  event: random.pick(names),
  kind: random.pick(['performed_event', 'performed_event_multiple', 'performed_event_first_time']),
  operator: random.pick(['gte', 'gt', 'lte', 'lt', 'exact']),
  count: random.below(6),
  days: random.pick([1, 2, 7, 30, 90, 366]),
  negation: random.chance(0.3),
})

const filterOf = ({ event, kind, operator, count, days, negation }: Condition) => ({
  type: 'behavioral',
  key: event,
  value: kind,
  operator,
  operator_value: count,
  time_value: days,
  time_interval: 'day',
  negation,
})

/** What the filter means, by looking at each event. */
function matches(occurrences: readonly Occurrence[], condition: Condition, now: number): boolean {
  const { event, kind, operator, count, days, negation } = condition
  const from = Math.floor(now / dayMilliseconds) - (days - 1)
  const own = occurrences.filter(one => one.event === event)
  const seen = own.filter(({ day }) => day >= from).length
  const compared = { gte: seen >= count, gt: seen > count, lte: seen <= count, lt: seen < count, exact: seen === count }
  const isMatch = {
    performed_event: seen > 0,
    performed_event_multiple: compared[operator],
    performed_event_first_time: own.length > 0 && own.every(({ day }) => day >= from),
  }[kind]
  return isMatch !== negation
}

onEachDatabase('behavior, compared with a model', dialect => {
  let s: Scenario
  let cohort: string
  beforeAll(async () => {
    s = await startScenario(dialect)
  })
  afterAll(() => s.close())

  /** By distinct id. */
  const log = new Map<string, Occurrence[]>()
  let conditions: readonly Condition[] = []
  let now = Date.now() - daysCount * dayMilliseconds
  const random = randomFrom(7)
  const ids = Array.from({ length: 60 + eventsCount / 500 }, (_, index) => `person-${index}`)
  const isNamed = (event: string) => conditions.some(condition => condition.event === event)

  async function edit(): Promise<void> {
    conditions = Array.from({ length: 1 + random.below(6) }, () => randomCondition(random))
    const filters = { properties: { type: 'AND', values: conditions.map(filterOf) } }
    const { status, body } = await (cohort === undefined
      ? s.post(`${s.project}/cohorts/`, { name: 'did', filters })
      : s.patch(cohort, { filters }))
    expect(status).toBeLessThan(300)
    cohort = `${s.project}/cohorts/${body.id}/`
    // What no filter names any more is forgotten.
    for (const [id, occurrences] of log)
      log.set(
        id,
        occurrences.filter(({ event }) => isNamed(event)),
      )
  }

  function randomEvent(): IncomingEvent {
    const merge = random.chance(0.04)
    const name = merge ? random.pick(['$identify', '$merge_dangerously']) : random.pick(names)
    const late = random.chance(0.3) ? random.below(random.pick([3, 40, 450])) : 0
    const skew = random.chance(0.1) ? random.below(5) : 0
    const properties = merge
      ? { [name === '$identify' ? '$anon_distinct_id' : 'alias']: random.pick(ids) }
      : random.chance(0.03)
        ? { $process_person_profile: false }
        : {}
    const at = instantOf(new Date(now - (late - skew) * dayMilliseconds))
    return { uuid: newUuid(), name, distinctId: random.pick(ids), properties, at, ip: null }
  }

  /** Transactions that run at once, as on several nodes. */
  async function ingest(batches: readonly (readonly IncomingEvent[])[]): Promise<void> {
    const { database } = s.halyard
    const project = (await database.read(tx => tx.projects.find(s.projectId)))!
    const at = instantOf(new Date(now))
    await Promise.all(
      batches.map(events =>
        database.transaction(tx => recordEvents(tx, { project, events, tally: noTally }, events, at), {
          withPersons: true,
        }),
      ),
    )
    for (const { name, distinctId, properties, at: time } of batches.flat()) {
      if (!isNamed(name) || properties.$process_person_profile === false) continue
      const day = Math.floor(Math.min(Date.parse(time), now) / dayMilliseconds)
      const occurrences = log.get(distinctId) ?? []
      occurrences.push({ event: name, day })
      log.set(distinctId, occurrences)
    }
  }

  async function deleteSomeone(): Promise<void> {
    const id = random.pick(ids)
    const persons = await s.halyard.database.people.read(tx => tx.persons.findByDistinctIds(s.projectId, ids))
    const person = persons.get(id)
    if (person === undefined) return
    expect((await s.delete(`${s.project}/persons/${person.id}/`)).status).toBeLessThan(300)
    for (const own of ids) if (persons.get(own)?.id === person.id) log.delete(own)
  }

  const trim = () =>
    s.halyard.database.transaction(
      async tx => {
        for (const { id } of (await tx.countedEvents.listLive(s.projectId)).values()) {
          while (await tx.people.eventDays.trim(id, dayNumber(now) - 366, 50));
        }
      },
      { withPersons: true },
    )

  async function compare(): Promise<number> {
    const live = await s.halyard.database.read(tx => tx.countedEvents.listLive(s.projectId))
    const { persons, histories } = await s.halyard.database.people.read(async tx => {
      const persons = await tx.persons.findByDistinctIds(s.projectId, ids)
      const personIds = [...new Set([...persons.values()].map(({ id }) => id))]
      return { persons, histories: await tx.eventDays.histories(personIds, [...live.values()], dayNumber(now) - 366) }
    })
    const snapshot = compile(
      {
        flags: conditions.map((_, index) => ({
          id: index + 1,
          key: `flag-${index}`,
          active: true,
          filters: { groups: [{ properties: [{ type: 'cohort', key: 'id', value: index + 1 }] }] },
        })),
        cohorts: conditions.map((condition, index) => ({
          id: index + 1,
          isStatic: false,
          filters: { properties: { type: 'AND', values: [filterOf(condition)] } },
        })),
        groupTypes: {},
        propertyMatchingVersion: 2,
      },
      { regex: linearRegex },
    )
    let matched = 0
    for (const personId of new Set([...persons.values()].map(({ id }) => id))) {
      const own = ids.filter(id => persons.get(id)?.id === personId)
      const occurrences = own.flatMap(id => log.get(id) ?? [])
      const events: Readonly<Record<string, EventHistory>> = histories.get(personId) ?? {}
      const results = snapshot.evaluate({ distinctId: own[0]!, events }, { now })
      const expected = conditions.map(condition => matches(occurrences, condition, now))
      expect(conditions.map((_, index) => results.get(`flag-${index}`)!.enabled)).toEqual(expected)
      matched += expected.filter(Boolean).length
    }
    return matched
  }

  it(`is equal over ${eventsCount} events`, { timeout: 3_600_000 }, async () => {
    await edit()
    let sent = 0
    let matched = 0
    let compared = 0
    const batchMax = Math.max(20, Math.min(300, eventsCount / 50))
    while (sent < eventsCount) {
      const batches = Array.from({ length: 1 + random.below(3) }, () =>
        Array.from({ length: 1 + random.below(batchMax) }, randomEvent),
      )
      await ingest(batches)
      const count = batches.flat().length
      sent += count
      now += (daysCount * dayMilliseconds * count) / eventsCount
      if (random.chance(0.1)) await deleteSomeone()
      if (random.chance(0.05)) await edit()
      if (random.chance(0.1)) await trim()
      if (sent >= compared + eventsCount / comparisonsMax || sent >= eventsCount) {
        matched += await compare()
        compared = sent
      }
    }
    expect(matched).toBeGreaterThan(0)
    const size = (await s.halyard.storage.kysely.selectFrom('person_event_days').selectAll().execute()).length
    console.log(`${dialect}: ${sent} events, ${matched} matches, ${size} rows at the end`)
  })
})
