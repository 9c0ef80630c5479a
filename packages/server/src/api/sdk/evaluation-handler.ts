import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { memoizeByKey } from '../../concurrency/memoize-by-key.ts'
import { overridesHeaders } from '../../evaluation/request-overrides.ts'
import type { SdkCalls } from '../../features/sdk-usage/sdk-calls.ts'
import { passOnBody, reserveResponse } from '../../http/sdk-body/receive-body.ts'
import { readSdkBodySync, type SdkBody } from '../../http/sdk-body/sdk-body.ts'
import { createClientAddress, type TrustProxy } from '../../http/server/client-address.ts'
import { compressedBytesMin, compressQuickly, createEncodingChooser } from '../../http/server/compression.ts'
import { problemResponse } from '../../http/server/problem-response.ts'
import {
  acceptableRequestId,
  corsHeaders,
  jsonContentType,
  securityHeaders,
} from '../../http/server/response-headers.ts'
import { ambiguityOf } from '../../http/server/unreadable-request.ts'
import {
  type AccessLog,
  type AccessLogEntry,
  accessLogEvent,
  pathOf,
  roundedMilliseconds,
} from '../../observability/access-log.ts'
import type { RequestMetrics } from '../../observability/request-metrics.ts'
import type { RequestSpan, Tracing } from '../../observability/telemetry/tracing.ts'
import type { BodyMemoryBudget } from '../../overload/body-memory-budget.ts'
import { type LoadShedder, overloaded } from '../../overload/load-shedder.ts'
import { createTickBudget } from '../../overload/tick-budget.ts'
import type { EvaluationCounts, FallbackReason } from './evaluation-counts.ts'
import { type EvaluationUrl, parseEvaluationUrl } from './evaluation-url.ts'
import type { SdkEvaluation, SdkResult } from './sdk-evaluation.ts'
import { traceEvaluation } from './trace-evaluation.ts'

interface Deps {
  readonly evaluation: SdkEvaluation
  readonly counts: Pick<EvaluationCounts, 'addFallback'>
  readonly sdkCalls: Pick<SdkCalls, 'note'>
  readonly bodyMemory: BodyMemoryBudget
  readonly shedder: LoadShedder
  readonly requests: RequestMetrics
  readonly accessLog: AccessLog
  readonly log: { info(entry: AccessLogEntry, event: string): void }
  readonly trustProxy: TrustProxy
  readonly tracing?: Tracing | undefined
}

/**
 * Responds to evaluations before Fastify's router and hooks, which take as long as most evaluations. What it does not answer with 200,
 * or with 503 under overload, it passes to the ordinary route, which gives the same responses and knows what is wrong.
 */
export type EvaluationHandler = (request: IncomingMessage, response: ServerResponse, pass: () => void) => void

/** Clients use few different URLs; browsers put the time into theirs. */
const urlsMax = 200
/** Larger bodies are received by the ordinary route, which reserves memory for them. */
const bodyBytesMax = 64 * 1024

const commonHeaders = Object.entries({ ...securityHeaders, ...corsHeaders, 'content-type': jsonContentType }).flat()
const refusal = problemResponse(overloaded)
const refusalHeaders = Object.entries(refusal.headers).flat()
const refusalBody = Buffer.from(JSON.stringify(refusal.body))

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: EvaluationUrl
  readonly requestId: string
  readonly receivedAt: number
  /** A span that is not ended is not exported: when the ordinary route responds instead, it has its own. */
  readonly span: RequestSpan | undefined
}

