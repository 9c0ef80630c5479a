import { setTimeout as wait } from 'node:timers/promises'
import { CompiledQuery, type Kysely } from 'kysely'
import { retryDelay } from '../concurrency/retry-delay.ts'
import { Semaphore } from '../concurrency/semaphore.ts'
import { Problem } from '../problem.ts'
import { appendChanges } from './changes/change-log.sql.ts'
import type { NewChange } from './changes/changes.ts'
import {
  databaseProblem,
  isNameLost,
  isRaceLost,
  isReferenceBroken,
  type OutageKind,
  outageKind,
  uniqueViolation,
} from './driver-error.ts'
import type { DialectName } from './migrations/migration.ts'
import type { PreparedCompiledQuery } from './prepared-query.ts'
import { StaleWrite } from './save-row.ts'
import { createStorageHealth, type StorageHealthRecorder } from './storage-health.ts'
import type { Tables } from './tables.generated.ts'

const attemptsMillisecondsMax = 10_000
/** A row that another transaction has just added or deleted is noticed by the next attempt, which then chooses another or refuses. */
const overtakenAttemptsMax = 4
const backOffMillisecondsMax = 40
const writersWaitingMax = 10_000
const writerWaitMillisecondsMax = 10_000

const tooContended = (cause: unknown): Problem =>
  new Problem('unavailable', 'Too many requests change the same object; nothing was changed. Try again.', {
    cause,
    retryAfterSeconds: 1,
  })

export interface ReadLimits {
  /** PostgreSQL cancels a statement that takes longer. SQLite reads in this process and cannot. */
  readonly statementMillisecondsMax?: number
}

export interface TransactionHints {
  /** It writes thousands of rows: on SQLite it shares its commit with no other. */
  readonly isLarge?: boolean
}

/** What the stores of a transaction leave for its end. */
export interface TransactionEnd {
  /** Retains a change; all of them are written with one statement, directly before the commit. */
  readonly append: ((change: NewChange) => void) | undefined
  /** Retains work that runs directly before the changes are written. */
  readonly beforeCommit: ((work: () => Promise<void>) => void) | undefined
}

/** A transaction that its owner ends. */
interface OpenTransaction<Stores> {
  readonly stores: Stores
  /** Does the last writes: after it, only the commit is missing. */
  prepare(): Promise<void>
  commit(): Promise<void>
  rollBack(): Promise<void>
  hasChanges(): boolean
}

/** What the stores leave for the end of a transaction, and that end. */
function collectEnd() {
  const changes: NewChange[] = []
  const lastWork: (() => Promise<void>)[] = []
  const end: TransactionEnd = {
    append: change => changes.push(change),
    beforeCommit: work => lastWork.push(work),
  }
  return {
    end,
    hasChanges: () => changes.length > 0,
    async prepare(tx: Kysely<Tables>): Promise<void> {
      for (const last of lastWork) await last()
      await appendChanges(tx, changes)
    },
  }
}

/** The last work of a transaction that its owner commits directly afterwards. */
export async function finishWith<Stores, T>(
  tx: Kysely<Tables>,
  storesOn: (db: Kysely<Tables>, end: TransactionEnd) => Stores,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const { end, prepare } = collectEnd()
  const result = await work(storesOn(tx, end))
  await prepare(tx)
  return result
}

/** For reads. */
export const readOnlyEnd: TransactionEnd = { append: undefined, beforeCommit: undefined }

interface SqlDatabaseParts {
  readonly kysely: Kysely<Tables>
  readonly dialect?: DialectName
  readonly reader: Kysely<Tables>
  readonly health?: StorageHealthRecorder
}

interface Attempt {
  /** Whether it may be done although it fails. */
  isCommitting: boolean
  /** A part of it is done: it must not be repeated as a whole. */
  isPartlyCommitted?: boolean
}

/** Repeats a transaction as long as it loses races. */
export async function untilWon<T>(
  once: (state: Attempt) => Promise<T>,
  onOutage: (kind: OutageKind, error: unknown) => void,
): Promise<T> {
  const start = performance.now()
  for (let n = 1; ; n++) {
    const state: Attempt = { isCommitting: false }
    try {
      return await once(state)
    } catch (error) {
      const isOvertaken = uniqueViolation(error) !== undefined || isReferenceBroken(error)
      const isRepeatable = error instanceof StaleWrite || isRaceLost(error) || (isOvertaken && n < overtakenAttemptsMax)
      if (!isRepeatable || state.isPartlyCommitted) {
        const outage = outageKind(error)
        if (outage) onOutage(outage, error)
        throw databaseProblem(error, state.isCommitting)
      }
      if (performance.now() - start > attemptsMillisecondsMax) throw tooContended(error)
      await wait(retryDelay(n, { first: 2, max: backOffMillisecondsMax }))
    }
  }
}

