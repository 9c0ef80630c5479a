import { dayNumber } from '@halyard/engine'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../../../../engine/src/testing/random.ts'
import type { IncomingEvent } from '../../../domain/event.ts'
import { type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { createJobRunner } from '../../../jobs/job-runner.ts'
import { eventsUrl } from '../../../settings/events-url.ts'
import type { DialectName } from '../../../storage/migrations/migration.ts'
import {
  answerPersonEvents,
  type ClickHouseStandIn,
  startClickHouseStandIn,
} from '../../../testing/clickhouse-stand-in.ts'
import { dialects, onEachDatabase, writeDirectly } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { newUuid } from '../../identity/secret.ts'
import { createBacklogMonitor } from '../clickhouse/backlog-monitor.ts'
import { type ClickHouseClient, ClickHouseError, createClickHouseClient } from '../clickhouse/clickhouse-client.ts'
import { forwardCounts } from '../clickhouse/forward-counts.ts'
import { createSchema } from '../clickhouse/schema.ts'
import { recordEvents } from '../record-events.ts'
import type { Tally } from '../usage/tally.ts'
import { inFlightMilliseconds, readHistories } from './read-histories.ts'

/** Random events, names, merges, deletions and interruptions, compared with a list of everything that happened. */

const stepsCount = Number(process.env.HALYARD_HISTORY_STEPS ?? 40)
const dayMilliseconds = 24 * 3_600_000
const names = ['paid', 'seen', "it's left", 'opened']
const noTally: Tally = { usage: [], counts: [], uncounted: new Map() }
const silent = { info() {}, warn() {} }

interface Occurrence {
  readonly event: string
  readonly day: number
}

const title = 'histories from ClickHouse, compared with a model'
onEachDatabase(title, dialect => suite(dialect, undefined))
// Two files cannot take part in transactions that run at once, and persons in a file of their own are for tests only.
if (dialects.at(-1) === 'postgres') describe(`${title}, with persons on postgres`, () => suite('sqlite', 'postgres'))

function suite(dialect: DialectName, persons: DialectName | undefined): void {
  let s: Scenario
  let clickHouse: ClickHouseStandIn
  let cohort: string | undefined
  beforeAll(async () => {
    clickHouse = await startClickHouseStandIn()
    clickHouse.answer = answerPersonEvents(clickHouse)
    s = await startScenario(dialect, { persons, environment: { EVENTS_URL: clickHouse.url } })
  })
  afterAll(async () => {
    await clickHouse.close()
    await s.close()
  })

  const random = randomFrom(11)
  /** By distinct id. */
  const log = new Map<string, Occurrence[]>()
  let created = 0
  const newId = () => `person-${created++}`
  let ids = Array.from({ length: 60 }, newId)

  async function name(): Promise<void> {
    const filters = names
      .filter(() => random.chance(0.5))
      .map(key => ({ type: 'behavioral', key, value: 'performed_event', time_value: 30, time_interval: 'day' }))
    const properties = [{ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }, ...filters]
    const body = { name: 'did', filters: { properties: { type: 'OR', values: properties } } }
    const reply = await (cohort ? s.patch(cohort, body) : s.post(`${s.project}/cohorts/`, body))
    expect(reply.status).toBeLessThan(300)
    cohort = `${s.project}/cohorts/${reply.body.id}/`
  }

  function randomEvent(now: number): IncomingEvent {
    const merge = random.chance(0.06)
    const properties = merge
      ? { alias: random.pick(ids) }
      : random.chance(0.03)
        ? { $process_person_profile: false }
        : {}
    const late = random.chance(0.6) ? random.below(random.pick([3, 40, 360])) : -random.below(2)
    return {
      uuid: newUuid(),
      name: merge ? '$merge_dangerously' : random.pick(names),
      distinctId: random.pick(ids),
      properties,
      at: instantOf(new Date(now - late * dayMilliseconds)),
      ip: null,
    }
  }

  /** Transactions that run at once, as on several nodes. */
  async function ingest(): Promise<void> {
    const { database } = s.halyard
    const project = (await database.read(tx => tx.projects.find(s.projectId)))!
    const now = Date.now()
    const batches = Array.from({ length: 3 }, () =>
      Array.from({ length: 1 + random.below(12) }, () => randomEvent(now)),
    )
    await Promise.all(
      batches.map(events =>
        database.transaction(
          tx => recordEvents(tx, { project, events, tally: noTally }, events, instantOf(new Date(now))),
          { withPersons: true },
        ),
      ),
    )
    for (const { name: event, distinctId, properties, at } of batches.flat()) {
      if (properties.$process_person_profile === false) continue
      const day = dayNumber(Math.min(Date.parse(at), now))
      log.set(distinctId, [...(log.get(distinctId) ?? []), { event, day }])
    }
  }

  const findPersons = () =>
    s.halyard.database.people.read(tx => tx.persons.findByDistinctIds(s.projectId, [...log.keys(), ...ids]))

  /** The ids of someone who was deleted do not send again: ClickHouse would still know their hashes. */
  async function deleteSomeone(): Promise<void> {
    const found = await findPersons()
    const person = found.get(random.pick(ids))
    if (person === undefined) return
    expect((await s.delete(`${s.project}/persons/${person.id}/`)).status).toBeLessThan(300)
    for (const [id, { id: personId }] of found) {
      if (personId !== person.id) continue
      log.delete(id)
      ids = ids.map(own => (own === id ? newId() : own))
    }
  }

  /** Another node takes over each time; it fails after some queries. */
  async function run(queriesMax: number): Promise<void> {
    const client = createClickHouseClient(eventsUrl(clickHouse.url))
    let queries = 0
    const failing: ClickHouseClient = {
      ...client,
      async query(statement, millisecondsMax) {
        if (queries++ >= queriesMax) throw new ClickHouseError('away')
        return client.query(statement, millisecondsMax)
      },
    }
    const monitor = createBacklogMonitor(new Registry(), Number.POSITIVE_INFINITY)
    const failures: unknown[] = []
    const jobs = [
      forwardCounts({ client, schema: createSchema(client), monitor, log: silent }),
      readHistories({ client: failing, readMillisecondsMax: 5000, log: silent, idsPerPage: 7 }),
    ]
    for (const job of jobs) {
      const runner = createJobRunner({
        ...{ database: s.halyard.database, node: 'test', jobs: [job], everyMilliseconds: 0 },
        now: later,
        onError: (_, error) => failures.push(error),
      })
      await runner.runDue(later())
      await runner.close()
    }
    expect(failures).toEqual([])
  }

  /** When no transaction is left that does not know of the last event that was named. */
  const later = (): Instant => plusMilliseconds(instantOf(new Date()), 2 * inFlightMilliseconds)

  /** As after a crash between a page and its position. */
  const repeatPages = () =>
    writeDirectly(s.halyard.storage, async db => {
      const rows = await db.selectFrom('counted_events').selectAll().where('read_at', 'is', null).execute()
      for (const { id, read_after } of rows) {
        if (read_after === null) continue
        const after = random.pick(['', ...[...log.keys()].filter(own => own < read_after)])
        await db.updateTable('counted_events').set({ read_after: after }).where('id', '=', id).execute()
      }
    })

  /** What is counted for each person, event and day; `isComplete` says whether all of it has to be there. */
  async function compare(isComplete: boolean): Promise<number> {
    const live = await s.halyard.database.read(tx => tx.countedEvents.listLive(s.projectId))
    const found = await findPersons()
    const personIds = [...new Set([...found.values()].map(({ id }) => id))]
    const histories = await s.halyard.database.people.read(tx =>
      tx.eventDays.histories(personIds, [...live.values()], 0),
    )
    let compared = 0
    for (const personId of personIds) {
      const own = [...found].filter(([, { id }]) => id === personId).flatMap(([id]) => log.get(id) ?? [])
      for (const event of live.keys()) {
        const expected = sum(own.filter(one => one.event === event).map(({ day }) => [day, 1]))
        const counted = sum(histories.get(personId)?.[event]?.days ?? [])
        if (isComplete) expect(counted).toEqual(expected)
        else for (const [day, count] of counted) expect(count).toBeLessThanOrEqual(expected.get(day) ?? 0)
        compared += counted.size
      }
    }
    return compared
  }

  const percents = async () =>
    (await s.get(cohort!)).body.counted_events.map(
      ({ history }: { history: { percent: number } }) => history.percent,
    ) as number[]

  it(`is equal after ${stepsCount} steps`, { timeout: 3_600_000 }, async () => {
    await name()
    let compared = 0
    let [partial, deleted] = [0, 0]
    for (let step = 0; step < stepsCount; step++) {
      await ingest()
      if (random.chance(0.3)) await Promise.all([name(), ingest()])
      // Beside the reading, persons are merged and counted, or deleted.
      await Promise.all([run(random.below(12)), random.chance(0.3) ? deleteSomeone() : ingest()])
      deleted = created - 60
      if (random.chance(0.3)) await repeatPages()
      if (step % 5 > 0) await compare(false)
      else {
        partial += (await percents()).filter(percent => percent < 100).length
        await run(Number.POSITIVE_INFINITY)
        expect((await percents()).filter(percent => percent < 100)).toEqual([])
        compared += await compare(true)
      }
    }
    expect(Math.min(compared, partial, deleted)).toBeGreaterThan(0)
  })
}

function sum(days: readonly (readonly [number, number])[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>()
  for (const [day, count] of days) sums.set(day, (sums.get(day) ?? 0) + count)
  return new Map([...sums].sort(([a], [b]) => a - b))
}
