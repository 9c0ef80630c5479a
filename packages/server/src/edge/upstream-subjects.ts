import { subjectFromWire, wantedToWire } from '../api/edge/edge-subject-resource.ts'
import type { StoredSubjects } from '../evaluation/subjects/gather-subject.ts'
import { Problem } from '../problem.ts'
import type { Replica } from './replica.ts'
import type { Upstream } from './upstream.ts'

/** Persons and groups are stored at the upstream only. When it is unavailable, flags that depend on them evaluate to a failure. */
export function upstreamSubjects(lookUps: 'upstream' | 'none', upstream: Upstream, replica: Replica): StoredSubjects {
  return {
    async find(projectId, wanted) {
      const project = replica.findById(projectId)
      if (lookUps === 'none' || !project) throw away('This edge does not look up persons.')
      try {
        return subjectFromWire(await upstream.findSubject(wantedToWire(project.uuid, wanted)))
      } catch (error) {
        throw away((error as Error).message)
      }
    },
  }
}

const away = (message: string): Problem => new Problem('unavailable', message, { retryAfterSeconds: 1 })
