import { setTimeout as wait } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { createSemaphore } from '../concurrency/semaphore.ts'
import { Problem } from '../problem.ts'
import { StaleWrite } from '../stores.ts'
import { appendChanges } from './changes/change-log.sql.ts'
import type { NewChange } from './changes/changes.ts'
import { databaseProblem, isNameLost, isRaceLost } from './driver-error.ts'
import type { Tables } from './tables.ts'

const attemptsMillisecondsMax = 10_000
const backOffMillisecondsMax = 40
const placeMillisecondsMax = 10_000

const crowded = (cause: unknown): Problem =>
  new Problem('unavailable', 'Too many writers want to change the same thing; nothing was changed. Try again.', {
    cause,
    retryAfterSeconds: 1,
  })

/** What the stores of a transaction leave for its end. */
export interface TransactionEnd {
  /** Retains a change; all of them are written with one statement, directly before the commit. */
  readonly append: ((change: NewChange) => void) | undefined
  afterCommit(work: () => void): void
}

/** For reads. */
export const readOnlyEnd: TransactionEnd = { append: undefined, afterCommit() {} }

/** Runs work in transactions; see `Database` in `stores.ts` for what is promised. */
export function createSqlDatabase<Stores>(
  { kysely, reader }: { readonly kysely: Kysely<Tables>; readonly reader: Kysely<Tables> },
  storesOn: (db: Kysely<Tables>, end: TransactionEnd) => Stores,
  /** Called after a commit that appended to the change log; resolves when this node has applied the changes. */
  announce: () => Promise<void>,
  /** Writers that wait for each other must not keep those who only read from the database. */
  writersMax = Number.POSITIVE_INFINITY,
) {
  const places = createSemaphore(writersMax, placeMillisecondsMax)

  async function attempt<T>(work: (stores: Stores) => Promise<T>): Promise<{ result: T; hasChanges: boolean }> {
    const start = performance.now()
    for (let n = 1; ; n++) {
      let isCommitting = false
      const changes: NewChange[] = []
      const whenCommitted: (() => void)[] = []
      const end: TransactionEnd = {
        append: change => changes.push(change),
        afterCommit: doing => whenCommitted.push(doing),
      }
      try {
        const result = await kysely.transaction().execute(async tx => {
          const done = await work(storesOn(tx, end))
          await appendChanges(tx, changes)
          isCommitting = true
          return done
        })
        for (const doing of whenCommitted) doing()
        return { result, hasChanges: changes.length > 0 }
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
    async read<T>(work: (stores: Stores) => Promise<T>): Promise<T> {
      const reading = () =>
        reader
          .transaction()
          .setAccessMode('read only')
          .setIsolationLevel('repeatable read')
          .execute(tx => work(storesOn(tx, readOnlyEnd)))
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
        return await work(storesOn(reader, readOnlyEnd))
      } catch (error) {
        throw databaseProblem(error)
      }
    },
  }
}
