import { bucketInPlainJavaScript, gatheringStart } from './bucket.ts'
import { blockCount, PLAIN, type Salt, saltLengths, VARIANT } from './bucket-text.ts'
import {
  bagsMax,
  decideFlat,
  type FlatFlags,
  ROLLOUT_AWAITED,
  UNDECIDED,
  VARIANT_AWAITED,
  variantOutcome,
} from './flat-flags.ts'
import { HashLine, lineWords } from './hash-line.ts'
import { identifierWords, PackedIdentifier } from './packed-identifier.ts'
import type { Run } from './run.ts'
import { type Lanes, sharedLanes } from './sha1-lanes.ts'

/**
 * Decides flat flags. Where a hash decides, a flag waits in line until there are enough others to be hashed together with: first for
 * its rollout, then for its variant.
 */
export class Gathering {
  /** The flags that have to be decided in another way, known after `finish`. */
  readonly undecided: number[] = []
  /** By bag. */
  readonly #identifiers: readonly PackedIdentifier[]
  /** For messages of one block and of two. */
  readonly #rollouts: Pair
  readonly #variants: Pair
  /** Which of the identifiers are those of this subject. */
  readonly #isOpen = new Uint8Array(bagsMax)
  /** The first word of memory that is free. */
  readonly end: number

  constructor(lanes: Lanes) {
    let free = gatheringStart
    const take = (words: number): number => {
      free += words
      return free - words
    }
    const line = (blocks: number) => new HashLine(lanes, take(lineWords(blocks)), blocks)
    this.#identifiers = Array.from({ length: bagsMax }, () => new PackedIdentifier(lanes.memory, take(identifierWords)))
    this.#rollouts = [line(1), line(2)]
    this.#variants = [line(1), line(2)]
    this.end = free
  }

  /** Puts the outcome of a flag into the run, at once or by `finish`. */
  decide(run: Run, flat: FlatFlags, position: number): void {
    this.#settle(run, flat, position, decideFlat(run, flat, position, Number.NaN))
  }

  /** Decides all flags that still wait. */
  finish(run: Run, flat: FlatFlags): void {
    for (const line of this.#rollouts) this.#decideRollouts(run, flat, line)
    for (const line of this.#variants) this.#decideVariants(run, flat, line)
  }

  /** Forgets everything. */
  clear(): void {
    this.undecided.length = 0
    this.#isOpen.fill(0)
    for (const line of [...this.#rollouts, ...this.#variants]) line.count = 0
  }

  #settle(run: Run, flat: FlatFlags, position: number, decided: number): void {
    if (decided >= 0) run.outcomes[position] = decided
    else if (decided === ROLLOUT_AWAITED) this.#awaitRollout(run, flat, position)
    else if (decided === UNDECIDED) this.undecided.push(position)
    else this.#awaitVariant(run, flat, position, VARIANT_AWAITED - decided)
  }

  #awaitRollout(run: Run, flat: FlatFlags, position: number): void {
    const line = this.#join(this.#rollouts, run, flat, position, PLAIN, 0)
    if (line === undefined) {
      const bucket = longBucket(run, flat, position, PLAIN)
      this.#settle(run, flat, position, decideFlat(run, flat, position, bucket))
    } else if (line.isFull) this.#decideRollouts(run, flat, line)
  }

  #awaitVariant(run: Run, flat: FlatFlags, position: number, base: number): void {
    const line = this.#join(this.#variants, run, flat, position, VARIANT, base)
    if (line === undefined) {
      run.outcomes[position] = variantOutcome(flat, position, base, longBucket(run, flat, position, VARIANT))
    } else if (line.isFull) this.#decideVariants(run, flat, line)
  }

  #decideRollouts(run: Run, flat: FlatFlags, line: HashLine): void {
    line.hash()
    for (let place = 0; place < line.count; place++) {
      const position = line.positions[place]!
      this.#settle(run, flat, position, decideFlat(run, flat, position, line.bucketAt(place)))
    }
    line.count = 0
  }

  #decideVariants(run: Run, flat: FlatFlags, line: HashLine): void {
    line.hash()
    for (let place = 0; place < line.count; place++) {
      const position = line.positions[place]!
      run.outcomes[position] = variantOutcome(flat, position, line.notes[place]!, line.bucketAt(place))
    }
    line.count = 0
  }

  /** Undefined when the message is too long for either line. */
  #join(lines: Pair, run: Run, flat: FlatFlags, position: number, salt: Salt, note: number): HashLine | undefined {
    const bag = flat.bags[position]!
    const identifier = this.#identifiers[bag]!
    if (this.#isOpen[bag] === 0) {
      this.#isOpen[bag] = 1
      identifier.open(run.identifierOf(bag))
    }
    const prefixLength = flat.prefixLengths[position]!
    const length = prefixLength + identifier.length + saltLengths[salt]
    const blocks = blockCount(length)
    if (blocks > 2) return undefined
    const line = lines[blocks - 1]!
    const tail = identifier.tailAfter(prefixLength, salt)
    line.add(position, note, flat.prefixes, flat.prefixStarts[position]!, prefixLength, tail, length)
    return line
  }
}

type Pair = readonly [HashLine, HashLine]

function longBucket(run: Run, flat: FlatFlags, position: number, salt: Salt): number {
  const { prefixes, prefixStarts, prefixLengths } = flat
  const identifier = run.identifierOf(flat.bags[position]!)
  return bucketInPlainJavaScript(prefixes, prefixStarts[position]!, prefixLengths[position]!, identifier, salt)
}

/** One serves all runs, one at a time. Null stands for one that cannot be had. */
let shared: Gathering | null | undefined
let isTaken = false

/** Undefined where hashing four at a time is not to be had, or when an evaluation around this one is at it. */
export function takeGathering(): Gathering | undefined {
  if (shared === undefined) {
    const lanes = sharedLanes()
    shared = lanes === undefined ? null : new Gathering(lanes)
  }
  if (shared === null || isTaken) return undefined
  isTaken = true
  return shared
}

export function giveGathering(gathering: Gathering): void {
  gathering.clear()
  isTaken = false
}
