import type { Dialect, Driver } from 'kysely'

/** A database that can be disconnected while Halyard runs. */
export function removable() {
  let isAway = false
  const driverOf = (driver: Driver): Driver => ({
    init: () => driver.init(),
    async acquireConnection() {
      if (isAway) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      return driver.acquireConnection()
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: connection => driver.commitTransaction(connection),
    rollbackTransaction: connection => driver.rollbackTransaction(connection),
    releaseConnection: connection => driver.releaseConnection(connection),
    destroy: () => driver.destroy(),
  })
  return {
    setAway(away: boolean) {
      isAway = away
    },
    wrapDialect: (dialect: Dialect): Dialect => ({
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => driverOf(dialect.createDriver()),
      createIntrospector: db => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    }),
  }
}
