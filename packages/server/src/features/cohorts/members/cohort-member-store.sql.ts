import { type Kysely, sql } from 'kysely'
import type { Window } from '../../../pagination.ts'
import { inParts } from '../../../storage/in-batches.ts'
import { isSqlite } from '../../../storage/prepared-query.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import { contains } from '../../../storage/text-search.ts'
import { partitionColumn } from '../../../storage/unindexed.ts'

const parametersMax = 5000

/** Rows are locked in one order, so that two writers of the same people cannot deadlock. */
const ascending = (ids: readonly number[]): readonly number[] => ids.toSorted((a, b) => a - b)

/**
 * Members of static cohorts; how many there are is stored with the cohort (`CohortStore.addToCount`). `onChanged` is called with the persons that are added or removed; merges and deletions
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
    async list(
      projectId: number,
      cohortId: number,
      search: string | undefined,
      window: Window,
    ): Promise<readonly number[]> {
      let members = db
        .selectFrom('cohort_people')
        .innerJoin('persons', 'persons.id', 'cohort_people.person_id')
        .where('cohort_people.cohort_id', '=', cohortId)
        .where(partitionColumn(db, 'persons.project_id'), '=', projectId)
      if (search) {
        members = members.where(
          sql<boolean>`(${contains('persons.properties', search)} or exists (
            select 1 from person_distinct_ids d
            where d.project_id = ${projectId} and d.person_id = persons.id and ${contains('d.distinct_id', search)}
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
          .where(partitionColumn(db, 'project_id'), '=', projectId)
          .execute()
        for (const row of rows) personIds.set(row.uuid, row.id)
      }
      return personIds
    },
  }
}

function memberWrites(db: Kysely<Tables>, onChanged: (personIds: readonly number[]) => void) {
  /** Until the transaction ends, no other one merges or deletes them. SQLite has one writer. */
  const held = <Q extends { forKeyShare(): Q }>(persons: Q): Q => (isSqlite(db) ? persons : persons.forKeyShare())

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
            held(
              db
                .selectFrom('persons')
                .select(eb => [eb.lit(cohortId).as('cohort_id'), 'id'])
                .where('project_id', '=', projectId)
                .where('id', 'in', part)
                .orderBy('id'),
            ),
          )
          .onConflict(conflict => conflict.doNothing())
          .executeTakeFirst()
        added += Number(result.numInsertedOrUpdatedRows ?? 0)
      }
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
      return removed
    },
    /** Removes a person of the project from all cohorts and returns their ids. */
    async removePerson(projectId: number, personId: number): Promise<readonly number[]> {
      // Who adds them holds the person first as well: in one order, the two cannot deadlock.
      const person = db
        .selectFrom('persons')
        .select('id')
        .where('project_id', '=', projectId)
        .where('id', '=', personId)
      const isOurs = await (isSqlite(db) ? person : person.forUpdate()).executeTakeFirst()
      return isOurs ? takeMemberships(db, personId) : []
    },
  }
}

/** Moves memberships when two persons are merged. Returns the cohorts that contain both, and so lose a member. */
export async function moveMember(
  db: Kysely<Tables>,
  fromPersonId: number,
  toPersonId: number,
): Promise<readonly number[]> {
  const cohortIds = await takeMemberships(db, fromPersonId)
  if (cohortIds.length === 0) return []
  const moved = await db
    .insertInto('cohort_people')
    .values(cohortIds.map(cohort_id => ({ cohort_id, person_id: toPersonId })))
    .onConflict(conflict => conflict.doNothing())
    .returning('cohort_id')
    .execute()
  const movedIn = new Set(moved.map(row => row.cohort_id))
  return cohortIds.filter(id => !movedIn.has(id))
}

/** Removes a person from all cohorts and returns their ids: only those that no concurrent transaction has taken, which counts them itself. */
async function takeMemberships(db: Kysely<Tables>, personId: number): Promise<number[]> {
  const rows = await db.deleteFrom('cohort_people').where('person_id', '=', personId).returning('cohort_id').execute()
  return rows.map(row => row.cohort_id).sort((a, b) => a - b)
}
