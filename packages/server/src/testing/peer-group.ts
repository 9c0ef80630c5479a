import type { WorkerBus } from '../worker-bus.ts'

/** Processes that hear each other at once. */
export function workerBusGroup(size: number): readonly WorkerBus[] {
  const listeners = Array.from({ length: size }, () => new Map<string, (word: unknown) => void>())
  return listeners.map((own, index) => ({
    ownName: String(index),
    broadcastChanges() {},
    onChanges() {},
    tell(part, word) {
      // As between processes: what arrives is a copy.
      for (const other of listeners) if (other !== own) other.get(part)?.(JSON.parse(JSON.stringify(word)))
    },
    onTold: (part, listener) => void own.set(part, listener),
  }))
}
