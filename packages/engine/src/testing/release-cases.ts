import type { CohortDefinition, FlagDefinition, Subject } from '../definition/definition.ts'
import type { Outcome } from '../evaluate/outcome.ts'
import { holdoutBucket, rolloutBucket, variantBucket } from '../hash/bucket.ts'
import { compile } from '../snapshot.ts'
import type { Random } from './random.ts'
import { trustedRegex } from './regex.ts'

/** Two versions of flags, for comparisons by brute force: everyone of a small population is evaluated before and after. */

export const changedKey = 'changed'
/** Another flag, which does not change and is the same for everyone of an audience. */
export const otherFlag: FlagDefinition = {
  id: 2,
  key: 'other',
  active: true,
  filters: { groups: [{ properties: [{ key: 'plan', type: 'person', value: 'b', operator: 'exact' }] }] },
}

export type Filters = Record<string, unknown>
type Condition = Filters & { readonly properties: readonly unknown[] }

const stepPercent = 20
const percentage = (random: Random): number => random.below(100 / stepPercent + 1) * stepPercent
const rollout = (random: Random): number | null => (random.chance(0.2) ? null : percentage(random))

const person = (key: string, value: unknown, operator: string, more = {}) => ({
  key,
  type: 'person',
  value,
  operator,
  ...more,
})
const properties: readonly unknown[] = [
  person('plan', ['a'], 'exact'),
  person('plan', ['a', 'b'], 'exact'),
  person('plan', 'b', 'exact'),
  person('plan', 'a', 'is_not'),
  person('plan', ['a', 'b'], 'is_not'),
  person('plan', 'a', 'exact', { inverted: true }),
  person('beta', '', 'is_set'),
  person('beta', '', 'is_not_set'),
  { type: 'flag', key: '2', operator: 'flag_evaluates_to', value: true },
  { type: 'flag', key: '2', operator: 'flag_evaluates_to', value: false },
  { type: 'cohort', key: 'id', value: 1 },
]

function condition(random: Random): Condition {
  const common = { properties: random.list(2, () => random.pick(properties)), rollout_percentage: rollout(random) }
  if (random.chance(0.1)) return { ...common, value: false }
  return {
    ...common,
    ...(random.chance(0.2) && { variant: random.pick(['v1', 'v2', 'unknown']) }),
    ...(random.chance(0.1) && { aggregation_group_type_index: 0 }),
  }
}

function variants(random: Random) {
  const [from, to] = [percentage(random), percentage(random)].sort((a, b) => a - b) as [number, number]
  const list = [
    { key: 'v1', rollout_percentage: from },
    { key: 'v2', rollout_percentage: to - from },
    { key: 'v3', rollout_percentage: 100 - to },
  ]
  return { variants: random.chance(0.5) ? list : list.reverse() }
}

const parts: Readonly<Record<string, (random: Random) => unknown>> = {
  groups: random => random.list(4, () => condition(random)),
  multivariate: random => (random.chance(0.5) ? variants(random) : null),
  super_groups: random =>
    random.chance(0.15)
      ? [
          {
            properties: random.pick([[], [person('beta', 'x', 'exact')]]),
            rollout_percentage: rollout(random),
          },
        ]
      : [],
  holdout: random =>
    random.chance(0.2) ? { id: random.pick([1, 2]), exclusion_percentage: random.pick([0, 50, 100]) } : null,
  feature_enrollment: random => random.chance(0.1),
  early_exit: random => random.chance(0.2),
}

const filters = (random: Random): Filters =>
  Object.fromEntries(Object.entries(parts).map(([name, make]) => [name, make(random)]))

/** The same conditions, some of them edited, added, moved or removed. */
function edited(random: Random, before: readonly Condition[]): readonly Condition[] {
  const after = before.flatMap((one): Condition[] => {
    switch (random.below(9)) {
      case 0:
      case 1:
        return [{ ...one, rollout_percentage: rollout(random) }]
      case 2:
        return [{ ...one, properties: one.properties.filter(() => random.chance(0.5)) }]
      case 3:
        return [{ ...one, properties: [...one.properties, random.pick(properties)] }]
      case 4:
        return [one, condition(random)]
      case 5:
        return []
      default:
        return [one]
    }
  })
  return random.chance(0.2) ? after.reverse() : after
}

export interface ReleaseCase {
  readonly before: FlagDefinition
  readonly after: FlagDefinition
  /** Whether people are hashed with something else than the population is chosen by, so that shares are estimates. */
  readonly isEstimate: boolean
}

