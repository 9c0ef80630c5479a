import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../packages/server/src/storage/migrations/migrate.ts'
import { openStorage } from '../packages/server/src/storage/open-storage.ts'
import { removeAbandonedFolders } from './embedded-postgres.ts'
import { startPostgres } from './postgres-server.ts'

/** A PostgreSQL server for the whole run: the one in TEST_DATABASE_URL, or a temporary one from npm. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  if (!given && process.env.TEST_DIALECTS === 'sqlite') return async () => {}
  if (!given) removeAbandonedFolders()
  const server = given ? undefined : await startPostgres()
  const url = given ?? server?.url ?? ''
  const template = await createTemplate(url)
  project.provide('postgresUrl', url)
  project.provide('postgresTemplate', template)
  return async () => {
    if (server) await server.stop()
    else await administer(url, `drop database if exists ${template} with (force)`)
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    postgresTemplate: string
  }
}

/** Copying a migrated database is much faster than migrating each time. */
async function createTemplate(url: string): Promise<string> {
  const name = `halyard_template_${process.pid}`
  await administer(url, `drop database if exists ${name} with (force)`)
  await administer(url, `create database ${name}`)
  const templateUrl = new URL(url)
  templateUrl.pathname = `/${name}`
  const storage = openStorage(templateUrl.href)
  await migrate(storage.kysely, storage.dialect)
  await storage.close()
  return name
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
