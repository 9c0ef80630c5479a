import { beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Scenario } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const inMinutes = (n: number): Instant => plusMilliseconds(instantOf(new Date()), n * 60_000)
const rollout = (percentage: number) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })

onEachDatabase('a policy for changes that affect many people', dialect => {
  const s = suiteScenario(dialect)
  let ann: Awaited<ReturnType<Scenario['join']>>
  beforeAll(async () => {
    ann = await s.join('ann')
  })

  /** A project in which three people were seen. */
  async function populated() {
    const { body: project } = await s.post('/api/projects/', { name: 'populated' })
    for (const id of ['one', 'two', 'three']) {
      await s.post('/capture/', { api_key: project.api_token, event: '$identify', distinct_id: id })
    }
    const path = `/api/projects/${project.id}`
    const make = async (body: object) => (await s.post(`${path}/feature_flags/`, body)).body
    const read = async (id: number) => (await s.get(`${path}/feature_flags/${id}/`)).body
    const limit = (value: number, action = '*') =>
      s.post(`${path}/approval_policies/`, {
        action_key: action,
        conditions: { type: 'people_affected', value },
        approver_config: { users: [ann.id] },
      })
    const schedule = (id: number, value: object, at: Instant) =>
      s.post(`${path}/scheduled_changes/`, {
        record_id: id,
        payload: { operation: 'update', value },
        scheduled_at: at,
      })
    const scheduled = async (id: number) => (await s.get(`${path}/scheduled_changes/${id}/`)).body
    return { id: project.id as number, path, make, read, limit, schedule, scheduled }
  }

  it('lets scheduled changes run that it does not concern', async () => {
    const p = await populated()
    const flag = await p.make({ key: 'renamed' })
    await p.limit(1, 'feature_flag.delete')
    const { body: change } = await p.schedule(flag.id, { name: 'later' }, inMinutes(1))
    await s.halyard.jobs.runDue(inMinutes(2))
    expect(await p.scheduled(change.id)).toMatchObject({ status: 'done', failure_reason: null })
    expect(await p.read(flag.id)).toMatchObject({ name: 'later', version: 2 })
  })

  it('lets a scheduled change run that was approved', async () => {
    const p = await populated()
    const flag = await p.make({ key: 'released', filters: rollout(0) })
    await p.limit(1)
    const { status, body } = await p.schedule(flag.id, { filters: rollout(100) }, inMinutes(1))
    expect(status).toBe(409)
    const approved = await ann.post(`${p.path}/change_requests/${body.change_request.id}/approve/`, {})
    expect(approved.body).toMatchObject({ status: 'applied' })
    await s.halyard.jobs.runDue(inMinutes(2))
    expect(await p.read(flag.id)).toMatchObject({ filters: rollout(100), version: 2 })
    const [change] = (await s.get(`${p.path}/scheduled_changes/`)).body.results
    expect(change).toMatchObject({ status: 'done', failure_reason: null })
  })

  it('asks for approval of a change that was scheduled before it', async () => {
    const p = await populated()
    const flag = await p.make({ key: 'planned-before', filters: rollout(0) })
    const { body: change } = await p.schedule(flag.id, { filters: rollout(100) }, inMinutes(1))
    await p.limit(1)
    await s.halyard.jobs.runDue(inMinutes(2))
    expect(await p.read(flag.id)).toMatchObject({ filters: rollout(0), version: 1 })
    const { body: requests } = await s.get(`${p.path}/change_requests/`)
    expect(requests.results).toMatchObject([{ state: 'pending', reason: 'Scheduled before it needed approval.' }])
    expect(await p.scheduled(change.id)).toMatchObject({
      status: 'failed',
      failure_reason: `The change needs approval: change request ${requests.results[0].id} was opened.`,
    })
  })

  it('counts people for each flag of an import', async () => {
    const p = await populated()
    await p.limit(100)
    const flags = Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e'].map(key => [
        key,
        { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'on' },
      ]),
    )
    const body = { source: 'flagd', content: { flags }, mapping: [{ project: p.id }] }
    const plan = await s.post(`${s.organization}/imports/`, body)
    expect(plan.status, plan.text).toBe(201)
    const applied = await s.post(`${s.organization}/imports/${plan.body.id}/apply/`, {})
    expect(applied.status, applied.text).toBe(200)
    expect((await s.get(`${p.path}/feature_flags/`)).body.count).toBe(5)
  })
})
