import { unitOf } from './bucket.ts'
import { type Lanes, layRecord, recordWords } from './sha1-lanes.ts'

const lengthMax = 64

export const lineWords = (blocks: number): number => lengthMax * recordWords(blocks)

/** Flags that wait for a hash, to be computed together. All messages have the same number of blocks. */
export class HashLine {
  /** The flags, by their place in line. */
  readonly positions = new Int32Array(lengthMax)
  /** What is to be known about them when the hash is there. */
  readonly notes = new Int32Array(lengthMax)
  count = 0
  readonly #lanes: Lanes
  readonly #start: number
  readonly #blocks: number
  readonly #recordWords: number

  constructor(lanes: Lanes, start: number, blocks: number) {
    this.#lanes = lanes
    this.#start = start
    this.#blocks = blocks
    this.#recordWords = recordWords(blocks)
  }

  get isFull(): boolean {
    return this.count === lengthMax
  }

  /** The prefix of the flag is packed in `prefixes` from `from` on, what follows it at `tail`. */
  add(
    position: number,
    note: number,
    prefixes: Int32Array,
    from: number,
    prefixLength: number,
    tail: number,
    length: number,
  ): void {
    const place = this.count++
    this.positions[place] = position
    this.notes[place] = note
    const at = this.#start + place * this.#recordWords
    layRecord(this.#lanes.memory, at, prefixes, from, prefixLength, tail, length)
  }

  hash(): void {
    if (this.count > 0) this.#lanes.hash(this.#start, this.count, this.#blocks)
  }

  /** After `hash`. */
  bucketAt(place: number): number {
    const at = this.#start + (place & ~3) * this.#recordWords + (place & 3)
    const { memory } = this.#lanes
    return unitOf(memory[at]!, memory[at + 4]!)
  }
}
