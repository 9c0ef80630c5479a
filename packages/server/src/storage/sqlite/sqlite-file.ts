import { closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { ExplainedError } from '../../problem.ts'
import { openSqlite, type SqliteHandle } from './sqlite-connection.ts'

/** The database file cannot be used as it is; the message says what to do. */
export class DatabaseFileError extends ExplainedError {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
    this.name = 'DatabaseFileError'
  }
}

/** A larger file is not read through at every start: `halyard doctor` does that. */
const checkedAtStartBytesMax = 256 * 1024 * 1024

/** Which of the two databases a file is: what helps differs. */
export interface SqliteFileRole {
  readonly name: string
  readonly setting: string
  /** What to do about a damaged file, and about an emptied one. */
  readonly damaged: (path: string) => string
  readonly emptied: string
}

export const mainFile: SqliteFileRole = {
  name: 'database',
  setting: 'DATABASE_URL',
  damaged: path =>
    `Put a backup in its place with "halyard restore <backup>", or move the file (and the files ${path}-wal and ${path}-shm) away to start empty.`,
  emptied: 'Restore a backup with "halyard restore <backup>", or delete the empty file to start with a new database.',
}

/** `halyard restore` writes to the main database, and an installation that has persons refuses an empty database for them. */
export const personsFile: SqliteFileRole = {
  name: 'persons database',
  setting: 'PERSONS_DATABASE_URL',
  damaged: path =>
    `Stop every node, move it (and the files ${path}-wal and ${path}-shm) away, and copy a backup of it to its place: see "Backups" in docs/operate/persons-database.md.`,
  emptied:
    'Stop every node and copy a backup of it to its place: see "Backups" in docs/operate/persons-database.md. If it never had persons, delete it.',
}

/** Opens the file, creating a missing one. Raises DatabaseFileError for one that is damaged, emptied or not writable. */
export function openSqliteFile(path: string, role = mainFile): SqliteHandle {
  if (path === ':memory:') return openSqlite(path)
  let handle: SqliteHandle | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    refuseEmptied(path, role)
    createPrivate(path)
    const isWorthChecking = existsSync(path) && statSync(path).size <= checkedAtStartBytesMax
    handle = openSqlite(path)
    if (isWorthChecking) check(handle)
    return handle
  } catch (error) {
    handle?.close()
    throw explained(resolve(path), error as Error, role)
  }
}

/** An empty file beside an encryption key was a database once, before a failed copy or a full disk emptied it. */
function refuseEmptied(path: string, { name, emptied }: SqliteFileRole): void {
  const keyPath = join(dirname(path), 'halyard.key')
  if (!existsSync(path) || statSync(path).size > 0 || !existsSync(keyPath)) return
  throw new DatabaseFileError(
    `The ${name} file ${resolve(path)} is empty, but its encryption key ${resolve(keyPath)} exists. ${emptied}`,
    undefined,
  )
}

/** Creates the file readable only by its owner. SQLite gives its -wal and -shm files the same mode. */
function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function check(handle: SqliteHandle): void {
  const [row] = handle.prepare('pragma quick_check(1)').all() as { quick_check: string }[]
  if (row?.quick_check !== 'ok') throw new Error(`malformed: ${row?.quick_check}`)
}

function explained(path: string, error: Error, { name, setting, damaged }: SqliteFileRole): Error {
  if (error instanceof DatabaseFileError) return error
  const { message } = error
  if (/malformed|not a database|disk image/.test(message)) {
    return new DatabaseFileError(
      `The ${name} file ${path} is damaged or no SQLite file (${message}). Nothing was changed. ${damaged(path)}`,
      error,
    )
  }
  if (/readonly|read-only|EROFS/i.test(message)) {
    return new DatabaseFileError(
      `The ${name} file ${path} cannot be written (${message}). Make the file and its folder writable for this user, or set ${setting} to another path.`,
      error,
    )
  }
  if (/unable to open|EACCES|ENOENT|ENOTDIR|EEXIST|EPERM/.test(message)) {
    return new DatabaseFileError(
      `The ${name} file ${path} cannot be opened (${message}). Check that its folder exists and belongs to this user, or set ${setting} to another path.`,
      error,
    )
  }
  if (/full|ENOSPC/.test(message)) {
    return new DatabaseFileError(
      `The disk is too full for the ${name} file ${path} (${message}). Free some space and start again.`,
      error,
    )
  }
  return error
}
