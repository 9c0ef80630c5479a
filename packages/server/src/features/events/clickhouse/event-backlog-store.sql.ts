import type { Kysely } from 'kysely'
import { type Instant, instantOf } from '../../../instant.ts'
import type { TransactionEnd } from '../../../storage/sql-database.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { CountBatch } from './count-block.ts'

export interface BacklogSize {
  readonly batches: number
  readonly bytes: number
  /** Undefined when nothing waits. */
  readonly oldestAt: Instant | undefined
}

export interface BlockLimits {
  readonly batchesMax: number
  readonly bytesMax: number
}

export type EventBacklogStore = ReturnType<typeof sqlEventBacklogStore>

/** Counts that wait for ClickHouse: an outbox, so that what is acknowledged and what is counted commit together. */
export function sqlEventBacklogStore(db: Kysely<Tables>, end: TransactionEnd) {
  const added: CountBatch[] = []

  async function write(): Promise<void> {
    const body = JSON.stringify(added)
    await db
      .insertInto('event_backlog')
      .values({ created_at: instantOf(new Date()), bytes: Buffer.byteLength(body), block: null, body })
      .execute()
  }

  async function findSealed(): Promise<string | undefined> {
    const row = await db
      .selectFrom('event_backlog')
      .select('block')
      .where('block', 'is not', null)
      .limit(1)
      .executeTakeFirst()
    return row?.block ?? undefined
  }

  return {
    /** Adds to what the transaction appends, as one row, when it commits. */
    append(batch: CountBatch): void {
      if (!end.beforeCommit) throw new Error('The backlog is written within a transaction.')
      if (added.length === 0) end.beforeCommit(write)
      added.push(batch)
    },
    async isEmpty(): Promise<boolean> {
      return (await db.selectFrom('event_backlog').select('id').limit(1).executeTakeFirst()) === undefined
    },
    /**
     * The block to send next: one that was sealed before and perhaps sent, or the oldest batches, from now on sealed as `block`. A block never
     * changes, so that sending it again repeats the same rows.
     */
    async seal(block: string, { batchesMax, bytesMax }: BlockLimits): Promise<string | undefined> {
      const sealed = await findSealed()
      if (sealed !== undefined) return sealed
      const rows = await db
        .selectFrom('event_backlog')
        .select(['id', 'bytes'])
        .orderBy('id')
        .limit(batchesMax)
        .execute()
      let bytes = 0
      const ids = rows.filter((row, n) => {
        bytes += row.bytes
        return n === 0 || bytes <= bytesMax
      })
      if (ids.length === 0) return undefined
      await db
        .updateTable('event_backlog')
        .set({ block })
        .where(
          'id',
          'in',
          ids.map(({ id }) => id),
        )
        .execute()
      return block
    },
    async readBlock(block: string): Promise<readonly CountBatch[]> {
      const rows = await db
        .selectFrom('event_backlog')
        .select('body')
        .where('block', '=', block)
        .orderBy('id')
        .execute()
      return rows.flatMap(({ body }) => JSON.parse(body) as CountBatch[])
    },
    async removeBlock(block: string): Promise<void> {
      await db.deleteFrom('event_backlog').where('block', '=', block).execute()
    },
    async measure(): Promise<BacklogSize> {
      const row = await db
        .selectFrom('event_backlog')
        .select(({ fn }) => [
          fn.countAll<number>().as('batches'),
          fn.sum<number | null>('bytes').as('bytes'),
          fn.min<string | null>('created_at').as('oldest'),
        ])
        .executeTakeFirstOrThrow()
      return { batches: Number(row.batches), bytes: Number(row.bytes ?? 0), oldestAt: row.oldest ?? undefined }
    },
    /** Until when everything that was recorded is counted. */
    async countedUntil(now: Instant): Promise<Instant> {
      const row = await db.selectFrom('event_backlog').select('created_at').orderBy('id').limit(1).executeTakeFirst()
      return row && row.created_at < now ? row.created_at : now
    },
  }
}
