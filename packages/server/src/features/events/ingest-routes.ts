import type { FastifyInstance } from 'fastify'
import { readBodyOf, serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import type { EventReceiver } from './ingest/ingest.ts'

const paths = ['/e', '/i/v0/e', '/batch', '/capture', '/track', '/engage'] as const

/** Serves the paths to which SDKs send events. Browsers retry unless the status is exactly 200. */
export function serveIngest(app: FastifyInstance, ingest: EventReceiver): void {
  for (const path of paths) {
    serveSdkPath(app, ['POST'], path, async request => {
      await ingest.receive(await readBodyOf(request), path, request.ip)
      return { status: 1 }
    })
  }
}
