import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrations } from '../packages/server/src/storage/migrations/all-migrations.ts'
import { ownerKey, type ServerProcess, startServer } from '../tests/faults/server-process.ts'
import { mixedDefinitions } from './mix.ts'
import { addPersons, populate } from './populate.ts'

/** A built Halyard in a process of its own. */
export interface Installation extends ServerProcess {
  readonly port: number
  readonly projectId: number
  readonly token: string
  readonly databaseUrl: string
  /** Asks as the owner; anything but a success is an error. */
  ask(method: string, path: string, body?: unknown): Promise<unknown>
}

export const ownerHeaders = { authorization: `Bearer ${ownerKey}` }

/** Installations with the mixed flags. Making one is slow, so each number of flags is made once and then copied. */
export interface Installations {
  start(flagCount: number): Promise<Installation>
  /** A copy of the database with so many flags, and where to find it. */
  copy(flagCount: number): Promise<Copy>
  /** A copy of a database with 10 flags and so many persons, which is kept from run to run. */
  copyWithPersons(personCount: number): Promise<Copy>
  open(databaseUrl: string, environment?: Readonly<Record<string, string>>): Promise<Installation>
  /** Ends what a failed row has left running, and removes every file. */
  close(): Promise<void>
}

interface Copy {
  readonly databaseUrl: string
  readonly token: string
  readonly projectId: number
}

interface Made {
  readonly path: string
  readonly token: string
  readonly projectId: number
}

const cache = fileURLToPath(new URL('.', import.meta.url))

export function createInstallations(say: (line: string) => void): Installations {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-'))
  const made = new Map<number, Promise<Made>>()
  const running: Installation[] = []
  let copies = 0

  async function make(flagCount: number): Promise<Made> {
    const path = join(folder, `flags-${flagCount}.db`)
    if (flagCount >= 1000) say(`  Making ${flagCount} flags …`)
    const server = await openInstallation(`sqlite:${path}`)
    await createFlags(server, flagCount)
    await server.stop()
    return { path, token: server.token, projectId: server.projectId }
  }

  function copyOf({ path, token, projectId }: Made): Copy {
    const own = join(mkdtempSync(join(folder, 'copy-')), `${++copies}.db`)
    for (const part of ['', '-wal']) if (existsSync(path + part)) copyFileSync(path + part, own + part)
    return { databaseUrl: `sqlite:${own}`, token, projectId }
  }

  async function copy(flagCount: number): Promise<Copy> {
    const known = made.get(flagCount) ?? make(flagCount)
    made.set(flagCount, known)
    return copyOf(await known)
  }

  async function open(databaseUrl: string, environment?: Readonly<Record<string, string>>): Promise<Installation> {
    const server = await openInstallation(databaseUrl, environment)
    running.push(server)
    return server
  }

  return {
    copy,
    open,
    async start(flagCount) {
      return open((await copy(flagCount)).databaseUrl)
    },
    async copyWithPersons(personCount) {
      // Another schema is another file.
      const path = join(cache, `persons-${personCount}-${migrations.length}.db`)
      if (!existsSync(path)) {
        say(`  Making ${personCount.toLocaleString('en')} persons (once) …`)
        const { databaseUrl, projectId } = await copy(10)
        populate(databaseUrl, handle => addPersons(handle, projectId, personCount))
        copyFileSync(databaseUrl.slice('sqlite:'.length), `${path}.new`)
        renameSync(`${path}.new`, path)
      }
      const { databaseUrl } = copyOf({ path, token: '', projectId: 0 })
      const { token, projectId, stop } = await openInstallation(databaseUrl)
      await stop()
      return { databaseUrl, token, projectId }
    },
    async close() {
      for (const server of running) await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts the product as it comes, counters and authentication on; only the log is quiet. */
async function openInstallation(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Installation> {
  const server = await startServer(databaseUrl, { HALYARD_SCHEDULER_SECONDS: '5', ...environment })
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(server.url + path, {
      method,
      headers: { ...ownerHeaders, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const { results } = (await ask('GET', '/api/projects/')) as { results: { id: number; api_token: string }[] }
  const { id, api_token } = results[0]!
  return { ...server, port: Number(new URL(server.url).port), projectId: id, token: api_token, databaseUrl, ask }
}

/** Through the front door, cohorts first: flags name them by the ids that they were given. */
export async function createFlags({ ask, projectId }: Installation, flagCount: number): Promise<void> {
  const { flags, cohorts = [] } = mixedDefinitions(flagCount)
  const ids = new Map<unknown, number>()
  for (const { id, filters } of cohorts) {
    const made = await ask('POST', `/api/projects/${projectId}/cohorts/`, { name: `Cohort ${id}`, filters })
    ids.set(id, (made as { id: number }).id)
  }
  const filtersOf = (filters: unknown) =>
    JSON.parse(JSON.stringify(filters), (_, value) =>
      value?.type === 'cohort' ? { ...value, value: ids.get(value.value) } : value,
    )
  for (const { key, filters } of flags) {
    await ask('POST', `/api/projects/${projectId}/feature_flags/`, { key, name: key, filters: filtersOf(filters) })
  }
}
