import type { Flag } from './flag.ts'

/**
 * Flags that this node has just written. Whoever hears of the change asks for the flag, and need not read back what was known a moment
 * ago: a version is written once, so a flag that still has the version which was written here is what was written here.
 */
export interface CommittedFlags {
  /** Only after the commit: another writer may use the version number of a transaction that was rolled back. */
  keep(written: CommittedFlag): void
  has(flagId: number): boolean
  /** What was written, when that was this version. Asked for once: then it is forgotten. */
  take(flagId: number, version: number): Flag | undefined
}

export interface CommittedFlag {
  readonly id: number
  readonly version: number
  /** About how long it is. */
  readonly characters: number
  read(): Flag
}

const flagsMax = 1000
/** Larger ones are read back: they are few, and a thousand of them would take much memory. */
const charactersMax = 4096

export function createCommittedFlags(): CommittedFlags {
  const flags = new Map<number, CommittedFlag>()
  return {
    keep(written) {
      // In a project that nobody evaluates, nobody asks for them.
      if (flags.size >= flagsMax) flags.clear()
      if (written.characters <= charactersMax) flags.set(written.id, written)
      else flags.delete(written.id)
    },
    has: flagId => flags.has(flagId),
    take(flagId, version) {
      const written = flags.get(flagId)
      flags.delete(flagId)
      return written?.version === version ? written.read() : undefined
    },
  }
}
