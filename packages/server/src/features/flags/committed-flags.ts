import { InvalidatedCache } from '../../concurrency/invalidated-cache.ts'
import type { Flag } from './flag.ts'

/**
 * Flags that this node has just written. Listeners of the change feed look the flag up, and need not read back what was known a moment
 * ago: a version is written once, so a flag that still has the version which was written here is what was written here.
 */
export interface CommittedFlags {
  /** Only after the commit: another writer may use the version number of a transaction that was rolled back. */
  keep(written: CommittedFlag): void
  has(flagId: number): boolean
  /** What was written, when that was this version. Removes it: it is looked up once. */
  take(flagId: number, version: number): Flag | undefined
  /** After a failover another node may have written another flag under the same version. */
  clear(): void
}

export interface CommittedFlag {
  readonly id: number
  readonly version: number
  /** About how long it is. */
  readonly characters: number
  read(): Flag
}

const flagsMax = 1000
/** Larger ones are read back: they are rare, and a thousand of them would take much memory. */
const charactersMax = 4096

export function createCommittedFlags(): CommittedFlags {
  const flags = new InvalidatedCache<CommittedFlag>({ sizeMax: flagsMax })
  return {
    keep: written => flags.set(String(written.id), written.characters <= charactersMax ? written : undefined),
    has: flagId => flags.peek(String(flagId)) !== undefined,
    take(flagId, version) {
      const written = flags.peek(String(flagId))
      flags.delete(String(flagId))
      return written?.version === version ? written.read() : undefined
    },
    clear: () => flags.clear(),
  }
}
