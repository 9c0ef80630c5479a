import type { Kysely } from 'kysely'
import type { Person } from '../../domain/person.ts'
import type { Properties } from '../../domain/properties.ts'
import { inParts } from '../../storage/in-batches.ts'
import { isSqlite } from '../../storage/prepared-query.ts'
import { StaleWrite, saveVersioned } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { partitionColumn } from '../../storage/unindexed.ts'
import { moveEventDays } from '../cohorts/behavior/event-day-store.sql.ts'
import { moveMember } from '../cohorts/members/cohort-member-store.sql.ts'
import type { PersonDraft } from './person-ledger.ts'
import { removeBelongings } from './remove-belongings.sql.ts'

const rowsPerInsertMax = 500
const emailCharactersMax = 320

export interface WrittenPersons {
  /** The static cohorts that contained both persons of a merge: each has one member less for each time it is named. */
  readonly joinedIn: readonly number[]
  /** The ids of new persons. */
  readonly idsByUuid: ReadonlyMap<string, number>
}

/**
 * Every change to a person or its set of ids increments the version of its row (optimistic locking). The second of two concurrent writers
 * finds another version and its transaction is retried.
 */
export async function writePersons(
  db: Kysely<Tables>,
  projectId: number,
  drafts: readonly PersonDraft[],
): Promise<WrittenPersons> {
  const ids = await createPersons(db, projectId, drafts)
  const idOf = (draft: PersonDraft): number => draft.stored?.id ?? (ids.get(draft.uuid) as number)
  // Ordered by id, so that two writers take locks in the same order and cannot deadlock.
  const stored = drafts.filter(draft => draft.stored).sort((a, b) => idOf(a) - idOf(b))
  for (const draft of stored) await updatePerson(db, projectId, draft, draft.stored as Person)
  const joinedIn: number[] = []
  await holdAbsorbed(db, projectId, drafts)
  for (const draft of drafts) {
    for (const person of draft.absorbed) joinedIn.push(...(await absorbPerson(db, person, idOf(draft))))
  }
  await bindDistinctIds(db, projectId, drafts, idOf)
  return { joinedIn, idsByUuid: ids }
}

async function createPersons(
  db: Kysely<Tables>,
  projectId: number,
  drafts: readonly PersonDraft[],
): Promise<ReadonlyMap<string, number>> {
  const ids = new Map<string, number>()
  const created = drafts.filter(draft => !draft.stored)
  for (const part of inParts(created, rowsPerInsertMax)) {
    const rows = await db
      .insertInto('persons')
      .values(part.map(draft => ({ project_id: projectId, uuid: draft.uuid, version: 1, ...columnsOf(draft) })))
      .returning(['id', 'uuid'])
      .execute()
    for (const row of rows) ids.set(row.uuid, row.id)
  }
  return ids
}

async function updatePerson(db: Kysely<Tables>, projectId: number, draft: PersonDraft, seen: Person): Promise<void> {
  await saveVersioned(db, 'persons', seen.id, { ...columnsOf(draft), version: seen.version + 1 }, projectId)
}

/** What concurrent transactions count for these persons is either moved, or counted again for the person that absorbs them. */
async function holdAbsorbed(db: Kysely<Tables>, projectId: number, drafts: readonly PersonDraft[]): Promise<void> {
  const ids = drafts.flatMap(({ absorbed }) => absorbed.map(({ id }) => id))
  // SQLite has one writer.
  if (ids.length === 0 || isSqlite(db)) return
  await db
    .selectFrom('persons')
    .select('id')
    .where('project_id', '=', projectId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** Returns the static cohorts that contained both. */
async function absorbPerson(db: Kysely<Tables>, from: Person, intoId: number): Promise<readonly number[]> {
  await db
    .updateTable('person_distinct_ids')
    .set({ person_id: intoId })
    .where(partitionColumn(db, 'project_id'), '=', from.projectId)
    .where('person_id', '=', from.id)
    .execute()
  await db
    .insertInto('hash_key_overrides')
    .columns(['person_id', 'flag_key', 'hash_key'])
    .expression(
      db
        .selectFrom('hash_key_overrides')
        .select(eb => [eb.val(intoId).as('person_id'), 'flag_key', 'hash_key'])
        .where('person_id', '=', from.id),
    )
    .onConflict(conflict => conflict.doNothing())
    .execute()
  const joinedIn = await moveMember(db, from.id, intoId)
  await moveEventDays(db, from.id, intoId)
  const result = await db
    .deleteFrom('persons')
    .where('project_id', '=', from.projectId)
    .where('id', '=', from.id)
    .where('version', '=', from.version)
    .executeTakeFirst()
  if (result.numDeletedRows === 0n) throw new StaleWrite()
  await removeBelongings(db, from.projectId, [from.id])
  return joinedIn
}

async function bindDistinctIds(
  db: Kysely<Tables>,
  projectId: number,
  drafts: readonly PersonDraft[],
  idOf: (draft: PersonDraft) => number,
): Promise<void> {
  const rows = drafts.flatMap(draft =>
    draft.newDistinctIds.map(distinct_id => ({ project_id: projectId, distinct_id, person_id: idOf(draft) })),
  )
  for (const part of inParts(rows, rowsPerInsertMax)) {
    const result = await db
      .insertInto('person_distinct_ids')
      .values(part)
      .onConflict(conflict => conflict.doNothing())
      .executeTakeFirst()
    if (Number(result.numInsertedOrUpdatedRows) !== part.length) throw new StaleWrite()
  }
}

const columnsOf = (draft: PersonDraft) => ({
  properties: JSON.stringify(draft.properties),
  email: emailOf(draft.properties),
  is_identified: Number(draft.isIdentified),
  distinct_id_count: draft.distinctIdCount,
  created_at: draft.createdAt,
})

function emailOf({ email }: Properties): string | null {
  const isStorable = typeof email === 'string' && email.length <= emailCharactersMax && !email.includes('\u0000')
  return isStorable && email.isWellFormed() ? email : null
}
