import type { PackedPrefix } from './message.ts'

/** Words per row. */
export const rowWords = 16

/** A prefix that is hashed in a batch, and where its bucket goes. */
export interface BatchMember {
  readonly prefix: PackedPrefix
  readonly position: number
}

/**
 * Prefixes that are hashed with the same identifier and salt, packed into consecutive rows in the form that the SIMD
 * kernel reads. They are sorted by length, so that messages with equal numbers of blocks are next to each other.
 */
export class HashBatch {
  readonly members: readonly BatchMember[]
  readonly positions: Int32Array
  /** In bytes. */
  readonly lengths: Int32Array
  /** Prefixes of 64 bytes and more have no row; they are the last. */
  readonly rows: Int32Array

  constructor(members: readonly BatchMember[]) {
    this.members = members.toSorted((left, right) => left.prefix.length - right.prefix.length)
    this.positions = Int32Array.from(this.members, ({ position }) => position)
    this.lengths = Int32Array.from(this.members, ({ prefix }) => prefix.length)
    this.rows = new Int32Array(members.length * rowWords)
    for (const [index, { prefix }] of this.members.entries()) {
      if (prefix.words.length <= rowWords) this.rows.set(prefix.words, index * rowWords)
    }
  }

  /** How many members have prefixes of at most this length. */
  countUpTo(length: number): number {
    const { lengths } = this
    let low = 0
    let high = lengths.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (lengths[middle]! <= length) low = middle + 1
      else high = middle
    }
    return low
  }
}
