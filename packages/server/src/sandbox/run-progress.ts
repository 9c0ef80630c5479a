/**
 * Two shared words through which a worker shows what it is doing even while it cannot answer messages: a counter
 * that is odd while guest code runs, and the realm whose code that is. The watchdog compares the counter with what
 * it saw before, so the two threads need no common clock.
 */
const turnsWord = 0
const realmWord = 1

export interface Progress {
  readonly buffer: SharedArrayBuffer
  enter(realm: number): void
  leave(): void
  /** The realm whose code is running and the number of its turn, or undefined between turns. */
  running(): { realm: number; turn: number } | undefined
}

export function createProgress(buffer = new SharedArrayBuffer(8)): Progress {
  const words = new Int32Array(buffer)
  return {
    buffer,
    enter(realm) {
      Atomics.store(words, realmWord, realm)
      Atomics.add(words, turnsWord, 1)
    },
    leave() {
      Atomics.add(words, turnsWord, 1)
    },
    running() {
      const turn = Atomics.load(words, turnsWord)
      return turn % 2 === 0 ? undefined : { realm: Atomics.load(words, realmWord), turn }
    },
  }
}
