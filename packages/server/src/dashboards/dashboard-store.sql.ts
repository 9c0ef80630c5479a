import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import type { DashboardStore } from './dashboard-store.ts'

export function sqlDashboardStore(db: Kysely<Tables>): DashboardStore {
  return {
    async create(dashboard) {
      const { id } = await db
        .insertInto('dashboards')
        .values({
          project_id: dashboard.projectId,
          name: dashboard.name,
          description: dashboard.description,
          pinned: Number(dashboard.isPinned),
          deleted: Number(dashboard.isDeleted),
          flag_id: dashboard.flagId,
          is_enriched: Number(dashboard.isEnriched),
          created_by_id: dashboard.createdBy.id,
          created_at: dashboard.createdAt,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...dashboard, id }
    },
    async setFlag(dashboardId, flagId) {
      await db.updateTable('dashboards').set({ flag_id: flagId }).where('id', '=', dashboardId).execute()
    },
    async existing(projectId, ids) {
      if (ids.length === 0) return new Set()
      const rows = await db
        .selectFrom('dashboards')
        .select('id')
        .where('project_id', '=', projectId)
        .where('deleted', '=', 0)
        .where('id', 'in', ids)
        .execute()
      return new Set(rows.map(row => row.id))
    },
  }
}
