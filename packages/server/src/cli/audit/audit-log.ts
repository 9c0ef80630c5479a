import { once } from 'node:events'
import { beginSegment } from '../../features/audit/begin-segment.ts'
import { findCheckpointKey } from '../../features/audit/checkpoint-key.ts'
import { cefLine, jsonLine } from '../../features/audit/export-lines.ts'
import { commandLine } from '../../features/audit/record-audit.ts'
import { canonicalJson } from '../../features/audit/verify-chain.ts'
import { endAllSignIns } from '../../features/identity/sign-in/end-all-sign-ins.ts'
import { findSecretKey } from '../../features/plugins/secrets/secret-key.ts'
import { instantOf } from '../../instant.ts'
import { sqlInstanceStore } from '../../storage/instance-store.sql.ts'
import { createSecretBox } from '../../storage/secret-box.ts'
import { printJson } from '../output.ts'
import { CommandError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'

const exportedAtOnceMax = 500

/** `halyard audit head` */
export const printHeads = (options: { readonly json?: boolean }): Promise<void> =>
  withDatabase(async (database, storage, config) => {
    const heads = await database.read(tx => tx.audit.listHeads())
    const instance = sqlInstanceStore(storage.kysely)
    const box = createSecretBox(await findSecretKey(config.secretKey, storage.sqlite?.path, instance))
    const key = await findCheckpointKey(instance, box)
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

/** `halyard audit export <organization>`: it leaves an entry, as every export does. */
export const exportLog = (
  organizationId: string,
  { format, after }: { readonly format: 'jsonl' | 'cef'; readonly after: number },
): Promise<void> =>
  withDatabase(async database => {
    const head = await database.read(tx => tx.audit.findHead(organizationId))
    if (!head) throw new CommandError(`There is no audit log of ${organizationId}. See: halyard audit head`)
    const at = instantOf(new Date())
    await database.transaction(async tx =>
      tx.audit.add({ ...commandLine('exportAuditLog'), organizationId, at, activities: [] }),
    )
    const lineOf = format === 'cef' ? cefLine : jsonLine
    for (let last = after; last < head.sequence; ) {
      const from = last
      const page = await database.read(tx => tx.audit.listAfter(organizationId, from, exportedAtOnceMax))
      const entries = page.filter(({ sequence }) => sequence <= head.sequence)
      if (entries.length === 0) break
      const text = entries.map(entry => `${lineOf(entry)}\n`).join('')
      if (!process.stdout.write(text)) await once(process.stdout, 'drain')
      last = entries.at(-1)!.sequence
    }
    const { sequence, hash } = head
    if (format === 'jsonl') process.stdout.write(`${canonicalJson({ head: { sequence, hash } })}\n`)
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
