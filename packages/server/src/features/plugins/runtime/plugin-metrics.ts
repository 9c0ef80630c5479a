import { Counter, Gauge, type Registry } from 'prom-client'
import type { PluginCounters } from './plugin-meter.ts'

export function createPluginCounters(registry: Registry): PluginCounters {
  const registers = [registry]
  const calls = new Counter({
    name: 'halyard_plugin_calls_total',
    help: 'Calls of plugin code by plugin, method and outcome.',
    labelNames: ['plugin', 'method', 'outcome'],
    registers,
  })
  const time = new Counter({
    name: 'halyard_plugin_cpu_seconds_total',
    help: 'How long plugin code ran.',
    labelNames: ['plugin'],
    registers,
  })
  const memory = new Gauge({
    name: 'halyard_plugin_memory_bytes',
    help: 'What the realm of a plugin held when it was last measured.',
    labelNames: ['plugin'],
    registers,
  })
  const dropped = new Counter({
    name: 'halyard_plugin_dropped_events_total',
    help: 'Events that a plugin dropped or was too slow to receive.',
    labelNames: ['plugin'],
    registers,
  })
  return {
    call(plugin, method, outcome, cpuSeconds) {
      calls.inc({ plugin, method, outcome })
      time.inc({ plugin }, cpuSeconds)
    },
    memory: (plugin, bytes) => memory.set({ plugin }, bytes),
    drop: plugin => dropped.inc({ plugin }),
  }
}
