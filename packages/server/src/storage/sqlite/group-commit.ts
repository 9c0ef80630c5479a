import { setTimeout as wait } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import { Mutex } from '../../concurrency/mutex.ts'
import { SqliteConnection, type SqliteHandle } from './sqlite-connection.ts'

/** How long a writer waits for another process to finish, without blocking this one's event loop. */
const writeLockMillisecondsMax = 10_000
const writeLockRetryMilliseconds = 10

/** Nobody waits longer than this for others to come along, or for more of them. */
const groupMillisecondsMax = 50
const groupMembersMax = 100

/** A transaction that has done its work and waits to be on disk. */
interface Member {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Kysely over the connection that writes to a file. Making a commit durable takes as long as a hundred statements, so writers that
 * meet in one turn of the event loop share one: each is a savepoint inside a common transaction, runs alone, fails alone, and is told
 * that it has committed when all of them are on disk. Nobody else reads on this connection, so nobody sees what is not yet there.
 */
export class GroupCommitDriver implements Driver {
  readonly #handle: SqliteHandle
  readonly #connection: SqliteConnection
  readonly #turns = new Mutex()
  /** Those who share the transaction that is open; undefined while none is. */
  #members: Member[] | undefined
  #openSince = 0
  #isCommitPlanned = false

  constructor(handle: SqliteHandle) {
    this.#handle = handle
    this.#connection = new SqliteConnection(handle)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const since = performance.now()
    await this.#turns.take()
    return new Loan(this.#connection, since, () => this.#commit())
  }

  async releaseConnection(loan: DatabaseConnection): Promise<void> {
    this.#takeBack(loan as Loan)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const loan = connection as Loan
    if (settings.accessMode === 'read only') {
      this.#commit()
      this.#connection.run('begin')
      loan.state = 'alone'
      return
    }
    await this.#openTransaction(loan.since + writeLockMillisecondsMax)
    this.#connection.run('savepoint member')
    loan.state = 'member'
  }

  /** Takes the write lock at once: a transaction that starts by reading could not upgrade while another process writes. */
  async #openTransaction(deadline: number): Promise<void> {
    if (this.#isFull()) this.#commit()
    while (!this.#members) {
      try {
        this.#connection.run('begin immediate')
        this.#members = []
        this.#openSince = performance.now()
      } catch (error) {
        if (!isLocked(error) || performance.now() > deadline) throw error
        await wait(Math.random() * writeLockRetryMilliseconds)
      }
    }
  }

  /** Writers that follow one another without a pause would otherwise keep the first of them waiting for ever. */
  #isFull(): boolean {
    const count = this.#members?.length ?? 0
    return count >= groupMembersMax || (count > 0 && performance.now() - this.#openSince > groupMillisecondsMax)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const loan = connection as Loan
    if (loan.state === 'alone') {
      this.#connection.run('commit')
      loan.state = 'free'
      return
    }
    this.#connection.run('release member')
    loan.state = 'done'
    const onDisk = new Promise<void>((resolve, reject) => this.#members?.push({ resolve, reject }))
    this.#planCommit()
    this.#takeBack(loan)
    await onDisk
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const loan = connection as Loan
    if (loan.state === 'alone') this.#connection.rollBack()
    if (loan.state === 'member') this.#rollBackMember(loan)
    // Otherwise it never began, or went down with all that shared its commit.
    loan.state = 'free'
  }

  #rollBackMember(loan: Loan): void {
    try {
      this.#connection.run('rollback to member')
      this.#connection.run('release member')
      this.#planCommit()
    } catch (error) {
      // After some failures (a full disk) SQLite has rolled back everything, and with it those who waited for their commit.
      this.#abandon(loan.fault ?? error)
    }
  }

  /** Whoever is already on the way comes along: as long as a turn of the event loop brings somebody, the next one may as well. */
  #planCommit(): void {
    if (this.#isCommitPlanned) return
    this.#isCommitPlanned = true
    let present = 0
    const look = () => {
      const count = this.#members?.length ?? 0
      if (count > present && !this.#isFull()) {
        present = count
        setImmediate(look)
        return
      }
      this.#isCommitPlanned = false
      // One that is still at work plans the commit itself when it is done.
      if (!this.#turns.isTaken) this.#commit()
    }
    setImmediate(look)
  }

  #commit(): void {
    const members = this.#members
    if (!members) return
    try {
      this.#connection.run('commit')
    } catch (error) {
      this.#abandon(error)
      return
    }
    this.#members = undefined
    for (const member of members) member.resolve()
  }

  #abandon(error: unknown): void {
    const members = this.#members ?? []
    this.#members = undefined
    this.#connection.rollBack()
    for (const member of members) member.reject(error)
  }

  #takeBack(loan: Loan): void {
    if (loan.isBack) return
    loan.isBack = true
    this.#turns.give()
  }

  /** Moves everything from the write-ahead log into the file first: people copy the one file of a stopped server. */
  async destroy(): Promise<void> {
    this.#commit()
    try {
      this.#handle.exec('pragma wal_checkpoint(truncate)')
    } catch {
      // Another process holds the file, or the disk is full: the log stays and nothing is lost.
    }
    this.#handle.close()
  }
}

const isLocked = (error: unknown): boolean => error instanceof Error && /database is locked/.test(error.message)

/** The connection while one user has it. */
class Loan implements DatabaseConnection {
  readonly #connection: SqliteConnection
  readonly #beforeFreeStatement: () => void
  /** When its user asked for it, in milliseconds. */
  readonly since: number
  /** `free`: outside a transaction; `member`: in one that is shared; `done`: waiting for its commit; `alone`: in one of its own. */
  state: 'free' | 'member' | 'done' | 'alone' = 'free'
  isBack = false
  /** Why the last statement failed. */
  fault: unknown

  constructor(connection: SqliteConnection, since: number, beforeFreeStatement: () => void) {
    this.#connection = connection
    this.since = since
    this.#beforeFreeStatement = beforeFreeStatement
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // A statement by itself is a transaction of its own.
    if (this.state === 'free') this.#beforeFreeStatement()
    try {
      return await this.#connection.executeQuery(query)
    } catch (error) {
      this.fault = error
      throw error
    }
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery()
  }
}
