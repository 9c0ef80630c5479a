import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  createWriteStream,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { readConfig } from '../../config.ts'
import { beginSegment } from '../../features/audit/begin-segment.ts'
import { instantOf } from '../../instant.ts'
import { isBound } from '../../storage/bind-persons.ts'
import { secretKeyName } from '../../storage/instance-store.sql.ts'
import { migrations } from '../../storage/migrations/all-migrations.ts'
import { openStorage, type Storage } from '../../storage/open-storage.ts'
import { createSqlDatabase } from '../../storage/sql-database.ts'
import { openSqlite } from '../../storage/sqlite/sqlite-connection.ts'
import { exportData } from '../../storage/transfer/export-data.ts'
import { moveStore } from '../../storage/transfer/migrate-store.ts'
import { sqlStores } from '../../stores.ts'
import { printJson, progress } from '../output.ts'
import { CommandError, UsageError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'
import { refuseFileInUse, refuseWhileServed } from './refuse-while-in-use.sql.ts'
import { isDiskFull, makeDurable, writeWhole } from './whole-file.ts'

/** `halyard export <file> [--project N]`: JSON lines; `-` is standard output. */
export async function exportCommand(
  file: string,
  options: { readonly project?: number; readonly json?: boolean },
): Promise<void> {
  const { project: projectId } = options
  await withDatabase(async (database, storage) => {
    if (projectId !== undefined && !(await database.read(tx => tx.projects.find(projectId))))
      throw new CommandError(`There is no project ${projectId}.`)
    await refuseSeparatePersons(storage)
    if (projectId === undefined && storage.pool && readConfig(process.env).secretKey === undefined)
      progress('The secret key stays in the database: see "The secret key" in docs/operate/data.md before you import.')
    const exportTo = (stream: Writable) => writeLines(stream, write => exportData(storage, write, projectId))
    if (file === '-') {
      const rows = await exportTo(process.stdout)
      return progress(`Exported ${rows} rows.`)
    }
    progress(`Exporting to ${file} …`)
    let rows = 0
    await writeWhole(file, async part => {
      const output = createWriteStream(part, { mode: 0o600 })
      rows = await exportTo(output)
      output.end()
      await once(output, 'close')
    })
    if (options.json) return printJson({ file, rows })
    console.log(
      `Exported ${rows} rows to ${file}. It contains hashes of keys and passwords: protect it like the database.`,
    )
  })
}

/** An export without its persons would look like a whole one. */
export async function refuseSeparatePersons({ kysely }: Pick<Storage, 'kysely'>): Promise<void> {
  if (readConfig(process.env).personsDatabaseUrl === undefined && !(await isBound(kysely))) return
  throw new CommandError(
    'The persons of this installation are in a database of their own, which exports and imports leave out. Back up both databases instead: see docs/operate/persons-database.md.',
  )
}

/** Honors backpressure. Rejects when the stream fails. */
async function writeLines(
  output: Writable,
  work: (write: (line: string) => Promise<void>) => Promise<number>,
): Promise<number> {
  const failed = once(output, 'error').then(([error]) => Promise.reject(error))
  failed.catch(() => {})
  const write = async (line: string) => {
    if (!output.write(line)) await Promise.race([once(output, 'drain'), failed])
  }
  return Promise.race([work(write), failed])
}

/** `halyard migrate-store <from> <to>`: between databases, resumable and verified. */
export async function migrateStoreCommand(fromUrl: string, toUrl: string): Promise<void> {
  const from = checkedUrl(fromUrl)
  const to = checkedUrl(toUrl)
  if (placeOf(from) === placeOf(to)) throw new UsageError('The two databases are the same.')
  if (from.startsWith('sqlite:') && !existsSync(placeOf(from))) throw new CommandError(`There is no database ${from}.`)
  if (from.startsWith('sqlite:')) refuseFileInUse(placeOf(from))
  const source = openStorage(from)
  const target = openStorage(to)
  try {
    await reach(source, from)
    await reach(target, to)
    await refuseWhileServed(source)
    await moveStore(source, target, progress, async ({ tables, rows }) => {
      await moveSecretKey(source, target)
      console.log(`Moved ${rows} rows in ${tables} tables; counts and checksums agree.`)
      console.log('Point DATABASE_URL at the new database and start Halyard.')
    })
  } catch (error) {
    if (!isDiskFull(error)) throw error
    throw new CommandError('The disk of the target is full. Free some space and run the same command: it goes on here.')
  } finally {
    await source.close()
    await target.close()
  }
}

function checkedUrl(url: string): string {
  if (/^(sqlite:.|postgres(ql)?:\/\/)/.test(url)) return url
  throw new UsageError(`"${url}" names no database: write sqlite:<path> or postgres://user:password@host:port/name.`)
}

const placeOf = (url: string): string => (url.startsWith('sqlite:') ? resolve(url.slice('sqlite:'.length)) : url)

async function reach(storage: Storage, url: string): Promise<void> {
  try {
    await storage.ping()
  } catch (error) {
    const shown = url.replace(/:[^:@/]*@/, ':…@')
    throw new CommandError(
      `The database ${shown} does not respond: ${(error as Error).message}. Check its host, name, user and password.`,
    )
  }
}

/** Secrets of plugins are encrypted with a key that lies beside a SQLite file but inside PostgreSQL. */
async function moveSecretKey(source: Storage, target: Storage): Promise<void> {
  const keyBeside = (path: string) => join(dirname(path), 'halyard.key')
  if (source.sqlite && target.pool && existsSync(keyBeside(source.sqlite.path))) {
    const value = readFileSync(keyBeside(source.sqlite.path), 'utf8').trim()
    await target.kysely
      .insertInto('instance')
      .values({ name: secretKeyName, value })
      .onConflict(c => c.doNothing())
      .execute()
  }
  if (source.sqlite && target.sqlite) {
    const [old, next] = [keyBeside(source.sqlite.path), keyBeside(target.sqlite.path)]
    if (existsSync(old) && !existsSync(next)) copyFileSync(old, next)
  }
  if (source.pool && target.sqlite && !existsSync(keyBeside(target.sqlite.path))) {
    const row = await source.kysely
      .selectFrom('instance')
      .select('value')
      .where('name', '=', secretKeyName)
      .executeTakeFirst()
    if (row) writeFileSync(keyBeside(target.sqlite.path), `${row.value}\n`, { mode: 0o600 })
  }
}

/** `halyard restore <backup>`: replaces the SQLite file by a verified backup; the previous file stays beside it. */
export async function restoreCommand(file: string): Promise<void> {
  const backup = resolve(file)
  const { databaseUrl } = readConfig(process.env)
  if (!databaseUrl.startsWith('sqlite:')) throw new UsageError('This database is PostgreSQL. Use pg_restore.')
  const path = resolve(databaseUrl.slice('sqlite:'.length))
  if (!existsSync(backup)) throw new CommandError(`There is no file ${backup}.`)
  const version = checkBackup(backup)
  if (existsSync(path)) refuseFileInUse(path)
  const next = `${path}.restoring`
  let people = 0
  try {
    removeDatabase(next)
    people = copyBackup(backup, next)
    giveLikeness(path, next)
    makeDurable(next)
    // The copy takes its time.
    if (existsSync(path)) refuseFileInUse(path)
  } catch (error) {
    removeDatabase(next)
    if (error instanceof CommandError) throw error
    throw new CommandError(`${path} could not be restored: ${(error as Error).message}. Nothing was changed.`)
  }
  const kept = `${path}.before-restore-${instantOf(new Date())
    .replace(/[^0-9]/g, '')
    .slice(0, 14)}`
  putInPlace(next, path, kept)
  console.log(`Restored ${backup} (schema version ${version}) to ${path}.`)
  if (existsSync(kept)) console.log(`The previous database is ${kept}.`)
  console.log(
    `Signed ${people} people out. Keys, members and roles that were removed after the backup are valid again.`,
  )
  // An older schema is migrated by the next start.
  if (version !== migrations.at(-1)?.version) return console.log('Start Halyard, and then run: halyard audit restored')
  await continueLogs(path, existsSync(kept) ? kept : undefined)
}

/** What was appended after the backup is not in the audit log any more, which it says. What was revoked since is valid again. */
async function continueLogs(path: string, kept: string | undefined): Promise<void> {
  const storage = openStorage(`sqlite:${path}`)
  try {
    const main = createSqlDatabase(storage, sqlStores, async () => {})
    const heads = await main.transaction(tx => beginSegment(tx, instantOf(new Date())))
    if (kept === undefined) return
    console.log('What was changed after it is in the audit log of the previous database:')
    for (const { organizationId, sequence } of heads)
      console.log(`  DATABASE_URL=sqlite:${kept} halyard audit export ${organizationId} --after ${sequence}`)
  } finally {
    await storage.close()
  }
}

/**
 * Copies also what is only in the write-ahead log beside the backup, as after a kill. Sign-ins end in the copy, before it is in its place: they
 * may have ended after the backup. Returns how many people were signed in.
 */
function copyBackup(backup: string, next: string): number {
  const source = openSqlite(backup, { readOnly: true })
  let people = 0
  let ended: readonly string[] = []
  try {
    source.exec(`vacuum into '${next.replaceAll("'", "''")}'`)
    const tables = source.prepare('select name from sqlite_master').all() as { name: string }[]
    const isThere = (rows: string) => tables.some(({ name }) => name === rows.split(' ')[0])
    const signIns = ['api_keys where is_session = 1', 'sign_ins'].filter(isThere)
    const userIds = signIns.map(rows => `select user_id from ${rows}`).join(' union ')
    const [row] = source.prepare(`select count(*) as people from (${userIds})`).all() as { people: number }[]
    people = row?.people ?? 0
    ended = [...signIns, ...['account_tokens'].filter(isThere)]
  } finally {
    source.close()
  }
  const copy = openSqlite(next)
  try {
    // Prepared statements would hold the file open, which has to get another name.
    copy.exec(`begin; ${ended.map(rows => `delete from ${rows}; `).join('')} commit; pragma journal_mode = delete`)
  } finally {
    copy.close()
  }
  return people
}

/** Another database's log beside a new file would be read as a part of it. */
function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true })
}

