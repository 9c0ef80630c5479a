import type { OutageKind } from './driver-error.ts'

/** What an operator has to know about writes; for `/_readyz` and metrics. */
export interface StorageHealth {
  /** Why the last write failed; undefined when it succeeded. */
  readonly lastWriteFailure: OutageKind | undefined
  /** The last write failed because of the disk, and that was a moment ago: later, the next write has to find out. */
  readonly diskFault: DiskFault | undefined
  /** Failed writes since start, by kind. */
  readonly writeFailures: Readonly<Record<OutageKind, number>>
  /** Commits whose changes this node could not read back at once. They are applied by the next poll. */
  readonly delayedChanges: number
}

export type DiskFault = 'full' | 'failing' | 'read-only'

export interface StorageHealthRecorder extends StorageHealth {
  writeSucceeded(): void
  writeFailed(kind: OutageKind): void
  changesDelayed(): void
}

/** A node that is not ready gets no writes that could show that there is space again. */
const diskFaultMilliseconds = 30_000

const diskFaults: Readonly<Partial<Record<OutageKind, DiskFault>>> = {
  disk_full: 'full',
  disk_error: 'failing',
  read_only: 'read-only',
}

export function createStorageHealth(): StorageHealthRecorder {
  let failedAt = 0
  let lastWriteFailure: OutageKind | undefined
  let delayedChanges = 0
  const writeFailures = { timeout: 0, disk_full: 0, disk_error: 0, read_only: 0, unavailable: 0 }
  return {
    get lastWriteFailure() {
      return lastWriteFailure
    },
    get diskFault() {
      const isRecent = performance.now() - failedAt < diskFaultMilliseconds
      return lastWriteFailure !== undefined && isRecent ? diskFaults[lastWriteFailure] : undefined
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
      failedAt = performance.now()
      writeFailures[kind] += 1
    },
    changesDelayed() {
      delayedChanges += 1
    },
  }
}
