import { describe, expect, it } from 'vitest'
import { compile, type Definitions, type FlagDefinition, openFeatureResult, usesCohorts, usesFlags } from './index.ts'
import { trustedRegex } from './testing/regex.ts'

const options = { regex: trustedRegex }
const now = 0

function flag(id: number, filters: unknown, more: Partial<FlagDefinition> = {}): FlagDefinition {
  return { id, key: `flag-${id}`, active: true, filters, ...more }
}

function project(flags: FlagDefinition[], more: Partial<Definitions> = {}): Definitions {
  return { flags, cohorts: [], groupTypes: { '0': 'company', '1': 'project' }, propertyMatchingVersion: 2, ...more }
}

const person = (key: string) => ({ key, type: 'person', operator: 'exact', value: 'x' })
const group = (key: string, group_type_index: number) => ({ ...person(key), type: 'group', group_type_index })
const inCohort = (value: number) => ({ key: 'id', type: 'cohort', operator: 'in', value })
const depends = (id: number) => ({ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value: true })
const one = (...properties: unknown[]) => ({ groups: [{ properties }] })

describe('an override', () => {
  const variants = ['control', 'test'].map(key => ({ key, rollout_percentage: 50 }))
  const base = compile(project([flag(1, one(person('plan'))), flag(2, one(depends(1))), flag(3, null)]), options)

  it('is the value for everyone, also for flags that depend on it', () => {
    const overridden = base.update({
      flags: [
        flag(1, one(person('plan')), { override: { value: true, payload: '{"a":1}' } }),
        flag(3, null, { override: { value: false, payload: null } }),
      ],
    })
    const results = overridden.evaluate({ distinctId: 'a' }, { now })
    expect(results.get('flag-1')).toMatchObject({ value: true, payload: '{"a":1}', reason: { code: 'override' } })
    expect(results.get('flag-2')?.value).toBe(true)
    expect(results.get('flag-3')).toMatchObject({ enabled: false, failed: false, reason: { code: 'override' } })
    expect(overridden.requirements.personProperties.size).toBe(0)
    expect(base.evaluate({ distinctId: 'a' }, { now }).get('flag-1')?.value).toBe(false)
  })

  it('is not static in the terms of OpenFeature, so that no client caches it', () => {
    const filters = { groups: [], multivariate: { variants } }
    const { flags } = compile(project([flag(1, filters, { override: { value: 'test', payload: null } })]), options)
    const result = openFeatureResult(flags[0]!, flags[0]!.outcomes[0]!)
    expect(result).toEqual({ value: 'test', variant: 'test', reason: 'TARGETING_MATCH' })
  })
})

describe('results', () => {
  it('are not changed by later evaluations', () => {
    const rollouts = Array.from({ length: 8 }, (_, index) => flag(index + 1, { groups: [{ rollout_percentage: 50 }] }))
    const snapshot = compile(project(rollouts), options)
    const earlier = Array.from({ length: 20 }, (_, index) => {
      const results = snapshot.evaluate({ distinctId: `person-${index}` }, { now })
      return { results, values: [...results].map(([, outcome]) => outcome.value) }
    })
    for (const { key } of rollouts) snapshot.evaluate({ distinctId: 'person-2' }, { now, keys: [key] })
    for (const { results, values } of earlier) expect([...results].map(([, outcome]) => outcome.value)).toEqual(values)
  })

  it('belong to their own project when evaluations of projects alternate', () => {
    const variants = ['control', 'test'].map(key => ({ key, rollout_percentage: 50 }))
    const projects = ['first', 'another-with-longer-keys'].map(name => {
      const flags = Array.from({ length: 12 }, (_, index) =>
        flag(
          index + 1,
          { groups: [{ rollout_percentage: 50 }], multivariate: { variants } },
          { key: `${name}-${index}` },
        ),
      )
      return { snapshot: compile(project(flags), options), keys: flags.map(({ key }) => key) }
    })
    for (let index = 0; index < 20; index++) {
      const subject = { distinctId: `person-${index}` }
      for (const { snapshot, keys } of projects) {
        const all = [...snapshot.evaluate(subject, { now })].map(([, { value }]) => value)
        const single = keys.map(key => snapshot.evaluate(subject, { now, keys: [key] }).get(key)!.value)
        expect(all).toEqual(single)
      }
    }
  })
})

