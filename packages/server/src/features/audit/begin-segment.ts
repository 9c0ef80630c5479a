import type { Instant } from '../../instant.ts'
import { originOf } from '../../origin.ts'
import type { Database } from '../../stores.ts'

/**
 * After a backup was restored, the log continues from the head of the backup, and what was appended after the backup is not in it. An entry
 * says so and names that head, so that a restore can be distinguished from a log that was cut off. Returns how many logs there are.
 */
export async function beginSegment(database: Database, now: Instant): Promise<number> {
  const heads = await database.read(tx => tx.audit.listHeads())
  await database.transaction(async tx => {
    for (const { organizationId, sequence, hash } of heads) {
      const origin = originOf('restore', { kind: 'command_line', id: null, label: null })
      tx.audit.add({ organizationId, at: now, user: null, origin, activities: [], restored: { sequence, hash } })
    }
  })
  return heads.length
}
