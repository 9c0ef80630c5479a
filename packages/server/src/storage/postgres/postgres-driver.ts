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

/** The server ends a slow statement itself; the client waits a little longer before it takes the server for dead. */
const statementGraceMilliseconds = 2000

/** Said at the start of a transaction whose statements may take as long as they need. */
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

/** Lends connections that notice a dead server, and throws broken ones away instead of lending them again. */
class PostgresDriver implements Driver {
  readonly #pool: pg.Pool
  readonly #millisecondsMax: number
  readonly #names: Names = { areKept: true }

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
    own.begin(wordsOf(settings))
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

function wordsOf({ isolationLevel, accessMode }: TransactionSettings): string {
  if (!isolationLevel && !accessMode) return 'begin'
  return `start transaction${isolationLevel ? ` isolation level ${isolationLevel}` : ''}${accessMode ? ` ${accessMode}` : ''}`
}

/** The transaction has failed already: PostgreSQL takes nothing more from it, and says so at each statement. */
const transactionFailedCode = '25P02'

/**
 * One connection, lent once. What nobody has to wait for travels with the next statement: the beginning of a transaction with its first
 * question, and writes of which nothing is to be learnt with whatever comes next, the commit at the latest. PostgreSQL runs them in the order
 * in which they were sent, and commits nothing after a failure.
 */
class PostgresConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #names: Names
  #millisecondsMax: number | undefined
  #isBroken = false
  #isInTransaction = false
  /** The words of a transaction of which the server has not heard yet. */
  #beginning: string | undefined
  /** Why the transaction failed first. */
  #fault: unknown

  constructor(client: pg.PoolClient, millisecondsMax: number, names: Names) {
    this.#client = client
    this.#names = names
    this.#millisecondsMax = millisecondsMax
  }

  begin(words: string): void {
    this.#isInTransaction = true
    this.#beginning = words
    this.#fault = undefined
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (query.sql === liftStatementLimit) this.#millisecondsMax = undefined
    await this.#beginBefore(query)
    if (this.#isInTransaction && (query as PreparedCompiledQuery).isPipelined) {
      // Whoever waits for the next statement, or for the commit, hears of its failure.
      this.#send(query).catch(() => {})
      return { rows: [] }
    }
    const { command, rowCount, rows } = await this.#hear(this.#send(query))
    const isWrite = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE'
    return { rows: (rows ?? []) as R[], ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  /** A question may travel behind the beginning of its transaction. A write must know that there is one. */
  async #beginBefore({ sql }: CompiledQuery): Promise<void> {
    if (this.#beginning === undefined) return
    const begun = this.#send(CompiledQuery.raw(this.#beginning))
    this.#beginning = undefined
    if (isQuestion.test(sql)) begun.catch(() => {})
    else await this.#hear(begun)
  }

  async commit(): Promise<void> {
    this.#isInTransaction = false
    if (this.#beginning !== undefined) return
    const { command } = await this.#hear(this.#send(CompiledQuery.raw('commit')))
    // A transaction in which a statement has failed is rolled back by `commit`, without an error.
    if (command === 'ROLLBACK') throw this.#fault ?? new Error('The transaction had failed before its commit.')
  }

  /** The server rolls back by itself when the connection goes; asking it would only hide the first error. */
  async rollBack(): Promise<void> {
    this.#isInTransaction = false
    if (this.#beginning !== undefined || this.#isBroken) return
    await this.#hear(this.#send(CompiledQuery.raw('rollback')))
  }

  release(): void {
    // While an answer is due, the client would wait for it before it hangs up: for ever, where nobody answers.
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

  /** Everything that is sent in one turn of the event loop goes out together. */
  async #send(query: PreparedCompiledQuery): Promise<pg.QueryResult> {
    if (this.#isBroken) throw connectionLost('the connection broke earlier')
    // By the time of the answer the transaction may have been ended.
    const isAlone = !this.#isInTransaction
    const stream = this.#stream
    stream.cork()
    process.nextTick(() => stream.uncork())
    try {
      return await this.#client.query(this.#named(query))
    } catch (error) {
      if (isNameLost(error)) {
        this.#names.areKept = false
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
    return name !== undefined && this.#names.areKept ? { name, text: sql, values } : { text: sql, values }
  }

  async #hear<T>(answer: Promise<T>): Promise<T> {
    if (this.#millisecondsMax === undefined) return answer
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#isBroken = true
        reject(connectionLost(`no answer within ${this.#millisecondsMax} ms`))
      }, this.#millisecondsMax)
    })
    return Promise.race([answer, late]).finally(() => clearTimeout(timer))
  }
}

/** Whether the server keeps statements by name, so that it plans them once for each connection. */
interface Names {
  areKept: boolean
}

const isQuestion = /^\s*select\b/i

/** A socket, as far as it matters here. */
interface Stream {
  cork(): void
  uncork(): void
  destroy(): void
}

const connectionLost = (why: string): Error =>
  Object.assign(new Error(`Lost the database: ${why}.`), { code: 'ETIMEDOUT' })
