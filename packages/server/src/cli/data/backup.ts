import { chmodSync, statSync } from 'node:fs'
import { openSqlite } from '../../storage/sqlite/sqlite-connection.ts'
import { printJson, progress } from '../output.ts'
import { UsageError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'
import { writeWhole } from './whole-file.ts'

/** `halyard backup <file>`: a consistent copy of SQLite while the server runs. Works for every schema version. */
export async function backup(target: string, options: { readonly json?: boolean }): Promise<void> {
  await withDatabase(
    async (_database, { sqlite }, config) => {
      if (!sqlite) throw new UsageError('This database is PostgreSQL. Use pg_dump.')
      progress(`Backing up ${sqlite.path} …`)
      await writeWhole(target, part => {
        sqlite.handle.exec(`vacuum into '${part.replaceAll("'", "''")}'`)
        chmodSync(part, 0o600)
        progress('Checking the copy …')
        const copy = openSqlite(part, { readOnly: true })
        const [row] = copy.prepare('pragma integrity_check').all() as { integrity_check: string }[]
        copy.close()
        if (row?.integrity_check !== 'ok') throw new Error(`the copy is damaged: ${row?.integrity_check}`)
      })
      if (options.json) return printJson({ file: target, bytes: statSync(target).size })
      console.log(`Backed up to ${target}; its integrity was checked.`)
      if (config.personsDatabaseUrl !== undefined)
        console.log('It has no persons: back up the database of PERSONS_DATABASE_URL as well.')
    },
    { database: 'any-version' },
  )
}
