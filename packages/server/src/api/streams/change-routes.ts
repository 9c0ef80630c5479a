import { routes } from '@halyard/contract'
import type { FastifyInstance } from 'fastify'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Authenticator } from '../../http/server/authenticator.ts'
import type { ChangeFeed } from '../../storage/changes/changes.ts'
import { createChangeStreams } from './change-streams.ts'

interface Deps {
  readonly authenticator: Authenticator
  readonly changes: ChangeFeed
}

/** The change stream of the dashboard, which therefore need not poll. */
export function serveChanges(app: FastifyInstance, serve: ServeRoute, { authenticator, changes }: Deps): void {
  const streams = createChangeStreams(changes)

  serve(routes.changes.stream, async ({ actor, headers }) =>
    answer({
      status: 200,
      takeOver: streams.follow({ actor, authenticate: () => authenticator.authenticate(headers.authorization) }),
    }),
  )

  app.addHook('preClose', async () => streams.close())
}
