import { type Insertable, type Kysely, type Selectable, sql } from 'kysely'
import type { ActivityEntry, ActivityFilter, ActivityScope, NewActivity } from '../../domain/activity.ts'
import { dateOf, type Instant, instantOf } from '../../instant.ts'
import type { PageOf, Window } from '../../pagination.ts'
import { insertRows } from '../../storage/bulk-rows.ts'
import { pipelinedWrite } from '../../storage/prepared-query.ts'
import { countRows, readPage } from '../../storage/read-page.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import { unindexed } from '../../storage/unindexed.ts'
import { embeddedUser, type OptionalUser, readOptionalUser } from '../identity/embedded-user.sql.ts'
import { enqueueEvent, enqueueEvents } from '../webhooks/enqueue-event.sql.ts'
import { type ActivityCounts, noneSettled, type SettledCount } from './activity-counts.ts'

/** Number of entries counted by each query before the count is cached. */
const newerMax = 500
/** No transaction takes longer, so all entries that precede one of this age are committed. */
const settledSeconds = 300

const insertEntry = pipelinedWrite((db, row: Insertable<Tables['activity']>) => db.insertInto('activity').values(row))

/** Append-only, apart from `removeBefore`. What is appended is also passed to `onAppend`, for the audit log. */
export function sqlActivityStore(
  db: Kysely<Tables>,
  counts: ActivityCounts,
  onAppend: (entries: readonly NewActivity[]) => void,
) {
  function matching(filter: ActivityFilter) {
    const isAboutItems = filter.itemId !== undefined || filter.items !== undefined
    // For single items, the index on the item is more selective than the ones on tenant and scope.
    const tenant = <T>(column: string) => (isAboutItems ? unindexed<T>(column) : sql.ref<T>(column))
    const scope = filter.items ? unindexed<string>('activity.scope') : sql.ref<string>('activity.scope')
    let query = db.selectFrom('activity').where(scope, 'in', filter.scopes)
    // A project determines its organization, which the index on the project does not include.
    if (filter.projectId === undefined)
      query = query.where(tenant<string>('activity.organization_id'), '=', filter.organizationId)
    else query = query.where(tenant<number>('activity.project_id'), '=', filter.projectId)
    if (filter.itemId !== undefined) query = query.where('activity.item_id', '=', filter.itemId)
    if (filter.items) {
      const { items } = filter
      query = query.where(({ or, and }) =>
        or(items.map(({ scope, itemId }) => and({ 'activity.scope': scope, 'activity.item_id': itemId }))),
      )
    }
    if (filter.userId !== undefined) query = query.where('activity.user_id', '=', filter.userId)
    if (filter.activity !== undefined) query = query.where('activity.activity', '=', filter.activity)
    if (filter.entryId !== undefined) query = query.where('activity.id', '=', filter.entryId)
    if (filter.from !== undefined) query = query.where('activity.created_at', '>=', filter.from)
    if (filter.to !== undefined) query = query.where('activity.created_at', '<', filter.to)
    return query
  }

  const oldest = async (): Promise<number> =>
    (
      await db
        .selectFrom('activity')
        .select(({ fn }) => fn.min('id').as('id'))
        .executeTakeFirst()
    )?.id ?? 0

  /** Only the oldest entries are ever removed; while they exist, only those after the cached count have to be counted. */
  async function count(filter: ActivityFilter): Promise<number> {
    const key = JSON.stringify(filter)
    // Before anything is counted: a removal in between makes the next call count again.
    const from = await oldest()
    const cached = counts.find(key)
    const settled = cached.from === from ? cached : { ...noneSettled, from }
    const newer = await countRows(matching(filter).where('activity.id', '>', settled.upTo))
    if (newer > newerMax) await settle(filter, key, settled)
    return settled.count + newer
  }

  async function settle(filter: ActivityFilter, key: string, settled: SettledCount): Promise<void> {
    const newer = matching(filter).where('activity.id', '>', settled.upTo)
    const latest = newer.select(['activity.id', 'activity.created_at']).orderBy('activity.id', 'desc').limit(1)
    const newest = await latest.executeTakeFirstOrThrow()
    const before = instantOf(new Date(dateOf(newest.created_at).getTime() - settledSeconds * 1000))
    const last = await latest.where('activity.created_at', '<', before).executeTakeFirst()
    if (!last) return
    const count = settled.count + (await countRows(newer.where('activity.id', '<=', last.id)))
    counts.store(key, { from: settled.from, upTo: last.id, count })
  }

  return {
    async append(entry: NewActivity): Promise<void> {
      onAppend([entry])
      await insertEntry(db, fromEntry(entry))
      await enqueueEvent(db, entry)
    },
    async appendAll(entries: readonly NewActivity[]): Promise<void> {
      onAppend(entries)
      await insertRows(db, 'activity', entries.map(fromEntry))
      await enqueueEvents(db, entries)
    },
    /** Removes the oldest entries, at most so many, and returns how many. */
    async removeBefore(before: Instant, limit: number): Promise<number> {
      const rows = await db.selectFrom('activity').select(['id', 'created_at']).orderBy('id').limit(limit).execute()
      const last = rows.findLast(row => row.created_at < before)
      if (!last) return 0
      const removed = await db
        .deleteFrom('activity')
        .where('id', '<=', last.id)
        .where('created_at', '<', before)
        .executeTakeFirst()
      return Number(removed.numDeletedRows)
    },
    /** Newest first. */
    list(filter: ActivityFilter, window: Window): Promise<PageOf<ActivityEntry>> {
      const query = matching(filter)
        .leftJoin('users as author', 'author.id', 'activity.user_id')
        .selectAll('activity')
        .select(embeddedUser('author'))
        .orderBy('activity.id', 'desc')
      return readPage(query, window, toEntry, () => count(filter))
    },
  }
}

const fromEntry = (entry: NewActivity): Insertable<Tables['activity']> => ({
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

const toEntry = (row: Selectable<Tables['activity']> & OptionalUser<'author'>): ActivityEntry => ({
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
