import { resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import { isBound } from '../../storage/bind-persons.ts'
import { openStorage } from '../../storage/open-storage.ts'
import { openPersonsStorage } from '../../storage/persons-storage.ts'
import { copyPersons, finishMove, removeCopies } from '../../storage/transfer/migrate-persons.ts'
import { printJson, progress } from '../output.ts'
import { CommandError } from '../usage.ts'
import { refuseMissingFile } from '../with-database.ts'
import { refuseFileInUse, refuseWhileServed } from './refuse-while-in-use.sql.ts'

interface Options {
  readonly finish?: boolean
  readonly json?: boolean
}

/** `halyard migrate-persons [--finish]`: copies persons to a database of their own, while servers run; can be repeated. */
export async function migratePersonsCommand({ finish = false, json = false }: Options): Promise<void> {
  const { databaseUrl, personsDatabaseUrl } = readConfig(process.env)
  if (personsDatabaseUrl === undefined)
    throw new CommandError('Set PERSONS_DATABASE_URL to the database that gets the persons.')
  refuseMissingFile(databaseUrl)
  const isFile = databaseUrl.startsWith('sqlite:')
  if (finish && isFile) refuseFileInUse(resolve(databaseUrl.slice('sqlite:'.length)))
  const main = openStorage(databaseUrl)
  const persons = openPersonsStorage(personsDatabaseUrl)
  try {
    await main.ping()
    await persons.ping()
    if (await isBound(main.kysely)) {
      if (finish) await removeCopies(main, progress)
      if (json) return printJson({ rows: 0, written: 0, is_finished: true })
      return console.log('The persons are in their own database. Nothing is left to do.')
    }
    if (!finish) {
      const report = await copyPersons(main, persons, progress)
      if (json) return printJson({ ...report, is_finished: false })
      console.log(`Compared ${report.rows} rows and changed ${report.written} that were missing or different.`)
      console.log('Now stop every node, and run: halyard migrate-persons --finish')
      return
    }
    await refuseWhileServed(main)
    const report = await finishMove(main, persons, progress)
    await removeCopies(main, progress)
    if (json) return printJson({ ...report, is_finished: true })
    console.log(
      `Moved ${report.rows} rows; counts and checksums agree. ${report.written} had changed since the last run.`,
    )
    console.log('Start every node with PERSONS_DATABASE_URL.')
  } finally {
    await persons.close()
    await main.close()
  }
}
