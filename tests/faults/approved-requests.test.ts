import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { clientOf } from '../../packages/server/src/testing/scenario.ts'
import { seededRandom } from './random.ts'
import { ownerKey, type ServerProcess, startServer } from './server-process.ts'

const seed = Number(process.env.HALYARD_FAULT_SEED ?? Date.now() % 1_000_000)
const rounds = 3
const killMillisecondsMax = 40

onEachDatabase('kill -9 around an approval', dialect => {
  let database: TestDatabase | undefined
  const servers: ServerProcess[] = []
  const start = async (schedulerSeconds: number) => {
    const server = await startServer(database!.url, { HALYARD_SCHEDULER_SECONDS: String(schedulerSeconds) })
    servers.push(server)
    return server
  }
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.kill()
    await database?.drop()
  })

  it(`applies an approved request once, after the restart of two nodes (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    database = await createTestDatabase(dialect)
    let server = await start(0)
    let owner = clientOf(server.url, ownerKey)
    const { body: projects } = await owner.get('/api/projects/')
    const project = `/api/projects/${projects.results[0].id}`
    const { body: me } = await owner.get('/api/users/@me/')
    const flags: { id: number; request: number }[] = []
    for (let n = 0; n < rounds; n++) {
      const { body } = await owner.post(`${project}/feature_flags/`, { key: `flag-${n}` })
      flags.push({ id: body.id, request: 0 })
    }
    const approver_config = { users: [me.id] }
    const policy = { action_key: 'feature_flag.update', approver_config, allow_self_approve: true, allow_keys: true }
    expect((await owner.post(`${project}/approval_policies/`, policy)).status).toBe(201)
    for (const flag of flags) {
      const { body } = await owner.patch(`${project}/feature_flags/${flag.id}/`, { name: 'approved' })
      flag.request = body.change_request_id
    }
    for (const { request } of flags) {
      const approving = owner.post(`${project}/change_requests/${request}/approve/`).catch(() => undefined)
      // Killing at a random time while it is approved and applied is the point of the test.
      await wait(random() * killMillisecondsMax)
      await server.kill()
      await approving
      server = await start(0)
      owner = clientOf(server.url, ownerKey)
    }
    await server.kill()
    // Both nodes apply what is due.
    const nodes = [await start(1), await start(1)]
    owner = clientOf(nodes[0]!.url, ownerKey)
    for (const { id, request } of flags) {
      const stateOf = async () => (await owner.get(`${project}/change_requests/${request}/`)).body.state
      // A request whose approval was not committed is approved again.
      if ((await stateOf()) === 'pending') await owner.post(`${project}/change_requests/${request}/approve/`)
      await expect.poll(stateOf, { timeout: 20_000 }).toBe('applied')
      expect((await owner.get(`${project}/feature_flags/${id}/`)).body).toMatchObject({ name: 'approved', version: 2 })
      const { body: activity } = await owner.get(`${project}/feature_flags/${id}/activity/`)
      const applied = activity.results.filter((entry: { activity: string }) => entry.activity === 'change_applied')
      expect(applied).toHaveLength(1)
    }
  }, 120_000)
})
