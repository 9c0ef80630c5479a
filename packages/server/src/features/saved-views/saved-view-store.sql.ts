import type { Kysely, Selectable } from 'kysely'
import { invalid } from '../../problem.ts'
import { uniqueViolation } from '../../storage/driver-error.ts'
import { countRows } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { favoritesPerUserMax, type SavedView, viewsPerUserMax } from './saved-view.ts'

/** What users keep about the flag list of a project. */
export function sqlSavedViewStore(db: Kysely<Tables>) {
  const countOf = (table: 'saved_views' | 'favorite_flags', projectId: number, userId: number) =>
    countRows(db.selectFrom(table).where('project_id', '=', projectId).where('user_id', '=', userId))

  return {
    /** The user's own and the shared ones, by name. */
    async list(projectId: number, userId: number): Promise<readonly SavedView[]> {
      const rows = await db
        .selectFrom('saved_views')
        .selectAll()
        .where('project_id', '=', projectId)
        .where(({ or, eb }) => or([eb('user_id', '=', userId), eb('is_shared', '=', 1)]))
        .orderBy('name')
        .orderBy('id')
        .execute()
      return rows.map(toView)
    },
    async find(projectId: number, id: number): Promise<SavedView | undefined> {
      const row = await db
        .selectFrom('saved_views')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row && toView(row)
    },
    /** Raises `invalid` when the user has a view of this name, or too many. */
    async create(projectId: number, view: Omit<SavedView, 'id'>): Promise<SavedView> {
      if ((await countOf('saved_views', projectId, view.userId)) >= viewsPerUserMax) {
        throw invalid(null, 'limit_reached', `You can save at most ${viewsPerUserMax} views in a project.`)
      }
      try {
        const { id } = await db
          .insertInto('saved_views')
          .values({
            project_id: projectId,
            user_id: view.userId,
            name: view.name,
            query: view.query,
            is_shared: Number(view.isShared),
            created_at: view.createdAt,
          })
          .returning('id')
          .executeTakeFirstOrThrow()
        return { ...view, id }
      } catch (error) {
        if (uniqueViolation(error) === undefined) throw error
        throw invalid('name', 'unique', 'You have a view with this name already.')
      }
    },
    async remove(projectId: number, id: number): Promise<void> {
      await db.deleteFrom('saved_views').where('project_id', '=', projectId).where('id', '=', id).execute()
    },
    async listFavorites(projectId: number, userId: number): Promise<readonly number[]> {
      const rows = await db
        .selectFrom('favorite_flags')
        .select('flag_id')
        .where('project_id', '=', projectId)
        .where('user_id', '=', userId)
        .orderBy('flag_id')
        .execute()
      return rows.map(row => row.flag_id)
    },
    /** Raises `invalid` when the user has too many. */
    async addFavorite(projectId: number, userId: number, flagId: number): Promise<void> {
      if ((await countOf('favorite_flags', projectId, userId)) >= favoritesPerUserMax) {
        throw invalid(null, 'limit_reached', `You can have at most ${favoritesPerUserMax} favorites in a project.`)
      }
      await db
        .insertInto('favorite_flags')
        .values({ project_id: projectId, user_id: userId, flag_id: flagId })
        .onConflict(conflict => conflict.doNothing())
        .execute()
    },
    async removeFavorite(projectId: number, userId: number, flagId: number): Promise<void> {
      await db
        .deleteFrom('favorite_flags')
        .where('project_id', '=', projectId)
        .where('user_id', '=', userId)
        .where('flag_id', '=', flagId)
        .execute()
    },
  }
}

const toView = (row: Selectable<Tables['saved_views']>): SavedView => ({
  id: row.id,
  userId: row.user_id,
  name: row.name,
  query: row.query,
  isShared: row.is_shared === 1,
  createdAt: row.created_at,
})
