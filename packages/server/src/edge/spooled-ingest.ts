import { type EdgeBatch, type EdgeEvent, edgeBatchEventsMax } from '@halyard/contract'
import type { BatchReceiver } from '../api/edge/receive-batches.ts'
import type { IncomingEvent } from '../domain/event.ts'
import type { EventReceiver } from '../features/events/ingest/ingest.ts'
import { readEvents } from '../features/events/read-events.ts'
import type { Instant } from '../instant.ts'
import { Problem } from '../problem.ts'
import { inParts } from '../storage/in-batches.ts'
import { levelInProject } from '../tenancy.ts'
import type { EventSpool } from './event-spool.ts'
import type { Replica } from './replica.ts'

/** Accepts events as a server does, and responds when they are on disk, to be forwarded. */
export function createSpooledIngest(replica: Replica, spool: EventSpool, now: () => Instant): EventReceiver {
  return {
    async receive(body, path, ip) {
      const { token, events } = readEvents(body, { path, ip, now: now() })
      const projectId = await replica.projects.findIdByToken(token)
      const project = projectId === undefined ? undefined : replica.findById(projectId)
      if (!project) throw new Problem('unauthenticated', 'No project has this token.')
      const parts = [...inParts(events, edgeBatchEventsMax)]
      await Promise.all(parts.map(part => spool.append({ project: project.uuid, events: part.map(eventToWire) })))
    },
  }
}

const eventToWire = ({ uuid, name, distinctId, properties, at, ip }: IncomingEvent): EdgeEvent => ({
  uuid,
  event: name,
  distinct_id: distinctId,
  properties,
  at,
  ip,
})

/** Accepts batches of further edges, and forwards them with their ids. */
export function createSpooledBatches(replica: Replica, spool: EventSpool): BatchReceiver {
  return {
    async receive(actor, batches) {
      const isWanted = ({ project: uuid, events }: EdgeBatch): boolean => {
        const project = uuid === undefined ? undefined : replica.findByUuid(uuid)
        return !events || (project !== undefined && levelInProject(actor, project) !== undefined)
      }
      const wanted = batches.filter(isWanted)
      await Promise.all(wanted.map(batch => spool.append(batch)))
      return {
        received: wanted.length,
        refused: batches.filter(batch => !wanted.includes(batch)).map(({ id }) => id),
      }
    },
  }
}
