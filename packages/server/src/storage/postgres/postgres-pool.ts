import type pg from 'pg'
import { loadPg } from './load-pg.ts'

const int8TypeId = 20
const numericTypeId = 1700
export const poolConnectionsMax = 10
const connectTimeoutMilliseconds = 5000
/** Firewalls forget connections on which nothing is said, and tell nobody. */
export const keepAliveMilliseconds = 30_000
/** A node that stops in the middle of a transaction (paused, or cut off) holds its locks no longer than this. */
const idleInTransactionMillisecondsMax = 5000
export const statementMillisecondsMaxDefault = 15_000

/** node-postgres answers `count(*)` and sums as text; our numbers all fit into a double. */
const withNumbers = (types: typeof pg.types) => ({
  getTypeParser(typeId: number, format?: 'text' | 'binary') {
    if (typeId === int8TypeId || typeId === numericTypeId) return Number
    return types.getTypeParser(typeId, format as 'text')
  },
})

export function openPostgresPool(
  url: string,
  onError: (error: Error) => void,
  statementMillisecondsMax = statementMillisecondsMaxDefault,
): pg.Pool {
  const { Pool, types } = loadPg()
  const pool = new Pool({
    connectionString: url,
    max: poolConnectionsMax,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    statement_timeout: statementMillisecondsMax,
    idle_in_transaction_session_timeout: idleInTransactionMillisecondsMax,
    // Several statements may be under way on one connection; see `postgres-driver.ts`.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMilliseconds,
    application_name: 'halyard',
    types: withNumbers(types) as pg.CustomTypesConfig,
  })
  // Without a listener a connection that breaks would end the process: the pool reports idle ones, lent ones report themselves.
  pool.on('error', onError)
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
