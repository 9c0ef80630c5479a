import { routes } from '@halyard/contract'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import type { EventReceiver } from '../events/ingest/ingest.ts'
import type { FlagWrites } from '../flags/flag-writes.ts'
import { demoPeople } from './demo-content.ts'
import { profileBatches, usageBatches } from './demo-events.ts'
import { loadDemo } from './load-demo.ts'

interface Deps {
  readonly writes: FlagWrites
  readonly ingest: EventReceiver
  /** There is background work on cohorts. */
  readonly onCohortWork: () => void
  readonly now: () => Instant
}

export function serveDemo(serve: ServeRoute, { writes, ingest, onCohortWork, now }: Deps): void {
  serve(routes.projects.loadDemo, async request => {
    const { actor, project } = request
    const { flags } = await writes.saveMany(request, gate => loadDemo(gate, actor, project))
    // After the flags: evaluations are counted for flags that exist.
    for (const batch of [...profileBatches(), ...usageBatches(new Date(now()))]) {
      await ingest.receive({ api_key: project.apiToken, batch }, '/batch', null)
    }
    onCohortWork()
    return { flags, people: demoPeople.length }
  })
}
