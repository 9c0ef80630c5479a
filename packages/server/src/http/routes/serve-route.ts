import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import {
  type Access,
  type AnswerOf,
  type BodyOf,
  isAudited as isAuditedRoute,
  levelFor,
  type ParamsOf,
  type QueryOf,
  type Route,
} from '@halyard/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Origin } from '../../origin.ts'
import type { RateLimiter } from '../../overload/rate-limit.ts'
import { forbidden } from '../../problem.ts'
import { type Actor, adminLevel, auditorLevel, hasAnyScope, type Organization, type Project } from '../../tenancy.ts'
import type { Authenticator } from '../server/authenticator.ts'
import { sendManifestProblem } from '../server/manifest-problem.ts'
import { sendOAuthProblem } from '../server/oauth-problem.ts'
import { corsHeaders, preflightHeaders } from '../server/response-headers.ts'
import { sendScimProblem } from '../server/scim-problem.ts'
import { bodyChecker, readJson, shapeChecker } from './check-body.ts'
import { eventStreamType } from './event-streams.ts'
import { sendProgress, type Work, wantsProgress } from './progress-stream.ts'
import { queryOf, storableQueryOf } from './query-of.ts'
import { requestOrigin } from './request-origin.ts'
import type { StreamGuard } from './stream-guard.ts'

/** What a handler is given. Everything in it has been checked against the route. */
export interface RouteRequest<R extends Route> {
  readonly params: ParamsOf<R>
  /** Text as sent; a repeated parameter counts once, the last time. */
  readonly query: QueryOf<R>
  /**
   * Parsed and validated before the handler runs. Raises its problem on access, so that a handler which looks up its object first
   * responds 404 for an unknown id, whatever the body.
   */
  readonly body: BodyOf<R>
  /** The bytes as they came, for the few routes that take files as well. */
  readonly raw: Buffer | undefined
  readonly actor: R['access'] extends { kind: 'key' | 'scim' } ? Actor : undefined
  readonly project: R['access'] extends { within: 'project' } ? Project : undefined
  readonly organization: R['access'] extends { within: 'organization' } | { kind: 'scim' } ? Organization : undefined
  /** The address as the client sees it, for links. */
  readonly url: URL
  readonly clientAddress: string
  readonly headers: FastifyRequest['headers']
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** The request, for the audit log. `actor` has it too. */
  readonly origin: Origin
}

/** Appends an entry for a request that succeeded without recording anything. */
export type RecordRequest = (actor: Actor, place: Pick<Admitted, 'project' | 'organization'>) => Promise<void>

export interface Answer<R extends Route> {
  readonly status: keyof R['responses'] & number
  readonly body?: AnswerOf<R> | Buffer | undefined
  readonly headers?: Readonly<Record<string, string>>
  /** Writes the response itself, with these headers and its own. The result is called with the actor as it is at each later check. */
  readonly takeOver?: TakeOver
}

export type TakeOver = (response: ServerResponse, headers: OutgoingHttpHeaders) => ((actor: Actor) => void) | undefined

export type Handler<R extends Route> = (request: RouteRequest<R>) => Promise<AnswerOf<R> | Answer<R> | InProgress>

/** `authorize` is for open routes that take other credentials than a personal API key: it runs before the body is read. */
export type ServeRoute = <const R extends Route>(
  route: R,
  handler: Handler<R>,
  authorize?: (headers: FastifyRequest['headers']) => Promise<unknown>,
) => void

/** A response with its own status, headers or body; otherwise a handler's value is the body of the first listed response. */
export const answer = <R extends Route>(response: Answer<R>): Answer<R> & { readonly [isAnswer]: true } => ({
  ...response,
  [isAnswer]: true,
})
const isAnswer = Symbol('answer')

/** Does the work, and streams its steps to a client that accepts `application/x-ndjson`. */
export async function withProgress<Body>(
  headers: FastifyRequest['headers'],
  work: Work<Body>,
): Promise<Body | InProgress> {
  return wantsProgress(headers.accept) ? { [isInProgress]: work } : work(() => {})
}
const isInProgress = Symbol('in progress')

interface InProgress {
  readonly [isInProgress]: Work<unknown>
}

const errorHandlers = { manifest: sendManifestProblem, oauth: sendOAuthProblem, scim: sendScimProblem }

