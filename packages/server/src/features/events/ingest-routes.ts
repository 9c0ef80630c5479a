import type { FastifyInstance } from 'fastify'
import { readBodyOf, serveSdkPath } from '../../http/sdk-body/sdk-path.ts'
import type { EventReceiver } from './ingest/ingest.ts'

const paths = ['/e', '/i/v0/e', '/batch', '/capture', '/track', '/engage'] as const

/** Where client libraries send events. Browsers repeat what is answered with anything but exactly 200. */
export function serveIngest(app: FastifyInstance, ingest: EventReceiver): void {
  for (const path of paths) {
    serveSdkPath(app, ['POST'], path, async request => {
      await ingest.receive(await readBodyOf(request), path, request.ip)
      return { status: 1 }
    })
  }
}
