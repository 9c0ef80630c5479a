import { type Kysely, sql } from 'kysely'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import type { Tables } from '../../packages/server/src/storage/tables.generated.ts'

/** Writes what no request can, to the database of a running server. Waits for the server's transactions, which retries would in the program. */
export async function writeDirectly(
  databaseUrl: string,
  write: (db: Kysely<Tables>) => Promise<unknown>,
): Promise<void> {
  const storage = openStorage(databaseUrl)
  try {
    if (storage.dialect === 'sqlite') await sql`pragma busy_timeout = 60000`.execute(storage.kysely)
    await write(storage.kysely)
  } finally {
    await storage.close()
  }
}
