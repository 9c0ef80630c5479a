import { once } from 'node:events'
import { copyFileSync, createWriteStream, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readConfig } from '../config.ts'
import { instantOf } from '../instant.ts'
import { migrations } from '../storage/migrations.ts'
import { openStorage, type Storage } from '../storage/open-storage.ts'
import { openSqlite } from '../storage/sqlite-connection.ts'
import { exportData } from '../storage/transfer/export-data.ts'
import { moveStore } from '../storage/transfer/migrate-store.ts'
import { readOptions, required, UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

/** `halyard export <file> [--project N]`: readable lines of JSON. */
export async function exportCommand(args: string[]): Promise<void> {
  const { values, positionals } = readOptions(args, ['project'])
  const file = required(positionals[0], '<file>')
  if (existsSync(file)) throw new UsageError(`${file} exists already; name a new file.`)
  const projectId = values.project === undefined ? undefined : Number(values.project)
  if (projectId !== undefined && !Number.isSafeInteger(projectId))
    throw new UsageError('--project is the id of a project.')
  await withDatabase(async (_database, storage) => {
    const output = createWriteStream(`${file}.part`, { mode: 0o600 })
    const rows = await exportData(
      storage,
      async line => {
        if (!output.write(line)) await once(output, 'drain')
      },
      projectId,
    )
    output.end()
    await once(output, 'close')
    renameSync(`${file}.part`, file)
    console.log(
      `Exported ${rows} rows to ${file}. It holds hashes of keys and passwords: keep it as you keep the database.`,
    )
  })
}

/** `halyard migrate-store <from> <to>`: between databases, resumable and verified. */
export async function migrateStoreCommand(args: string[]): Promise<void> {
  const from = required(args[0], '<from>')
  const to = required(args[1], '<to>')
  if (from === to) throw new UsageError('The two databases are the same.')
  if (from.startsWith('sqlite:') && !existsSync(from.slice('sqlite:'.length)))
    throw new UsageError(`There is no database ${from}.`)
  const source = openStorage(from)
  const target = openStorage(to)
  try {
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
  } finally {
    await source.close()
    await target.close()
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
  if (existsSync(path)) refuseWhileInUse(path)
  const next = `${path}.restoring`
  copyFileSync(backup, next)
  const kept = `${path}.before-restore-${instantOf(new Date())
    .replace(/[^0-9]/g, '')
    .slice(0, 14)}`
  for (const suffix of ['', '-wal', '-shm']) if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix)
  renameSync(next, path)
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  console.log(`Restored ${backup} (schema version ${version}) to ${path}.`)
  if (existsSync(kept)) console.log(`What was there before is kept as ${kept}.`)
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

/** A server has the file open: it would go on writing to a file that is no longer there. */
function refuseWhileInUse(path: string): void {
  let isInUse = false
  try {
    const handle = openSqlite(path)
    try {
      handle.exec('pragma busy_timeout = 200; pragma locking_mode = exclusive; begin immediate; rollback')
    } catch (error) {
      isInUse = /locked/.test((error as Error).message)
    } finally {
      handle.close()
    }
  } catch {
    // A damaged file is what a restore is for.
  }
  if (isInUse) throw new UsageError(`${path} is in use. Stop Halyard first.`)
}
