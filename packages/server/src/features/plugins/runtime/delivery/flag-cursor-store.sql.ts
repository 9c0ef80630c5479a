import { type Kysely, sql } from 'kysely'
import { StaleWrite } from '../../../../storage/save-row.ts'
import type { Tables } from '../../../../storage/tables.generated.ts'
import type { UndeliveredFlag } from '../plugin-work.ts'

/** Up to which version the changes of each flag were delivered to plugins. */
export function sqlFlagCursorStore(db: Kysely<Tables>) {
  return {
    /** From now on, changes of the project's flags are delivered; earlier ones are not. */
    async start(projectId: number): Promise<void> {
      await sql`
        insert into plugin_flag_cursors (flag_id, version)
        select id, version from flags where project_id = ${projectId}
        on conflict (flag_id) do update set version = excluded.version`.execute(db)
    },
    /** Flags with versions that are not delivered yet. */
    async listUndelivered(projectId: number, limit: number): Promise<readonly UndeliveredFlag[]> {
      const rows = await db
        .selectFrom('flags')
        .leftJoin('plugin_flag_cursors', 'plugin_flag_cursors.flag_id', 'flags.id')
        .select(['flags.id', 'flags.version', 'plugin_flag_cursors.version as delivered'])
        .where('flags.project_id', '=', projectId)
        .where(sql<boolean>`flags.version > coalesce(plugin_flag_cursors.version, 0)`)
        .orderBy('flags.updated_at')
        .orderBy('flags.id')
        .limit(limit)
        .execute()
      return rows.map(row => ({ flagId: row.id, version: row.version, deliveredVersion: row.delivered ?? 0 }))
    },
    /** Marks versions up to this one as delivered. Raises StaleWrite when another node has done so meanwhile. */
    async markDelivered({ flagId, deliveredVersion }: UndeliveredFlag, version: number): Promise<void> {
      const moved = await db
        .updateTable('plugin_flag_cursors')
        .set({ version })
        .where('flag_id', '=', flagId)
        .where('version', '=', deliveredVersion)
        .executeTakeFirst()
      if (moved.numUpdatedRows > 0n) return
      const added = await db
        .insertInto('plugin_flag_cursors')
        .values({ flag_id: flagId, version })
        .onConflict(conflict => conflict.column('flag_id').doNothing())
        .executeTakeFirst()
      if ((added.numInsertedOrUpdatedRows ?? 0n) === 0n) throw new StaleWrite()
    },
  }
}
