import { NO_VARIANT } from '../evaluate/outcome.ts'
import { HashBatch } from '../hash/hash-batch.ts'
import { ROLLOUT_SALT, type Salt, VARIANT_SALT } from '../hash/message.ts'
import type { CompiledFlag } from './compiler.ts'
import { FULL_ROLLOUT, type Plan, type PlannedCondition } from './plan.ts'

/** The hashes of one entity's identifier with one salt that the flags of a project may need. */
export interface PlannedHashes {
  readonly entity: number
  readonly salt: Salt
  readonly batch: HashBatch
}

const salts = [ROLLOUT_SALT, VARIANT_SALT] as const

/**
 * A single hash takes several times as long as one in a batch. So an evaluation of all flags first hashes everything
 * that its flags may need.
 */
export function planHashes(flags: readonly CompiledFlag[]): PlannedHashes[] {
  const plans = flags.flatMap(({ plan }, position) => (plan?.hasOwnIdentifier ? [{ plan, position }] : []))
  const entities = [...new Set(plans.map(({ plan }) => plan.entity))]
  return entities.flatMap(entity =>
    salts.flatMap(salt => {
      const members = plans
        .filter(({ plan }) => plan.entity === entity && needsHash(plan, salt))
        .map(({ plan, position }) => ({ prefix: plan.prefix, position }))
      return members.length === 0 ? [] : [{ entity, salt, batch: new HashBatch(members) }]
    }),
  )
}

function needsHash(plan: Plan, salt: Salt): boolean {
  const needs = salt === ROLLOUT_SALT ? hasPartialRollout : choosesVariant
  return (salt === ROLLOUT_SALT || plan.variants.length > 0) && plan.conditions.some(needs)
}

const hasPartialRollout = ({ custom, rollout }: PlannedCondition): boolean =>
  custom === null && rollout > 0 && rollout !== FULL_ROLLOUT
const choosesVariant = ({ custom, override }: PlannedCondition): boolean =>
  override === NO_VARIANT && (custom === null || custom.split === null)
