import { type Dialect, PostgresDialect } from 'kysely'
import pg from 'pg'

const int8TypeId = 20
const numericTypeId = 1700
const poolConnectionsMax = 10
const connectTimeoutMilliseconds = 5000
const statementTimeoutMilliseconds = 30_000

/** node-postgres answers `count(*)` and sums as text; our numbers all fit into a double. */
const types = {
  getTypeParser(typeId: number, format?: 'text' | 'binary') {
    if (typeId === int8TypeId || typeId === numericTypeId) return Number
    return pg.types.getTypeParser(typeId, format as 'text')
  },
}

export function openPostgresPool(url: string, onError: (error: Error) => void): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolConnectionsMax,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    statement_timeout: statementTimeoutMilliseconds,
    idle_in_transaction_session_timeout: statementTimeoutMilliseconds,
    keepAlive: true,
    application_name: 'halyard',
    types: types as pg.CustomTypesConfig,
  })
  // Without a listener a broken idle connection would end the process.
  pool.on('error', onError)
  return pool
}

export const postgresDialect = (pool: pg.Pool): Dialect => new PostgresDialect({ pool })
