import { describe, expect, it } from 'vitest'
import { compile, type Definitions, type FlagDefinition, type Snapshot, type Subject } from './index.ts'
import { randomFrom } from './testing/random.ts'
import { randomDefinitions, randomSubject } from './testing/random-project.ts'

const options = { regex: (pattern: string) => new RegExp(pattern) }
const now = Date.parse('2024-06-15T12:00:00Z')

const outcomes = (snapshot: Snapshot, subject: Subject) =>
  snapshot.flags.map((_, index) => snapshot.evaluate(subject, { now }).outcomeIndex(index))

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

describe('what filters have answered before', () => {
  it('changes nothing for those who come later', () => {
    for (let seed = 0; seed < 20; seed++) {
      const random = randomFrom(seed)
      const definitions = randomDefinitions(random, 12)
      const experienced = compile(definitions, options)
      for (let person = 0; person < 40; person++) {
        const subject = randomSubject(random)
        expect(outcomes(experienced, subject)).toEqual(outcomes(compile(definitions, options), subject))
      }
    }
  })

  it('is not mixed up however many values there are, once or again and again', () => {
    const flags = [
      asking(1, filter('exact', ['city-3', 'city-400'])),
      asking(2, filter('icontains', '7')),
      asking(3, filter('gt', 'city-5')),
      asking(4, filter('is_not', 'city-9'), filter('regex', '^city-[1-4]')),
    ]
    let snapshot = compile(project(flags), options)
    const values = (round: number): unknown[] => [
      ...Array.from({ length: 700 }, (_, index) => `city-${index}`),
      ...Array.from({ length: 2000 }, (_, index) => `city-${index % 50}`),
      ...[round, true, 'true', null, undefined, ['city-3'], { city: 3 }, 3, '3', 'x'.repeat(500), Number.NaN],
    ]
    for (let round = 0; round < 10; round++) {
      const fresh = compile(project(snapshot.flags.map(flag => flag.definition)), options)
      const expected = new Map<unknown, number[]>()
      for (const city of values(round)) {
        const subject = { distinctId: 'somebody', personProperties: { city } }
        if (!expected.has(city)) expected.set(city, outcomes(fresh, subject))
        expect(outcomes(snapshot, subject)).toEqual(expected.get(city))
      }
      snapshot = snapshot.update({ flags: [asking(10 + round, filter('ends_with', String(round)))] })
    }
  })

  it('is not mixed up by an evaluation within an evaluation', () => {
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