export function randomRelease(random: Random): ReleaseCase {
  const before = filters(random)
  const after: Filters = { ...before, groups: edited(random, before.groups as readonly Condition[]) }
  for (const [name, make] of Object.entries(parts)) if (random.chance(0.15)) after[name] = make(random)
  if (random.chance(0.1)) {
    after.bucketing = random.pick([
      { algorithm: 'unleash', seed: 'one' },
      { algorithm: 'posthog', seed: 'two' },
    ])
  }
  const byDevice = random.chance(0.1)
  const usesGroups = JSON.stringify([before, after]).includes('aggregation_group_type_index')
  return {
    before: { id: 1, key: changedKey, active: random.chance(0.9), filters: before },
    after: {
      id: 1,
      key: changedKey,
      active: random.chance(0.9),
      filters: after,
      ...(byDevice && { bucketingIdentifier: 'device_id' as const }),
    },
    isEstimate: after.bucketing !== undefined || byDevice || usesGroups,
  }
}

/** Rollout and variant of the changed flag are hit in steps of 20 %, holdouts in steps of 50 %: shares are exact. */
const identifiers: readonly string[] = (() => {
  const byCell = new Map<string, string>()
  const cellOf = (bucket: number, count: number) => Math.floor(bucket * count)
  const cells = 100 / stepPercent
  for (let n = 0; byCell.size < cells * cells * 2; n++) {
    const id = `person-${n}`
    const buckets = [cellOf(rolloutBucket(changedKey, id), cells), cellOf(variantBucket(changedKey, id), cells)]
    byCell.set([...buckets, cellOf(holdoutBucket(id), 2)].join(), id)
  }
  return [...byCell.values()]
})()

/** Audiences: people with the same properties and groups. */
const audiences: readonly Omit<Subject, 'distinctId'>[] = [undefined, 'a', 'b'].flatMap(plan =>
  [{}, { beta: 'x' }, { [`$feature_enrollment/${changedKey}`]: true }, { beta: 'y' }].map((more, index) => ({
    personProperties: { ...more, ...(plan && { plan }) },
    ...(index === 3 && { groups: { company: 'acme' } }),
  })),
)

const cohorts: readonly CohortDefinition[] = [
  {
    id: 1,
    isStatic: false,
    filters: { properties: { type: 'OR', values: [{ type: 'AND', values: [person('plan', 'b', 'exact')] }] } },
  },
]

export interface MeasuredGain {
  /** In percent of the audience. */
  readonly gain: number
  readonly share: number
}

/** For each audience and value: how many gained it, and how many have it, where someone gained. */
export function measureGains(
  before: readonly FlagDefinition[],
  after: readonly FlagDefinition[],
  key: string,
  of: 'each value' | 'being on' = 'each value',
): readonly MeasuredGain[] {
  const evaluate = (flags: readonly FlagDefinition[]) => {
    const definitions = { flags, cohorts, groupTypes: { '0': 'company' }, propertyMatchingVersion: 2 as const }
    const snapshot = compile(definitions, { regex: trustedRegex })
    return (subject: Subject) => snapshot.evaluate(subject, { keys: [key], now: 0 }).get(key)
  }
  const [old, next] = [evaluate(before), evaluate(after)]
  return audiences.flatMap(audience => {
    const pairs = identifiers.map((distinctId, index) => {
      const groups = audience.groups && { groups: { company: `company-${index}` } }
      const subject = { ...audience, ...groups, distinctId, deviceId: `device-${index}` }
      return [textOf(old(subject)), textOf(next(subject))] as const
    })
    const values = new Set(of === 'being on' ? [] : pairs.flat().filter(value => value !== off))
    const targets = [isOn, ...[...values].map(wanted => (value: string) => value === wanted)]
    return targets.flatMap(isTarget => {
      const gained = pairs.filter(([a, b]) => isTarget(b) && !isTarget(a)).length
      const share = pairs.filter(([, b]) => isTarget(b)).length
      return gained === 0 ? [] : [{ gain: toPercent(gained), share: toPercent(share) }]
    })
  })
}

const off = 'false'
const textOf = (outcome: Outcome | undefined): string => String(outcome?.value ?? false)
const isOn = (value: string): boolean => value !== off && !value.startsWith('holdout-')
const toPercent = (count: number): number => (count * 100) / identifiers.length
