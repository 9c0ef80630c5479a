import type { IncomingMessage, ServerResponse } from 'node:http'
import { createAnswerRoom } from '../http/answer-room.ts'
import type { BodyRoom } from '../http/body-room.ts'
import { isTooDeep } from '../http/check-body.ts'
import type { PlainLane, TakeFirst } from '../http/node-server.ts'
import { problemResponse } from '../http/problem-response.ts'
import { answerHead, type QuickAnswer } from '../http/quick-answer.ts'
import { readSdkBody } from '../http/sdk-body.ts'
import type { AnswerEvaluation } from './answer-evaluation.ts'
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

const bodyBytesMax = 64 * 1024
const openBrace = 0x7b

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
  const definitionsAnswer = createFastDefinitions(deps.knownDefinitions, counts, room)

  function evaluate(headers: Headers, bytes: Buffer, from: number, to: number): QuickAnswer | undefined {
    if (bytes[from] !== openBrace) return undefined
    const begun = performance.now()
    try {
      const body: unknown = JSON.parse(bytes.toString('utf8', from, to))
      const told = isTooDeep(body) ? undefined : deps.answerEvaluation.atOnce(headers, body, room)
      if (told === undefined) return undefined
      counts.addSeconds((performance.now() - begun) / 1000)
      return { head: evaluationHead, ...told }
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

  function takeEvaluation(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
      const answer = evaluate(request.headers, bytes, 0, bytes.length)
      if (answer) send(response, answer)
      else answerWhenReady(deps, request, response, bytes)
    })
  }

  return {
    takeFirst(request, response) {
      const { headers, method, url } = request
      if (method === 'POST') {
        if (!isEvaluation(url!) || !isPlain(request)) return false
        takeEvaluation(request, response)
        return true
      }
      const answer =
        method === 'GET' && url!.startsWith(definitionsPrefix) ? definitionsAnswer(url!, headers) : undefined
      if (answer) send(response, answer)
      return answer !== undefined
    },
    plain: {
      room,
      takes: ({ method, url }) =>
        !isClosing() && (method === 'POST' ? isEvaluation(url) : url.startsWith(definitionsPrefix)),
      answer: ({ method, url, headers }, bytes, from, to) =>
        method === 'POST' ? evaluate(headers, bytes, from, to) : definitionsAnswer(url, headers),
    },
  }
}

const isEvaluation = (url: string): boolean => url === '/flags/?v=2' || url === '/flags?v=2'

const isPlain = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length']) <= bodyBytesMax && headers['content-encoding'] === undefined

async function answerWhenReady(deps: Deps, request: IncomingMessage, response: ServerResponse, bytes: Buffer) {
  const send = (status: number, fields: readonly string[], body: Buffer): void => {
    if (deps.isClosing()) response.setHeader('connection', 'close')
    response.writeHead(status, [...fields, 'content-length', String(body.length)])
    response.end(body)
  }
  const place = deps.bodyRoom.enter(() => {})
  place.settle()
  try {
    const { headers } = request
    const room = { unpack: deps.bodyRoom.unpack, take: place.take }
    const body = await readSdkBody({ bytes, contentType: headers['content-type'] }, room)
    const call = { endpoint: 'flags', query: { v: '2' }, headers } as const
    send(200, evaluationFields, await deps.answerEvaluation.whenReady(call, body))
  } catch (error) {
    const { status, headers, body } = problemResponse(error)
    if (status === 500) deps.onError(error)
    send(status, [...evaluationFields, ...Object.entries(headers).flat()], Buffer.from(JSON.stringify(body)))
  } finally {
    place.leave()
  }
}
