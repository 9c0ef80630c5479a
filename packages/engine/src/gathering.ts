import { bucketAlone } from './bucket.ts'
import { blockCount, PLAIN, type Salt, saltLengths, VARIANT } from './bucket-text.ts'
import {
  answerBits,
  answerMask,
  bagsMax,
  beginningLength,
  beginningStart,
  beginningsWordsMax,
  DECIDED,
  DEPENDS,
  decideByProperties,
  decideRollout,
  type FlatFlags,
  ROLLOUT_AWAITED,
  UNDECIDED,
  variantOutcome,
} from './flat-flags.ts'
import { HashLine, lineWords } from './hash-line.ts'
import { identifierWords, PackedIdentifier } from './packed-identifier.ts'
import type { Run } from './run.ts'
import { beginningOverrun, freeStart, type Lanes, sharedLanes } from './sha1-lanes.ts'

/**
 * Decides flat flags. Where a hash decides, a flag waits in line until there are enough others to be hashed together with: first for
 * its rollout, then for its variant.
 */
export class Gathering {
  /** The flags that have to be decided in another way, known after `finish`. */
  readonly undecided: number[] = []
  /** By bag. */
  readonly #queues: readonly Queue[]
  readonly #memory: Int32Array
  /** Where the beginnings of messages are, and whose they are. */
  readonly #beginningsStart: number
  #beginnings: Int32Array | undefined
  /** The first word of memory that is free. */
  readonly end: number

  constructor(lanes: Lanes) {
    let free = freeStart
    const take = (words: number): number => {
      free += words
      return free - words
    }
    this.#memory = lanes.memory
    this.#queues = Array.from({ length: bagsMax }, () => openQueue(lanes, take))
    this.#beginningsStart = take(beginningsWordsMax + beginningOverrun)
    this.end = free
  }

  /** For the flags of one project. */
  begin({ beginnings }: FlatFlags): void {
    if (this.#beginnings === beginnings) return
    this.#beginnings = beginnings
    this.#memory.set(beginnings, this.#beginningsStart)
  }

  /** Puts the outcomes of the flags at the first places of the order into the run. */
  decide(run: Run, flat: FlatFlags, order: ArrayLike<number> | undefined, count: number): void {
    const { answers } = flat
    const { outcomes } = run
    for (let place = 0; place < count; place++) {
      const position = order === undefined ? place : order[place]!
      let answer = answers[position]!
      if (answer === DEPENDS) answer = decideByProperties(run, flat, position)
      if ((answer & answerMask) === DECIDED) outcomes[position] = answer >> answerBits
      else this.#await(run, flat, position, answer)
    }
    this.#finish(run, flat)
  }

  /** Decides all flags that still wait. */
  #finish(run: Run, flat: FlatFlags): void {
    for (let bag = 0; bag < bagsMax; bag++) {
      const { isOpen, lines } = this.#queues[bag]!
      if (!isOpen) continue
      for (const line of lines[PLAIN]) this.#decideRollouts(run, flat, line)
      for (const line of lines[VARIANT]) this.#decideVariants(run, flat, line)
    }
  }

  /** Forgets everything but the beginnings. */
  clear(): void {
    this.undecided.length = 0
    for (const queue of this.#queues) {
      if (!queue.isOpen) continue
      queue.isOpen = false
      for (const line of [...queue.lines[PLAIN], ...queue.lines[VARIANT]]) line.count = 0
    }
  }

  /** Puts a flag in line for the hash that decides. */
  #await(run: Run, flat: FlatFlags, position: number, answer: number): void {
    const kind = answer & answerMask
    if (kind === UNDECIDED) {
      this.undecided.push(position)
      return
    }
    const salt = kind === ROLLOUT_AWAITED ? PLAIN : VARIANT
    const queue = this.#queueOf(run, flat.bags[position]!)
    const blocks = blockCount(beginningLength(flat, position) + queue.identifier.length + saltLengths[salt])
    const line = queue.lines[salt][blocks - 1]
    if (line === undefined) this.#decideLong(run, flat, position, answer)
    else if (line.add(position, answer >> answerBits)) this.#decideLine(run, flat, line, salt)
  }

  #queueOf(run: Run, bag: number): Queue {
    const queue = this.#queues[bag]!
    if (!queue.isOpen) {
      queue.isOpen = true
      queue.identifier.open(run.identifierOf(bag))
    }
    return queue
  }

  #decideLine(run: Run, flat: FlatFlags, line: HashLine, salt: Salt): void {
    if (salt === PLAIN) this.#decideRollouts(run, flat, line)
    else this.#decideVariants(run, flat, line)
  }

  #decideRollouts(run: Run, flat: FlatFlags, line: HashLine): void {
    const { count, positions, notes } = line
    const { outcomes } = run
    line.hash(this.#beginningsStart)
    for (let place = 0; place < count; place++) {
      const position = positions[place]!
      const answer = decideRollout(run, flat, position, notes[place]!, line.bucketAt(place))
      if ((answer & answerMask) === DECIDED) outcomes[position] = answer >> answerBits
      else this.#await(run, flat, position, answer)
    }
    line.count = 0
  }

  #decideVariants(run: Run, flat: FlatFlags, line: HashLine): void {
    const { count, positions, notes } = line
    const { outcomes } = run
    line.hash(this.#beginningsStart)
    for (let place = 0; place < count; place++) {
      const position = positions[place]!
      outcomes[position] = variantOutcome(flat, position, notes[place]!, line.bucketAt(place))
    }
    line.count = 0
  }

  /** One whose message is too long for a line is hashed by itself. */
  #decideLong(run: Run, flat: FlatFlags, position: number, answer: number): void {
    const value = answer >> answerBits
    if ((answer & answerMask) === ROLLOUT_AWAITED) {
      const next = decideRollout(run, flat, position, value, longBucket(run, flat, position, PLAIN))
      if ((next & answerMask) === DECIDED) run.outcomes[position] = next >> answerBits
      else this.#await(run, flat, position, next)
    } else {
      run.outcomes[position] = variantOutcome(flat, position, value, longBucket(run, flat, position, VARIANT))
    }
  }
}

/** Flags that wait for hashes of one identifier. */
interface Queue {
  readonly identifier: PackedIdentifier
  /** Whether the identifier is that of this subject. */
  isOpen: boolean
  /** By salt, for messages of one block and of two. */
  readonly lines: readonly [readonly HashLine[], readonly HashLine[]]
}

function openQueue(lanes: Lanes, take: (words: number) => number): Queue {
  const identifier = new PackedIdentifier(lanes.memory, take(identifierWords))
  const line = (salt: Salt, blocks: number) => new HashLine(lanes, take(lineWords), identifier, salt, blocks)
  const pair = (salt: Salt) => [line(salt, 1), line(salt, 2)]
  return { identifier, isOpen: false, lines: [pair(PLAIN), pair(VARIANT)] }
}

function longBucket(run: Run, flat: FlatFlags, position: number, salt: Salt): number {
  const identifier = run.identifierOf(flat.bags[position]!)
  const start = beginningStart(flat, position)
  return bucketAlone(flat.beginnings, start, beginningLength(flat, position), identifier, salt)
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