/** Makes the function by which feature folders serve routes of the contract. */
export function createServeRoute(
  app: FastifyInstance,
  authenticator: Authenticator,
  limiter: RateLimiter,
  guard: StreamGuard,
  /** An edge has no log. */
  recordRequest: RecordRequest = async () => {},
): ServeRoute {
  return (route, handler, authorize) => {
    const status = Number(Object.keys(route.responses)[0])
    // A method that is not allowed is so for every id.
    const isRefusal = status === 405
    const areParamsRight = !isRefusal && route.params && shapeChecker(route.params)
    const checkBody = route.body && bodyChecker(route.body)
    const isAudited = !isRefusal && isAuditedRoute(route)

    app.route<{ Params: Record<string, string>; Querystring: Record<string, string | string[]> }>({
      method: route.method,
      url: route.path,
      config: { isRefusal, paramPatterns: paramPatterns(route) },
      ...(route.errorShape && { errorHandler: errorHandlers[route.errorShape] }),
      async onRequest(request, reply) {
        if (route.isForBrowsers) reply.headers(corsHeaders)
        const access = await admit(route, request, authenticator, actor => limiter.take(actor.key.id))
        await authorize?.(request.headers)
        request.setDecorator('access', access)
      },
      async handler(request, reply) {
        if (areParamsRight && !areParamsRight(request.params)) return reply.callNotFound()
        // Parsed once, before the handler opens a transaction; a problem is raised when the handler reads the body.
        const body = outcomeOf(() => checkedBody(request, route, checkBody))
        const access = request.getDecorator<Admitted>('access')
        const origin = requestOrigin(route, request, access.actor?.key)
        const actor = access.actor && isAudited ? { ...access.actor, origin } : access.actor
        const routeRequest = {
          ...access,
          actor,
          origin,
          params: request.params,
          query: storableQueryOf(request),
          get body() {
            return body()
          },
          raw: request.body as Buffer | undefined,
          get url() {
            return addressOf(request)
          },
          clientAddress: request.ip,
          headers: request.headers,
          get signal() {
            return goneSignal(reply)
          },
        }
        const handled = await handler(routeRequest as unknown as RouteRequest<typeof route>)
        const result =
          isAudited && actor
            ? await afterwards(handled, async () => {
                if (!origin.isRecorded) await recordRequest(actor, access)
              })
            : handled
        const recheck = { ...authenticator, authenticate: authenticator.authenticateAgain }
        return send(reply, route, status, result, guard, () => admit(route, request, recheck))
      },
    })
    if (route.isForBrowsers) servePreflight(app, route.path)
  }
}

/** Runs the work after a handler that has succeeded, and after the steps of one that reports progress. */
async function afterwards<T>(handled: T, work: () => Promise<void>): Promise<T | InProgress> {
  if (typeof handled === 'object' && handled !== null) {
    if (isInProgress in handled) {
      const steps = (handled as InProgress)[isInProgress]
      const thenWork: Work<unknown> = async report => {
        const body = await steps(report)
        await work()
        return body
      }
      return { [isInProgress]: thenWork }
    }
    if (isAnswer in handled && (handled as unknown as Answer<Route>).status >= 400) return handled
  }
  await work()
  return handled
}

function servePreflight(app: FastifyInstance, url: string): void {
  const handler = async (_request: FastifyRequest, reply: FastifyReply) =>
    reply
      .headers({ ...corsHeaders, ...preflightHeaders })
      .code(204)
      .send()
  app.route({ method: 'OPTIONS', url, handler })
}

/** What the parameters of a path may look like, to distinguish "not found" from "method not allowed". */
function paramPatterns(route: Route): Record<string, string> {
  const properties = Object.entries((route.params?.properties ?? {}) as Record<string, { pattern?: string }>)
  return Object.fromEntries(
    properties.flatMap(([name, { pattern }]) => (pattern ? [[name, pattern.slice(1, -1)]] : [])),
  )
}

interface Admitted {
  actor?: Actor
  project?: Project
  organization?: Organization
}

