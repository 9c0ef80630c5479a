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
import { readConfig } from '../../config.ts'
import { instantOf } from '../../instant.ts'
import { migrations } from '../../storage/migrations/all-migrations.ts'
import { openStorage, type Storage } from '../../storage/open-storage.ts'
import { openSqlite } from '../../storage/sqlite/sqlite-connection.ts'
import { exportData } from '../../storage/transfer/export-data.ts'
import { moveStore } from '../../storage/transfer/migrate-store.ts'
import { readOptions, required, UsageError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'
import { refuseFileInUse, refuseWhileServed } from './refuse-while-in-use.sql.ts'
import { isDiskFull, makeDurable, writeWhole } from './whole-file.ts'

/** `halyard export <file> [--project N]`: readable lines of JSON. */
export async function exportCommand(args: string[]): Promise<void> {
  const { values, positionals } = readOptions(args, ['project'])
  const file = required(positionals[0], '<file>')
  const projectId = values.project === undefined ? undefined : Number(values.project)
  if (projectId !== undefined && !Number.isSafeInteger(projectId))
    throw new UsageError('--project is the id of a project.')
  await withDatabase(async (database, storage) => {
    if (projectId !== undefined && !(await database.read(tx => tx.projects.find(projectId))))
      throw new UsageError(`There is no project ${projectId}.`)
    let rows = 0
    await writeWhole(file, async part => {
      const output = createWriteStream(part, { mode: 0o600 })
      const failed = once(output, 'error').then(([error]) => Promise.reject(error))
      failed.catch(() => {})
      const write = async (line: string) => {
        if (!output.write(line)) await Promise.race([once(output, 'drain'), failed])
      }
      rows = await exportData(storage, write, projectId)
      output.end()
      await Promise.race([once(output, 'close'), failed])
    })
    console.log(
      `Exported ${rows} rows to ${file}. It holds hashes of keys and passwords: keep it as you keep the database.`,
    )
  })
}

/** `halyard migrate-store <from> <to>`: between databases, resumable and verified. */
export async function migrateStoreCommand(args: string[]): Promise<void> {
  const from = checkedUrl(required(args[0], '<from>'))
  const to = checkedUrl(required(args[1], '<to>'))
  if (placeOf(from) === placeOf(to)) throw new UsageError('The two databases are the same.')
  if (from.startsWith('sqlite:') && !existsSync(placeOf(from))) throw new UsageError(`There is no database ${from}.`)
  if (from.startsWith('sqlite:')) refuseFileInUse(placeOf(from))
  const source = openStorage(from)
  const target = openStorage(to)
  try {
    await reach(source, from)
    await reach(target, to)
    await refuseWhileServed(source)
    await moveStore(
      source,
      target,
      text => console.log(text),
      async ({ tables, rows }) => {
        await moveSecretKey(source, target)
        console.log(`Moved ${rows} rows in ${tables} tables; counts and checksums agree.`)
        console.log('Point DATABASE_URL at the new database and start Halyard.')
      },
    )
  } catch (error) {
    if (!isDiskFull(error)) throw error
    throw new UsageError('The disk of the target is full. Free some space and run the same command: it goes on here.')
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
    throw new UsageError(
      `The database ${shown} does not answer: ${(error as Error).message}. Check its address, its name, the user and the password.`,
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
      .values({ name: 'secret_key', value })
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
      .where('name', '=', 'secret_key')
      .executeTakeFirst()
    if (row) writeFileSync(keyBeside(target.sqlite.path), `${row.value}\n`, { mode: 0o600 })
  }
}

/** `halyard restore <backup>`: puts a checked backup in the place of the SQLite file; what was there is kept beside it. */
export async function restoreCommand(args: string[]): Promise<void> {
  const backup = resolve(required(args[0], '<backup>'))
  const { databaseUrl } = readConfig(process.env)
  if (!databaseUrl.startsWith('sqlite:')) throw new UsageError('This database is PostgreSQL: use pg_restore.')
  const path = resolve(databaseUrl.slice('sqlite:'.length))
  if (!existsSync(backup)) throw new UsageError(`There is no file ${backup}.`)
  const version = checkBackup(backup)
  if (existsSync(path)) refuseFileInUse(path)
  const next = `${path}.restoring`
  try {
    copyFileSync(backup, next)
    if (existsSync(path)) giveLikeness(path, next)
    makeDurable(next)
  } catch (error) {
    rmSync(next, { force: true })
    throw new UsageError(`${path} could not be restored: ${(error as Error).message}. Nothing was changed.`)
  }
  const kept = `${path}.before-restore-${instantOf(new Date())
    .replace(/[^0-9]/g, '')
    .slice(0, 14)}`
  putInPlace(next, path, kept)
  console.log(`Restored ${backup} (schema version ${version}) to ${path}.`)
  if (existsSync(kept)) console.log(`What was there before is kept as ${kept}.`)
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

/** Whoever could use the old file can use the new one; only root can give files away. */
function giveLikeness(path: string, next: string): void {
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

function checkBackup(path: string): number {
  try {
    const copy = openSqlite(path, { readOnly: true })
    try {
      const [sound] = copy.prepare('pragma integrity_check').all() as { integrity_check: string }[]
      if (sound?.integrity_check !== 'ok') throw new Error(sound?.integrity_check)
      const [row] = copy.prepare('select max(version) as version from schema_migrations').all() as { version: number }[]
      const known = migrations.at(-1)?.version ?? 0
      if ((row?.version ?? 0) > known)
        throw new Error(`it was made by a newer Halyard (schema ${row?.version}, this one knows ${known})`)
      return row?.version ?? 0
    } finally {
      copy.close()
    }
  } catch (error) {
    throw new UsageError(`${path} is no sound backup: ${(error as Error).message}. Nothing was changed.`)
  }
}
