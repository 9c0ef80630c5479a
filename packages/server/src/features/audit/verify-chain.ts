import { createPublicKey, hash as digest, verify } from 'node:crypto'

/**
 * Verifies an exported audit log. It imports nothing of the server, so that an auditor can read all of it.
 *
 * An export has one JSON object per line: entries in order of their sequence, and as the last line the head. An entry's hash is the SHA-256
 * of its canonical JSON (RFC 8785) without the member `hash`. It contains the hash of the entry before; the first contains 64 zeros. An
 * entry with `pruned` names the last entry that the retention removed, with an Ed25519 signature that also covers the chain up to here.
 */
export const firstPreviousHash = '0'.repeat(64)

/** RFC 8785: no white space, members sorted by UTF-16 code units, numbers and strings as ECMAScript serializes them. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `[${value.map(item => canonicalJson(item ?? null)).join()}]`
  if (typeof value === 'object' && value !== null) {
    const members = value as Readonly<Record<string, unknown>>
    const names = Object.keys(value)
    if (!names.every((name, n) => n === 0 || names[n - 1]! < name)) names.sort()
    let text = ''
    for (const name of names)
      if (members[name] !== undefined) text += `${text && ','}${quote(name)}:${canonicalJson(members[name])}`
    return `{${text}}`
  }
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError('JSON has no such number.')
  return JSON.stringify(value)
}
/** Printable ASCII without quotes and backslashes needs no escapes. */
const quote = (text: string): string => (/^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text))
export const sha256 = (text: string): string => digest('sha256', text)

export type Link = { readonly sequence: number; readonly hash: string }
/** The public key and the signature are in base64url. */
export type Checkpoint = Link & { readonly key: string; readonly signature: string }
type Place = { readonly organization: string; readonly previous_hash: string; readonly sequence: number }
type Entry = Place & Link & { readonly pruned?: Checkpoint; readonly head?: Link }

export const checkpointText = ({ organization, previous_hash, sequence }: Place, pruned: Link): string =>
  canonicalJson({ organization, previous_hash, pruned: { hash: pruned.hash, sequence: pruned.sequence }, sequence })

function isSigned(entry: Entry, pruned: Checkpoint): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: pruned.key }, format: 'jwk' })
  return verify(null, Buffer.from(checkpointText(entry, pruned)), key, Buffer.from(pruned.signature, 'base64url'))
}

/** Noted earlier: the hash of an entry, the head that the export continues, the SHA-256 of the public key. */
type Expected = { readonly [Name in 'head' | 'after' | 'key']?: string | undefined }

/** `start` is what the first entry continues; `key` is that of the newest checkpoint. An intact log has no faults. */
export async function verifyChain(lines: Iterable<string> | AsyncIterable<string>, expected: Expected = {}) {
  const faults: { sequence: number; message: string }[] = []
  const report = (sequence: number, message: string) => faults.length < 100 && faults.push({ sequence, message })
  let [start, stated]: (Link | undefined)[] = []
  let last: Link = { sequence: 0, hash: firstPreviousHash }
  let key: string | undefined
  let entries = 0
  let hasHead = expected.head === undefined || expected.head === expected.after
  let isStartSigned = false
  for await (const line of lines) {
    if (line === '') continue
    const entry = attempt(() => JSON.parse(line) as Entry)
    if (!entry || stated || attempt(() => canonicalJson(entry)) !== line || !(entry.head || entry.sequence > 0)) {
      last = { sequence: last.sequence + 1, hash: '' }
      report(last.sequence, stated ? 'There is a line after the head.' : 'The line is not an entry in canonical JSON.')
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
    hasHead ||= hash === expected.head
    if (pruned?.signature) {
      key = sha256(String(pruned.key))
      const isTrue = attempt(() => isSigned(entry, pruned)) && key === (expected.key ?? key)
      if (!isTrue) report(sequence, `Its checkpoint is not signed with the ${expected.key ? 'expected ' : ''}key.`)
      else if (pruned.sequence === start.sequence && pruned.hash === start.hash) isStartSigned = true
    }
    last = { sequence, hash }
  }
  start ??= last
  const isWhole = start.sequence === 0 ? start.hash === firstPreviousHash : isStartSigned
  if (!isWhole && start.hash !== expected.after)
    report(start.sequence, 'Entries up to this one are missing, without a signed checkpoint.')
  if (!stated || stated.sequence !== last.sequence || stated.hash !== last.hash)
    report(last.sequence + 1, `The export is cut off here${stated ? `: its head is ${stated.sequence}.` : '.'}`)
  if (!hasHead) report(last.sequence + 1, 'The expected head is not in the log: it was cut off or replaced.')
  return { entries, start, head: last, key, faults }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {}
  return undefined
}
