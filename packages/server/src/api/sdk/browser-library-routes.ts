import type { FastifyInstance } from 'fastify'
import { serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import { builtFolder, listStaticFiles, sendFile } from '../../http/static-files/static-files.ts'
import { missing } from '../../problem.ts'

/** The script is not a page: as a document of its own it may load nothing. */
const policy = "default-src 'none'; frame-ancestors 'none'"

/** posthog-js, which the build takes from its npm package, at the path that PostHog's HTML snippet loads. */
export function serveBrowserLibrary(app: FastifyInstance, folder = builtFolder('posthog-js', 'array.js')): void {
  const library = folder === undefined ? undefined : listStaticFiles(folder).get('/array.js')
  serveSdkPath(app, ['GET'], '/static/array.js', async (request, reply) => {
    if (!library) throw missing('Browser library')
    return sendFile(request, reply, library, policy)
  })
}
