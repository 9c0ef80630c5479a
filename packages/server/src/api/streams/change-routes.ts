import { routes } from '@halyard/contract'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Authenticator } from '../../http/server/authenticator.ts'
import type { ChangeStreams } from './change-streams.ts'

interface Deps {
  readonly authenticator: Authenticator
  readonly streams: ChangeStreams
}

/** The change stream of the dashboard, which therefore need not poll. */
export function serveChanges(serve: ServeRoute, { authenticator, streams }: Deps): void {
  serve(routes.changes.stream, async ({ actor, headers }) =>
    answer({
      status: 200,
      takeOver: streams.follow({ actor, authenticate: () => authenticator.authenticate(headers.authorization) }),
    }),
  )
}
