import { PLAIN, type Salt, saltLengths, VARIANT } from '../hash/bucket-message.ts'
import { identifierWords, PackedIdentifier } from '../hash/packed-identifier.ts'
import { beginningOverrun } from '../hash/sha1-simd.ts'
import { type FlagWalk, openWalk } from './flag-walk.ts'
import { bagsMax, type FlatFlags } from './flat-flags.ts'
import type { Run } from './run.ts'
import { bagsStart, line, linesOfBag, linesStart, lineWords, memoryWords, NOBODY, walkEnd } from './walk-memory.ts'

/** Where the flags of a project are in memory, and room for what is found out about them. In words. */
interface Place {
  readonly records: number
  readonly truths: number
  readonly outcomes: number
  readonly undecided: number
}

const nobody: readonly number[] = []

/** Decides flat flags of all projects, for one run at a time. Flags stay in memory until it is full; then they are put there again. */
class Gathering {
  readonly #walk: FlagWalk
  readonly #identifiers: readonly PackedIdentifier[]
  readonly #projectsStart: number
  #places = new WeakMap<FlatFlags, Place>()
  #free: number

  constructor(walk: FlagWalk) {
    const { memory } = walk
    this.#walk = walk
    const identifierAt = (bag: number): number => walkEnd + bag * identifierWords
    this.#identifiers = Array.from({ length: bagsMax }, (_, bag) => new PackedIdentifier(memory, identifierAt(bag)))
    this.#projectsStart = identifierAt(bagsMax)
    this.#free = this.#projectsStart
    for (let bag = 0; bag < bagsMax; bag++) this.#describeLines(bag)
  }

  #describeLines(bag: number): void {
    const { memory } = this.#walk
    for (const salt of [PLAIN, VARIANT] as const) {
      for (const blocks of [1, 2]) {
        const start = lineOf(bag, salt, blocks)
        memory[start + line.blocks] = blocks
        memory[start + line.salt] = salt
        memory[start + line.tails] = this.#identifiers[bag]!.placeOf(salt) * 4
      }
    }
  }

  /** Puts outcomes into the run. Gives the positions of the flags that are left; undefined when there is no room for so many flags. */
  decide(run: Run, flat: FlatFlags): readonly number[] | undefined {
    const place = this.#placeOf(flat)
    if (place === undefined) return undefined
    for (let bag = 0; bag < flat.bagCount; bag++) this.#open(run, bag)
    const { records, truths, outcomes, undecided } = place
    const end = this.#walk.decide(
      records * 4,
      (records + flat.words.length) * 4,
      truths * 4,
      flat.filterCount,
      outcomes * 4,
      undecided * 4,
    )
    const { memory } = this.#walk
    for (let position = 0; position < flat.flagCount; position++) run.outcomes[position] = memory[outcomes + position]!
    return end === undecided * 4 ? nobody : Array.from(memory.subarray(undecided, end / 4))
  }

  /** The identifier that flags about persons, or about one type of groups, are hashed with. */
  #open(run: Run, bag: number): void {
    const { memory } = this.#walk
    if (run.bags[bag] === undefined) {
      memory[bagsStart + bag] = NOBODY
      return
    }
    const identifier = this.#identifiers[bag]!
    identifier.open(run.identifierOf(bag))
    memory[bagsStart + bag] = identifier.length
    for (const salt of [PLAIN, VARIANT] as const) {
      const tailLength = identifier.length + saltLengths[salt]
      memory[lineOf(bag, salt, 1) + line.tailLength] = tailLength
      memory[lineOf(bag, salt, 2) + line.tailLength] = tailLength
    }
  }

  #placeOf(flat: FlatFlags): Place | undefined {
    return this.#places.get(flat) ?? this.#put(flat)
  }

  #put(flat: FlatFlags): Place | undefined {
    const truthWords = (flat.filterCount + 3) >> 2
    const needed = flat.words.length + beginningOverrun + truthWords + 2 * flat.flagCount
    if (needed > memoryWords - this.#projectsStart) return undefined
    if (this.#free + needed > memoryWords) {
      this.#free = this.#projectsStart
      this.#places = new WeakMap()
    }
    const records = this.#free
    const truths = records + flat.words.length + beginningOverrun
    const outcomes = truths + truthWords
    const place = { records, truths, outcomes, undecided: outcomes + flat.flagCount }
    const { memory } = this.#walk
    memory.set(flat.words, records)
    // Flags that have but one outcome are not walked through.
    memory.fill(0, outcomes, outcomes + flat.flagCount)
    this.#free += needed
    this.#places.set(flat, place)
    return place
  }
}

const lineOf = (bag: number, salt: Salt, blocks: number): number =>
  linesStart + (bag * linesOfBag + salt * 2 + blocks - 1) * lineWords

/** One serves all runs, one at a time. Null stands for one that cannot be had. */
let shared: Gathering | null | undefined
let current: Run | undefined

function openGathering(): Gathering | null {
  const walk = openWalk(id => current!.decide(id))
  return walk === undefined ? null : new Gathering(walk)
}

/**
 * Decides flat flags, into `run.outcomes`, and gives the positions of those that have to be decided in another way. Undefined where that is not to be had, or when an
 * evaluation around this one is at it.
 */
export function decideTogether(run: Run, flat: FlatFlags): readonly number[] | undefined {
  if (shared === undefined) shared = openGathering()
  if (shared === null || current !== undefined) return undefined
  current = run
  try {
    return shared.decide(run, flat)
  } finally {
    current = undefined
  }
}
