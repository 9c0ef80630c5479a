import { type Kysely, type Selectable, sql } from 'kysely'
import { toUser } from '../identity/identity-store.sql.ts'
import type { DashboardRow, Tables } from '../storage/tables.ts'
import type { Dashboard, DashboardPatch, DashboardStore } from './dashboard-store.ts'

export function sqlDashboardStore(db: Kysely<Tables>): DashboardStore {
  const dashboards = () =>
    db
      .selectFrom('dashboards')
      .innerJoin('users', 'users.id', 'dashboards.created_by_id')
      .selectAll('dashboards')
      .select(['users.uuid', 'users.distinct_id', 'users.first_name', 'users.email', 'users.is_email_verified'])

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
          tags: JSON.stringify(dashboard.tags),
          tiles: JSON.stringify(dashboard.tiles),
        })
        .returning('id')
        .executeTakeFirstOrThrow()
      return { ...dashboard, id }
    },
    async setFlag(dashboardId, flagId) {
      await db.updateTable('dashboards').set({ flag_id: flagId }).where('id', '=', dashboardId).execute()
    },
    async update(dashboardId, patch) {
      const columns = fromPatch(patch)
      if (Object.keys(columns).length === 0) return
      await db.updateTable('dashboards').set(columns).where('id', '=', dashboardId).execute()
    },
    async find(projectId, dashboardId) {
      const row = await dashboards()
        .where('dashboards.project_id', '=', projectId)
        .where('dashboards.id', '=', dashboardId)
        .executeTakeFirst()
      return row && toDashboard(row)
    },
    async list(projectId, { search }, window) {
      const part = search && `%${search.toLowerCase().replace(/[\\%_]/g, found => `\\${found}`)}%`
      let live = db.selectFrom('dashboards').where('project_id', '=', projectId).where('dashboards.deleted', '=', 0)
      if (part) live = live.where(sql<boolean>`lower(dashboards.name) like ${part} escape '\\'`)
      const count = await live.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      const rows = await dashboards()
        .where('dashboards.id', 'in', live.select('dashboards.id'))
        .orderBy('dashboards.name')
        .orderBy('dashboards.id')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      return { count: Number(count.n), items: rows.map(toDashboard) }
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

type DashboardJoin = Selectable<DashboardRow> & { [K in 'uuid' | 'distinct_id' | 'first_name' | 'email']: string } & {
  is_email_verified: number
}

const toDashboard = (row: DashboardJoin): Dashboard => ({
  id: row.id,
  projectId: row.project_id,
  name: row.name,
  description: row.description,
  isPinned: row.pinned === 1,
  isDeleted: row.deleted === 1,
  flagId: row.flag_id,
  isEnriched: row.is_enriched === 1,
  tags: JSON.parse(row.tags),
  tiles: JSON.parse(row.tiles),
  createdBy: toUser({ ...row, id: row.created_by_id }),
  createdAt: row.created_at,
})

function fromPatch(patch: DashboardPatch): Partial<Selectable<DashboardRow>> {
  const columns = {
    name: patch.name,
    description: patch.description,
    pinned: patch.isPinned === undefined ? undefined : Number(patch.isPinned),
    deleted: patch.isDeleted === undefined ? undefined : Number(patch.isDeleted),
    is_enriched: patch.isEnriched === undefined ? undefined : Number(patch.isEnriched),
    tags: patch.tags && JSON.stringify(patch.tags),
    tiles: patch.tiles && JSON.stringify(patch.tiles),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}
