import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

/** How paths are matched, by Fastify and by the router of lazy routes. */
export const routerOptions = { ignoreTrailingSlash: true, maxParamLength: 4000 }

/** What the parts of the server note beside a route. */
export interface RouteNotes {
  /** The route itself allows no method: it refuses requests, or stands for lazy routes. */
  readonly isRefusal?: boolean
  readonly isEvaluation?: boolean
  readonly bodyBytesMax?: number
  readonly paramPatterns?: Readonly<Record<string, string>>
}

export const lazyMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type LazyMethod = (typeof lazyMethods)[number]

/** A route that Fastify does not know. */
export interface LazyRoute {
  readonly method: LazyMethod
  readonly url: string
  readonly config: RouteNotes
  readonly onRequest?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>
  readonly handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>
  readonly errorHandler?: (error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown
}

/** All routes of the application, to distinguish "not found" from "method not allowed". */
export interface KnownRoutes {
  add(route: KnownRoute): void
  /** `load` registers the lazy routes that could serve a path, and is called before the methods of one are listed. */
  addLazy(load: (path: string) => Promise<void>): void
  methodsAt(path: string): Promise<string[]>
}

type KnownRoute = Pick<RouteOptions, 'method' | 'url' | 'config'>

export function trackRoutes(app: FastifyInstance): KnownRoutes {
  const routes: KnownRoute[] = []
  const loads: ((path: string) => Promise<void>)[] = []
  // Made for the first unknown URL, which most processes never get.
  let patterns: { method: string; pattern: RegExp }[] | undefined
  const known: KnownRoutes = {
    add(route) {
      if (notesOf(route).isRefusal) return
      routes.push(route)
      patterns = undefined
    },
    addLazy(load) {
      loads.push(load)
    },
    async methodsAt(path) {
      for (const load of loads) await load(path)
      patterns ??= routes.flatMap(patternsOf)
      return [...new Set(patterns.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))].sort()
    },
  }
  app.decorate('knownRoutes', known)
  app.decorateRequest('lazyRoute')
  app.addHook('onRoute', known.add)
  return known
}

/** The route that serves the request; without a URL when there is none. */
export function routeOf(request: FastifyRequest): { readonly url?: string | undefined; readonly config: RouteNotes } {
  const { url, config } = (request.is404 ? undefined : lazyRouteOf(request)) ?? request.routeOptions
  return { url, config: config as RouteNotes }
}

export const lazyRouteOf = (request: FastifyRequest): LazyRoute | undefined =>
  request.getDecorator<LazyRoute | undefined>('lazyRoute')

const notesOf = ({ config }: KnownRoute): RouteNotes => (config ?? {}) as RouteNotes

function patternsOf(route: KnownRoute): { method: string; pattern: RegExp }[] {
  const { paramPatterns = {} } = notesOf(route)
  const source = route.url
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:(\w+)/g, (_, name: string) => paramPatterns[name] ?? '[^/]+')
  const pattern = new RegExp(`^${source}/?$`)
  const methods = [route.method].flat()
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].map(each => ({ method: each, pattern }))
}
