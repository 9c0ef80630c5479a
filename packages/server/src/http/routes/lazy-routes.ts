import type { FastifyInstance } from 'fastify'
import { pathOf } from '../../observability/access-log.ts'
import { Problem } from '../../problem.ts'
import { type KnownRoutes, type LazyRoute, lazyMethods, lazyRouteOf, routerOptions } from './known-routes.ts'
import { createRouteTrie } from './route-trie.ts'

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
  const trie = createRouteTrie<LazyRoute>(routerOptions.maxParamLength)
  const table = {
    route(route: LazyRoute) {
      trie.add(route.method, route.url, route)
      known.add(route)
    },
  }
  let registered: Promise<void> | undefined
  const load = () => {
    registered ??= register(table as unknown as RouteRegistry).catch(cause => {
      // Too many open files, for example, pass.
      registered = undefined
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
        const found = trie.find(request.method === 'HEAD' ? 'GET' : request.method, pathOf(request.url))
        if (!found) return
        request.setDecorator('lazyRoute', found.route)
        request.params = found.params
        await found.route.onRequest?.(request, reply)
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
