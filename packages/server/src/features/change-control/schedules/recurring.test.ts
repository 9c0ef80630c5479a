import { beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { freeLeases, onEachDatabase, writeDirectly } from '../../../testing/databases.ts'
import type { Scenario } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

const hour = 3_600_000
/** A Monday at midnight in UTC, at least two days away: every run of a test lies in the future when it is planned. */
const monday = (): number => {
  const day = Math.ceil(Date.now() / (24 * hour)) + 2
  // The epoch was a Thursday.
  return (day + ((11 - (day % 7)) % 7)) * 24 * hour
}

onEachDatabase('recurring changes', dialect => {
  const s = suiteScenario(dialect)
  let other: Scenario
  let ann: Awaited<ReturnType<Scenario['join']>>
  beforeAll(async () => {
    other = await s.startAnother()
    ann = await s.join('ann')
  })

  /** A project of its own, with a flag that is off. */
  async function inProject() {
    const { body: project } = await s.post('/api/projects/', { name: 'recurring' })
    const path = `/api/projects/${project.id}`
    const { body: flag } = await s.post(`${path}/feature_flags/`, { key: 'office-hours', active: false })
    const plan = (more: object) =>
      s.post(`${path}/scheduled_changes/`, {
        record_id: flag.id,
        payload: { operation: 'update_status', value: true },
        is_recurring: true,
        ...more,
      })
    const isOn = async () => (await s.get(`${path}/feature_flags/${flag.id}/`)).body.active
    const list = async () => (await s.get(`${path}/scheduled_changes/`)).body.results
    return { path, flag, plan, isOn, list }
  }
  const start = monday()
  const at = (day: number, hours: number): Instant => instantOf(new Date(start + (day * 24 + hours) * hour))
  const officeHours = { cron_expression: '0 9 * * 1-5', timezone: 'UTC', pair: { cron_expression: '0 17 * * 1-5' } }
  /** Both nodes, as if each believed that it had the lease in turn. */
  async function runOn(...times: Instant[]) {
    for (const time of times) {
      await freeLeases(s.halyard.storage)
      await Promise.all([s.halyard.jobs.runDue(time), other.halyard.jobs.runDue(time)])
    }
  }

  it('switch a flag on at 9 and off at 17 on working days, once each on two nodes', async () => {
    const p = await inProject()
    const reply = await p.plan({ ...officeHours, scheduled_at: at(0, 9), end_date: at(4, 23) })
    expect(reply.status, reply.text).toBe(201)
    expect(reply.body).toMatchObject({ is_recurring: true, timezone: 'UTC', last_executed_at: null, executed_at: null })
    const [first, second] = await p.list()
    expect(first.pair_id).toBe(second.pair_id)
    const off = [first, second].find(({ payload }) => payload.value === false)
    await s.patch(`${p.path}/scheduled_changes/${off.id}/`, { scheduled_at: at(0, 17) })
    const seen: boolean[] = []
    for (const time of [at(0, 10), at(0, 18), at(1, 8), at(1, 10), at(1, 18), at(4, 10), at(4, 18)]) {
      await runOn(time)
      seen.push(await p.isOn())
    }
    expect(seen).toEqual([true, false, false, true, false, true, false])
    expect((await p.list()).map((change: { status: string }) => change.status)).toEqual(['done', 'done'])
    await runOn(at(7, 10))
    expect(await p.isOn()).toBe(false)
    const { body: activity } = await s.get(`${p.path}/feature_flags/${p.flag.id}/activity/?limit=100`)
    const updates = activity.results.filter((entry: { activity: string }) => entry.activity === 'updated')
    expect(updates).toHaveLength(6)
  })

  it('run once after an outage, in the order of their last missed times', async () => {
    const p = await inProject()
    await p.plan({ ...officeHours, scheduled_at: at(0, 9) })
    await runOn(at(3, 12))
    // Off was last due on Wednesday at 17, on on Thursday at 9.
    expect(await p.isOn()).toBe(true)
    const { body: flag } = await s.get(`${p.path}/feature_flags/${p.flag.id}/`)
    expect(flag.version).toBeLessThanOrEqual(3)
    const [off, on] = await p.list()
    expect([off.scheduled_at, on.scheduled_at]).toEqual([at(3, 17), at(4, 9)])
  })

  it('are paused, resumed, changed and cancelled together', async () => {
    const p = await inProject()
    const { body } = await p.plan({ ...officeHours, scheduled_at: at(0, 9) })
    const path = `${p.path}/scheduled_changes/${body.id}/`
    expect((await s.patch(path, { is_recurring: false })).body).toMatchObject({
      status: 'pending',
      next_attempt_at: null,
      cron_expression: '0 9 * * 1-5',
    })
    const running = async () => (await p.list()).map((change: { is_recurring: boolean }) => change.is_recurring)
    expect(await running()).toEqual([false, false])
    await runOn(at(0, 10))
    expect(await p.isOn()).toBe(false)
    await s.patch(`${p.path}/feature_flags/${p.flag.id}/`, { active: true })
    await runOn(at(0, 18))
    expect(await p.isOn()).toBe(true)
    const changed = await s.patch(path, { is_recurring: true, cron_expression: '0 10 * * *', scheduled_at: at(1, 10) })
    expect(changed.body).toMatchObject({ next_attempt_at: at(1, 10), cron_expression: '0 10 * * *' })
    expect(await running()).toEqual([true, true])
    await runOn(at(1, 18))
    expect(await p.isOn()).toBe(false)
    expect((await s.delete(path)).status).toBe(204)
    expect(await p.list()).toEqual([])
  })

  it('wait for the end of a freeze, unless the other change of the pair came first', async () => {
    const p = await inProject()
    const project = Number(p.path.split('/').at(-1))
    await p.plan({ ...officeHours, scheduled_at: at(0, 9) })
    const freeze = (from: Instant, to: Instant) =>
      s.post(`${s.organization}/freezes/`, { reason: 'Sale', starts_at: from, ends_at: to, project })
    await freeze(at(0, 8), at(0, 12))
    await freeze(at(1, 8), at(1, 20))
    expect((await p.list()).map((change: { frozen_until: unknown }) => change.frozen_until).sort()).toEqual(
      [at(0, 12), null].sort(),
    )
    await runOn(at(0, 10))
    expect(await p.isOn()).toBe(false)
    await runOn(at(0, 13))
    expect(await p.isOn()).toBe(true)
    await runOn(at(0, 18), at(1, 10), at(1, 18), at(1, 21))
    expect(await p.isOn()).toBe(false)
    const skipped = (await p.list()).find((change: { payload: { value: boolean } }) => change.payload.value)
    expect(skipped).toMatchObject({ failure_reason: expect.stringContaining('skipped'), scheduled_at: at(2, 9) })
    await runOn(at(2, 10))
    expect(await p.isOn()).toBe(true)
  })

  it('ask for approval when they are planned, and then run without asking again', async () => {
    const p = await inProject()
    await s.post(`${p.path}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const reply = await p.plan({ ...officeHours, scheduled_at: at(0, 9) })
    expect(reply).toMatchObject({ status: 409, body: { type: 'approval_required' } })
    expect(await p.list()).toEqual([])
    const path = reply.body.change_request.url
    expect((await ann.get(path)).body).toMatchObject({
      resource_type: 'scheduled_change',
      action_key: 'feature_flag.enable',
      can_approve: true,
      intent: { cron_expression: '0 9 * * 1-5', pair: { cronExpression: '0 17 * * 1-5' } },
      changes: [{ field: 'active', before: false, after: true }],
    })
    expect((await ann.post(`${path}approve/`)).body.status).toBe('applied')
    expect((await p.list()).map((change: { change_request: number }) => change.change_request)).toEqual([
      reply.body.change_request.id,
      reply.body.change_request.id,
    ])
    await runOn(at(0, 10))
    expect(await p.isOn()).toBe(true)
    await runOn(at(0, 18), at(1, 10))
    expect(await p.isOn()).toBe(true)

    const change = (await p.list()).find(({ payload }: { payload: { value: boolean } }) => payload.value)
    const edit = await s.patch(`${p.path}/scheduled_changes/${change.id}/`, { cron_expression: '0 6 * * *' })
    expect(edit.status).toBe(409)
    expect((await ann.post(`${edit.body.change_request.url}approve/`)).body.status).toBe('applied')
    const edited = (await s.get(`${p.path}/scheduled_changes/${change.id}/`)).body
    expect(edited).toMatchObject({ cron_expression: '0 6 * * *', change_request: edit.body.change_request.id })
    const pausing = `${p.path}/scheduled_changes/${change.id}/`
    expect((await s.patch(pausing, { is_recurring: false })).status).toBe(200)
    const resume = await s.patch(pausing, { is_recurring: true })
    expect(resume.status).toBe(409)
    expect((await ann.post(`${resume.body.change_request.url}approve/`)).body.status).toBe('applied')
    expect(await p.list()).toMatchObject([
      { is_recurring: true, change_request: resume.body.change_request.id },
      { is_recurring: true, change_request: resume.body.change_request.id },
    ])
    await runOn(at(2, 18))
    expect(await p.isOn()).toBe(false)
    await runOn(at(3, 7))
    expect(await p.isOn()).toBe(true)
    expect(await p.list()).toMatchObject([{ failure_reason: null }, { failure_reason: null }])
  })

  it('that are approved after their time run right away, or say why they cannot', async () => {
    const p = await inProject()
    await s.post(`${p.path}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const db = s.halyard.storage.kysely
    const requestOnce = async (more: object = {}) => {
      const reply = await p.plan({ is_recurring: false, scheduled_at: at(0, 9), ...more })
      expect(reply.status, reply.text).toBe(409)
      return reply.body.change_request as { id: number; url: string }
    }
    /** As if so much time had passed since it was requested. */
    const passTime = async ({ id }: { id: number }) => {
      const { patch } = await db
        .selectFrom('change_requests')
        .select('patch')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const plan = JSON.parse(patch)
      const hourAgo = (n: number) => instantOf(new Date(Date.now() - n * hour))
      const pair = plan.pair && { ...plan.pair, scheduledAt: hourAgo(1) }
      const late = JSON.stringify({ ...plan, scheduledAt: hourAgo(2), pair })
      await writeDirectly(s.halyard.storage, write =>
        write.updateTable('change_requests').set({ patch: late }).where('id', '=', id).execute(),
      )
    }
    const both = await requestOnce({ pair: { scheduled_at: at(0, 17) } })
    await passTime(both)
    expect((await ann.post(`${both.url}approve/`)).body).toMatchObject({
      status: 'failed',
      change_request: { apply_error: 'Both times of the pair have passed. Schedule it again.' },
    })
    const once = await requestOnce()
    await passTime(once)
    expect((await ann.post(`${once.url}approve/`)).body.status).toBe('applied')
    expect(await p.isOn()).toBe(false)
    await runOn(instantOf(new Date()))
    expect(await p.isOn()).toBe(true)
    expect(await p.list()).toMatchObject([{ status: 'done', failure_reason: null, change_request: once.id }])
  })

  it('run only as they were approved', async () => {
    const p = await inProject()
    await s.post(`${p.path}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const { body } = await p.plan({ is_recurring: false, scheduled_at: at(0, 9) })
    expect((await ann.post(`${body.change_request.url}approve/`)).body.status).toBe('applied')
    const [change] = await p.list()
    const payload = JSON.stringify({ operation: 'update', value: { active: true, name: 'more' } })
    await writeDirectly(s.halyard.storage, db =>
      db.updateTable('scheduled_changes').set({ payload }).where('id', '=', change.id).execute(),
    )
    await runOn(at(0, 10))
    expect(await p.isOn()).toBe(false)
    expect(await p.list()).toMatchObject([{ failure_reason: 'The scheduled change is not what was approved.' }])
  })

  it('are refused with the name of the field that is wrong', async () => {
    const p = await inProject()
    const wrong: readonly (readonly [object, string])[] = [
      [{}, 'recurrence_interval'],
      [{ cron_expression: 'soon' }, 'cron_expression'],
      [{ cron_expression: '* * * * *' }, 'cron_expression'],
      [{ cron_expression: '0 9 * * *', recurrence_interval: 'daily' }, 'cron_expression'],
      [{ recurrence_interval: 'hourly', scheduled_at: at(0, 9) }, 'recurrence_interval'],
      [{ recurrence_interval: 'daily' }, 'scheduled_at'],
      [{ recurrence_interval: 'daily', is_recurring: false, scheduled_at: at(0, 9) }, 'is_recurring'],
      [{ recurrence_interval: 'daily', scheduled_at: at(0, 9), end_date: at(0, 8) }, 'end_date'],
      [{ recurrence_interval: 'daily', scheduled_at: at(0, 9), timezone: 'Mars' }, 'timezone'],
      [
        { cron_expression: '0 9 * * *', payload: { operation: 'add_release_condition', value: { groups: [{}] } } },
        'payload',
      ],
      [{ cron_expression: '0 9 * * *', pair: {} }, 'pair'],
      [{ is_recurring: false, scheduled_at: at(0, 9), pair: { scheduled_at: 'soon' } }, 'pair'],
    ]
    for (const [fields, attr] of wrong) {
      const reply = await p.plan(fields)
      expect([reply.status, reply.body.attr], JSON.stringify(fields)).toEqual([400, attr])
    }
    expect(await p.list()).toEqual([])
  })

  it('can be a single pair', async () => {
    const p = await inProject()
    const pair = { scheduled_at: at(0, 17) }
    const reply = await p.plan({ is_recurring: false, scheduled_at: at(0, 9), pair })
    expect(reply.status, reply.text).toBe(201)
    await runOn(at(0, 10))
    expect(await p.isOn()).toBe(true)
    await runOn(plusMilliseconds(at(0, 17), 1))
    expect(await p.isOn()).toBe(false)
  })
})
