import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { type Random, randomFrom } from '../../../../engine/src/testing/random.ts'
import {
  changedKey,
  type MeasuredGain,
  measureGains,
  otherFlag,
  type ReleaseCase,
  randomRelease,
} from '../../../../engine/src/testing/release-cases.ts'
import { type FlagContent, newFlagContent } from '../../domain/flag.ts'
import { type ActionKey, matchesPolicy } from '../../domain/policy.ts'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { proposedFlagChange } from './flag-change.ts'
import { readCondition } from './policies/read-condition.ts'

/** Random flags, changes and policies: whenever more people get a flag than a policy allows, the policy holds. */

const requestsMax = Number(process.env.POLICY_CASES ?? 40)
const numRuns = Number(process.env.RELEASE_CASES ?? 300)
const tag = 'risky'

type Condition = Readonly<Record<string, unknown>>

interface Policy {
  readonly action_key: ActionKey
  readonly conditions: Condition
}

function randomPolicy(random: Random): Policy {
  return {
    action_key: random.pick(['feature_flag.rollout', 'feature_flag.update', 'feature_flag.enable', '*'] as const),
    conditions: randomCondition(random),
  }
}

function randomCondition(random: Random, isInner = false): Condition {
  const percentage = (type: string): Condition => ({
    type,
    field: 'rollout_percentage',
    operator: random.pick(['>', '>=']),
    value: random.below(10) * 10,
  })
  switch (random.below(isInner ? 6 : 8)) {
    case 0:
      return percentage('before_after')
    case 1:
      return percentage('change_amount')
    case 2:
      return { type: 'people_affected', value: random.below(10) }
    case 3:
      return {
        type: 'any_change',
        field: random.pick(['rollout_percentage', 'filters', 'active', 'bucketing_identifier']),
      }
    case 4:
      return { type: 'tag', value: tag }
    case 5:
      return { type: 'before_after', field: 'active', operator: '==', value: isInner || random.chance(0.5) }
    case 6:
      return {
        type: 'all',
        conditions: random.list(2, () => randomCondition(random, true)).concat(percentage('before_after')),
      }
    default:
      return {}
  }
}

/** What a change does, by evaluation. */
interface Facts {
  readonly change: ReleaseCase
  readonly gains: readonly MeasuredGain[]
  readonly affected: number
  readonly tags: readonly string[]
}

const fieldsOf = ({ before, after }: ReleaseCase): Readonly<Record<string, readonly [unknown, unknown]>> => ({
  filters: [before.filters, after.filters],
  active: [before.active, after.active],
  bucketing_identifier: [before.bucketingIdentifier, after.bucketingIdentifier],
})

/** Whether people certainly get more than the condition allows. */
function isExceeded(condition: Condition, facts: Facts): boolean {
  const { type, field, operator, value } = condition
  const slack = facts.change.isEstimate ? 40 : 1e-6
  const isAbove = (measured: number) =>
    operator === '>' ? measured - slack > Number(value) : measured - slack + 2e-6 >= Number(value)
  const changed = fieldsOf(facts.change)[String(field)]
  switch (type) {
    case 'before_after':
      if (changed) return !isDeepStrictEqual(changed[0], changed[1]) && changed[1] === value
      return facts.gains.some(({ share }) => isAbove(share))
    case 'change_amount':
      return facts.gains.some(({ gain }) => isAbove(gain))
    case 'people_affected':
      return facts.affected > Number(value)
    case 'any_change':
      return changed ? !isDeepStrictEqual(changed[0], changed[1]) : facts.gains.length > 0
    case 'tag':
      return facts.tags.includes(String(value))
    case 'all':
      return (condition.conditions as readonly Condition[]).every(one => isExceeded(one, facts))
    default:
      return true
  }
}

/** Whether the policy is about a change by which someone gets the flag or another value of it. */
function isCovered({ action_key }: Policy, { change: { before, after }, gains }: Facts): boolean {
  if (gains.length === 0) return false
  if (action_key === 'feature_flag.enable') return after.active && !before.active
  if (action_key !== 'feature_flag.update') return true
  const { filters, bucketing_identifier } = fieldsOf({ before, after, isEstimate: false })
  return [filters!, bucketing_identifier!].some(([old, next]) => !isDeepStrictEqual(old, next))
}

const gainsOf = ({ before, after }: ReleaseCase) => measureGains([before, otherFlag], [after, otherFlag], changedKey)

it('a policy holds for a change by which more people get the flag than it allows', () => {
  const contentOf = ({ filters, active, bucketingIdentifier }: ReleaseCase['before'], tags: readonly string[]) => ({
    ...newFlagContent(changedKey, instantOf(new Date(0))),
    filters: filters as FlagContent['filters'],
    active,
    bucketingIdentifier: bucketingIdentifier ?? null,
    tags,
  })
  let exceeded = 0
  fc.assert(
    fc.property(fc.integer(), seed => {
      const random = randomFrom(seed)
      const change = randomRelease(random)
      const policy = randomPolicy(random)
      const facts = {
        change,
        gains: gainsOf(change),
        affected: random.below(12),
        tags: random.chance(0.5) ? [tag] : [],
      }
      if (!isCovered(policy, facts) || !isExceeded(policy.conditions, facts)) return
      exceeded++
      const proposed = proposedFlagChange({
        stored: contentOf(change.before, facts.tags),
        flag: contentOf(change.after, facts.tags),
        isByKey: true,
        impact: { affected: facts.affected, gains: facts.affected, losses: 0 },
        dependents: [],
      })
      const { action_key: actionKey } = policy
      const conditions = readCondition(policy.conditions, actionKey)
      expect(matchesPolicy({ actionKey, conditions, enabled: true }, proposed)).toBe(true)
    }),
    { numRuns },
  )
  expect(exceeded).toBeGreaterThan(numRuns / 20)
})

