/** A part of a definition that cannot be evaluated as written. */
export interface Issue {
  /** Stable and machine-readable, such as `cohort_does_not_exist`. */
  readonly code: IssueCode
  /** The JSON path, such as `filters.groups[0].properties[1].value`. */
  readonly path: string
  /** Human-readable. */
  readonly message: string
}

export type IssueCode =
  | 'wrong_type'
  | 'too_large'
  | 'out_of_range'
  | 'variant_sum'
  | 'duplicate_variant'
  | 'unknown_variant'
  | 'unknown_payload'
  | 'unknown_operator'
  | 'wrong_operator'
  | 'invalid_value'
  | 'invalid_date'
  | 'invalid_version'
  | 'invalid_regex'
  | 'regex_too_large'
  | 'cohort_does_not_exist'
  | 'cohort_cycle'
  | 'behavioral_cohort'
  | 'unknown_flag'
  | 'self_dependency'
  | 'flag_cycle'
  | 'mixed_cohort_group'

export type Report = (code: IssueCode, path: string, message: string) => void
