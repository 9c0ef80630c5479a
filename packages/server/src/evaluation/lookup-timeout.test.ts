import { expect, it } from 'vitest'
import { startScenario } from '../testing/scenario.ts'

it('a lookup that takes too long is canceled in PostgreSQL, and flags of other projects evaluate', async () => {
  const s = await startScenario('postgres')
  const pool = s.halyard.storage.pool!
  const blocker = await pool.connect()
  try {
    const other = await s.post('/api/projects/', { name: 'Other' })
    const projects = [s.project, `/api/projects/${other.body.id}`]
    const properties = [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }]
    for (const project of projects) {
      const made = await s.post(`${project}/feature_flags/`, { key: 'pro', filters: { groups: [{ properties }] } })
      expect(made.status).toBe(201)
    }
    const evaluate = (token: string, more: object = {}) =>
      s.post('/flags/?v=2', { token, distinct_id: 'unseen', ...more })
    for (const api_key of [s.projectToken, other.body.api_token]) {
      for (const distinct_id of ['seen', 'unseen']) {
        const event = { event: '$identify', distinct_id, properties: { $set: { plan: 'pro' } } }
        expect((await s.post('/capture/', { api_key, ...event })).status).toBe(200)
      }
      expect((await evaluate(api_key, { distinct_id: 'seen' })).body.flags.pro.enabled).toBe(true)
    }

    await blocker.query('begin; lock table persons in access exclusive mode')
    // A person that was looked up before is in memory.
    expect((await evaluate(s.projectToken, { distinct_id: 'seen' })).body.flags.pro.enabled).toBe(true)
    const blocked = await evaluate(s.projectToken)
    expect(blocked.body.errorsWhileComputingFlags).toBe(true)
    expect(blocked.body.flags.pro.failed).toBe(true)
    const waiting = `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`
    await expect.poll(async () => (await blocker.query(waiting)).rows[0].count).toBe(0)

    // The first project's lookups are suspended; the other one's are not.
    await blocker.query('rollback')
    expect((await evaluate(other.body.api_token)).body.flags.pro.enabled).toBe(true)
    expect((await evaluate(s.projectToken, { person_properties: { plan: 'pro' } })).body.flags.pro.enabled).toBe(true)
    await expect.poll(async () => (await evaluate(s.projectToken)).body.flags.pro.enabled).toBe(true)
  } finally {
    blocker.release()
    await s.close()
  }
})
