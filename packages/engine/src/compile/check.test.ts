import { describe, expect, it, test } from 'vitest'
import { type CohortDefinition, checkCohort, checkFlag, type Definitions, type FlagDefinition } from '../index.ts'
import { trustedRegex } from '../testing/regex.ts'

const options = { regex: trustedRegex }

const empty: Definitions = { flags: [], cohorts: [], groupTypes: { '0': 'company' }, propertyMatchingVersion: 2 }

function flagWith(filters: unknown, id = 1): FlagDefinition {
  return { id, key: `flag-${id}`, active: true, filters }
}

function cohortWith(values: unknown[], id = 1): CohortDefinition {
  return { id, name: `Cohort ${id}`, isStatic: false, filters: { properties: { type: 'AND', values } } }
}

function problems(filters: unknown, definitions: Definitions = empty): string[] {
  return checkFlag(flagWith(filters), definitions, options).map(({ code, path }) => `${code} ${path}`)
}

function one(property: unknown): unknown {
  return { groups: [{ properties: [property] }] }
}

const first = 'filters.groups[0].properties[0]'
const variants = (...shares: number[]) => ({
  variants: shares.map((rollout_percentage, index) => ({ key: `v${index}`, rollout_percentage })),
})

describe('checkFlag', () => {
  test.each([
    ['nothing at all', {}],
    ['absent filters', undefined],
    ['unknown keys', { groups: [{ sort_key: 'x', description: 1 }], anything: { goes: [1] } }],
    ['a property without type', one({ key: 'email', value: 'x' })],
    ['payloads of any JSON', { groups: [], payloads: { true: { a: [1] } } }],
    ['three thirds', { multivariate: variants(33.333, 33.333, 33.334) }],
    ['an override', { groups: [{ variant: 'v0' }], multivariate: variants(100) }],
    ['is_set without value', one({ key: 'email', operator: 'is_set' })],
    ['a relative date', one({ key: 'at', operator: 'is_date_after', value: '-30d' })],
    ['min and max', one({ key: 'age', operator: 'min', value: 3 })],
    ['a group property', one({ key: 'size', type: 'group', group_type_index: 0, value: 'big' })],
  ])('accepts %s', (_title, filters) => {
    expect(problems(filters)).toEqual([])
  })

  test.each([
    ['no object', [], 'wrong_type filters'],
    ['groups that are no list', { groups: {} }, 'wrong_type filters.groups'],
    ['a condition that is no object', { groups: [1] }, 'wrong_type filters.groups[0]'],
    ['properties that are no list', { groups: [{ properties: {} }] }, 'wrong_type filters.groups[0].properties'],
    [
      'a percentage as text',
      { groups: [{ rollout_percentage: '5' }] },
      'wrong_type filters.groups[0].rollout_percentage',
    ],
    [
      'a percentage below 0',
      { groups: [{ rollout_percentage: -1 }] },
      'out_of_range filters.groups[0].rollout_percentage',
    ],
    [
      'a percentage above 100',
      { groups: [{}, { rollout_percentage: 101 }] },
      'out_of_range filters.groups[1].rollout_percentage',
    ],
    ['variants that do not add up', { multivariate: variants(50, 49) }, 'variant_sum filters.multivariate.variants'],
    [
      'an unknown override',
      { groups: [{ variant: 'x' }], multivariate: variants(100) },
      'unknown_variant filters.groups[0].variant',
    ],
    ['an override without variants', { groups: [{ variant: 'x' }] }, 'unknown_variant filters.groups[0].variant'],
    [
      'a payload for no variant',
      { multivariate: variants(100), payloads: { x: 1 } },
      'unknown_payload filters.payloads.x',
    ],
    ['a second payload', { payloads: { true: 1, false: 2 } }, 'unknown_payload filters.payloads.false'],
    ['payloads that are no object', { payloads: [] }, 'wrong_type filters.payloads'],
    [
      'a group index out of range',
      { aggregation_group_type_index: 5 },
      'out_of_range filters.aggregation_group_type_index',
    ],
    ['a property without key', one({ value: 'x' }), `wrong_type ${first}.key`],
    ['a property of unknown type', one({ key: 'a', value: 'x', type: 'event' }), `wrong_type ${first}.type`],
    ['an unknown operator', one({ key: 'a', value: 'x', operator: 'like' }), `unknown_operator ${first}.operator`],
    ['in on a person property', one({ key: 'a', value: 'x', operator: 'in' }), `wrong_operator ${first}.operator`],
    ['a missing value', one({ key: 'a' }), `invalid_value ${first}.value`],
    ['a list for icontains', one({ key: 'a', value: ['x'], operator: 'icontains' }), `invalid_value ${first}.value`],
    ['a list for gt', one({ key: 'a', value: [1], operator: 'gt' }), `invalid_value ${first}.value`],
    ['one limit for between', one({ key: 'a', value: [1], operator: 'between' }), `invalid_value ${first}.value`],
    [
      'an empty list for icontains_multi',
      one({ key: 'a', value: [], operator: 'icontains_multi' }),
      `invalid_value ${first}.value`,
    ],
    [
      'an empty version pattern',
      one({ key: 'a', value: '', operator: 'semver_wildcard' }),
      `invalid_version ${first}.value`,
    ],
    [
      'a version pattern of two wildcards',
      one({ key: 'a', value: '*.*', operator: 'semver_wildcard' }),
      `invalid_version ${first}.value`,
    ],
    ['a bad date', one({ key: 'a', value: 'soon', operator: 'is_date_before' }), `invalid_date ${first}.value`],
    [
      'a distance too far',
      one({ key: 'a', value: '-10000d', operator: 'is_date_before' }),
      `invalid_date ${first}.value`,
    ],
    ['a bad version', one({ key: 'a', value: 'x.y', operator: 'semver_gt' }), `invalid_version ${first}.value`],
    ['a bad regular expression', one({ key: 'a', value: '(', operator: 'regex' }), `invalid_regex ${first}.value`],
    ['an unknown cohort', one({ key: 'id', type: 'cohort', value: 7 }), `cohort_does_not_exist ${first}.value`],
    ['a cohort that is no id', one({ key: 'id', type: 'cohort', value: 'x' }), `invalid_value ${first}.value`],
    [
      'an unknown flag',
      one({ key: '7', type: 'flag', operator: 'flag_evaluates_to', value: true }),
      `unknown_flag ${first}.key`,
    ],
    [
      'the flag itself',
      one({ key: '1', type: 'flag', operator: 'flag_evaluates_to', value: true }),
      `self_dependency ${first}.key`,
    ],
    [
      'another operator on a flag',
      one({ key: '7', type: 'flag', operator: 'exact', value: true }),
      `wrong_operator ${first}.operator`,
    ],
    [
      'a holdout percentage as text',
      { holdout: { id: 1, exclusion_percentage: 'x' } },
      'wrong_type filters.holdout.exclusion_percentage',
    ],
    [
      'a holdout above 100',
      { holdout: { id: 1, exclusion_percentage: 101 } },
      'out_of_range filters.holdout.exclusion_percentage',
    ],
    ['a switch that is no boolean', { feature_enrollment: 'yes' }, 'wrong_type filters.feature_enrollment'],
    ['early_exit as a number', { early_exit: 1 }, 'wrong_type filters.early_exit'],
  ])('refuses %s', (_title, filters, expected) => {
    expect(problems(filters)).toContain(expected)
  })

  it('rejects two variants with the same key', () => {
    const twins = {
      variants: [
        { key: 'a', rollout_percentage: 50 },
        { key: 'a', rollout_percentage: 50 },
      ],
    }
    expect(problems({ multivariate: twins })).toEqual(['duplicate_variant filters.multivariate.variants[1].key'])
  })

  it('names the path of a dependency cycle', () => {
    const depends = (id: number) => one({ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value: true })
    const definitions = { ...empty, flags: [flagWith({}, 1), flagWith(depends(1), 2), flagWith(depends(2), 3)] }
    const issues = checkFlag(flagWith(depends(3)), definitions, options)
    expect(issues).toEqual([
      {
        code: 'flag_cycle',
        path: `${first}.key`,
        message: 'This would create a circular dependency: flag-1 → flag-3 → flag-2 → flag-1.',
      },
    ])
  })

  it('accepts a behavioral cohort, also when nested in another, but no behavioral filter in a flag', () => {
    const behavioral = {
      type: 'behavioral',
      key: '$pageview',
      value: 'performed_event',
      time_value: 7,
      time_interval: 'day',
    }
    const cohorts = [cohortWith([behavioral], 1), cohortWith([{ type: 'cohort', key: 'id', value: 1 }], 2)]
    const filters = one({ key: 'id', type: 'cohort', value: 2 })
    expect(problems(filters, { ...empty, cohorts })).toEqual([])
    expect(problems(one(behavioral))).toContain(`behavioral_cohort ${first}.type`)
  })

  it('rejects a cohort that contains itself', () => {
    const cohorts = [
      cohortWith([{ type: 'cohort', key: 'id', value: 2 }], 1),
      cohortWith([{ type: 'cohort', key: 'id', value: 1 }], 2),
    ]
    expect(problems(one({ key: 'id', type: 'cohort', value: 2 }), { ...empty, cohorts })).toContain(
      `cohort_cycle ${first}.value`,
    )
  })

  it('rejects filters that are too large or nested too deeply', () => {
    let deep: unknown = 'x'
    for (let depth = 0; depth < 20_000; depth++) deep = [deep]
    expect(problems(one({ key: 'a', value: deep })).length).toBeGreaterThan(0)
    expect(problems({ groups: [], note: 'x'.repeat(600_000) })).toEqual(['too_large filters'])
    const payloads = { true: JSON.stringify('x'.repeat(600_000)) }
    expect(problems({ groups: [], payloads })).toEqual(['too_large filters.payloads.true'])
    expect(problems({ groups: Array(2000).fill({}), multivariate: variants(...Array(20).fill(5)) })).toEqual([
      'too_large filters',
    ])
  })
})

