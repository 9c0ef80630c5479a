import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allRoutes } from '@halyard/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
import { startRegistry } from './package-registry.ts'
import { isAsDocumented, runBlocks, shellBlocks, writeFiles } from './run-shell-blocks.ts'

/**
 * Every shell block of the documentation is executed, page by page, each page in a new project of one server, and its output is
 * compared with the documented one. Blocks that cannot be executed give a reason; `not-run.txt` lists them all.
 */
const pages = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'README.md', 'docs'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter(name => name.endsWith('.md'))
  .map(name => ({ name, text: readFileSync(join(root, name), 'utf8') }))
  .map(page => ({ ...page, blocks: shellBlocks(page.text) }))
const executed = pages.filter(({ blocks }) => blocks.some(({ notRun }) => notRun === undefined))

interface Project {
  readonly id: number
  readonly api_token: string
}

let server: ServerProcess
let registry: Awaited<ReturnType<typeof startRegistry>>
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halyard-docs-'))
  server = await startServer(`sqlite:${join(folder, 'data/halyard.db')}`, {
    HALYARD_PLUGIN_DIR: join(root, 'examples/plugins'),
    HALYARD_SCHEDULER_SECONDS: '1',
  })
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

async function api<T>(path: string, body?: unknown): Promise<T> {
  const response = await fetch(server.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** What a reader of a page has already: for the migration, a project with flags at another service. */
const preparations: Record<string, (project: Project) => Promise<Record<string, string>>> = {
  'docs/compatibility/migrate-from-posthog.md': async () => {
    const source = await api<Project>('/api/projects/', { name: 'Another service' })
    const create = (key: string, filters: unknown) =>
      api<{ id: number }>(`/api/projects/${source.id}/feature_flags/`, { key, filters })
    const cohort = await api<{ id: number }>(`/api/projects/${source.id}/cohorts/`, {
      name: 'Pro users',
      filters: { properties: { type: 'AND', values: [{ key: 'plan', type: 'person', value: ['pro'] }] } },
    })
    const pro = { type: 'cohort', key: 'id', operator: 'in', value: cohort.id }
    const parent = await create('parent', { groups: [{ properties: [pro], rollout_percentage: 50 }] })
    const isOn = { type: 'flag', key: String(parent.id), operator: 'flag_evaluates_to', value: true }
    await create('child', { groups: [{ properties: [isOn] }] })
    await create('plain', { groups: [{ rollout_percentage: 100 }] })
    return { SOURCE_URL: server.url, SOURCE_KEY: ownerKey, SOURCE_PROJECT_ID: String(source.id) }
  },
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

  it.each(executed)('$name works when pasted', async ({ name, text, blocks }) => {
    const project = await api<Project>('/api/projects/', { name })
    const place = mkdtempSync(join(folder, 'reader-'))
    cpSync(join(root, 'examples'), join(place, 'examples'), { recursive: true })
    writeFiles(text, place)
    const runnable = blocks.filter(({ notRun }) => notRun === undefined)
    const outputs = await runBlocks(runnable, place, {
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      DATABASE_URL: `sqlite:${join(folder, 'data/halyard.db')}`,
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
      ...(await preparations[name]?.(project)),
    })
    if (name === 'docs/guide/api-tutorial.md') expectEveryOperation(server.lines)
    for (const [index, { line, expected }] of runnable.entries()) {
      if (!expected) continue
      const actual = outputs[index]!.trim()
      const prints = `${name}:${line} prints\n${actual}\ninstead of\n${expected.text}`
      expect(isAsDocumented(expected, actual), prints).toBe(true)
    }
  })
})

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
