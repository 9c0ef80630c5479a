import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { instantOf } from '../../packages/server/src/instant.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

const hour = 60 * 60 * 1000
const start = Date.parse('2026-05-01T12:00:00Z')

onEachDatabase('a wall clock that jumps by hours', dialect => {
  let database: TestDatabase
  let nodes: Scenario[]
  let s: Scenario
  beforeEach(async () => {
    // Only the wall clock; timers and the monotonic clock are real.
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    database = await createTestDatabase(dialect)
    nodes = []
    for (let n = 0; n < 2; n += 1) nodes.push(await startScenario(dialect, { databaseUrl: database.url }))
    s = nodes[0]!
  })
  afterEach(async () => {
    for (const node of nodes) await node.close()
    vi.useRealTimers()
    await database.drop()
  })

  const jumpTo = (hours: number) => vi.setSystemTime(start + hours * hour)
  const at = (hours: number) => new Date(start + hours * hour).toISOString()
  const runJobs = () => Promise.all(nodes.map(node => node.halyard.jobs.runDue(instantOf(new Date()))))

  it('applies scheduled changes once, and no lease blocks other nodes', async () => {
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'planned' })
    const plan = (hours: number, name: string) =>
      s.post(`${s.project}/scheduled_changes/`, {
        record_id: flag.id,
        model_name: 'FeatureFlag',
        payload: { operation: 'update', value: { name } },
        scheduled_at: at(hours),
      })
    expect((await plan(2, 'first')).status).toBe(201)
    expect((await plan(6, 'second')).status).toBe(201)
    const now = async () => (await s.get(`${s.project}/feature_flags/${flag.id}/`)).body
    // Far ahead and back: what became due in between is applied, and not applied twice.
    for (const hours of [0, 3, -5, 3, 0, 5, -20]) {
      jumpTo(hours)
      await runJobs()
    }
    expect(await now()).toMatchObject({ name: 'first', version: 2 })
    // Whichever clock took the lease last, no node waits for hours.
    jumpTo(7)
    await runJobs()
    jumpTo(-7)
    await runJobs()
    jumpTo(7)
    await runJobs()
    expect(await now()).toMatchObject({ name: 'second', version: 3 })
  })

  it('expires keys by the current wall clock', async () => {
    const created = await s.post('/api/personal_api_keys/', { label: 'short', scopes: ['*'], expires_at: at(1) })
    expect(created.status).toBe(201)
    const status = async () => (await s.as(created.body.value).get(`${s.project}/feature_flags/`)).status
    expect(await status()).toBe(200)
    jumpTo(5)
    expect([await status(), (await s.get(`${s.project}/feature_flags/`)).status]).toEqual([401, 200])
    jumpTo(-5)
    expect(await status()).toBe(200)
    jumpTo(2)
    expect(await status()).toBe(401)
  })

  it('preserves the order of changes, versions and activity on every node', async () => {
    const flags = `${s.project}/feature_flags/`
    const { body: flag } = await s.post(flags, { key: 'moved' })
    const jumps = [4, -9, 2, -30, 11, 0]
    for (const [n, hours] of jumps.entries()) {
      jumpTo(hours)
      const reply = await nodes[n % 2]!.patch(`${flags}${flag.id}/`, { name: `change ${n}` })
      expect(reply.body).toMatchObject({ name: `change ${n}`, version: n + 2 })
    }
    for (const node of nodes) {
      const { results } = (await node.get(`${flags}${flag.id}/activity/`)).body
      const names = results.map(
        (entry: { detail: { changes: { field: string; after: unknown }[] | null } }) =>
          (entry.detail.changes ?? []).find(({ field }) => field === 'name')?.after,
      )
      expect(names.slice(0, jumps.length)).toEqual(jumps.map((_, n) => `change ${jumps.length - 1 - n}`))
      const body = { token: s.projectToken, distinct_id: 'x' }
      await expect
        .poll(async () => (await node.as(undefined).post('/flags/?v=2', body)).body.flags.moved.metadata.version)
        .toBe(jumps.length + 1)
    }
    const rows = await s.halyard.storage.kysely.selectFrom('changes').select('sequence').orderBy('sequence').execute()
    const first = rows[0]!.sequence
    expect(rows.map(({ sequence }) => sequence)).toEqual(rows.map((_, n) => first + n))
  })
})
