import {
  type Dialect,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
} from 'kysely'
import type pg from 'pg'
import { isDatabaseAway } from './driver-error.ts'
import { loadPg } from './load-pg.ts'

const int8TypeId = 20
const numericTypeId = 1700
export const poolConnectionsMax = 10
const connectTimeoutMilliseconds = 5000
/** Firewalls forget connections on which nothing is said, and tell nobody. */
export const keepAliveMilliseconds = 30_000
/** A node that stops in the middle of a transaction (paused, or cut off) holds its locks no longer than this. */
const idleInTransactionMillisecondsMax = 5000
/** The server ends a slow statement itself; the client waits a little longer before it takes the server for dead. */
const statementGraceMilliseconds = 2000

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

export const postgresDialect = (pool: pg.Pool, statementMillisecondsMax = statementMillisecondsMaxDefault): Dialect =>
  new PostgresDialect({ pool: guarded(pool, statementMillisecondsMax + statementGraceMilliseconds) })

/** Lends connections that notice a dead server, and throws broken ones away instead of lending them again. */
const guarded = (pool: pg.Pool, millisecondsMax: number): PostgresPool => ({
  connect: async () => guardedClient(await pool.connect(), millisecondsMax),
  end: () => pool.end(),
})

function guardedClient(client: pg.PoolClient, millisecondsMax: number): PostgresPoolClient {
  let isBroken = false
  let limit: number | undefined = millisecondsMax

  async function query(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<unknown>> {
    // The server rolls back by itself when the connection goes; asking it would only hide the first error.
    if (isBroken && sql === 'rollback') return { command: 'UPDATE', rowCount: 0, rows: [] }
    if (isBroken) throw connectionLost('the connection broke earlier')
    if (sql === liftStatementLimit) limit = undefined
    try {
      const result = await inTime(client.query(sql, [...parameters]), limit)
      // A transaction in which a statement has failed is rolled back by `commit`, without an error.
      if (sql === 'commit' && result.command === 'ROLLBACK')
        throw new Error('The transaction had failed before its commit.')
      return result as unknown as PostgresQueryResult<unknown>
    } catch (error) {
      if (isDatabaseAway(error)) isBroken = true
      throw error
    }
  }

  return { query: query as PostgresPoolClient['query'], release: () => client.release(isBroken) }
}

/** Said at the start of a transaction whose statements may take as long as they need. */
export const liftStatementLimit = 'set local statement_timeout = 0'

async function inTime<T>(work: Promise<T>, millisecondsMax: number | undefined): Promise<T> {
  if (millisecondsMax === undefined) return work
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(connectionLost(`no answer within ${millisecondsMax} ms`)), millisecondsMax)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const connectionLost = (why: string): Error =>
  Object.assign(new Error(`Lost the database: ${why}.`), { code: 'ETIMEDOUT' })