/** Authentication, scope, membership, rate: in this order, before the body is even read. */
async function admit(
  route: Route,
  request: FastifyRequest<{ Params: Record<string, string>; Querystring: Record<string, string | string[]> }>,
  authenticator: Authenticator,
  onAuthenticated: (actor: Actor) => void = () => {},
): Promise<Admitted> {
  const { access } = route
  if (access.kind === 'open') return {}
  if (access.kind === 'scim') {
    const holder = await authenticator.scimHolder(request.headers.authorization, request.params.organization_id ?? '')
    onAuthenticated(holder.actor)
    return holder
  }
  const actor = await authenticator.authenticate(request.headers.authorization, route.isForSetUp)
  if (!hasAnyScope(actor.key, access.scopes)) {
    throw forbidden(`This key lacks the scope ${access.scopes.join(' or ')}.`)
  }
  onAuthenticated(actor)
  if (actor.isService && access.scopes.some(scope => scope.startsWith('user:'))) {
    throw forbidden('A service key has no account of a person. Use a personal API key.')
  }
  const { params } = request
  if (access.within === 'project') {
    const token = route.method === 'GET' ? queryOf(request).token : undefined
    const project = await authenticator.projectFor(actor, params.project_id ?? '@current', token)
    requireRouteLevel(access, actor, project.organizationId)
    return { actor, project }
  }
  if (access.within === 'organization') {
    const organization = await authenticator.organizationFor(actor, params.parent_lookup_organization_id ?? '')
    requireRouteLevel(access, actor, organization.id)
    return { actor, organization }
  }
  return { actor }
}

/** Raises `forbidden` for members below the level of the route. */
function requireRouteLevel(access: Extract<Access, { kind: 'key' }>, actor: Actor, organizationId: string): void {
  const level = actor.levels.get(organizationId) ?? auditorLevel
  const needed = levelFor(access)
  if (level >= needed || (access.isForAuditors && level === auditorLevel)) return
  if (needed >= adminLevel) throw forbidden('You need to be an admin of the organization.')
  throw forbidden(
    level === auditorLevel
      ? 'As an auditor you can read the audit log and your own account only.'
      : 'You can view, but not change anything. Ask an admin for another level.',
  )
}

function checkedBody(request: FastifyRequest, route: Route, check: ((body: unknown) => void) | undefined): unknown {
  if (!check) return undefined
  const body = readJson(request.body as Buffer | undefined, request.headers['content-type'])
  const value = body === undefined ? {} : body
  if (body !== undefined || !route.bodyOptional) check(value)
  return value
}

/** Runs the work now; its result, or what it threw, is delivered at each call. */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const result = work()
    return () => result
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Fastify's own signal fires as soon as the body has been read; this one when the connection closes before the response is sent. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  const { raw } = reply
  const check = () => {
    if (!raw.writableFinished) gone.abort()
  }
  if (raw.destroyed) check()
  else raw.once('close', check)
  return gone.signal
}

const hostPattern = /^(\[[0-9a-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i

/** Scheme and host may come from a proxy that passes on what a client sent: links are built of nothing but a scheme of the web and a host. */
const addressOf = (request: FastifyRequest): URL => {
  const host = hostPattern.test(request.host) ? request.host : 'localhost'
  const scheme = request.protocol === 'https' ? 'https' : 'http'
  try {
    return new URL(request.originalUrl, `${scheme}://${host}`)
  } catch {
    return new URL(request.originalUrl, 'http://localhost')
  }
}

function send(
  reply: FastifyReply,
  { mediaType }: Route,
  status: number,
  result: unknown,
  guard: StreamGuard,
  authorizeAgain: () => Promise<Admitted>,
): FastifyReply {
  if (typeof result === 'object' && result !== null && isInProgress in result) {
    return sendProgress(reply, status, (result as InProgress)[isInProgress], guard, authorizeAgain)
  }
  const custom = typeof result === 'object' && result !== null && isAnswer in result
  const {
    status: code,
    headers,
    body,
    takeOver,
  } = custom
    ? (result as unknown as Partial<Answer<Route>> & { status: number; body?: unknown })
    : { status, headers: undefined, body: result, takeOver: undefined }
  if (takeOver) {
    if (reply.request.method === 'HEAD') return reply.code(code).type(eventStreamType).send()
    const onActor = takeOver(reply.raw, reply.getHeaders() as OutgoingHttpHeaders)
    const check = async () => {
      const { actor } = await authorizeAgain()
      if (actor) onActor?.(actor)
    }
    guard.watch({ response: reply.raw, check })
    return reply.hijack()
  }
  reply.code(code)
  if (headers) reply.headers(headers)
  if (body === undefined) return reply.send()
  const isScim = mediaType === 'application/scim+json'
  reply.header('content-type', isScim ? `${mediaType}; charset=utf-8` : 'application/json; charset=utf-8')
  return reply.send(Buffer.isBuffer(body) ? body : JSON.stringify(body))
}
