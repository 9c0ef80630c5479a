import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import { announceIdentity } from '../announce-identity.ts'

/** After a restore: sessions and reset links that ended since the backup would be valid again. Returns how many people were signed in. */
export async function endAllSignIns(tx: Stores, now: Instant): Promise<number> {
  const userIds = await tx.identity.removeAllSessions()
  for (const userId of userIds) await announceIdentity(tx, userId, now)
  return userIds.length
}
