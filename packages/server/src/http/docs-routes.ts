import type { Route } from '@halyard/contract'
import type { FastifyInstance } from 'fastify'
import { docsPage, docsStyle } from './docs-page.ts'
import { openApiDocument } from './openapi.ts'

/** The contract as it is served: for machines at `/api/schema/`, for people at `/api/docs/`. */
export function serveDocs(app: FastifyInstance, routes: readonly Route[], version: string): void {
  const schema = JSON.stringify(openApiDocument(routes, version))
  const page = docsPage(routes)
  app.get('/api/schema', async (_request, reply) => reply.type('application/json; charset=utf-8').send(schema))
  app.get('/api/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'self'; frame-ancestors 'none'")
      .send(page),
  )
  app.get('/api/docs/style.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(docsStyle))
}
