import type { CompiledQuery, DatabaseConnection, Dialect, Driver } from 'kysely'

export class InjectedFault extends Error {
  constructor(statement: string) {
    super(`injected fault at: ${statement}`)
  }
}

class ConnectionLost extends Error {
  readonly code = 'ECONNRESET'
  constructor(statement: string) {
    super(`injected connection loss at: ${statement}`)
  }
}

/** Wraps the driver and makes the n-th statement fail, as a full disk or a lost connection would. */
export interface FaultInjector {
  readonly wrapDialect: (dialect: Dialect) => Dialect
  /** Fails the n-th statement from now on, counting from 1; commits count, rollbacks do not. */
  failAt(n: number): void
  /** Fails every n-th statement from now on with a connection error, like an unstable database. */
  failEvery(n: number): void
  /** Stops failing; returns whether the fault was reached. */
  disarm(): boolean
}

export function createFaultInjector(): FaultInjector {
  let left: number | undefined
  let wasReached = false
  let every: number | undefined
  let count = 0

  function check(sql: string): void {
    if (/^\s*rollback/i.test(sql)) return
    if (every !== undefined && ++count % every === 0) throw new ConnectionLost(sql)
    if (left === undefined || isChangeFeed(sql)) return
    left -= 1
    if (left > 0) return
    left = undefined
    wasReached = true
    throw new InjectedFault(sql)
  }

  return {
    wrapDialect: dialect => ({
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => failingDriver(dialect.createDriver(), check),
      createIntrospector: db => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    }),
    failAt(n) {
      left = n
      wasReached = false
    },
    failEvery(n) {
      every = n
      count = 0
    },
    disarm() {
      left = undefined
      every = undefined
      return wasReached
    },
  }
}

/** The change feed polls on a timer, so its statements would make the count nondeterministic. */
const isChangeFeed = (sql: string): boolean => /^select .* from "changes"/.test(sql)

/** The use of an API key is recorded about once a minute, independent of the request under test. */
const isKeyUse = (sql: string): boolean => /^update "api_keys" set "last_used_at"/.test(sql)

function failingDriver(driver: Driver, check: (sql: string) => void): Driver {
  const wrapped = new Map<DatabaseConnection, DatabaseConnection>()
  const original = new Map<DatabaseConnection, DatabaseConnection>()
  /** Connections in a background transaction, whose statements and commit do not count. */
  const background = new Set<DatabaseConnection>()
  const unwrap = (connection: DatabaseConnection) => original.get(connection) ?? connection
  return {
    init: () => driver.init(),
    async acquireConnection() {
      const connection = await driver.acquireConnection()
      let failing = wrapped.get(connection)
      if (!failing) {
        failing = {
          async executeQuery(query: CompiledQuery) {
            if (isKeyUse(query.sql)) background.add(connection)
            else if (!background.has(connection)) check(query.sql)
            return connection.executeQuery(query)
          },
          streamQuery: (query, size) => connection.streamQuery(query, size),
        } as DatabaseConnection
        wrapped.set(connection, failing)
        original.set(failing, connection)
      }
      return failing
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(unwrap(connection), settings),
    async commitTransaction(connection) {
      if (!background.delete(unwrap(connection))) check('commit')
      await driver.commitTransaction(unwrap(connection))
    },
    rollbackTransaction(connection) {
      background.delete(unwrap(connection))
      return driver.rollbackTransaction(unwrap(connection))
    },
    releaseConnection: connection => driver.releaseConnection(unwrap(connection)),
    destroy: () => driver.destroy(),
  }
}
