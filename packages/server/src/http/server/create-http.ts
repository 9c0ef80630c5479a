import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import {
  type AccessLog,
  type AccessLogEntry,
  accessLogEvent,
  loggedPath,
  pathOf,
  roundedMilliseconds,
} from '../../observability/access-log.ts'
import { traceRequests } from '../../observability/telemetry/trace-requests.ts'
import type { Tracing } from '../../observability/telemetry/tracing.ts'
import type { BodyMemoryBudget } from '../../overload/body-memory-budget.ts'
import { type LoadShedder, requestKind } from '../../overload/load-shedder.ts'
import { Problem } from '../../problem.ts'
import { trackMethods } from '../routes/allowed-methods.ts'
import { isReceived, receiveBodies } from '../sdk-body/receive-body.ts'
import type { Authenticator } from './authenticator.ts'
import { type TrustProxy, trustedProxies } from './client-address.ts'
import { compressResponses } from './compression.ts'
import { closePort, createNodeServers, type FirstListener } from './node-server.ts'
import { problemResponse } from './problem-response.ts'
import { acceptableRequestId, corsHeaders, responseHeaders } from './response-headers.ts'
import { scimPath, sendScimProblem } from './scim-problem.ts'
import { ambiguityOf, respondUnreadable } from './unreadable-request.ts'

export interface HttpOptions {
  readonly authenticator: Authenticator
  readonly log: FastifyBaseLogger
  readonly accessLog: AccessLog
  readonly bodyBytesMax: number
  readonly bodyMemory: BodyMemoryBudget
  readonly trustProxy: TrustProxy
  /** Checked before anything else is done with a request. */
  readonly shedder: Pick<LoadShedder, 'admit' | 'close'>
  /** Responds before Fastify does, or passes a request on. */
  readonly first?: FirstListener | undefined
  /** Whether the process stops: each response is the last one of its connection. */
  readonly isStopping: () => boolean
  readonly tracing?: Tracing | undefined
  /** Called once for each response of a known route. */
  readonly onResponse: (method: string, route: string, status: number, seconds: number) => void
}

/** The HTTP application before any route: how it reads requests, responds, fails and logs. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const servers = createNodeServers(options.first, options.isStopping)
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyBytesMax,
    // What was sent before a stop is served; new connections are refused.
    return503OnClosing: false,
    trustProxy: options.trustProxy === false ? false : trustedProxies(options.trustProxy),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4000 },
    genReqId: request => acceptableRequestId(request.headers['x-request-id']) ?? randomUUID(),
    // Each route is a plugin to Fastify, and would have a timer of its own.
    pluginTimeout: 0,
    serverFactory: route => servers.create(route),
    clientErrorHandler: respondUnreadable,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const { status, body, headers } = problemResponse(error)
      reply
        .code(status)
        .headers({ ...responseHeaders(request.id), ...headers })
        .send(body)
    },
  })

  app.decorateRequest('access')
  app.decorateRequest('projectId')
  traceRequests(app, options.tracing)
  // Bodies stay bytes until a handler reads them: requests without access are refused before anything is parsed.
  receiveBodies(app, options.bodyBytesMax, options.bodyMemory)
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(responseHeaders(request.id))
    refuse(request, reply, options.shedder)
  })
  respondToProblems(app, options.authenticator)
  compressResponses(app)
  observeResponses(app, options)
  app.addHook('preClose', servers.beginClosing)
  // Fastify closes only a server that it opened itself.
  app.addHook('onClose', async () => closePort(app.server))
  app.addHook('onClose', async () => options.shedder.close())
  return app
}

/** Raises what is wrong with the request itself, or that there is no capacity for it. */
function refuse({ raw }: FastifyRequest, reply: FastifyReply, shedder: HttpOptions['shedder']): void {
  const ambiguity = ambiguityOf(raw)
  if (ambiguity) {
    reply.header('connection', 'close')
    throw ambiguity
  }
  const overload = isReceived(raw) ? undefined : shedder.admit(raw, reply.raw)
  if (overload === undefined) return
  if (requestKind(raw.url ?? '') === 'evaluation') reply.headers(corsHeaders)
  throw overload
}

function respondToProblems(app: FastifyInstance, authenticator: Authenticator): void {
  const methodsAt = trackMethods(app)

  app.setErrorHandler((error, request, reply) => {
    if (request.url.startsWith(scimPath)) return sendScimProblem(error, request, reply)
    const { status, headers, body } = problemResponse(error)
    if (status >= 500 && !isExpected(error)) request.log.error({ err: error }, 'request failed')
    return reply.code(status).headers(headers).send(body)
  })

  app.setNotFoundHandler(async request => {
    const path = pathOf(request.url)
    const allow = methodsAt(path)
    if (allow.length === 0) throw new Problem('missing', 'No resource exists at this URL.')
    if (path.startsWith('/api/') && path !== '/api/login')
      await authenticator.authenticate(request.headers.authorization)
    throw new Problem('method_not_allowed', `${request.method} is not allowed here.`, { allow })
  })
}

/** Shed load is counted, not logged as a failure: a log line per request would add to the overload. */
const isExpected = (error: unknown): boolean => error instanceof Problem && error.cause === undefined

/** Metrics and access log. */
function observeResponses(app: FastifyInstance, { accessLog, onResponse }: HttpOptions): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method } = request
    const { statusCode: status, elapsedTime } = reply
    const { url: route = 'unknown', config } = request.routeOptions
    onResponse(method, route, status, elapsedTime / 1000)
    if (config.isEvaluation && !accessLog.wants(status)) return
    const entry: AccessLogEntry = {
      method,
      route,
      path: loggedPath(request.url),
      status,
      milliseconds: roundedMilliseconds(elapsedTime),
      bytes: Number(reply.getHeader('content-length') ?? 0),
      ip: request.ip,
      project: projectOf(request),
    }
    request.log.info(entry, accessLogEvent)
  })
}

function projectOf(request: FastifyRequest): number | undefined {
  const access = request.getDecorator<{ readonly project?: { readonly id: number } } | undefined>('access')
  return access?.project?.id ?? request.getDecorator<number | undefined>('projectId')
}
