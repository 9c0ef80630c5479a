import type { FastifyInstance, FastifyRequest } from 'fastify'
import { requestKind } from '../../overload/load-shedder.ts'
import { loggedPath } from '../access-log.ts'
import type { RequestSpan, Tracing } from './tracing.ts'

/** A span for each request, except for those of probes and scrapers. Must be registered before hooks that do work. */
export function traceRequests(app: FastifyInstance, tracing: Tracing | undefined): void {
  app.decorateRequest('span')
  if (!tracing) return
  app.addHook('onRequest', (request, _reply, done) => {
    if (requestKind(request.url) === 'operations') return done()
    const span = tracing.startRequest(request.method, loggedPath(request.url), request.headers)
    request.setDecorator('span', span)
    tracing.run(span, done)
  })
  // Reading the body continues in the context of the socket.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spanOf(request)
    if (span) tracing.run(span, done)
    else done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    spanOf(request)?.end(request.routeOptions.url ?? 'unknown', reply.statusCode)
    done()
  })
}

export const spanOf = (request: FastifyRequest): RequestSpan | undefined =>
  request.getDecorator<RequestSpan | undefined>('span')
