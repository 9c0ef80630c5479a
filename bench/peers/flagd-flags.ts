import type { Definitions, FlagDefinition } from '@halyard/engine'

/** The mixed flags in flagd's format: JsonLogic, cohorts as shared evaluators, rollouts as fractions. */
export function flagdFlags({ flags, cohorts = [] }: Definitions): string {
  return JSON.stringify({
    flags: Object.fromEntries(flags.map(flag => [flag.key, flagdFlag(flag)])),
    $evaluators: Object.fromEntries(cohorts.map(({ id, filters }) => [`cohort${id}`, ruleOf(propertiesOf(filters))])),
  })
}

interface Property {
  readonly key: string
  readonly type?: string
  readonly value: unknown
  readonly operator: string
  readonly values?: never
}

interface PropertyGroup {
  readonly type: string
  readonly values: readonly (Property | PropertyGroup)[]
}

interface Filters {
  readonly groups: readonly { readonly properties: readonly Property[]; readonly rollout_percentage: number }[]
  readonly multivariate?: {
    readonly variants: readonly { readonly key: string; readonly rollout_percentage: number }[]
  }
  readonly payloads?: Readonly<Record<string, string>>
}

const propertiesOf = (filters: unknown): PropertyGroup => (filters as { properties: PropertyGroup }).properties

function flagdFlag({ filters }: FlagDefinition): object {
  const { groups, multivariate, payloads } = filters as unknown as Filters
  if (multivariate) {
    const { variants } = multivariate
    return {
      state: 'ENABLED',
      variants: Object.fromEntries(variants.map(({ key }) => [key, JSON.parse(payloads![key]!)])),
      defaultVariant: variants[0]!.key,
      targeting: { fractional: variants.map(({ key, rollout_percentage }) => [key, rollout_percentage]) },
    }
  }
  const steps = groups.flatMap(({ properties, rollout_percentage: percentage }, at) => {
    const matches = properties.length === 0 ? true : ruleOf({ type: 'AND', values: properties })
    const fraction = {
      fractional: [
        ['on', percentage],
        ['off', 100 - percentage],
      ],
    }
    // A user outside the rollout of one condition may still match the next.
    return at === groups.length - 1 ? [matches, fraction] : [{ and: [matches, { '==': [fraction, 'on'] }] }, 'on']
  })
  return {
    state: 'ENABLED',
    variants: { on: true, off: false },
    defaultVariant: 'off',
    targeting: { if: [...steps, 'off'] },
  }
}

function ruleOf(rule: Property | PropertyGroup): unknown {
  if (rule.values) {
    const rules = rule.values.map(ruleOf)
    return rules.length === 1 ? rules[0] : { [rule.type.toLowerCase()]: rules }
  }
  const { key, type, value, operator } = rule as Property
  if (type === 'cohort') return { $ref: `cohort${value}` }
  const field = { var: [key] }
  switch (operator) {
    case 'exact':
      return Array.isArray(value) ? { in: [field, value] } : { '==': [field, value] }
    case 'is_not':
      return { '!=': [field, value] }
    case 'icontains':
      return { in: [value, field] }
    case 'gt':
      return { '>': [field, Number(value)] }
    case 'semver_gte':
      return { sem_ver: [field, '>=', value] }
    case 'is_date_after':
      return { '>': [field, value] }
    default:
      throw new Error(`flagd does not support ${operator}.`)
  }
}
