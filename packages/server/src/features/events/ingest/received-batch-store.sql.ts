import type { Kysely } from 'kysely'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { ReceivedBatchStore } from './received-batch-store.ts'

export function sqlReceivedBatchStore(db: Kysely<Tables>): ReceivedBatchStore {
  return {
    async known(ids) {
      if (ids.length === 0) return new Set()
      const rows = await db.selectFrom('received_batches').select('id').where('id', 'in', ids).execute()
      return new Set(rows.map(({ id }) => id))
    },
    async add(id, at) {
      const result = await db
        .insertInto('received_batches')
        .values({ id, received_at: at })
        .onConflict(conflict => conflict.doNothing())
        .executeTakeFirst()
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n
    },
    async removeBefore(at) {
      const result = await db.deleteFrom('received_batches').where('received_at', '<', at).executeTakeFirst()
      return Number(result.numDeletedRows)
    },
  }
}
