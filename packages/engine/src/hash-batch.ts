import { bucketOfPacked, type Salt, unitOf } from './bucket.ts'
import {
  blockCount,
  identifierWords,
  layWords,
  messageLength,
  type PackedIdentifier,
  type PackedPrefix,
} from './pack.ts'
import { groupWords, type Lanes, messagesStart, openLanes } from './sha1-lanes.ts'

/** Where a computed bucket goes. */
export type Deliver = (slot: number, bucket: number) => void

/** Messages that wait to be hashed together. Each number of blocks has a queue of its own. */
export interface HashBatch {
  /** Puts a message in line for a slot. Long ones are hashed and delivered at once. */
  add(prefix: PackedPrefix, identifier: PackedIdentifier, salt: Salt, slot: number, deliver: Deliver): void
  /** Hashes what is in line. */
  flush(deliver: Deliver): void
  /** Forgets what is in line. */
  discard(): void
}

/** Undefined where hashing four at a time is not to be had. */
export function openBatch(lanes: Lanes | undefined = openLanes()): HashBatch | undefined {
  if (lanes === undefined) return undefined
  const single = new Queue(lanes, messagesStart, 128, 1)
  const double = new Queue(lanes, messagesStart + 128 * groupWords, 60, 2)
  return {
    add(prefix, identifier, salt, slot, deliver) {
      const length = messageLength(prefix, identifier, salt)
      const blocks = blockCount(length)
      if (blocks > 2) {
        deliver(slot, bucketOfPacked(prefix, identifier, salt))
        return
      }
      const queue = blocks === 1 ? single : double
      queue.add(prefix, identifierWords(identifier, prefix, salt), length * 8, slot, deliver)
    },
    flush(deliver) {
      single.flush(deliver)
      double.flush(deliver)
    },
    discard() {
      single.discard()
      double.discard()
    },
  }
}

class Queue {
  readonly #lanes: Lanes
  readonly #start: number
  readonly #blocks: number
  readonly #slots: Int32Array
  #count = 0

  constructor(lanes: Lanes, start: number, groupsMax: number, blocks: number) {
    this.#lanes = lanes
    this.#start = start
    this.#blocks = blocks
    this.#slots = new Int32Array(groupsMax * 4)
  }

  add(prefix: PackedPrefix, following: Int32Array, lengthBits: number, slot: number, deliver: Deliver): void {
    if (this.#count === this.#slots.length) this.flush(deliver)
    layWords(prefix, following, lengthBits, this.#blocks, this.#lanes.memory, this.#wordOf(this.#count), 4)
    this.#slots[this.#count++] = slot
  }

  flush(deliver: Deliver): void {
    if (this.#count === 0) return
    this.#lanes.hash(this.#start, (this.#count + 3) >> 2, this.#blocks)
    const { memory } = this.#lanes
    for (let index = 0; index < this.#count; index++) {
      const at = this.#wordOf(index)
      deliver(this.#slots[index]!, unitOf(memory[at]!, memory[at + 4]!))
    }
    this.discard()
  }

  discard(): void {
    this.#count = 0
  }

  #wordOf(index: number): number {
    return this.#start + (index >> 2) * groupWords * this.#blocks + (index & 3)
  }
}
