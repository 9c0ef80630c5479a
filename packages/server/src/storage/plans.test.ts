import { CompiledQuery, Kysely } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AllStores, sqlStores } from '../stores.ts'
import { migrate } from './migrations/migrate.ts'
import { readOnlyEnd } from './sql-database.ts'
import { openSqlite } from './sqlite/sqlite-connection.ts'
import { sqliteDialect } from './sqlite/sqlite-driver.ts'
import type { Tables } from './tables.generated.ts'

/** Looking up a few rows must not read all rows of their project, which only a large project would show. */

const asked: CompiledQuery[] = []
const db = new Kysely<Tables>({
  dialect: sqliteDialect(openSqlite(':memory:')),
  log: ({ query }) => void asked.push(query),
})
beforeAll(() => migrate(db, 'sqlite'))
afterAll(() => db.destroy())

async function planOf(ask: (stores: AllStores) => Promise<unknown>): Promise<string[]> {
  asked.length = 0
  await ask(sqlStores(db, readOnlyEnd))
  const steps: string[] = []
  for (const { sql, parameters } of [...asked]) {
    const query = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
    const { rows } = await db.executeQuery<{ detail: string }>(query)
    steps.push(...rows.map(({ detail }) => detail))
  }
  return steps
}

const item = { scope: 'FeatureFlag', itemId: '1' } as const
const page = { limit: 10, offset: 0 }

it.each<[string, RegExp, (stores: AllStores) => Promise<unknown>]>([
  ['flags by id', /^SEARCH flags USING INTEGER PRIMARY KEY/, s => s.flags.findLive(1, [1, 2, 3, 4, 5, 6, 7, 8])],
  ['a flag by key', /^SEARCH flags USING INDEX flags_live_key/, s => s.flags.findLiveByKey(1, 'a')],
  ['flags of a key', /^SEARCH flags USING INDEX flags_live_key/, s => s.flags.listLiveByKey('o', 'a')],
  ['cohorts by id', /^SEARCH cohorts USING INTEGER PRIMARY KEY/, s => s.cohorts.findLive(1, [1, 2, 3, 4, 5, 6, 7, 8])],
  ['dashboards', /^SEARCH dashboards USING INTEGER PRIMARY KEY/, s => s.dashboards.existing(1, [1, 2, 3, 4, 5, 6, 7])],
  [
    'people by uuid',
    /^SEARCH persons USING INDEX sqlite_autoindex_persons_1 \(uuid/,
    s => s.cohortMembers.findPersonsByUuid(1, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']),
  ],
  [
    'the history of a flag',
    /^SEARCH activity USING INDEX activity_by_item \(scope=\? AND item_id/,
    s => s.activity.list({ organizationId: 'o', projectId: 1, scopes: ['FeatureFlag'], itemId: '1' }, page),
  ],
  [
    'the history of several things',
    /^SEARCH activity USING INDEX activity_by_item \(scope=\? AND item_id/,
    s => s.activity.list({ organizationId: 'o', scopes: ['FeatureFlag', 'Plugin'], items: [item, item] }, page),
  ],
  [
    'old days of an event',
    /^SEARCH person_event_days USING (COVERING )?INDEX person_event_days_by_day \(event_id=\? AND is_kept=\? AND day</,
    s => s.eventDays.trim(1, 20_000, 10),
  ],
  [
    'the days of an event',
    /^SEARCH person_event_days USING COVERING INDEX person_event_days_by_day \(event_id=\?\)/,
    s => s.eventDays.remove(1, 10),
  ],
  [
    'the histories of persons',
    /^SEARCH person_event_days USING PRIMARY KEY \(person_id=\? AND event_id=\?\)/,
    s => s.eventDays.histories([1, 2], [{ id: 1, name: 'paid', countedSince: '', historyId: 2 }], 0),
  ],
  [
    'counted events with their histories',
    /^SEARCH history USING COVERING INDEX counted_events_history \(history_of=\?\)/,
    s => s.countedEvents.listLive(1),
  ],
  ['histories that are not read', /^SEARCH live USING INTEGER PRIMARY KEY/, s => s.eventHistories.listUnread(0, 10)],
  [
    'the next distinct ids',
    /^SEARCH person_distinct_ids USING INDEX \S+ \(project_id=\? AND distinct_id>\?\)/,
    s => s.persons.scanDistinctIds(1, 'a', 10),
  ],
  [
    'persons whose histories are replaced',
    /^SEARCH persons USING INTEGER PRIMARY KEY/,
    s =>
      s.eventDays.replaceHistories(
        1,
        2,
        [1, 2, 3, 4].map(personId => ({ personId, distinctIds: [], days: new Map() })),
      ),
  ],
])('finds %s by an index of its own', async (_, plan, ask) => {
  const steps = await planOf(ask)
  expect(steps).toContainEqual(expect.stringMatching(plan))
  expect(steps.filter(step => /^SCAN (?!CONSTANT)/.test(step))).toEqual([])
})
