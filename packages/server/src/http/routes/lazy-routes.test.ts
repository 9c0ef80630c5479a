import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { routeOf, trackRoutes } from './known-routes.ts'
import { type RouteRegistry, serveLazily } from './lazy-routes.ts'

const handler = async (request: Parameters<typeof routeOf>[0]) => ({
  params: request.params,
  route: routeOf(request).url,
})

function createApp(register: (routes: RouteRegistry) => Promise<void>) {
  const app = Fastify()
  const known = trackRoutes(app)
  app.setNotFoundHandler(async (request, reply) => {
    const methods = await known.methodsAt(request.url)
    return reply.code(methods.length > 0 ? 405 : 404).send({ methods, route: routeOf(request).url ?? null })
  })
  app.get('/api/eager', handler)
  serveLazily(app, ['/api'], register)
  return app
}

describe('lazy routes', () => {
  it('are registered once, by the first request to their prefix', async () => {
    let count = 0
    const app = createApp(async routes => {
      count += 1
      routes.route({ method: 'GET', url: '/api/things/:id', handler })
    })
    expect((await app.inject('/api/eager')).json().route).toBe('/api/eager')
    expect((await app.inject('/elsewhere')).statusCode).toBe(404)
    expect(count).toBe(0)
    const [first, second] = await Promise.all([app.inject('/api/things/a%20b/?x=1'), app.inject('/api/things/2')])
    expect(first.json()).toEqual({ params: { id: 'a b' }, route: '/api/things/:id' })
    expect(second.json()).toEqual({ params: { id: '2' }, route: '/api/things/:id' })
    expect(count).toBe(1)
  })

  it('are found by the first request of any kind that asks which methods are allowed', async () => {
    const app = createApp(async routes => {
      routes.route({ method: 'GET', url: '/api/things/:id', handler })
      routes.route({ method: 'PUT', url: '/api/things/:id', handler })
    })
    const traced = await app.inject({ method: 'TRACE' as 'GET', url: '/api/things/1' })
    expect(traced.statusCode).toBe(405)
    expect(traced.json()).toEqual({ methods: ['GET', 'HEAD', 'PUT'], route: null })
    const deleted = await app.inject({ method: 'DELETE', url: '/api/things/1' })
    expect(deleted.json()).toEqual({ methods: ['GET', 'HEAD', 'PUT'], route: null })
    expect((await app.inject('/api/none')).json()).toEqual({ methods: [], route: null })
  })

  it('run their own hook before the body is read, and their own error handler', async () => {
    const steps: string[] = []
    const app = createApp(async routes => {
      routes.route({
        method: 'POST',
        url: '/api/things',
        async onRequest(request) {
          steps.push(`body ${typeof request.body}`)
          if (request.headers.authorization === undefined) throw new Error('refused')
        },
        handler,
        errorHandler: (error, _request, reply) => reply.code(418).send({ error: error.message }),
      })
    })
    const refused = await app.inject({ method: 'POST', url: '/api/things', payload: { a: 1 } })
    expect(refused.statusCode).toBe(418)
    expect(refused.json()).toEqual({ error: 'refused' })
    expect(steps).toEqual(['body undefined'])
  })

  it('that cannot be loaded are unavailable until they can', async () => {
    let isLoadable = false
    const app = createApp(async routes => {
      if (!isLoadable) throw new Error('Cannot find module')
      routes.route({ method: 'GET', url: '/api/things', handler })
    })
    const { message } = (await app.inject('/api/things')).json()
    expect(message).toBe('A part of the program cannot be loaded. Restart the server.')
    isLoadable = true
    expect((await app.inject('/api/things')).statusCode).toBe(200)
  })
})
