import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import pg from 'pg'
import { describe, inject } from 'vitest'
import type { DialectName } from '../storage/migrations/migration.ts'
import type { Storage } from '../storage/open-storage.ts'
import type { Tables } from '../storage/tables.generated.ts'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

let counter = 0

/** Creates an isolated database: a file, or a database on the PostgreSQL server of the test run. */
export async function createTestDatabase(
  dialect: DialectName,
  kind: 'migrated' | 'empty' = 'migrated',
): Promise<TestDatabase> {
  if (dialect === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'halyard-sqlite-'))
    const path = join(folder, 'halyard.db')
    if (kind === 'migrated') copyFileSync(inject('sqliteTemplate'), path)
    return {
      url: `sqlite:${path}`,
      drop: async () => rmSync(folder, { recursive: true, force: true }),
    }
  }
  const name = `halyard_${process.pid}_${Date.now().toString(36)}_${counter++}`
  const template = kind === 'migrated' ? ` template ${inject('postgresTemplate')}` : ''
  await administer(`create database ${name}${template}`)
  const url = new URL(inject('postgresUrl'))
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(`drop database if exists ${name} with (force)`) }
}

async function administer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** `TEST_DIALECTS=sqlite` leaves PostgreSQL out. */
export const dialects =
  process.env.TEST_DIALECTS === 'sqlite' ? (['sqlite'] as const) : (['sqlite', 'postgres'] as const)

/** Runs one suite on each database. */
export function onEachDatabase(title: string, suite: (dialect: DialectName) => void): void {
  describe.each(dialects)(`${title} on %s`, suite)
}

/** The same, and once more with persons in a database of their own; on another kind of database where there are two. */
export function onEachPersonsDatabase(
  title: string,
  suite: (dialect: DialectName, persons: { readonly persons: DialectName | undefined }) => void,
): void {
  onEachDatabase(title, dialect => suite(dialect, { persons: undefined }))
  const persons = dialects.at(-1)!
  describe(`${title} on sqlite, with persons on ${persons}`, () => suite('sqlite', { persons }))
}

/**
 * Writes past the stores. Another node may hold SQLite's write lock at the moment: transactions of the stores wait for it, and so does this.
 */
export async function writeDirectly<T>(
  storage: Pick<Storage, 'kysely'>,
  write: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write(storage.kysely)
    } catch (error) {
      if (!(error instanceof Error) || error.message !== 'database is locked') throw error
      await setImmediate()
    }
  }
}

/** The next run of the jobs gets every lease, whichever node held it. */
export const freeLeases = (storage: Pick<Storage, 'kysely'>) =>
  writeDirectly(storage, db => db.deleteFrom('leases').execute())
