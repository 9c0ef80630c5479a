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
  const rollout = run.conditions.rollouts[row]!
  if (rollout === FULL_ROLLOUT) return true
  if (rollout > 0) return rolloutBucketOf(run, plan, run.conditions.entities[row]!) <= rollout
  return isInUnusualRollout(run, plan, row)
}

/** For rollouts that are bucketed in another way or include no one. */
function isInUnusualRollout(run: Run, plan: Plan, row: number): boolean {
  const { customs, entities, rollouts } = run.conditions
  const custom = customs[row]!
  const entity = entities[row]!
  if (custom !== null) return isInCustomRollout(run, plan, entity, custom)
  return identifierOf(run, plan, entity) === '' && rolloutBucketOf(run, plan, entity) <= rollouts[row]!
}

/** The position of the variant for a subject that matches the condition. */
export function variantOf(run: Run, plan: Plan, row: number): number {
  const override = run.conditions.overrides[row]!
  return override === NO_VARIANT ? bucketedVariantOf(run, plan, row) : override
}

function bucketedVariantOf(run: Run, plan: Plan, row: number): number {
  const { customs, entities } = run.conditions
  const custom = customs[row]!
  const entity = entities[row]!
  if (custom !== null && custom.split !== null) return splitVariantOf(run, plan, entity, custom.split)
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
  const precomputed = entity === plan.entity ? run.buckets.rollouts[run.position]! : Number.NaN
  return Number.isNaN(precomputed) ? hashed(run, plan, entity, ROLLOUT_SALT) : precomputed
}

export function variantBucketOf(run: Run, plan: Plan, entity: number): number {
  const precomputed = entity === plan.entity ? run.buckets.variants[run.position]! : Number.NaN
  return Number.isNaN(precomputed) ? hashed(run, plan, entity, VARIANT_SALT) : precomputed
}

function hashed(run: Run, plan: Plan, entity: number, salt: Salt): number {
  const identifier = identifierOf(run, plan, entity)
  return entity === plan.entity
    ? run.buckets.hash(run.position, plan.prefix, identifier, salt)
    : bucketOrZero(plan.prefix, identifier, salt)
}

export function holdoutBucketOf(run: Run, plan: Plan): number {
  return bucketOf(holdoutPrefix, identifierOf(run, plan, plan.entity), ROLLOUT_SALT)
}
