import { describe, expect, it } from 'vitest'
import { compile, type Definitions, type FlagDefinition, type Snapshot, type Subject } from '../index.ts'
import { trustedRegex } from '../testing/regex.ts'

const now = Date.parse('2024-06-15T12:00:00Z')
const options = { regex: trustedRegex }
const variants = ['a', 'b', 'c'].map((key, index) => ({ key, rollout_percentage: [20, 30, 50][index] }))

function flag(index: number, groups: readonly object[]): FlagDefinition {
  const multivariate = index % 3 === 0 ? { variants } : null
  return {
    id: index + 1,
    key: `flag-${'x'.repeat(index % 40)}-${index}`,
    active: true,
    filters: { groups, multivariate },
  }
}

function definitions(flags: readonly FlagDefinition[]): Definitions {
  const cohorts = [{ id: 1, isStatic: true, filters: {} }]
  return { flags, cohorts, groupTypes: { '0': 'company' }, propertyMatchingVersion: 2 }
}

/** A flag that is requested by key is hashed on its own. */
function expectAsSingle(snapshot: Snapshot, subject: Subject): void {
  const all = snapshot.evaluate(subject, { now })
  for (const { key } of snapshot.flags) {
    const single = snapshot.evaluate(subject, { now, keys: [key] }).get(key)
    if (all.get(key) !== single) expect({ key, outcome: all.get(key) }).toEqual({ key, outcome: single })
  }
}

describe('evaluating all flags with batched hashes', () => {
  const rollouts = (count: number) =>
    Array.from({ length: count }, (_, index) => flag(index, [{ rollout_percentage: index % 101 }]))

  it('gives the results of single evaluations, for identifiers of all lengths', () => {
    const snapshot = compile(definitions(rollouts(200)), options)
    for (let length = 1; length < 140; length++)
      expectAsSingle(snapshot, { distinctId: 'é'.repeat(length % 3) + 'i'.repeat(length) })
  })

  it('gives the results of single evaluations, for percentages out of range', () => {
    const shares = [
      [50, -20, 70],
      [-20, 50, 50],
      [0, 0, 100],
      [120, -50, 10],
      [0, 0, 0],
    ]
    const flags = shares.flatMap((some, index) => {
      const variants = some.map((rollout_percentage, at) => ({ key: `v${at}`, rollout_percentage }))
      return [-10, 0, 50, 100, 130].map((rollout_percentage, at) => ({
        ...flag(index * 5 + at, []),
        filters: { groups: [{ rollout_percentage }], multivariate: { variants } },
      }))
    })
    const snapshot = compile(definitions(flags), options)
    for (let person = 0; person < 200; person++) expectAsSingle(snapshot, { distinctId: `person-${person}` })
  })

  it('gives the results of single evaluations when many projects take turns', () => {
    const flags = rollouts(4000)
    const snapshots = Array.from({ length: 15 }, (_, index) => compile(definitions(flags.slice(index)), options))
    for (const snapshot of snapshots) snapshot.evaluate({ distinctId: 'person-1' }, { now })
    for (const snapshot of [...snapshots.slice(0, 2), ...snapshots.slice(-2)]) {
      expectAsSingle(snapshot, { distinctId: 'person-1' })
    }
  })

  it('supports reentrant evaluations', () => {
    const inCohort = { properties: [{ key: 'id', type: 'cohort', value: 1 }], rollout_percentage: 50 }
    const flags = [...rollouts(100), ...Array.from({ length: 20 }, (_, index) => flag(100 + index, [inCohort]))]
    const snapshot = compile(definitions(flags), options)
    const keys = flags.slice(0, 100).map(({ key }) => key)
    let within: unknown
    const inStaticCohort = () => {
      within ??= [...snapshot.evaluate({ distinctId: 'other' }, { now, keys })]
      return true
    }
    const seen = [...snapshot.evaluate({ distinctId: 'person-1', inStaticCohort }, { now })]
    expect(within).toEqual([...snapshot.evaluate({ distinctId: 'other' }, { now, keys })])
    expect(seen).toEqual([...snapshot.evaluate({ distinctId: 'person-1', inStaticCohort: () => true }, { now })])
  })

  it('leaves no state behind when an evaluation throws', () => {
    const asking = { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }] }
    const snapshot = compile(definitions([...rollouts(30), flag(30, [asking]), ...rollouts(5)]), options)
    const properties = {
      get plan(): string {
        throw new Error('broken')
      },
    }
    expect(() => snapshot.evaluate({ distinctId: 'person-1', personProperties: properties }, { now })).toThrow('broken')
    expectAsSingle(snapshot, { distinctId: 'person-2', personProperties: { plan: 'pro' } })
    expectAsSingle(compile(definitions(rollouts(70)), options), { distinctId: 'person-2' })
  })
})
