import type { Kysely } from 'kysely'
import { toUser } from '../identity/identity-store.sql.ts'
import type { Tables } from '../storage/tables.ts'
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
    async list(filter, window) {
      let query = db
        .selectFrom('activity')
        .leftJoin('users', 'users.id', 'activity.user_id')
        .where('activity.organization_id', '=', filter.organizationId)
        .where('activity.scope', 'in', filter.scopes)
      if (filter.projectId !== undefined) query = query.where('activity.project_id', '=', filter.projectId)
      if (filter.itemId !== undefined) query = query.where('activity.item_id', '=', filter.itemId)
      if (filter.userId !== undefined) query = query.where('activity.user_id', '=', filter.userId)
      if (filter.from !== undefined) query = query.where('activity.created_at', '>=', filter.from)
      if (filter.to !== undefined) query = query.where('activity.created_at', '<', filter.to)
      const count = await query.select(({ fn }) => fn.countAll<number>().as('n')).executeTakeFirstOrThrow()
      const rows = await query
        .selectAll('activity')
        .select(['users.uuid', 'users.distinct_id', 'users.first_name', 'users.email', 'users.is_email_verified'])
        .orderBy('activity.id', 'desc')
        .limit(window.limit)
        .offset(window.offset)
        .execute()
      const items = rows.map(
        (row): ActivityEntry => ({
          id: row.id,
          organizationId: row.organization_id,
          projectId: row.project_id,
          scope: row.scope as ActivityScope,
          itemId: row.item_id,
          activity: row.activity,
          user:
            row.user_id === null
              ? null
              : toUser({
                  id: row.user_id,
                  uuid: row.uuid ?? '',
                  distinct_id: row.distinct_id ?? '',
                  first_name: row.first_name ?? '',
                  email: row.email ?? '',
                  is_email_verified: row.is_email_verified ?? 0,
                }),
          keyLabel: row.key_label,
          detail: JSON.parse(row.detail),
          createdAt: row.created_at,
        }),
      )
      return { count: Number(count.n), items }
    },
  }
}
