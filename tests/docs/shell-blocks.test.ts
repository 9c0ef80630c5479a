import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allRoutes } from '@halyard/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { navigation } from '../../scripts/docs-site/navigation.mjs'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
import { startRegistry } from './package-registry.ts'
import { isAsDocumented, runBlocks, shellBlocks, writeFiles } from './run-shell-blocks.ts'

/**
 * Every shell block of the documentation is executed and its output is compared with the documented one: page after page in the order of
 * the sidebar, as by a reader with one server, and each page alone after Get started. Blocks that cannot be executed give a reason;
 * `not-run.txt` lists them all.
 */
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'README.md', 'docs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(name => name.endsWith('.md'))
  .map(name => ({ name, text: readFileSync(join(root, name), 'utf8') }))
  .map(page => ({ ...page, blocks: shellBlocks(page.text) }))
type Page = (typeof pages)[number]

const isExecuted = ({ blocks }: Page) => blocks.some(({ notRun }) => notRun === undefined)
const executed = pages.filter(isExecuted)
const paths = pages
  .filter(({ name }) => name !== 'README.md')
  .map(({ name }) => name.slice('docs/'.length, -'.md'.length))
/** README comes first, then the sidebar, whose first page is Get started. */
const inReadingOrder = [
  'README.md',
  ...navigation(paths).flatMap(section => section.pages.map(path => `docs/${path}.md`)),
]
  .map(name => pages.find(page => page.name === name)!)
  .filter(isExecuted)
const getStarted = pages.find(({ name }) => name === 'docs/index.md')!

interface Project {
  readonly id: number
  readonly api_token: string
}

const settings = { HALYARD_PLUGIN_DIR: join(root, 'examples/plugins'), HALYARD_SCHEDULER_SECONDS: '1' }
const databaseIn = (name: string): string => `sqlite:${join(folder, name, 'halyard.db')}`

let server: ServerProcess
let registry: Awaited<ReturnType<typeof startRegistry>>
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halyard-docs-'))
  server = await startServer(databaseIn('data'), settings)
  registry = await startRegistry(root)
  // The documented name of the program.
  mkdirSync(join(folder, 'bin'))
  writeFileSync(
    join(folder, 'bin/halyard'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'packages/server/dist/halyard.js')}" "$@"\n`,
  )
  chmodSync(join(folder, 'bin/halyard'), 0o755)
})
afterAll(async () => {
  await server.stop()
  await registry.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function api<T>({ url }: ServerProcess, path: string, body?: unknown): Promise<T> {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Every operation of the flags and plugins API, which the tutorial promises to call. */
const flagsPath = '/api/projects/:project_id/feature_flags'
const accessPath = `${flagsPath}/:parent_lookup_feature_flag_id/role_access`
const organizationPath = '/api/organizations/:parent_lookup_organization_id'
const operations = [
  ...['/:feature_flag_key', '/copy_flags'].map(path => `${organizationPath}/feature_flags${path}`),
  ...['', '/:id', '/:id/activity', '/:id/create_static_cohort_for_flag', '/:id/dashboard'].map(
    path => flagsPath + path,
  ),
  ...['/:id/enrich_usage_dashboard', '/activity', '/evaluation_reasons', '/local_evaluation'].map(
    path => flagsPath + path,
  ),
  ...['/my_flags', '/user_blast_radius'].map(path => flagsPath + path),
  ...['', '/:id'].map(path => accessPath + path),
  ...['', '/:id', '/:id/check_for_updates', '/:id/source', '/:id/update_source', '/:id/upgrade', '/activity'].map(
    path => `${organizationPath}/plugins${path}`,
  ),
  ...['/repository', '/unused'].map(path => `${organizationPath}/plugins${path}`),
].flatMap(path => allRoutes.filter(route => route.path === path).map(({ method }) => `${method} ${path}`))

// A page starts up to a hundred short processes, which takes long on a busy machine.
describe('shell blocks of the documentation', { timeout: 300_000 }, () => {
  it('are executed, or give a reason', async () => {
    const list = pages.flatMap(({ name, blocks }) =>
      blocks.flatMap(({ notRun, script }) => (notRun ? [`${name}: ${notRun}: ${script.split('\n', 1)[0]}`] : [])),
    )
    // Git lists files that are not committed yet first.
    await expect(`${list.sort().join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'not-run.txt'))
  })

  it.each(executed)('$name works when pasted after Get started', async page => {
    const project = await api<Project>(server, '/api/projects/', { name: page.name })
    const reader = { server, database: databaseIn('data'), project, place: newPlace() }
    if (page.name !== 'README.md' && page !== getStarted) await paste(getStarted, reader)
    await paste(page, reader)
    if (page.name === 'docs/guide/api-tutorial.md') expectEveryOperation(server.lines)
  })
})

describe('shell blocks of all pages', { timeout: 900_000 }, () => {
  it('work when pasted one after the other, in the order of the docs, on one server', async () => {
    expect(inReadingOrder.slice(0, 2).map(({ name }) => name)).toEqual(['README.md', 'docs/index.md'])
    expect(new Set(inReadingOrder)).toEqual(new Set(executed))
    const database = databaseIn('one-server')
    const first = await startServer(database, settings)
    const { results } = await api<{ results: [Project] }>(first, '/api/projects/')
    const reader = { server: first, database, project: results[0], place: newPlace() }
    const failures: string[] = []
    for (const page of inReadingOrder) {
      await paste(page, reader).catch((error: Error) => failures.push(error.message))
    }
    await first.stop()
    expect(failures).toEqual([])
  })
})

interface Reader {
  readonly server: ServerProcess
  readonly database: string
  readonly project: Project
  readonly place: string
}

function newPlace(): string {
  const place = mkdtempSync(join(folder, 'reader-'))
  cpSync(join(root, 'examples'), join(place, 'examples'), { recursive: true })
  return place
}

/** Runs all blocks of the page in one shell, and compares what they print with what the page says. */
async function paste({ name, text, blocks }: Page, { server, database, project, place }: Reader): Promise<void> {
  writeFiles(text, place)
  const runnable = blocks.filter(({ notRun }) => notRun === undefined)
  const outputs = await runBlocks(runnable, place, {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    DATABASE_URL: database,
    HALYARD_URL: server.url,
    HALYARD_KEY: ownerKey,
    HALYARD_PROJECT_ID: String(project.id),
    HALYARD_PROJECT_TOKEN: project.api_token,
    NODE_NO_WARNINGS: '1',
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_ignore_scripts: 'true',
    npm_config_update_notifier: 'false',
  }).catch((error: Error) => {
    throw new Error(`${name}: ${error.message}`)
  })
  for (const [index, { line, expected }] of runnable.entries()) {
    if (!expected) continue
    const actual = outputs[index]!.trim()
    const prints = `${name}:${line} prints\n${actual}\ninstead of\n${expected.text}`
    expect(isAsDocumented(expected, actual), prints).toBe(true)
  }
}

/** The access log has a line for each request with its method and route. */
function expectEveryOperation(log: readonly string[]): void {
  const called = new Set(
    log.flatMap(line => {
      const { method, route } = JSON.parse(line) as { method?: string; route?: string }
      return method && route ? [`${method} ${route.replace(/\/$/, '')}`] : []
    }),
  )
  expect(operations).toHaveLength(32)
  expect(operations.filter(operation => !called.has(operation))).toEqual([])
}