export function createEvaluationHandler(deps: Deps): EvaluationHandler {
  const { counts, evaluation, shedder } = deps
  const parseUrl = memoizeByKey(urlsMax, parseEvaluationUrl)
  const ticks = createTickBudget()
  const encodingFor = createEncodingChooser()
  const observe = createObserver(deps)

  function send(
    exchange: Exchange,
    status: number,
    headers: readonly string[],
    body: Buffer,
    project?: number,
    onSent?: () => void,
  ): undefined {
    const length = String(body.length)
    const all = [...commonHeaders, ...headers, 'x-request-id', exchange.requestId, 'content-length', length]
    exchange.response.writeHead(status, all).end(body, onSent)
    observe(exchange, status, body.length, project)
  }

  /** A promise when it is sent later. */
  function respond(exchange: Exchange, result: SdkResult): Promise<void> | undefined {
    const { request, response, url, requestId, span } = exchange
    const { served, overrides } = result
    traceEvaluation(span, served, result.evaluation)
    deps.sdkCalls.note(served.project.id, request.headers, url.query.ver)
    const headers = overrides === undefined ? [] : Object.entries(overridesHeaders(overrides)).flat()
    const finish = (body: Buffer, onSent?: () => void): undefined =>
      send(exchange, 200, headers, body, served.project.id, onSent)
    const accepted = request.headers['accept-encoding']
    const encoding = accepted === undefined ? undefined : encodingFor(String(accepted))
    const gzipped = encoding === 'gzip' ? evaluation.serializeGzip(url, result, requestId) : undefined
    if (gzipped !== undefined) {
      headers.push('vary', 'accept-encoding', 'content-encoding', 'gzip')
      return finish(gzipped)
    }
    const json = evaluation.serialize(url, result, requestId)
    reserveResponse(deps.bodyMemory, response, json.length)
    const release = () => evaluation.release(json)
    if (json.length < compressedBytesMin) return finish(json, release)
    headers.push('vary', 'accept-encoding')
    if (encoding === undefined) return finish(json, release)
    headers.push('content-encoding', encoding)
    const compressed = compressQuickly(json, encoding)
    if (compressed instanceof Promise) return compressed.then(body => finish(body))
    release()
    return finish(compressed)
  }

  function answer(exchange: Exchange, value: unknown): Promise<void> | undefined {
    const { request, span, url } = exchange
    const evaluate = () => evaluation.evaluate(url, request.headers, value)
    const result = deps.tracing && span ? deps.tracing.run(span, evaluate) : evaluate()
    return result instanceof Promise ? result.then(done => respond(exchange, done)) : respond(exchange, result)
  }

  const refuse = (exchange: Exchange): void => send(exchange, 503, refusalHeaders, refusalBody)

  function handle(exchange: Exchange, body: Buffer, pass: () => void): void {
    const leave = (reason: FallbackReason): void => {
      counts.addFallback(reason)
      passOnBody(exchange.request, body)
      pass()
    }
    const fail = (error: unknown): void => (error === overloaded ? refuse(exchange) : leave('refused'))
    if (shedder.admitLate(performance.now() - exchange.receivedAt)) {
      refuse(exchange)
      return
    }
    try {
      const value = readSdkBodySync(sdkBodyOf(exchange, body), deps.bodyMemory.countInflate)
      if (value === undefined) leave('body')
      else answer(exchange, value)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  return (request, response, pass) => {
    const url = request.method === 'POST' ? parseUrl(request.url!) : undefined
    if (url === undefined) return pass()
    if (!isShort(request) || ambiguityOf(request)) {
      counts.addFallback('body')
      return pass()
    }
    const exchange: Exchange = {
      request,
      response,
      url,
      requestId: acceptableRequestId(request.headers['x-request-id']) ?? randomUUID(),
      receivedAt: performance.now(),
      span: deps.tracing?.startRequest('POST', pathOf(request.url!), request.headers),
    }
    const inTurn = (work: () => void): void => {
      if (!ticks.run(request.socket, work)) refuse(exchange)
    }
    // Refusals take turns as well: clients that try again at once would starve new connections.
    if (shedder.admit(request, response)) inTurn(() => refuse(exchange))
    else receive(request, body => inTurn(() => handle(exchange, body, pass)))
  }
}

/** Whether all of the body may be held without a reservation. */
const isShort = ({ headers }: IncomingMessage): boolean => Number(headers['content-length']) <= bodyBytesMax

function receive(request: IncomingMessage, onEnd: (body: Buffer) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => onEnd(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
}

const sdkBodyOf = ({ request, url }: Exchange, bytes: Buffer): SdkBody => ({
  bytes,
  contentType: request.headers['content-type'],
  contentEncoding: request.headers['content-encoding'],
  compression: url.query.compression,
})

/** Metrics, span and access log, as for the ordinary route. */
function createObserver({ accessLog, log, requests, trustProxy }: Deps) {
  const clientAddress = createClientAddress(trustProxy)
  return (exchange: Exchange, status: number, bytes: number, project: number | undefined): void => {
    const { request, url, requestId, receivedAt, span } = exchange
    const route = `/${url.endpoint}`
    const milliseconds = performance.now() - receivedAt
    requests.observe('POST', route, status, milliseconds / 1000)
    span?.end(route, status)
    if (!accessLog.wants(status)) return
    const entry: AccessLogEntry = {
      reqId: requestId,
      method: 'POST',
      route,
      path: pathOf(request.url!),
      status,
      milliseconds: roundedMilliseconds(milliseconds),
      bytes,
      ip: clientAddress(request),
      project,
    }
    log.info(entry, accessLogEvent)
  }
}
