import { beforeAll, describe, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../../instant.ts'
import { expectAtomic, savedFlags } from '../../../testing/atomicity.ts'
import { freeLeases, onEachDatabase } from '../../../testing/databases.ts'
import { createFaultInjector } from '../../../testing/failing-statement.ts'
import type { Scenario } from '../../../testing/scenario.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'
import { applyChange } from './run-schedules.ts'

const minute = 60_000
const inMinutes = (n: number): Instant => plusMilliseconds(instantOf(new Date()), n * minute)
const rollout = (percentage: number | null) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })

onEachDatabase('scheduled changes', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let other: Scenario
  let flags: string
  let schedules: string
  beforeAll(async () => {
    other = await s.startAnother()
    flags = `${s.project}/feature_flags/`
    schedules = `${s.project}/scheduled_changes/`
  })

  const make = async (key: string, more = {}) => (await s.post(flags, { key, ...more })).body
  const flagNow = async (id: number) => (await s.get(`${flags}${id}/`)).body
  const plan = (flagId: number, payload: object, at?: Instant) =>
    s.post(schedules, { record_id: flagId, model_name: 'FeatureFlag', payload, ...(at && { scheduled_at: at }) })
  const planned = async (id: number) => (await s.get(`${schedules}${id}/`)).body
  const activityOf = async (id: number) => (await s.get(`${flags}${id}/activity/`)).body.results

  it('sets any writable field at its time, once, as the system', async () => {
    const flag = await make('at-noon')
    const value = { name: 'changed', active: false, tags: ['t'], filters: rollout(5) }
    const reply = await plan(flag.id, { operation: 'update', value }, inMinutes(10))
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ record_id: String(flag.id), status: 'pending', executed_at: null, attempts: 0 })
    await s.halyard.jobs.runDue(inMinutes(9))
    expect((await flagNow(flag.id)).version).toBe(1)
    await s.halyard.jobs.runDue(inMinutes(11))
    await s.halyard.jobs.runDue(inMinutes(12))
    expect(await flagNow(flag.id)).toMatchObject({ ...value, version: 2 })
    expect(await planned(reply.body.id)).toMatchObject({ status: 'done', next_attempt_at: null, failure_reason: null })
    const [change, scheduled] = await activityOf(flag.id)
    expect(change).toMatchObject({
      user: { is_system: true },
      activity: 'updated',
      detail: { trigger: { job_type: 'scheduled_change', job_id: String(reply.body.id) } },
    })
    expect(scheduled).toMatchObject({ activity: 'scheduled', user: { email: 'owner@halyard.local' } })
  })

  it('rejects fields that are no object', async () => {
    const { body: flag } = await s.post(flags, { key: 'no-fields' })
    const reply = await plan(flag.id, { operation: 'update', value: 5 }, inMinutes(10))
    expect([reply.status, reply.body.attr]).toEqual([400, 'payload'])
  })

  it('supports PostHog’s operations', async () => {
    const flag = await make('operations', { active: false, filters: rollout(1) })
    await plan(flag.id, { operation: 'update_status', value: true }, inMinutes(1))
    await plan(flag.id, { operation: 'add_release_condition', value: rollout(50) }, inMinutes(2))
    await s.halyard.jobs.runDue(inMinutes(3))
    const changed = await flagNow(flag.id)
    expect(changed.active).toBe(true)
    expect(changed.filters.groups).toEqual([...rollout(1).groups, ...rollout(50).groups])
  })

  describe('a ramp', () => {
    const steps = (...all: [number, number][]) =>
      all.map(([minutes, percentage]) => ({ at: inMinutes(minutes), rollout_percentage: percentage }))

    it('increases a rollout step by step and never lowers it', async () => {
      const flag = await make('ramp', { filters: rollout(0) })
      const { body } = await plan(flag.id, {
        operation: 'ramp',
        value: { steps: steps([1, 10], [2, 20], [3, 30], [4, 100]) },
      })
      expect(body).toMatchObject({ status: 'pending', steps_done: 0 })
      await s.halyard.jobs.runDue(inMinutes(1.5))
      expect((await flagNow(flag.id)).rollout_percentage).toBe(10)
      expect(await planned(body.id)).toMatchObject({ status: 'pending', steps_done: 1 })
      await s.patch(`${flags}${flag.id}/`, { filters: rollout(25) })
      await s.halyard.jobs.runDue(inMinutes(2.5))
      expect((await flagNow(flag.id)).rollout_percentage).toBe(25)
      await s.halyard.jobs.runDue(inMinutes(9))
      expect((await flagNow(flag.id)).rollout_percentage).toBe(100)
      expect(await planned(body.id)).toMatchObject({ status: 'done', steps_done: 4 })
    })

    it('does not change a rollout of 100 %', async () => {
      const flag = await make('ramp-null', { filters: rollout(0) })
      await plan(flag.id, { operation: 'ramp', value: { steps: steps([1, 10]) } })
      await s.patch(`${flags}${flag.id}/`, { filters: rollout(null) })
      await s.halyard.jobs.runDue(inMinutes(2))
      expect(await flagNow(flag.id)).toMatchObject({ version: 2, filters: rollout(null) })
    })

    it('follows its condition and is marked as broken when the condition is gone', async () => {
      const only = (email: string) => ({
        properties: [{ key: 'email', type: 'person', operator: 'exact', value: [email] }],
        rollout_percentage: 0,
      })
      const [first, second, added] = [only('first@x'), only('second@x'), only('added@x')]
      const flag = await make('ramp-moved', { filters: { groups: [first, second] } })
      const value = { condition_index: 1, steps: steps([1, 10], [2, 20], [9, 30]) }
      const { body } = await plan(flag.id, { operation: 'ramp', value })
      await s.patch(`${flags}${flag.id}/`, { filters: { groups: [added, first, second] } })
      expect(await planned(body.id)).toMatchObject({ status: 'pending', broken_reason: null, condition_position: 2 })
      await s.halyard.jobs.runDue(inMinutes(1.5))
      const rollouts = async () =>
        (await flagNow(flag.id)).filters.groups.map((group: { rollout_percentage: number }) => group.rollout_percentage)
      expect(await rollouts()).toEqual([0, 0, 10])

      await s.patch(`${flags}${flag.id}/`, { filters: { groups: [added, first] } })
      const reason = 'The condition that this ramp raises was changed or removed.'
      expect(await planned(body.id)).toMatchObject({
        status: 'pending',
        broken_reason: reason,
        condition_position: null,
      })
      const { body: list } = await s.get(`${schedules}?record_id=${flag.id}`)
      expect(list.results[0].broken_reason).toBe(reason)
      await s.halyard.jobs.runDue(inMinutes(3))
      expect(await planned(body.id)).toMatchObject({ status: 'failed', failure_reason: reason })
      expect(await rollouts()).toEqual([0, 0])
    })

    it('fails permanently when the flag was rolled back, and waits while it is off', async () => {
      const rolledBack = await make('ramp-rolled-back', { filters: rollout(1), performed_rollback: true })
      const off = await make('ramp-off', { filters: rollout(1), active: false })
      const first = await plan(rolledBack.id, { operation: 'ramp', value: { steps: steps([1, 10]) } })
      const second = await plan(off.id, { operation: 'ramp', value: { steps: steps([1, 10]) } })
      await s.halyard.jobs.runDue(inMinutes(2))
      expect(await planned(first.body.id)).toMatchObject({
        status: 'failed',
        failure_reason: expect.stringContaining('rolled back'),
      })
      expect(await planned(second.body.id)).toMatchObject({ status: 'pending', attempts: 1 })
      await s.patch(`${flags}${off.id}/`, { active: true })
      await s.halyard.jobs.runDue(inMinutes(5))
      expect((await flagNow(off.id)).rollout_percentage).toBe(10)
      expect((await flagNow(rolledBack.id)).rollout_percentage).toBe(1)
    })

    it.each([
      [{}],
      [{ steps: [] }],
      [{ steps: steps([1, 50], [2, 40]) }],
      [{ steps: steps([2, 10], [1, 20]) }],
      [{ steps: steps([1, 101]) }],
      [{ steps: [{ at: 'soon', rollout_percentage: 1 }] }],
      [{ steps: steps([1, 10]), condition_index: 3 }],
      [{ steps: steps([1, 10]), condition_index: -1 }],
      [{ steps: steps([1, 0]) }],
    ])('is rejected with %j', async value => {
      const { body: flag } = await s.post(flags, { key: 'ramp-refused', filters: rollout(0) })
      const id = flag.id ?? (await s.get(`${flags}?search=ramp-refused`)).body.results[0].id
      const reply = await plan(id, { operation: 'ramp', value })
      expect([reply.status, reply.body.attr]).toEqual([400, 'payload'])
    })
  })

  it('reports a failure, retries with exponential backoff, and finally fails', async () => {
    const flag = await make('will-clash')
    const { body } = await plan(flag.id, { operation: 'update', value: { key: 'clashing' } }, inMinutes(1))
    const blocker = await make('clashing')
    const start = inMinutes(2)
    await s.halyard.jobs.runDue(start)
    const first = await planned(body.id)
    expect(first).toMatchObject({ status: 'pending', attempts: 1, failure_reason: expect.stringContaining('clashing') })
    expect(first.next_attempt_at).toBe(plusMilliseconds(start, minute))
    const later = plusMilliseconds(start, minute)
    await s.halyard.jobs.runDue(later)
    expect(await planned(body.id)).toMatchObject({ attempts: 2, next_attempt_at: plusMilliseconds(later, 2 * minute) })
    let at = later
    for (let n = 0; n < 6; n++) {
      at = plusMilliseconds(at, 61 * minute)
      await s.halyard.jobs.runDue(at)
    }
    expect(await planned(body.id)).toMatchObject({ status: 'failed', attempts: 8, next_attempt_at: null })
    expect((await s.get(`${schedules}?status=failed&record_id=${flag.id}`)).body.count).toBe(1)
    await s.patch(`${flags}${blocker.id}/`, { deleted: true })
    const rescheduled = await s.patch(`${schedules}${body.id}/`, { scheduled_at: inMinutes(1) })
    expect(rescheduled.body).toMatchObject({ status: 'pending', attempts: 0, failure_reason: null })
    await s.halyard.jobs.runDue(at)
    expect((await flagNow(flag.id)).key).toBe('clashing')
  })

  it('fails permanently when the flag is deleted, and can restore a flag', async () => {
    const gone = await make('deleted-meanwhile')
    const back = await make('comes-back')
    const first = await plan(gone.id, { operation: 'update_status', value: false }, inMinutes(1))
    await s.patch(`${flags}${gone.id}/`, { deleted: true })
    await s.patch(`${flags}${back.id}/`, { deleted: true })
    const second = await plan(back.id, { operation: 'update', value: { deleted: false } }, inMinutes(1))
    expect(second.status).toBe(201)
    await s.halyard.jobs.runDue(inMinutes(2))
    expect(await planned(first.body.id)).toMatchObject({ status: 'failed', attempts: 1 })
    expect((await flagNow(back.id)).deleted).toBe(false)
  })

  it('is canceled by DELETE', async () => {
    const flag = await make('called-off')
    const { body } = await plan(flag.id, { operation: 'update_status', value: false }, inMinutes(1))
    expect((await s.delete(`${schedules}${body.id}/`)).status).toBe(204)
    expect((await s.get(`${schedules}${body.id}/`)).status).toBe(404)
    await s.halyard.jobs.runDue(inMinutes(2))
    expect((await flagNow(flag.id)).active).toBe(true)
    expect((await activityOf(flag.id))[0].activity).toBe('unscheduled')
  })

  it.each([
    [{ payload: { operation: 'update', value: {} } }, 'record_id', 'required'],
    [{ record_id: 999999, payload: { operation: 'update', value: {} } }, 'record_id', 'does_not_exist'],
    [{ record_id: 'x', payload: { operation: 'update', value: {} } }, 'record_id', 'does_not_exist'],
    [{ payload: { operation: 'explode', value: 1 } }, 'payload__operation', 'invalid_choice'],
    [{ payload: { operation: 'update', value: { active: 'no' } } }, 'active', 'invalid_input'],
    [
      { payload: { operation: 'update', value: { filters: { groups: [{ rollout_percentage: 300 }] } } } },
      'filters',
      'out_of_range',
    ],
    [{ payload: { operation: 'update_status', value: 1 } }, 'payload', 'invalid_input'],
    [{ payload: { operation: 'update_status', value: true }, scheduled_at: 'soon' }, 'scheduled_at', 'invalid_input'],
    [{ payload: { operation: 'update_status', value: true }, scheduled_at: undefined }, 'scheduled_at', 'required'],
    [
      { payload: { operation: 'update_status', value: true }, scheduled_at: '2020-01-01' },
      'scheduled_at',
      'invalid_input',
    ],
    [{ payload: { operation: 'add_release_condition', value: {} } }, 'payload', 'invalid_input'],
  ])('rejects %j', async (body, attr, code) => {
    const found = (await s.get(`${flags}?search=refusing`)).body.results[0] ?? (await make('refusing'))
    const known = attr === 'record_id' ? {} : { record_id: found.id }
    const reply = await s.post(schedules, { scheduled_at: inMinutes(5), ...known, ...body })
    expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, attr, code])
  })

  it('requires permission to edit the flag, and is not accessible to other projects', async () => {
    const flag = await make('guarded')
    const { body } = await plan(flag.id, { operation: 'update_status', value: false }, inMinutes(60 * 24))
    const member = await s.join(`schedules-${dialect}`)
    await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    const payload = { operation: 'update_status', value: false }
    const refused = await member.post(schedules, { record_id: flag.id, payload, scheduled_at: inMinutes(5) })
    expect(refused.status).toBe(403)
    expect((await member.patch(`${schedules}${body.id}/`, {})).status).toBe(403)
    expect((await member.delete(`${schedules}${body.id}/`)).status).toBe(403)
    expect((await member.get(`${schedules}${body.id}/`)).status).toBe(200)
    const stranger = await s.stranger(`schedules-${dialect}`)
    expect((await stranger.get(`${schedules}${body.id}/`)).status).toBe(404)
    expect((await stranger.get(`${stranger.project}/scheduled_changes/${body.id}/`)).status).toBe(404)
  })

  it('runs exactly once with two nodes on one database', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, n) => make(`two-nodes-${n}`, { filters: rollout(n) })),
    )
    for (const flag of made) {
      const value = { groups: [{ properties: [], rollout_percentage: 99 }] }
      await plan(flag.id, { operation: 'add_release_condition', value }, inMinutes(1))
    }
    const at = inMinutes(2)
    await freeLeases(s.halyard.storage)
    await Promise.all([s.halyard.jobs.runDue(at), other.halyard.jobs.runDue(at), s.halyard.jobs.runDue(at)])
    // A node whose lease has expired must not apply it again either.
    await other.halyard.jobs.runDue(plusMilliseconds(at, 5 * minute))
    for (const flag of made) {
      expect(await flagNow(flag.id)).toMatchObject({ version: 2 })
      expect((await flagNow(flag.id)).filters.groups).toHaveLength(2)
      const seen = await other.get(`${flags}${flag.id}/`)
      expect(seen.body.version).toBe(2)
    }
  })

  it('is applied exactly once even if several nodes believe that they hold the lease', async () => {
    const flag = await make('no-lease', { filters: rollout(1) })
    const { body } = await plan(flag.id, { operation: 'add_release_condition', value: rollout(2) }, inMinutes(1))
    const change = (await s.halyard.database.read(tx => tx.schedules.find(s.projectId, body.id)))!
    const at = inMinutes(2)
    const tries = Array.from({ length: 6 }, (_, n) =>
      (n % 2 ? s : other).halyard.database.transaction(tx => applyChange(tx, change, at)),
    )
    await Promise.all(tries)
    expect((await flagNow(flag.id)).filters.groups).toHaveLength(2)
  })

  it('writes nothing while the database is unavailable, and catches up afterwards', async () => {
    const flag = await make('outage')
    const { body } = await plan(flag.id, { operation: 'update_status', value: false }, inMinutes(1))
    for (let n = 1; ; n++) {
      injector.failAt(n)
      // A later time for each attempt, because the previous failure postponed the next one.
      await s.halyard.jobs.runDue(inMinutes(2 + n * 60))
      if (!injector.disarm()) break
      const [now, state] = [await flagNow(flag.id), await planned(body.id)]
      expect([now.active, state.status]).toEqual(state.status === 'done' ? [false, 'done'] : [true, 'pending'])
      if (state.status === 'done') break
    }
    await s.halyard.jobs.runDue(inMinutes(60 * 60))
    expect(await flagNow(flag.id)).toMatchObject({ active: false, version: 2 })
    expect((await planned(body.id)).status).toBe('done')
  })

  it('schedules atomically when a statement fails', async () => {
    const flag = await make('torn')
    const effects = { ...savedFlags(0), activity: 1, changes: 1, scheduled_changes: 1 }
    const reply = await expectAtomic(s, injector, effects, () =>
      plan(flag.id, { operation: 'update_status', value: false }, inMinutes(60 * 24)),
    )
    expect(reply.status).toBe(201)
    const gone = await expectAtomic(s, injector, effects, () => s.delete(`${schedules}${reply.body.id}/`))
    expect(gone.status).toBe(204)
  })
})
