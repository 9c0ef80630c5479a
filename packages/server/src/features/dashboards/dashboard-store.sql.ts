import type { Insertable, Kysely, Selectable } from 'kysely'
import type { PageOf, Window } from '../../pagination.ts'
import { insertRowsWithIds } from '../../storage/bulk-rows.ts'
import { pipelinedWrite, preparedInsert } from '../../storage/prepared-query.ts'
import { readPage } from '../../storage/read-page.ts'
import { updateSent } from '../../storage/save-row.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { contains } from '../../storage/text-search.ts'
import { unindexed } from '../../storage/unindexed.ts'
import { type EmbeddedUser, embeddedUser, readUser } from '../identity/embedded-user.sql.ts'
import type { Dashboard, DashboardPatch } from './dashboard.ts'

const insertDashboard = preparedInsert((db, row: Insertable<Tables['dashboards']>) =>
  db.insertInto('dashboards').values(row),
)

const setFlag = pipelinedWrite((db, { dashboardId, flagId }: { dashboardId: number; flagId: number }) =>
  db.updateTable('dashboards').set({ flag_id: flagId }).where('id', '=', dashboardId),
)

export function sqlDashboardStore(db: Kysely<Tables>) {
  const dashboards = () =>
    db
      .selectFrom('dashboards')
      .innerJoin('users as creator', 'creator.id', 'dashboards.created_by_id')
      .selectAll('dashboards')
      .select(embeddedUser('creator'))

  return {
    async create(dashboard: Omit<Dashboard, 'id'>): Promise<Dashboard> {
      return { ...dashboard, id: await insertDashboard(db, fromDashboard(dashboard)) }
    },
    async setFlag(dashboardId: number, flagId: number): Promise<void> {
      await setFlag(db, { dashboardId, flagId })
    },
    /** As `create` and `setFlag`, with a statement for many dashboards. */
    async createAll(created: readonly Omit<Dashboard, 'id'>[]): Promise<readonly Dashboard[]> {
      const ids = await insertRowsWithIds(db, 'dashboards', created.map(fromDashboard))
      return created.map((dashboard, index) => ({ ...dashboard, id: ids[index]! }))
    },
    async setFlags(projectId: number, flagIds: readonly number[]): Promise<void> {
      if (flagIds.length === 0) return
      // Other flags of the project between the ids name their own dashboards already.
      await db
        .updateTable('dashboards')
        .from('flags')
        .set(({ ref }) => ({ flag_id: ref('flags.id') }))
        .whereRef('dashboards.id', '=', 'flags.usage_dashboard_id')
        .where('flags.project_id', '=', projectId)
        .where('flags.id', '>=', flagIds[0]!)
        .where('flags.id', '<=', flagIds.at(-1)!)
        .execute()
    },
    /** Updates only the fields in the patch. */
    update: (dashboardId: number, patch: DashboardPatch): Promise<void> =>
      updateSent(db, 'dashboards', dashboardId, fromPatch(patch)),
    async find(projectId: number, dashboardId: number): Promise<Dashboard | undefined> {
      const row = await dashboards()
        .where('dashboards.project_id', '=', projectId)
        .where('dashboards.id', '=', dashboardId)
        .executeTakeFirst()
      return row && toDashboard(row)
    },
    /** Without deleted dashboards, ordered by name. */
    list(projectId: number, { search }: { readonly search?: string }, window: Window): Promise<PageOf<Dashboard>> {
      let live = dashboards().where('dashboards.project_id', '=', projectId).where('dashboards.deleted', '=', 0)
      if (search) live = live.where(contains('dashboards.name', search))
      return readPage(live.orderBy('dashboards.name').orderBy('dashboards.id'), window, toDashboard)
    },
    /** The subset of these ids that are dashboards of the project and not deleted. */
    async existing(projectId: number, ids: readonly number[]): Promise<ReadonlySet<number>> {
      if (ids.length === 0) return new Set()
      const rows = await db
        .selectFrom('dashboards')
        .select('id')
        .where('id', 'in', ids)
        .where(unindexed('project_id'), '=', projectId)
        .where('deleted', '=', 0)
        .execute()
      return new Set(rows.map(row => row.id))
    },
  }
}

const toDashboard = (row: Selectable<Tables['dashboards']> & EmbeddedUser<'creator'>): Dashboard => ({
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
  createdBy: readUser(row, 'creator'),
  createdAt: row.created_at,
})

const fromDashboard = (dashboard: Omit<Dashboard, 'id'>): Insertable<Tables['dashboards']> => ({
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

const fromPatch = (patch: DashboardPatch) => ({
  name: patch.name,
  description: patch.description,
  pinned: patch.isPinned === undefined ? undefined : Number(patch.isPinned),
  deleted: patch.isDeleted === undefined ? undefined : Number(patch.isDeleted),
  is_enriched: patch.isEnriched === undefined ? undefined : Number(patch.isEnriched),
  tags: patch.tags && JSON.stringify(patch.tags),
  tiles: patch.tiles && JSON.stringify(patch.tiles),
})
