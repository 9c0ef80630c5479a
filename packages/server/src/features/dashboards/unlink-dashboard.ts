import type { Flag } from '../../domain/flag.ts'
import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { recordFlag } from '../flags/record-flag.ts'

/** Removes a deleted dashboard from the analytics dashboards of every flag of the project. */
export async function unlinkDashboard(
  tx: Stores,
  actor: Actor,
  project: Project,
  dashboardId: number,
  now: Instant,
): Promise<void> {
  for (const flag of await tx.flags.listByAnalyticsDashboard(project.id, dashboardId)) {
    const before = flag.analyticsDashboards
    const after = before.filter(id => id !== dashboardId)
    const updated: Flag = {
      ...flag,
      analyticsDashboards: after,
      version: flag.version + 1,
      updatedAt: now,
      lastModifiedBy: actor.user,
    }
    await tx.flags.saveDashboards(updated)
    const change = { action: 'changed', field: 'analytics_dashboards', before, after } as const
    await recordFlag(tx, actor, project, updated, { activity: 'updated', changes: [change] }, now)
  }
}