describe('the requirements of one flag', () => {
  it('include those of its dependencies and leave out those of other flags', () => {
    const flags = [
      flag(1, one(person('plan'))),
      flag(2, one(depends(1), group('size', 0))),
      flag(3, one(inCohort(5)), { ensureExperienceContinuity: true }),
    ]
    const snapshot = compile(project(flags, { cohorts: [{ id: 5, isStatic: true, filters: {} }] }), options)
    const second = snapshot.requirementsOf('flag-2')!
    expect([...second.personProperties]).toEqual(['plan', 'size'])
    expect([...second.groupProperties.get('company')!]).toEqual(['size'])
    expect([second.staticCohorts.size, second.continuityFlags]).toEqual([0, []])
    const third = snapshot.requirementsOf('flag-3')!
    expect([[...third.staticCohorts], third.continuityFlags]).toEqual([[5], ['flag-3']])
    expect(snapshot.requirementsOf('unknown')).toBeUndefined()
  })
})

describe('an empty distinct id', () => {
  it('is in bucket 0 of every rollout and variant, one flag at a time and all together', () => {
    const variants = ['first', 'second'].map(key => ({ key, rollout_percentage: 50 }))
    const flags = Array.from({ length: 12 }, (_, index) =>
      flag(index + 1, { groups: [{ rollout_percentage: index % 2 ? 0 : 1 }], multivariate: { variants } }),
    )
    const snapshot = compile(project(flags), options)
    const subject = { distinctId: '' }
    const all = [...snapshot.evaluate(subject, { now })].map(([, { value }]) => value)
    expect(all).toEqual(flags.map(() => 'first'))
    for (const { key } of flags) {
      expect(snapshot.evaluate(subject, { now, keys: [key] }).get(key)!.value).toBe('first')
      expect(snapshot.evaluate({ distinctId: 'a' }, { now, keys: ['flag-2'] }).get('flag-2')!.value).toBe(false)
    }
  })
})

describe('values that PostHog SDKs decline', () => {
  const matches = (operator: string, value: unknown, actual: unknown): boolean => {
    const filters = one({ key: 'a', type: 'person', operator, value })
    const snapshot = compile(project([flag(1, filters)]), options)
    return (
      snapshot.evaluate({ distinctId: 'x', personProperties: { a: actual } }, { now }).get('flag-1')!.value === true
    )
  }

  it.each([
    ['not_between', [1, 10], 'text', false],
    ['not_between', [1, 10], true, false],
    ['not_between', [1, 10], 'NaN', false],
    ['not_between', [1, 10], 11, true],
    ['not_between', [1, 10], '-inf', true],
    ['between', [1, 10], ' 1', false],
    ['between', [1, 10], [1], false],
    ['between', [1, 10], '1e0', true],
    ['semver_lt', '01.02.03', '1.2.3-alpha', true],
    ['semver_eq', '01.02.03', '1.2.3-alpha', false],
    ['semver_gt', '01.2.3-alpha.2', '1.2.3-alpha.10', true],
    ['semver_gt', '1.2.3', '01.2.3+build', true],
    ['semver_eq', '1.2.3', '1.2.3-alpha', true],
    ['semver_wildcard', '1.x', '1.9.0', true],
    ['semver_wildcard', '1.x', '2.0.0', false],
    ['semver_wildcard', '*', '7.0.0', true],
    ['icontains_multi', 'Ell', 'hello', true],
    ['not_icontains_multi', 'ell', 'hello', false],
  ])('%s %j on %j is %s', (operator, value, actual, expected) => {
    expect(matches(operator, value, actual)).toBe(expected)
  })
})

