import { unitOf } from './bucket.ts'
import { type Salt, saltLengths } from './bucket-text.ts'
import type { PackedIdentifier } from './packed-identifier.ts'
import { joinMax, type Lanes, messagesStart } from './sha1-lanes.ts'

/** The words of memory that a line takes: for the flags, and for the two words of each result. */
export const lineWords = joinMax * 3

/** Flags that wait for a hash, to be computed together: of one identifier, with one salt, in messages of as many blocks. */
export class HashLine {
  /** The flags, by their place in line. */
  readonly positions: Int32Array
  /** What is to be known about them when the hash is there. */
  readonly notes = new Int32Array(joinMax)
  count = 0
  readonly #lanes: Lanes
  readonly #start: number
  readonly #identifier: PackedIdentifier
  readonly #salt: Salt
  readonly #blocks: number

  constructor(lanes: Lanes, start: number, identifier: PackedIdentifier, salt: Salt, blocks: number) {
    this.positions = lanes.memory.subarray(start, start + joinMax)
    this.#lanes = lanes
    this.#start = start
    this.#identifier = identifier
    this.#salt = salt
    this.#blocks = blocks
  }

  /** Answers whether the line is full now. */
  add(position: number, note: number): boolean {
    const place = this.count++
    this.positions[place] = position
    this.notes[place] = note
    return place === joinMax - 1
  }

  /** With the table of what the flags' messages begin with. Afterwards the results are there. */
  hash(beginnings: number): void {
    const { count } = this
    if (count === 0) return
    const tailLength = this.#identifier.length + saltLengths[this.#salt]
    this.#lanes.join(this.#start, count, this.#blocks, beginnings, this.#identifier.tails(this.#salt), tailLength)
    this.#lanes.hash(messagesStart, count, this.#blocks, this.#start + joinMax)
  }

  /** After `hash`. */
  bucketAt(place: number): number {
    const at = this.#start + joinMax + (place & ~3) * 2 + (place & 3)
    const { memory } = this.#lanes
    return unitOf(memory[at]!, memory[at + 4]!)
  }
}
