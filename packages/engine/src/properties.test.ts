import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CohortDefinition,
  checkCohort,
  checkFlag,
  compile,
  type Definitions,
  type FlagDefinition,
} from './index.ts'
import { randomFrom } from './testing/random.ts'
import { randomDefinitions, randomSubject } from './testing/random-project.ts'
import { trustedRegex } from './testing/regex.ts'

const options = { regex: trustedRegex }
const now = Date.parse('2024-06-15T12:00:00Z')

function project(flags: readonly FlagDefinition[], cohorts: readonly CohortDefinition[] = []): Definitions {
  return { flags, cohorts, groupTypes: { '0': 'company' }, propertyMatchingVersion: 2 }
}

function rolledOut(key: string, rollout_percentage: number, multivariate?: unknown): FlagDefinition {
  return { id: 1, key, active: true, filters: { groups: [{ rollout_percentage }], multivariate } }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}

describe('a rollout', () => {
  const percentage = fc.double({ min: 0, max: 100, noNaN: true })

  it('keeps every included person when the percentage is raised', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), percentage, percentage, (key, distinctId, one, other) => {
        const isOn = (rollout: number) =>
          compile(project([rolledOut(key, rollout)]), options)
            .evaluate({ distinctId }, { now })
            .get(key)!.enabled
        return !isOn(Math.min(one, other)) || isOn(Math.max(one, other))
      }),
    )
  })

  it('includes its percentage of persons, and so does each variant', () => {
    const count = 20_000
    const variants = [12.5, 37.5, 50].map((rollout, index) => ({ key: `v${index}`, rollout_percentage: rollout }))
    const snapshot = compile(project([rolledOut('share', 30, { variants })]), options)
    const seen = new Map<unknown, number>()
    for (let person = 0; person < count; person++) {
      const { value } = snapshot.evaluate({ distinctId: `person-${person}` }, { now }).get('share')!
      seen.set(value, (seen.get(value) ?? 0) + 1)
    }
    const within = (value: unknown, rollout: number) => {
      const deviation = Math.sqrt(count * rollout * (1 - rollout))
      expect(Math.abs(seen.get(value)! - count * rollout)).toBeLessThan(5 * deviation)
    }
    within(false, 0.7)
    within('v0', 0.3 * 0.125)
    within('v1', 0.3 * 0.375)
    within('v2', 0.3 * 0.5)
  })
})

