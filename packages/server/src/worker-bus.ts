/** Other processes of this installation on the same machine, told at once when something was committed. A lost word costs latency only. */
export interface WorkerBus {
  /** What this process is called among them; undefined when it is alone. */
  readonly ownName: string | undefined
  broadcastChanges(): void
  onChanges(listener: () => void): void
  /** Says something to the same part of every other process: plain JSON, and seldom. */
  tell(part: string, word: unknown): void
  onTold(part: string, listener: (word: unknown) => void): void
}

/** A process by itself. */
export const noWorkerBus: WorkerBus = {
  ownName: undefined,
  broadcastChanges() {},
  onChanges() {},
  tell() {},
  onTold() {},
}