export type SqlDatabase<Stores> = ReturnType<typeof createSqlDatabase<Stores>>

/** Runs work in transactions; see `Database` in `stores.ts` for what is promised. */
export function createSqlDatabase<Stores>(
  { kysely, reader, dialect, health = createStorageHealth() }: SqlDatabaseParts,
  storesOn: (db: Kysely<Tables>, end: TransactionEnd) => Stores,
  /** Called after a commit that appended to the change log; resolves when this node has applied the changes. */
  announce: () => Promise<void>,
  /** Writers that wait for each other must not take all connections from reads. */
  writersMax = Number.POSITIVE_INFINITY,
) {
  const writers = new Semaphore({
    permits: writersMax,
    queueMax: writersWaitingMax,
    waitMillisecondsMax: writerWaitMillisecondsMax,
    message: 'Too many changes are waiting for the database; nothing was changed. Try again.',
  })

  const attempt = <T>(work: (stores: Stores) => Promise<T>, isLarge: boolean) =>
    untilWon(
      async state => {
        const { end, hasChanges, prepare } = collectEnd()
        const transaction = isLarge ? kysely.transaction().setAccessMode('read write') : kysely.transaction()
        const result = await transaction.execute(async tx => {
          const done = await work(storesOn(tx, end))
          await prepare(tx)
          state.isCommitting = true
          return done
        })
        health.writeSucceeded()
        return { result, hasChanges: hasChanges() }
      },
      kind => health.writeFailed(kind),
    )

  /** Nothing can fail after a commit. A feed that cannot read now reads at its next poll. */
  const announceChanges = () => announce().catch(() => health.changesDelayed())

  return {
    async transaction<T>(work: (stores: Stores) => Promise<T>, { isLarge = false }: TransactionHints = {}): Promise<T> {
      const { result, hasChanges } = await writers.run(() => attempt(work, isLarge))
      if (hasChanges) await announceChanges()
      return result
    },
    /** For a transaction that is ended together with one on another database; see `transactionOnBoth`. */
    async begin({ isLarge = false }: TransactionHints = {}): Promise<OpenTransaction<Stores>> {
      const { end, hasChanges, prepare } = collectEnd()
      // In a group commit on SQLite it would wait for the next transaction, which waits for the other database.
      const isAlone = isLarge || dialect === 'sqlite'
      const start = isAlone ? kysely.startTransaction().setAccessMode('read write') : kysely.startTransaction()
      const tx = await start.execute()
      // It waits without a statement while the other one works.
      if (isLarge && dialect === 'postgres') await tx.executeQuery(longIdleLimit)
      return {
        stores: storesOn(tx, end),
        prepare: () => prepare(tx),
        commit: () => tx.commit().execute(),
        rollBack: async () => {
          if (!tx.isCommitted) await tx.rollback().execute()
        },
        hasChanges,
      }
    },
    writers,
    health,
    announceChanges,
    async read<T>(work: (stores: Stores) => Promise<T>, limits: ReadLimits = {}): Promise<T> {
      const reading = () =>
        reader
          .transaction()
          .setAccessMode('read only')
          .setIsolationLevel('repeatable read')
          .execute(async tx => {
            const { statementMillisecondsMax } = limits
            if (dialect === 'postgres' && statementMillisecondsMax !== undefined) {
              await tx.executeQuery(statementLimit(statementMillisecondsMax))
            }
            return work(storesOn(tx, readOnlyEnd))
          })
      try {
        return await reading().catch(error => {
          // The next attempt uses no prepared statements.
          if (isNameLost(error)) return reading()
          throw error
        })
      } catch (error) {
        throw databaseProblem(error)
      }
    },
    async query<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
      try {
        return await work(storesOn(reader, readOnlyEnd))
      } catch (error) {
        throw databaseProblem(error)
      }
    },
  }
}

const longIdleLimit = CompiledQuery.raw('set local idle_in_transaction_session_timeout = 60000')

/** Pipelined with the first statement of the transaction. */
const statementLimit = (milliseconds: number): PreparedCompiledQuery => ({
  ...CompiledQuery.raw(`set local statement_timeout = ${milliseconds}`),
  isPipelined: true,
})
