import pg from 'pg'
import { openSqlite } from '../packages/server/src/storage/sqlite/sqlite-connection.ts'

/**
 * Vacuums, analyzes and checkpoints a database after many rows were stored. PostgreSQL would otherwise do it in the background while
 * requests are measured, on the same processors.
 */
export async function maintain(databaseUrl: string): Promise<void> {
  const sqlitePath = databaseUrl.startsWith('sqlite:') ? databaseUrl.slice('sqlite:'.length) : undefined
  if (sqlitePath !== undefined) {
    const handle = openSqlite(sqlitePath)
    for (const statement of ['vacuum', 'analyze', 'pragma wal_checkpoint(truncate)']) handle.exec(statement)
    handle.close()
    return
  }
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  for (const statement of ['vacuum (analyze)', 'checkpoint']) await client.query(statement)
  await client.end()
}
