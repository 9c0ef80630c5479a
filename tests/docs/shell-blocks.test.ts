import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
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
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halyard-docs-'))
  server = await startServer(`sqlite:${join(folder, 'data/halyard.db')}`, {
    HALYARD_PLUGIN_DIR: join(root, 'examples/plugins'),
  })
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

describe('shell blocks of the documentation', () => {
  it('are executed, or give a reason', async () => {
    const list = pages.flatMap(({ name, blocks }) =>
      blocks.flatMap(({ notRun, script }) => (notRun ? [`${name}: ${notRun}: ${script.split('\n', 1)[0]}`] : [])),
    )
    await expect(`${list.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'not-run.txt'))
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
      ...(await preparations[name]?.(project)),
    })
    for (const [index, { line, expected }] of runnable.entries()) {
      if (!expected) continue
      const actual = outputs[index]!.trim()
      const prints = `${name}:${line} prints\n${actual}\ninstead of\n${expected.text}`
      expect(isAsDocumented(expected, actual), prints).toBe(true)
    }
  })
})
