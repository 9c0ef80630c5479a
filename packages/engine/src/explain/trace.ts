import type { CountOperator } from '../definition/parse-behavior.ts'
import type { Outcome } from '../evaluate/outcome.ts'

/** The full explanation of a flag's result, as JSON-compatible data. */
export interface Trace {
  readonly key: string
  readonly flagId: number
  readonly outcome: Outcome
  /** The hashed identifier; null when the subject has no such group, or the flag has only one outcome. */
  readonly identifier: IdentifierTrace | null
  readonly enrollment: EnrollmentTrace | null
  readonly superCondition: ConditionTrace | null
  readonly holdout: HoldoutTrace | null
  readonly conditions: readonly ConditionTrace[]
  readonly variant: VariantTrace | null
  /** A condition matched, but PostHog SDKs cannot evaluate it and match a later one. */
  readonly overruled: boolean
}

export interface IdentifierTrace {
  readonly value: string
  readonly source: 'distinct_id' | 'device_id' | 'hash_key_override' | 'anon_distinct_id' | 'group'
}

export interface EnrollmentTrace {
  readonly property: string
  readonly present: boolean
  readonly seen: unknown
}

export interface HoldoutTrace {
  readonly variant: string
  readonly bucket: number
  readonly threshold: number
  readonly heldOut: boolean
}

export interface ConditionTrace {
  readonly index: number
  /** The group type that the condition is about; null for persons. */
  readonly groupType: string | null
  /** False for conditions after the deciding one. They are explained too. */
  readonly reached: boolean
  readonly result: 'matched' | 'out_of_rollout' | 'not_matched' | 'no_group' | 'failed'
  /** The index of the first filter that did not match. */
  readonly decidedBy: number | null
  readonly filters: readonly FilterTrace[]
  /** Null when the rollout is 100%. */
  readonly rollout: RolloutTrace | null
}

export interface RolloutTrace {
  readonly identifier: string
  readonly bucket: number
  readonly threshold: number
  readonly inside: boolean
}

export interface VariantTrace {
  readonly key: string | null
  /** The condition overrides the variant, so there is no hash. */
  readonly forced: boolean
  readonly bucket: number | null
  readonly spans: readonly { readonly key: string; readonly from: number; readonly to: number }[]
}

interface Verdict {
  /** The result of the filter, including its negation. */
  readonly matched: boolean
  readonly negated: boolean
  /** False where PostHog SDKs decline and query the server. */
  readonly certain: boolean
  /** It could not be evaluated at all. */
  readonly failed: boolean
}

export interface PropertyTrace extends Verdict {
  readonly kind: 'property'
  readonly key: string
  readonly operator: string
  readonly value: unknown
  /** Where it was read: `person`, `person_metadata`, or the name of a group type. */
  readonly source: string
  readonly present: boolean
  readonly seen: unknown
  /** The limit of regular expressions that prevented the evaluation of the filter. */
  readonly limit: RegexLimit | null
}

/** The pattern or the value is too long, or the evaluation has used up its steps. */
export type RegexLimit = 'pattern' | 'input' | 'budget'

export interface CohortTrace extends Verdict {
  readonly kind: 'cohort'
  readonly id: string
  readonly name: string | null
  readonly operator: 'in' | 'not_in'
  readonly isStatic: boolean
  /** The filters of the cohort; null when it is static, unknown or recursive. */
  readonly tree: GroupTrace | null
}

export interface FlagTrace extends Verdict {
  readonly kind: 'flag'
  readonly reference: string
  readonly key: string | null
  readonly expected: boolean | string | null
  readonly seen: boolean | string | null
  readonly outcome: Outcome | null
}

export interface GroupTrace {
  readonly kind: 'group'
  readonly type: 'AND' | 'OR'
  readonly matched: boolean
  readonly members: readonly (GroupTrace | FilterTrace)[]
}

export interface BehaviorTrace extends Verdict {
  readonly kind: 'behavior'
  readonly event: string
  readonly measure: 'count' | 'first_time'
  readonly operator: CountOperator
  readonly count: number
  readonly days: number
  /** How often the event was performed in the window. */
  readonly seen: number
}

export type FilterTrace = PropertyTrace | CohortTrace | FlagTrace | BehaviorTrace
