import { type Instant, instantOf } from '../../../instant.ts'
import type { Database } from '../../../stores.ts'
import { noMetrics, type PluginMetricsRow } from './plugin-work.ts'

/** Counts what plugins do: for Prometheus at once, for the database in batches. */
export interface PluginMeter {
  called(of: Measured, method: string, outcome: 'ok' | 'failed', cpuMs: number, memoryBytes: number): void
  dropped(of: Measured): void
  flush(): Promise<void>
}

export interface Measured {
  readonly configId: number
  readonly pluginId: number
  readonly pluginName: string
}

/** The counters of this process. */
export interface PluginCounters {
  call(plugin: string, method: string, outcome: string, cpuSeconds: number): void
  memory(plugin: string, bytes: number): void
  drop(plugin: string): void
}

export function createPluginMeter(database: Database, counters: PluginCounters, now = () => new Date()): PluginMeter {
  let waiting = new Map<string, PluginMetricsRow>()

  function add(configId: number, more: Partial<PluginMetricsRow>): void {
    const hour = hourOf(now())
    const key = `${configId} ${hour}`
    const old = waiting.get(key) ?? { configId, hour, ...noMetrics }
    waiting.set(key, {
      ...old,
      calls: old.calls + (more.calls ?? 0),
      failures: old.failures + (more.failures ?? 0),
      droppedEvents: old.droppedEvents + (more.droppedEvents ?? 0),
      cpuMs: old.cpuMs + (more.cpuMs ?? 0),
      memoryBytes: more.memoryBytes ?? old.memoryBytes,
    })
  }

  return {
    called({ configId, pluginName }, method, outcome, cpuMs, memoryBytes) {
      add(configId, { calls: 1, failures: outcome === 'ok' ? 0 : 1, cpuMs, ...(memoryBytes > 0 && { memoryBytes }) })
      counters.call(pluginName, method, outcome, cpuMs / 1_000)
      if (memoryBytes > 0) counters.memory(pluginName, memoryBytes)
    },
    dropped({ configId, pluginName }) {
      add(configId, { droppedEvents: 1 })
      counters.drop(pluginName)
    },
    async flush() {
      const rows = [...waiting.values()]
      waiting = new Map()
      if (rows.length > 0) await database.transaction(tx => tx.pluginMetrics.add(rows))
    },
  }
}

const hourOf = (date: Date): Instant => instantOf(new Date(Math.floor(date.getTime() / 3_600_000) * 3_600_000))
