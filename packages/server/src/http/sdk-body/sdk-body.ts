import { promisify } from 'node:util'
import { brotliDecompress, gunzip, gunzipSync, inflate } from 'node:zlib'
import { type BodyMemoryBudget, type BodyReservation, freeBodyBytes } from '../../overload/body-memory-budget.ts'
import { Problem } from '../../problem.ts'
import { eachStretch, isTooDeep, refuseHeavyJson, tooDeep } from './json-text.ts'

/** A body as an SDK sent it, with what the request says about it. */
export interface SdkBody {
  readonly bytes: Buffer | undefined
  readonly contentType?: string | undefined
  readonly contentEncoding?: string | undefined
  /** The query parameter `compression`. */
  readonly compression?: string | undefined
}

/** Where a body is decompressed, and on behalf of which client. */
export interface SdkBodyMemory {
  readonly inflate: BodyMemoryBudget['inflate']
  readonly countInflate: BodyMemoryBudget['countInflate']
  readonly grow: BodyReservation['grow']
  /** The client has closed the connection: all further work would be in vain. */
  readonly isGone: () => boolean
}

/** Limits after decompression. */
export const eventBodyBytesMax = 20 * 1024 * 1024
export const evaluationBodyBytesMax = 1024 * 1024
const syncBodyBytesMax = 64 * 1024

/** Smaller bodies are inflated synchronously: a trip to the thread pool costs more than they can. */
const syncInflateBytesMax = 4096

/**
 * Reads the JSON value that an SDK sent (see `docs/guide/events.md`): JSON as it is, in base64, in a form field, each with
 * or without one layer of compression. Nothing is decoded on a guess: the first bytes, the content type and the SDK's own
 * conventions decide. Raises `unparsable`, `unsupported_media`, `unavailable` without memory, `too_large` beyond `bytesMax`.
 */
export async function readSdkBody(sent: SdkBody, memory: SdkBodyMemory, bytesMax: number): Promise<unknown> {
  const decoding = decode(sent, bytesMax)
  let step = decoding.next()
  while (!step.done) {
    const { bytes, encoding } = step.value
    if (memory.isGone()) throw clientGone()
    const inflated = await inflateBytes(bytes, encoding, memory, bytesMax)
    if (memory.isGone()) throw clientGone()
    step = decoding.next(inflated)
  }
  return step.value
}

/** The synchronous attempt of `readSdkBody`: small bodies as they are usually sent. Undefined when it takes more. Raises the same. */
export function readSdkBodySync(sent: SdkBody, countInflate: () => void): unknown {
  if (sent.bytes !== undefined && sent.bytes.length > syncBodyBytesMax) return undefined
  const decoding = decode(sent, syncBodyBytesMax)
  let step = decoding.next()
  while (!step.done) {
    const { bytes, encoding } = step.value
    if (encoding !== 'gzip' || bytes.length > syncInflateBytesMax) return undefined
    if (declaredBytes(bytes) > syncBodyBytesMax) return undefined
    countInflate()
    try {
      step = decoding.next(gunzipSync(bytes, { maxOutputLength: syncBodyBytesMax }))
    } catch (error) {
      if (isBeyondLimit(error)) return undefined
      throw error instanceof Problem ? error : damaged()
    }
  }
  return step.value
}

type Encoding = 'gzip' | 'br' | 'deflate'

/** Yields the bytes that have to be inflated, at most once, and returns the value. */
function* decode(sent: SdkBody, bytesMax: number): Generator<{ bytes: Buffer; encoding: Encoding }, unknown, Buffer> {
  let { bytes } = sent
  if (!bytes || bytes.length === 0) throw new Problem('unparsable', 'The body is empty.')
  const encoding = encodingOf(sent.contentEncoding) ?? (isGzip(bytes) ? 'gzip' : undefined)
  if (encoding !== undefined) {
    bytes = yield { bytes, encoding }
  }
  if (isGzip(bytes)) throw compressedTwice()
  if (bytes.length > bytesMax) throw tooLarge(bytesMax)
  const text = textOf(bytes)
  const isFormText = isForm(sent) || text.startsWith('data=')
  const field = isFormText ? formField(text) : text
  if (!isFormText || startsLikeJson(field)) return parse(field, sent.compression)
  let inner = fromBase64(field)
  if (isGzip(inner)) {
    if (encoding !== undefined) throw compressedTwice()
    inner = yield { bytes: inner, encoding: 'gzip' }
    if (isGzip(inner)) throw compressedTwice()
  }
  return parse(textOf(inner), sent.compression)
}

