import { refersToOthers } from '../../evaluation/subjects/gather-references.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Project, User } from '../../tenancy.ts'
import type { Author } from '../activity/activity.ts'
import { authorizeFlagWrite } from '../change-control/authorize-write.ts'
import type { Permit } from '../change-control/permit.ts'
import { openReview } from '../change-control/requests/open-request.ts'
import { createUsageDashboard } from '../dashboards/create-usage-dashboard.ts'
import { checkFlagContent } from './check-flag.ts'
import { applyPatch, type Flag, type FlagContent, type FlagPatch, newFlagContent } from './flag.ts'
import { type FlagRecord, recordFlag } from './record-flag.ts'

export interface FlagCreation {
  readonly patch: FlagPatch & { readonly key: string }
  /** Why the flag was created, for the activity entry. */
  readonly trigger?: FlagRecord['trigger']
  /** What the filters of the patch were derived from; see `FlagSave`. */
  readonly filtersFrom?: string
}

/** Raises `invalid` for a taken key, for filters that cannot be evaluated, and when the project is full. */
export async function createFlag(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { patch, trigger = null, filtersFrom }: FlagCreation,
  now: Instant,
  permit: Permit,
): Promise<Flag> {
  const content = applyPatch(newFlagContent(patch.key, now), patch)
  if (refersToOthers(content.filters)) await tx.projects.holdReferences(project.id)
  await checkFlagContent(tx, project, { ...content, id: 0, version: 1 })
  await tx.flags.checkLimits(project.id, { flags: 1, filters: [content.filters] })
  const createdBy: User = author.user
  const proposed = newFlag(project, createdBy, content, now)
  const save = { projectId: project.id, stored: undefined, flag: proposed, filtersFrom }
  const authorization = await authorizeFlagWrite(tx, permit, project, save, now)
  const dashboard = await createUsageDashboard(tx, { projectId: project.id, key: content.key, createdBy }, now)
  if (permit.kind !== 'system') permit.checkSave(save)
  const flag = await tx.flags.create({ ...proposed, usageDashboardId: dashboard.id })
  await tx.dashboards.setFlag(dashboard.id, flag.id)
  const grounds = authorization.trigger ? { ...trigger, ...authorization.trigger } : trigger
  await recordFlag(tx, author, project, flag, { activity: 'created', changes: [], trigger: grounds }, now)
  if (authorization.bypassed) {
    await openReview(tx, project, authorization.bypassed, { flagId: flag.id, version: flag.version }, now)
  }
  return flag
}

/** Without its usage dashboard. */
export const newFlag = (project: Project, createdBy: User, content: FlagContent, now: Instant): Omit<Flag, 'id'> => ({
  ...content,
  projectId: project.id,
  createdBy,
  usageDashboardId: 0,
  version: 1,
  updatedAt: now,
  lastModifiedBy: createdBy,
  activeSince: now,
})
