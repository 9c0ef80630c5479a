import type { Kysely } from 'kysely'
import type { Tables } from '../../storage/tables.generated.ts'
import { partitionColumn } from '../../storage/unindexed.ts'

/**
 * Removes what is stored about persons whose rows were deleted in this transaction. The main database would do it by its foreign keys; in a
 * database of their own there are none across partitions.
 */
export async function removeBelongings(
  db: Kysely<Tables>,
  projectId: number,
  personIds: readonly number[],
): Promise<void> {
  await db
    .deleteFrom('person_distinct_ids')
    .where(partitionColumn(db, 'project_id'), '=', projectId)
    .where('person_id', 'in', personIds)
    .execute()
  for (const table of ['cohort_people', 'hash_key_overrides', 'person_event_days', 'person_seen'] as const) {
    await db.deleteFrom(table).where('person_id', 'in', personIds).execute()
  }
}
