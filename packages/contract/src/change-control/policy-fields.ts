/** The fields of a flag that the condition of a policy can name, with the type of those that can be compared. */
export type PolicyFieldType = 'percentage' | 'text' | 'boolean' | readonly string[]

export const policyFieldTypes: Readonly<Record<string, PolicyFieldType | null>> = {
  rollout_percentage: 'percentage',
  name: 'text',
  key: 'text',
  created_at: 'text',
  active: 'boolean',
  deleted: 'boolean',
  archived: 'boolean',
  ensure_experience_continuity: 'boolean',
  has_enriched_analytics: 'boolean',
  performed_rollback: 'boolean',
  bucketing_identifier: ['distinct_id', 'device_id'],
  evaluation_runtime: ['server', 'client', 'all'],
  filters: null,
  rollback_conditions: null,
  tags: null,
  analytics_dashboards: null,
  evaluation_contexts: null,
}

export const policyComparisons = ['>', '>=', '<', '<=', '==', '!='] as const
export type PolicyComparison = (typeof policyComparisons)[number]

/** Booleans and choices have no order. */
export const policyComparisonsOf = (type: PolicyFieldType): readonly PolicyComparison[] =>
  type === 'percentage' || type === 'text' ? policyComparisons : ['==', '!=']

/** Conditions that can never hold for an action: a cohort has no fields of flags, and no one loses a new flag. */
export function canConditionHold(action: string, { type, field }: { type?: unknown; field?: unknown }): boolean {
  if (action === 'feature_flag.create') return type !== 'losses'
  if (action !== 'cohort.update') return true
  return type !== 'before_after' && type !== 'change_amount' && type !== 'tag' && !(type === 'any_change' && field)
}
