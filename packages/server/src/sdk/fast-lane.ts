import type { IncomingMessage, ServerResponse } from 'node:http'
import { isTooDeep } from '../http/check-body.ts'
import { problemResponse } from '../http/problem-response.ts'
import { readSdkBody } from '../http/sdk-body.ts'
import type { AnswerEvaluation } from './answer-evaluation.ts'
import type { DefinitionsBody } from './definitions.ts'
import { isKnown } from './etag.ts'
import type { EvaluationCounts } from './evaluation-counts.ts'
import { credentialOf } from './sdk-access.ts'

/**
 * Answers what clients ask for all day, evaluations and unchanged definitions, before the router sees it. It takes only the plainest
 * requests; whatever is unusual goes the long way, which gives the same answer.
 */
export type FastLane = (request: IncomingMessage, response: ServerResponse) => boolean

interface Deps {
  readonly answerEvaluation: AnswerEvaluation
  /** What is in memory for a credential and a token. */
  readonly knownDefinitions: (key: string, token: string, withCohorts: boolean) => DefinitionsBody | undefined
  readonly counts: EvaluationCounts
  readonly isClosing: () => boolean
  /** Something that should not happen has happened. */
  readonly onError: (error: unknown) => void
}

const bodyBytesMax = 64 * 1024
const definitionsPrefix = '/flags/definitions?'

export function createFastLane(deps: Deps): FastLane {
  return (request, response) => {
    const { url } = request
    if (request.method === 'POST') {
      if (url !== '/flags/?v=2' && url !== '/flags?v=2') return false
      if (!isPlain(request)) return false
      takeEvaluation(deps, request, response)
      return true
    }
    return request.method === 'GET' && url!.startsWith(definitionsPrefix) && takeDefinitions(deps, request, response)
  }
}

const isPlain = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length']) <= bodyBytesMax && headers['content-encoding'] === undefined

function takeEvaluation(deps: Deps, request: IncomingMessage, response: ServerResponse): void {
  const begun = performance.now()
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    const answer = answerAtOnce(deps, request, bytes)
    if (answer) {
      send(deps, response, 200, evaluationHeaders, answer)
      deps.counts.addSeconds((performance.now() - begun) / 1000)
    } else answerWhenReady(deps, request, response, bytes)
  })
}

const openBrace = 0x7b

function answerAtOnce({ answerEvaluation }: Deps, request: IncomingMessage, bytes: Buffer): Buffer | undefined {
  if (bytes[0] !== openBrace) return undefined
  try {
    const body: unknown = JSON.parse(bytes.toString('utf8'))
    return isTooDeep(body) ? undefined : answerEvaluation.atOnce(request.headers, body)
  } catch {
    // The long way finds out what is wrong, and says so.
    return undefined
  }
}

async function answerWhenReady(deps: Deps, request: IncomingMessage, response: ServerResponse, bytes: Buffer) {
  try {
    const { headers } = request
    const body = await readSdkBody({ bytes, contentType: headers['content-type'] })
    const call = { endpoint: 'flags', query: { v: '2' }, headers } as const
    send(deps, response, 200, evaluationHeaders, await deps.answerEvaluation.whenReady(call, body))
  } catch (error) {
    const { status, headers, body } = problemResponse(error)
    if (status === 500) deps.onError(error)
    const fields = Object.entries(headers).flat()
    send(deps, response, status, [...evaluationHeaders, ...fields], Buffer.from(JSON.stringify(body)))
  }
}

/** Only what is unchanged: everything else is worth the long way. */
function takeDefinitions(deps: Deps, request: IncomingMessage, response: ServerResponse): boolean {
  const { headers, url } = request
  const key = credentialOf(headers)
  const query = new URLSearchParams(url!.slice(definitionsPrefix.length))
  const token = query.get('token')
  if (key === undefined || token === null || headers['if-none-match'] === undefined) return false
  const cohorts = query.get('send_cohorts')
  const known = deps.knownDefinitions(key, token, cohorts !== null && cohorts !== 'false' && cohorts !== '0')
  if (!known || !isKnown(headers['if-none-match'], known.etag)) return false
  if (deps.isClosing()) response.setHeader('connection', 'close')
  response.writeHead(304, [...definitionsHeaders, 'etag', known.etag])
  response.end()
  deps.counts.addUnchanged()
  return true
}

const definitionsHeaders = [
  'cache-control',
  'private, must-revalidate',
  'access-control-allow-origin',
  '*',
  'access-control-expose-headers',
  'ETag',
]

const evaluationHeaders = [
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

function send(
  { isClosing }: Deps,
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  body: Buffer,
): void {
  if (isClosing()) response.setHeader('connection', 'close')
  response.writeHead(status, [...headers, 'content-length', String(body.length)])
  response.end(body)
}
