import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type pg from 'pg'
import { isDatabaseAway, isNameLost } from '../driver-error.ts'
import type { PreparedCompiledQuery } from '../prepared-query.ts'
import { statementMillisecondsMaxDefault } from './postgres-pool.ts'

/** The server cancels a slow statement; the client waits a little longer before it considers the server dead. */
const statementGraceMilliseconds = 2000

/** Run at the start of a transaction whose statements may take as long as they need. */
export const liftStatementLimit = 'set local statement_timeout = 0'

export const postgresDialect = (
  pool: pg.Pool,
  statementMillisecondsMax = statementMillisecondsMaxDefault,
): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PostgresDriver(pool, statementMillisecondsMax + statementGraceMilliseconds),
  createIntrospector: db => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

/** Hands out connections that detect a dead server, and destroys broken ones instead of reusing them. */
class PostgresDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #millisecondsMax: number
  readonly #names: Names = { areUsable: true }

  constructor(pool: pg.Pool, millisecondsMax: number) {
    this.#pool = pool
    this.#millisecondsMax = millisecondsMax
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return new PostgresConnection(await this.#pool.connect(), this.#millisecondsMax, this.#names)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const own = connection as PostgresConnection
    own.begin(beginStatement(settings))
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as PostgresConnection).commit()
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return (connection as PostgresConnection).rollBack()
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const own = connection as PostgresConnection
    own.release()
  }

  destroy(): Promise<void> {
    return this.#pool.end()
  }
}

function beginStatement({ isolationLevel, accessMode }: TransactionSettings): string {
  if (!isolationLevel && !accessMode) return 'begin'
  return `start transaction${isolationLevel ? ` isolation level ${isolationLevel}` : ''}${accessMode ? ` ${accessMode}` : ''}`
}

/** The transaction has failed already: PostgreSQL rejects each further statement with this code. */
const transactionFailedCode = '25P02'

/**
 * One checkout of a connection, in the driver's pipeline mode. Statements that need not be awaited are sent with the next one: `begin` with
 * the first query, pipelined writes with whatever follows, the commit at the latest. PostgreSQL runs them in the order in which they were
 * sent, and commits nothing after a failure.
 */
class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #names: Names
  #millisecondsMax: number | undefined
  #isBroken = false
  #isInTransaction = false
  /** The `begin` that has not been sent yet. */
  #unsentBegin: string | undefined
  /** Why the transaction failed first. */
  #fault: unknown

  constructor(client: pg.PoolClient, millisecondsMax: number, names: Names) {
    this.#client = client
    this.#names = names
    this.#millisecondsMax = millisecondsMax
  }

  begin(statement: string): void {
    this.#isInTransaction = true
    this.#unsentBegin = statement
    this.#fault = undefined
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (query.sql === liftStatementLimit) this.#millisecondsMax = undefined
    await this.#beginBefore(query)
    if (this.#isInTransaction && (query as PreparedCompiledQuery).isPipelined) {
      // Its failure surfaces with the next awaited statement, or with the commit.
      this.#send(query).catch(() => {})
      return { rows: [] }
    }
    const { command, rowCount, rows } = await this.#await(this.#send(query))
    const isWrite = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return { rows: (rows ?? []) as R[], ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  /** A query may be sent along with the `begin`. A write must know that the transaction has begun. */
  async #beginBefore({ sql }: CompiledQuery): Promise<void> {
    if (this.#unsentBegin === undefined) return
    const begun = this.#send(CompiledQuery.raw(this.#unsentBegin))
    this.#unsentBegin = undefined
    if (isSelect.test(sql)) begun.catch(() => {})
    else await this.#await(begun)
  }

  async commit(): Promise<void> {
    this.#isInTransaction = false
    if (this.#unsentBegin !== undefined) return
    const { command } = await this.#await(this.#send(CompiledQuery.raw('commit')))
    // A transaction in which a statement has failed is rolled back by `commit`, without an error.
    if (command === 'ROLLBACK') throw this.#fault ?? new Error('The transaction had failed before its commit.')
  }

  /** The server rolls back when the connection ends; a statement would only hide the first error. */
  async rollBack(): Promise<void> {
    this.#isInTransaction = false
    if (this.#unsentBegin !== undefined || this.#isBroken) return
    await this.#await(this.#send(CompiledQuery.raw('rollback')))
  }

  release(): void {
    // While a response is due, the client would wait for it before it disconnects: forever, on a silent server.
    if (this.#isBroken) this.#stream.destroy()
    this.#client.release(this.#isBroken)
  }

  // biome-ignore lint/correctness/useYield: streaming is part of Kysely's interface; what is long is read in pages.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Streaming is not offered: read in pages.')
  }

  get #stream(): Stream {
    return (this.#client as unknown as { connection: { stream: Stream } }).connection.stream
  }

  /** Everything that is sent in one event-loop tick goes out together. */
  async #send(query: PreparedCompiledQuery): Promise<pg.QueryResult> {
    if (this.#isBroken) throw connectionLost('the connection broke earlier')
    // By the time of the response the transaction may have ended.
    const isAlone = !this.#isInTransaction
    const stream = this.#stream
    stream.cork()
    process.nextTick(() => stream.uncork())
    try {
      return await this.#client.query(this.#named(query))
    } catch (error) {
      if (isNameLost(error)) {
        this.#names.areUsable = false
        if (isAlone) return this.#send(query)
      }
      if (isDatabaseAway(error)) this.#isBroken = true
      if ((error as { code?: unknown }).code === transactionFailedCode && this.#fault) throw this.#fault
      this.#fault ??= error
      throw error
    }
  }

  #named({ sql, parameters, name }: PreparedCompiledQuery): pg.QueryConfig {
    const values = parameters as unknown[]
    return name !== undefined && this.#names.areUsable ? { name, text: sql, values } : { text: sql, values }
  }

  async #await<T>(response: Promise<T>): Promise<T> {
    if (this.#millisecondsMax === undefined) return response
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#isBroken = true
        reject(connectionLost(`no response within ${this.#millisecondsMax} ms`))
      }, this.#millisecondsMax)
    })
    return Promise.race([response, late]).finally(() => clearTimeout(timer))
  }
}

/** Whether prepared statements work; behind some poolers they do not. */
interface Names {
  areUsable: boolean
}

const isSelect = /^\s*select\b/i

/** The used part of a socket. */
interface Stream {
  cork(): void
  uncork(): void
  destroy(): void
}

const connectionLost = (why: string): Error =>
  Object.assign(new Error(`The database connection was lost: ${why}.`), { code: 'ETIMEDOUT' })