describe('evaluation', () => {
  const seeds = fc.integer({ min: 0, max: 0x7fffffff })

  it('is deterministic and does not modify its input', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const random = randomFrom(seed)
        const definitions = freeze(randomDefinitions(random, 20))
        const snapshot = compile(definitions, options)
        const subject = freeze(randomSubject(random))
        const first = [...snapshot.evaluate(subject, { now })].map(([, outcome]) => outcome)
        const again = [...snapshot.evaluate(subject, { now })].map(([, outcome]) => outcome)
        const elsewhere = [...compile(definitions, options).evaluate(subject, { now })].map(([, outcome]) => outcome)
        expect(again).toEqual(first)
        expect(elsewhere).toEqual(first)
      }),
      { numRuns: 50 },
    )
  })

  it('of all flags, hashed in batches, equals that of each single flag', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const random = randomFrom(seed)
        const snapshot = compile(randomDefinitions(random, 50), options)
        for (let count = 0; count < 4; count++) {
          const subject = randomSubject(random)
          const all = snapshot.evaluate(subject, { now })
          for (const { key } of snapshot.flags) {
            expect(snapshot.evaluate(subject, { now, keys: [key] }).get(key)).toBe(all.get(key))
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  it('of many flags, with keys and identifiers of any length, equals that of each single flag', () => {
    const variants = ['a', 'b', 'c'].map((key, index) => ({ key, rollout_percentage: [34, 33, 33][index] }))
    const flags = Array.from({ length: 400 }, (_, index) => ({
      id: index + 1,
      key: `flag-${index}-${'k'.repeat(index % 131)}`,
      active: true,
      filters: {
        groups: [{ properties: [], rollout_percentage: index % 4 === 0 ? 100 : 50 }],
        ...(index % 2 === 0 && { multivariate: { variants } }),
        ...(index % 3 === 0 && { aggregation_group_type_index: 0 }),
      },
    }))
    const snapshot = compile(project(flags), options)
    for (const distinctId of ['', 'ü'.repeat(30), ...[1, 36, 60, 140].map(length => 'x'.repeat(length))]) {
      for (const groups of [{}, { company: distinctId }, { company: 7 }]) {
        const all = snapshot.evaluate({ distinctId, groups }, { now })
        for (const { key } of flags) {
          expect(snapshot.evaluate({ distinctId, groups }, { now, keys: [key] }).get(key)).toBe(all.get(key))
        }
      }
    }
  })

  it('of some flags returns only these', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const random = randomFrom(seed)
        const snapshot = compile(randomDefinitions(random, 20), options)
        const keys = random.list(6, () => random.pick(snapshot.flags).key)
        const some = snapshot.evaluate(randomSubject(random), { now, keys: [...keys, 'no such flag'] })
        expect([...some].map(([flag]) => flag.key).sort()).toEqual([...new Set(keys)].sort())
      }),
      { numRuns: 20 },
    )
  })

  it('can be reentered from the lookup of static cohorts', () => {
    const asks = { groups: [{ properties: [{ key: 'id', type: 'cohort', value: 1 }], rollout_percentage: 50 }] }
    const flags = Array.from({ length: 40 }, (_, index) => ({ ...rolledOut(`f${index}`, 50), id: index + 1 }))
    flags.splice(20, 0, { id: 99, key: 'asks', active: true, filters: asks })
    const snapshot = compile(project(flags, [{ id: 1, isStatic: true, filters: {} }]), options)
    const values = (distinctId: string, inStaticCohort: () => boolean) =>
      [...snapshot.evaluate({ distinctId, inStaticCohort }, { now })].map(([, outcome]) => outcome.value)
    const single = values('outer', () => true)
    expect(values('outer', () => values('inner', () => false).length > 0)).toEqual(single)
  })

  it('after an update equals that of a new snapshot', () => {
    fc.assert(
      fc.property(seeds, seed => {
        const random = randomFrom(seed)
        const before = randomDefinitions(random, 15)
        const other = randomDefinitions(random, 18)
        const flags = other.flags.filter(() => random.chance(0.3))
        const removed = random.list(3, () => 1 + random.below(15))
        const first = other.flags.filter(() => random.chance(0.1))
        const updated = compile(before, options).update({ flags: first }).update({ flags, removed })
        const definitions = { ...before, flags: updated.flags.map(({ definition }) => definition) }
        const fresh = compile(definitions, options)
        expect(updated.issues).toEqual(fresh.issues)
        for (const id of removed) expect(updated.flags.some(flag => flag.id === id)).toBe(false)
        for (let count = 0; count < 5; count++) {
          const subject = randomSubject(random)
          const answers = (snapshot: typeof fresh) =>
            [...snapshot.evaluate(subject, { now })].map(([flag, outcome]) => [flag.key, outcome])
          expect(answers(updated)).toEqual(answers(fresh))
        }
      }),
      { numRuns: 50 },
    )
  })

  it('recompiles when many updates have left unused filters', () => {
    let snapshot = compile(project([rolledOut('a', 50)]), options)
    for (let round = 0; round < 12_000; round++) {
      const value = `value ${round}`
      const filters = { groups: [{ properties: [{ key: 'name', type: 'person', value }] }] }
      snapshot = snapshot.update({ flags: [{ id: 1, key: 'a', active: true, filters }] })
    }
    const subject = { distinctId: 'x', personProperties: { name: 'value 11999' } }
    expect(snapshot.evaluate(subject, { now }).get('a')?.value).toBe(true)
  })
})

