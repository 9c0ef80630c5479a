import type { EventHistory } from '@halyard/engine'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type CountedEvent, countIdsOf } from '../../../domain/counted-event.ts'
import { joinHistories, readDays } from '../../../domain/event-days.ts'
import { inParts } from '../../../storage/in-batches.ts'
import { isSqlite, preparedQuery } from '../../../storage/prepared-query.ts'
import { StaleWrite } from '../../../storage/save-row.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { partitionColumn } from '../../../storage/unindexed.ts'
import type { EventDay } from './counted-event.ts'
import type { PersonHistory } from './event-history.ts'

const parametersMax = 5000
const rowsPerInsertMax = 500

/** All rows in one parameter: compiling a statement with thousands of parameters would cost more than running it. */
const addToSqlite = preparedQuery((db, { rows }: { rows: string }) => {
  const column = (index: number) => sql`cast(value ->> ${sql.lit(index)} as integer)`
  const statement = sql`
    insert into person_event_days (person_id, event_id, day, count, is_kept)
    select ${column(0)}, ${column(1)}, ${column(2)}, ${column(3)}, 0 from json_each(${rows}) where true
    ${addingCounts}`
  return { compile: () => statement.compile(db) }
})

/** Columns as texts of arrays, which cost the driver less than arrays. */
interface DayColumns {
  readonly projectId: number
  readonly personsCount: number
  readonly personIds: string
  readonly eventIds: string
  readonly days: string
  readonly counts: string
}

/**
 * Until the transaction ends, no other one merges or deletes these persons; adds nothing when one is gone. In one statement, since each
 * round trip would cost as much as a dozen rows.
 */
const addToPostgres = preparedQuery((db, columns: DayColumns) => {
  const { projectId, personsCount, personIds, eventIds, days, counts } = columns
  const statement = sql`
    with held as materialized (
      select id from persons where project_id = ${projectId} and id = any(${personIds}::bigint[]) order by id for key share
    )
    insert into person_event_days (person_id, event_id, day, count, is_kept)
    select person_id, event_id, day, count, 0
    from unnest(${personIds}::bigint[], ${eventIds}::bigint[], ${days}::bigint[], ${counts}::bigint[])
      as list (person_id, event_id, day, count)
    where (select count(*) from held) = ${personsCount}
    ${addingCounts}`
  return { compile: () => statement.compile(db) }
})

const addingCounts = sql`on conflict (person_id, event_id, day)
  do update set count = person_event_days.count + excluded.count`

/**
 * How often persons have performed the counted events, by day. `onChanged` is called with the persons whose counts change; merges and
 * deletions of persons are announced as such.
 */
