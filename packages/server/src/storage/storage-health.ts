import type { OutageKind } from './driver-error.ts'

/** What an operator has to know about writes; for `/_readyz` and metrics. */
export interface StorageHealth {
  /** Why the last write failed; undefined when it succeeded. */
  readonly lastWriteFailure: OutageKind | undefined
  /** Failed writes since start, by kind. */
  readonly writeFailures: Readonly<Record<OutageKind, number>>
  /** Commits whose changes this node could not read back at once. They are applied by the next poll. */
  readonly delayedChanges: number
}

export interface StorageHealthRecorder extends StorageHealth {
  writeSucceeded(): void
  writeFailed(kind: OutageKind): void
  changesDelayed(): void
}

export function createStorageHealth(): StorageHealthRecorder {
  let lastWriteFailure: OutageKind | undefined
  let delayedChanges = 0
  const writeFailures = { timeout: 0, disk_full: 0, unavailable: 0 }
  return {
    get lastWriteFailure() {
      return lastWriteFailure
    },
    get delayedChanges() {
      return delayedChanges
    },
    writeFailures,
    writeSucceeded() {
      lastWriteFailure = undefined
    },
    writeFailed(kind) {
      lastWriteFailure = kind
      writeFailures[kind] += 1
    },
    changesDelayed() {
      delayedChanges += 1
    },
  }
}
