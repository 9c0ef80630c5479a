import type { Flag } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { createUsageDashboard } from '../flags/create-usage-dashboard.ts'
import { appendFlagActivity, recordFlag } from '../flags/record-flag.ts'
import type { Dashboard } from './dashboard.ts'

/**
 * Returns the flag with its usage dashboard, creating a new one if it was deleted. The dashboard shows views and interactions if
 * requested or if the flag has enriched analytics. Idempotent.
 */
export async function ensureUsageDashboard(
  tx: Stores,
  actor: Actor,
  project: Project,
  flag: Flag,
  { isEnriched }: { readonly isEnriched: boolean },
  now: Instant,
): Promise<{ readonly flag: Flag; readonly dashboard: Dashboard }> {
  const existing = await tx.dashboards.find(project.id, flag.usageDashboardId)
  const { flag: updated, dashboard } =
    existing && !existing.isDeleted
      ? { flag, dashboard: existing }
      : await replaceDashboard(tx, actor, project, flag, now)
  if (dashboard.isEnriched || !(isEnriched || flag.hasEnrichedAnalytics)) return { flag: updated, dashboard }
  await tx.dashboards.update(dashboard.id, { isEnriched: true })
  const changes = [{ action: 'changed', field: 'usage_dashboard_enriched', before: false, after: true }] as const
  await appendFlagActivity(tx, actor, project, flag, { activity: 'updated', changes }, now)
  return { flag: updated, dashboard: { ...dashboard, isEnriched: true } }
}

async function replaceDashboard(tx: Stores, actor: Actor, project: Project, flag: Flag, now: Instant) {
  const created = await createUsageDashboard(tx, { ...flag, createdBy: actor.user }, now)
  await tx.dashboards.setFlag(created.id, flag.id)
  const updated: Flag = {
    ...flag,
    usageDashboardId: created.id,
    version: flag.version + 1,
    updatedAt: now,
    lastModifiedBy: actor.user,
  }
  await tx.flags.saveDashboards(updated)
  const change = {
    action: 'changed',
    field: 'usage_dashboard',
    before: flag.usageDashboardId,
    after: created.id,
  } as const
  await recordFlag(tx, actor, project, updated, { activity: 'updated', changes: [change] }, now)
  return { flag: updated, dashboard: { ...created, flagId: flag.id } }
}
