import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import type { Flag } from '../flags/flag.ts'
import { appendFlagActivity, recordFlag } from '../flags/record-flag.ts'
import { createUsageDashboard } from './create-usage-dashboard.ts'
import type { Dashboard } from './dashboard-store.ts'

/**
 * The flag with its usage dashboard: the one it has, or a new one in place of one that was deleted. It shows views and interactions
 * when that is wanted or when the flag is known to have them. Doing it again changes nothing.
 */
export async function ensureUsageDashboard(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag,
  { isEnriched }: { readonly isEnriched: boolean },
  now: Instant,
): Promise<{ readonly flag: Flag; readonly dashboard: Dashboard }> {
  const known = await tx.dashboards.find(project.id, flag.usageDashboardId)
  const { flag: pointed, dashboard } =
    known && !known.isDeleted ? { flag, dashboard: known } : await renewDashboard(tx, actor, project, flag, now)
  if (dashboard.isEnriched || !(isEnriched || flag.hasEnrichedAnalytics)) return { flag: pointed, dashboard }
  await tx.dashboards.update(dashboard.id, { isEnriched: true })
  const changes = [{ action: 'changed', field: 'usage_dashboard_enriched', before: false, after: true }] as const
  await appendFlagActivity(tx, actor, project, flag, { activity: 'updated', changes }, now)
  return { flag: pointed, dashboard: { ...dashboard, isEnriched: true } }
}

async function renewDashboard(tx: Stores, actor: Actor, project: Project, flag: Flag, now: Instant) {
  const made = await createUsageDashboard(tx, { ...flag, createdBy: actor.user }, now)
  await tx.dashboards.setFlag(made.id, flag.id)
  const pointed: Flag = {
    ...flag,
    usageDashboardId: made.id,
    version: flag.version + 1,
    updatedAt: now,
    lastModifiedBy: actor.user,
  }
  await tx.flags.save(pointed)
  const change = { action: 'changed', field: 'usage_dashboard', before: flag.usageDashboardId, after: made.id } as const
  await recordFlag(tx, actor, project, pointed, { activity: 'updated', changes: [change] }, now)
  return { flag: pointed, dashboard: { ...made, flagId: flag.id } }
}
