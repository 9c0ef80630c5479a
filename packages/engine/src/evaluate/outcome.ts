import type { ParsedFilters } from '../definition/parse-filters.ts'

/** One of the finitely many results of a flag. Frozen and interned, so it can be compared by identity. */
export interface Outcome {
  readonly enabled: boolean
  readonly variant: string | null
  /** The variant, or whether the flag is on. */
  readonly value: boolean | string
  /** JSON text, or null. */
  readonly payload: string | null
  readonly reason: Reason
  /** The flag could not be evaluated; `value` is a safe default. */
  readonly failed: boolean
}

export interface Reason {
  readonly code: ReasonCode
  readonly conditionIndex: number | null
  readonly description: string
}

export type ReasonCode =
  | 'super_condition_value'
  | 'holdout_condition_value'
  | 'condition_match'
  | 'out_of_rollout_bound'
  | 'no_condition_match'
  | 'no_group_type'
  | 'flag_disabled'
  | 'missing_dependency'
  | 'override'
  | 'error'

/**
 * Indexes into a flag's table of outcomes. The head is the same for every flag, followed by the outcomes of each
 * condition. A disabled, overridden or malformed flag has a single outcome.
 */
export const NO_GROUP = 0
export const ERROR = 1
export const MISSING_DEPENDENCY = 2
export const DEPENDENCY_CYCLE = 3
export const HOLDOUT = 4
export const SUPER_ON = 5
export const SUPER_OFF = 6
export const firstCondition = 7

/** The outcomes of a condition: no group, no match, out of rollout, matches that are off, on, or have each variant. */
export const SKIPPED = 0
export const UNMATCHED = 1
export const EXCLUDED = 2
const MATCHED_VARIANT = 5

/** Instead of the index of a variant: the flag is on, or off. */
export const NO_VARIANT = -1
export const OFF_VARIANT = -2

/** How many outcomes each condition has. */
export const conditionStride = (variantCount: number): number => variantCount + MATCHED_VARIANT

/** The outcome of a match within its condition, for the index of a variant, `NO_VARIANT` or `OFF_VARIANT`. */
export function matchedOutcome(variant: number): number {
  return MATCHED_VARIANT + variant
}

const descriptions: Readonly<Record<ReasonCode, string>> = {
  super_condition_value: 'Super condition value',
  holdout_condition_value: 'Holdout condition value',
  condition_match: 'Matched condition set',
  out_of_rollout_bound: 'Out of rollout bound',
  no_condition_match: 'No matching condition set',
  no_group_type: 'No group type',
  flag_disabled: 'Feature flag is disabled',
  missing_dependency: 'Flag cannot be evaluated due to missing dependency',
  override: 'Overridden',
  error: 'Error evaluating the flag',
}

/** The interned outcomes of one reason. */
interface ForReason {
  readonly reason: Reason
  off: Outcome | undefined
  failed: Outcome | undefined
  /** By value, then by payload. */
  readonly on: Map<true | string, Map<string | null, Outcome>>
}

/** Interns outcomes: flags of the same shape share theirs. */
export class OutcomeFactory {
  /** By code, then by condition; index 0 means no condition. */
  readonly #made = new Map<ReasonCode, (ForReason | undefined)[]>()
  /** The tables of boolean flags, by number of conditions. */
  readonly #booleanTables = new Map<number, readonly Outcome[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  booleanTable(filters: ParsedFilters): readonly Outcome[] {
    const count = filters.conditions.length
    const table = this.#booleanTables.get(count) ?? makeTable(filters, this)
    this.#booleanTables.set(count, table)
    return table
  }

  off(code: ReasonCode, conditionIndex: number | null): Outcome {
    const made = this.#forReason(code, conditionIndex)
    made.off ??= this.#make(false, null, made.reason, false)
    return made.off
  }

  failed(code: ReasonCode): Outcome {
    const made = this.#forReason(code, null)
    made.failed ??= this.#make(false, null, made.reason, true)
    return made.failed
  }

  on(value: true | string, payload: string | null, code: ReasonCode, conditionIndex: number | null): Outcome {
    const { on, reason } = this.#forReason(code, conditionIndex)
    const byPayload = on.get(value) ?? new Map<string | null, Outcome>()
    on.set(value, byPayload)
    const made = byPayload.get(payload)
    if (made !== undefined) return made
    const outcome = this.#make(value, payload, reason, false)
    byPayload.set(payload, outcome)
    return outcome
  }

  #make(value: boolean | string, payload: string | null, reason: Reason, failed: boolean): Outcome {
    this.#size++
    const variant = typeof value === 'string' ? value : null
    return Object.freeze({ enabled: value !== false, variant, value, payload, reason, failed })
  }

  #forReason(code: ReasonCode, conditionIndex: number | null): ForReason {
    const byCondition = this.#made.get(code) ?? []
    this.#made.set(code, byCondition)
    const place = conditionIndex === null ? 0 : conditionIndex + 1
    const made = byCondition[place]
    if (made !== undefined) return made
    const set = code === 'condition_match' && conditionIndex !== null ? ` ${conditionIndex + 1}` : ''
    const reason = Object.freeze({ code, conditionIndex, description: descriptions[code] + set })
    const fresh: ForReason = { reason, off: undefined, failed: undefined, on: new Map() }
    byCondition[place] = fresh
    return fresh
  }
}

/** All possible outcomes of a flag with these filters. */
export function outcomeTable(filters: ParsedFilters, maker: OutcomeFactory): readonly Outcome[] {
  const isBoolean = filters.variants.length === 0 && filters.payloads.size === 0 && filters.holdout === null
  return isBoolean ? maker.booleanTable(filters) : makeTable(filters, maker)
}

function makeTable({ conditions, holdout, payloads, variants }: ParsedFilters, maker: OutcomeFactory): Outcome[] {
  const truePayload = payloads.get('true') ?? null
  const table: Outcome[] = []
  table[NO_GROUP] = maker.off('no_group_type', conditions.length === 0 ? null : 0)
  table[ERROR] = maker.failed('error')
  table[MISSING_DEPENDENCY] = maker.off('missing_dependency', null)
  table[DEPENDENCY_CYCLE] = maker.failed('missing_dependency')
  table[HOLDOUT] = holdoutOutcome(holdout, payloads, maker)
  table[SUPER_ON] = maker.on(true, truePayload, 'super_condition_value', 0)
  table[SUPER_OFF] = maker.off('super_condition_value', 0)
  for (let index = 0; index < conditions.length; index++) {
    table.push(maker.off('no_group_type', index), maker.off('no_condition_match', index))
    table.push(maker.off('out_of_rollout_bound', index), maker.off('condition_match', index))
    table.push(maker.on(true, truePayload, 'condition_match', index))
    for (const { key } of variants) {
      table.push(maker.on(key, payloads.get(key) ?? null, 'condition_match', index))
    }
  }
  return table
}

function holdoutOutcome(
  holdout: ParsedFilters['holdout'],
  payloads: ParsedFilters['payloads'],
  maker: OutcomeFactory,
): Outcome {
  if (holdout === null) return maker.off('holdout_condition_value', null)
  return maker.on(holdout.variant, payloads.get(holdout.variant) ?? null, 'holdout_condition_value', null)
}
