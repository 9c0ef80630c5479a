import { type Kysely, type Selectable, sql } from 'kysely'
import type { Instant } from '../../../../instant.ts'
import type { PageOf, Window } from '../../../../pagination.ts'
import { readPage } from '../../../../storage/read-page.ts'
import type { Tables } from '../../../../storage/tables.generated.ts'
import { contains } from '../../../../storage/text-search.ts'
import { type LogFilter, type LogType, logLinesKept, type NewPluginLog, type PluginLog } from '../plugin-work.ts'

export function sqlPluginLogStore(db: Kysely<Tables>) {
  return {
    /** Lines of deleted configurations are skipped. */
    async append(logs: readonly NewPluginLog[]): Promise<void> {
      const ids = [...new Set(logs.map(log => log.configId))]
      if (ids.length === 0) return
      const rows = await db.selectFrom('plugin_configs').select('id').where('id', 'in', ids).execute()
      const there = new Set(rows.map(row => row.id))
      const kept = logs.filter(log => there.has(log.configId)).map(fromLog)
      if (kept.length > 0) await db.insertInto('plugin_logs').values(kept).execute()
    },
    /** Newest first. */
    list(configId: number, filter: LogFilter, window: Window): Promise<PageOf<PluginLog>> {
      const matching = db.selectFrom('plugin_logs').selectAll().where(matchingLogs(configId, filter))
      return readPage(matching.orderBy('id', 'desc'), window, toLog)
    },
    /** Deletes old lines, and all but the newest of a configuration that logs too much. */
    async prune(before: Instant): Promise<void> {
      await db.deleteFrom('plugin_logs').where('logged_at', '<', before).execute()
      const crowded = await db
        .selectFrom('plugin_logs')
        .select('config_id')
        .groupBy('config_id')
        .having(({ fn }) => fn.countAll(), '>', logLinesKept)
        .execute()
      for (const { config_id } of crowded) {
        const oldest = await db
          .selectFrom('plugin_logs')
          .select('id')
          .where('config_id', '=', config_id)
          .orderBy('id', 'desc')
          .offset(logLinesKept)
          .limit(1)
          .executeTakeFirst()
        if (oldest) {
          await db.deleteFrom('plugin_logs').where('config_id', '=', config_id).where('id', '<=', oldest.id).execute()
        }
      }
    },
  }
}

const matchingLogs = (configId: number, filter: LogFilter) => () => {
  const conditions = [sql<boolean>`config_id = ${configId}`]
  if (filter.before !== undefined) conditions.push(sql`logged_at < ${filter.before}`)
  if (filter.after !== undefined) conditions.push(sql`logged_at > ${filter.after}`)
  if (filter.types) conditions.push(sql`type in (${sql.join(filter.types)})`)
  if (filter.search) {
    conditions.push(contains('message', filter.search))
  }
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

const toLog = (row: Selectable<Tables['plugin_logs']>): PluginLog => ({
  id: row.id,
  configId: row.config_id,
  loggedAt: row.logged_at,
  source: row.source as NewPluginLog['source'],
  type: row.type as LogType,
  message: row.message,
  instanceId: row.instance_id,
})

const fromLog = (log: NewPluginLog) => ({
  config_id: log.configId,
  logged_at: log.loggedAt,
  source: log.source,
  type: log.type,
  message: log.message,
  instance_id: log.instanceId,
})
