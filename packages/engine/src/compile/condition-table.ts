import type { BucketingAlgorithm, HashInput } from '../hash/vendors/bucketing-algorithms.ts'

/** A condition as an object. Evaluations read the columns of the table instead. */
export interface PlannedCondition {
  readonly predicates: readonly number[]
  /** The rollout as a fraction, from 0 to 1. `FULL_ROLLOUT` needs no hash. */
  readonly rollout: number
  /** The index of the variant override, `NO_VARIANT` or `OFF_VARIANT`. */
  readonly override: number
  readonly entity: number
  /** Null for PostHog's bucketing. */
  readonly custom: CustomBucketing | null
}

/** The rollout and the variants of a condition that are not bucketed in PostHog's way. */
export interface CustomBucketing {
  readonly rollout: PlannedBucketing | null
  /** Null means that everyone is included, also without an identifier. */
  readonly percentage: number | null
  readonly split: PlannedSplit | null
}

export interface PlannedBucketing extends Pick<HashInput, 'seed' | 'encoding'> {
  readonly algorithm: BucketingAlgorithm
  /** The property that is hashed; null for the identifier of the flag. */
  readonly by: string | null
  readonly identifierPrefix: string
}

export interface PlannedSplit {
  readonly bucketing: PlannedBucketing
  /** Indexes of variants, `NO_VARIANT` for on, `OFF_VARIANT` for off, or `OUTSIDE`. */
  readonly variants: readonly number[]
  readonly weights: readonly number[]
  /** Null when the weights decide. */
  readonly ranges: readonly (readonly [from: number, to: number])[] | null
}

/** Where the conditions of a flag are. */
export interface ConditionRows {
  /** Its rows, from the first to before the end. */
  readonly conditionsStart: number
  readonly conditionsEnd: number
  /** A row, or `NO_CONDITION`. */
  readonly superCondition: number
}

export const NO_CONDITION = -1

const rowsMin = 16
const predicatesMin = 64

/**
 * The conditions of all flags of a project, one array per field. An evaluation of a thousand flags is bound by cache misses: rows
 * that follow each other cost few, an object and its lists cost several each.
 */
export class ConditionTable {
  entities = new Int32Array(rowsMin)
  /** NaN where `customs` has the rollout. */
  rollouts = new Float64Array(rowsMin)
  overrides = new Int32Array(rowsMin)
  /** The predicates of a row end where those of the next row begin. */
  predicateStarts = new Int32Array(rowsMin + 1)
  predicates = new Int32Array(predicatesMin)
  readonly customs: (CustomBucketing | null)[] = []
  /** The first row of conditions that flags often repeat. */
  readonly #known = new Map<string, number>()

  /** The number of rows. */
  get size(): number {
    return this.customs.length
  }

  /** Returns the first of consecutive rows with these conditions. */
  add(conditions: readonly PlannedCondition[]): number {
    if (conditions.some(({ custom }) => custom !== null)) return this.#append(conditions)
    const name = conditions.map(nameOf).join(';')
    const row = this.#known.get(name) ?? this.#append(conditions)
    this.#known.set(name, row)
    return row
  }

  at(row: number): PlannedCondition {
    return {
      predicates: Array.from(this.predicates.subarray(this.predicateStarts[row]!, this.predicateStarts[row + 1]!)),
      rollout: this.rollouts[row]!,
      override: this.overrides[row]!,
      entity: this.entities[row]!,
      custom: this.customs[row]!,
    }
  }

  /** The conditions of a flag, without its super condition. */
  of({ conditionsStart, conditionsEnd }: ConditionRows): PlannedCondition[] {
    return Array.from({ length: conditionsEnd - conditionsStart }, (_, index) => this.at(conditionsStart + index))
  }

  /** All conditions of a flag. */
  allOf(rows: ConditionRows): PlannedCondition[] {
    const { superCondition } = rows
    return superCondition === NO_CONDITION ? this.of(rows) : [...this.of(rows), this.at(superCondition)]
  }

  #append(conditions: readonly PlannedCondition[]): number {
    const first = this.size
    for (const { predicates, rollout, override, entity, custom } of conditions) {
      const row = this.size
      const start = this.predicateStarts[row]!
      const end = start + predicates.length
      this.#reserve(row + 1, end)
      this.entities[row] = entity
      this.rollouts[row] = custom === null ? rollout : Number.NaN
      this.overrides[row] = override
      this.predicates.set(predicates, start)
      this.predicateStarts[row + 1] = end
      this.customs.push(custom)
    }
    return first
  }

  #reserve(rows: number, predicates: number): void {
    if (rows > this.rollouts.length) {
      const length = rows * 2
      this.entities = copyInto(new Int32Array(length), this.entities)
      this.rollouts = copyInto(new Float64Array(length), this.rollouts)
      this.overrides = copyInto(new Int32Array(length), this.overrides)
      this.predicateStarts = copyInto(new Int32Array(length + 1), this.predicateStarts)
    }
    if (predicates > this.predicates.length) {
      this.predicates = copyInto(new Int32Array(predicates * 2), this.predicates)
    }
  }
}

const nameOf = ({ entity, override, predicates, rollout }: PlannedCondition): string =>
  `${entity} ${override} ${rollout} ${predicates.join(' ')}`

function copyInto<Column extends Int32Array | Float64Array>(larger: Column, column: Column): Column {
  larger.set(column)
  return larger
}
