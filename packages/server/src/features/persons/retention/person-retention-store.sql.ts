import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import { inParts } from '../../../storage/in-batches.ts'
import { isSqlite } from '../../../storage/prepared-query.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { removeBelongings } from '../remove-belongings.sql.ts'

const parametersMax = 5000

/** A day, so that a person costs one write a day. */
const dayOf = (instant: Instant): string => instant.slice(0, 10)

/**
 * The day on which each person was last seen in an event; recorded only while persons are removed after some time.
 * `onChanged` is called with the persons that are removed.
 */
export function sqlPersonRetentionStore(
  db: Kysely<Tables>,
  isRecording: boolean,
  onChanged: (personIds: readonly number[]) => void = () => {},
) {
  return {
    async noteSeen(projectId: number, distinctIds: readonly string[], now: Instant): Promise<void> {
      if (!isRecording) return
      for (const part of inParts(distinctIds, parametersMax)) {
        await db
          .insertInto('person_seen')
          .columns(['person_id', 'seen_on'])
          .expression(({ selectFrom, val }) =>
            selectFrom('person_distinct_ids')
              .select(['person_id', val(dayOf(now)).as('seen_on')])
              .distinct()
              .where('project_id', '=', projectId)
              .where('distinct_id', 'in', part)
              // In one order, so that concurrent batches of the same persons cannot deadlock.
              .orderBy('person_id'),
          )
          .onConflict(conflict =>
            conflict
              .column('person_id')
              .doUpdateSet(({ ref }) => ({ seen_on: ref('excluded.seen_on') }))
              .whereRef('person_seen.seen_on', '<', 'excluded.seen_on'),
          )
          .execute()
      }
    },
    /**
     * Counts the persons after an id as seen now, unless a day is recorded. Returns the last id; undefined when there are none.
     */
    async noteUnrecorded(afterId: number, limit: number, now: Instant): Promise<number | undefined> {
      const persons = await db
        .selectFrom('persons')
        .select('id')
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute()
      if (persons.length === 0) return undefined
      await db
        .insertInto('person_seen')
        .values(persons.map(({ id }) => ({ person_id: id, seen_on: dayOf(now) })))
        .onConflict(conflict => conflict.doNothing())
        .execute()
      return persons.at(-1)?.id
    },
    /** Removes at most `limit` persons that were not seen since, except members of static cohorts. Returns how many were considered. */
    async removeUnseen(before: Instant, limit: number, now: Instant): Promise<number> {
      const unseen = await db
        .selectFrom('person_seen')
        .select('person_id')
        .where('seen_on', '<', dayOf(before))
        .orderBy('seen_on')
        .orderBy('person_id')
        .limit(limit)
        .execute()
      if (unseen.length === 0) return 0
      const ids = unseen.map(row => row.person_id)
      // Who makes them members holds them as well: from now on, the members below are all of them.
      if (!isSqlite(db)) {
        await db.selectFrom('persons').select('id').where('id', 'in', ids).orderBy('id').forUpdate().execute()
      }
      onChanged(ids)
      const members = db.selectFrom('cohort_people').select('person_id').where('person_id', 'in', ids)
      // Members are examined again when the time has passed once more.
      await db
        .updateTable('person_seen')
        .set({ seen_on: dayOf(now) })
        .where('person_id', 'in', members)
        .execute()
      const removed = await db
        .deleteFrom('persons')
        .where('id', 'in', ids)
        .where('id', 'not in', members)
        .returning(['project_id', 'id'])
        .execute()
      for (const projectId of new Set(removed.map(row => row.project_id))) {
        const ofProject = removed.filter(row => row.project_id === projectId)
        await removeBelongings(
          db,
          projectId,
          ofProject.map(({ id }) => id),
        )
      }
      // Those of persons that are gone already.
      await db.deleteFrom('person_seen').where('person_id', 'in', ids).where('person_id', 'not in', members).execute()
      return ids.length
    },
    /** Removes at most so many records. Returns how many. */
    async forget(limit: number): Promise<number> {
      const removed = await db
        .deleteFrom('person_seen')
        .where('person_id', 'in', ({ selectFrom }) => selectFrom('person_seen').select('person_id').limit(limit))
        .executeTakeFirst()
      return Number(removed.numDeletedRows)
    },
  }
}
