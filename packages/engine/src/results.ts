import type { CompiledFlag } from './compiler.ts'
import type { Outcome } from './outcome.ts'

const NOT_ASKED = 0xffff

/** The outcomes of one evaluation: a thin view of one number for each flag of the snapshot. */
export class Results implements Iterable<readonly [CompiledFlag, Outcome]> {
  readonly #flags: readonly CompiledFlag[]
  readonly #outcomes: Uint16Array
  readonly #find: (key: string) => number | undefined

  constructor(flags: readonly CompiledFlag[], outcomes: Uint16Array, find: (key: string) => number | undefined) {
    this.#flags = flags
    this.#outcomes = outcomes
    this.#find = find
  }

  /** The position of the outcome in the flag's table, or -1 when the flag was not asked for. */
  outcomeIndex(flagIndex: number): number {
    const outcome = this.#outcomes[flagIndex]
    return outcome === undefined || outcome === NOT_ASKED ? -1 : outcome
  }

  outcome(flagIndex: number): Outcome | undefined {
    const index = this.outcomeIndex(flagIndex)
    return index === -1 ? undefined : this.#flags[flagIndex]!.outcomes[index]
  }

  get(key: string): Outcome | undefined {
    const flagIndex = this.#find(key)
    return flagIndex === undefined ? undefined : this.outcome(flagIndex)
  }

  /** The flags that were asked for, in the order of the definitions. */
  *[Symbol.iterator](): Iterator<readonly [CompiledFlag, Outcome]> {
    for (let index = 0; index < this.#flags.length; index++) {
      const outcome = this.outcome(index)
      if (outcome !== undefined) yield [this.#flags[index]!, outcome]
    }
  }
}

export function unasked(count: number): Uint16Array {
  return new Uint16Array(count).fill(NOT_ASKED)
}

export function isAsked(outcomes: Uint16Array, flagIndex: number): boolean {
  return outcomes[flagIndex] !== NOT_ASKED
}
