import { beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Scenario } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

type Filters = Record<string, unknown>

const all = (rollout_percentage: number | null, more = {}) => ({ properties: [], rollout_percentage, ...more })
const some = (rollout_percentage: number, more = {}) => ({
  properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['a'] }],
  rollout_percentage,
  ...more,
})
const split = (...shares: number[]) => ({
  variants: shares.map((rollout_percentage, index) => ({ key: `v${index + 1}`, rollout_percentage })),
})
const dependsOn = (id: number, value: unknown, rollout_percentage = 100) => ({
  groups: [
    {
      properties: [{ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value }],
      rollout_percentage,
    },
  ],
})

/** Ways to release to more people, each from a state that nearly no one has. */
const ways: readonly (readonly [string, Filters, Filters, object?])[] = [
  ['a higher percentage', { groups: [all(10)] }, { groups: [all(100)] }],
  ['a second condition', { groups: [all(10)] }, { groups: [all(10), all(100)] }],
  ['a condition first', { groups: [all(10)] }, { groups: [some(100), all(10)] }],
  ['a condition without a percentage', { groups: [all(10)] }, { groups: [all(null)] }],
  ['dropped filters', { groups: [some(100)] }, { groups: [all(100)] }],
  [
    'wider filters',
    { groups: [some(100)] },
    { groups: [{ ...some(100), properties: [{ ...some(1).properties[0], value: ['a', 'b'] }] }] },
  ],
  ['early access', { groups: [all(10)] }, { groups: [all(10)], super_groups: [all(100)] }],
  ['enrollment', { groups: [all(10)] }, { groups: [all(10)], feature_enrollment: true }],
  [
    'no holdout',
    { groups: [all(100)], holdout: { id: 1, exclusion_percentage: 90 } },
    { groups: [all(100)], holdout: null },
  ],
  ['no early exit', { groups: [some(0), all(100)], early_exit: true }, { groups: [some(0), all(100)] }],
  [
    'a new variant',
    { groups: [all(100)], multivariate: split(100) },
    { groups: [all(100)], multivariate: split(0, 100) },
  ],
  [
    'variants in another order',
    { groups: [all(100)], multivariate: { variants: split(60, 40).variants } },
    { groups: [all(100)], multivariate: { variants: split(60, 40).variants.toReversed() } },
  ],
  [
    'a variant for some',
    { groups: [some(100), all(100)], multivariate: split(90, 10) },
    { groups: [some(100, { variant: 'v2' }), all(100)], multivariate: split(90, 10) },
  ],
  ['a condition that was off', { groups: [some(100, { value: false }), all(60)] }, { groups: [all(60)] }],
  ['groups instead of people', { groups: [all(60)] }, { groups: [all(60)], aggregation_group_type_index: 0 }],
  ['another bucketing', { groups: [all(60)] }, { groups: [all(60)], bucketing: { algorithm: 'posthog', seed: 'x' } }],
  ['devices instead of people', { groups: [all(60)] }, { groups: [all(60)] }, { bucketing_identifier: 'device_id' }],
  ['another key', { groups: [all(60)] }, { groups: [all(60)] }, { key: 'renamed' }],
]

