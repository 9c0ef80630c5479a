import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendFile } from '../static-files/static-files.ts'
import type { PageFiles } from './web-app-files.ts'

/** Routes of the web app. Everything else belongs to the API, so that an unknown path there stays a JSON 404. */
const pagePaths = ['/', '/login', '/account', '/reset-password', '/signup/*', '/project/*', '/organization/*']

/**
 * Serves the built web app. Without a build, `/` explains how to get one, and the API is unaffected. The app follows changes after
 * `position`: whatever it reads includes those before.
 */
export function servePage(app: FastifyInstance, page: PageFiles | undefined, position: () => string): void {
  if (!page) {
    app.get('/', async (_request, reply) =>
      reply
        .type('text/plain; charset=utf-8')
        .send('Halyard serves its API here. The dashboard is built by `npm run build`.\n'),
    )
    return
  }
  const fileAt = async (request: FastifyRequest, reply: FastifyReply) => {
    const file = page.files.get(request.url.split('?', 1)[0] ?? '')
    return file ? sendFile(request, reply, file, filePolicy) : reply.callNotFound()
  }
  app.get('/assets/*', fileAt)
  for (const path of page.files.keys()) if (!path.startsWith('/assets/')) app.get(path, fileAt)
  const send = (reply: FastifyReply) => sendIndex(reply, page.index.replace('{{position}}', position()))
  for (const path of pagePaths) app.get(path, async (_request, reply) => send(reply))
  // A browser with an unknown URL gets the web app, which shows a 404; other clients get JSON.
  app.get('/*', async (request, reply) => (wantsPage(request) ? send(reply.code(404)) : reply.callNotFound()))
}

const wantsPage = ({ url, headers }: FastifyRequest): boolean =>
  !url.startsWith('/api/') && String(headers.accept ?? '').includes('text/html')

/** Styles that are created at run time carry a nonce; scripts come only from our own files. */
function sendIndex(reply: FastifyReply, index: string): FastifyReply {
  const nonce = randomBytes(16).toString('base64')
  return reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy(nonce))
    .header('cache-control', 'no-cache')
    .send(index.replace('{{nonce}}', nonce))
}

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** The policy of a script that is loaded on its own, such as the shared worker: it may only connect to this server. */
const filePolicy = "default-src 'none'; connect-src 'self'; frame-ancestors 'none'"