describe('requirements', () => {
  it('are empty when no lookup is needed', () => {
    const { requirements } = compile(project([flag(1, one(person('distinct_id')))]), options)
    expect(requirements.personProperties.size).toBe(0)
    expect(requirements.groupTypes.size).toBe(0)
    expect(requirements.staticCohorts.size).toBe(0)
    expect(requirements.continuityFlags).toEqual([])
    expect(requirements.deviceId).toBe(false)
  })

  it('list what flags and their cohorts read', () => {
    const cohorts = [
      { id: 1, isStatic: false, filters: { type: 'AND', values: [person('plan'), inCohort(2)] } },
      { id: 2, isStatic: true, filters: {} },
    ]
    const flags = [
      flag(1, one(person('email'), inCohort(1))),
      flag(2, { ...one(group('size', 0), group('$group_key', 0)), aggregation_group_type_index: 0 }),
      flag(3, { groups: [{ aggregation_group_type_index: 1 }], feature_enrollment: true }),
      flag(4, { groups: [] }, { ensureExperienceContinuity: true, bucketingIdentifier: 'device_id' }),
      flag(5, one(person('unread')), { active: false }),
    ]
    const { requirements } = compile(project(flags, { cohorts }), options)
    expect([...requirements.personProperties].sort()).toEqual([
      '$device_id',
      '$feature_enrollment/flag-3',
      'email',
      'plan',
    ])
    expect([...requirements.groupTypes].sort()).toEqual(['company', 'project'])
    expect(requirements.groupProperties.get('company')).toEqual(new Set(['size']))
    expect([...requirements.staticCohorts]).toEqual([2])
    expect(requirements.continuityFlags).toEqual(['flag-4'])
    expect(requirements.deviceId).toBe(true)
  })
})

describe('dependencies', () => {
  it('are listed in evaluation order', () => {
    const cohorts = [{ id: 1, isStatic: false, filters: { type: 'AND', values: [depends(1)] } }]
    const flags = [flag(3, one(depends(2))), flag(2, one(inCohort(1))), flag(1, one()), flag(4, one(depends(9)))]
    const snapshot = compile(project(flags, { cohorts }), options)
    expect(snapshot.dependencyChain('3')).toEqual(['flag-1', 'flag-2', 'flag-3'])
    expect(snapshot.dependencyChain('1')).toEqual(['flag-1'])
    expect(snapshot.dependencyChain('4')).toEqual([])
    expect(snapshot.dependencyChain('9')).toEqual([])
  })

  it('that are missing are reported as issues until they exist', () => {
    const snapshot = compile(project([flag(1, one(depends(2)))]), options)
    expect(snapshot.issues.get(1)).toMatchObject([{ code: 'unknown_flag' }])
    const whole = snapshot.update({ flags: [flag(2, one())] })
    expect(whole.issues.size).toBe(0)
    expect(whole.evaluate({ distinctId: 'x' }, { now }).get('flag-1')?.value).toBe(true)
    expect(snapshot.evaluate({ distinctId: 'x' }, { now }).get('flag-1')?.value).toBe(false)
    const broken = whole.update({ removed: [2] })
    expect(broken.evaluate({ distinctId: 'x' }, { now }).get('flag-1')?.reason.code).toBe('missing_dependency')
  })
})

describe('results', () => {
  const snapshot = compile(project([flag(1, one()), flag(2, one()), flag(3, one(), { active: false })]), options)

  it('are one outcome index per flag', () => {
    const results = snapshot.evaluate({ distinctId: 'x' }, { now })
    expect(results.flagIndexes).toEqual([0, 1, 2])
    expect(results.outcome(1)).toBe(snapshot.flags[1]!.outcomes[results.outcomeIndex(1)])
    expect(results.outcome(1)).toBe(results.outcome(0))
    expect(results.get('flag-3')?.reason.code).toBe('flag_disabled')
    expect(results.get('nothing')).toBeUndefined()
    expect(results.outcomeIndex(7)).toBe(-1)
  })

  it('contain only the requested flags', () => {
    const results = snapshot.evaluate({ distinctId: 'x' }, { now, keys: ['flag-3', 'flag-1'] })
    expect(results.flagIndexes).toEqual([0, 2])
    expect(results.outcomeIndex(1)).toBe(-1)
    expect(results.get('flag-2')).toBeUndefined()
    expect(results.get('flag-3')?.value).toBe(false)
  })
})

describe('references', () => {
  it('are read from the filters of flags and of cohorts', () => {
    const filters = {
      groups: [{ properties: [inCohort(3), depends(4), person('x')] }],
      super_groups: [one().groups[0]],
    }
    expect(usesCohorts(filters)).toEqual([3])
    expect(usesFlags(filters)).toEqual([4])
    const tree = { properties: { type: 'OR', values: [{ type: 'AND', values: [inCohort(7), depends(8)] }] } }
    expect(usesCohorts(tree)).toEqual([7])
    expect(usesFlags(tree)).toEqual([8])
    expect(usesFlags('nonsense')).toEqual([])
  })
})
