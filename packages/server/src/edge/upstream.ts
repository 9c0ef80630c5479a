import type { Readable } from 'node:stream'
import { EdgeSubject, type EdgeSubjectQuestion } from '@halyard/contract'
import { request } from 'undici'
import { shapeChecker } from '../http/routes/check-body.ts'
import { oneLine } from '../http/routes/one-line.ts'
import { parseWeighedJson } from '../http/sdk-body/json-text.ts'
import { noOutgoingHeaders, type OutgoingHeaders } from '../observability/telemetry/tracing.ts'
import { type ReadFrame, readFrames } from './read-frames.ts'

/** The server, or the edge, that an edge follows. Everything here raises UpstreamError. */
export interface Upstream {
  /** The states of all projects that the edge does not have yet, then each change, until the signal or the upstream ends the stream. */
  follow(have: Readonly<Record<string, string>>, signal: AbortSignal): AsyncGenerator<ReadFrame>
  /** Returns which batches will never be accepted. */
  send(batches: readonly string[], signal: AbortSignal): Promise<readonly string[]>
  findSubject(question: EdgeSubjectQuestion): Promise<EdgeSubject>
}

/** `away`: it may come back. `refused`: the key is not valid or lacks access. `rejected`: this URL is not that of a Halyard, or not of one that serves edges. */
export type UpstreamErrorKind = 'away' | 'refused' | 'rejected'

export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind
  /** Whether this request will never be accepted. A wrong URL or a proxy's error page says nothing about the request. */
  readonly isFinal: boolean

  constructor(kind: UpstreamErrorKind, message: string, { cause, isFinal = false }: ErrorDetails = {}) {
    super(message, { cause })
    this.name = 'UpstreamError'
    this.kind = kind
    this.isFinal = isFinal
  }
}

interface ErrorDetails {
  readonly cause?: unknown
  readonly isFinal?: boolean
}

interface Options {
  readonly url: string
  readonly key: string
  /** The trace context to pass on. */
  readonly outgoingHeaders?: OutgoingHeaders | undefined
  readonly frameMillisecondsMax?: number
}

const lookUpsAtOnceMax = 64
const frameCharactersMax = 64 * 1024 * 1024
/** Per lookup: a person with more properties is not looked up from edges. */
const answerBytesMax = 8 * 1024 * 1024
const errorBytesMax = 64 * 1024
const detailCharactersMax = 500
const errorMillisecondsMax = 5000
const answerMillisecondsMax = 30_000
/** Slightly less than the timeout of an evaluation. */
const lookUpMillisecondsMax = 900
/** The upstream sends a heartbeat every ten seconds; without one for this long, the connection is closed. */
const silenceMillisecondsMax = 35_000
/** A stream that trickles is never silent: no message of it takes longer than this over a usable line. */
const frameMillisecondsMax = 10 * 60_000
const eventStream = 'text/event-stream'

