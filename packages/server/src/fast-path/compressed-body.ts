import { compressedBytesMin, compressSync, createEncodingChooser, type Encoding } from '../http/server/compression.ts'
import { bodyIn, type ResponseBody, type ResponseHead, responseHead } from './fast-response.ts'
import type { ResponseMemory } from './response-batch.ts'

/** A larger body is left to the ordinary path, which compresses on another thread. */
const compressedAtOnceBytesMax = 1024 * 1024

/** Which encodings a response of one kind can have, each with its head. */
export type EncodedHeads = Readonly<Record<Encoding | 'small' | 'identity', ResponseHead>>

export function encodedHeads(status: number, headers: Readonly<Record<string, string>>): EncodedHeads {
  const varying = { ...headers, vary: 'accept-encoding' }
  return {
    small: responseHead(status, headers),
    identity: responseHead(status, varying),
    gzip: responseHead(status, { ...varying, 'content-encoding': 'gzip' }),
    br: responseHead(status, { ...varying, 'content-encoding': 'br' }),
  }
}

/** Returns which of the heads the response gets, and `later` when it is too large to be compressed at once. */
export function createEncodingDecision(): (
  bytes: number,
  accepted: string | undefined,
) => keyof EncodedHeads | 'later' {
  const choose = createEncodingChooser('gzip')
  return (bytes, accepted) => {
    if (bytes < compressedBytesMin) return 'small'
    const encoding = accepted === undefined ? undefined : choose(accepted)
    if (encoding === undefined) return 'identity'
    return bytes > compressedAtOnceBytesMax ? 'later' : encoding
  }
}

/** Compresses a body that was assembled in the memory, and puts the result in its place. */
export const compressIn = (
  memory: ResponseMemory,
  { bytes, from, to }: ResponseBody,
  encoding: Encoding,
): ResponseBody => bodyIn(memory, compressSync(bytes.subarray(from, to), encoding))

/** Bodies that are sent repeatedly, compressed once. */
export function createCompressedBodies(): (body: Buffer, encoding: Encoding) => Buffer {
  const known = new WeakMap<Buffer, Partial<Record<Encoding, Buffer>>>()
  return (body, encoding) => {
    const encoded = known.get(body) ?? {}
    known.set(body, encoded)
    encoded[encoding] ??= compressSync(body, encoding)
    return encoded[encoding]
  }
}
