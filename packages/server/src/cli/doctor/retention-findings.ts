import type { Config } from '../../config.ts'
import { sqlAuditStore } from '../../features/audit/audit-store.sql.ts'
import { findRemovable, retainedSince, TamperedLogError } from '../../features/audit/trim-audit.ts'
import { instantOf } from '../../instant.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { createSqlDatabase } from '../../storage/sql-database.ts'
import type { Finding } from './security-findings.ts'
import { bad, good } from './storage-checks.ts'

/** Audit logs of which the retention removes nothing, because entries that are due were changed. */
export async function retentionFindings({ auditDays }: Config, storage: Storage): Promise<readonly Finding[]> {
  if (auditDays === undefined) return []
  const before = retainedSince(instantOf(new Date()), auditDays)
  const database = createSqlDatabase(
    storage,
    (db, end) => ({ audit: sqlAuditStore(db, end, new Map()) }),
    async () => {},
  )
  return database.read(async tx => {
    const findings: Finding[] = []
    for (const { organizationId } of await tx.audit.listHeads()) {
      await findRemovable(tx, organizationId, before).catch(error => {
        if (!(error instanceof TamperedLogError)) throw error
        findings.push(bad(error.message))
      })
    }
    return findings.length > 0 ? findings : [good('No entry of the audit log that is due for removal was changed.')]
  })
}
