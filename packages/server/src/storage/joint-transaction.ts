import { isOfPersons } from './driver-error.ts'
import { type SqlDatabase, type TransactionHints, untilWon } from './sql-database.ts'

/**
 * Two databases have no common commit. Both transactions do all of their work; then the one on persons is committed, directly before the
 * other. When the process or a database dies between the two, persons are saved and the rest is not: adding members and setting properties
 * again changes nothing, and batches of events are known by their id in both.
 *
 * Persons come first in everything: two transactions wait for each other in one order only, and a database of persons that is away costs no
 * connection to the other.
 */
export async function transactionOnBoth<Main, Persons, T>(
  persons: SqlDatabase<Persons>,
  main: SqlDatabase<Main>,
  work: (stores: Main, people: Persons) => Promise<T>,
  hints: TransactionHints,
): Promise<T> {
  const attempt = () =>
    untilWon(
      async state => {
        const people = await persons.begin(hints)
        const rest = await main.begin(hints).catch(async error => {
          await people.rollBack().catch(() => {})
          throw error
        })
        try {
          const result = await work(rest.stores, people.stores)
          await rest.prepare()
          await people.prepare()
          state.isCommitting = true
          await people.commit()
          state.isPartlyCommitted = true
          await rest.commit()
          return { result, changed: [...(people.hasChanges() ? [persons] : []), ...(rest.hasChanges() ? [main] : [])] }
        } catch (error) {
          await Promise.allSettled([people.rollBack(), rest.rollBack()])
          throw error
        }
      },
      (kind, error) => (isOfPersons(error) ? persons : main).health.writeFailed(kind),
    )
  const { result, changed } = await persons.writers.run(() => main.writers.run(attempt))
  await Promise.all(changed.map(database => database.announceChanges()))
  return result
}
