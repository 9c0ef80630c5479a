import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile, type FlagDefinition } from '../index.ts'
import { randomFrom } from '../testing/random.ts'
import { randomDefinitions, randomSubject } from '../testing/random-project.ts'
import { trustedRegex } from '../testing/regex.ts'

const options = { regex: trustedRegex }
const now = Date.parse('2024-06-15T12:00:00Z')

function reachable(filters: object, more: Partial<FlagDefinition> = {}, others: readonly FlagDefinition[] = []) {
  const flag = { id: 1, key: 'flag', active: true, filters, ...more } as FlagDefinition
  const definitions = { flags: [flag, ...others], cohorts: [], groupTypes: { '0': 'company' } }
  return [...compile({ ...definitions, propertyMatchingVersion: 2 }, options).reachable[0]!].sort()
}
const plan = { key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }
const dependsOn = (id: number, value: unknown) => ({
  groups: [{ properties: [{ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value }] }],
})

describe('the reachable values of a flag', () => {
  it('contain every value that an evaluation returns', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0x7fffffff }), seed => {
        const random = randomFrom(seed)
        const snapshot = compile(randomDefinitions(random, 20), options)
        for (let n = 0; n < 10; n++) {
          const subject = randomSubject(random)
          if (`${subject.distinctId}` === '') continue
          for (const [index, [{ key }, { value }]] of [...snapshot.evaluate(subject, { now })].entries()) {
            expect([...snapshot.reachable[index]!], key).toContain(value)
          }
        }
      }),
      // The examples hold a cohort that cannot be evaluated, and early exits.
      { numRuns: 60, examples: [[81428130], [1262343201], [1406997]] },
    )
  })

  it('are one for a flag that is off, or fully rolled out', () => {
    expect(reachable({ groups: [{}] }, { active: false })).toEqual([false])
    expect(reachable({ groups: [{ rollout_percentage: 100 }] })).toEqual([true])
    expect(reachable({ groups: [{ properties: [plan] }, {}] })).toEqual([true])
    expect(reachable({ groups: [{ rollout_percentage: 0 }] })).toEqual([false])
    expect(reachable({ groups: [] })).toEqual([false])
  })

  it('are several for partial rollouts, filters, groups, holdouts and early access', () => {
    expect(reachable({ groups: [{ rollout_percentage: 50 }] })).toEqual([false, true])
    expect(reachable({ groups: [{ properties: [plan] }] })).toEqual([false, true])
    expect(reachable({ aggregation_group_type_index: 0, groups: [{}] })).toEqual([false, true])
    expect(reachable({ groups: [{}], feature_enrollment: true })).toEqual([false, true])
    expect(reachable({ groups: [{ rollout_percentage: 0 }, {}], early_exit: true })).toEqual([false])
  })

  it('follow variants and their overrides', () => {
    const multivariate = {
      variants: [
        { key: 'a', rollout_percentage: 100 },
        { key: 'b', rollout_percentage: 0 },
      ],
    }
    expect(reachable({ multivariate, groups: [{}] })).toEqual(['a'])
    expect(reachable({ multivariate, groups: [{ properties: [plan], variant: 'b' }, {}] })).toEqual(['a', 'b'])
  })

  it('allow for bucketing by a property that is missing', () => {
    const bucketing = { algorithm: 'unleash', seed: 'x', by: 'account' }
    expect(reachable({ groups: [{ rollout_percentage: 100 }], bucketing })).toEqual([false, true])
    expect(reachable({ groups: [{ rollout_percentage: null }], bucketing })).toEqual([true])
  })

  it('follow the flags that a flag depends on', () => {
    const on: FlagDefinition = { id: 2, key: 'on', active: true, filters: { groups: [{}] } }
    expect(reachable(dependsOn(2, true), {}, [{ ...on, active: false }])).toEqual([false])
    expect(reachable(dependsOn(2, false), {}, [on])).toEqual([false])
    expect(reachable(dependsOn(2, true), {}, [on])).toEqual([false, true])
    expect(reachable(dependsOn(3, true), {}, [on])).toEqual([false])
  })
})
