import type { Kysely } from 'kysely'
import { type Instant, plusMilliseconds } from '../instant.ts'
import type { Tables } from '../storage/tables.generated.ts'

const longAgo = '0001-01-01T00:00:00.000000Z'
const implausibleMilliseconds = 10 * 60_000

/** No lease lasts that long: the clock of its holder was wrong. The fencing token rejects the holder if it is still alive. */
const beyond = (now: Instant): Instant => plusMilliseconds(now, implausibleMilliseconds)

export function sqlLeaseStore(db: Kysely<Tables>) {
  return {
    /**
     * Acquires a free or expired lease, or extends the holder's own. Undefined when another node holds it. Of several concurrent calls, one
     * succeeds.
     */
    async acquire(name: string, holder: string, now: Instant, until: Instant): Promise<Lease | undefined> {
      await db
        .insertInto('leases')
        .values({ name, holder: '', token: 0, expires_at: longAgo })
        .onConflict(conflict => conflict.column('name').doNothing())
        .execute()
      const row = await db
        .updateTable('leases')
        .set(({ eb, case: when }) => ({
          token: when()
            .when('holder', '=', holder)
            .then(eb.ref('token'))
            .else(eb('token', '+', 1))
            .end(),
          holder,
          expires_at: until,
        }))
        .where('name', '=', name)
        .where(({ or, eb }) =>
          or([eb('holder', '=', holder), eb('expires_at', '<=', now), eb('expires_at', '>', beyond(now))]),
        )
        .returning('token')
        .executeTakeFirst()
      return row && { name, holder, token: row.token, expiresAt: until }
    },
    /**
     * Extends the lease and locks its row until the transaction ends, so that no other node can take it meanwhile. False when another node holds
     * it.
     */
    async keep(lease: Lease, until: Instant): Promise<boolean> {
      const result = await db
        .updateTable('leases')
        .set({ expires_at: until })
        .where('name', '=', lease.name)
        .where('holder', '=', lease.holder)
        .where('token', '=', lease.token)
        .executeTakeFirst()
      return result.numUpdatedRows > 0n
    },
    /** Releases all leases of a node, so that others need not wait. */
    async releaseAll(holder: string): Promise<void> {
      await db.updateTable('leases').set({ holder: '', expires_at: longAgo }).where('holder', '=', holder).execute()
    },
  }
}

/** The right of one node to run a job until an instant. The fencing token grows with each holder, so that a late one is detected. */
export interface Lease {
  readonly name: string
  readonly holder: string
  readonly token: number
  readonly expiresAt: Instant
}
