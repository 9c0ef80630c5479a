import { setTimeout as wait } from 'node:timers/promises'
import { CompiledQuery, type Kysely } from 'kysely'
import { createSemaphore } from '../concurrency/semaphore.ts'
import { Problem } from '../problem.ts'
import { type ReadLimits, StaleWrite } from '../stores.ts'
import { databaseProblem, isNameLost, isRaceLost } from './driver-error.ts'
import type { Storage } from './open-storage.ts'
import type { PreparedCompiledQuery } from './prepared-query.ts'
import type { Tables } from './tables.ts'

const attemptsMillisecondsMax = 10_000
const backOffMillisecondsMax = 40
const placeMillisecondsMax = 10_000

const crowded = (cause: unknown): Problem =>
  new Problem('unavailable', 'Too many writers want to change the same thing; nothing was changed. Try again.', {
    cause,
    retryAfterSeconds: 1,
  })

/** What the stores of a transaction tell about it; it counts when the transaction has committed. */
export interface TransactionNotes {
  /** Something was appended to the change log. */
  changed(): void
  afterCommit(work: () => void): void
}

/** For who only reads. */
export const noNotes: TransactionNotes = { changed() {}, afterCommit() {} }

/** Runs work in transactions; see `Database` in `stores.ts` for what is promised. */
export function createSqlDatabase<Stores>(
  { kysely, reader, dialect }: Pick<Storage, 'kysely' | 'reader' | 'dialect'>,
  storesOn: (db: Kysely<Tables>, notes: TransactionNotes) => Stores,
  /** Called after a commit that appended to the change log; resolves when this node has applied the changes. */
  announce: () => Promise<void>,
  /** Writers that wait for each other must not keep those who only read from the database. */
  writersMax = Number.POSITIVE_INFINITY,
) {
  const places = createSemaphore(writersMax, placeMillisecondsMax)

  async function attempt<T>(work: (stores: Stores) => Promise<T>): Promise<{ result: T; hasChanges: boolean }> {
    const start = performance.now()
    for (let n = 1; ; n++) {
      let hasChanges = false
      let isCommitting = false
      const whenCommitted: (() => void)[] = []
      const notes: TransactionNotes = {
        changed() {
          hasChanges = true
        },
        afterCommit: doing => whenCommitted.push(doing),
      }
      try {
        const result = await kysely.transaction().execute(async tx => {
          const done = await work(storesOn(tx, notes))
          isCommitting = true
          return done
        })
        for (const doing of whenCommitted) doing()
        return { result, hasChanges }
      } catch (error) {
        if (!(error instanceof StaleWrite || isRaceLost(error))) throw databaseProblem(error, isCommitting)
        if (performance.now() - start > attemptsMillisecondsMax) throw crowded(error)
        await wait(Math.random() * Math.min(n * 2, backOffMillisecondsMax))
      }
    }
  }

  return {
    async transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
      const leave = await places.take()
      const { result, hasChanges } = await attempt(work).finally(leave)
      // Committed: from here on nothing may fail. A feed that cannot read now is woken again by its timer.
      if (hasChanges) await announce().catch(() => {})
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
            return work(storesOn(tx, noNotes))
          })
      try {
        return await reading().catch(error => {
          // The next attempt names nothing.
          if (isNameLost(error)) return reading()
          throw error
        })
      } catch (error) {
        throw databaseProblem(error)
      }
    },
    async query<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
      try {
        return await work(storesOn(reader, noNotes))
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
