import { beforeAll, expect, it, vi } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Client } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

onEachDatabase('home', dialect => {
  const s = suiteScenario(dialect)
  let ann: Client & { id: number; uuid: string }
  beforeAll(async () => {
    ann = await s.join('ann')
  })

  const homeOf = async (client: Client) => (await client.get(`${s.project}/home/`)).body
  const createFlag = async (key: string, fields: object = {}): Promise<number> =>
    (await s.post(`${s.project}/feature_flags/`, { key, ...fields })).body.id

  it('of an empty project has nothing', async () => {
    const none = { count: 0, results: [] }
    expect(await homeOf(s)).toEqual({
      flags: { total: 0, active: 0, stale: 0 },
      is_connected: false,
      waiting: none,
      conflicts: none,
      upcoming: none,
      rolled_back: none,
      changes: [],
      most_evaluated: [],
    })
  })

  it('has the last changes with people, and the next scheduled changes without their values', async () => {
    const id = await createFlag('ramped', { filters: { groups: [{ properties: [], rollout_percentage: 5 }] } })
    await createFlag('off', { active: false })
    const schedule = (payload: object, hours: number) =>
      s.post(`${s.project}/scheduled_changes/`, { record_id: id, payload, scheduled_at: inHours(hours) })
    const steps = [{ at: inHours(1), rollout_percentage: 50 }]
    await schedule({ operation: 'update', value: { name: 'x'.repeat(1000) } }, 2)
    expect((await schedule({ operation: 'ramp', value: { condition_index: 0, steps } }, 1)).status).toBe(201)
    await ann.patch(`${s.project}/feature_flags/${id}/`, { active: false })
    const home = await homeOf(s)
    expect(home.flags).toEqual({ total: 2, active: 0, stale: 0 })
    expect(home.changes[0]).toMatchObject({
      activity: 'updated',
      flag_id: String(id),
      name: 'ramped',
      active: false,
      by: { uuid: ann.uuid },
    })
    expect(home.changes[0].fields).toContain('active')
    expect(home.upcoming).toMatchObject({
      count: 2,
      results: [
        { flag_key: 'ramped', change: { payload: { operation: 'ramp', value: { steps } }, condition_position: 0 } },
        { flag_id: id, change: { payload: { operation: 'update' } } },
      ],
    })
    expect(JSON.stringify(home)).not.toContain('xxx')
  })

  it('has the flags evaluated most, without deleted ones', async () => {
    const [busy, calm, gone] = [await createFlag('busy'), await createFlag('calm'), await createFlag('gone')]
    const call = (key: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({
        event: '$feature_flag_called',
        distinct_id: `user-${n}`,
        properties: { $feature_flag: key, $feature_flag_response: true },
      }))
    const batch = [...call('calm', 1), ...call('busy', 3), ...call('gone', 5)]
    await s.post('/batch/', { api_key: s.projectToken, batch })
    await s.patch(`${s.project}/feature_flags/${gone}/`, { deleted: true })
    const home = await vi.waitUntil(
      async () => {
        const body = await homeOf(s)
        return body.most_evaluated.length === 2 && body
      },
      { timeout: 30_000 },
    )
    expect(home.most_evaluated).toMatchObject([
      { id: busy, key: 'busy' },
      { id: calm, key: 'calm' },
    ])
    expect(home.most_evaluated[0].calls).toHaveLength(14)
    expect(home.most_evaluated[0].calls.at(-1)).toBe(3)
    expect(home.is_connected).toBe(true)
  })

  it('has the requests that wait for the caller, and those of the caller in conflict', async () => {
    const id = await createFlag('watched')
    await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const propose = async (name: string) =>
      (await s.post(`${s.project}/change_requests/`, { flag_id: id, patch: { name }, title: name })).body.id
    const [first, second] = [await propose('first'), await propose('second')]
    const { waiting } = await homeOf(ann)
    expect(waiting).toMatchObject({ count: 2, results: [{ id: second, title: 'second' }, { id: first }] })
    expect((await homeOf(s)).waiting.count).toBe(0)
    await ann.post(`${s.project}/change_requests/${first}/approve/`, {})
    await ann.post(`${s.project}/change_requests/${second}/approve/`, {})
    expect((await homeOf(s)).conflicts).toMatchObject({ count: 1, results: [{ id: second, state: 'conflicted' }] })
    expect((await homeOf(ann)).conflicts.count).toBe(0)
  })

  it('is open to view-only members, and to no one outside', async () => {
    const viewer = await s.join('viewer')
    await s.patch(`${s.organization}/members/${viewer.uuid}/`, { level: 0 })
    expect((await homeOf(viewer)).changes.length).toBeGreaterThan(0)
    const stranger = await s.stranger('stranger')
    expect((await stranger.get(`${s.project}/home/`)).status).toBe(404)
    expect((await s.as(undefined).get(`${s.project}/home/`)).status).toBe(401)
  })
})
