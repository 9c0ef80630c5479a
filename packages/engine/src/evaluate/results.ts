import type { CompiledFlag } from '../compile/compiler.ts'
import type { Project } from '../compile/project.ts'
import type { Outcome } from './outcome.ts'

/** The outcomes of one evaluation: a view of one index per flag. */
export class Results implements Iterable<readonly [CompiledFlag, Outcome]> {
  /** The steps that matching regular expressions has taken: instructions times characters. */
  readonly regexSteps: number
  readonly #project: Project
  readonly #outcomes: ArrayLike<number>
  /** The positions of the requested flags, ascending; undefined for all flags. */
  readonly #requested: readonly number[] | undefined

  constructor(project: Project, outcomes: ArrayLike<number>, regexSteps: number, requested?: readonly number[]) {
    this.regexSteps = regexSteps
    this.#project = project
    this.#outcomes = outcomes
    this.#requested = requested
  }

  /** The index into the flag's outcomes, or -1 when the flag was not requested. */
  outcomeIndex(flagIndex: number): number {
    const place = this.#requested === undefined ? flagIndex : slotOf(this.#requested, flagIndex)
    return this.#outcomes[place] ?? -1
  }

  outcome(flagIndex: number): Outcome | undefined {
    const index = this.outcomeIndex(flagIndex)
    return index === -1 ? undefined : this.#project.flags[flagIndex]!.outcomes[index]
  }

  get(key: string): Outcome | undefined {
    const flagIndex = this.#project.index.ofKey(key)
    return flagIndex === undefined ? undefined : this.outcome(flagIndex)
  }

  /** The positions of the requested flags, in definition order. */
  get flagIndexes(): readonly number[] {
    return this.#requested ?? Array.from(this.#outcomes, (_, index) => index)
  }

  /** The requested flags, in definition order. */
  *[Symbol.iterator](): Iterator<readonly [CompiledFlag, Outcome]> {
    for (let place = 0; place < this.#outcomes.length; place++) {
      const flag = this.#project.flags[this.#requested?.[place] ?? place]!
      yield [flag, flag.outcomes[this.#outcomes[place]!]!]
    }
  }
}

/** Binary search: a caller may request hundreds of flags by key. */
function slotOf(ascending: readonly number[], wanted: number): number {
  let low = 0
  let high = ascending.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const candidate = ascending[middle]!
    if (candidate === wanted) return middle
    if (candidate < wanted) low = middle + 1
    else high = middle - 1
  }
  return -1
}
