import { promisify } from 'node:util'
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { memoizeByKey } from '../../concurrency/memoize-by-key.ts'
import { type GzippedRest, gzipRest } from './gzip-join.ts'

export type Encoding = 'br' | 'gzip'

/** Smaller bodies fit into one packet anyway. */
export const compressedBytesMin = 1024

const brotliQuality = 4
const gzipLevel = 6
/** Clients send few different values of `Accept-Encoding`. */
const headersMax = 200

const compressible = /^(application\/(json|openapi\+json|javascript)|text\/plain)\b/
const brotliOptions = (quality: number) => ({ params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
const gzipAsync = promisify(gzip)
const brotliAsync = promisify(brotliCompress)

/** The encoding to use for a value of `Accept-Encoding`; among equals Brotli, which is smaller and, at quality 1, faster too. */
export const createEncodingChooser = (): ((accepted: string) => Encoding | undefined) =>
  memoizeByKey(headersMax, chooseEncoding)

function chooseEncoding(accepted: string): Encoding | undefined {
  const weights = new Map(
    accepted.split(',').map(part => {
      const [name = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
      const weight = parameters.find(parameter => parameter.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
    }),
  )
  const weightOf = (encoding: Encoding): number => weights.get(encoding) ?? weights.get('*') ?? 0
  const chosen = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br'
  return weightOf(chosen) > 0 ? chosen : undefined
}

/** Smaller bodies are compressed synchronously: a trip to the thread pool costs more. */
const compressedSyncBytesMax = 1024 * 1024

/** Most responses fit into one small chunk, which is allocated for every response. */
const chunkSize = 4096
const quickGzip = { level: 2, chunkSize }
/** A smaller window takes less to prepare, but larger bodies longer to compress, to more bytes. */
const smallGzip = { ...quickGzip, windowBits: 14, memLevel: 7 }
const smallGzipBytesMax = 32 * 1024
const quickBrotli = { ...brotliOptions(1), chunkSize }

const quickGzipFor = (bytes: Buffer) => (bytes.length <= smallGzipBytesMax ? smallGzip : quickGzip)

/** Compresses what will be sent more than once, behind different heads. Undefined when it is not to be compressed, or in the background. */
export const compressRest = (bytes: Buffer): GzippedRest | undefined =>
  bytes.length < compressedBytesMin || bytes.length > compressedSyncBytesMax
    ? undefined
    : gzipRest(bytes, quickGzipFor(bytes))

/** With little effort, for evaluations, which are made once: time matters more than size. */
export function compressQuickly(bytes: Buffer, encoding: Encoding): Buffer | Promise<Buffer> {
  const isSync = bytes.length <= compressedSyncBytesMax
  if (encoding === 'gzip') {
    const options = quickGzipFor(bytes)
    return isSync ? gzipSync(bytes, options) : gzipAsync(bytes, options)
  }
  return isSync ? brotliCompressSync(bytes, quickBrotli) : brotliAsync(bytes, quickBrotli)
}

/** Compresses JSON and text for clients that accept it. Streams are sent as they are, and so is what a handler has encoded itself. */
export function compressResponses(app: FastifyInstance): void {
  const encodingFor = createEncodingChooser()
  /** Definitions are sent from the same buffer until they change. */
  const encodedByBody = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>()

  function compressOnce(body: string | Buffer, encoding: Encoding): Promise<Buffer> {
    const run = () =>
      encoding === 'gzip' ? gzipAsync(body, { level: gzipLevel }) : brotliAsync(body, brotliOptions(brotliQuality))
    if (typeof body === 'string') return run()
    const encoded = encodedByBody.get(body) ?? new Map<Encoding, Promise<Buffer>>()
    encodedByBody.set(body, encoded)
    const result = encoded.get(encoding) ?? run()
    encoded.set(encoding, result)
    return result
  }

  app.addHook('onSend', async (request, reply, body) => {
    if (!isCompressible(request, reply, body)) return body
    addVary(reply)
    const accepted = request.headers['accept-encoding']
    const encoding = accepted === undefined ? undefined : encodingFor(String(accepted))
    if (encoding === undefined) return body
    const { isEvaluation } = request.routeOptions.config
    reply.header('content-encoding', encoding).removeHeader('content-length')
    const isMadeOnce = isEvaluation && request.method === 'POST' && typeof body !== 'string'
    return isMadeOnce ? compressQuickly(body, encoding) : compressOnce(body, encoding)
  })
}

function isCompressible(request: FastifyRequest, reply: FastifyReply, body: unknown): body is string | Buffer {
  if (request.method === 'HEAD' || reply.hasHeader('content-encoding')) return false
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) return false
  if (body.length < compressedBytesMin) return false
  return compressible.test(String(reply.getHeader('content-type') ?? ''))
}

function addVary(reply: FastifyReply): void {
  const vary = String(reply.getHeader('vary') ?? '')
  if (!/\baccept-encoding\b/i.test(vary)) reply.header('vary', vary ? `${vary}, accept-encoding` : 'accept-encoding')
}
