import type { Route } from '@halyard/contract'
import type { FastifyInstance } from 'fastify'
import { docsPage, docsStyle } from './api-reference-page.ts'
import { openApiDocument } from './openapi.ts'

/** The contract as it is served: for machines at `/api/schema/`, for people at `/api/docs/`. */
export function serveDocs(app: FastifyInstance, routes: readonly Route[], version: string): void {
  // Made when first asked for: a start does not wait for them.
  let schema: string | undefined
  let page: string | undefined
  app.get('/api/schema', async (_request, reply) => {
    schema ??= JSON.stringify(openApiDocument(routes, version))
    return reply.type('application/json; charset=utf-8').send(schema)
  })
  app.get('/api/docs', async (_request, reply) => {
    page ??= docsPage(routes)
    return reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', "default-src 'none'; style-src 'self'; frame-ancestors 'none'")
      .send(page)
  })
  app.get('/api/docs/style.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(docsStyle))
}