describe('arbitrary JSON', () => {
  /** JSON with the words of filters in it, so that it gets past the first check. */
  const words = [
    'groups',
    'properties',
    'rollout_percentage',
    'variant',
    'type',
    'value',
    'key',
    'operator',
    'multivariate',
  ]
  const moreWords = [
    'variants',
    'payloads',
    'super_groups',
    'holdout',
    'id',
    'values',
    'negation',
    '__proto__',
    'constructor',
  ]
  const text = fc.oneof(
    fc.constantFrom('person', 'cohort', 'flag', 'group', 'AND', 'OR', 'regex', 'in', '1', '-7d'),
    fc.string(),
  )
  const json = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 6, depthSize: 'medium' },
      fc.constant(null),
      fc.boolean(),
      fc.integer({ min: -1, max: 6 }),
      fc.double(),
      text,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.constantFrom(...words, ...moreWords), tie('value'), { maxKeys: 6 }),
    ),
  })).value
  const filters = fc.oneof(
    json,
    fc.record({
      groups: fc.array(fc.record({ properties: fc.array(json) }, { requiredKeys: [] })),
      multivariate: json,
    }),
  )

  it('can be compiled, checked and evaluated', () => {
    fc.assert(
      fc.property(
        fc.array(filters, { maxLength: 3 }),
        fc.array(json, { maxLength: 3 }),
        json,
        json,
        (each, trees, entity, groups) => {
          const flags = each.map((filter, index) => ({
            id: index + 1,
            key: `f${index + 1}`,
            active: true,
            filters: filter,
          }))
          const cohorts = trees.map((tree, index) => ({ id: index + 1, isStatic: false, filters: tree }))
          const definitions = project([...flags, rolledOut('neighbor', 100)], cohorts)
          const snapshot = compile(definitions, options)
          const ids = { distinctId: entity, deviceId: groups, anonDistinctId: entity, hashKeyOverrides: groups }
          const subject = { ...ids, personProperties: entity, groups, groupProperties: { company: entity } }
          expect(snapshot.evaluate(subject as never, { now }).get('neighbor')?.value).toBe(true)
          for (const flag of flags) checkFlag(flag, definitions, options)
          for (const cohort of cohorts) checkCohort(cohort, definitions, options)
          for (const { key } of flags) expect(snapshot.explain(subject as never, { key, now })).toBeDefined()
          expect(snapshot.requirements).toBeDefined()
          expect(snapshot.issues).toBeDefined()
        },
      ),
      { numRuns: 500 },
    )
  })

  it('can be nested deeply', () => {
    let deep: unknown = 'x'
    for (let depth = 0; depth < 50_000; depth++) deep = depth % 2 ? [deep] : { type: 'AND', values: [deep] }
    const filter = { key: 'deep', type: 'person', operator: 'exact', value: 'x' }
    const cohorts = [{ id: 1, isStatic: false, filters: deep }]
    const flags = [
      { id: 1, key: 'deep-filters', active: true, filters: deep },
      {
        id: 2,
        key: 'deep-cohort',
        active: true,
        filters: { groups: [{ properties: [{ type: 'cohort', value: 1 }] }] },
      },
      { id: 3, key: 'deep-property', active: true, filters: { groups: [{ properties: [filter] }] } },
    ]
    const snapshot = compile(project(flags, cohorts), options)
    const results = snapshot.evaluate({ distinctId: 'x', personProperties: { deep } }, { now })
    expect([...results].map(([, outcome]) => outcome.value)).toEqual([false, false, false])
  })

  it('can contain a chain of flags or cohorts of any length', () => {
    const count = 5000
    const flags = Array.from({ length: count }, (_, index) => {
      const property = { key: String(index + 2), type: 'flag', operator: 'flag_evaluates_to', value: true }
      return { id: index + 1, key: `f${index + 1}`, active: true, filters: { groups: [{ properties: [property] }] } }
    })
    const end = { id: count + 1, key: 'end', active: true, filters: { groups: [{}] } }
    const results = compile(project([...flags, end]), options).evaluate({ distinctId: 'x' }, { now })
    expect(results.get('f1')?.value).toBe(true)
    const cohorts = Array.from({ length: count }, (_, index) => ({
      id: index + 1,
      isStatic: false,
      filters: { type: 'AND', values: [{ type: 'cohort', value: index + 2 }] },
    }))
    const flag = {
      id: 1,
      key: 'f',
      active: true,
      filters: { groups: [{ properties: [{ type: 'cohort', value: 1 }] }] },
    }
    const outcome = compile(project([flag], cohorts), options)
      .evaluate({ distinctId: 'x' }, { now })
      .get('f')
    expect(outcome?.reason.code).toBe('error')
  })
})
