import { randomUUID } from 'node:crypto'
import type { DefinitionsBody } from '../api/sdk/definitions.ts'
import type { EvaluationCounts, FallbackReason } from '../api/sdk/evaluation-counts.ts'
import { type EvaluationUrl, parseEvaluationUrl } from '../api/sdk/evaluation-url.ts'
import { credentialOf } from '../api/sdk/sdk-access.ts'
import type { SdkCalls } from '../api/sdk/sdk-calls.ts'
import type { SdkEvaluation, SdkResult } from '../api/sdk/sdk-evaluation.ts'
import { traceEvaluation } from '../api/sdk/trace-evaluation.ts'
import { memoizeByKey } from '../concurrency/memoize-by-key.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import { readSdkBodySync } from '../http/sdk-body/sdk-body.ts'
import { createClientAddress, type TrustProxy } from '../http/server/client-address.ts'
import { problemResponse } from '../http/server/problem-response.ts'
import { acceptableRequestId, corsHeaders, jsonContentType, securityHeaders } from '../http/server/response-headers.ts'
import {
  type AccessLog,
  type AccessLogEntry,
  accessLogEvent,
  pathOf,
  roundedMilliseconds,
} from '../observability/access-log.ts'
import type { RequestMetrics, RequestSeries } from '../observability/request-metrics.ts'
import type { RequestSpan, Tracing } from '../observability/telemetry/tracing.ts'
import type { BodyMemoryBudget } from '../overload/body-memory-budget.ts'
import { type LoadShedder, overloaded } from '../overload/load-shedder.ts'
import { compressIn, createCompressedBodies, createEncodingDecision, encodedHeads } from './compressed-body.ts'
import { createDefinitionsHeads, createPollParser, definitionsPrefix } from './definitions-response.ts'
import type { FastPath, ReceivedBody } from './fast-path.ts'
import { bodyIn, type FastResponse, type ResponseBody, type ResponseHead, responseHead } from './fast-response.ts'
import { createFlagsResponseTemplates } from './flags-response-template.ts'
import type { RequestHead } from './parse-request-head.ts'
import type { ResponseMemory } from './response-batch.ts'

interface Deps {
  readonly evaluation: SdkEvaluation
  /** The definitions that the key can read, when everything about key and token is in memory. */
  readonly knownDefinitions: (key: string, token: string, withCohorts: boolean) => KnownDefinitions | undefined
  readonly counts: EvaluationCounts
  readonly sdkCalls: Pick<SdkCalls, 'note'>
  readonly bodyMemory: Pick<BodyMemoryBudget, 'countInflate'>
  readonly shedder: Pick<LoadShedder, 'admitEvaluation'>
  readonly requests: RequestMetrics
  readonly accessLog: AccessLog
  readonly log: { info(entry: AccessLogEntry, event: string): void }
  readonly trustProxy: TrustProxy
  readonly tracing?: Tracing | undefined
  readonly isClosing: () => boolean
}

export interface KnownDefinitions {
  readonly served: ServedProject
  readonly body: DefinitionsBody
}

/** Clients use few different URLs; browsers put the time into theirs. */
const urlsMax = 200
/** Larger definitions are sent by the ordinary path from its cache instead of being copied. */
const definitionsBytesMax = 512 * 1024
const emptyBody = Buffer.alloc(0)

const commonHeaders = { ...securityHeaders, ...corsHeaders }
const evaluationHeads = encodedHeads(200, { ...commonHeaders, 'content-type': jsonContentType })

const refusal = problemResponse(overloaded)
const refusalHead = responseHead(refusal.status, {
  ...commonHeaders,
  ...refusal.headers,
  'content-type': jsonContentType,
})
const refusalBody = Buffer.from(JSON.stringify(refusal.body))

