import type { WorkerBus } from '../worker-bus.ts'

/** Worker buses that deliver messages to each other synchronously. */
export function workerBusGroup(size: number): readonly WorkerBus[] {
  const listeners = Array.from({ length: size }, () => new Map<string, (message: unknown) => void>())
  return listeners.map((own, index) => ({
    ownName: String(index),
    publishChanges: async () => true,
    onChanges() {},
    publish(topic, message) {
      // A copy, as between processes.
      for (const other of listeners) if (other !== own) other.get(topic)?.(JSON.parse(JSON.stringify(message)))
    },
    subscribe: (topic, listener) => void own.set(topic, listener),
    gatherMetrics: async () => undefined,
    onMetricsWanted() {},
  }))
}
