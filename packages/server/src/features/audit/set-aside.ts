import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { AuditHead } from './audit-store.sql.ts'
import type { CheckpointKey } from './checkpoint-key.ts'
import { commandLine } from './record-audit.ts'
import type { Link } from './verify-chain.ts'
import { attempt, type Fault, setAsideOperation, verifyLog } from './verify-log.ts'

const recordedMax = 100

/** What is wrong with a log, and the last entry that has to go so that the rest is intact. */
export interface Damage {
  readonly faults: readonly Fault[]
  /** What was set aside before: the entries that say so may go as well. */
  readonly earlier: readonly string[]
  readonly first: number
  readonly last: Link
}

/** Undefined for an intact log. The verifier stops counting at some point, so what is left is verified again. */
export async function findDamage(tx: Pick<Stores, 'audit'>, head: AuditHead): Promise<Damage | undefined> {
  const verified = await verifyLog(tx, head)
  const faults = [...verified.faults]
  if (faults.length === 0) return undefined
  let last = await linkAfter(tx, head, faults.at(-1)!.sequence)
  while (last.sequence < head.sequence) {
    const rest = await verifyLog(tx, { ...head, pruned: last }, { after: last.hash, from: last.sequence })
    if (rest.faults.length === 0) break
    faults.push(...rest.faults)
    last = await linkAfter(tx, head, Math.max(rest.faults.at(-1)!.sequence, last.sequence + 1))
  }
  return { faults, earlier: verified.setAside, first: head.pruned.sequence + 1, last }
}

/** What the first entry after this sequence continues; the head when there is none. */
async function linkAfter({ audit }: Pick<Stores, 'audit'>, head: AuditHead, sequence: number): Promise<Link> {
  const [next] = await audit.listAfter(head.organizationId, sequence, 1)
  if (!next || next.sequence > head.sequence) return { sequence: head.sequence, hash: head.hash }
  return { sequence: next.sequence - 1, hash: previousHashOf(next.content) }
}

const previousHashOf = (content: string): string => String(attempt(() => JSON.parse(content))?.previous_hash ?? '')

interface Decision {
  readonly reason: string
  /** Of the file that has the removed entries. */
  readonly sha256: string
}

/** Removes the damaged part, with a signed checkpoint that says what was wrong and why it was accepted. */
export async function setAside(
  tx: Stores,
  key: CheckpointKey,
  organizationId: string,
  { faults, earlier, first, last }: Damage,
  { reason, sha256 }: Decision,
  now: Instant,
): Promise<void> {
  const head = await tx.audit.removeUpTo(organizationId, last)
  const { origin: command } = commandLine(setAsideOperation)
  const origin = { ...command, note: reason }
  const messages = new Map<string, string>()
  for (const { sequence, message } of faults.slice(0, recordedMax)) {
    const field = `#${sequence}`
    messages.set(field, `${messages.get(field) ?? ''} ${message}`.trim())
  }
  const changes = [...messages].map(([field, before]) => ({ action: 'deleted', field, before, after: null }) as const)
  const activity = {
    ...({ organizationId, projectId: null, scope: 'AuditLog', itemId: organizationId, activity: 'set_aside' } as const),
    ...{ user: null, keyLabel: null, origin, createdAt: now },
    detail: { name: `#${first}–#${last.sequence}`, changes, trigger: { reason, file_sha256: sha256, earlier } },
  }
  const pruned = key.sign(organizationId, head, last)
  tx.audit.add({ organizationId, at: now, user: null, origin, activities: [activity], pruned })
}
