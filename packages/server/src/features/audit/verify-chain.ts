import { createHash } from 'node:crypto'

/**
 * Verifies an exported audit log. It imports nothing of the server, so that an auditor can read all of it.
 *
 * An export has one JSON object per line: entries in order of their sequence, and as the last line the head. An entry's hash is the SHA-256
 * of its canonical JSON (RFC 8785) without the member `hash`. It contains the hash of the entry before; the first contains 64 zeros.
 */

export const firstPreviousHash = '0'.repeat(64)

/** RFC 8785: no white space, members sorted by UTF-16 code units, numbers and strings as ECMAScript serializes them. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item ?? null)).join()}]`
  if (typeof value === 'object' && value !== null) {
    const members = value as Readonly<Record<string, unknown>>
    const names = Object.keys(value).filter(name => members[name] !== undefined)
    if (!names.every((name, n) => n === 0 || names[n - 1]! < name)) names.sort()
    return `{${names.map(name => `${quote(name)}:${canonicalJson(members[name])}`).join()}}`
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('JSON has no such number.')
  return JSON.stringify(value)
}

/** Printable ASCII without quotes and backslashes needs no escapes. */
const quote = (text: string): string => (/^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text))
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

export interface Verification {
  readonly entries: number
  /** What the first entry continues: sequence 0, the checkpoint of the retention, or the end of an earlier export. */
  readonly start: Link
  readonly head: Link
  /** Empty when the log is intact. */
  readonly faults: readonly { readonly sequence: number; readonly message: string }[]
}

interface Expected {
  /** A head that was noted earlier: an entry must have this hash. */
  readonly head?: string | undefined
  /** The head of an earlier export that this one continues. */
  readonly after?: string | undefined
}

export async function verifyChain(
  lines: Iterable<string> | AsyncIterable<string>,
  { head, after }: Expected = {},
): Promise<Verification> {
  const faults: { sequence: number; message: string }[] = []
  const report = (sequence: number, message: string) => faults.length < 100 && faults.push({ sequence, message })
  let start: Link | undefined
  let last: Link = { sequence: 0, hash: firstPreviousHash }
  let stated: Link | undefined
  let entries = 0
  let hasHead = head === undefined || head === after
  let isStartConfirmed = false
  for await (const line of lines) {
    if (line === '') continue
    const entry = parse(line)
    if (!entry || stated) {
      last = { sequence: last.sequence + 1, hash: '' }
      report(last.sequence, entry ? 'There is a line after the head.' : 'The line is not an entry in canonical JSON.')
      continue
    }
    stated = entry.head
    if (stated) continue
    const { hash, sequence, previous_hash: previous, pruned } = entry
    start ??= { sequence: sequence - 1, hash: previous }
    if (entries++ === 0 && last.sequence === 0) last = start
    if (sequence !== last.sequence + 1) report(last.sequence + 1, `Entry ${sequence} is in its place.`)
    else if (previous !== last.hash) report(sequence, 'It does not continue the entry before.')
    if (sha256(canonicalJson({ ...entry, hash: undefined })) !== hash) report(sequence, 'Its content was changed.')
    if (hash === head) hasHead = true
    if (pruned?.sequence === start.sequence && pruned.hash === start.hash) isStartConfirmed = true
    last = { sequence, hash }
  }
  start ??= last
  const isWhole = start.sequence === 0 ? start.hash === firstPreviousHash : isStartConfirmed
  if (!isWhole && start.hash !== after)
    report(start.sequence, 'Entries up to this one are missing, without a checkpoint.')
  const isCutOff = !stated || stated.sequence !== last.sequence || stated.hash !== last.hash
  if (isCutOff)
    report(last.sequence + 1, `The export is cut off here${stated ? `: its head is ${stated.sequence}.` : '.'}`)
  if (!hasHead) report(last.sequence + 1, 'The expected head is not in the log: it was cut off or replaced.')
  return { entries, start, head: last, faults }
}

type Link = { readonly sequence: number; readonly hash: string }
type Line = Link & { readonly previous_hash: string; readonly pruned?: Link; readonly head?: Link }

function parse(line: string): Line | undefined {
  try {
    const value: Line = JSON.parse(line)
    return canonicalJson(value) === line && (value.head || Number.isSafeInteger(value.sequence)) ? value : undefined
  } catch {
    return undefined
  }
}
