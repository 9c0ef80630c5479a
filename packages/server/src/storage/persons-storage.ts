import type { DatabaseConnection, Dialect } from 'kysely'
import { ofPersons } from './driver-error.ts'
import { openStorage, type Storage, type StorageOptions } from './open-storage.ts'
import { personsFile } from './sqlite/sqlite-file.ts'

/** The database of persons when it is one of its own. Its errors are known by it, so that messages name the right one. */
export const openPersonsStorage = (url: string, options: StorageOptions = {}): Storage =>
  openStorage(url, {
    ...options,
    file: personsFile,
    wrapDialect: dialect => marked(options.wrapDialect?.(dialect) ?? dialect),
  })

async function marking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw ofPersons(error)
  }
}

const marked = (dialect: Dialect): Dialect => ({
  createAdapter: () => dialect.createAdapter(),
  createIntrospector: db => dialect.createIntrospector(db),
  createQueryCompiler: () => dialect.createQueryCompiler(),
  createDriver() {
    const driver = dialect.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    const commit = driver.commitTransaction.bind(driver)
    const seen = new WeakSet<DatabaseConnection>()
    driver.acquireConnection = async () => {
      const connection = await marking(acquire)
      if (!seen.has(connection)) {
        seen.add(connection)
        const execute = connection.executeQuery.bind(connection)
        connection.executeQuery = query => marking(() => execute(query))
      }
      return connection
    }
    driver.commitTransaction = connection => marking(() => commit(connection))
    return driver
  },
})
