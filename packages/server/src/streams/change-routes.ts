import { routes } from '@halyard/contract'
import type { FastifyInstance } from 'fastify'
import type { ChangeFeed } from '../changes.ts'
import type { Gate } from '../http/gate.ts'
import { answer, type ServeRoute } from '../http/serve-route.ts'
import { createChangeStreams } from './change-streams.ts'

interface Deps {
  readonly gate: Gate
  readonly changes: ChangeFeed
}

/** What the page listens to, so that it need not ask whether something has changed. */
export function serveChanges(app: FastifyInstance, serve: ServeRoute, { gate, changes }: Deps): void {
  const streams = createChangeStreams(changes)

  serve(routes.changes.stream, async ({ actor, headers }) =>
    answer({
      status: 200,
      takeOver: streams.follow({ actor, authenticate: () => gate.authenticate(headers.authorization) }),
    }),
  )

  app.addHook('preClose', async () => streams.close())
}