/** Answers evaluations and polls for definitions from memory. Errors take the ordinary path, which finds out what is wrong. */
export function createEvaluationFastPath(deps: Deps): FastPath {
  const { counts, evaluation, requests } = deps
  const templateOf = createFlagsResponseTemplates()
  const parseUrl = memoizeByKey(urlsMax, parseEvaluationUrl)
  const parsePoll = createPollParser()
  const definitionsHeads = createDefinitionsHeads(commonHeaders, jsonContentType)
  const clientAddress = createClientAddress(deps.trustProxy)
  const seriesOf = createSeries(requests)
  const decideEncoding = createEncodingDecision()
  const compressedBody = createCompressedBodies()

  /** A span that is not ended is not exported: when the ordinary path responds instead, it has its own. */
  let span: RequestSpan | undefined

  /** Completes a response: request id, metrics, span, access log. */
  function finish(
    head: RequestHead,
    { receivedAt, remoteAddress }: ReceivedBody,
    requestId: string,
    route: Route,
    status: 200 | 304 | 503,
    responseHead: ResponseHead,
    body: ResponseBody,
    project: number | undefined,
  ): FastResponse {
    const milliseconds = performance.now() - receivedAt
    seriesOf(head.method, route, status).observe(milliseconds / 1000)
    span?.end(route, status)
    if (deps.accessLog.wants(status)) {
      deps.log.info(
        {
          reqId: requestId,
          method: head.method,
          route,
          path: pathOf(head.url),
          status,
          milliseconds: roundedMilliseconds(milliseconds),
          bytes: body.to - body.from,
          ip: clientAddress(head.headers, remoteAddress),
          project,
        },
        accessLogEvent,
      )
    }
    return { head: responseHead, requestId, bytes: body.bytes, from: body.from, to: body.to }
  }

  /** To the ordinary path. */
  function leave(reason: FallbackReason): undefined {
    counts.addFallback(reason)
  }

  const routeOf = ({ method, url }: RequestHead): Route =>
    method === 'POST' ? evaluationRoutes[parseUrl(url)!.endpoint] : '/flags/definitions'

  function serialize(url: EvaluationUrl, result: SdkResult, requestId: string, memory: ResponseMemory): ResponseBody {
    const { served, evaluation: done, hasKeys } = result
    const assembled =
      url.shape === 'details' && !hasKeys
        ? templateOf(served)(done.outcomes, done.eligible, evaluation.envelopeOf(url, result, requestId), memory)
        : undefined
    return assembled ?? bodyIn(memory, Buffer.from(evaluation.toJson(url, result, requestId)))
  }

  function evaluate(
    head: RequestHead,
    received: ReceivedBody,
    requestId: string,
    memory: ResponseMemory,
  ): FastResponse | undefined {
    const begun = performance.now()
    const url = parseUrl(head.url)!
    const { headers } = head
    const sent = {
      bytes: received.bytes.subarray(received.from, received.to),
      contentType: headers['content-type'],
      contentEncoding: headers['content-encoding'],
      compression: url.query.compression,
    }
    const value = readSdkBodySync(sent, deps.bodyMemory.countInflate)
    const result = value === undefined ? undefined : evaluation.evaluateSync(headers, value)
    if (result === undefined) return leave('not_in_memory')
    traceEvaluation(span, result.served, result.evaluation)
    const serialized = serialize(url, result, requestId, memory)
    const encoding = decideEncoding(serialized.to - serialized.from, headers['accept-encoding'])
    if (encoding === 'later') return leave('large')
    const body = encoding === 'gzip' || encoding === 'br' ? compressIn(memory, serialized, encoding) : serialized
    deps.sdkCalls.note(result.served.project.id, headers, url.query.ver)
    counts.addSeconds((performance.now() - begun) / 1000)
    const route = evaluationRoutes[url.endpoint]
    return finish(head, received, requestId, route, 200, evaluationHeads[encoding], body, result.served.project.id)
  }

  function define(
    head: RequestHead,
    received: ReceivedBody,
    requestId: string,
    memory: ResponseMemory,
  ): FastResponse | undefined {
    const key = credentialOf(head.headers)
    const { token, withCohorts } = parsePoll(head.url)
    const known = key === undefined || token === undefined ? undefined : deps.knownDefinitions(key, token, withCohorts)
    if (known === undefined || known.body.json.length > definitionsBytesMax) return leave('not_in_memory')
    const { status, heads } = definitionsHeads(known.body, head.headers['if-none-match'])
    const { json } = known.body
    const encoding = status === 304 ? 'small' : decideEncoding(json.length, head.headers['accept-encoding'])
    if (encoding === 'later') return leave('large')
    deps.sdkCalls.note(known.served.project.id, head.headers)
    if (status === 304) counts.addUnchanged()
    else counts.addDefinitions()
    const content = encoding === 'gzip' || encoding === 'br' ? compressedBody(json, encoding) : json
    const body = bodyIn(memory, status === 304 ? emptyBody : content)
    const projectId = known.served.project.id
    return finish(head, received, requestId, '/flags/definitions', status, heads[encoding], body, projectId)
  }

  return {
    accepts: ({ method, url }) =>
      !deps.isClosing() && (method === 'POST' ? parseUrl(url) !== undefined : url.startsWith(definitionsPrefix)),
    respond(head, received, memory) {
      const requestId = acceptableRequestId(head.headers['x-request-id']) ?? randomUUID()
      if (deps.tracing) span = deps.tracing.startRequest(head.method, pathOf(head.url), head.headers)
      if (deps.shedder.admitEvaluation(performance.now() - received.receivedAt) !== undefined) {
        const body = bodyIn(memory, refusalBody)
        return finish(head, received, requestId, routeOf(head), 503, refusalHead, body, undefined)
      }
      try {
        const answer = head.method === 'POST' ? evaluate : define
        return answer(head, received, requestId, memory)
      } catch {
        return leave('error')
      }
    },
  }
}

type Route = '/flags' | '/decide' | '/flags/definitions'

const evaluationRoutes = { flags: '/flags', decide: '/decide' } as const

/** Metric series are bound when they are first needed. */
function createSeries(requests: RequestMetrics) {
  const bound: Record<Route, Map<number, RequestSeries>> = {
    '/flags': new Map(),
    '/decide': new Map(),
    '/flags/definitions': new Map(),
  }
  return (method: string, route: Route, status: number): RequestSeries => {
    const known = bound[route].get(status) ?? requests.series(method, route, status)
    bound[route].set(status, known)
    return known
  }
}
