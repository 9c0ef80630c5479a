import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../packages/server/src/storage/migrations/migrate.ts'
import { openStorage } from '../packages/server/src/storage/open-storage.ts'

/** A migrated SQLite file for the whole run: copying it is much faster than migrating each time. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-sqlite-template-'))
  const path = join(folder, 'halyard.db')
  const storage = openStorage(`sqlite:${path}`)
  await migrate(storage.kysely, storage.dialect)
  // Closing moves the write-ahead log into the file.
  await storage.close()
  project.provide('sqliteTemplate', path)
  return () => rmSync(folder, { recursive: true, force: true })
}

declare module 'vitest' {
  interface ProvidedContext {
    sqliteTemplate: string
  }
}
