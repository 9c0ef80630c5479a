import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inParts } from '../packages/server/src/storage/in-batches.ts'
import type { DialectName } from '../packages/server/src/storage/migrations/migration.ts'
import { openStorage } from '../packages/server/src/storage/open-storage.ts'
import { openSqlite } from '../packages/server/src/storage/sqlite/sqlite-connection.ts'
import { moveStore } from '../packages/server/src/storage/transfer/migrate-store.ts'
import { tableShapes } from '../packages/server/src/storage/transfer/table-shapes.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/src/testing/databases.ts'
import { startScenario } from '../packages/server/src/testing/scenario.ts'
import { findFaults } from './faults/consistency.ts'
import { seededRandom } from './faults/random.ts'
import { ownerKey, runCommand, startCommand, startServer } from './faults/server-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'halyard-transfer-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Creates a database with rows in every table and text that is hard to encode. */
async function grownDatabase(dialect: DialectName): Promise<TestDatabase> {
  const database = await createTestDatabase(dialect)
  const s = await startScenario(dialect, { databaseUrl: database.url })
  const member = await s.join('colleague')
  const stranger = await s.stranger('elsewhere')
  await stranger.post(`${stranger.project}/feature_flags/`, { key: 'not-in-the-first-project' })
  const role = (await s.post(`${s.organization}/roles/`, { name: 'Crew “é” 漢字 😀' })).body
  await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: member.uuid })
  for (let index = 0; index < 8; index++) {
    const filters = {
      groups: [{ properties: [], rollout_percentage: index }],
      z: 1,
      a: { 10: 'x', 2: 'y' },
      note: '\t"\\ \u2028',
    }
    const { id } = (
      await s.post(`${s.project}/feature_flags/`, { key: `flag-${index}`, filters, tags: [1, 'two', null] })
    ).body
    await s.patch(`${s.project}/feature_flags/${id}/`, { name: `name ${index}` })
    await s.post(`${s.project}/feature_flags/${id}/role_access/`, { role_id: role.id })
  }
  await s.post(`${s.organization}/plugins/`, { name: 'A plugin' })
  await s.close()
  return database
}

const rowsOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(1)
let counter = 0
const newFile = () => join(folder, `file-${++counter}`)
const halyard = (databaseUrl: string, ...args: string[]) =>
  runCommand(args, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent' })

const personsCount = Number(process.env.HALYARD_MOVE_ROWS ?? 12_000)
const killsCount = Number(process.env.HALYARD_MOVE_KILLS ?? 4)

/** Adds many rows, so that a move takes a while. */
async function addPersons(databaseUrl: string): Promise<void> {
  const storage = openStorage(databaseUrl)
  const person = { project_id: 1, properties: '{}', email: null, is_identified: 0, distinct_id_count: 0, version: 1 }
  const created_at = '2026-01-01T00:00:00.000000Z'
  const persons = Array.from({ length: personsCount }, () => ({ ...person, uuid: randomUUID(), created_at }))
  for (const part of inParts(persons, 1000)) await storage.kysely.insertInto('persons').values(part).execute()
  await storage.close()
}

/** A copy that no other process has open. */
async function copyOfDatabase(url: string): Promise<string> {
  const copy = newFile()
  await halyard(url, 'backup', copy)
  return `sqlite:${copy}`
}

describe.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)('from %s to %s', (from, to) => {
  let source: TestDatabase
  beforeAll(async () => {
    source = await grownDatabase(from)
  })
  afterAll(() => source.drop())

  it('export, import and export again are identical, and the server can serve the result', async () => {
    const target = await createTestDatabase(to)
    const [first, second] = [newFile(), newFile()]
    expect((await halyard(source.url, 'export', first)).output).toMatch(/Exported \d+ rows/)
    const logs: { organization: string; hash: string }[] = JSON.parse(
      (await halyard(source.url, 'audit', 'head', '--json')).output,
    )
    expect(logs.length).toBeGreaterThan(0)
    expect((await halyard(target.url, 'import', first)).output).toMatch(/Imported \d+ rows/)
    await halyard(target.url, 'export', second)
    const [before, after] = [first, second].map(
      file => new Set(rowsOf(file).filter(row => !row.startsWith('{"end"'))),
    ) as [Set<string>, Set<string>]
    // Only the audit logs go on, with an entry that names the head of the export, and sign-ins end.
    const isSignIn = (row: string) =>
      /^{"table":"(sign_ins|account_tokens|changes|change_head)"|"is_session":1/.test(row)
    const removed = [...before].filter(row => !after.has(row) && !isSignIn(row))
    const added = [...after].filter(row => !before.has(row) && !isSignIn(row))
    expect(removed.filter(row => !row.includes('audit_heads'))).toEqual([])
    expect(added.filter(row => !/audit_heads|audit_entries.*restored/.test(row))).toEqual([])
    expect([removed.length, added.length]).toEqual([logs.length, 2 * logs.length])
    for (const { organization, hash } of logs) {
      const log = newFile()
      writeFileSync(log, (await halyard(target.url, 'audit', 'export', organization)).output)
      expect(await halyard(target.url, 'audit', 'verify', log, '--head', hash)).toMatchObject({ code: 0 })
      expect(readFileSync(log, 'utf8')).toContain(`"restored":{"hash":"${hash}"`)
    }
    const s = await startScenario(to, { databaseUrl: target.url })
    expect((await s.get(`${s.project}/feature_flags/`)).body.count).toBe(8)
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'new-here' })).status).toBe(201)
    await s.close()
    expect(await findFaults(target.url, [])).toEqual([])
    const again = await halyard(target.url, 'import', first)
    expect(again.code).toBe(1)
    expect(again.output).toContain('is not empty')
    await target.drop()
  })

  it('exports one project with everything it refers to and nothing of others', async () => {
    const target = await createTestDatabase(to)
    const [first, second] = [newFile(), newFile()]
    await halyard(source.url, 'export', first, '--project', '1')
    expect(readFileSync(first, 'utf8')).not.toContain('not-in-the-first-project')
    const imported = await halyard(target.url, 'import', first)
    expect(imported.output).toMatch(/Imported \d+ rows/)
    await halyard(target.url, 'export', second, '--project', '1')
    expect(rowsOf(second)).toEqual(rowsOf(first))
    await target.drop()
  })

  it('a truncated file imports nothing', async () => {
    const target = await createTestDatabase(to)
    const file = newFile()
    await halyard(source.url, 'export', file)
    writeFileSync(file, readFileSync(file, 'utf8').split('\n').slice(0, -3).join('\n'))
    const { code, output } = await halyard(target.url, 'import', file)
    expect(code).toBe(1)
    expect(output).toContain('Nothing was imported')
    await target.drop()
  })

  it('moves a store, resumes after an interruption, and compares row by row', async () => {
    const target = await createTestDatabase(to)
    const storages = [openStorage(source.url), openStorage(target.url)] as const
    const progress: string[] = []
    let finished = 0
    /** Fails after this number of steps; undefined when the move completed. */
    const move = async (steps: number) => {
      let taken = 0
      const step = (text: string) => {
        progress.push(text)
        if (++taken === steps) throw new Error('injected crash')
      }
      try {
        return await moveStore(...storages, step, async () => {
          finished += 1
          if (finished === 1) throw new Error('injected crash')
        })
      } catch (error) {
        expect((error as Error).message).toBe('injected crash')
        return undefined
      }
    }
    // Each attempt gets a little further than the previous one.
    let report: Awaited<ReturnType<typeof move>>
    for (let steps = 1; !report; steps += 4) report = await move(steps)
    expect(progress).toContainEqual(expect.stringMatching(/^going on with/))
    expect(finished).toBe(2)
    expect(report.tables).toBe((await tableShapes()).length)
    const left = await storages[1].kysely.selectFrom('instance').select('name').execute()
    expect(left.map(({ name }) => name)).not.toContain('migrate_store_progress')
    for (const storage of storages) await storage.close()
    const s = await startScenario(to, { databaseUrl: target.url })
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'moved' })).status).toBe(201)
    await s.close()
    expect(await findFaults(target.url, [])).toEqual([])
    await target.drop()
  })
})