describe('checkCohort', () => {
  const check = (cohort: CohortDefinition, definitions: Definitions = empty) =>
    checkCohort(cohort, definitions, options).map(({ code, path }) => `${code} ${path}`)
  const at = 'filters.properties.values[0]'

  it('accepts groups of filters, and a static cohort without filters', () => {
    const group = { type: 'AND', values: [{ key: 'email', type: 'person', value: 'x', negation: true }] }
    expect(check(cohortWith([group, { type: 'OR', values: [] }]))).toEqual([])
    expect(check({ id: 1, isStatic: true, filters: {} })).toEqual([])
  })

  test.each([
    ['an unknown type of group', [{ type: 'XOR', values: [{ key: 'a', value: 1 }] }], `invalid_value ${at}.type`],
    ['values that are no list', [{ type: 'AND', values: 5 }], `wrong_type ${at}.values`],
    [
      'groups beside filters',
      [
        { type: 'AND', values: [] },
        { key: 'a', value: 'b' },
      ],
      'mixed_cohort_group filters.properties.values[1]',
    ],
    ['a bad value', [{ key: 'a', operator: 'is_date_after', value: 'soon' }], `invalid_date ${at}.value`],
    ['an unknown operator', [{ key: 'a', operator: 'like', value: 'x' }], `unknown_operator ${at}.operator`],
    ['an unknown cohort', [{ type: 'cohort', key: 'id', value: 9 }], `cohort_does_not_exist ${at}.value`],
    ['itself', [{ type: 'cohort', key: 'id', value: 1 }], `cohort_cycle ${at}.value`],
    ['not_in', [{ type: 'cohort', key: 'id', value: 9, operator: 'not_in' }], `wrong_operator ${at}.operator`],
    [
      'an unknown flag',
      [{ type: 'flag', key: '9', operator: 'flag_evaluates_to', value: true }],
      `unknown_flag ${at}.key`,
    ],
  ])('refuses %s', (_title, values, expected) => {
    expect(check(cohortWith(values))).toContain(expected)
  })

  it('rejects a cycle through a flag', () => {
    const flag = flagWith(one({ key: 'id', type: 'cohort', value: 1 }))
    const cohort = cohortWith([{ type: 'flag', key: '1', operator: 'flag_evaluates_to', value: true }])
    expect(check(cohort, { ...empty, flags: [flag], cohorts: [cohortWith([])] })).toEqual([`cohort_cycle ${at}.key`])
  })
})
