import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EvaluationCounts } from '../api/sdk/evaluation-counts.ts'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import { readSdkBody, type SdkBody } from '../http/sdk-body/sdk-body.ts'
import type { PlainLane, TryFastPath } from '../http/server/node-server.ts'
import { problemResponse } from '../http/server/problem-response.ts'
import type { BodyMemoryBudget } from '../overload/body-memory-budget.ts'
import { createDefinitionsResponder, definitionsPrefix, type KnownDefinitions } from './definitions-response.ts'
import { type EvaluationUrl, parseEvaluationUrl } from './evaluation-url.ts'
import { type FastResponse, responseHead } from './fast-response.ts'
import { readBodySync, syncBodyBytesMax } from './read-body-sync.ts'
import type { RespondEvaluation } from './respond-evaluation.ts'
import { createResponseBuffer } from './response-buffer.ts'

/**
 * Answers what clients ask for all day, evaluations and definitions, before the router sees it: on connections of their own without
 * `node:http`, on others ahead of all routes. It takes only the usual requests; whatever is unusual goes the long way, which gives
 * the same answer.
 */
export interface FastPath {
  readonly tryFastPath: TryFastPath
  readonly plain: PlainLane
}

interface Deps {
  readonly answerEvaluation: RespondEvaluation
  readonly knownDefinitions: KnownDefinitions
  readonly counts: EvaluationCounts
  readonly bodyMemory: BodyMemoryBudget
  readonly isClosing: () => boolean
  /** Something that should not happen has happened. */
  readonly onError: (error: unknown) => void
}

type Headers = IncomingMessage['headers']

/** Most clients ask at one of a few addresses; browsers put the time into theirs. */
const addressesMax = 200

const evaluationFields = [
  'content-type',
  'application/json; charset=utf-8',
  'access-control-allow-origin',
  '*',
  'cross-origin-resource-policy',
  'cross-origin',
  'x-content-type-options',
  'nosniff',
  'cache-control',
  'no-store',
]
const evaluationHead = responseHead(200, evaluationFields)

export function createFastPath(deps: Deps): FastPath {
  const { counts, isClosing } = deps
  const room = createResponseBuffer()
  const readAddress = memoizeByKey(addressesMax, parseEvaluationUrl)
  const definitionsAnswer = createDefinitionsResponder(deps.knownDefinitions, counts, room)

  function evaluate(
    address: EvaluationUrl,
    headers: Headers,
    bytes: Buffer,
    from: number,
    to: number,
  ): FastResponse | undefined {
    const begun = performance.now()
    try {
      const body = readBodySync(bytes, from, to, saidAbout(address, headers))
      const told = body === undefined ? undefined : deps.answerEvaluation.atOnce(address, headers, body, room)
      if (told === undefined) return undefined
      counts.addSeconds((performance.now() - begun) / 1000)
      return { head: evaluationHead, bytes: told.bytes, from: told.from, to: told.to }
    } catch {
      // The long way finds out what is wrong, and says so.
      return undefined
    }
  }

  /** On a connection that `node:http` has. */
  function send(response: ServerResponse, { head, bytes, from, to }: FastResponse): void {
    if (isClosing()) response.setHeader('connection', 'close')
    response.writeHead(
      head.status,
      head.hasBody ? [...head.fields, 'content-length', String(to - from)] : head.fields.slice(),
    )
    if (head.hasBody) response.end(bytes.subarray(from, to))
    else response.end()
    if (response.writableLength > 0) room.leave()
  }

  function takeEvaluation(address: EvaluationUrl, request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      const answer = evaluate(address, request.headers, bytes, 0, bytes.length)
      if (answer) send(response, answer)
      else answerWhenReady(deps, address, request, response, bytes)
    })
  }

  return {
    tryFastPath(request, response) {
      const { headers, method, url } = request
      if (method === 'POST') {
        const address = isSmall(request) ? readAddress(url!) : undefined
        if (address) takeEvaluation(address, request, response)
        return address !== undefined
      }
      const answer =
        method === 'GET' && url!.startsWith(definitionsPrefix) ? definitionsAnswer(url!, headers) : undefined
      if (answer) send(response, answer)
      return answer !== undefined
    },
    plain: {
      room,
      takes: ({ method, url }) =>
        !isClosing() && (method === 'POST' ? readAddress(url) !== undefined : url.startsWith(definitionsPrefix)),
      answer({ method, url, headers }, bytes, from, to) {
        if (method !== 'POST') return definitionsAnswer(url, headers)
        const address = readAddress(url)
        return address && evaluate(address, headers, bytes, from, to)
      },
    },
  }
}

const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers['content-length']) <= syncBodyBytesMax

const saidAbout = ({ query }: EvaluationUrl, headers: Headers): Omit<SdkBody, 'bytes'> => ({
  contentType: headers['content-type'],
  contentEncoding: headers['content-encoding'],
  compression: query.compression,
})

async function answerWhenReady(
  deps: Deps,
  address: EvaluationUrl,
  { headers }: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
) {
  const send = (status: number, fields: readonly string[], body: Buffer): void => {
    if (deps.isClosing()) response.setHeader('connection', 'close')
    response.writeHead(status, [...fields, 'content-length', String(body.length)])
    response.end(body)
  }
  const place = deps.bodyMemory.enter(() => {})
  place.settle()
  try {
    const room = { unpack: deps.bodyMemory.unpack, take: place.take }
    const body = await readSdkBody({ bytes, ...saidAbout(address, headers) }, room)
    send(200, evaluationFields, await deps.answerEvaluation.whenReady(address, headers, body))
  } catch (error) {
    const { status, headers, body } = problemResponse(error)
    if (status === 500) deps.onError(error)
    send(status, [...evaluationFields, ...Object.entries(headers).flat()], Buffer.from(JSON.stringify(body)))
  } finally {
    place.leave()
  }
}
