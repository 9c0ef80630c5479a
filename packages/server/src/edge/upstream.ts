import type { EdgeBatch, EdgeSubject, EdgeSubjectQuestion } from '@halyard/contract'
import { type ReadFrame, readFrames } from './read-frames.ts'

/** The server, or the edge, that an edge follows. Everything here raises UpstreamError. */
export interface Upstream {
  /** What there is to know of every project but those that the edge has already, then what changes, until the signal or the upstream ends it. */
  follow(have: Readonly<Record<string, string>>, signal: AbortSignal): AsyncGenerator<ReadFrame>
  /** Answers which batches nobody wants. */
  send(batches: readonly string[], signal: AbortSignal): Promise<readonly string[]>
  findSubject(question: EdgeSubjectQuestion): Promise<EdgeSubject>
}

/** `away`: try again. `refused`: the key is not good for this. `rejected`: what was sent is wrong and will never be taken. */
export type UpstreamErrorKind = 'away' | 'refused' | 'rejected'

export class UpstreamError extends Error {
  readonly kind: UpstreamErrorKind

  constructor(kind: UpstreamErrorKind, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'UpstreamError'
    this.kind = kind
  }
}

interface Options {
  readonly url: string
  readonly key: string
  readonly lookUpsAtOnceMax?: number
}

const frameCharactersMax = 64 * 1024 * 1024
const answerMillisecondsMax = 30_000
/** A little less than an evaluation waits. */
const lookUpMillisecondsMax = 900

export function connectUpstream({ url, key, lookUpsAtOnceMax = 64 }: Options): Upstream {
  let lookUps = 0

  async function post(path: string, json: string, signal: AbortSignal, accept: string): Promise<Response> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      // A key must not follow a redirection to somewhere else.
      redirect: 'error',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept },
      body: json,
      signal,
    }).catch(error => {
      throw new UpstreamError('away', `${url} cannot be reached: ${reasonOf(error)}.`, error)
    })
    if (response.ok) return response
    const text = await response.text().catch(() => '')
    throw new UpstreamError(kindOf(response.status), `${url} answered ${response.status}: ${detailIn(text)}`)
  }

  return {
    async *follow(have, signal) {
      const response = await post('/api/edge/stream/', JSON.stringify({ have }), signal, 'text/event-stream')
      try {
        yield* readFrames(response.body as unknown as AsyncIterable<Uint8Array>, frameCharactersMax)
      } catch (error) {
        throw new UpstreamError('away', `The stream of ${url} broke: ${reasonOf(error)}.`, error)
      }
    },
    async send(batches, signal) {
      const both = AbortSignal.any([signal, AbortSignal.timeout(answerMillisecondsMax)])
      const response = await post('/api/edge/batches/', `{"batches":[${batches.join(',')}]}`, both, 'application/json')
      const { refused } = (await bodyOf(response)) as { refused: string[] }
      return refused
    },
    async findSubject(question) {
      if (lookUps >= lookUpsAtOnceMax) throw new UpstreamError('away', 'Too many look-ups are under way.')
      lookUps += 1
      try {
        const signal = AbortSignal.timeout(lookUpMillisecondsMax)
        const response = await post('/api/edge/subjects/', JSON.stringify(question), signal, 'application/json')
        return (await bodyOf(response)) as EdgeSubject
      } finally {
        lookUps -= 1
      }
    },
  }
}

export const batchLine = (batch: EdgeBatch): string => JSON.stringify(batch)

const bodyOf = (response: Response): Promise<unknown> =>
  response.json().catch(error => {
    throw new UpstreamError('away', `The answer broke off: ${reasonOf(error)}.`, error)
  })

function kindOf(status: number): UpstreamErrorKind {
  if (status === 401 || status === 403 || status === 404 || status === 405) return 'refused'
  return status === 400 || status === 413 || status === 415 ? 'rejected' : 'away'
}

function detailIn(text: string): string {
  try {
    return String(JSON.parse(text).detail)
  } catch {
    return 'this does not look like Halyard'
  }
}

/** What `fetch` really ran into is in the cause. */
const reasonOf = (error: unknown): string => {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string }
  return cause?.code ?? cause?.message ?? message ?? 'unknown'
}
