import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownerKey, type ServerProcess, startServer } from '../tests/faults/server-process.ts'
import { mixedDefinitions, personAt } from './mix.ts'

/** A built server in its own process. */
export interface Installation extends ServerProcess {
  readonly port: number
  readonly projectId: number
  readonly token: string
  readonly databaseUrl: string
  /** Sends a request as the owner; throws unless it succeeds. */
  request(method: string, path: string, body?: unknown): Promise<unknown>
}

export const ownerHeaders = { authorization: `Bearer ${ownerKey}` }

/** Installations with the mixed flags. Creating flags is slow, so each database is created once and then copied. */
export interface Installations {
  start(flagCount: number): Promise<Installation>
  /** A copy of the database with this number of flags. */
  copy(flagCount: number): Promise<Copy>
  /** On this Node or, by its program, on another. */
  open(databaseUrl: string, environment?: Readonly<Record<string, string>>, node?: string): Promise<Installation>
  /** Kills servers that a failed row left running and removes all files. */
  close(): Promise<void>
}

interface Copy {
  readonly databaseUrl: string
  readonly token: string
  readonly projectId: number
}

interface Template {
  readonly path: string
  readonly token: string
  readonly projectId: number
}

export function createInstallations(log: (line: string) => void): Installations {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-'))
  const templates = new Map<number, Promise<Template>>()
  const running: Installation[] = []
  let copies = 0

  async function createTemplate(flagCount: number): Promise<Template> {
    const path = join(folder, `flags-${flagCount}.db`)
    if (flagCount >= 1000) log(`  Creating ${flagCount} flags …`)
    const server = await openInstallation(`sqlite:${path}`)
    await createFlags(server, flagCount)
    await server.stop()
    return { path, token: server.token, projectId: server.projectId }
  }

  function copyOf({ path, token, projectId }: Template): Copy {
    const own = join(mkdtempSync(join(folder, 'copy-')), `${++copies}.db`)
    for (const part of ['', '-wal']) if (existsSync(path + part)) copyFileSync(path + part, own + part)
    return { databaseUrl: `sqlite:${own}`, token, projectId }
  }

  async function copy(flagCount: number): Promise<Copy> {
    const template = templates.get(flagCount) ?? createTemplate(flagCount)
    templates.set(flagCount, template)
    return copyOf(await template)
  }

  async function open(
    databaseUrl: string,
    environment?: Readonly<Record<string, string>>,
    node?: string,
  ): Promise<Installation> {
    const server = await openInstallation(databaseUrl, environment, node)
    running.push(server)
    return server
  }

  return {
    copy,
    open,
    async start(flagCount) {
      return open((await copy(flagCount)).databaseUrl)
    },
    async close() {
      for (const server of running) await server.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Starts the server with default settings, including authentication, metrics and the access log. */
async function openInstallation(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
  node?: string,
): Promise<Installation> {
  // Tests switch load shedding by lag off.
  const defaults = { HALYARD_SCHEDULER_SECONDS: '5', HALYARD_LAG_MILLISECONDS_MAX: '1000' }
  const server = await startServer(databaseUrl, { ...defaults, ...environment }, node)
  const request = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const response = await fetch(server.url + path, {
      method,
      headers: { ...ownerHeaders, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${text.slice(0, 300)}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const { results } = (await request('GET', '/api/projects/')) as { results: { id: number; api_token: string }[] }
  const { id, api_token } = results[0]!
  return { ...server, port: Number(new URL(server.url).port), projectId: id, token: api_token, databaseUrl, request }
}

/** Another project of the same server. */
export async function projectOf(
  { request }: Pick<Installation, 'request'>,
  name: string,
): Promise<{ readonly id: number; readonly token: string }> {
  const { id, api_token } = (await request('POST', '/api/projects/', { name })) as { id: number; api_token: string }
  return { id, token: api_token }
}

/** Creates flags over the API, after the cohorts whose ids they refer to. */
export async function createFlags({ request, projectId }: Installation, flagCount: number): Promise<void> {
  const { flags, cohorts = [] } = mixedDefinitions(flagCount)
  const ids = new Map<unknown, number>()
  for (const { id, filters } of cohorts) {
    const created = await request('POST', `/api/projects/${projectId}/cohorts/`, { name: `Cohort ${id}`, filters })
    ids.set(id, (created as { id: number }).id)
  }
  const filtersOf = (filters: unknown) =>
    JSON.parse(JSON.stringify(filters), (_, value) =>
      value?.type === 'cohort' ? { ...value, value: ids.get(value.value) } : value,
    )
  for (const { key, filters } of flags) {
    await request('POST', `/api/projects/${projectId}/feature_flags/`, { key, name: key, filters: filtersOf(filters) })
  }
}

const eventsPerBatch = 500

/** Sends an event of each person with all properties, as an SDK that identifies its users does. */
export async function storePersons({ request, token }: Installation, count: number): Promise<void> {
  for (let from = 0; from < count; from += eventsPerBatch) {
    const batch = Array.from({ length: Math.min(eventsPerBatch, count - from) }, (_, offset) => {
      const { distinctId, personProperties } = personAt(from + offset)
      return { event: '$identify', distinct_id: distinctId, properties: { $set: personProperties } }
    })
    await request('POST', '/batch/', { api_key: token, batch })
  }
}
