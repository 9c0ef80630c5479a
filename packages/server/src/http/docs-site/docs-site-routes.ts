import type { FastifyInstance } from 'fastify'
import { builtFolder, listStaticFiles, type StaticFiles, sendFile } from '../static-files/static-files.ts'

/** The docs site loads only its own files and is never framed. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Serves the documentation of this version at `/docs/`, as far as it has been built. */
export function serveDocsSite(app: FastifyInstance, folder = builtFolder('docs')): void {
  if (folder === undefined) return
  let listed: StaticFiles | undefined
  // Listed for the first request, which most processes never get.
  const files = () => (listed ??= listStaticFiles(folder))
  app.get('/docs', async (request, reply) => sendFile(request, reply, files().get('/index.html')!, policy))
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const path = request.params['*'].replace(/\/$/, '')
    const file = files().get(`/${path}`) ?? files().get(`/${path}/index.html`)
    const notFound = files().get('/404.html')
    if (file && file !== notFound) return sendFile(request, reply, file, policy)
    const wantsPage = String(request.headers.accept ?? '').includes('text/html')
    return wantsPage && notFound ? sendFile(request, reply.code(404), notFound, policy) : reply.callNotFound()
  })
}
