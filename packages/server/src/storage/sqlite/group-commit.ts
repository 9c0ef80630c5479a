import { setTimeout as wait } from 'node:timers/promises'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult, TransactionSettings } from 'kysely'
import { Mutex } from '../../concurrency/mutex.ts'
import { SqliteConnection, type SqliteHandle } from './sqlite-connection.ts'

/** How long a writer waits for another process to finish, without blocking this one's event loop. */
const writeLockMillisecondsMax = 10_000
const writeLockRetryMilliseconds = 10

/** The longest wait for further members, and the most members. */
const groupMillisecondsMax = 50
const groupMembersMax = 100

/** A transaction that has done its work and waits for the commit. */
interface Member {
  resolve(): void
  reject(error: unknown): void
}

/**
 * Group commit: Kysely over the connection that writes to a file. Making a commit durable takes as long as a hundred statements, so writers
 * of one event-loop tick share one: each is a savepoint inside a common transaction, runs alone, fails alone, and resolves when all of them
 * are on disk. No one reads on this connection, so nothing is visible before it is durable.
 *
 * A transaction with an access mode is no member but has the connection for itself. Thousands of rows need that: in a savepoint, each
 * statement takes longer the more pages were changed before it.
 */
export class GroupCommitDriver implements Driver {
  readonly #handle: SqliteHandle
  readonly #connection: SqliteConnection
  readonly #mutex = new Mutex()
  /** The members of the open transaction; undefined while none is open. */
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
    await this.#mutex.acquire()
    return new Checkout(this.#connection, since, () => this.#commit())
  }

  async releaseConnection(checkout: DatabaseConnection): Promise<void> {
    this.#returnCheckout(checkout as Checkout)
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const checkout = connection as Checkout
    const deadline = checkout.since + writeLockMillisecondsMax
    if (settings.accessMode !== undefined) {
      this.#commit()
      if (settings.accessMode === 'read only') this.#connection.run('begin')
      else await this.#takeWriteLock(deadline)
      checkout.state = 'alone'
      return
    }
    await this.#openTransaction(deadline)
    this.#connection.run('savepoint member')
    checkout.state = 'member'
  }

  async #openTransaction(deadline: number): Promise<void> {
    if (this.#isFull()) this.#commit()
    if (this.#members) return
    await this.#takeWriteLock(deadline)
    this.#members = []
    this.#openSince = performance.now()
  }

  /** Before anything is read: a transaction that starts with a read cannot upgrade while another process writes. */
  async #takeWriteLock(deadline: number): Promise<void> {
    for (;;) {
      try {
        this.#connection.run('begin immediate')
        return
      } catch (error) {
        if (!isLocked(error) || performance.now() > deadline) throw error
        await wait(Math.random() * writeLockRetryMilliseconds)
      }
    }
  }

  /** Writers that arrive without a pause would otherwise delay the first commit forever. */
  #isFull(): boolean {
    const count = this.#members?.length ?? 0
    return count >= groupMembersMax || (count > 0 && performance.now() - this.#openSince > groupMillisecondsMax)
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const checkout = connection as Checkout
    if (checkout.state === 'alone') {
      this.#connection.run('commit')
      checkout.state = 'free'
      return
    }
    this.#connection.run('release member')
    checkout.state = 'done'
    const onDisk = new Promise<void>((resolve, reject) => this.#members?.push({ resolve, reject }))
    this.#planCommit()
    this.#returnCheckout(checkout)
    await onDisk
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const checkout = connection as Checkout
    if (checkout.state === 'alone') this.#connection.rollBack()
    if (checkout.state === 'member') this.#rollBackMember(checkout)
    // Otherwise it never began, or was rolled back with its group.
    checkout.state = 'free'
  }

  #rollBackMember(checkout: Checkout): void {
    try {
      this.#connection.run('rollback to member')
      this.#connection.run('release member')
      this.#planCommit()
    } catch (error) {
      // After some failures (a full disk) SQLite has rolled back the whole group.
      this.#abandon(checkout.fault ?? error)
    }
  }

  /** Commits after the first event-loop tick that brings no further member. */
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
      // A member that is still running plans the commit when it is done.
      if (!this.#mutex.isLocked) this.#commit()
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

  #returnCheckout(checkout: Checkout): void {
    if (checkout.isReturned) return
    checkout.isReturned = true
    this.#mutex.release()
  }

  /** Checkpoints the write-ahead log first: people copy the one file of a stopped server. */
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

/** One checkout of the connection. */
class Checkout implements DatabaseConnection {
  readonly #connection: SqliteConnection
  readonly #beforeFreeStatement: () => void
  /** When it was requested, in milliseconds. */
  readonly since: number
  /** `free`: outside a transaction; `member`: in one that is shared; `done`: waiting for its commit; `alone`: in one of its own. */
  state: 'free' | 'member' | 'done' | 'alone' = 'free'
  isReturned = false
  /** Why the last statement failed. */
  fault: unknown

  constructor(connection: SqliteConnection, since: number, beforeFreeStatement: () => void) {
    this.#connection = connection
    this.since = since
    this.#beforeFreeStatement = beforeFreeStatement
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // A statement outside a transaction is a transaction of its own.
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
