import { type Kysely, sql } from 'kysely'
import type { Instant } from '../../../instant.ts'
import type { Tables } from '../../../storage/tables.generated.ts'
import type { PluginMetricsRow, PluginMetricsTotal } from './plugin-work.ts'

/** Calls, failures and costs of plugins, by hour. */
export function sqlPluginMetricsStore(db: Kysely<Tables>) {
  const sums = <K extends 'config_id' | 'plugin_id'>(key: K) =>
    db
      .selectFrom('plugin_metrics')
      .innerJoin('plugin_configs', 'plugin_configs.id', 'plugin_metrics.config_id')
      .select(({ fn, ref }) => [
        (key === 'config_id' ? ref('plugin_metrics.config_id') : ref('plugin_configs.plugin_id')).as('id'),
        fn.sum<number>('plugin_metrics.calls').as('calls'),
        fn.sum<number>('plugin_metrics.failures').as('failures'),
        fn.sum<number>('plugin_metrics.dropped_events').as('dropped'),
        fn.sum<number>('plugin_metrics.cpu_ms').as('cpu'),
        fn.max('plugin_metrics.memory_bytes').as('memory'),
      ])
      .groupBy(key === 'config_id' ? 'plugin_metrics.config_id' : 'plugin_configs.plugin_id')

  return {
    async add(rows: readonly PluginMetricsRow[]): Promise<void> {
      for (const row of rows) {
        await sql`
          insert into plugin_metrics (config_id, hour, calls, failures, dropped_events, cpu_ms, memory_bytes)
          select id, ${row.hour}, ${row.calls}, ${row.failures}, ${row.droppedEvents}, ${row.cpuMs}, ${row.memoryBytes}
          from plugin_configs where id = ${row.configId}
          on conflict (config_id, hour) do update set
            calls = plugin_metrics.calls + excluded.calls,
            failures = plugin_metrics.failures + excluded.failures,
            dropped_events = plugin_metrics.dropped_events + excluded.dropped_events,
            cpu_ms = plugin_metrics.cpu_ms + excluded.cpu_ms,
            memory_bytes = excluded.memory_bytes`.execute(db)
      }
    },
    async sum(configIds: readonly number[], since: Instant): Promise<ReadonlyMap<number, PluginMetricsTotal>> {
      if (configIds.length === 0) return new Map()
      const rows = await sums('config_id')
        .where('plugin_metrics.config_id', 'in', configIds)
        .where('plugin_metrics.hour', '>=', since)
        .execute()
      return new Map(rows.map(toTotal))
    },
    /** Hour by hour, hours without a call left out. */
    async list(configId: number, since: Instant): Promise<readonly PluginMetricsRow[]> {
      const rows = await db
        .selectFrom('plugin_metrics')
        .selectAll()
        .where('config_id', '=', configId)
        .where('hour', '>=', since)
        .orderBy('hour')
        .execute()
      return rows.map(row => ({
        configId: row.config_id,
        hour: row.hour,
        calls: Number(row.calls),
        failures: Number(row.failures),
        droppedEvents: Number(row.dropped_events),
        cpuMs: Number(row.cpu_ms),
        memoryBytes: Number(row.memory_bytes),
      }))
    },
    async sumByPlugin(pluginIds: readonly number[], since: Instant): Promise<ReadonlyMap<number, PluginMetricsTotal>> {
      if (pluginIds.length === 0) return new Map()
      const rows = await sums('plugin_id')
        .where('plugin_configs.plugin_id', 'in', pluginIds)
        .where('plugin_metrics.hour', '>=', since)
        .execute()
      return new Map(rows.map(toTotal))
    },
  }
}

const toTotal = (row: {
  id: number
  calls: number
  failures: number
  dropped: number
  cpu: number
  memory: number
}): [number, PluginMetricsTotal] => [
  Number(row.id),
  {
    calls: Number(row.calls),
    failures: Number(row.failures),
    droppedEvents: Number(row.dropped),
    cpuMs: Number(row.cpu),
    memoryBytes: Number(row.memory),
  },
]
