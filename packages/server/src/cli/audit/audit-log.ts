import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import type { AuditHead } from '../../features/audit/audit-store.sql.ts'
import { beginSegment } from '../../features/audit/begin-segment.ts'
import { findCheckpointKey, getCheckpointKey } from '../../features/audit/checkpoint-key.ts'
import { type ExportFormat, exportPages } from '../../features/audit/export-lines.ts'
import { commandLine } from '../../features/audit/record-audit.ts'
import { findDamage, setAside } from '../../features/audit/set-aside.ts'
import { endAllSignIns } from '../../features/identity/sign-in/end-all-sign-ins.ts'
import { findSecretKey } from '../../features/plugins/secrets/secret-key.ts'
import { instantOf } from '../../instant.ts'
import { sqlInstanceStore } from '../../storage/instance-store.sql.ts'
import type { Storage } from '../../storage/open-storage.ts'
import { createSecretBox } from '../../storage/secret-box.ts'
import type { MainDatabase } from '../../stores.ts'
import { writeWhole } from '../data/whole-file.ts'
import { printJson } from '../output.ts'
import { CommandError, UsageError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'

/** `halyard audit head` */
export const printHeads = (options: { readonly json?: boolean }): Promise<void> =>
  withDatabase(async (database, storage, config) => {
    const heads = await database.read(tx => tx.audit.listHeads())
    const key = await findCheckpointKey(sqlInstanceStore(storage.kysely), await secretBoxOf(storage, config))
    const rows = heads.map(({ organizationId, sequence, hash }) => ({
      organization: organizationId,
      sequence,
      hash,
      checkpoint_key: key?.fingerprint ?? null,
    }))
    if (options.json) return printJson(rows)
    // A table would shorten the hash.
    for (const { organization, sequence, hash } of rows) console.log(`${organization} ${sequence} ${hash}`)
    if (key) console.log(`Checkpoints are signed with the key ${key.fingerprint}`)
  })

const secretBoxOf = async ({ kysely, sqlite }: Storage, { secretKey }: Config) =>
  createSecretBox(await findSecretKey(secretKey, sqlite?.path, sqlInstanceStore(kysely)))

/** `halyard audit export <organization>`: it leaves an entry, as every export does. */
export const exportLog = (
  organizationId: string,
  { format, after }: { readonly format: ExportFormat; readonly after: number },
): Promise<void> =>
  withDatabase(async database => {
    const head = await headOf(database, organizationId)
    const at = instantOf(new Date())
    await database.transaction(async tx =>
      tx.audit.add({ ...commandLine('exportAuditLog'), organizationId, at, activities: [] }),
    )
    for await (const text of exportPages(database, organizationId, after, head, format)) {
      if (!process.stdout.write(text)) await once(process.stdout, 'drain')
    }
  })

async function headOf(database: MainDatabase, organizationId: string): Promise<AuditHead> {
  const head = await database.read(tx => tx.audit.findHead(organizationId))
  if (!head) throw new CommandError(`There is no audit log of ${organizationId}. See: halyard audit head`)
  return head
}

/** `halyard audit set-aside <organization>` */
export const setDamageAside = (
  organizationId: string,
  { to, reason }: { readonly to: string; readonly reason: string },
): Promise<void> =>
  withDatabase(async (database, storage, config) => {
    if (reason.trim() === '') throw new UsageError('--reason must say why.')
    const head = await headOf(database, organizationId)
    const [beyond] = await database.read(tx => tx.audit.listAfter(organizationId, head.sequence, 1))
    if (beyond) throw new CommandError(`Entry ${beyond.sequence} is after the head of the log. Restore a backup.`)
    const damage = await database.read(tx => findDamage(tx, head))
    if (!damage) throw new CommandError('The audit log is intact. Nothing was set aside.')
    const digest = createHash('sha256')
    await writeWhole(to, async part => {
      for await (const text of exportPages(database, organizationId, 0, damage.last, 'jsonl')) {
        digest.update(text)
        appendFileSync(part, text, { mode: 0o600 })
      }
    })
    const box = await secretBoxOf(storage, config)
    const decision = { reason: reason.trim(), sha256: digest.digest('hex') }
    await database.transaction(async tx => {
      const key = await getCheckpointKey(tx.instance, box)
      await setAside(tx, key, organizationId, damage, decision, instantOf(new Date()))
    })
    console.log(`Moved the entries up to ${damage.last.sequence} to ${to}, SHA-256 ${decision.sha256}. Keep this file.`)
  })

/** `halyard audit restored` */
export const beginSegments = (): Promise<void> =>
  withDatabase(async database => {
    const now = instantOf(new Date())
    const { heads, people } = await database.transaction(async tx => ({
      heads: await beginSegment(tx, now),
      people: await endAllSignIns(tx, now),
    }))
    console.log(`Began a new segment of ${heads.length} audit logs, and signed ${people} people out.`)
  })
