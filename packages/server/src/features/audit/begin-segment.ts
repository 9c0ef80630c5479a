import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { AuditHead } from './audit-store.sql.ts'
import { commandLine } from './record-audit.ts'

/**
 * After a backup was restored, the log continues from the head of the backup, and what was appended after the backup is not in it. An entry
 * says so and names that head, so that a restore can be distinguished from a log that was cut off. Returns these heads.
 */
export async function beginSegment(tx: Stores, now: Instant): Promise<readonly AuditHead[]> {
  const heads = await tx.audit.listHeads()
  for (const { organizationId, sequence, hash } of heads) {
    const by = commandLine('restore')
    tx.audit.add({ ...by, organizationId, at: now, activities: [], restored: { sequence, hash } })
  }
  return heads
}
