import { promisify } from 'node:util'
import { brotliDecompress, gunzip, gunzipSync, inflate } from 'node:zlib'
import { type BodyMemoryBudget, type BodyReservation, freeBodyBytes } from '../../overload/body-memory-budget.ts'
import { Problem } from '../../problem.ts'
import { isTooDeep } from '../routes/check-body.ts'
import { eachStretch, refuseHeavyJson, tooDeep } from './json-text.ts'

/** What a client library sent, before anything is known about it. */
export interface SdkBody {
  readonly bytes: Buffer | undefined
  readonly contentType?: string | undefined
  readonly contentEncoding?: string | undefined
  /** The query parameter `compression`. */
  readonly compression?: string | undefined
}

/** Where it is unpacked. */
export interface SdkBodyRoom {
  readonly unpack: BodyMemoryBudget['unpack']
  readonly take: BodyReservation['take']
}

export const sdkBodyBytesMax = 20 * 1024 * 1024

/** Browsers' own compression inside a proxy's: more layers than that are nobody's honest doing. */
const layersMax = 3
/** Smaller bodies are unpacked on the spot: a trip to the thread pool costs more than they can, bombs included. */
export const unpackAtOnceBytesMax = 4096

/**
 * Reads the JSON value that a client library sent in any of the ways they have (see `docs/guide/events.md`): plain, gzip with or without
 * saying so, base64, a form field. What is really there decides, not what the headers claim, since proxies unpack bodies and leave
 * the claims standing. Raises `unparsable`, `unsupported_media`, `unavailable` when there is no room for what it unpacks to, or `too_large` when
 * that would be more than `bytesMax`.
 */
export async function readSdkBody(sent: SdkBody, room: SdkBodyRoom, bytesMax = sdkBodyBytesMax): Promise<unknown> {
  if (!sent.bytes || sent.bytes.length === 0) throw new Problem('unparsable', 'The body is empty.')
  const bytes = await unpack(
    await undoContentEncoding(sent.bytes, sent.contentEncoding, room, bytesMax),
    room,
    bytesMax,
  )
  const text = textOf(bytes)
  const field = isForm(sent) || text.startsWith('data=') ? formField(text) : text
  const value = parse(field) ?? parse(textOf(await unpack(fromBase64(field), room, bytesMax)))
  if (!value) throw unreadable(sent.compression)
  return value.json
}

export const isForm = ({ contentType, compression }: Omit<SdkBody, 'bytes'>): boolean =>
  compression === 'base64' || (contentType !== undefined && /^application\/x-www-form-urlencoded\b/i.test(contentType))

const unreadable = (compression: string | undefined): Problem =>
  compression === 'lz64'
    ? new Problem('unsupported_media', 'Bodies packed with lz64 are not understood; send gzip, base64 or plain JSON.')
    : new Problem('unparsable', 'The body is not valid JSON, also not after unpacking.')

const unpackers = { br: promisify(brotliDecompress), deflate: promisify(inflate), gzip: promisify(gunzip) }

/** Gzip is told from its first bytes, later; the other encodings of HTTP have only their name. */
async function undoContentEncoding(
  bytes: Buffer,
  encoding: string | undefined,
  room: SdkBodyRoom,
  bytesMax: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity' || name === 'gzip' || name === 'x-gzip') return bytes
  if (name !== 'br' && name !== 'deflate') {
    throw new Problem('unsupported_media', 'This Content-Encoding is not understood; use gzip, deflate, br or none.')
  }
  return guarded(bytesMax, room, () => room.unpack(() => unpackers[name](bytes, { maxOutputLength: bytesMax })))
}

async function unpack(bytes: Buffer, room: SdkBodyRoom, bytesMax: number): Promise<Buffer> {
  let current = bytes
  for (let layer = 0; isGzip(current); layer++) {
    if (layer === layersMax) throw new Problem('unparsable', `The body is packed more than ${layersMax} times over.`)
    const packed = current
    current = await guarded(bytesMax, room, async () =>
      packed.length <= unpackAtOnceBytesMax
        ? gunzipSync(packed, { maxOutputLength: bytesMax })
        : room.unpack(() => unpackers.gzip(packed, { maxOutputLength: bytesMax })),
    )
  }
  return current
}

export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

async function guarded(bytesMax: number, room: SdkBodyRoom, work: () => Promise<Buffer>): Promise<Buffer> {
  let unpacked: Buffer
  try {
    unpacked = await work()
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Problem('too_large', `The body is larger than ${bytesMax} bytes once unpacked.`)
    }
    throw new Problem('unparsable', 'The body could not be unpacked: it is damaged or cut short.')
  }
  if (unpacked.length > freeBodyBytes) room.take(unpacked.length)
  return unpacked
}

const textOf = (bytes: Buffer): string => {
  const text = bytes.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** A missing `data=` is tolerated. */
function formField(text: string): string {
  if (!/^\s*data=|&data=/.test(text)) return text
  return new URLSearchParams(text.trimStart()).get('data') ?? ''
}

/** Forms turn the plus signs of base64 into blanks; blanks around it mean nothing. */
function fromBase64(text: string): Buffer {
  const trimmed = text.trim()
  if (trimmed === '' || !/^[\w+/=\s-]+$/.test(trimmed)) return Buffer.alloc(0)
  // As bytes: to replace millions of blanks in a text takes seconds.
  const letters = Buffer.from(trimmed, 'latin1')
  for (let at = letters.indexOf(blank); at !== -1; at = letters.indexOf(blank, at + 1)) letters[at] = plus
  return Buffer.from(letters.toString('latin1'), 'base64')
}

const blank = 0x20
const plus = 0x2b

function parse(text: string): { json: unknown } | undefined {
  refuseHeavyJson(text)
  const json = parseJson(text) ?? (/NaN|Infinity/.test(text) ? parseJson(withoutNonNumbers(text)) : undefined)
  if (json && isTooDeep(json.json)) throw tooDeep()
  return json
}

function parseJson(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Some libraries print numbers that JSON does not have. Outside strings they become null. */
function withoutNonNumbers(text: string): string {
  const pieces: string[] = []
  eachStretch(
    text,
    (from, to) => pieces.push(text.slice(from, to).replace(/-?\b(?:NaN|Infinity)\b/g, 'null')),
    (from, to) => pieces.push(text.slice(from, to)),
  )
  return pieces.join('')
}
