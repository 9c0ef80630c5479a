import { NO_VARIANT } from '../evaluate/outcome.ts'
import { HashBatch } from '../hash/hash-batch.ts'
import { ROLLOUT_SALT, type Salt, VARIANT_SALT } from '../hash/message.ts'
import type { CompiledFlag } from './compiler.ts'
import type { ConditionTable } from './condition-table.ts'
import { FULL_ROLLOUT, type Plan } from './plan.ts'

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
export function planHashes(flags: readonly CompiledFlag[], conditions: ConditionTable): PlannedHashes[] {
  const plans = flags.flatMap(({ plan }, position) => (plan?.hasOwnIdentifier ? [{ plan, position }] : []))
  const entities = [...new Set(plans.map(({ plan }) => plan.entity))]
  return entities.flatMap(entity =>
    salts.flatMap(salt => {
      const members = plans
        .filter(({ plan }) => plan.entity === entity && needsHash(plan, salt, conditions))
        .map(({ plan, position }) => ({ prefix: plan.prefix, position }))
      return members.length === 0 ? [] : [{ entity, salt, batch: new HashBatch(members) }]
    }),
  )
}

function needsHash(
  { variants, conditionsStart, conditionsEnd }: Plan,
  salt: Salt,
  conditions: ConditionTable,
): boolean {
  if (salt === VARIANT_SALT && variants.length === 0) return false
  const needs = salt === ROLLOUT_SALT ? hasPartialRollout : choosesVariant
  for (let row = conditionsStart; row < conditionsEnd; row++) if (needs(conditions, row)) return true
  return false
}

const hasPartialRollout = ({ customs, rollouts }: ConditionTable, row: number): boolean =>
  customs[row] === null && rollouts[row]! > 0 && rollouts[row] !== FULL_ROLLOUT
const choosesVariant = ({ customs, overrides }: ConditionTable, row: number): boolean =>
  overrides[row] === NO_VARIANT && !customs[row]?.split