const isForm = ({ contentType, compression }: SdkBody): boolean =>
  compression === 'base64' || (contentType !== undefined && /^application\/x-www-form-urlencoded\b/i.test(contentType))

const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

const startsLikeJson = (text: string): boolean => /^\s*[[{"]/.test(text)

/** Gzip is recognized by its first bytes, because proxies decompress bodies and leave the header. The others have only their name. */
function encodingOf(contentEncoding: string | undefined): Encoding | undefined {
  if (contentEncoding === undefined) return undefined
  const name = contentEncoding.trim().toLowerCase()
  if (name === '' || name === 'identity' || name === 'gzip' || name === 'x-gzip') return undefined
  if (name === 'br' || name === 'deflate') return name
  throw new Problem('unsupported_media', 'This Content-Encoding is not supported; use gzip, deflate, br or none.')
}

/** The size after decompression, which gzip declares in its last four bytes. */
const declaredBytes = (bytes: Buffer): number =>
  bytes.length < gzipBytesMin ? 0 : bytes.readUInt32LE(bytes.length - Uint32Array.BYTES_PER_ELEMENT)

const gzipBytesMin = 18

const inflaters = { br: promisify(brotliDecompress), deflate: promisify(inflate), gzip: promisify(gunzip) }

async function inflateBytes(
  bytes: Buffer,
  encoding: Encoding,
  memory: SdkBodyMemory,
  bytesMax: number,
): Promise<Buffer> {
  const options = { maxOutputLength: bytesMax }
  let inflated: Buffer
  try {
    if (encoding === 'gzip' && bytes.length <= syncInflateBytesMax) {
      memory.countInflate()
      inflated = gunzipSync(bytes, options)
    } else {
      inflated = await memory.inflate(async () => {
        if (memory.isGone()) throw clientGone()
        return inflaters[encoding](bytes, options)
      })
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    throw isBeyondLimit(error) ? tooLarge(bytesMax) : damaged()
  }
  if (inflated.length > freeBodyBytes) memory.grow(inflated.length)
  return inflated
}

const isBeyondLimit = (error: unknown): boolean => (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'

const damaged = (): Problem =>
  new Problem('unparsable', 'The body could not be decompressed: it is damaged or incomplete.')

const clientGone = (): Problem => new Problem('unparsable', 'The client closed the connection.')

const compressedTwice = (): Problem => new Problem('unparsable', 'The body is compressed twice; compress it once.')

const tooLarge = (bytesMax: number): Problem =>
  new Problem('too_large', `The body is larger than ${bytesMax} bytes after decompression.`)

const textOf = (bytes: Buffer): string => {
  const text = bytes.toString('utf8')
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** A missing `data=` is tolerated. */
function formField(text: string): string {
  if (startsLikeJson(text) || !/^\s*data=|&data=/.test(text)) return text
  return new URLSearchParams(text.trimStart()).get('data') ?? ''
}

/** Forms turn the plus signs of base64 into spaces; surrounding whitespace means nothing. */
function fromBase64(text: string): Buffer {
  const trimmed = text.trim()
  if (trimmed === '' || !/^[\w+/=\s-]+$/.test(trimmed)) return Buffer.alloc(0)
  // As bytes: replacing millions of spaces in a string takes seconds.
  const letters = Buffer.from(trimmed, 'latin1')
  for (let at = letters.indexOf(space); at !== -1; at = letters.indexOf(space, at + 1)) letters[at] = plus
  return Buffer.from(letters.toString('latin1'), 'base64')
}

const space = 0x20
const plus = 0x2b

function parse(text: string, compression: string | undefined): unknown {
  refuseHeavyJson(text)
  const parsed = parseJson(text) ?? (/NaN|Infinity/.test(text) ? parseJson(withoutNonNumbers(text)) : undefined)
  if (!parsed) throw unreadable(compression)
  if (isTooDeep(parsed.json)) throw tooDeep()
  return parsed.json
}

const unreadable = (compression: string | undefined): Problem =>
  compression === 'lz64'
    ? new Problem('unsupported_media', 'lz64 is not supported; send gzip, base64 or JSON.')
    : new Problem('unparsable', 'The body is not valid JSON.')

function parseJson(text: string): { json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Some SDKs send numbers that JSON does not have. Outside strings they become null. */
function withoutNonNumbers(text: string): string {
  const parts: string[] = []
  eachStretch(
    text,
    (from, to) => parts.push(text.slice(from, to).replace(/-?\b(?:NaN|Infinity)\b/g, 'null')),
    (from, to) => parts.push(text.slice(from, to)),
  )
  return parts.join('')
}
