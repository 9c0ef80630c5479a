import type { Kysely } from 'kysely'
import type { Instant } from '../../instant.ts'
import type { Tables } from '../../storage/tables.generated.ts'

export function sqlSdkUsageStore(db: Kysely<Tables>) {
  return {
    /** Last seen first. */
    async list(projectId: number): Promise<readonly ConnectedSdk[]> {
      const rows = await db
        .selectFrom('sdk_usage')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('last_seen_at', 'desc')
        .orderBy('library')
        .orderBy('version')
        .execute()
      return rows.map(row => ({
        library: row.library,
        version: row.version,
        calls: Number(row.calls),
        firstSeenAt: row.first_seen_at,
        lastSeenAt: row.last_seen_at,
      }))
    },
    /** Adds to the counts. A project that was deleted meanwhile is skipped. */
    async add(
      projectId: number,
      calls: readonly Pick<ConnectedSdk, 'library' | 'version' | 'calls'>[],
      at: Instant,
    ): Promise<void> {
      if (calls.length === 0) return
      // A fixed lock order, so that two nodes cannot deadlock.
      const ordered = [...calls].sort((a, b) => (`${a.library} ${a.version}` < `${b.library} ${b.version}` ? -1 : 1))
      await db
        .insertInto('sdk_usage')
        .values(
          ordered.map(each => ({
            project_id: projectId,
            library: each.library,
            version: each.version,
            calls: each.calls,
            first_seen_at: at,
            last_seen_at: at,
          })),
        )
        .onConflict(conflict =>
          conflict.columns(['project_id', 'library', 'version']).doUpdateSet(({ eb, ref }) => ({
            calls: eb('sdk_usage.calls', '+', ref('excluded.calls')),
            last_seen_at: ref('excluded.last_seen_at'),
          })),
        )
        .execute()
    },
    async removeBefore(at: Instant): Promise<void> {
      await db.deleteFrom('sdk_usage').where('last_seen_at', '<', at).execute()
    },
  }
}

/** A library that evaluates flags or sends events. */
export interface ConnectedSdk {
  readonly library: string
  readonly version: string
  readonly calls: number
  readonly firstSeenAt: Instant
  readonly lastSeenAt: Instant
}
