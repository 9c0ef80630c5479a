import { bucketOfPacked, type Salt, unitOf } from './bucket.ts'
import { blockCount, layWords, messageLength, type PackedIdentifier } from './pack.ts'
import { groupWords, type Lanes, messagesStart } from './sha1-lanes.ts'

/** Where a computed bucket goes. */
export type Deliver = (slot: number, bucket: number) => void

/** Messages that wait to be hashed together. Each number of blocks has a queue of its own. */
export interface HashBatch {
  /** Puts a message in line for a slot. Long ones are hashed and delivered at once. The prefix is packed in `prefixes` from `from` on. */
  add(
    prefixes: Int32Array,
    from: number,
    prefixLength: number,
    identifier: PackedIdentifier,
    salt: Salt,
    slot: number,
    deliver: Deliver,
  ): void
  /** Hashes what is in line. */
  flush(deliver: Deliver): void
  /** Forgets what is in line. */
  discard(): void
}

/** Undefined where hashing four at a time is not to be had. */
export function openBatch(lanes: Lanes | undefined): HashBatch | undefined {
  if (lanes === undefined) return undefined
  const single = new Queue(lanes, messagesStart, 128, 1)
  const double = new Queue(lanes, messagesStart + 128 * groupWords, 59, 2)
  return {
    add(prefixes, from, prefixLength, identifier, salt, slot, deliver) {
      const blocks = blockCount(messageLength(prefixLength, identifier, salt))
      if (blocks > 2) {
        deliver(slot, bucketOfPacked(prefixes, from, prefixLength, identifier, salt))
        return
      }
      const queue = blocks === 1 ? single : double
      const at = queue.reserve(slot, deliver)
      layWords(prefixes, from, prefixLength, identifier, salt, blocks, lanes.memory, at, 4)
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

  /** The place for the words of a message. */
  reserve(slot: number, deliver: Deliver): number {
    if (this.#count === this.#slots.length) this.flush(deliver)
    this.#slots[this.#count] = slot
    return this.#wordOf(this.#count++)
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
