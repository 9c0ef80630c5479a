import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../../testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../../testing/scenario.ts'
import { announceFlag } from '../record-flag.ts'

describe('writers that meet on PostgreSQL', () => {
  let database: TestDatabase
  let s: Scenario
  let node: Scenario
  beforeAll(async () => {
    database = await createTestDatabase('postgres')
    s = await startScenario('postgres', { databaseUrl: database.url })
    node = await startScenario('postgres', { databaseUrl: database.url })
  })
  afterAll(async () => {
    await node.close()
    await s.close()
    // Backends report their statistics when they exit.
    expect(await deadlocks(database.url)).toBe(0)
    await database.drop()
  })

  const makeFlags = async (prefix: string, count: number): Promise<number[]> => {
    const made = Array.from({ length: count }, (_, n) =>
      s.post(`${s.project}/feature_flags/`, { key: `${prefix}-${n}` }),
    )
    return (await Promise.all(made)).map(({ body }) => body.id)
  }
  const bulk = (client: Client, ids: readonly number[], active: boolean) =>
    client.post(`${s.project}/feature_flags/bulk_update/`, { ids, active })

  it('change one flag while a bulk change is under way', async () => {
    const ids = await makeFlags('beside', 40)
    for (let round = 0; round < 3; round++) {
      const [changed, ...patched] = await Promise.all([
        bulk(s, ids, round % 2 === 0),
        ...ids
          .filter((_, n) => n % 4 === 0)
          .toReversed()
          .map((id, n) => (n % 2 ? s : node).patch(`${s.project}/feature_flags/${id}/`, { name: `round ${round}` })),
      ])
      expect(changed.body.errors).toEqual([])
      for (const reply of patched) expect(reply.status, reply.text).toBe(200)
    }
    const { body } = await s.get(`${s.project}/feature_flags/?search=beside&limit=100`)
    for (const flag of body.results) expect(flag.active).toBe(true)
    expect(body.results.filter((flag: { name: string }) => flag.name === 'round 2')).toHaveLength(10)
  })

  it('change the same flags in opposite orders', async () => {
    const ids = await makeFlags('opposite', 12)
    for (let round = 0; round < 6; round++) {
      const replies = await Promise.all([
        bulk(s, ids, round % 2 === 0),
        bulk(node, ids.toReversed(), round % 2 === 0),
        bulk(s, ids.toReversed(), round % 2 === 0),
      ])
      for (const reply of replies) expect(reply.status, reply.text).toBe(200)
    }
  })

  it('change flags that depend on others beside a bulk change', async () => {
    const ids = await makeFlags('needing', 10)
    const [needed] = await makeFlags('needed', 1)
    const filters = {
      groups: [{ properties: [{ type: 'flag', key: String(needed), operator: 'flag_evaluates_to', value: true }] }],
    }
    for (let round = 0; round < 4; round++) {
      const replies = await Promise.all([
        bulk(s, ids, round % 2 === 0),
        ...ids.map((id, n) =>
          (n % 2 ? s : node).patch(`${s.project}/feature_flags/${id}/`, { filters, name: `${round}` }),
        ),
      ])
      for (const reply of replies) expect(reply.status, reply.text).toBe(200)
    }
  })

  it('do not wait for another organization whose transaction is still open', async () => {
    const [id] = await makeFlags('open', 1)
    const stranger = await s.stranger('stranger')
    const order: string[] = []
    const { database: transactions } = s.halyard
    await transactions.transaction(async tx => {
      const project = (await tx.projects.find(s.projectId))!
      const flag = (await tx.flags.find(s.projectId, id!))!
      await tx.flags.saveDashboards({ ...flag, name: 'changed slowly', version: flag.version + 1 })
      await announceFlag(tx, project, flag.id, flag.updatedAt)
      const reply = await stranger.post(`${stranger.project}/feature_flags/`, { key: 'elsewhere' })
      expect(reply.status).toBe(201)
      order.push('the other organization')
    })
    order.push('the open transaction')
    expect(order).toEqual(['the other organization', 'the open transaction'])
  })
})

async function deadlocks(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(
      'select deadlocks::integer from pg_stat_database where datname = current_database()',
    )
    return rows[0].deadlocks
  } finally {
    await client.end()
  }
}
