import { promisify } from 'node:util'
import { brotliDecompress, gunzip, gunzipSync, inflate } from 'node:zlib'
import { Problem } from '../problem.ts'
import { isTooDeep, nestingMax } from './check-body.ts'

/** What a client library sent, before anything is known about it. */
export interface SdkBody {
  readonly bytes: Buffer | undefined
  readonly contentType?: string | undefined
  readonly contentEncoding?: string | undefined
  /** The query parameter `compression`. */
  readonly compression?: string | undefined
}

export const sdkBodyBytesMax = 20 * 1024 * 1024

/** Browsers' own compression inside a proxy's: more layers than that are nobody's honest doing. */
const layersMax = 3
/** Smaller bodies are unpacked on the spot: a trip to the thread pool costs more than they can, bombs included. */
const unpackAtOnceBytesMax = 4096

/**
 * Reads the JSON value that a client library sent in any of the ways they have (see `docs/guide/events.md`): plain, gzip with or without
 * saying so, base64, a form field. What is really there decides, not what the headers claim, since proxies unpack bodies and leave
 * the claims standing. Raises `unparsable`, `unsupported_media`, or `too_large` when unpacking would give more than `bytesMax`.
 */
export async function readSdkBody(sent: SdkBody, bytesMax = sdkBodyBytesMax): Promise<unknown> {
  if (!sent.bytes || sent.bytes.length === 0) throw new Problem('unparsable', 'The body is empty.')
  const bytes = await unpack(await undoContentEncoding(sent.bytes, sent.contentEncoding, bytesMax), bytesMax)
  const text = textOf(bytes)
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(sent.contentType ?? '') || sent.compression === 'base64'
  const field = isForm || text.startsWith('data=') ? formField(text) : text
  const value = parse(field) ?? parse(textOf(await unpack(fromBase64(field), bytesMax)))
  if (!value) throw unreadable(sent.compression)
  return value.json
}

const unreadable = (compression: string | undefined): Problem =>
  compression === 'lz64'
    ? new Problem('unsupported_media', 'Bodies packed with lz64 are not understood; send gzip, base64 or plain JSON.')
    : new Problem('unparsable', 'The body is not valid JSON, also not after unpacking.')

const unpackers = { br: promisify(brotliDecompress), deflate: promisify(inflate), gzip: promisify(gunzip) }

/** Gzip is told from its first bytes, later; the other encodings of HTTP have only their name. */
async function undoContentEncoding(bytes: Buffer, encoding: string | undefined, bytesMax: number): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity' || name === 'gzip' || name === 'x-gzip') return bytes
  if (name !== 'br' && name !== 'deflate') {
    throw new Problem('unsupported_media', 'This Content-Encoding is not understood; use gzip, deflate, br or none.')
  }
  return guarded(bytesMax, () => unpackers[name](bytes, { maxOutputLength: bytesMax }))
}

async function unpack(bytes: Buffer, bytesMax: number): Promise<Buffer> {
  let current = bytes
  for (let layer = 0; isGzip(current); layer++) {
    if (layer === layersMax) throw new Problem('unparsable', `The body is packed more than ${layersMax} times over.`)
    const packed = current
    current = await guarded(bytesMax, async () =>
      packed.length <= unpackAtOnceBytesMax
        ? gunzipSync(packed, { maxOutputLength: bytesMax })
        : unpackers.gzip(packed, { maxOutputLength: bytesMax }),
    )
  }
  return current
}

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

async function guarded(bytesMax: number, work: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await work()
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Problem('too_large', `The body is larger than ${bytesMax} bytes once unpacked.`)
    }
    throw new Problem('unparsable', 'The body could not be unpacked: it is damaged or cut short.')
  }
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

/** Forms turn the plus signs of base64 into blanks. */
const fromBase64 = (text: string): Buffer =>
  /^[\w+/=\s-]+$/.test(text) ? Buffer.from(text.replaceAll(' ', '+'), 'base64') : Buffer.alloc(0)

function parse(text: string): { json: unknown } | undefined {
  const json = parseJson(text) ?? (/NaN|Infinity/.test(text) ? parseJson(withoutNonNumbers(text)) : undefined)
  if (json && isTooDeep(json.json)) {
    throw new Problem('unparsable', `The body is nested deeper than ${nestingMax} levels.`)
  }
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
  for (let start = 0; start < text.length; ) {
    const open = text.indexOf('"', start)
    const end = open === -1 ? text.length : open
    pieces.push(text.slice(start, end).replace(/-?\b(?:NaN|Infinity)\b/g, 'null'))
    start = open === -1 ? end : endOfString(text, open)
    pieces.push(text.slice(end, start))
  }
  return pieces.join('')
}

function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at + 1
  }
  return text.length
}
