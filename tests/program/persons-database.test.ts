import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, describe, expect, it } from 'vitest'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { visitServer } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, runCommand, startServer } from '../faults/server-process.ts'

const made: TestDatabase[] = []
async function newDatabase(dialect: 'sqlite' | 'postgres'): Promise<string> {
  const database = await createTestDatabase(dialect, 'empty')
  made.push(database)
  return database.url
}
afterAll(async () => {
  for (const database of made) await database.drop()
})

const halyard = (databaseUrl: string, personsUrl: string, ...args: string[]) =>
  runCommand(args, {
    DATABASE_URL: databaseUrl,
    PERSONS_DATABASE_URL: personsUrl,
    PORT: '0',
    LOG_LEVEL: 'warn',
    HALYARD_DATABASE_WAIT_SECONDS: '1',
  })

/** Its tables, and the rows that say whose it is and how old. */
async function stateOf(url: string): Promise<unknown> {
  const storage = openStorage(url)
  try {
    const tables = (await storage.kysely.introspection.getTables()).map(({ name }) => name).sort()
    const rows = []
    for (const table of tables.filter(name => ['instance', 'schema_migrations'].includes(name)))
      rows.push((await sql`select * from ${sql.table(table)}`.execute(storage.kysely)).rows)
    return { tables, rows }
  } finally {
    await storage.close()
  }
}

onEachDatabase('a persons database of another installation', dialect => {
  it('is refused before anything is migrated, by a start and by every command', async () => {
    const [first, second, unused, persons, empty] = [
      await newDatabase(dialect),
      await newDatabase(dialect),
      await newDatabase(dialect),
      await newDatabase(dialect),
      await newDatabase(dialect),
    ]
    // Two new databases.
    expect(await (await startServer(first, { PERSONS_DATABASE_URL: persons })).stop()).toBe(0)
    const storage = openStorage(persons)
    // As that of a version to come sees it: the steps of its schema are still to be done.
    await storage.kysely.deleteFrom('schema_migrations').execute()
    await storage.close()
    const before = await stateOf(persons)
    const isOther = expect.stringContaining('PERSONS_DATABASE_URL has the persons of another installation')
    for (const args of [['serve'], ['migrate']])
      expect(await halyard(unused, persons, ...args)).toEqual({ code: 1, output: isOther })
    expect(await stateOf(unused)).toEqual({ tables: [], rows: [] })
    await halyard(second, empty, 'migrate')
    for (const args of [['serve'], ['migrate'], ['migrate-persons', '--finish']])
      expect(await halyard(second, persons, ...args)).toEqual({ code: 1, output: isOther })
    const copied = await halyard(second, persons, 'migrate-persons')
    expect(copied).toEqual({ code: 1, output: expect.stringContaining('has the persons of an installation already') })
    const doctor = await halyard(second, persons, 'doctor')
    expect(doctor).toEqual({ code: 1, output: isOther })
    expect(doctor.output).not.toMatch(/BAD .*halyard migrate/)
    expect(await stateOf(persons)).toEqual(before)
  }, 120_000)

  it('is not opened by commands that concern no person', async () => {
    const [main, persons] = [await newDatabase(dialect), await newDatabase(dialect)]
    expect(await (await startServer(await newDatabase(dialect), { PERSONS_DATABASE_URL: persons })).stop()).toBe(0)
    expect(await (await startServer(main, { PERSONS_DATABASE_URL: await newDatabase(dialect) })).stop()).toBe(0)
    const before = await stateOf(persons)
    const missing = join(tmpdir(), `halyard-missing-${randomUUID()}.db`)
    for (const url of [persons, `sqlite:${missing}`]) {
      const email = `${randomUUID()}@example.com`
      for (const args of [
        ['users', 'create', '--email', email],
        ['keys', 'create', '--email', email],
        ['doctor', '--secrets'],
        ['audit', 'restored'],
        ['audit', 'verify'],
      ])
        expect([args, await halyard(main, url, ...args)]).toEqual([args, expect.objectContaining({ code: 0 })])
      const refused = { code: 1, output: expect.stringContaining('docs/operate/persons-database.md') }
      expect(await halyard(main, url, 'export', '-')).toEqual(refused)
      expect(await halyard(await newDatabase(dialect), url, 'import', import.meta.filename)).toEqual(refused)
    }
    expect(await stateOf(persons)).toEqual(before)
    expect(existsSync(missing)).toBe(false)
    const swapped = await halyard(persons, main, 'users', 'list')
    expect(swapped).toEqual({ code: 1, output: expect.stringContaining('DATABASE_URL names a database of persons') })
  }, 120_000)

  it('is refused by an installation that has its persons elsewhere, also when it is empty', async () => {
    const [main, persons, empty] = [await newDatabase(dialect), await newDatabase(dialect), await newDatabase(dialect)]
    expect((await halyard(main, persons, 'migrate')).code).toBe(0)
    expect(await (await startServer(main, { PERSONS_DATABASE_URL: persons })).stop()).toBe(0)
    for (const args of [['serve'], ['migrate']])
      expect(await halyard(main, empty, ...args)).toEqual({
        code: 1,
        output: expect.stringContaining('is not the database that has the persons of this installation'),
      })
    expect(await stateOf(empty)).toEqual({ tables: [], rows: [] })
    expect(await (await startServer(main, { PERSONS_DATABASE_URL: persons })).stop()).toBe(0)
  }, 120_000)
})

describe('a persons file', () => {
  it('is backed up and restored as documented, and a damaged one says so', async () => {
    const [main, persons] = [await newDatabase('sqlite'), await newDatabase('sqlite')]
    const path = persons.slice('sqlite:'.length)
    const settings = { PERSONS_DATABASE_URL: persons }
    const first = await startServer(main, settings)
    const s = await visitServer(first.url, ownerKey)
    await s.post('/batch/', { api_key: s.projectToken, batch: [{ event: '$set', distinct_id: 'ada', $set: { a: 1 } }] })
    const backup = `${path}.backup`
    expect((await runCommand(['backup', backup], { DATABASE_URL: persons })).code).toBe(0)
    await first.stop()

    renameSync(path, `${path}.damaged`)
    writeFileSync(path, 'no database, but longer than a header of one '.repeat(100))
    for (const args of [['serve'], ['doctor']]) {
      const { code, output } = await halyard(main, persons, ...args)
      expect(code).toBe(1)
      expect(output).toContain(`The persons database file ${path} is damaged`)
      expect(output).toContain('docs/operate/persons-database.md')
      expect(output).not.toContain('halyard restore')
    }
    renameSync(path, `${path}.damaged`)
    copyFileSync(backup, path)
    const again = await startServer(main, settings)
    const { body } = await (await visitServer(again.url, ownerKey)).get(`${s.project}/persons/?distinct_id=ada`)
    expect(body.results).toMatchObject([{ properties: { a: 1 } }])
    await again.stop()
  }, 120_000)
})
