import { loadPg } from '../../storage/postgres/load-pg.ts'
import { openSqlite, type SqliteHandle } from '../../storage/sqlite/sqlite-connection.ts'
import { postgresSource } from './postgres-source.sql.ts'
import type { OpenSource } from './scan.ts'
import type { ScanData } from './scan-messages.ts'
import type { ScanRequest } from './scan-request.ts'
import { sqliteSource } from './sqlite-source.sql.ts'

const connectTimeoutMilliseconds = 5000

/** Opens a separate read-only connection, which is closed with the source. */
export function openSourceOf(database: ScanData['database'], { projectId, target }: ScanRequest): OpenSource {
  return async (needs, order) => {
    if (database.kind === 'sqlite') {
      const handle = openSqlite(database.path, { readOnly: true })
      const source = sqliteSource(handle, projectId, target, needs, order)
      return { ...source, close: async () => handle.close() }
    }
    const { Client } = loadPg()
    const client = new Client({
      connectionString: database.url,
      connectionTimeoutMillis: connectTimeoutMilliseconds,
      application_name: 'halyard scan',
    })
    await client.connect()
    const source = postgresSource(client, projectId, target, needs, order)
    return { ...source, close: () => client.end() }
  }
}

/** Uses a shared connection, because an in-memory database has only one. */
export const sourceOn =
  (handle: SqliteHandle, { projectId, target }: ScanRequest): OpenSource =>
  async (needs, order) => {
    const source = sqliteSource(handle, projectId, target, needs, order)
    return { ...source, freeze: async () => {}, close: async () => {} }
  }
