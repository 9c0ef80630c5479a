import { routes } from '@halyard/contract'
import type { StoredSubjects } from '../../evaluation/subjects/gather-subject.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import type { Authenticator } from '../../http/server/authenticator.ts'
import { forbidden, missing } from '../../problem.ts'
import { hasAnyScope } from '../../tenancy.ts'
import type { EdgeFeed } from './edge-feed.ts'
import { subjectToWire, wantedFromWire } from './edge-subject-resource.ts'
import type { BatchReceiver } from './receive-batches.ts'

interface Deps {
  readonly authenticator: Authenticator
  readonly feed: EdgeFeed
  readonly batches: BatchReceiver
  readonly subjects: StoredSubjects
  /** The id of the project with this UUID, if the actor can view it. */
  readonly findProject: (actor: Parameters<BatchReceiver['receive']>[0], uuid: string) => Promise<number | undefined>
}

/** The routes that edges call, on a server and on another edge. */
export function serveEdges(serve: ServeRoute, { authenticator, feed, batches, subjects, findProject }: Deps): void {
  const r = routes.edge

  serve(r.stream, async ({ headers, body }) => {
    const authenticate = async () => {
      const actor = await authenticator.authenticate(headers.authorization)
      if (!hasAnyScope(actor.key, r.stream.access.scopes)) throw forbidden('This key lacks the scope edge:read.')
      return actor
    }
    return answer({ status: 200, takeOver: await feed.follow({ authenticate, have: body.have ?? {} }) })
  })

  serve(r.batches, ({ actor, body }) => batches.receive(actor, body.batches))

  serve(r.subjects, async ({ actor, body }) => {
    const projectId = await findProject(actor, body.project)
    if (projectId === undefined) throw missing('Project')
    return subjectToWire(await subjects.find(projectId, wantedFromWire(body)))
  })
}
