import type { Kysely } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { Tables } from '../../../storage/tables.generated.ts'

/** Ids of recorded batches, so that a batch that is sent twice is recorded once. */
export function sqlReceivedBatchStore(db: Kysely<Tables>) {
  return {
    /** The subset of these ids that is stored. */
    async findRecorded(ids: readonly string[]): Promise<ReadonlySet<string>> {
      if (ids.length === 0) return new Set()
      const rows = await db.selectFrom('received_batches').select('id').where('id', 'in', ids).execute()
      return new Set(rows.map(({ id }) => id))
    },
    /** False when the id was stored already. Concurrent transactions that add the same id block. */
    async add(id: string, at: Instant): Promise<boolean> {
      const result = await db
        .insertInto('received_batches')
        .values({ id, received_at: at })
        .onConflict(conflict => conflict.doNothing())
        .executeTakeFirst()
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
    },
    /** Returns the number of removed ids. */
    async removeBefore(at: Instant): Promise<number> {
      const result = await db.deleteFrom('received_batches').where('received_at', '<', at).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}
