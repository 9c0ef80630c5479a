import { randomUUID } from 'node:crypto'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  LogController,
  type RouteOptions,
} from 'fastify'
import type { BodyMemoryBudget } from '../../overload/body-memory-budget.ts'
import type { LoadShedder } from '../../overload/load-shedder.ts'
import { Problem } from '../../problem.ts'
import { receiveBodies } from '../sdk-body/receive-body.ts'
import type { Authenticator } from './authenticator.ts'
import { closePort, createNodeServers, type PlainLane, type TryFastPath } from './node-server.ts'
import { problemResponse } from './problem-response.ts'
import { answerUnreadable, refuseAmbiguous } from './unreadable-request.ts'

export interface HttpOptions {
  readonly authenticator: Authenticator
  readonly log: FastifyBaseLogger
  readonly bodyBytesMax: number
  readonly bodyMemory: BodyMemoryBudget
  readonly trustProxy: boolean | number | string
  /** Asked before anything else is done with a request. */
  readonly shedder: Pick<LoadShedder, 'refuse' | 'refuseEvaluation' | 'close'>
  readonly tryFastPath?: TryFastPath
  readonly plainLane?: PlainLane
  /** Called once for each answer to a known route. */
  readonly onAnswer: (method: string, route: string, status: number, seconds: number) => void
}

const pathParameterCharactersMax = 4000

/**
 * Fastify believes nobody when it is given a number, since it cannot know whether the peer is one of the proxies. Whoever sets a number says
 * that nobody reaches this server past them; so many addresses, counted from this end, are theirs.
 */
const believed = (trust: HttpOptions['trustProxy']) =>
  typeof trust === 'number' ? (_address: string, hop: number) => hop < trust : trust

/** The HTTP application before any route: how it reads, answers, fails and logs. */
export function createHttp(options: HttpOptions): FastifyInstance {
  const servers = createNodeServers(
    (request, response) =>
      refuseAmbiguous(request, response) ||
      options.shedder.refuse(request, response) ||
      (options.tryFastPath?.(request, response) ?? false),
    options.plainLane && behindShedder(options.plainLane, options.shedder),
  )
  const app = Fastify({
    loggerInstance: options.log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: options.bodyBytesMax,
    trustProxy: believed(options.trustProxy),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: pathParameterCharactersMax },
    genReqId: request => acceptableId(request.headers['x-request-id']) ?? randomUUID(),
    exposeHeadRoutes: true,
    // Each route is a plugin to Fastify, and would have a timer of its own.
    pluginTimeout: 0,
    schemaController: { compilersFactory: { buildValidator: notNeeded, buildSerializer: notNeeded } },
    serverFactory: route => servers.create(route),
    clientErrorHandler: answerUnreadable,
    frameworkErrors: (error, request, reply: FastifyReply) => {
      const { status, body, headers } = problemResponse(error)
      reply
        .code(status)
        .headers({ 'x-request-id': request.id, ...headers })
        .send(body)
    },
  })

  app.decorateRequest('access')
  // Bodies stay bytes until a handler asks for them: who may not call at all is told so before anything is parsed.
  receiveBodies(app, options.bodyBytesMax, options.bodyMemory)
  addHeaders(app)
  answerProblems(app, options.authenticator)
  watchAnswers(app, options)
  app.addHook('preClose', async () => servers.beginClosing())
  // Fastify closes only a server that it opened itself.
  app.addHook('onClose', async () => closePort(app.server))
  app.addHook('onClose', async () => options.shedder.close())
  return app
}

/** The contract is checked by `serve-route.ts`: Fastify's own compilers of schemas, a third of it, are never loaded. */
const notNeeded = (): never => {
  throw new Error('Routes carry no schemas for Fastify.')
}

/** What is answered at once is never in flight, so only whether there is too much to do has to be asked. */
function behindShedder({ takes, answer, room }: PlainLane, shedder: HttpOptions['shedder']) {
  const answerOrRefuse: PlainLane['answer'] = (head, bytes, from, to) =>
    takes(head) ? (shedder.refuseEvaluation(room) ?? answer(head, bytes, from, to)) : undefined
  return { room, answer: answerOrRefuse }
}

/** A request id from the client or proxy is kept, so that logs can be joined, when it is harmless text. */
const acceptableId = (id: string | string[] | undefined): string | undefined =>
  typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : undefined

function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'x-request-id': request.id,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    })
  })
}

function answerProblems(app: FastifyInstance, authenticator: Authenticator): void {
  const routes: RouteOptions[] = []
  // Made when the first address is wrong, which is never in most starts.
  let patterns: { method: string; pattern: RegExp }[] | undefined
  app.addHook('onRoute', route => {
    if (!(route.config as RouteNotes | undefined)?.isRefusal) routes.push(route)
  })

  app.setErrorHandler((error, request, reply) => {
    const { status, headers, body } = problemResponse(error)
    if (status >= 500) request.log.error({ err: error }, 'request failed')
    return reply.code(status).headers(headers).send(body)
  })

  app.setNotFoundHandler(async request => {
    const path = request.url.split('?', 1)[0] ?? ''
    patterns ??= routes.flatMap(patternsOf)
    const allow = [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort()
    if (allow.length === 0) throw new Problem('missing', 'There is nothing at this address.')
    if (path.startsWith('/api/') && path !== '/api/login')
      await authenticator.authenticate(request.headers.authorization)
    throw new Problem('method_not_allowed', `${request.method} is not allowed here.`, { allow })
  })
}

/** What `serve-route.ts` notes beside a route. */
interface RouteNotes {
  readonly isRefusal?: boolean
  readonly paramPatterns?: Readonly<Record<string, string>>
}

function patternsOf({ method, url, config }: RouteOptions): { method: string; pattern: RegExp }[] {
  const { paramPatterns = {} } = (config ?? {}) as RouteNotes
  const source = url
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:(\w+)/g, (_, name: string) => paramPatterns[name] ?? '[^/]+')
  const pattern = new RegExp(`^${source}/?$`)
  return [method].flat().map(each => ({ method: each, pattern }))
}

function watchAnswers(app: FastifyInstance, { onAnswer }: HttpOptions): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown'
    onAnswer(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    request.log.info(
      {
        method: request.method,
        route,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
      },
      'answered',
    )
  })
}
