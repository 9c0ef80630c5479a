import type { FastifyInstance, RouteOptions } from 'fastify'

declare module 'fastify' {
  /** What the parts of the server note beside a route. */
  interface FastifyContextConfig {
    /** The route exists to refuse its method. */
    readonly isRefusal?: boolean
    readonly isEvaluation?: boolean
    readonly bodyBytesMax?: number
    readonly paramPatterns?: Readonly<Record<string, string>>
  }
}

/** Lists the methods that routes allow at a path, to distinguish "not found" from "method not allowed". */
export function trackMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { methods: readonly string[]; pattern: RegExp }[] = []
  app.addHook('onRoute', route => {
    if (!route.config?.isRefusal) routes.push({ methods: [route.method].flat(), pattern: patternOf(route) })
  })
  return path => {
    const methods = routes.flatMap(({ methods, pattern }) => (pattern.test(path) ? methods : []))
    return [...new Set(methods)].sort()
  }
}

function patternOf({ url, config }: RouteOptions): RegExp {
  const source = url
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/:(\w+)/g, (_, name: string) => config?.paramPatterns?.[name] ?? '[^/]+')
  return new RegExp(`^${source}/?$`)
}
