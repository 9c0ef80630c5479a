import { setTimeout as wait } from 'node:timers/promises'
import { CompiledQuery, type Kysely } from 'kysely'
import { retryDelay } from '../concurrency/retry-delay.ts'
import { Semaphore } from '../concurrency/semaphore.ts'
import { Problem } from '../problem.ts'
import { appendChanges } from './changes/change-log.sql.ts'
import type { NewChange } from './changes/changes.ts'
import { databaseProblem, isNameLost, isRaceLost, outageKind, uniqueViolation } from './driver-error.ts'
import type { DialectName } from './migrations/migration.ts'
import type { PreparedCompiledQuery } from './prepared-query.ts'
import { StaleWrite } from './save-row.ts'
import { createStorageHealth, type StorageHealthRecorder } from './storage-health.ts'
import type { Tables } from './tables.generated.ts'

const attemptsMillisecondsMax = 10_000
/** A row that another transaction has just added is seen by the next attempt, which then chooses another value or refuses this one. */
const takenAttemptsMax = 4
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

/** For reads. */
export const readOnlyEnd: TransactionEnd = { append: undefined, beforeCommit: undefined }

interface SqlDatabaseParts {
  readonly kysely: Kysely<Tables>
  readonly dialect?: DialectName
  readonly reader: Kysely<Tables>
  readonly health?: StorageHealthRecorder
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

  async function attempt<T>(
    work: (stores: Stores) => Promise<T>,
    isLarge: boolean,
  ): Promise<{ result: T; hasChanges: boolean }> {
    const start = performance.now()
    for (let n = 1; ; n++) {
      let isCommitting = false
      const changes: NewChange[] = []
      const lastWork: (() => Promise<void>)[] = []
      const end: TransactionEnd = {
        append: change => changes.push(change),
        beforeCommit: work => lastWork.push(work),
      }
      try {
        const transaction = isLarge ? kysely.transaction().setAccessMode('read write') : kysely.transaction()
        const result = await transaction.execute(async tx => {
          const done = await work(storesOn(tx, end))
          for (const last of lastWork) await last()
          await appendChanges(tx, changes)
          isCommitting = true
          return done
        })
        health.writeSucceeded()
        return { result, hasChanges: changes.length > 0 }
      } catch (error) {
        const isTaken = uniqueViolation(error) !== undefined && n < takenAttemptsMax
        if (!(error instanceof StaleWrite || isRaceLost(error) || isTaken)) {
          const outage = outageKind(error)
          if (outage) health.writeFailed(outage)
          throw databaseProblem(error, isCommitting)
        }
        if (performance.now() - start > attemptsMillisecondsMax) throw tooContended(error)
        await wait(retryDelay(n, { first: 2, max: backOffMillisecondsMax }))
      }
    }
  }

  return {
    async transaction<T>(work: (stores: Stores) => Promise<T>, { isLarge = false }: TransactionHints = {}): Promise<T> {
      const { result, hasChanges } = await writers.run(() => attempt(work, isLarge))
      // Committed: nothing can fail any more. A feed that cannot read now reads at its next poll.
      if (hasChanges) await announce().catch(() => health.changesDelayed())
      return result
    },
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

/** Pipelined with the first statement of the transaction. */
const statementLimit = (milliseconds: number): PreparedCompiledQuery => ({
  ...CompiledQuery.raw(`set local statement_timeout = ${milliseconds}`),
  isPipelined: true,
})
