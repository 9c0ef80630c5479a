import type { Kysely, Selectable } from 'kysely'
import { embeddedUser, type OptionalUser, readOptionalUser } from '../identity/embedded-user.sql.ts'
import { readPage } from '../storage/read-page.ts'
import type { ActivityRow, Tables } from '../storage/tables.ts'
import type { ActivityEntry, ActivityScope } from './activity.ts'
import type { ActivityStore } from './activity-store.ts'

export function sqlActivityStore(db: Kysely<Tables>): ActivityStore {
  return {
    async append(entry) {
      await db
        .insertInto('activity')
        .values({
          organization_id: entry.organizationId,
          project_id: entry.projectId,
          scope: entry.scope,
          item_id: entry.itemId,
          activity: entry.activity,
          user_id: entry.user?.id ?? null,
          key_label: entry.keyLabel,
          detail: JSON.stringify(entry.detail),
          created_at: entry.createdAt,
        })
        .execute()
    },
    list(filter, window) {
      let query = db
        .selectFrom('activity')
        .leftJoin('users as author', 'author.id', 'activity.user_id')
        .selectAll('activity')
        .select(embeddedUser('author'))
        .orderBy('activity.id', 'desc')
        .where('activity.organization_id', '=', filter.organizationId)
        .where('activity.scope', 'in', filter.scopes)
      if (filter.projectId !== undefined) query = query.where('activity.project_id', '=', filter.projectId)
      if (filter.itemId !== undefined) query = query.where('activity.item_id', '=', filter.itemId)
      if (filter.items) {
        const { items } = filter
        query = query.where(({ or, and }) =>
          or(items.map(({ scope, itemId }) => and({ 'activity.scope': scope, 'activity.item_id': itemId }))),
        )
      }
      if (filter.userId !== undefined) query = query.where('activity.user_id', '=', filter.userId)
      if (filter.from !== undefined) query = query.where('activity.created_at', '>=', filter.from)
      if (filter.to !== undefined) query = query.where('activity.created_at', '<', filter.to)
      return readPage(query, window, toEntry)
    },
  }
}

const toEntry = (row: Selectable<ActivityRow> & OptionalUser<'author'>): ActivityEntry => ({
  id: row.id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  scope: row.scope as ActivityScope,
  itemId: row.item_id,
  activity: row.activity,
  user: readOptionalUser(row, 'author'),
  keyLabel: row.key_label,
  detail: JSON.parse(row.detail),
  createdAt: row.created_at,
})
