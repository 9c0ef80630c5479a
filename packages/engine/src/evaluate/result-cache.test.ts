import { describe, expect, it } from 'vitest'
import { compile, type Definitions, type FlagDefinition, type Snapshot, type Subject } from '../index.ts'
import { randomFrom } from '../testing/random.ts'
import { randomDefinitions, randomSubject } from '../testing/random-project.ts'
import { trustedRegex } from '../testing/regex.ts'

const options = { regex: trustedRegex }
const now = Date.parse('2024-06-15T12:00:00Z')

function outcomes(snapshot: Snapshot, subject: Subject): number[] {
  const results = snapshot.evaluate(subject, { now })
  return snapshot.flags.map((_, index) => results.outcomeIndex(index))
}

const filter = (operator: string, value: unknown, key = 'city') => ({ key, type: 'person', operator, value })
const asking = (id: number, ...properties: unknown[]): FlagDefinition => ({
  id,
  key: `flag-${id}`,
  active: true,
  filters: { groups: [{ properties, rollout_percentage: 100 }] },
})
const project = (flags: readonly FlagDefinition[]): Definitions => ({
  flags,
  cohorts: [{ id: 1, isStatic: true, filters: {} }],
  groupTypes: {},
  propertyMatchingVersion: 2,
})

describe('cached filter results', () => {
  it('do not change the results of later subjects', () => {
    for (let seed = 0; seed < 10; seed++) {
      const random = randomFrom(seed)
      const definitions = randomDefinitions(random, 12)
      const experienced = compile(definitions, options)
      for (let person = 0; person < 30; person++) {
        const subject = randomSubject(random)
        expect(outcomes(experienced, subject)).toEqual(outcomes(compile(definitions, options), subject))
      }
    }
  })

  it('stay correct with any number of distinct and recurring values', () => {
    const flags = [
      asking(1, filter('exact', ['city-3', 'city-400'])),
      asking(2, filter('icontains', '7')),
      asking(3, filter('gt', 'city-5')),
      asking(4, filter('is_not', 'city-9'), filter('regex', '^city-[1-4]')),
    ]
    const later = [0, 1, 2].map(round => asking(10 + round, filter('ends_with', String(round))))
    const odd = [true, 'true', null, undefined, ['city-3'], { city: 3 }, 3, '3', 'x'.repeat(500), Number.NaN]
    const values: unknown[] = [
      ...Array.from({ length: 300 }, (_, index) => `city-${index}`),
      ...Array.from({ length: 1000 }, (_, index) => `city-${index % 20}`),
      ...odd,
    ]
    const about = (city: unknown) => ({ distinctId: 'person-1', personProperties: { city } })
    const single = new Map(
      values.map(city => [city, outcomes(compile(project([...flags, ...later]), options), about(city))]),
    )
    let snapshot = compile(project(flags), options)
    for (const flag of later) {
      for (let round = 0; round < 3; round++) {
        for (const city of values) {
          expect(outcomes(snapshot, about(city))).toEqual(single.get(city)!.slice(0, snapshot.flags.length))
        }
      }
      snapshot = snapshot.update({ flags: [flag] })
    }
  })

  it('are bounded in properties and filters, and uncached filters give the same results', () => {
    const properties = Array.from({ length: 100 }, (_, index) => `property-${index}`)
    const names = Array.from({ length: 50 }, (_, index) => `name-${index}`)
    const flags = properties.flatMap((key, index) =>
      names.map((name, n) => asking(index * 100 + n, filter('exact', name, key))),
    )
    const snapshot = compile(project(flags), options)
    for (const name of [...names, ...names]) {
      const personProperties = Object.fromEntries(properties.map(key => [key, name]))
      const results = snapshot.evaluate({ distinctId: 'person-1', personProperties }, { now })
      const on = snapshot.flags.filter((_, index) => results.outcome(index)?.value === true)
      expect(on).toHaveLength(properties.length)
    }
  })

  it('stay correct in reentrant evaluations', () => {
    const cohort = { key: 'id', type: 'cohort', value: 1, operator: 'in' }
    const flags = [
      asking(1, filter('exact', 'a')),
      asking(2, cohort, filter('exact', 'a'), filter('is_not', 'b')),
      asking(3, filter('icontains', 'a')),
    ]
    const snapshot = compile(project(flags), options)
    const inStaticCohort = () => {
      for (let index = 0; index < 1000; index++) {
        snapshot.evaluate({ distinctId: 'x', personProperties: { city: `other-${index}` } }, { now })
      }
      return true
    }
    for (let round = 0; round < 5; round++) {
      const subject = { distinctId: 'x', personProperties: { city: 'a' }, inStaticCohort }
      const values = [...snapshot.evaluate(subject, { now })].map(([, { value }]) => value)
      expect(values).toEqual([true, true, true])
    }
  })
})
