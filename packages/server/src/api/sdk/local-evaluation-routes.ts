import { routes } from '@halyard/contract'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import { blankFlag } from '../../features/flags/flag-resource.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { missing } from '../../problem.ts'
import type { Definitions } from './definitions.ts'
import { isKnown } from './etag.ts'

interface Deps {
  readonly snapshots: Snapshots
  readonly definitions: Definitions
}

/** Contract 4.2, local evaluation: the definitions next to the documented shape. */
export function serveLocalEvaluation(serve: ServeRoute, { snapshots, definitions }: Deps): void {
  serve(routes.flags.localEvaluation, async ({ actor, project, query, headers }) => {
    const served = await snapshots.forProject(project.id)
    if (!served) throw missing('Project')
    const isWithCohorts = query.send_cohorts !== undefined && query.send_cohorts !== 'false'
    const { json, etag } = definitions.bodyOf(served, isWithCohorts)
    // The documented shape contains the caller.
    const own = `${etag.slice(0, -1)}-${actor.user.id}"`
    const caching = { etag: own, 'cache-control': 'private, must-revalidate' }
    if (isKnown(headers['if-none-match'], own)) return answer({ status: 304, headers: caching })
    const shape = JSON.stringify(blankFlag(actor, project))
    const body = Buffer.concat([Buffer.from(`${shape.slice(0, -1)},`), json.subarray(1)])
    return answer({ status: 200, headers: caching, body })
  })
}
