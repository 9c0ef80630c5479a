import { routes } from '@halyard/contract'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { readInbox } from './read-inbox.ts'

interface Deps {
  readonly database: Database
  readonly now: () => Instant
}

export function serveInbox(serve: ServeRoute, { database, now }: Deps): void {
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
