import type { FlagDefinition } from '../definition/definition.ts'
import type { FlagValue } from '../explain/reachable-values.ts'
import { FlagComparison, type Gain, type Movements } from './gain.ts'
import { readServedFlag, type ServedFlag } from './served-flag.ts'
import type { TargetValues } from './value-shares.ts'

/**
 * To how many more people a change releases a flag, in percent: upper bounds for any audience, which is people with the same properties
 * and groups. Where the bound cannot be computed, it is what the flag can reach at all.
 */
export interface Release {
  /** The percentage of an audience that gets the value and did not get it before. */
  readonly gain: number
  /** The percentage of an audience that gets the value, where someone gains. */
  readonly reach: number
}

/** For being on, and for each value of the new version, as far as someone gains it. Either version may be absent. */
export function releasesOf(before: FlagDefinition | undefined, after: FlagDefinition | undefined): readonly Release[] {
  const [old, next] = [readServedFlag(before), readServedFlag(after)]
  const comparison = new FlagComparison(old, next, noMovements)
  return gainedValues(old, next, target => comparison.gain(target))
}

export const noMovements: Movements = new Map()

export function gainedValues(
  before: ServedFlag,
  after: ServedFlag,
  gain: (isTarget: TargetValues) => Gain,
): readonly Release[] {
  const held = new Set<FlagValue>([before.holdout?.variant ?? false, after.holdout?.variant ?? false])
  const isOn: TargetValues = value => value !== false && !held.has(value)
  const targets = [isOn, ...[...valuesOf(after)].map(wanted => (value: FlagValue) => value === wanted)]
  return targets.map(gain).flatMap(one => (one.gain > precision ? [toPercent(one)] : []))
}

const precision = 1e-9
/** Without the traces of binary fractions, so that 55 - 50 is not above 5. */
const percent = (share: number): number => Math.round(share * 1e9) / 1e7
const toPercent = ({ gain, reach }: Gain): Release => ({ gain: percent(gain), reach: percent(reach) })

function valuesOf({ conditions, superCondition, enrollment, holdout }: ServedFlag): Set<FlagValue> {
  const values = new Set<FlagValue>()
  if (superCondition || enrollment) values.add(true)
  if (holdout) values.add(holdout.variant)
  for (const { outcome } of conditions) for (const { value } of outcome.spans) values.add(value)
  values.delete(false)
  return values
}
