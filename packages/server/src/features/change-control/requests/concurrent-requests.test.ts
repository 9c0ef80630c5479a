import type { DatabaseConnection, Dialect, Driver } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../../testing/scenario.ts'

onEachDatabase('change requests at the same moment', dialect => {
  let s: Scenario
  let other: Scenario
  let ann: Client & { id: number }
  /** Runs once, after the next decision was committed. */
  let afterDecision: (() => Promise<unknown>) | undefined
  beforeAll(async () => {
    const wrapDialect = (wrapped: Dialect): Dialect => ({
      createAdapter: () => wrapped.createAdapter(),
      createDriver: () => pausingDriver(wrapped.createDriver()),
      createIntrospector: db => wrapped.createIntrospector(db),
      createQueryCompiler: () => wrapped.createQueryCompiler(),
    })
    s = await startScenario(dialect, { storage: { wrapDialect } })
    other = await s.startAnother()
    ann = await s.join('ann')
  })
  afterAll(() => s.close())

  function pausingDriver(driver: Driver): Driver {
    const deciding = new WeakSet<DatabaseConnection>()
    return {
      init: () => driver.init(),
      async acquireConnection() {
        const connection = await driver.acquireConnection()
        const execute = connection.executeQuery.bind(connection)
        if (!Object.hasOwn(connection, 'executeQuery')) {
          connection.executeQuery = query => {
            if (query.sql.startsWith('insert into "change_request_decisions"')) deciding.add(connection)
            return execute(query)
          }
        }
        return connection
      },
      beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
      async commitTransaction(connection) {
        await driver.commitTransaction(connection)
        const next = afterDecision
        if (!next || !deciding.delete(connection)) return
        afterDecision = undefined
        await next()
      },
      rollbackTransaction: connection => driver.rollbackTransaction(connection),
      releaseConnection: connection => driver.releaseConnection(connection),
      destroy: () => driver.destroy(),
    }
  }

  it('can be approved while another node applies them', async () => {
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'raced' })
    await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const path = `${s.project}/feature_flags/${flag.id}/`
    const { id } = (await s.patch(path, { name: 'approved' })).body.change_request
    const requests = `${s.project}/change_requests/${id}`
    let applied: number | undefined
    afterDecision = async () => {
      applied = (await other.post(`${requests}/apply/`)).status
    }
    const approved = await ann.post(`${requests}/approve/`)
    expect(applied).toBe(200)
    expect([approved.status, approved.body.status], approved.text).toEqual([200, 'applied'])
    expect((await s.get(path)).body).toMatchObject({ name: 'approved', version: 2 })
  })

  it('are opened once for the same change, however often it is sent', async () => {
    const { body: project } = await s.post('/api/projects/', { name: 'sent often' })
    const path = `/api/projects/${project.id}`
    const { body: flag } = await s.post(`${path}/feature_flags/`, { key: 'sent-often' })
    await s.post(`${path}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const replies = await Promise.all([
      ...Array.from({ length: 8 }, () => s.patch(`${path}/feature_flags/${flag.id}/`, { name: 'same' })),
      ...Array.from({ length: 8 }, () => other.post(`${path}/feature_flags/`, { key: 'same' })),
    ])
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 409))
    expect((await s.get(`${path}/change_requests/`)).body.count).toBe(2)
  })
})
