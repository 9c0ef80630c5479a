import type { Definitions, FlagDefinition, Subject } from '@halyard/engine'

/** The mixed flags in Unleash's format: a strategy per condition, cohorts as segments, which are conjunctions of constraints. */
export interface UnleashFeature {
  readonly name: string
  readonly strategies: readonly UnleashStrategy[]
}

export interface UnleashStrategy {
  readonly name: 'flexibleRollout'
  readonly parameters: Readonly<Record<string, string>>
  readonly constraints: readonly Constraint[]
  readonly segments: readonly number[]
  readonly variants: readonly object[]
}

export interface UnleashSegment {
  readonly id: number
  readonly constraints: readonly Constraint[]
}

interface Constraint {
  readonly contextName: string
  readonly operator: string
  readonly values: readonly string[]
  readonly value?: string
  readonly caseInsensitive: boolean
  readonly inverted: boolean
}

interface Property {
  readonly key: string
  readonly type: string
  readonly value: unknown
  readonly operator: string
}

interface Filters {
  readonly groups: readonly { readonly properties: readonly Property[]; readonly rollout_percentage: number }[]
  readonly multivariate?: {
    readonly variants: readonly { readonly key: string; readonly rollout_percentage: number }[]
  }
  readonly payloads?: Readonly<Record<string, string>>
}

export function unleashSegments({ cohorts = [] }: Definitions): UnleashSegment[] {
  return cohorts.flatMap(({ id, filters }) => {
    const { values } = (filters as { properties: { values: { values: Property[] }[] } }).properties
    // Each cohort is a disjunction of two lists of conditions, so it becomes two segments.
    return values.map((list, at) => ({ id: Number(id) * 2 - 1 + at, constraints: list.values.map(constraintOf) }))
  })
}

export const unleashFeatures = ({ flags }: Definitions): UnleashFeature[] => flags.map(featureOf)

function featureOf({ key, filters }: FlagDefinition): UnleashFeature {
  const { groups, multivariate, payloads } = filters as unknown as Filters
  const variants = (multivariate?.variants ?? []).map(variant => ({
    name: variant.key,
    weight: variant.rollout_percentage * 10,
    weightType: 'variable',
    stickiness: 'userId',
    payload: { type: 'json', value: payloads![variant.key] },
  }))
  const strategies = groups.flatMap(({ properties, rollout_percentage }) => {
    const cohort = properties.find(({ type }) => type === 'cohort')
    const strategy = (segments: readonly number[]): UnleashStrategy => ({
      name: 'flexibleRollout',
      parameters: { rollout: String(rollout_percentage), stickiness: 'userId', groupId: key },
      constraints: properties.filter(({ type }) => type !== 'cohort').map(constraintOf),
      segments,
      variants,
    })
    if (!cohort) return [strategy([])]
    const first = Number(cohort.value) * 2 - 1
    return [strategy([first]), strategy([first + 1])]
  })
  return { name: key, strategies }
}

function constraintOf({ key, value, operator }: Property): Constraint {
  const values = (Array.isArray(value) ? value : [value]).map(String)
  const common = { contextName: key, caseInsensitive: operator === 'icontains', inverted: false }
  switch (operator) {
    case 'exact':
      return { ...common, operator: 'IN', values }
    case 'is_not':
      return { ...common, operator: 'NOT_IN', values }
    case 'icontains':
      return { ...common, operator: 'STR_CONTAINS', values }
    case 'gt':
      return { ...common, operator: 'NUM_GT', values: [], value: values[0]! }
    case 'semver_gte':
      return { ...common, operator: 'SEMVER_GTE', values: [], value: values[0]! }
    case 'is_date_after':
      // Unleash can compare dates only with the current time, which costs no more than reading the property.
      return { ...common, contextName: 'currentTime', operator: 'DATE_AFTER', values: [], value: `${value}T00:00:00Z` }
    default:
      throw new Error(`Unleash does not support ${operator}.`)
  }
}

export const unleashContext = ({ distinctId, personProperties }: Subject) => ({
  userId: distinctId,
  properties: Object.fromEntries(Object.entries(personProperties ?? {}).map(([name, value]) => [name, String(value)])),
})
