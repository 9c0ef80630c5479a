import type { CompiledFlag } from '../compile/compiler.ts'
import { FULL_ROLLOUT, type Plan, type PlannedCondition } from '../compile/plan.ts'
import { bucketOf, holdoutPrefix } from '../hash/bucket.ts'
import { ROLLOUT_SALT, type Salt, VARIANT_SALT } from '../hash/message.ts'
import { bucketOrZero } from './buckets.ts'
import { isInCustomRollout, splitVariantOf } from './custom-bucketing.ts'
import { identifierOf } from './identifier.ts'
import { NO_VARIANT } from './outcome.ts'
import type { Run } from './run.ts'

export function isInRollout(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): boolean {
  if (condition.custom !== null) return isInCustomRollout(run, flag, plan, condition, condition.custom)
  if (condition.rollout === FULL_ROLLOUT) return true
  if (condition.rollout <= 0 && identifierOf(run, flag, plan, condition.entity) !== '') return false
  return rolloutBucketOf(run, flag, plan, condition.entity) <= condition.rollout
}

/** The position of the variant for a subject that matches the condition. */
export function variantOf(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  const { variants } = plan
  if (condition.override !== NO_VARIANT) return condition.override
  if (condition.custom !== null && condition.custom.split !== null) {
    return splitVariantOf(run, flag, plan, condition, condition.custom.split)
  }
  if (variants.length === 0) return NO_VARIANT
  const bucket = variantBucketOf(run, flag, plan, condition.entity)
  for (let variant = 0; variant < variants.length; variant++) {
    const { key, from, to } = variants[variant]!
    if (bucket >= from && bucket < to) return key === '' ? NO_VARIANT : variant
  }
  return NO_VARIANT
}

export function isHeldOut(run: Run, flag: CompiledFlag, plan: Plan): boolean {
  if (plan.holdout === null) return false
  return plan.holdout >= 1 || holdoutBucketOf(run, flag, plan) <= plan.holdout
}

/** Conditions about the flag's own entity share one bucket; a condition about another entity has its own. */
export function rolloutBucketOf(run: Run, flag: CompiledFlag, plan: Plan, entity: number): number {
  return bucketFor(run, flag, plan, entity, ROLLOUT_SALT)
}

export function variantBucketOf(run: Run, flag: CompiledFlag, plan: Plan, entity: number): number {
  return bucketFor(run, flag, plan, entity, VARIANT_SALT)
}

function bucketFor(run: Run, flag: CompiledFlag, plan: Plan, entity: number, salt: Salt): number {
  if (entity !== plan.entity) return bucketOrZero(plan.prefix, identifierOf(run, flag, plan, entity), salt)
  const known = run.buckets.known(run.position, salt)
  return Number.isNaN(known)
    ? run.buckets.hash(run.position, plan.prefix, identifierOf(run, flag, plan, entity), salt)
    : known
}

export function holdoutBucketOf(run: Run, flag: CompiledFlag, plan: Plan): number {
  return bucketOf(holdoutPrefix, identifierOf(run, flag, plan, plan.entity), ROLLOUT_SALT)
}
