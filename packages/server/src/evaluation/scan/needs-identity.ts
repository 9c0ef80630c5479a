/**
 * Whether a flag's value can depend on the identity of the subject and not only on properties: when it hashes the id for a rollout, a
 * variant or a holdout. Conservative: a false positive costs time, never correctness.
 */
export function needsIdentity(filters: unknown): boolean {
  if (!isRecord(filters)) return true
  const { groups, super_groups, multivariate, holdout } = filters
  if (holdout !== undefined && holdout !== null) return true
  const variants = isRecord(multivariate) ? multivariate.variants : undefined
  if (Array.isArray(variants) && variants.length > 0) return true
  return [groups, super_groups].some(
    conditions =>
      conditions !== undefined &&
      conditions !== null &&
      !(Array.isArray(conditions) && conditions.every(isFullRollout)),
  )
}

function isFullRollout(condition: unknown): boolean {
  if (!isRecord(condition)) return false
  const { rollout_percentage: percentage } = condition
  return percentage === undefined || percentage === null || percentage === 100
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
