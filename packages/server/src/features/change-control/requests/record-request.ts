import { type Author, authorOf } from '../../../domain/activity.ts'
import type { ChangeRequest, FreeObject } from '../../../domain/change-request.ts'
import type { Instant } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { emailRequestStep } from './email-request-step.ts'

/** Each step of a change request is an activity entry of its flag or cohort, is published to the dashboard and emailed. */
export async function recordRequest(
  tx: Stores,
  author: Author,
  project: Project,
  request: ChangeRequest,
  activity: string,
  detail: FreeObject,
  now: Instant,
): Promise<void> {
  // A step without a reason of its own is taken for the reason of the request.
  const reason = typeof detail.reason === 'string' ? detail.reason : request.reason
  await tx.activity.append({
    organizationId: project.organizationId,
    projectId: project.id,
    ...subjectOf(request),
    activity,
    ...authorOf(author),
    detail: { name: request.title, changes: [], trigger: { change_request: request.id, ...detail, reason } },
    createdAt: now,
  })
  await publishRequest(tx, project, request, now)
  await emailRequestStep(tx, author, project, request, { activity, reason }, now)
}

/** Dashboards that show the request read it again. */
export const publishRequest = (tx: Stores, project: Project, { id }: ChangeRequest, now: Instant): Promise<void> =>
  tx.changes.append({
    topic: 'change_request',
    organizationId: project.organizationId,
    projectId: project.id,
    entityId: String(id),
    at: now,
  })

function subjectOf({ id, flagId, cohortId }: ChangeRequest) {
  if (flagId !== null) return { scope: 'FeatureFlag', itemId: String(flagId) } as const
  if (cohortId !== null) return { scope: 'Cohort', itemId: String(cohortId) } as const
  return { scope: 'ChangeRequest', itemId: String(id) } as const
}
