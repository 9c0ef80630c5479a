import { bucketOf, bucketOfPacked, PLAIN, type Salt, VARIANT } from './bucket.ts'
import { type HashBatch, openBatch } from './hash-batch.ts'
import { PackedIdentifier, type PackedPrefix } from './pack.ts'
import { sharedLanes } from './sha1-lanes.ts'

/** The packed prefixes of flags, by the position of the flag. */
export interface Prefixes {
  readonly prefixes: Int32Array
  /** Where a prefix begins. */
  readonly prefixStarts: Int32Array
  /** In bytes. */
  readonly prefixLengths: Int32Array
}

/** One batch serves all runs, one at a time. It is opened by the first; null stands for one that cannot be had. */
let sharedBatch: HashBatch | null | undefined
let isBatchTaken = false

/**
 * The buckets of one subject, two for each flag, each computed once.
 *
 * While `gathering`, a bucket that is not known is put in line instead, to be hashed together with others: the answer is
 * NaN and `awaited` is set, and the flag has to be decided again after `hashGathered`.
 */
export class Buckets {
  awaited = false
  readonly #known: Float64Array
  readonly #slots: Int32Array
  #slotCount = 0
  #batch: HashBatch | undefined
  /** What is packed. */
  #identifier: string | undefined
  readonly #packed = new PackedIdentifier()

  constructor(flagCount: number) {
    this.#known = new Float64Array(flagCount * 2).fill(Number.NaN)
    this.#slots = new Int32Array(flagCount * 2)
  }

  /** Begins to gather, unless it cannot be done or an evaluation around this one is at it. */
  gather(): boolean {
    if (sharedBatch === undefined) sharedBatch = openBatch(sharedLanes()) ?? null
    if (sharedBatch === null || isBatchTaken) return false
    isBatchTaken = true
    this.#batch = sharedBatch
    return true
  }

  hashGathered(): void {
    this.#batch?.flush(this.#deliver)
  }

  stopGathering(): void {
    this.#batch?.discard()
    this.#batch = undefined
    isBatchTaken = false
    this.awaited = false
  }

  rollout(position: number, prefix: PackedPrefix, identifier: string): number {
    return this.#bucket(position * 2, prefix, identifier, PLAIN)
  }

  variant(position: number, prefix: PackedPrefix, identifier: string): number {
    return this.#bucket(position * 2 + 1, prefix, identifier, VARIANT)
  }

  /** The same for a flag that is laid flat, but a bucket that is put in line is only told by NaN. */
  rolloutOrWait(position: number, flat: Prefixes, identifier: string): number {
    const known = this.#known[position * 2]!
    return Number.isNaN(known) ? this.#wait(position, flat, identifier, PLAIN) : known
  }

  variantOrWait(position: number, flat: Prefixes, identifier: string): number {
    const known = this.#known[position * 2 + 1]!
    return Number.isNaN(known) ? this.#wait(position, flat, identifier, VARIANT) : known
  }

  #wait(position: number, { prefixes, prefixStarts, prefixLengths }: Prefixes, identifier: string, salt: Salt): number {
    const slot = position * 2 + salt
    const packed = this.#pack(identifier)
    const from = prefixStarts[position]!
    const length = prefixLengths[position]!
    if (this.#batch === undefined) this.#deliver(slot, bucketOfPacked(prefixes, from, length, packed, salt))
    else this.#batch.add(prefixes, from, length, packed, salt, slot, this.#deliver)
    // A long message has been hashed at once.
    return this.#known[slot]!
  }

  #bucket(slot: number, prefix: PackedPrefix, identifier: string, salt: Salt): number {
    const known = this.#known[slot]!
    if (!Number.isNaN(known)) return known
    if (this.#batch === undefined) {
      this.#deliver(slot, bucketOf(prefix, identifier, salt))
      return this.#known[slot]!
    }
    if (!this.awaited)
      this.#batch.add(prefix.words, 0, prefix.length, this.#pack(identifier), salt, slot, this.#deliver)
    this.awaited = true
    return Number.NaN
  }

  /** Nearly all flags are about the same identifier. */
  #pack(identifier: string): PackedIdentifier {
    if (identifier !== this.#identifier) {
      this.#packed.open(identifier)
      this.#identifier = identifier
    }
    return this.#packed
  }

  readonly #deliver = (slot: number, bucket: number): void => {
    this.#known[slot] = bucket
    this.#slots[this.#slotCount++] = slot
  }

  /** Forgets everything. */
  clear(): void {
    for (let index = 0; index < this.#slotCount; index++) this.#known[this.#slots[index]!] = Number.NaN
    this.#slotCount = 0
    this.#identifier = undefined
  }
}
