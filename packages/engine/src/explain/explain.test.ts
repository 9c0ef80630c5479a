import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile, type Definitions, type FlagDefinition, type Subject, type Trace } from '../index.ts'
import { randomFrom } from '../testing/random.ts'
import { randomDefinitions, randomSubject } from '../testing/random-project.ts'
import { trustedRegex } from '../testing/regex.ts'

const options = { regex: trustedRegex }
const now = Date.parse('2024-06-15T12:00:00Z')
const variants = [
  { key: 'control', rollout_percentage: 34 },
  { key: 'test-a', rollout_percentage: 33 },
  { key: 'test-b', rollout_percentage: 33 },
]

function explain(filters: unknown, subject: Partial<Subject> = {}, more: Partial<Definitions> = {}): Trace {
  const flag: FlagDefinition = { id: 1, key: 'simple-flag', active: true, filters }
  const definitions: Definitions = {
    cohorts: [],
    groupTypes: { '0': 'company' },
    propertyMatchingVersion: 2,
    ...more,
    flags: [flag, ...(more.flags ?? [])],
  }
  return compile(definitions, options).explain({ distinctId: 'user-1', ...subject }, { key: 'simple-flag', now })!
}

describe('a trace', () => {
  it('names the deciding filter, the value it read and the value it expected', () => {
    const properties = [
      { key: 'plan', type: 'person', operator: 'exact', value: 'pro' },
      { key: 'age', type: 'person', operator: 'gt', value: 18 },
    ]
    const { conditions, outcome } = explain(
      { groups: [{ properties }] },
      { personProperties: { plan: 'PRO', age: 17 } },
    )
    expect(outcome.reason.code).toBe('no_condition_match')
    expect(conditions[0]).toMatchObject({ result: 'not_matched', decidedBy: 1, reached: true, rollout: null })
    expect(conditions[0]!.filters).toMatchObject([
      { kind: 'property', key: 'plan', operator: 'exact', value: 'pro', seen: 'PRO', source: 'person', matched: true },
      {
        kind: 'property',
        key: 'age',
        operator: 'gt',
        value: 18,
        seen: 17,
        present: true,
        matched: false,
        certain: true,
      },
    ])
  })

  it('reports a missing property as uncertain', () => {
    const properties = [{ key: 'plan', type: 'person', operator: 'is_not', value: 'pro' }]
    const { conditions } = explain({ groups: [{ properties }] })
    expect(conditions[0]!.filters[0]).toMatchObject({ present: false, seen: null, matched: true, certain: false })
  })

  it('shows the rollout bucket with its threshold, and the variant', () => {
    const filters = { groups: [{ rollout_percentage: 50 }, { rollout_percentage: 80 }, {}], multivariate: { variants } }
    const { conditions, variant, identifier } = explain(filters)
    expect(conditions.map(({ result, reached }) => [result, reached])).toEqual([
      ['out_of_rollout', true],
      ['matched', true],
      ['matched', false],
    ])
    const rollout = { identifier: 'user-1', bucket: 0.7371322536090543 }
    expect(conditions[0]!.rollout).toEqual({ ...rollout, threshold: 0.5, inside: false })
    expect(conditions[1]!.rollout).toEqual({ ...rollout, threshold: 0.8, inside: true })
    expect(variant).toMatchObject({ key: 'test-a', forced: false, bucket: 0.4211875370594937 })
    expect(variant!.spans[1]).toEqual({ key: 'test-a', from: 0.34, to: 0.67 })
    expect(identifier).toEqual({ value: 'user-1', source: 'distinct_id' })
  })

  it('reports a variant override', () => {
    const { variant } = explain({ groups: [{ variant: 'test-b' }], multivariate: { variants } })
    expect(variant).toMatchObject({ key: 'test-b', forced: true, bucket: null })
  })

  it('reports holdouts and early access enrollment', () => {
    const holdout = { id: 7, exclusion_percentage: 10 }
    const out = explain({ groups: [{}], holdout }, { distinctId: 'user-7' })
    expect(out.holdout).toEqual({ variant: 'holdout-7', bucket: 0.09801422549212035, threshold: 0.1, heldOut: true })
    expect(out.conditions[0]!.reached).toBe(false)
    const joined = { '$feature_enrollment/simple-flag': 'true' }
    const { enrollment } = explain({ groups: [], feature_enrollment: true }, { personProperties: joined })
    expect(enrollment).toEqual({ property: '$feature_enrollment/simple-flag', present: true, seen: 'true' })
  })

  it('includes cohorts and flag dependencies', () => {
    const leaf = { key: 'plan', type: 'person', operator: 'exact', value: 'pro', negation: true }
    const tree = { type: 'OR', values: [{ type: 'AND', values: [leaf] }] }
    const cohorts = [{ id: 3, name: 'Payers', isStatic: false, filters: { properties: tree } }]
    const flags = [{ id: 2, key: 'base', active: true, filters: { groups: [{}] } }]
    const properties = [
      { key: 'id', type: 'cohort', operator: 'not_in', value: 3 },
      { key: '2', type: 'flag', operator: 'flag_evaluates_to', value: true },
    ]
    const { conditions } = explain(
      { groups: [{ properties }] },
      { personProperties: { plan: 'pro' } },
      { cohorts, flags },
    )
    const inner = { kind: 'property', key: 'plan', seen: 'pro', negated: true, matched: false }
    expect(conditions[0]!.filters).toMatchObject([
      {
        kind: 'cohort',
        name: 'Payers',
        operator: 'not_in',
        matched: true,
        tree: { type: 'OR', matched: false, members: [{ type: 'AND', matched: false, members: [inner] }] },
      },
      { kind: 'flag', key: 'base', expected: true, seen: true, matched: true },
    ])
  })

  it('reports when an uncertain condition is overruled by a later one', () => {
    const doubtful = {
      properties: [{ key: 'plan', type: 'person', operator: 'is_not', value: 'x' }],
      variant: 'control',
    }
    const trace = explain({ groups: [doubtful, { variant: 'test-b' }], multivariate: { variants } })
    expect(trace.outcome.value).toBe('test-b')
    expect(trace.overruled).toBe(true)
    expect(trace.conditions.map(({ result }) => result)).toEqual(['matched', 'matched'])
  })

  it('reports missing groups', () => {
    const trace = explain({ groups: [{}], aggregation_group_type_index: 0 })
    expect(trace.identifier).toBeNull()
    expect(trace.conditions[0]).toMatchObject({ result: 'no_group', groupType: 'company' })
  })

  it('is minimal for an inactive or malformed flag, and undefined for an unknown one', () => {
    expect(explain('nonsense')).toMatchObject({ outcome: { reason: { code: 'error' } }, conditions: [] })
    const definitions = { flags: [], cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 as const }
    expect(compile(definitions, options).explain({ distinctId: 'x' }, { key: 'none', now })).toBeUndefined()
  })

  it('agrees with the result of the evaluation', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x7fffffff }), seed => {
        const random = randomFrom(seed)
        const snapshot = compile(randomDefinitions(random, 20), options)
        const subject = randomSubject(random)
        const results = snapshot.evaluate(subject, { now })
        for (const { key } of snapshot.flags) agree(snapshot.explain(subject, { key, now })!, results.get(key))
      }),
      { numRuns: 30 },
    )
  })
})

function agree(trace: Trace, outcome: Trace['outcome'] | undefined): void {
  expect(trace.outcome).toBe(outcome)
  const { code, conditionIndex } = trace.outcome.reason
  if (code !== 'condition_match') return
  expect(trace.conditions[conditionIndex!]!.result).toBe('matched')
  const earlier = trace.conditions.slice(0, conditionIndex!)
  if (!trace.overruled) expect(earlier.some(({ result }) => result === 'matched')).toBe(false)
}
