import type { Stores } from '../../stores.ts'
import { type AuditColumns, columnsOf } from './audit-entry.ts'
import type { AuditEntry, AuditHead } from './audit-store.sql.ts'
import { jsonLine } from './export-lines.ts'
import { canonicalJson, firstPreviousHash, verifyChain } from './verify-chain.ts'

const readAtOnceMax = 100
const faultsMax = 100

interface Expected {
  readonly key?: string | undefined
  /** The hash that the first entry continues, when no checkpoint signs it. */
  readonly after?: string | undefined
  /** Only entries after this sequence. */
  readonly from?: number
}

export interface Fault {
  readonly sequence: number
  readonly message: string
}

export const setAsideOperation = 'set-aside-audit-log'

/** Collects what the lines say of damage that an operator accepted. */
export async function* withSetAside(lines: Iterable<string> | AsyncIterable<string>, accepted: string[]) {
  for await (const line of lines) {
    const entry = line.includes(setAsideOperation) ? attempt(() => JSON.parse(line)) : undefined
    if (entry?.operation === setAsideOperation && entry.pruned) {
      const { sequence, at, note, pruned, objects } = entry
      const own = `Entry ${sequence}: Damage up to entry ${pruned.sequence} was set aside at ${at}, because: ${note}`
      const texts = [objects?.[0]?.trigger?.earlier ?? [], own].flat().map(String)
      accepted.push(...texts.filter(text => !accepted.includes(text)))
    }
    yield line
  }
}

/**
 * Verifies the entries up to a head as they are stored: their chain, and the columns beside the content, by which lists are filtered and the
 * retention chooses. The hash does not cover them, so that an export does not show when they were changed.
 */
export async function verifyLog({ audit }: Pick<Stores, 'audit'>, head: AuditHead, expected: Expected = {}) {
  const { organizationId, sequence, hash, pruned } = head
  const columnFaults: Fault[] = []
  async function* lines() {
    for (let last = expected.from ?? 0; last < sequence; ) {
      const page = await audit.listAfter(organizationId, last, readAtOnceMax)
      const entries = page.filter(entry => entry.sequence <= sequence)
      if (entries.length === 0) break
      for (const entry of entries) {
        for (const column of changedColumns(entry))
          if (columnFaults.length < faultsMax)
            columnFaults.push({
              sequence: entry.sequence,
              message: `Its column \`${column}\` does not match its content.`,
            })
        yield jsonLine(entry)
      }
      last = entries.at(-1)!.sequence
    }
    if (sequence > 0) yield canonicalJson({ head: { sequence, hash } })
  }
  const setAside: string[] = []
  const { faults, ...verified } = await verifyChain(withSetAside(lines(), setAside), expected)
  const { start } = verified
  if (start.sequence !== pruned.sequence || start.hash !== pruned.hash)
    columnFaults.push({ sequence: start.sequence, message: 'The head names another entry as the last one removed.' })
  const sorted = [...faults, ...columnFaults].sort((a, b) => a.sequence - b.sequence)
  return { ...verified, faults: sorted, setAside }
}

/** All logs of a database, also those that lost their head. */
export async function* verifyLogs(tx: Stores, key?: string) {
  const none = { sequence: 0, hash: firstPreviousHash }
  const headless = (await tx.audit.listHeadless()).map(organizationId => ({ organizationId, ...none, pruned: none }))
  for (const head of [...(await tx.audit.listHeads()), ...headless]) {
    const { faults, ...verified } = await verifyLog(tx, head, { key })
    const [after] = await tx.audit.listAfter(head.organizationId, head.sequence, 1)
    const afterHead = after ? [{ sequence: after.sequence, message: 'It is after the head of the log.' }] : []
    yield { organizationId: head.organizationId, ...verified, faults: [...faults, ...afterHead] }
  }
}

/** What is no entry any more is reported by its hash. */
function changedColumns(entry: AuditEntry): readonly string[] {
  const derived = attempt(() => {
    const content = JSON.parse(entry.content)
    return { ...rowOf(columnsOf(content)), sequence: content.sequence, content: canonicalJson(content) }
  })
  if (!derived) return []
  return Object.entries(derived).flatMap(([column, value]) =>
    entry[column as keyof AuditEntry] === value ? [] : [column],
  )
}

const rowOf = ({ organizationId, at, userId, operation, objects }: AuditColumns) => ({
  organization_id: organizationId,
  at,
  user_id: userId,
  operation,
  objects,
})

export function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
