import type { FastifyInstance } from 'fastify'
import createRouter from 'find-my-way'
import { Problem } from '../../problem.ts'
import {
  type KnownRoutes,
  type LazyMethod,
  type LazyRoute,
  lazyMethods,
  lazyRouteOf,
  routerOptions,
} from './known-routes.ts'

/** Where routes are registered: Fastify, or the table of lazy routes. */
export type RouteRegistry = Pick<FastifyInstance, 'route'>

/**
 * Serves all paths below the prefixes. `register` runs for the first request to one of them: Fastify would build all routes at the start,
 * and a node that only evaluates needs none of these.
 */
export function serveLazily(
  app: FastifyInstance,
  prefixes: readonly string[],
  register: (routes: RouteRegistry) => Promise<void>,
): void {
  const known = app.getDecorator<KnownRoutes>('knownRoutes')
  const router = createRouter(routerOptions)
  const table = {
    route(route: LazyRoute) {
      router.on(route.method, route.url, notCalled, route)
      known.add(route)
    },
  }
  let registered: Promise<void> | undefined
  const load = () => {
    registered ??= register(table as unknown as RouteRegistry).catch(cause => {
      throw new Problem('unavailable', 'A part of the program cannot be loaded. Restart the server.', { cause })
    })
    return registered
  }
  known.addLazy(async path => {
    if (prefixes.some(prefix => path.startsWith(`${prefix}/`))) await load()
  })

  for (const prefix of prefixes) {
    app.route({
      method: [...lazyMethods],
      url: `${prefix}/*`,
      config: { isRefusal: true },
      async onRequest(request, reply) {
        await load()
        const method = request.method === 'HEAD' ? 'GET' : (request.method as LazyMethod)
        const found = router.find(method, request.raw.url!)
        if (!found) return
        const route = found.store as LazyRoute
        request.setDecorator('lazyRoute', route)
        request.params = found.params
        await route.onRequest?.(request, reply)
      },
      async handler(request, reply) {
        return lazyRouteOf(request)?.handler(request, reply) ?? reply.callNotFound()
      },
      errorHandler(error, request, reply) {
        const { errorHandler } = lazyRouteOf(request) ?? {}
        if (!errorHandler) throw error
        return errorHandler(error, request, reply)
      },
    })
  }
}

/** The router finds routes; they are called within Fastify's life cycle of a request. */
const notCalled = () => {}