/** Without overrides by variants that the flag does not have: the server refuses these. */
function storable({ before, after, isEstimate }: ReleaseCase): ReleaseCase {
  const repaired = (flag: ReleaseCase['before']): ReleaseCase['before'] => {
    const { groups, multivariate } = flag.filters as {
      groups: readonly { readonly variant?: string }[]
      multivariate: { readonly variants: readonly { readonly key: string }[] } | null
    }
    const keys = (multivariate?.variants ?? []).map(({ key }) => key)
    const kept = groups.map(({ variant, ...rest }) => (variant && keys.includes(variant) ? { ...rest, variant } : rest))
    return { ...flag, filters: { ...(flag.filters as object), groups: kept } }
  }
  return { before: repaired(before), after: repaired(after), isEstimate }
}

onEachDatabase('random policies', dialect => {
  const s = suiteScenario(dialect)
  let approverId: number
  let otherId: number
  let cohortId: number
  const people = Array.from({ length: 12 }, (_, n) => `person-${n}`)
  beforeAll(async () => {
    approverId = (await s.join('approver')).id
    otherId = (await s.post(`${s.project}/feature_flags/`, { key: otherFlag.key, filters: otherFlag.filters })).body.id
    const plan = { key: 'plan', type: 'person', value: 'b', operator: 'exact' }
    const filters = { properties: { type: 'OR', values: [{ type: 'AND', values: [plan] }] } }
    cohortId = (await s.post(`${s.project}/cohorts/`, { name: 'plan b', filters })).body.id
    const identify = (event: string, distinct_id: string, properties: object) =>
      s.post('/capture/', { api_key: s.projectToken, event, distinct_id, properties })
    for (const [n, id] of people.entries()) {
      const plans = [{}, { plan: 'a' }, { plan: 'b' }]
      const others = [{}, { beta: 'x' }, { [`$feature_enrollment/${changedKey}`]: true }, { beta: 'y' }]
      await identify('$identify', id, { $set: { ...plans[n % 3], ...others[Math.floor(n / 3)] } })
    }
    await identify('$groupidentify', people[0]!, { $group_type: 'company', $group_key: 'acme' })
  })

  /** With the ids of this project. */
  const localized = (filters: unknown) =>
    JSON.parse(JSON.stringify(filters), (_key, value) => {
      if (value?.type === 'flag') return { ...value, key: String(otherId) }
      return value?.type === 'cohort' ? { ...value, value: cohortId } : value
    })
  const wireOf = ({ filters, active, bucketingIdentifier }: ReleaseCase['before']) => ({
    filters: localized(filters),
    active,
    bucketing_identifier: bucketingIdentifier ?? null,
  })
  const valuesNow = async (): Promise<readonly unknown[]> => {
    const replies = await Promise.all(
      people.map(distinct_id => s.post('/flags/?v=2', { token: s.projectToken, distinct_id })),
    )
    return replies.map(({ body }) => {
      const { enabled, variant } = body.flags[changedKey] ?? {}
      return `${enabled ?? false} ${variant ?? ''}`
    })
  }

  it('refuse every request by which more people get the flag than they allow', async () => {
    const outcomes = { refused: 0, accepted: 0 }
    await fc.assert(
      fc.asyncProperty(fc.integer(), async seed => {
        const random = randomFrom(seed)
        const change = storable(randomRelease(random))
        const policy = randomPolicy(random)
        const tags = random.chance(0.5) ? [tag] : []
        const flag = await s.post(`${s.project}/feature_flags/`, { key: changedKey, tags, ...wireOf(change.before) })
        expect(flag.status, flag.text).toBe(201)
        const created = await s.post(`${s.project}/approval_policies/`, {
          ...policy,
          approver_config: { users: [approverId] },
        })
        expect(created.status, created.text).toBe(201)
        const before = await valuesNow()
        const path = `${s.project}/feature_flags/${flag.body.id}/`
        const reply = await s.patch(path, wireOf(change.after))
        expect([200, 409], reply.text).toContain(reply.status)
        const after = await valuesNow()
        if (reply.status === 409) {
          outcomes.refused++
          expect(after).toEqual(before)
        } else {
          outcomes.accepted++
          const affected = after.filter((value, n) => value !== before[n]).length
          const facts = { change, gains: gainsOf(change), affected, tags }
          const isAllowed = !isCovered(policy, facts) || !isExceeded(policy.conditions, facts)
          expect({ isAllowed, policy, affected }).toMatchObject({ isAllowed: true })
        }
        await s.delete(`${s.project}/approval_policies/${created.body.id}/`)
        expect((await s.patch(path, { deleted: true })).status).toBe(200)
      }),
      { numRuns: requestsMax, endOnFailure: true },
    )
    expect(outcomes.refused).toBeGreaterThan(0)
    expect(outcomes.accepted).toBeGreaterThan(0)
  }, 120_000)
})
