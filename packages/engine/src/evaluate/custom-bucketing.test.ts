import { describe, expect, it } from 'vitest'
import { bucketingAlgorithms } from '../hash/vendors/bucketing-algorithms.ts'
import {
  bucketingAlgorithmNames,
  checkFlag,
  compile,
  type Definitions,
  type FlagDefinition,
  isServerOnly,
  type Subject,
} from '../index.ts'
import { trustedRegex } from '../testing/regex.ts'

const options = { regex: trustedRegex }
const now = Date.parse('2026-01-01T00:00:00Z')
const variants = ['a', 'b', 'c'].map((key, index) => ({ key, rollout_percentage: [20, 30, 50][index] }))

const flagOf = (filters: object): FlagDefinition => ({ id: 1, key: 'checkout', active: true, filters })
const definitionsOf = (filters: object): Definitions => ({
  flags: [flagOf(filters)],
  cohorts: [],
  groupTypes: {},
  propertyMatchingVersion: 2,
})

/** The values of many people, of which every one must be the same in a batch, alone and in an explanation. */
function valuesOf(filters: object, subjectOf: (index: number) => Subject, count = 2000): (boolean | string)[] {
  const snapshot = compile(definitionsOf(filters), options)
  return Array.from({ length: count }, (_, index) => {
    const subject = subjectOf(index)
    const { value } = snapshot.evaluate(subject, { now }).get('checkout')!
    expect(snapshot.evaluate(subject, { now, keys: ['checkout'] }).get('checkout')!.value).toBe(value)
    if (index % 50 === 0) {
      const trace = snapshot.explain(subject, { key: 'checkout', now })!
      expect(trace.outcome.value).toBe(value)
      expect(trace.conditions[0]!.result).toBe(value === false ? 'out_of_rollout' : 'matched')
    }
    return value
  })
}

const person = (index: number): Subject => ({ distinctId: `user-${index}` })
const shareOf = (values: readonly unknown[], value: unknown): number =>
  values.filter(other => other === value).length / values.length

describe.each(bucketingAlgorithmNames)('bucketing of %s', algorithm => {
  const bucketing = { algorithm, seed: 'checkout.salt' }

  it('includes about the given percentage, and those of a smaller one', () => {
    const at = (rollout_percentage: number) => valuesOf({ groups: [{ rollout_percentage }], bucketing }, person)
    const [few, many] = [at(20), at(60)]
    expect(shareOf(few, true)).toBeGreaterThan(0.16)
    expect(shareOf(few, true)).toBeLessThan(0.24)
    expect(shareOf(many, true)).toBeGreaterThan(0.55)
    expect(shareOf(many, true)).toBeLessThan(0.65)
    expect(few.every((value, index) => value === false || many[index] === true)).toBe(true)
  })

  it('distributes about the given weights', () => {
    // LaunchDarkly's weights are in units of 1/100,000; for all others only their proportion counts.
    const unit = algorithm === 'launchdarkly' ? 1000 : 1
    const parts = variants.map(({ key, rollout_percentage }) => ({ variant: key, weight: rollout_percentage! * unit }))
    const values = valuesOf({ groups: [{ split: { variants: parts } }], multivariate: { variants }, bucketing }, person)
    for (const { key, rollout_percentage } of variants) {
      expect(Math.abs(shareOf(values, key) - rollout_percentage! / 100)).toBeLessThan(0.05)
    }
  })

  it('hashes the given property', () => {
    const filters = { groups: [{ rollout_percentage: 50 }], bucketing: { ...bucketing, by: 'company' } }
    const inCompany = (company: unknown) => (index: number) => ({ ...person(index), personProperties: { company } })
    expect(new Set(valuesOf(filters, inCompany('acme'), 50)).size).toBe(1)
    const companies = valuesOf(filters, index => inCompany(`company-${index}`)(0))
    expect(Math.abs(shareOf(companies, true) - 0.5)).toBeLessThan(0.06)
    expect(compile(definitionsOf(filters), options).requirements.personProperties).toEqual(new Set(['company']))
    const [missing] = valuesOf(filters, person, 1)
    expect(missing).toBe(bucketingAlgorithms[algorithm].withoutIdentifier === 'zero')
  })
})