/** Uses undici's own request, whose response can be destroyed at any time: with `fetch`, closing an edge sometimes hung. */
export function connectUpstream(options: Options): Upstream {
  const { url, key, outgoingHeaders = noOutgoingHeaders } = options
  let lookUps = 0

  async function post(path: string, json: string, signal: AbortSignal, accept = 'application/json') {
    const traceHeaders = outgoingHeaders()
    const { statusCode, headers, body } = await request(`${url}${path}`, {
      method: 'POST',
      headers: { ...traceHeaders, authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
      body: json,
      signal,
      headersTimeout: answerMillisecondsMax,
      bodyTimeout: silenceMillisecondsMax,
    }).catch(error => {
      throw new UpstreamError('away', `${url} cannot be reached: ${reasonOf(error)}.`, { cause: error })
    })
    const type = String(headers['content-type'] ?? accept)
    if (statusCode === 200 && (accept !== eventStream || type.startsWith(eventStream))) return body
    const tooLate = setTimeout(() => body.destroy(), errorMillisecondsMax)
    const text = await readText(body, errorBytesMax)
      .catch(() => '')
      .finally(() => clearTimeout(tooLate))
    const detail = detailIn(text)
    const isHalyard = detail !== undefined || (statusCode === 401 && headers['www-authenticate'] === 'Bearer')
    throw new UpstreamError(
      kindOf(statusCode, isHalyard),
      `${url} answered ${statusCode}: ${detail ?? `this does not look like Halyard (${oneLine(type).slice(0, 100)})`}`,
      { isFinal: statusCode === 413 || (statusCode === 400 && isHalyard) },
    )
  }

  const ask = (path: string, json: string, milliseconds: number, outer?: AbortSignal): Promise<unknown> =>
    within(milliseconds, outer, async signal => {
      const body = await post(path, json, signal)
      try {
        return parseWeighedJson(await readText(body, answerBytesMax))
      } catch (error) {
        throw new UpstreamError('away', `The response of ${url} is not usable: ${reasonOf(error)}.`, { cause: error })
      }
    })

  const notUsable = () => new UpstreamError('away', `The response of ${url} is not usable.`)

  return {
    async *follow(have, signal) {
      const body = await post('/api/edge/stream/', JSON.stringify({ have }), signal, eventStream)
      const tooLate = setTimeout(
        () => body.destroy(new Error('a message took too long')),
        options.frameMillisecondsMax ?? frameMillisecondsMax,
      )
      try {
        for await (const frame of readFrames(body, frameCharactersMax)) {
          tooLate.refresh()
          yield frame
        }
      } catch (error) {
        throw new UpstreamError('away', `The stream of ${url} broke: ${reasonOf(error)}.`, { cause: error })
      } finally {
        clearTimeout(tooLate)
        body.on('error', () => {}).destroy()
      }
    },
    async send(batches, signal) {
      const json = `{"batches":[${batches.join(',')}]}`
      const answer = await ask('/api/edge/batches/', json, answerMillisecondsMax, signal)
      const { refused } = (answer ?? {}) as { refused?: unknown }
      if (!Array.isArray(refused) || refused.length > batches.length) throw notUsable()
      return refused
    },
    async findSubject(question) {
      if (lookUps >= lookUpsAtOnceMax) throw new UpstreamError('away', 'Too many look-ups are under way.')
      lookUps += 1
      try {
        const answer = await ask('/api/edge/subjects/', JSON.stringify(question), lookUpMillisecondsMax)
        if (!isSubject(answer)) throw notUsable()
        return answer as EdgeSubject
      } finally {
        lookUps -= 1
      }
    },
  }
}

/** Runs the work with a signal that aborts at the timeout or with the other signal. */
async function within<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = setTimeout(abort, milliseconds)
  outer?.addEventListener('abort', abort)
  if (outer?.aborted) abort()
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', abort)
  }
}

/** Reads a body of limited size; an upstream that sends more is disconnected. */
async function readText(body: Readable, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop destroys the body.
    if (bytes > bytesMax) throw new Error(`more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function kindOf(status: number, isHalyard: boolean): UpstreamErrorKind {
  // A firewall or a proxy that refuses the request has not revoked the key.
  if (status === 401 || status === 403) return isHalyard ? 'refused' : 'rejected'
  // Redirects are not followed: the key is for this origin only.
  return status < 400 || [400, 404, 405, 413, 415].includes(status) ? 'rejected' : 'away'
}

/** The detail of a problem; undefined when the text is not one of Halyard's. */
function detailIn(text: string): string | undefined {
  try {
    const { code, detail } = JSON.parse(text)
    return typeof code === 'string' && typeof detail === 'string' ? detail.slice(0, detailCharactersMax) : undefined
  } catch {
    return undefined
  }
}

/** An empty object, for example, would be a person without properties and in no cohort. */
const isSubject: (answer: unknown) => boolean = shapeChecker(EdgeSubject)

const reasonOf = (error: unknown): string => {
  const { code, message } = error as { code?: string; message?: string }
  return code ?? message ?? 'unknown'
}
