import type { CompiledFlag } from '../compile/compiler.ts'
import { EVERYBODY, NO_VARIANT, type Plan, type PlannedCondition } from '../compile/plan.ts'
import { own, plainText } from '../definition/json.ts'
import { bucketOf, holdoutPrefix } from '../hash/bucket.ts'
import { PLAIN, VARIANT } from '../hash/bucket-message.ts'
import { PERSON, type Run } from './run.ts'

/** What is hashed together with the flag's key. */
export function identifierOf(run: Run, flag: CompiledFlag, plan: Plan, bag: number): string {
  if (bag !== PERSON) return run.identifierOf(bag)
  if (plan.byDevice) {
    const deviceId = deviceIdOf(run)
    if (deviceId !== undefined) return deviceId
  }
  return plan.continuity ? continuousId(run, flag) : run.distinctId
}

export function deviceIdOf({ subject, bags }: Run): string | undefined {
  const deviceId = subject.deviceId || own(bags[PERSON]!, '$device_id')
  const isId = typeof deviceId === 'number' || (typeof deviceId === 'string' && deviceId !== '')
  return isId ? String(deviceId) : undefined
}

/** Somebody who was seen before signing in keeps what was seen then. */
function continuousId({ subject, distinctId }: Run, flag: CompiledFlag): string {
  const stored = subject.hashKeyOverrides ? own(subject.hashKeyOverrides, flag.key) : undefined
  if (typeof stored === 'string') return stored
  return subject.anonDistinctId ? plainText(subject.anonDistinctId) : distinctId
}

export function isInRollout(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): boolean {
  if (condition.share === EVERYBODY) return true
  return condition.share > 0 && rolloutBucketOf(run, flag, plan, condition.bag) <= condition.share
}

/** The position of the variant for somebody whom the condition has matched. */
export function variantOf(run: Run, flag: CompiledFlag, plan: Plan, condition: PlannedCondition): number {
  if (condition.override !== NO_VARIANT || plan.variants.length === 0) return condition.override
  const bucket = variantBucketOf(run, flag, plan, condition.bag)
  for (let variant = 0; variant < plan.variants.length; variant++) {
    const { key, from, to } = plan.variants[variant]!
    if (bucket >= from && bucket < to) return key === '' ? NO_VARIANT : variant
  }
  return NO_VARIANT
}

export function isHeldOut(run: Run, flag: CompiledFlag, plan: Plan): boolean {
  if (plan.holdout === null) return false
  return plan.holdout >= 1 || holdoutBucketOf(run, flag, plan) <= plan.holdout
}

/** A condition about another bag than its flag's is hashed apart; all others share the flag's own bucket. */
export function rolloutBucketOf(run: Run, flag: CompiledFlag, plan: Plan, bag: number): number {
  const identifier = identifierOf(run, flag, plan, bag)
  if (bag !== plan.bag) return bucketOf(plan.prefix, identifier, PLAIN)
  return run.buckets.rollout(run.position, plan.prefix, identifier)
}

export function variantBucketOf(run: Run, flag: CompiledFlag, plan: Plan, bag: number): number {
  const identifier = identifierOf(run, flag, plan, bag)
  if (bag !== plan.bag) return bucketOf(plan.prefix, identifier, VARIANT)
  return run.buckets.variant(run.position, plan.prefix, identifier)
}

export function holdoutBucketOf(run: Run, flag: CompiledFlag, plan: Plan): number {
  return bucketOf(holdoutPrefix, identifierOf(run, flag, plan, plan.bag), PLAIN)
}
