import type { EdgeBatch, EdgeEvent } from '@halyard/contract'
import { readDistinctId, storable } from '../../domain/distinct-id.ts'
import type { IncomingEvent } from '../../domain/event.ts'
import type { ServedProject } from '../../evaluation/projects/served-project.ts'
import type { Snapshots } from '../../evaluation/snapshots.ts'
import type { IdentifiedBatch, Ingest } from '../../features/events/ingest/ingest.ts'
import { type Instant, parseInstant } from '../../instant.ts'
import type { Database } from '../../stores.ts'
import { type Actor, levelInProject } from '../../tenancy.ts'

/** Receives the events that edges accepted on behalf of this server. */
export interface BatchReceiver {
  /**
   * Resolves when everything is durable. Batches of projects that the key cannot see are rejected by id; one that was received before
   * changes nothing. Raises `unavailable`: then the edge sends all of it again.
   */
  receive(
    actor: Actor,
    batches: readonly EdgeBatch[],
  ): Promise<{ readonly received: number; readonly refused: string[] }>
}

interface Deps {
  readonly database: Database
  readonly snapshots: Snapshots
  readonly ingest: Ingest
  /** Called once for each report of evaluations at an edge. */
  readonly onEvaluations: (evaluations: { readonly requests: number; readonly flags: number }) => void
  readonly now: () => Instant
}

export function createBatchReceiver({ database, snapshots, ingest, onEvaluations, now }: Deps): BatchReceiver {
  async function projectsOf(actor: Actor, uuids: ReadonlySet<string>): Promise<ReadonlyMap<string, ServedProject>> {
    const projects = new Map<string, ServedProject>()
    for (const uuid of uuids) {
      const project = await database.read(tx => tx.projects.findByUuid(uuid))
      const isSeen = project && levelInProject(actor, project) !== undefined
      const served = isSeen ? await snapshots.forProject(project.id) : undefined
      if (served) projects.set(uuid, served)
    }
    return projects
  }

  return {
    async receive(actor, batches) {
      const projects = await projectsOf(actor, new Set(batches.flatMap(({ project }) => project ?? [])))
      const refused: string[] = []
      const wanted: IdentifiedBatch[] = []
      const time = now()
      // Edges choose the ids: they are scoped to the tenant, so that none can mark another's batch as received.
      for (const { id, project = '', events } of batches) {
        const served = projects.get(project)
        if (events && served) {
          wanted.push({ id: `${project}/${id}`, served, events: events.map(event => eventFromWire(event, time)) })
        }
        if (events && !served) refused.push(id)
      }
      await ingest.receiveBatches(wanted)
      for (const { id, evaluations } of batches) {
        if (!evaluations) continue
        const isNew = await database.transaction(tx => tx.receivedBatches.add(`${actor.user.uuid}/${id}`, time))
        if (isNew) onEvaluations(evaluations)
      }
      return { received: batches.length - refused.length, refused }
    },
  }
}

/** The edge has parsed the event as this server would have; its clock may be ahead. */
function eventFromWire({ uuid, event, distinct_id, properties, at, ip }: EdgeEvent, now: Instant): IncomingEvent {
  const moment = parseInstant(at) ?? now
  return {
    uuid,
    name: storable(event),
    distinctId: readDistinctId(distinct_id) ?? storable(distinct_id),
    properties,
    at: moment > now ? now : moment,
    ip,
  }
}
