import { routes } from '@halyard/contract'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { parseInstant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import { readInbox } from './read-inbox.ts'

export function serveInbox(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.inbox

  serve(r.get, ({ actor, project }) => database.read(tx => readInbox(tx, actor, project)))

  serve(r.markSeen, async ({ actor, project, body }) => {
    const until = parseInstant(body.until)
    if (until === undefined || until > now()) {
      throw invalid('until', 'invalid_input', 'until must be an ISO 8601 date-time that is not in the future.')
    }
    await database.transaction(tx => tx.inbox.markSeen(project.id, actor.user.id, until))
    return answer({ status: 204 })
  })
}