onEachDatabase('a policy about releases', dialect => {
  const s = suiteScenario(dialect)
  let approver: Awaited<ReturnType<Scenario['join']>>
  beforeAll(async () => {
    approver = await s.join('approver')
  })

  async function newProject() {
    const { body } = await s.post('/api/projects/', { name: 'gated' })
    const path = `/api/projects/${body.id}`
    const flag = async (content: object): Promise<{ id: number; path: string }> => {
      const reply = await s.post(`${path}/feature_flags/`, content)
      expect(reply.status, reply.text).toBe(201)
      return { id: reply.body.id, path: `${path}/feature_flags/${reply.body.id}/` }
    }
    const gate = async (policy: object) => {
      const reply = await s.post(`${path}/approval_policies/`, { approver_config: { users: [approver.id] }, ...policy })
      expect(reply.status, reply.text).toBe(201)
    }
    return { id: body.id as number, path, flag, gate }
  }
  const above = (value: number, type = 'before_after') => ({
    action_key: 'feature_flag.rollout',
    conditions: { type, field: 'rollout_percentage', operator: '>', value },
  })

  it.each([
    ['above 50 %', above(50)],
    ['by more than 20 %', above(20, 'change_amount')],
  ] as const)('%s holds for every way to release to more people', async (_title, policy) => {
    const p = await newProject()
    await s.post('/capture/', {
      api_key: (await s.get(`${p.path}/`)).body.api_token,
      event: '$groupidentify',
      distinct_id: 'someone',
      properties: { $group_type: 'company', $group_key: 'acme' },
    })
    const flags: string[] = []
    for (const [index, [, filters]] of ways.entries()) flags.push((await p.flag({ key: `way-${index}`, filters })).path)
    await p.gate(policy)
    for (const [index, [title, before, after, more]] of ways.entries()) {
      const reply = await s.patch(flags[index]!, { filters: after, ...more })
      expect(reply.status, `${title}: ${reply.text}`).toBe(409)
      expect((await s.get(flags[index]!)).body.filters).toEqual(before)
    }
  })

  it('lets changes pass that stay below it or release to no one else', async () => {
    const p = await newProject()
    const flag = await p.flag({ key: 'below', filters: { groups: [some(100), all(10)] } })
    await p.gate(above(50))
    await p.gate(above(20, 'change_amount'))
    for (const groups of [
      [some(100), all(30)],
      [some(100), all(5)],
      [some(100), { ...all(20), properties: some(1).properties }],
      [some(50)],
      [
        {
          ...some(50),
          properties: [...some(1).properties, { key: 'beta', type: 'person', operator: 'is_set', value: '' }],
        },
      ],
    ]) {
      const reply = await s.patch(flag.path, { filters: { groups } })
      // The percentages of a condition are compared as they are, also where they are lowered.
      expect(reply.status, JSON.stringify(groups)).toBe(200)
    }
    expect((await s.patch(flag.path, { name: 'x', tags: ['y'] })).status).toBe(200)
  })

  it('holds for switching on what was changed while it was off', async () => {
    const p = await newProject()
    const flag = await p.flag({ key: 'off', active: false, filters: { groups: [some(40)] } })
    await p.gate(above(50))
    expect((await s.patch(flag.path, { filters: { groups: [some(40), all(90)] } })).status).toBe(409)
    expect((await s.post(`${flag.path}enable/`)).status).toBe(200)
    const full = await newProject()
    const off = await full.flag({ key: 'off', active: false })
    await full.gate(above(50))
    expect((await s.post(`${off.path}enable/`)).status).toBe(409)
  })

  it('with an action of its own sees a new flag as released to no one before', async () => {
    const p = await newProject()
    await p.gate({ ...above(20, 'change_amount'), action_key: 'feature_flag.create' })
    const create = (rollout: number) =>
      s.post(`${p.path}/feature_flags/`, { key: `new-${rollout}`, filters: { groups: [all(rollout)] } })
    expect((await create(20)).status).toBe(201)
    expect((await create(30)).status).toBe(409)
    expect((await s.post(`${p.path}/feature_flags/`, { key: 'off', active: false })).status).toBe(409)
  })

  it('refuses conditions that can never hold, with their path', async () => {
    const p = await newProject()
    const send = (conditions: object, more = {}) =>
      s.post(`${p.path}/approval_policies/`, { action_key: '*', conditions, ...more })
    const limit = above(50).conditions
    for (const [conditions, path] of [
      [{ ...limit, field: 'rollout' }, 'conditions.field'],
      [{ ...limit, value: '50' }, 'conditions.value'],
      [{ ...limit, type: 'change_amount', field: 'name', value: 1 }, 'conditions.field'],
      [{ type: 'before_after', field: 'active', operator: '>', value: true }, 'conditions.operator'],
      [{ type: 'all', conditions: [limit, { ...limit, operator: '<', value: 20 }] }, 'conditions.conditions'],
    ] as const) {
      const reply = await send(conditions)
      expect(reply).toMatchObject({ status: 400, body: { attr: 'conditions', detail: expect.stringContaining(path) } })
    }
    expect((await send(limit, { action_key: 'cohort.update' })).status).toBe(400)
    const { body: policy } = await send(limit)
    const moved = await s.patch(`${p.path}/approval_policies/${policy.id}/`, { action_key: 'cohort.update' })
    expect(moved.status).toBe(400)
    expect((await s.get(`${p.path}/approval_policies/`)).body.count).toBe(1)
  })

  describe('and flags that depend on the changed one', () => {
    it('ask before switching off, which they name, until they are off themselves', async () => {
      const p = await newProject()
      const base = await p.flag({ key: 'base' })
      const fallback = await p.flag({ key: 'fallback', filters: dependsOn(base.id, false) })
      await p.flag({ key: 'behind', filters: dependsOn(fallback.id, true) })
      const follower = await p.flag({ key: 'follower', filters: dependsOn(base.id, true) })
      await p.gate({ action_key: '*' })
      expect((await s.post(`${follower.path}disable/`)).status).toBe(200)
      const asked = await s.post(`${base.path}disable/`)
      expect(asked).toMatchObject({
        status: 409,
        body: { code: 'approval_required', dependents: ['fallback', 'behind'] },
      })
      expect(asked.body.detail).toContain('fallback, behind')
      const request = `${p.path}/change_requests/${asked.body.change_request.id}/`
      expect((await approver.get(request)).body).toMatchObject({ can_approve: true, policies: [{ quorum: 1 }] })
      expect((await s.post(`${fallback.path}disable/`)).status).toBe(200)
      expect((await s.post(`${base.path}disable/`)).body.active).toBe(false)
    })

    it('are released by approval or by breaking the glass', async () => {
      const p = await newProject()
      const base = await p.flag({ key: 'base' })
      await p.flag({ key: 'fallback', filters: dependsOn(base.id, false) })
      await p.gate(above(50))
      const asked = await s.post(`${base.path}disable/`)
      expect(asked.status).toBe(409)
      const approved = await approver.post(`${p.path}/change_requests/${asked.body.change_request.id}/approve/`, {})
      expect(approved.body.status).toBe('applied')
      expect((await s.get(base.path)).body.active).toBe(false)
      const other = await newProject()
      const urgent = await other.flag({ key: 'base' })
      await other.flag({ key: 'fallback', filters: dependsOn(urgent.id, false) })
      await other.gate(above(50))
      const broken = await s.post(`${urgent.path}disable/`, {}, { 'x-halyard-emergency': 'Outage' })
      expect(broken.body.active).toBe(false)
      expect((await s.get(`${other.path}/change_requests/?review=open`)).body.count).toBe(1)
    })

    it('count for every other write, and by how many people gain', async () => {
      const p = await newProject()
      const base = await p.flag({ key: 'base', filters: { groups: [all(50)] } })
      await p.flag({ key: 'fallback', filters: dependsOn(base.id, false) })
      await p.flag({ key: 'follower', filters: dependsOn(base.id, true), tags: ['checkout'] })
      await p.gate({ ...above(20, 'change_amount'), action_key: '*' })
      const set = (rollout: number) => s.patch(base.path, { filters: { groups: [all(rollout)] } })
      expect((await set(40)).status).toBe(200)
      expect((await set(15)).body).toMatchObject({ dependents: ['fallback'] })
      expect((await set(60)).status).toBe(200)
      expect((await set(90)).status).toBe(409)
      const tagged = await newProject()
      const other = await tagged.flag({ key: 'base', filters: { groups: [all(0)] } })
      await tagged.flag({ key: 'follower', filters: dependsOn(other.id, true), tags: ['checkout'] })
      await tagged.gate({ action_key: 'feature_flag.rollout', conditions: { type: 'tag', value: 'checkout' } })
      expect((await s.patch(other.path, { filters: { groups: [all(5)] } })).body).toMatchObject({
        dependents: ['follower'],
      })
    })

    it('are found through cohorts that name a flag', async () => {
      const p = await newProject()
      const base = await p.flag({ key: 'base' })
      const [condition] = dependsOn(base.id, false).groups
      const values = [{ type: 'AND', values: condition!.properties }]
      const cohort = await s.post(`${p.path}/cohorts/`, { name: 'c', filters: { properties: { type: 'OR', values } } })
      expect(cohort.status, cohort.text).toBe(201)
      const groups = [{ properties: [{ key: 'id', type: 'cohort', value: cohort.body.id }], rollout_percentage: 100 }]
      await p.flag({ key: 'behind-cohort', filters: { groups } })
      await p.gate({ action_key: '*' })
      expect((await s.post(`${base.path}disable/`)).body).toMatchObject({ dependents: ['behind-cohort'] })
    })

    it('hold up switching off during a freeze, and nothing else does', async () => {
      const p = await newProject()
      const base = await p.flag({ key: 'base' })
      const free = await p.flag({ key: 'free' })
      const fallback = await p.flag({ key: 'fallback', filters: dependsOn(base.id, false) })
      const ends_at = new Date(Date.now() + 3_600_000).toISOString()
      await s.post(`${s.organization}/freezes/`, { reason: 'Sale', ends_at, project: p.id })
      expect((await s.post(`${free.path}disable/`)).status).toBe(200)
      const held = await s.post(`${base.path}disable/`)
      expect(held).toMatchObject({ status: 409, body: { code: 'frozen', dependents: ['fallback'] } })
      expect((await s.post(`${fallback.path}disable/`)).status).toBe(200)
      expect((await s.post(`${base.path}disable/`)).status).toBe(200)
    })
  })
})