export function sqlEventDayStore(db: Kysely<Tables>, onChanged: (personIds: readonly number[]) => void = () => {}) {
  return {
    /** Adds to the counts. Throws `StaleWrite` when a concurrent transaction has merged or deleted one of the persons. */
    async add(projectId: number, days: readonly EventDay[]): Promise<void> {
      const personIds = [...new Set(days.map(({ personId }) => personId))]
      onChanged(personIds)
      // In one order, so that concurrent batches of the same persons cannot deadlock.
      const sorted = [...days].sort(inOrder)
      if (isSqlite(db)) {
        const rows = sorted.map(({ personId, eventId, day, count }) => [personId, eventId, day, count])
        await addToSqlite(db, { rows: JSON.stringify(rows) })
        return
      }
      const textOf = (column: keyof EventDay) => `{${sorted.map(row => row[column]).join()}}`
      const { numAffectedRows } = await addToPostgres(db, {
        projectId,
        personsCount: personIds.length,
        personIds: textOf('personId'),
        eventIds: textOf('eventId'),
        days: textOf('day'),
        counts: textOf('count'),
      })
      if (Number(numAffectedRows) < sorted.length) throw new StaleWrite()
    },
    /**
     * The histories of persons by the names of the events, without events that a person has never performed. Days before `sinceDay` are
     * left out, except for the first one of each event.
     */
    async histories(
      personIds: readonly number[],
      events: readonly CountedEvent[],
      sinceDay: number,
    ): Promise<ReadonlyMap<number, Readonly<Record<string, EventHistory>>>> {
      const histories = new Map<number, Record<string, EventHistory>>()
      if (events.length === 0) return histories
      const nameOf = new Map(events.flatMap(event => countIdsOf(event).map(id => [id, event.name])))
      for (const part of inParts(personIds, parametersMax)) {
        const rows = await db
          .selectFrom('person_event_days')
          .select(({ fn }) => ['person_id', 'event_id', fn.min<number>('day').as('first_day'), daysText(db, sinceDay)])
          .where('person_id', 'in', part)
          .where('event_id', 'in', [...nameOf.keys()])
          .groupBy(['person_id', 'event_id'])
          .execute()
        for (const { person_id, event_id, first_day, days } of rows) {
          const history = histories.get(person_id) ?? (Object.create(null) as Record<string, EventHistory>)
          const name = nameOf.get(event_id)!
          history[name] = joinHistories(history[name], { firstDay: Number(first_day), days: readDays(days) })
          histories.set(person_id, history)
        }
      }
      return histories
    },
    /**
     * Replaces the histories of persons, so that it can be repeated. False, and nothing is done, when one of them has other distinct ids
     * meanwhile: merged, deleted or new.
     */
    async replaceHistories(
      projectId: number,
      historyId: number,
      histories: readonly PersonHistory[],
    ): Promise<boolean> {
      const personIds = histories.map(({ personId }) => personId).sort((a, b) => a - b)
      if (!(await holdUnchanged(db, projectId, personIds, histories))) return false
      onChanged(personIds)
      await db
        .deleteFrom('person_event_days')
        .where('person_id', 'in', personIds)
        .where('event_id', '=', historyId)
        .execute()
      const rows = histories.flatMap(({ personId, days }) =>
        [...days].map(([day, count]) => ({ person_id: personId, event_id: historyId, day, count, is_kept: 0 })),
      )
      for (const part of inParts(rows, rowsPerInsertMax))
        await db.insertInto('person_event_days').values(part).execute()
      return true
    },
    /**
     * Removes the days of an event that are before a day, except for the first one of each person, which is kept beyond all windows.
     * Handles at least `limit` days, unless there are fewer. Returns false when there were none.
     */
    async trim(eventId: number, before: number, limit: number): Promise<boolean> {
      const old = await db
        .selectFrom('person_event_days')
        .select('person_id')
        .where('event_id', '=', eventId)
        .where('is_kept', '=', 0)
        .where('day', '<', before)
        .orderBy('day')
        .limit(limit)
        .execute()
      if (old.length === 0) return false
      const personIds = [...new Set(old.map(row => row.person_id))]
      await db
        .deleteFrom('person_event_days')
        .where('person_id', 'in', personIds)
        .where('event_id', '=', eventId)
        .where('day', '<', before)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('person_event_days as earlier')
              .select('earlier.day')
              .whereRef('earlier.person_id', '=', 'person_event_days.person_id')
              .where('earlier.event_id', '=', eventId)
              .whereRef('earlier.day', '<', 'person_event_days.day'),
          ),
        )
        .execute()
      await db
        .updateTable('person_event_days')
        .set({ is_kept: 1 })
        .where('person_id', 'in', personIds)
        .where('event_id', '=', eventId)
        .where('day', '<', before)
        .where('is_kept', '=', 0)
        .execute()
      return true
    },
    /** Removes the days of at most `limit` persons. Returns false when there were none. */
    async remove(eventId: number, limit: number): Promise<boolean> {
      const personIds = db
        .selectFrom('person_event_days')
        .select('person_id')
        .where('event_id', '=', eventId)
        .limit(limit)
      const removed = await db
        .deleteFrom('person_event_days')
        .where('event_id', '=', eventId)
        .where('person_id', 'in', personIds)
        .executeTakeFirst()
      return removed.numDeletedRows > 0n
    },
  }
}

/** Until the transaction ends, no other one merges or deletes these persons. Who counts their events live does not wait. */
async function holdUnchanged(
  db: Kysely<Tables>,
  projectId: number,
  personIds: readonly number[],
  histories: readonly PersonHistory[],
): Promise<boolean> {
  const persons = db
    .selectFrom('persons')
    .select('id')
    .where(partitionColumn(db, 'project_id'), '=', projectId)
    .where('id', 'in', personIds)
    .orderBy('id')
  const held = await (isSqlite(db) ? persons : persons.forNoKeyUpdate()).execute()
  if (held.length < personIds.length) return false
  const rows = await db
    .selectFrom('person_distinct_ids')
    .select(['person_id', 'distinct_id'])
    .where(partitionColumn(db, 'project_id'), '=', projectId)
    .where('person_id', 'in', personIds)
    .execute()
  const expected = new Map(
    histories.flatMap(({ personId, distinctIds }) => distinctIds.map(id => [id, personId] as const)),
  )
  return rows.length === expected.size && rows.every(row => expected.get(row.distinct_id) === row.person_id)
}

/** Adds the counts of a person to those of another when they are merged. Those of `from` are deleted with the person. */
export async function moveEventDays(db: Kysely<Tables>, fromPersonId: number, toPersonId: number): Promise<void> {
  await db
    .insertInto('person_event_days')
    .columns(['person_id', 'event_id', 'day', 'count', 'is_kept'])
    .expression(
      db
        .selectFrom('person_event_days')
        .select(eb => [eb.val(toPersonId).as('person_id'), 'event_id', 'day', 'count', eb.val(0).as('is_kept')])
        .where('person_id', '=', fromPersonId)
        .orderBy('event_id')
        .orderBy('day'),
    )
    .onConflict(conflict =>
      conflict
        .columns(['person_id', 'event_id', 'day'])
        .doUpdateSet(({ eb, ref }) => ({ count: eb('person_event_days.count', '+', ref('excluded.count')) })),
    )
    .execute()
}

/** One row for each event instead of one for each day: `day:count,day:count`. */
const daysText = (db: Kysely<Tables>, sinceDay: number) => {
  const text = sql`case when day >= ${sinceDay} then day || ':' || count end`
  const joined: RawBuilder<string | null> = isSqlite(db)
    ? sql`group_concat(${text}, ',')`
    : sql`string_agg(${text}, ',')`
  return joined.as('days')
}

const inOrder = (a: EventDay, b: EventDay): number => a.personId - b.personId || a.eventId - b.eventId || a.day - b.day
