import type { Outcome } from '../evaluate/outcome.ts'

/** Why a flag gave its answer, in full. It is plain data, made only when somebody asks. */
export interface Trace {
  readonly key: string
  readonly flagId: number
  readonly outcome: Outcome
  /** What is hashed for the flag; null when the subject has no such group, or the flag has but one outcome. */
  readonly identifier: IdentifierTrace | null
  readonly enrollment: EnrollmentTrace | null
  readonly superCondition: ConditionTrace | null
  readonly holdout: HoldoutTrace | null
  readonly conditions: readonly ConditionTrace[]
  readonly variant: VariantTrace | null
  /** A condition had matched, but client libraries have a doubt about it and answer by a later one. */
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
  /** False for conditions that come after the one that decided. They are explained all the same. */
  readonly reached: boolean
  readonly result: 'matched' | 'out_of_rollout' | 'not_matched' | 'no_group' | 'failed'
  /** The position of the first filter that spoke against it. */
  readonly decidedBy: number | null
  readonly filters: readonly FilterTrace[]
  /** Null when the condition takes everybody. */
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
  /** The condition names the variant, so no hash decides. */
  readonly forced: boolean
  readonly bucket: number | null
  readonly spans: readonly { readonly key: string; readonly from: number; readonly to: number }[]
}

interface Verdict {
  /** Whether the filter holds, its negation included. */
  readonly matched: boolean
  readonly negated: boolean
  /** False where client libraries decline to answer and ask the server. */
  readonly certain: boolean
  /** It could not be evaluated at all. */
  readonly failed: boolean
}

export interface PropertyTrace extends Verdict {
  readonly kind: 'property'
  readonly key: string
  readonly operator: string
  readonly value: unknown
  /** Where it was looked up: `person`, or the name of a group type. */
  readonly source: string
  readonly present: boolean
  readonly seen: unknown
  /** The limit of regular expressions that kept the filter from being evaluated. */
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
  /** The filters of the cohort; null for one that is static, unknown, or within itself. */
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

export type FilterTrace = PropertyTrace | CohortTrace | FlagTrace
