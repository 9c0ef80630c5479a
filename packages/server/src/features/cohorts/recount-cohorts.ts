import { behaviorsIn } from '@halyard/engine'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { queueCount } from './create-cohort.ts'
import { announceCohort } from './record-cohort.ts'

/** The histories of an event are complete: who is in the cohorts that name it has changed. */
export async function recountCohortsNaming(tx: Stores, projectId: number, event: string, now: Instant): Promise<void> {
  const project = await tx.projects.find(projectId)
  if (!project) return
  for (const { id, isStatic, filters } of await tx.cohorts.listDefinitions(projectId)) {
    if (isStatic || !behaviorsIn(filters).some(behavior => behavior.event === event)) continue
    await queueCount(tx, id, now)
    await announceCohort(tx, project, id, now)
  }
}