/**
 * At every moment there is a database in the place, the old one or the new one: without one, the next start would make an empty one. The log of the old one,
 * which is only still there when it is damaged, must never meet the new one.
 */
function putInPlace(next: string, path: string, kept: string): void {
  if (existsSync(path)) linkOrCopy(path, kept)
  for (const suffix of ['-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix)
  renameSync(next, path)
  makeDurable(dirname(path))
}

/** Copies mode and owner of the old file; only root can change the owner. Without one, only the owner can read it. */
function giveLikeness(path: string, next: string): void {
  if (!existsSync(path)) {
    chmodSync(next, 0o600)
    return
  }
  const { mode, uid, gid } = statSync(path)
  chmodSync(next, mode)
  if (process.getuid?.() === 0) chownSync(next, uid, gid)
}

/** Not every file system lets a file have two names. */
function linkOrCopy(path: string, kept: string): void {
  try {
    linkSync(path, kept)
  } catch {
    copyFileSync(path, kept)
    makeDurable(kept)
  }
}

type AppliedStep = { readonly version: number; readonly name: string }

function checkBackup(path: string): number {
  try {
    const copy = openSqlite(path, { readOnly: true })
    try {
      const [sound] = copy.prepare('pragma integrity_check').all() as { integrity_check: string }[]
      if (sound?.integrity_check !== 'ok') throw new Error(sound?.integrity_check)
      const steps = copy.prepare('select version, name from schema_migrations order by version').all() as AppliedStep[]
      // Other programs have such a table as well, and a database of persons has the first step of its own.
      if (steps[0]?.name !== migrations[0]?.name) throw new Error('it is not a main database of Halyard')
      const newestVersion = migrations.at(-1)?.version ?? 0
      const version = steps.at(-1)?.version ?? 0
      if (version > newestVersion)
        throw new Error(`it was made by a newer Halyard (schema ${version}, this one knows ${newestVersion})`)
      return version
    } finally {
      copy.close()
    }
  } catch (error) {
    throw new CommandError(`${path} is not a valid backup: ${(error as Error).message}. Nothing was changed.`)
  }
}
