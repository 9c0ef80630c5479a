import { type Kysely, type Selectable, sql } from 'kysely'
import type { HashKey, Person, PersonFilter } from '../../domain/person.ts'
import type { Properties } from '../../domain/properties.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { inParts } from '../../storage/in-batches.ts'
import { preparedListQuery } from '../../storage/prepared-query.ts'
import { countRows, readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import { partitionColumn } from '../../storage/unindexed.ts'
import type { PersonDraft } from './person-ledger.ts'
import { removeBelongings } from './remove-belongings.sql.ts'
import { sampleProperties } from './sample-properties.sql.ts'
import { type WrittenPersons, writePersons } from './write-persons.sql.ts'

const parametersMax = 5000

const findPersons = preparedListQuery((db, distinctIds: readonly string[], { projectId }: { projectId: number }) =>
  db
    .selectFrom('person_distinct_ids')
    .innerJoin('persons', join =>
      join
        .onRef('persons.id', '=', 'person_distinct_ids.person_id')
        .onRef('persons.project_id', '=', 'person_distinct_ids.project_id'),
    )
    .selectAll('persons')
    .select('person_distinct_ids.distinct_id')
    .where('person_distinct_ids.project_id', '=', projectId)
    .where('person_distinct_ids.distinct_id', 'in', distinctIds),
)

/** `onChanged` is called with the stored persons that a write changes. */
export function sqlPersonStore(db: Kysely<Tables>, onChanged: (personIds: readonly number[]) => void = () => {}) {
  const persons = (projectId: number) => db.selectFrom('persons').selectAll().where('project_id', '=', projectId)

  return {
    /** The persons of these distinct ids; ids without a person are not in the map. */
    async findByDistinctIds(projectId: number, distinctIds: readonly string[]): Promise<ReadonlyMap<string, Person>> {
      const persons = new Map<string, Person>()
      for (const part of inParts(distinctIds, parametersMax)) {
        const rows = await findPersons(db, part, { projectId })
        for (const row of rows) persons.set(row.distinct_id, toPerson(row))
      }
      return persons
    },
    async find(projectId: number, personId: number): Promise<Person | undefined> {
      const row = await persons(projectId).where('id', '=', personId).executeTakeFirst()
      return row && toPerson(row)
    },
    async findByUuid(projectId: number, uuid: string): Promise<Person | undefined> {
      const row = await persons(projectId).where('uuid', '=', uuid.toLowerCase()).executeTakeFirst()
      return row && toPerson(row)
    },
    /**
     * Writes the drafts of a ledger and returns the merges and the new ids. Throws `StaleWrite` when a concurrent transaction changed one of the persons or
     * bound one of the ids.
     */
    write(projectId: number, drafts: readonly PersonDraft[]): Promise<WrittenPersons> {
      onChanged(
        drafts.flatMap(({ stored, absorbed }) => [...(stored ? [stored] : []), ...absorbed].map(({ id }) => id)),
      )
      return writePersons(db, projectId, drafts)
    },
    /** Removes the person with all its ids; usage counts stay. False when it does not exist. */
    async remove(projectId: number, personId: number): Promise<boolean> {
      onChanged([personId])
      const result = await db
        .deleteFrom('persons')
        .where('project_id', '=', projectId)
        .where('id', '=', personId)
        .executeTakeFirst()
      if (result.numDeletedRows === 0n) return false
      await removeBelongings(db, projectId, [personId])
      return true
    },

    count: (projectId: number): Promise<number> =>
      countRows(db.selectFrom('persons').where('project_id', '=', projectId)),
    /** Newest first. */
    async list(projectId: number, filter: PersonFilter, window: Window): Promise<PageOf<Person>> {
      const query = db.selectFrom('persons').where(matching(projectId, filter))
      return readPage(query.selectAll().orderBy('id', 'desc'), window, toPerson)
    },
    /** The properties of the newest persons, without those too large to sample. */
    sample: (projectId: number): Promise<readonly Properties[]> =>
      sampleProperties(db, db.selectFrom('persons').where('project_id', '=', projectId)),
    /** Ordered by id, those after `afterId`, at most `limit`: to iterate over all persons in short reads. */
    async scan(projectId: number, afterId: number, limit: number): Promise<readonly Person[]> {
      const rows = await persons(projectId).where('id', '>', afterId).orderBy('id').limit(limit).execute()
      return rows.map(toPerson)
    },
    /**
     * Searches `limit` persons before `beforeId` (0 for the newest), newest first. Returns the matches and where the next slice begins, or
     * undefined when there is none. `search` matches part of a distinct id or of the properties, case-insensitively.
     */
    async search(
      projectId: number,
      filter: PersonFilter & { readonly search: string | undefined },
      beforeId: number,
      limit: number,
    ): Promise<{ readonly matches: readonly Person[]; readonly lastId: number | undefined }> {
      let slice = db.selectFrom('persons').select('id').where(matching(projectId, filter))
      if (beforeId > 0) slice = slice.where('id', '<', beforeId)
      const ids = await slice.orderBy('id', 'desc').limit(limit).execute()
      const [first, last] = [ids[0]?.id, ids.at(-1)?.id]
      if (first === undefined || last === undefined) return { matches: [], lastId: undefined }
      let query = db.selectFrom('persons').selectAll().where(matching(projectId, filter))
      query = query.where('id', '>=', last).where('id', '<=', first)
      if (filter.search !== undefined) query = query.where(holding(projectId, filter.search))
      const rows = await query.orderBy('id', 'desc').execute()
      return { matches: rows.map(toPerson), lastId: ids.length < limit ? undefined : last }
    },
    /** The distinct ids of each person, oldest binding first, at most `perPersonMax` each. */
    async listDistinctIds(
      projectId: number,
      personIds: readonly number[],
      perPersonMax: number,
    ): Promise<ReadonlyMap<number, readonly string[]>> {
      const idsByPerson = new Map<number, string[]>(personIds.map(id => [id, []]))
      for (const part of inParts(personIds, parametersMax)) {
        const rows = await db
          .selectFrom('person_distinct_ids')
          .select(['person_id', 'distinct_id'])
          .where(partitionColumn(db, 'project_id'), '=', projectId)
          .where('person_id', 'in', part)
          .orderBy('person_id')
          .orderBy('distinct_id')
          .execute()
        for (const row of rows) {
          const ids = idsByPerson.get(row.person_id)
          if (ids && ids.length < perPersonMax) ids.push(row.distinct_id)
        }
      }
      return idsByPerson
    },

    /** The distinct ids of the project after one, in order, each with its person. */
    async scanDistinctIds(
      projectId: number,
      after: string,
      limit: number,
    ): Promise<readonly { readonly distinctId: string; readonly personId: number }[]> {
      const rows = await db
        .selectFrom('person_distinct_ids')
        .select(['distinct_id', 'person_id'])
        .where('project_id', '=', projectId)
        .where('distinct_id', '>', after)
        .orderBy('distinct_id')
        .limit(limit)
        .execute()
      return rows.map(row => ({ distinctId: row.distinct_id, personId: row.person_id }))
    },
    countDistinctIds: (projectId: number): Promise<number> =>
      countRows(db.selectFrom('person_distinct_ids').where('project_id', '=', projectId)),

    /** The stored hash keys of these persons, for experience continuity. */
    async listHashKeys(personIds: readonly number[]): Promise<readonly (HashKey & { readonly personId: number })[]> {
      if (personIds.length === 0) return []
      const rows = await db.selectFrom('hash_key_overrides').selectAll().where('person_id', 'in', personIds).execute()
      return rows.map(row => ({ personId: row.person_id, flagKey: row.flag_key, hashKey: row.hash_key }))
    },
    /** The first write of a flag's hash key wins; later ones change nothing. Ignores a person that no longer exists. */
    async addHashKeys(projectId: number, personId: number, hashKeys: readonly HashKey[]): Promise<void> {
      if (hashKeys.length === 0) return
      // Locks the person row: a concurrent merge either sees these keys or has deleted the row before this update.
      const locked = await db
        .updateTable('persons')
        .set(({ eb }) => ({ version: eb('version', '+', 1) }))
        .where('project_id', '=', projectId)
        .where('id', '=', personId)
        .executeTakeFirst()
      if (locked.numUpdatedRows === 0n) return
      onChanged([personId])
      await db
        .insertInto('hash_key_overrides')
        .values(hashKeys.map(({ flagKey, hashKey }) => ({ person_id: personId, flag_key: flagKey, hash_key: hashKey })))
        .onConflict(conflict => conflict.doNothing())
        .execute()
    },
  }
}

const matching =
  (projectId: number, { email, distinctId }: PersonFilter) =>
  () => {
    const conditions = [sql<boolean>`persons.project_id = ${projectId}`]
    if (email !== undefined) conditions.push(sql`persons.email = ${email}`)
    if (distinctId !== undefined) {
      conditions.push(
        sql`persons.id in (select person_id from person_distinct_ids where project_id = ${projectId} and distinct_id = ${distinctId})`,
      )
    }
    return sql<boolean>`${sql.join(conditions, sql` and `)}`
  }

const holding = (projectId: number, text: string) => () => {
  return sql<boolean>`(${contains('persons.properties', text)} or exists (
    select 1 from person_distinct_ids d where d.project_id = ${projectId} and d.person_id = persons.id and ${contains('d.distinct_id', text)}
  ))`
}

const toPerson = (row: Selectable<Tables['persons']>): Person => ({
  id: row.id,
  projectId: row.project_id,
  uuid: row.uuid,
  properties: JSON.parse(row.properties),
  isIdentified: row.is_identified === 1,
  distinctIdCount: row.distinct_id_count,
  version: row.version,
  createdAt: row.created_at,
})
