import { type Kysely, sql } from 'kysely'
import type { Window } from '../../../pagination.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { contains } from '../../../storage/text-search.ts'
import { unindexed } from '../../../storage/unindexed.ts'

const parametersMax = 5000

/** Rows are locked in one order, so that two writers of the same people cannot deadlock. */
const ascending = (ids: readonly number[]): readonly number[] => ids.toSorted((a, b) => a - b)

/**
 * Members of static cohorts. `onChanged` is called with the persons that are added or removed; merges and deletions
 * of persons are announced as such.
 */
export const sqlCohortMemberStore = (
  db: Kysely<Tables>,
  onChanged: (personIds: readonly number[]) => void = () => {},
) => ({ ...memberReads(db), ...memberWrites(db, onChanged) })

function memberReads(db: Kysely<Tables>) {
  return {
    /** The subset of these cohorts that contain the person. */
    async holding(personId: number, cohortIds: readonly number[]): Promise<ReadonlySet<number>> {
      if (cohortIds.length === 0) return new Set()
      const rows = await db
        .selectFrom('cohort_people')
        .select('cohort_id')
        .where('person_id', '=', personId)
        .where('cohort_id', 'in', cohortIds)
        .execute()
      return new Set(rows.map(row => row.cohort_id))
    },
    /** Person ids, newest first; `search` matches part of a distinct id or of a property. */
    async list(cohortId: number, search: string | undefined, window: Window): Promise<readonly number[]> {
      let members = db
        .selectFrom('cohort_people')
        .innerJoin('persons', 'persons.id', 'cohort_people.person_id')
        .where('cohort_people.cohort_id', '=', cohortId)
      if (search) {
        members = members.where(
          sql<boolean>`(${contains('persons.properties', search)} or exists (
            select 1 from person_distinct_ids d where d.person_id = persons.id and ${contains('d.distinct_id', search)}
          ))`,
        )
      }
      const rows = await members
        .select('cohort_people.person_id as id')
        .orderBy('cohort_people.person_id', 'desc')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return rows.map(row => row.id)
    },
    /** Person ids by distinct id; distinct ids without a person are not in the map. */
    async findPersons(projectId: number, distinctIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const personIds = new Map<string, number>()
      for (const part of inParts(distinctIds, parametersMax)) {
        const rows = await db
          .selectFrom('person_distinct_ids')
          .select(['distinct_id', 'person_id'])
          .where('project_id', '=', projectId)
          .where('distinct_id', 'in', part)
          .execute()
        for (const row of rows) personIds.set(row.distinct_id, row.person_id)
      }
      return personIds
    },
    /** Person ids by UUID. */
    async findPersonsByUuid(projectId: number, uuids: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const personIds = new Map<string, number>()
      for (const part of inParts(uuids, parametersMax)) {
        const rows = await db
          .selectFrom('persons')
          .select(['uuid', 'id'])
          .where('uuid', 'in', part)
          .where(unindexed('project_id'), '=', projectId)
          .execute()
        for (const row of rows) personIds.set(row.uuid, row.id)
      }
      return personIds
    },
  }
}

function memberWrites(db: Kysely<Tables>, onChanged: (personIds: readonly number[]) => void) {
  /** The count is stored in the cohort row, so that listing cohorts does not count their members. */
  const changeCount = async (cohortId: number, by: number): Promise<void> => {
    if (by === 0) return
    await db
      .updateTable('cohorts')
      .set({ people_count: sql`coalesce(people_count, 0) + ${by}` })
      .where('id', '=', cohortId)
      .execute()
  }

  async function cohortsOf(personId: number): Promise<number[]> {
    const memberships = db.selectFrom('cohort_people').select('cohort_id').where('person_id', '=', personId)
    const rows = await memberships.orderBy('cohort_id').execute()
    return rows.map(row => row.cohort_id)
  }

  return {
    /** Adds persons of the project and returns how many are new. Persons that do not exist are skipped. */
    async add(projectId: number, cohortId: number, personIds: readonly number[]): Promise<number> {
      onChanged(personIds)
      let added = 0
      for (const part of inParts(ascending(personIds), parametersMax)) {
        const result = await db
          .insertInto('cohort_people')
          .columns(['cohort_id', 'person_id'])
          .expression(
            db
              .selectFrom('persons')
              .select(eb => [eb.lit(cohortId).as('cohort_id'), 'id'])
              .where('project_id', '=', projectId)
              .where('id', 'in', part)
              .orderBy('id'),
          )
          .onConflict(conflict => conflict.doNothing())
          .executeTakeFirst()
        added += Number(result.numInsertedOrUpdatedRows ?? 0)
      }
      await changeCount(cohortId, added)
      return added
    },
    /** Returns how many were members. */
    async remove(cohortId: number, personIds: readonly number[]): Promise<number> {
      onChanged(personIds)
      let removed = 0
      for (const part of inParts(ascending(personIds), parametersMax)) {
        const result = await db
          .deleteFrom('cohort_people')
          .where('cohort_id', '=', cohortId)
          .where('person_id', 'in', part)
          .executeTakeFirst()
        removed += Number(result.numDeletedRows)
      }
      await changeCount(cohortId, -removed)
      return removed
    },
    /** Moves memberships when two persons are merged. */
    async move(fromPersonId: number, toPersonId: number): Promise<void> {
      const cohortIds = await cohortsOf(fromPersonId)
      if (cohortIds.length === 0) return
      const inBoth = new Set(await cohortsOf(toPersonId))
      const fresh = cohortIds.filter(id => !inBoth.has(id))
      if (fresh.length > 0) {
        await db
          .insertInto('cohort_people')
          .values(fresh.map(cohort_id => ({ cohort_id, person_id: toPersonId })))
          .onConflict(conflict => conflict.doNothing())
          .execute()
      }
      await db.deleteFrom('cohort_people').where('person_id', '=', fromPersonId).execute()
      for (const cohortId of cohortIds) if (inBoth.has(cohortId)) await changeCount(cohortId, -1)
    },
    /** Removes a person from all cohorts and returns their ids. */
    async removePerson(projectId: number, personId: number): Promise<readonly number[]> {
      const cohortIds = await cohortsOf(personId)
      const isOurs =
        cohortIds.length > 0 &&
        (await db
          .selectFrom('persons')
          .select('id')
          .where('id', '=', personId)
          .where('project_id', '=', projectId)
          .executeTakeFirst())
      if (!isOurs) return []
      await db.deleteFrom('cohort_people').where('person_id', '=', personId).execute()
      for (const cohortId of cohortIds) await changeCount(cohortId, -1)
      return cohortIds
    },
  }
}
