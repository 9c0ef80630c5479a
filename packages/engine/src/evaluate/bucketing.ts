import { FULL_ROLLOUT, type Plan } from '../compile/plan.ts'
import { bucketOf, holdoutPrefix } from '../hash/bucket.ts'
import { ROLLOUT_SALT, type Salt, VARIANT_SALT } from '../hash/message.ts'
import { bucketOrZero } from './buckets.ts'
import { isInCustomRollout, splitVariantOf } from './custom-bucketing.ts'
import { identifierOf } from './identifier.ts'
import { NO_VARIANT } from './outcome.ts'
import type { Run } from './run.ts'

/** Whether the rollout of a condition, a row of the table, includes the subject. */
export function isInRollout(run: Run, plan: Plan, row: number): boolean {
  const { customs, entities, rollouts } = run.conditions
  const custom = customs[row]!
  const entity = entities[row]!
  if (custom !== null) return isInCustomRollout(run, plan, entity, custom)
  const rollout = rollouts[row]!
  if (rollout === FULL_ROLLOUT) return true
  if (rollout <= 0 && identifierOf(run, plan, entity) !== '') return false
  return rolloutBucketOf(run, plan, entity) <= rollout
}

/** The position of the variant for a subject that matches the condition. */
export function variantOf(run: Run, plan: Plan, row: number): number {
  const { customs, entities, overrides } = run.conditions
  const override = overrides[row]!
  if (override !== NO_VARIANT) return override
  const entity = entities[row]!
  const split = customs[row]?.split
  if (split) return splitVariantOf(run, plan, entity, split)
  const { variants } = plan
  if (variants.length === 0) return NO_VARIANT
  const bucket = variantBucketOf(run, plan, entity)
  for (let variant = 0; variant < variants.length; variant++) {
    const { key, from, to } = variants[variant]!
    if (bucket >= from && bucket < to) return key === '' ? NO_VARIANT : variant
  }
  return NO_VARIANT
}

export function isHeldOut(run: Run, plan: Plan): boolean {
  if (plan.holdout === null) return false
  return plan.holdout >= 1 || holdoutBucketOf(run, plan) <= plan.holdout
}

/** Conditions about the flag's own entity share one bucket; a condition about another entity has its own. */
export function rolloutBucketOf(run: Run, plan: Plan, entity: number): number {
  return bucketFor(run, plan, entity, ROLLOUT_SALT)
}

export function variantBucketOf(run: Run, plan: Plan, entity: number): number {
  return bucketFor(run, plan, entity, VARIANT_SALT)
}

function bucketFor(run: Run, plan: Plan, entity: number, salt: Salt): number {
  if (entity !== plan.entity) return bucketOrZero(plan.prefix, identifierOf(run, plan, entity), salt)
  const known = run.buckets.known(run.position, salt)
  return Number.isNaN(known)
    ? run.buckets.hash(run.position, plan.prefix, identifierOf(run, plan, entity), salt)
    : known
}

export function holdoutBucketOf(run: Run, plan: Plan): number {
  return bucketOf(holdoutPrefix, identifierOf(run, plan, plan.entity), ROLLOUT_SALT)
}
