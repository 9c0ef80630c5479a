import { chmodSync } from 'node:fs'
import { openSqlite } from '../../storage/sqlite/sqlite-connection.ts'
import { required, UsageError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'
import { writeWhole } from './whole-file.ts'

/** `halyard backup <file>`: a consistent copy while the server goes on. */
export async function backup([file]: string[]): Promise<void> {
  const target = required(file, '<file>')
  await withDatabase(async (_database, { sqlite }) => {
    if (!sqlite) throw new UsageError('This database is PostgreSQL: use pg_dump.')
    await writeWhole(target, part => {
      sqlite.handle.exec(`vacuum into '${part.replaceAll("'", "''")}'`)
      chmodSync(part, 0o600)
      const copy = openSqlite(part, { readOnly: true })
      const [row] = copy.prepare('pragma integrity_check').all() as { integrity_check: string }[]
      copy.close()
      if (row?.integrity_check !== 'ok') throw new Error(`the copy is damaged: ${row?.integrity_check}`)
    })
    console.log(`Backed up to ${target}; its integrity was checked.`)
  })
}
