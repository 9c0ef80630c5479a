import { orderFlags } from '../compile/dependency-order.ts'
import type { FlagDefinition } from '../definition/definition.ts'
import type { FlagProperty, ParsedProperty } from '../definition/parse-property.ts'
import { FlagComparison, type Gain, type Movement, type Movements } from './gain.ts'
import { gainedValues, noMovements, type Release } from './release.ts'
import { readServedFlag, type ServedFlag } from './served-flag.ts'
import type { TargetValues } from './value-shares.ts'

/** A flag that is not changed itself, and what it releases because another one is. */
export interface DependentRelease {
  readonly flag: FlagDefinition
  readonly releases: readonly Release[]
}

/** Two versions of a flag; at least one of them exists. */
export interface FlagVersions {
  readonly before: FlagDefinition | undefined
  readonly after: FlagDefinition | undefined
}

/**
 * The flags that release to more people because they depend on the changed ones, directly or through others. `flagsOfCohort` lists the
 * flags that a cohort refers to; how many people these move into it is not analyzed, so that anyone may.
 */
export function dependentReleases(
  changed: readonly FlagVersions[],
  others: readonly FlagDefinition[],
  flagsOfCohort: (cohortId: string) => readonly number[],
): readonly DependentRelease[] {
  const moved = new MovedFlags(flagsOfCohort)
  for (const { before, after } of changed) {
    const comparisons = { there: compare(before, after), back: compare(after, before) }
    for (const flag of [before, after]) if (flag) moved.set(flag, comparisons)
  }
  const gaining: DependentRelease[] = []
  for (const flag of dependenciesFirst(others, flagsOfCohort)) {
    if (moved.has(flag.id)) continue
    const served = readServedFlag(flag)
    const movements = moved.movementsOf(served)
    if (movements.size === 0) continue
    const dependent = new Dependent(served, movements)
    moved.set(flag, dependent)
    const releases = gainedValues(served, served, isTarget => dependent.there.gain(isTarget))
    if (releases.length > 0) gaining.push({ flag, releases })
  }
  return gaining
}

const compare = (before: FlagDefinition | undefined, after: FlagDefinition | undefined): FlagComparison =>
  new FlagComparison(readServedFlag(before), readServedFlag(after), noMovements)

function dependenciesFirst(
  flags: readonly FlagDefinition[],
  flagsOfCohort: (cohortId: string) => readonly number[],
): readonly FlagDefinition[] {
  const places = new Map<string, number>()
  for (const [place, { id, key }] of flags.entries()) {
    places.set(String(id), place)
    if (!places.has(key)) places.set(key, place)
  }
  const placesOf = ({ filters }: FlagDefinition): readonly number[] =>
    filtersOf(readServedFlag({ id: 0, key: '', active: true, filters }))
      .flatMap(([, filter]) => referencesOf(filter, flagsOfCohort))
      .flatMap(reference => places.get(reference) ?? [])
  const { order } = orderFlags(flags.length, place => placesOf(flags[place]!))
  return order === undefined ? flags : Array.from(order, place => flags[place]!)
}

function referencesOf(filter: ParsedProperty, flagsOfCohort: (cohortId: string) => readonly number[]): string[] {
  if (filter.kind === 'cohort') return flagsOfCohort(filter.id).map(String)
  return filter.kind === 'flag' ? [filter.reference] : []
}

const filtersOf = ({ conditions, superCondition }: ServedFlag): readonly (readonly [string, ParsedProperty])[] =>
  (superCondition ? [...conditions, superCondition] : conditions).flatMap(({ filters }) => [...filters])

/** Who gets other values than before, and who did the other way round. */
interface Comparisons {
  readonly there: { gain(isTarget: TargetValues): Gain }
  readonly back: { gain(isTarget: TargetValues): Gain }
}

/** A flag whose filters match other people than before. */
class Dependent implements Comparisons {
  readonly there: Comparisons['there']
  readonly back: Comparisons['back']

  constructor(flag: ServedFlag, movements: Movements) {
    const reversed = new Map([...movements].map(([id, { gain, loss }]) => [id, { gain: loss, loss: gain }]))
    // No more people can get another value than match other filters.
    const most = [...movements.values()].reduce((sum, { gain, loss }) => sum + gain + loss, 0)
    const limited = (comparison: FlagComparison) => ({
      gain: (isTarget: TargetValues): Gain => {
        const { gain, reach } = comparison.gain(isTarget)
        return { gain: Math.min(gain, most), reach }
      },
    })
    this.there = limited(new FlagComparison(flag, flag, movements))
    this.back = limited(new FlagComparison(flag, flag, reversed))
  }
}

class MovedFlags {
  readonly #flagsOfCohort: (cohortId: string) => readonly number[]
  readonly #comparisons = new Map<number, Comparisons>()
  readonly #idsByKey = new Map<string, number>()
  /** By flag and expected value: many flags may depend on one. */
  readonly #movements = new Map<string, Movement>()

  constructor(flagsOfCohort: (cohortId: string) => readonly number[]) {
    this.#flagsOfCohort = flagsOfCohort
  }

  has(flagId: number): boolean {
    return this.#comparisons.has(flagId)
  }

  set({ id, key }: FlagDefinition, comparisons: Comparisons): void {
    this.#comparisons.set(id, comparisons)
    this.#idsByKey.set(key, id)
  }

  /** The filters of a flag that match other people than before. */
  movementsOf(flag: ServedFlag): Map<string, Movement> {
    const movements = new Map<string, Movement>()
    for (const [id, filter] of filtersOf(flag)) {
      const movement = this.#movementOf(filter)
      if (movement.gain + movement.loss > 0) movements.set(id, movement)
    }
    return movements
  }

  #movementOf(filter: ParsedProperty): Movement {
    if (filter.kind === 'cohort') return this.#flagsOfCohort(filter.id).some(id => this.has(id)) ? anyone : noOne
    return filter.kind === 'flag' ? this.#flagMovement(filter) : noOne
  }

  #flagMovement({ reference, expected, inverted }: FlagProperty): Movement {
    const id = this.#idOf(reference)
    const comparisons = id === undefined ? undefined : this.#comparisons.get(id)
    if (!comparisons || expected === undefined) return noOne
    const name = JSON.stringify([id, expected === false || expected])
    const movement = this.#movements.get(name) ?? movementTo(comparisons, expected)
    this.#movements.set(name, movement)
    // Who no longer has the flag matches `false`.
    return (expected === false) !== inverted ? { gain: movement.loss, loss: movement.gain } : movement
  }

  #idOf(reference: string): number | undefined {
    const id = Number(reference)
    return String(id) === reference && this.has(id) ? id : this.#idsByKey.get(reference)
  }
}

const anyone: Movement = { gain: 1, loss: 1 }
const noOne: Movement = { gain: 0, loss: 0 }

function movementTo({ there, back }: Comparisons, expected: boolean | string): Movement {
  const isTarget: TargetValues =
    typeof expected === 'boolean' ? value => value !== false : value => value !== false && value === expected
  return { gain: there.gain(isTarget).gain, loss: back.gain(isTarget).gain }
}
