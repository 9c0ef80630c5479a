import { routes } from '@halyard/contract'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { ChangeStreams } from './change-streams.ts'

/** The change stream of the dashboard, which therefore need not poll. */
export function serveChanges(serve: ServeRoute, streams: ChangeStreams): void {
  serve(routes.changes.stream, async ({ actor, headers }) =>
    answer({ status: 200, takeOver: streams.follow({ actor, after: headers['last-event-id']?.toString() }) }),
  )
}
