import { existsSync } from 'node:fs'
import { openSqlite } from '../storage/sqlite-connection.ts'
import { required, UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

/** `halyard backup <file>`: a consistent copy while the server goes on. */
export async function backup([file]: string[]): Promise<void> {
  const target = required(file, '<file>')
  if (existsSync(target)) throw new UsageError(`${target} exists already; name a new file.`)
  await withDatabase(async (_database, storage) => {
    if (!storage.sqlite) throw new UsageError('This database is PostgreSQL: use pg_dump.')
    storage.sqlite.handle.exec(`vacuum into '${target.replaceAll("'", "''")}'`)
    const copy = openSqlite(target, { readOnly: true })
    const [row] = copy.prepare('pragma integrity_check').all() as { integrity_check: string }[]
    copy.close()
    if (row?.integrity_check !== 'ok') throw new Error(`The copy is damaged: ${row?.integrity_check}`)
    console.log(`Backed up to ${target}; its integrity was checked.`)
  })
}
