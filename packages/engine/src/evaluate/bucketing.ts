import type { CompiledFlag } from '../compile/compiler.ts'
import { FULL_ROLLOUT, NO_VARIANT, type Plan, type PlannedCondition } from '../compile/plan.ts'
import { own, toText } from '../definition/json.ts'
import { bucketOf, holdoutPrefix } from '../hash/bucket.ts'
import { ROLLOUT_SALT, type Salt, VARIANT_SALT } from '../hash/message.ts'
import { bucketOrZero } from './buckets.ts'
import { PERSON, type Run } from './run.ts'

/** The identifier that is hashed with the flag's key. */
export function identifierOf(run: Run, flag: CompiledFlag, plan: Plan, entity: number): string {
  if (entity !== PERSON) return run.identifierOf(entity)
  if (plan.byDevice) {
    const deviceId = deviceIdOf(run)
    if (deviceId !== undefined) return deviceId
  }
  return plan.continuity ? continuousId(run, flag) : run.distinctId
}

export function deviceIdOf({ subject, entityProperties }: Run): string | undefined {
  const deviceId = subject.deviceId || own(entityProperties[PERSON]!, '$device_id')
  const isId = typeof deviceId === 'number' || (typeof deviceId === 'string' && deviceId !== '')
  return isId ? String(deviceId) : undefined
}

/** Experience continuity: a person keeps the variant from before signing in. */
function continuousId({ subject, distinctId }: Run, flag: CompiledFlag): string {
  const stored = subject.hashKeyOverrides ? own(subject.hashKeyOverrides, flag.key) : undefined
  if (typeof stored === 'string') return stored
  return subject.anonDistinctId ? toText(subject.anonDistinctId) : distinctId
}

export function isInRollout(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): boolean {
  if (condition.rollout === FULL_ROLLOUT) return true
  if (condition.rollout <= 0 && identifierOf(run, flag, plan, condition.entity) !== '') return false
  return rolloutBucketOf(run, flag, plan, condition.entity) <= condition.rollout
}

/** The position of the variant for a subject that matches the condition. */
export function variantOf(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  const { variants } = plan
  if (condition.override !== NO_VARIANT || variants.length === 0) return condition.override
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
