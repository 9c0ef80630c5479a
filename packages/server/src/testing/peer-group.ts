import type { Peers } from '../peers.ts'

/** Processes that hear each other at once. */
export function peerGroup(size: number): readonly Peers[] {
  const listeners = Array.from({ length: size }, () => new Map<string, (word: unknown) => void>())
  return listeners.map((own, index) => ({
    ownName: String(index),
    tellOfChanges() {},
    onChangesTold() {},
    tell(part, word) {
      // As between processes: what arrives is a copy.
      for (const other of listeners) if (other !== own) other.get(part)?.(JSON.parse(JSON.stringify(word)))
    },
    onTold: (part, listener) => void own.set(part, listener),
  }))
}