it('a condition with a split needs no other bucketing, and gives the next condition those outside of its ranges', () => {
  const split = {
    variants: [
      { variant: 'a', range: [0, 0.25] },
      { variant: 'b', range: [0.5, 0.75] },
    ],
  }
  const values = valuesOf({ groups: [{ split }, { variant: 'c' }], multivariate: { variants } }, person, 0)
  expect(values).toEqual([])
  const snapshot = compile(
    definitionsOf({ groups: [{ split }, { variant: 'c' }], multivariate: { variants } }),
    options,
  )
  const seen = Array.from(
    { length: 2000 },
    (_, index) => snapshot.evaluate(person(index), { now }).get('checkout')!.value,
  )
  for (const [key, share] of [
    ['a', 0.25],
    ['b', 0.25],
    ['c', 0.5],
  ] as const) {
    expect(Math.abs(shareOf(seen, key) - share)).toBeLessThan(0.05)
  }
})

it('a native split with the percentages of the variants gives the same variants as PostHog', () => {
  const parts = variants.map(({ key, rollout_percentage }) => ({ variant: key, weight: rollout_percentage }))
  const multivariate = { variants }
  const native = valuesOf({ groups: [{}], multivariate }, person)
  expect(valuesOf({ groups: [{ split: { variants: parts } }], multivariate }, person)).toEqual(native)
  const posthog = { algorithm: 'posthog', seed: 'checkout' }
  const rollout = (bucketing: object) => valuesOf({ groups: [{ rollout_percentage: 30 }], ...bucketing }, person)
  expect(rollout({ bucketing: posthog })).toEqual(rollout({}))
})

it('marks flags that PostHog SDKs must leave to the server', () => {
  expect(isServerOnly({ groups: [{ rollout_percentage: 50 }] })).toBe(false)
  expect(isServerOnly({ groups: [], bucketing: null })).toBe(false)
  expect(isServerOnly({ groups: [], bucketing: { algorithm: 'unleash', seed: 'x' } })).toBe(true)
  expect(isServerOnly({ groups: [{ split: { variants: [] } }] })).toBe(true)
})

describe('a definition is rejected with the path of the error', () => {
  const part = { variant: 'a', weight: 1 }
  it.each([
    [{ bucketing: 'unleash' }, 'filters.bucketing'],
    [{ bucketing: { algorithm: 'md4', seed: '' } }, 'filters.bucketing.algorithm'],
    [{ bucketing: { algorithm: 'toString', seed: '' } }, 'filters.bucketing.algorithm'],
    [{ bucketing: { algorithm: 'flagd', seed: 7 } }, 'filters.bucketing.seed'],
    [{ bucketing: { algorithm: 'flagd', by: '' } }, 'filters.bucketing.by'],
    [{ bucketing: { algorithm: 'flagd', encoding: 'ebcdic' } }, 'filters.bucketing.encoding'],
    [{ groups: [{ bucketing: { algorithm: 'x' } }] }, 'filters.groups[0].bucketing.algorithm'],
    [{ groups: [{ split: { variants: [] } }] }, 'filters.groups[0].split.variants'],
    [
      { groups: [{ split: { variants: [{ variant: 'gone', weight: 1 }] } }] },
      'filters.groups[0].split.variants[0].variant',
    ],
    [
      { groups: [{ split: { variants: [{ variant: 'a', weight: -1 }] } }] },
      'filters.groups[0].split.variants[0].weight',
    ],
    [
      { groups: [{ split: { variants: [{ variant: 'a', range: [0.5, 2] }] } }] },
      'filters.groups[0].split.variants[0].range',
    ],
    [
      { groups: [{ split: { variants: [part, { variant: 'b', range: [0, 1] }] } }] },
      'filters.groups[0].split.variants',
    ],
    [{ groups: [{ split: { variants: [{ variant: 'a', weight: 0 }] } }] }, 'filters.groups[0].split.variants'],
  ])('%j', (filters, path) => {
    const flag = flagOf({ multivariate: { variants }, ...filters })
    const issues = checkFlag(flag, { ...definitionsOf({}), flags: [] }, options)
    expect(issues.map(issue => issue.path)).toEqual([path])
  })
})
