import type { CompiledQuery, DatabaseConnection, Dialect, Driver } from 'kysely'
import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { startScenario } from '../../packages/server/src/testing/scenario.ts'

const requestsCount = Number(process.env.HALYARD_STAMPEDE_REQUESTS ?? 300)

/** Counts the statements that reach the driver. */
function counting(onStatement: (sql: string) => void): (dialect: Dialect) => Dialect {
  const count = (connection: DatabaseConnection): DatabaseConnection =>
    new Proxy(connection, {
      get(target, name) {
        if (name === 'executeQuery')
          return (query: CompiledQuery) => {
            onStatement(query.sql)
            return target.executeQuery(query)
          }
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return dialect => ({
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: db => dialect.createIntrospector(db),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => countingDriver(dialect.createDriver(), count),
  })
}

function countingDriver(driver: Driver, count: (connection: DatabaseConnection) => DatabaseConnection): Driver {
  const originals = new WeakMap<DatabaseConnection, DatabaseConnection>()
  const original = (connection: DatabaseConnection) => originals.get(connection) ?? connection
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const connection = await driver.acquireConnection()
      const counted = count(connection)
      originals.set(counted, connection)
      return counted
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(original(connection), settings),
    commitTransaction: connection => driver.commitTransaction(original(connection)),
    rollbackTransaction: connection => driver.rollbackTransaction(original(connection)),
    releaseConnection: connection => driver.releaseConnection(original(connection)),
    destroy: () => driver.destroy(),
  }
}

onEachDatabase('a cold start under load', dialect => {
  it(`${requestsCount} concurrent requests for a project that is not in memory load it once`, async () => {
    const database = await createTestDatabase(dialect)
    const before = await startScenario(dialect, { databaseUrl: database.url })
    for (let index = 0; index < 5; index++)
      await before.post(`${before.project}/feature_flags/`, { key: `flag-${index}` })
    await before.close()

    const statements: string[] = []
    const storage = { wrapDialect: counting(sql => statements.push(sql)) }
    // Client and server share one process, so event-loop lag is meaningless here.
    const environment = { HALYARD_LAG_MILLISECONDS_MAX: '0' }
    const s = await startScenario(dialect, { databaseUrl: database.url, storage, environment })
    try {
      statements.length = 0
      const body = { token: s.projectToken, distinct_id: 'user' }
      const replies = await Promise.all(Array.from({ length: requestsCount }, () => s.post('/flags/?v=2', body)))
      const odd = replies.filter(reply => reply.status !== 200 || Object.keys(reply.body.flags).length !== 5)
      expect(odd.map(reply => `${reply.status} ${reply.text}`)).toEqual([])
      expect(statements.filter(sql => /from "flags"/.test(sql))).toHaveLength(1)

      // Unknown tokens are cached as well.
      statements.length = 0
      const unknown = { token: 'phc_unknownunknownunknown', distinct_id: 'user' }
      await Promise.all(Array.from({ length: 100 }, () => s.post('/flags/?v=2', unknown)))
      expect(statements.filter(sql => /from "projects"/.test(sql)).length).toBeLessThanOrEqual(1)
    } finally {
      await s.close()
      await database.drop()
    }
  }, 120_000)
})