it.each([
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const)(
  `a move from %s to %s that is killed ${killsCount} times is complete in the end`,
  async (from, to) => {
    const source = await grownDatabase(from)
    const target = await createTestDatabase(to, 'empty')
    await addPersons(source.url)
    const sourceUrl = from === 'sqlite' ? await copyOfDatabase(source.url) : source.url
    const random = seededRandom(Number(process.env.HALYARD_FAULT_SEED ?? 5))
    for (let kills = 0; kills < killsCount; kills += 1) {
      const steps = 1 + Math.floor(random() * 10)
      const move = startCommand(['migrate-store', sourceUrl, target.url])
      await Promise.race([expect.poll(() => move.lines.length).toBeGreaterThan(steps), move.ended])
      move.kill()
      await move.ended
    }
    const last = await runCommand(['migrate-store', sourceUrl, target.url])
    // It may have completed before the last kill.
    if (!last.output.includes('is not empty'))
      expect(last.output).toMatch(/Moved \d+ rows in \d+ tables; counts and checksums agree/)
    const [before, after] = [newFile(), newFile()]
    await halyard(sourceUrl, 'export', before)
    await halyard(target.url, 'export', after)
    expect(rowsOf(after)).toEqual(rowsOf(before))
    await source.drop()
    await target.drop()
  },
  300_000,
)

it.each(['sqlite', 'postgres'] as const)('an export from %s does not contain the key of its secrets', async dialect => {
  const s = await startScenario(dialect)
  const config = { name: 'Signed', url: 'https://example.com/hook' }
  expect((await s.post(`${s.project}/webhooks/`, config)).status).toBe(201)
  const stored = await s.halyard.storage.kysely
    .selectFrom('instance')
    .selectAll()
    .where('name', '=', 'secret_key')
    .execute()
  expect(stored).toHaveLength(dialect === 'postgres' ? 1 : 0)
  const file = newFile()
  const exported = await halyard(s.databaseUrl, 'export', file)
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('"table":"webhooks"')
  expect(text).not.toContain('secret_key"')
  for (const { value } of stored) expect(text).not.toContain(value)
  expect(exported.output.includes('The secret key stays in the database')).toBe(dialect === 'postgres')
  await s.close()
})

it.each([
  ['sqlite', 'postgres', 'is in use. Stop Halyard first.'],
  ['postgres', 'sqlite', 'Halyard still uses this database. Stop all of its nodes first.'],
] as const)('a store on %s that is in use by a server is not moved to %s', async (from, to, refusal) => {
  const target = await createTestDatabase(to, 'empty')
  const s = await startScenario(from)
  const move = await runCommand(['migrate-store', s.databaseUrl, target.url])
  expect(move.output).toContain(refusal)
  expect(move.code).not.toBe(0)
  await s.post(`${s.project}/feature_flags/`, { key: 'acknowledged' })
  expect((await s.get(`${s.project}/feature_flags/`)).body.count).toBe(1)
  await s.close()
  await target.drop()
})

it('moves every table of the schema', async () => {
  const database = await createTestDatabase('postgres')
  const storage = openStorage(database.url)
  const tables = (await storage.kysely.introspection.getTables()).map(table => table.name)
  // Plans of imports expire within a day and are made again from the file.
  const left = ['schema_migrations', 'import_plans', 'import_plan_items']
  expect([...(await tableShapes()).map(shape => shape.name), ...left].sort()).toEqual(tables.sort())
  await storage.close()
  await database.drop()
})

it('restores a backup over a damaged file, but never over one that is in use', async () => {
  const path = join(folder, 'halyard.db')
  const url = `sqlite:${path}`
  const s = await startScenario('sqlite', { databaseUrl: url })
  await s.post(`${s.project}/feature_flags/`, { key: 'precious' })
  const backup = newFile()
  expect((await halyard(url, 'backup', backup)).output).toContain('its integrity was checked')
  expect((await halyard(url, 'restore', backup)).output).toContain('is in use')
  await s.close()
  writeFileSync(path, 'ruined')
  expect((await halyard(url, 'restore', path)).output).toContain('is not a valid backup')
  expect((await halyard(url, 'restore', backup)).output).toContain('Restored')
  const again = await startScenario('sqlite', { databaseUrl: url })
  expect((await again.get(`${again.project}/feature_flags/?search=precious`)).body.count).toBe(1)
  await again.close()
})

it('a failing command prints what to do and leaves no files', async () => {
  const path = join(folder, 'used.db')
  const url = `sqlite:${path}`
  await (await startServer(url)).stop()
  const says = async (sentence: string, ...args: string[]) => failsWith(1, sentence, ...args)
  const failsWith = async (exitCode: number, sentence: string, ...args: string[]) => {
    const { code, output } = await halyard(url, ...args)
    expect([code, output]).toEqual([exitCode, expect.stringContaining(sentence)])
  }
  await failsWith(2, 'names no database: write sqlite:<path> or postgres://', 'migrate-store', path, url)
  await failsWith(2, 'are the same', 'migrate-store', url, `sqlite:${relative(process.cwd(), path)}`)
  const away = 'postgres://halyard:hidden-word@127.0.0.1:1/none'
  await says('127.0.0.1:1/none does not respond: connect ECONNREFUSED', 'migrate-store', url, away)
  expect((await halyard(url, 'migrate-store', url, away)).output).not.toContain('hidden-word')
  const nowhere = join(folder, 'no-such-folder', 'copy')
  await says('There is no folder', 'backup', nowhere)
  await says('There is no folder', 'export', nowhere)
  await says('There is no project 99', 'export', join(folder, 'none'), '--project', '99')
  await says('could not be written', 'backup', '/proc/halyard-backup')
  expect(existsSync(join(folder, 'none'))).toBe(false)
})

it('ends all sign-ins after a restore, and says where to find what was revoked since the backup', async () => {
  const url = `sqlite:${join(folder, 'revoked.db')}`
  const s = await startScenario('sqlite', { databaseUrl: url })
  const invite = (await s.post(`${s.organization}/invites/`, { target_email: 'leaver@example.com' })).body
  const account = { first_name: 'Leaver', password: 'correct horse battery' }
  const session = (await s.as(undefined).post(`/api/signup/${invite.token}/`, account)).body.api_key
  const created = await s.as(session).post('/api/personal_api_keys/', { label: 'of the leaver', scopes: ['*'] })
  const key = created.body.value
  const login = { email: 'leaver@example.com', password: account.password, remember: true }
  const remembered = await s.as(undefined).post('/api/login/', login)
  const cookie = remembered.headers.get('set-cookie')!.split(';')[0]!
  const statuses = async (on: typeof s) => [
    (await on.as(session).get('/api/users/@me/')).status,
    (await on.as(undefined).post('/api/session/resume/', undefined, { cookie })).status,
    (await on.as(key).get(`${on.project}/feature_flags/`)).status,
  ]
  expect(await statuses(s)).toEqual([200, 200, 200])
  const backup = newFile()
  expect((await halyard(url, 'backup', backup)).output).toContain('its integrity was checked')
  const { hash, sequence } = (await s.get(`${s.organization}/audit_log/head/`)).body
  expect((await s.as(session).delete(`/api/personal_api_keys/${created.body.id}/`)).status).toBe(204)
  const everything = newFile()
  expect((await halyard(url, 'export', everything)).code).toBe(0)
  for (const one of [session, remembered.body.api_key])
    expect((await s.as(one).post('/api/logout/')).status).toBeLessThan(300)
  expect(await statuses(s)).toEqual([401, 401, 401])
  const present = newFile()
  expect((await halyard(url, 'backup', present)).output).toContain('its integrity was checked')
  await s.close()

  const restored = `sqlite:${join(folder, 'restored.db')}`
  expect(await halyard(restored, 'restore', present)).toMatchObject({ code: 0 })
  const { output } = await halyard(restored, 'restore', backup)
  expect(output).toMatch(/Signed \d+ people out\. Keys, members and roles .* are valid again\./)
  const [, kept, organization, after] = /(sqlite:\S+) halyard audit export (\S+) --after (\d+)/.exec(output)!
  expect(after).toBe(String(sequence))
  const missing = (await halyard(kept!, 'audit', 'export', organization!, '--after', after!)).output
  expect(missing).toContain('"name":"of the leaver"')
  const again = await startScenario('sqlite', { databaseUrl: restored })
  expect(await statuses(again)).toEqual([401, 401, 200])
  const log = newFile()
  writeFileSync(log, (await again.get(`${again.organization}/audit_log/export/`)).text)
  expect(await halyard(restored, 'audit', 'verify', log, '--head', hash)).toMatchObject({ code: 0 })
  await again.close()

  const imported = `sqlite:${join(folder, 'imported.db')}`
  expect(await halyard(imported, 'import', everything)).toMatchObject({ code: 0 })
  const fresh = await startScenario('sqlite', { databaseUrl: imported })
  expect((await statuses(fresh)).slice(0, 2)).toEqual([401, 401])
  await fresh.close()
}, 120_000)

it('restores what is only in the write-ahead log of a killed server, and no other database', async () => {
  const lost = join(folder, 'lost.db')
  const server = await startServer(`sqlite:${lost}`)
  const created = await fetch(`${server.url}/api/projects/@current/feature_flags/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'written-last' }),
  })
  expect(created.status).toBe(201)
  await server.kill()
  const target = `sqlite:${join(folder, 'found.db')}`
  expect(await halyard(target, 'restore', lost)).toMatchObject({ code: 0 })
  expect((await halyard(target, 'export', '-')).output).toContain('written-last')

  const foreign = newFile()
  const handle = openSqlite(foreign)
  handle.exec('create table schema_migrations (version integer, name text)')
  handle.exec("insert into schema_migrations values (1, 'persons-database')")
  handle.close()
  const { code, output } = await halyard(target, 'restore', foreign)
  expect([code, output]).toEqual([1, expect.stringContaining('it is not a main database of Halyard')])
  expect(readdirSync(folder).filter(name => /^found\.db\./.test(name))).toEqual([])
})

it('a killed restore leaves either the old or the new database', async () => {
  const path = join(folder, 'killed.db')
  const url = `sqlite:${path}`
  await (await startServer(url)).stop()
  const backup = newFile()
  await halyard(url, 'backup', backup)
  const random = seededRandom(Number(process.env.HALYARD_FAULT_SEED ?? 3))
  let isRunning = true
  for (let round = 0; round < 5; round += 1) {
    const restore = startCommand(['restore', backup], { DATABASE_URL: url })
    const end = restore.ended.then(() => {
      isRunning = false
    })
    isRunning = true
    const looks = Math.floor(random() * 400)
    for (let n = 0; n < looks && isRunning; n += 1) {
      expect(existsSync(path)).toBe(true)
      await new Promise(resolve => setImmediate(resolve))
    }
    restore.kill()
    await end
    expect(existsSync(path)).toBe(true)
  }
  expect((await halyard(url, 'doctor')).output).toContain('The database file is intact')
})
