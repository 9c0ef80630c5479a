import { beforeAll, describe, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../instant.ts'
import { freeLeases, onEachDatabase } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import type { Scenario } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { rollBack } from './roll-back.ts'

const minute = 60_000
const inMinutes = (n: number): Instant => plusMilliseconds(instantOf(new Date()), n * minute)
const condition = (metric: unknown, operator: string, threshold: number, more = {}) => ({
  conditions: [{ metric, operator, threshold, window_minutes: 60, ...more }],
})

onEachDatabase('rollback', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let other: Scenario
  let flags: string
  beforeAll(async () => {
    other = await s.startAnother()
    flags = `${s.project}/feature_flags/`
  })

  const make = async (key: string, rollback: object, more = {}) =>
    (await s.post(flags, { key, rollback_conditions: rollback, ...more })).body
  const flagNow = async (id: number) => (await s.get(`${flags}${id}/`)).body
  const report = async (id: number) => (await s.get(`${flags}${id}/rollback/`)).body
  const push = (id: number, values: number[], more = {}) =>
    s.post(`${flags}${id}/metrics/`, { samples: values.map(value => ({ name: 'errors', value, ...more })) })
  const capture = (event: string, properties: object, n = 1) =>
    s.send('/batch/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        api_key: s.projectToken,
        batch: Array.from({ length: n }, (_, i) => ({ event, distinct_id: `p${i}`, properties })),
      }),
    })
  const look = (at = inMinutes(1)) => s.halyard.jobs.runDue(at)

  describe('by pushed samples', () => {
    it('switches the flag off once, logs the reason, and notifies every node', async () => {
      const flag = await make('pushed', condition('errors', 'gt', 5, { minimum_samples: 3 }))
      expect((await push(flag.id, [9, 9])).body).toEqual({ accepted: 2, ignored: 0 })
      await look()
      expect((await flagNow(flag.id)).active).toBe(true)
      expect((await report(flag.id)).conditions[0]).toMatchObject({
        status: 'watching',
        value: 9,
        samples: 2,
        threshold: 5,
      })
      await push(flag.id, [6])
      expect((await report(flag.id)).conditions[0].status).toBe('holds')
      await look()
      await look(inMinutes(2))
      expect(await flagNow(flag.id)).toMatchObject({ active: false, performed_rollback: true, version: 2 })
      const { body } = await s.get(`${flags}${flag.id}/activity/`)
      expect(body.count).toBe(2)
      expect(body.results[0]).toMatchObject({
        user: { is_system: true },
        detail: {
          trigger: {
            job_type: 'rollback',
            payload: {
              condition_index: 0,
              value: 8,
              samples: 3,
              threshold: 5,
              operator: 'gt',
              condition: { metric: 'errors' },
            },
          },
        },
      })
      const serving = other.halyard.serving.snapshots
      await expect
        .poll(async () => (await serving.forProject(s.projectId))?.flags.get(flag.id)?.active, { timeout: 10_000 })
        .toBe(false)
      expect(await report(flag.id)).toMatchObject({ performed_rollback: true, is_watched: false })
    })

    it('does not roll back again for the same incident once the flag is on again', async () => {
      const flag = await make('again', condition('errors', 'gte', 10))
      await push(flag.id, [10])
      await look()
      expect((await flagNow(flag.id)).active).toBe(false)
      expect((await s.patch(`${flags}${flag.id}/`, { active: true })).body.performed_rollback).toBe(false)
      await look()
      expect((await flagNow(flag.id)).active).toBe(true)
      const old = await push(flag.id, [99], { at: inMinutes(-1) })
      expect(old.body).toEqual({ accepted: 0, ignored: 1 })
      await look()
      expect((await flagNow(flag.id)).active).toBe(true)
      await push(flag.id, [11])
      await look()
      expect(await flagNow(flag.id)).toMatchObject({ active: false, performed_rollback: true })
    })

    it.each([
      ['average', 'lt', 2.5, false],
      ['average', 'gt', 1.9, true],
      ['sum', 'gte', 6, true],
      ['maximum', '>', 3, false],
      ['maximum', '>=', 3, true],
      ['minimum', 'lte', 1, false],
      ['count', 'gt', 2, true],
      ['count', 'gt', 3, false],
    ])('compares the %s by %s with %d', async (math, operator, threshold, isRolledBack) => {
      const flag = await make(
        `math-${math}-${operator}-${threshold}`,
        condition({ name: 'errors', math }, operator, threshold),
      )
      await push(flag.id, [1, 2, 3])
      await look()
      // An upper threshold is not evaluated before the window is complete.
      expect((await flagNow(flag.id)).active).toBe(!isRolledBack)
    })

    it('evaluates an upper threshold once the window is complete', async () => {
      const flag = await make('too-little', condition({ name: 'errors', math: 'sum' }, 'lt', 5))
      await s.halyard.storage.kysely
        .updateTable('flags')
        .set({ active_since: inMinutes(-120) })
        .where('id', '=', flag.id)
        .execute()
      await push(flag.id, [1], { at: inMinutes(-3) })
      await look()
      expect((await flagNow(flag.id)).active).toBe(false)
    })

    it('ignores samples outside the window', async () => {
      const flag = await make('window', condition('errors', 'gt', 1))
      await push(flag.id, [5])
      await look(inMinutes(62))
      expect((await flagNow(flag.id)).active).toBe(true)
    })

    it('rejects invalid samples', async () => {
      const flag = await make('refused', {})
      const samples = `${flags}${flag.id}/metrics/`
      expect((await s.post(samples, {})).body).toMatchObject({ code: 'required', attr: 'samples' })
      expect((await s.post(samples, { samples: [{ name: 'x', value: '1' }] })).status).toBe(400)
      expect((await s.post(samples, { samples: [{ name: '', value: 1 }] })).status).toBe(400)
      expect((await s.post(samples, { samples: [{ name: 'x', value: 1, at: 'soon' }] })).body.attr).toBe('at')
      expect((await s.post(samples, { samples: [{ name: 'x', value: 1, at: inMinutes(60) }] })).status).toBe(400)
      expect((await push(flag.id, Array(1001).fill(1))).status).toBe(400)
      const many = Array.from({ length: 51 }, (_, n) => ({ name: `n${n}`, value: 1 }))
      expect((await s.post(samples, { samples: many })).status).toBe(400)
      expect((await s.post(samples, { samples: many.slice(1) })).status).toBe(200)
      expect((await s.post(`${flags}999999/metrics/`, {})).status).toBe(404)
    })
  })

  describe('by events', () => {
    it('counts all events of a name', async () => {
      const flag = await make('exceptions', condition({ event: '$exception' }, 'gte', 4))
      await capture('$exception', {}, 3)
      await look()
      expect((await flagNow(flag.id)).active).toBe(true)
      await capture('$exception', {})
      await look()
      const { body } = await s.get(`${flags}${flag.id}/activity/`)
      expect(body.results[0].detail.trigger.payload).toMatchObject({ value: 4, threshold: 4 })
    })

    it('counts only events with the properties, and only those that carry the flag as on', async () => {
      const properties = [{ key: 'code', operator: 'gte', value: '500', type: 'event' }]
      const flag = await make('filtered', condition({ event: 'request', properties, only_flagged: true }, 'gt', 1))
      await capture('request', { code: 200, '$feature/filtered': true }, 5)
      await capture('request', { code: 503, '$feature/filtered': false }, 5)
      await capture('request', { code: 503 }, 5)
      await capture('request', { code: 500, '$feature/filtered': true })
      await look()
      expect((await report(flag.id)).conditions[0]).toMatchObject({ status: 'watching', value: 1 })
      await capture('request', { code: 502, '$feature/filtered': true })
      await look()
      expect((await flagNow(flag.id)).active).toBe(false)
    })

    it('compares the rate of two events', async () => {
      const metric = { event: 'failure', per: 'attempt' }
      const flag = await make('share', condition(metric, 'gt', 0.2, { minimum_samples: 10 }))
      await capture('failure', {}, 3)
      await capture('attempt', {}, 9)
      await look()
      expect((await report(flag.id)).conditions[0]).toMatchObject({ status: 'watching', samples: 9 })
      await capture('attempt', {}, 1)
      expect((await report(flag.id)).conditions[0].value).toBeCloseTo(0.3)
      await look()
      expect((await flagNow(flag.id)).active).toBe(false)
    })
  })

  it.each([
    [{ any: 'thing' }],
    [{ conditions: 'none' }],
    [{ conditions: [5] }],
    [{ conditions: [{ threshold: 1, threshold_metric: { insight: 'trends' }, operator: 'lt' }] }],
    [condition({ event: 'x', properties: [{ key: 'a', operator: 'regex', value: '(' }] }, 'gt', 1)],
    [condition({ event: 'x', math: 'dream' }, 'gt', 1)],
    [condition({ event: 'x' }, 'about', 1)],
    [condition('errors', 'constructor', 1)],
    [condition('errors', 'gt', 1, { window_minutes: 0 })],
    [condition('errors', 'gt', 1, { window_minutes: 1e6 })],
  ])('stores an unknown condition unchanged and reports it as inactive: %j', async rollback => {
    const flag = await make(`unknown-${JSON.stringify(rollback)}`, rollback)
    expect(flag.rollback_conditions).toEqual(rollback)
    await push(flag.id, [1e9])
    await look()
    expect((await flagNow(flag.id)).active).toBe(true)
    expect(await report(flag.id)).toMatchObject({
      is_watched: false,
      conditions: [{ status: 'inactive', threshold: null }],
    })
  })

  it('evaluates valid conditions beside unknown ones', async () => {
    const known = condition('errors', 'gt', 1).conditions
    const flag = await make('mixed', { conditions: [{ what: 'is this' }, ...known], note: 'unchanged' })
    await push(flag.id, [2])
    await look()
    expect(await flagNow(flag.id)).toMatchObject({ active: false, rollback_conditions: { note: 'unchanged' } })
  })

  it('rolls back exactly once with two nodes on one database', async () => {
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, n) => make(`two-nodes-${n}`, condition('errors', 'gt', 1))),
    )
    for (const flag of made) await push(flag.id, [2])
    await freeLeases(s.halyard.storage)
    const at = inMinutes(1)
    await Promise.all([s.halyard.jobs.runDue(at), other.halyard.jobs.runDue(at)])
    await other.halyard.jobs.runDue(plusMilliseconds(at, 10 * minute))
    for (const flag of made) {
      expect(await flagNow(flag.id)).toMatchObject({ active: false, performed_rollback: true, version: 2 })
      expect((await s.get(`${flags}${flag.id}/activity/`)).body.count).toBe(2)
    }
  })

  it('rolls back exactly once even if several nodes believe that they hold the lease', async () => {
    const { id } = await make('no-lease', condition('errors', 'gt', 1))
    await push(id, [2])
    const flag = (await s.halyard.database.read(tx => tx.flags.find(s.projectId, id)))!
    const tries = Array.from({ length: 6 }, (_, n) =>
      (n % 2 ? s : other).halyard.database.transaction(tx => rollBack(tx, flag, inMinutes(1))),
    )
    expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1)
    expect((await flagNow(id)).version).toBe(2)
  })

  it('writes nothing while the database is unavailable, and catches up afterwards', async () => {
    const flag = await make('outage', condition('errors', 'gt', 1))
    await push(flag.id, [2])
    await freeLeases(s.halyard.storage)
    for (let n = 1; ; n++) {
      injector.failAt(n)
      await look(inMinutes(1))
      const wasReached = injector.disarm()
      const now = await flagNow(flag.id)
      const entries = (await s.get(`${flags}${flag.id}/activity/`)).body.count
      const versions = (await s.get(`${flags}${flag.id}/versions/`)).body.count
      expect([
        [true, false, 1, 1, 1],
        [false, true, 2, 2, 2],
      ]).toContainEqual([now.active, now.performed_rollback, now.version, entries, versions])
      if (!wasReached) break
    }
    expect((await flagNow(flag.id)).active).toBe(false)
  })

  it('is held up neither by an approval policy nor by a freeze', async () => {
    const flag = await make('gated', condition('errors', 'gt', 5))
    const approver = await s.join('approver')
    const policies = `${s.project}/approval_policies/`
    const { body: policy } = await s.post(policies, { action_key: '*', approver_config: { users: [approver.id] } })
    const ends_at = new Date(Date.now() + 60 * minute).toISOString()
    const { body: freeze } = await s.post(`${s.organization}/freezes/`, { reason: 'Black Friday', ends_at })
    expect((await s.patch(`${flags}${flag.id}/`, { name: 'changed' })).status).toBe(409)
    await push(flag.id, [9])
    await look()
    expect(await flagNow(flag.id)).toMatchObject({ active: false, performed_rollback: true })
    expect((await s.delete(`${s.organization}/freezes/${freeze.id}/`)).status).toBe(204)
    expect((await s.delete(`${policies}${policy.id}/`)).status).toBe(204)
  })

  it('rolls back a flag whose stored filters would no longer pass validation', async () => {
    const flag = await make('spoilt', condition('errors', 'gt', 1))
    const other = await make('spoilt too', {})
    const spoilt = JSON.stringify({
      groups: [{ properties: [{ key: 'a', operator: 'regex', value: '(', type: 'person' }] }],
    })
    await s.halyard.storage.kysely
      .updateTable('flags')
      .set({ filters: spoilt })
      .where('key', 'like', 'spoilt%')
      .execute()
    await push(flag.id, [2])
    await look(inMinutes(2))
    expect((await flagNow(flag.id)).active).toBe(false)
    expect((await s.patch(`${flags}${other.id}/`, { active: false, name: 'off' })).status).toBe(200)
    expect((await s.patch(`${flags}${other.id}/`, { active: true })).body.attr).toBe('filters')
  })

  it('requires permission to edit the flag, and is not accessible to other projects', async () => {
    const flag = await make('guarded', condition('errors', 'gt', 1))
    const member = await s.join(`rollback-${dialect}`)
    await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    const samples = { samples: [{ name: 'errors', value: 5 }] }
    expect((await member.post(`${flags}${flag.id}/metrics/`, samples)).status).toBe(403)
    expect((await member.get(`${flags}${flag.id}/rollback/`)).status).toBe(200)
    const stranger = await s.stranger(`rollback-${dialect}`)
    expect((await stranger.post(`${flags}${flag.id}/metrics/`, samples)).status).toBe(404)
    expect((await stranger.get(`${stranger.project}/feature_flags/${flag.id}/rollback/`)).status).toBe(404)
  })
})
