/** The sibling workers of this process: other processes of this installation that share its port. */
export interface WorkerBus {
  /** What this worker is called among them; undefined without siblings. */
  readonly ownName: string | undefined
  /**
   * Wakes the siblings after a commit. Resolves to true when all of them have applied the changes, and to false after
   * `applyMillisecondsMax`: a sibling that is late then reads the changes at its next wake-up.
   */
  publishChanges(): Promise<boolean>
  /** The listener resolves when this worker has applied the changes. */
  onChanges(listener: () => Promise<void>): void
  /** Sends a JSON value to the same topic of every sibling, without waiting. A lost message costs accuracy only. */
  publish(topic: string, message: unknown): void
  subscribe(topic: string, listener: (message: unknown) => void): void
  /** The metrics of every worker, own ones included; undefined without siblings. Rejects when they cannot be had in time. */
  gatherMetrics(): Promise<readonly unknown[] | undefined>
  /** How to collect the metrics of this worker. */
  onMetricsWanted(collect: () => Promise<unknown>): void
}

/** How long the response to a write waits for sibling workers. */
export const applyMillisecondsMax = 2000

/** For a process without siblings. */
export const noWorkerBus: WorkerBus = {
  ownName: undefined,
  publishChanges: async () => true,
  onChanges() {},
  publish() {},
  subscribe() {},
  gatherMetrics: async () => undefined,
  onMetricsWanted() {},
}
