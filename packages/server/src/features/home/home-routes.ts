import { routes } from '@halyard/contract'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import { missing } from '../../problem.ts'
import { readHome } from './read-home.ts'

interface Deps extends RouteDeps {
  readonly snapshots: Snapshots
}

/** Serves the start page of a project with one request. */
export function serveHome(serve: ServeRoute, { database, snapshots, now }: Deps): void {
  serve(routes.home.get, async ({ actor, project }) => {
    const served = await snapshots.forProject(project.id)
    if (!served) throw missing('Project')
    return readHome(database, { actor, project, live: served.live, now: now() })
  })
}
