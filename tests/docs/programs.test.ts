import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
import { launch } from '../web/launch-browser.ts'
import { fencesOf } from './run-shell-blocks.ts'

/** The programs of the quick starts run as they are, evaluate the flag `new-checkout`, end, and print no warning. */

const folder = join(root, 'docs/quick-start')
const programs = readdirSync(folder).flatMap(page =>
  fencesOf(readFileSync(join(folder, page), 'utf8')).flatMap(({ directive, text, line }) =>
    directive?.name === 'run' ? [{ title: `${page}:${line}`, page, kind: directive.value, source: text }] : [],
  ),
)
const nodePrograms = programs.filter(({ kind }) => kind === 'node')
const pythonPrograms = programs.filter(({ kind }) => kind === 'python')
const browserPrograms = programs.filter(({ kind }) => !['node', 'python'].includes(kind))

/** npm does not install this package: these programs run where an interpreter that has it is named, as in the workflows. */
const python = process.env.HALYARD_TEST_PYTHON ?? ''

let server: ServerProcess
let token: string
let secretKey: string
let browser: Browser
let site: Server
let files: Record<string, { readonly type: string; readonly text: string }> = {}

beforeAll(async () => {
  ;[server, browser] = await Promise.all([startServer('sqlite::memory:'), launch()])
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
  const call = async (path: string, body?: unknown) => {
    const options = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    return (await fetch(server.url + path, { headers, ...options })).json()
  }
  const { results } = (await call('/api/projects/')) as { results: [{ id: number; api_token: string }] }
  token = results[0].api_token
  await call(`/api/projects/${results[0].id}/feature_flags/`, { key: 'new-checkout' })
  const key = (await call(`/api/projects/${results[0].id}/secret_keys/`, { label: 'docs' })) as { value: string }
  secretKey = key.value
  site = createServer((request, response) => {
    const file = files[request.url ?? '']
    response.writeHead(file ? 200 : 404, { 'content-type': file?.type ?? 'text/plain' }).end(file?.text)
  })
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await browser.close()
  site.close()
  site.closeAllConnections()
  await server.stop()
})

describe('programs in the quick starts', () => {
  it('are found', () => {
    const pages = (kind: string) => programs.filter(program => program.kind === kind).map(({ page }) => page)
    expect(pages('node')).toEqual(['in-process.md', 'in-process.md', 'node.md', 'node.md', 'openfeature.md'])
    expect(pages('browser')).toEqual(['browser.md', 'in-process.md', 'openfeature.md'])
    expect([pages('html'), pages('react')]).toEqual([['browser.md'], ['openfeature.md', 'react.md']])
    expect(pages('python')).toEqual(['python.md'])
  })

  it.each(nodePrograms)('$title evaluates a flag in Node, ends, and prints no warning', async ({ source }) => {
    // Inside the checkout, so that the packages are found.
    const path = join(root, `node_modules/.halyard-doc-program-${process.pid}.mjs`)
    writeFileSync(path, await withOwnPackages(source))
    try {
      expect(await run(process.execPath, [path])).toEqual(success)
    } finally {
      rmSync(path, { force: true })
    }
  })

  it.runIf(python !== '').each(pythonPrograms)('$title evaluates a flag in Python and ends', async ({ source }) => {
    expect(await run(python, ['-W', 'error', '-c', source])).toEqual(success)
  })

  it.each(browserPrograms)('$title evaluates a flag in a browser and prints no warning', async ({ kind, source }) => {
    const program = source.replaceAll('phc_…', token).replaceAll('https://flags.example.com', server.url)
    files = kind === 'html' ? { '/': html(program) } : await bundledSite(program)
    const page = await (await browser.newContext()).newPage()
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => {
      const isIcon = message.location().url.endsWith('/favicon.ico')
      if (['error', 'warning'].includes(message.type()) && !isIcon) complaints.push(message.text())
    })
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
    await page.getByText('new checkout').waitFor()
    expect(complaints).toEqual([])
    await page.context().close()
  })
})

const success = { status: 0, output: 'new checkout', errors: '' }

async function run(command: string, args: readonly string[]): Promise<typeof success> {
  const child = spawn(command, args, {
    env: { ...process.env, HALYARD_URL: server.url, HALYARD_PROJECT_TOKEN: token, HALYARD_SECRET_KEY: secretKey },
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', text => (output += text))
  child.stderr.on('data', text => (errors += text))
  const status = await new Promise<number>(resolve => child.on('close', resolve))
  return { status, output: output.trim(), errors }
}

/** Halyard's packages are built for a release only; here their sources take their place. */
async function withOwnPackages(source: string): Promise<string> {
  if (!source.includes('@halyard/')) return source
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    conditions: ['halyard-source'],
    external: ['@openfeature/*'],
  })
  return outputFiles[0]!.text
}

const html = (text: string) => ({ type: 'text/html; charset=utf-8', text })
const script = (text: string) => ({ type: 'text/javascript; charset=utf-8', text })

async function bundledSite(program: string) {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: root, loader: 'jsx' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['halyard-source'],
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const page = '<!doctype html><title>Shop</title><div id="root"></div><script type="module" src="/app.js"></script>'
  return { '/': html(page), '/app.js': script(outputFiles[0]!.text) }
}
