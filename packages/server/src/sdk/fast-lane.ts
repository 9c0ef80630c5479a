import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAnswerRoom } from '../http/answer-room.ts'
import type { BodyRoom } from '../http/body-room.ts'
import type { PlainLane, TakeFirst } from '../http/node-server.ts'
import { problemResponse } from '../http/problem-response.ts'
import { answerHead, type QuickAnswer } from '../http/quick-answer.ts'
import { quickBodyBytesMax, readQuickBody } from '../http/quick-body.ts'
import { readSdkBody, type SdkBody } from '../http/sdk-body.ts'
import { remembering } from '../remember-by-text.ts'
import type { AnswerEvaluation } from './answer-evaluation.ts'
import { type EvaluationAddress, readEvaluationAddress } from './evaluation-address.ts'
import type { EvaluationCounts } from './evaluation-counts.ts'
import { createFastDefinitions, definitionsPrefix, type KnownDefinitions } from './fast-definitions.ts'

/**
 * Answers what clients ask for all day, evaluations and definitions, before the router sees it: on connections of their own without
 * `node:http`, on others ahead of all routes. It takes only the usual requests; whatever is unusual goes the long way, which gives
 * the same answer.
 */
export interface FastLane {
  readonly takeFirst: TakeFirst
  readonly plain: PlainLane
}

interface Deps {
  readonly answerEvaluation: AnswerEvaluation
  readonly knownDefinitions: KnownDefinitions
  readonly counts: EvaluationCounts
  readonly bodyRoom: BodyRoom
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
const evaluationHead = answerHead(200, evaluationFields)

export function createFastLane(deps: Deps): FastLane {
  const { counts, isClosing } = deps
  const room = createAnswerRoom()
  const readAddress = remembering(addressesMax, readEvaluationAddress)
  const definitionsAnswer = createFastDefinitions(deps.knownDefinitions, counts, room)

  function evaluate(
    address: EvaluationAddress,
    headers: Headers,
    bytes: Buffer,
    from: number,
    to: number,
  ): QuickAnswer | undefined {
    const begun = performance.now()
    try {
      const body = readQuickBody(bytes, from, to, saidAbout(address, headers))
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
  function send(response: ServerResponse, { head, bytes, from, to }: QuickAnswer): void {
    if (isClosing()) response.setHeader('connection', 'close')
    response.writeHead(
      head.status,
      head.hasBody ? [...head.fields, 'content-length', String(to - from)] : head.fields.slice(),
    )
    if (head.hasBody) response.end(bytes.subarray(from, to))
    else response.end()
    if (response.writableLength > 0) room.leave()
  }

  function takeEvaluation(address: EvaluationAddress, request: IncomingMessage, response: ServerResponse): void {
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
    takeFirst(request, response) {
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

const isSmall = ({ headers }: IncomingMessage): boolean => Number(headers['content-length']) <= quickBodyBytesMax

const saidAbout = ({ query }: EvaluationAddress, headers: Headers): Omit<SdkBody, 'bytes'> => ({
  contentType: headers['content-type'],
  contentEncoding: headers['content-encoding'],
  compression: query.compression,
})

async function answerWhenReady(
  deps: Deps,
  address: EvaluationAddress,
  { headers }: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
) {
  const send = (status: number, fields: readonly string[], body: Buffer): void => {
    if (deps.isClosing()) response.setHeader('connection', 'close')
    response.writeHead(status, [...fields, 'content-length', String(body.length)])
    response.end(body)
  }
  const place = deps.bodyRoom.enter(() => {})
  place.settle()
  try {
    const room = { unpack: deps.bodyRoom.unpack, take: place.take }
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
