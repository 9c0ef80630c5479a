import type pg from 'pg'
import { loadPg } from './load-pg.ts'

const int8TypeId = 20
const numericTypeId = 1700
export const poolConnectionsMax = 10
const connectTimeoutMilliseconds = 5000
/** Firewalls drop idle connections silently. */
export const keepAliveMilliseconds = 30_000
/** A node that stops within a transaction (paused, or cut off) holds its locks no longer than this. */
const idleInTransactionMillisecondsMax = 5000
export const statementMillisecondsMaxDefault = 15_000

/** Counts, ids and sums arrive as text. A number that a double cannot hold exactly is an error, not another number. */
function readInteger(text: string): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number)) throw new RangeError(`PostgreSQL returned ${text}, which is no safe integer.`)
  return number
}

const withNumbers = (types: typeof pg.types) => ({
  getTypeParser(typeId: number, format?: 'text' | 'binary') {
    if (typeId === int8TypeId) return readInteger
    if (typeId === numericTypeId) return Number
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
    // Several statements may be in flight on one connection; see `postgres-driver.ts`.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMilliseconds,
    application_name: 'halyard',
    types: withNumbers(types) as pg.CustomTypesConfig,
  })
  // Without a listener a connection that breaks would end the process: the pool reports idle ones, those in use report themselves.
  pool.on('error', onError)
  pool.on('connect', client => client.on('error', () => {}))
  return pool
}
