import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { copyModules } from '../../scripts/npm-packages/build-package.mjs'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
import { launch } from '../web/launch-browser.ts'
import { fencesOf } from './run-shell-blocks.ts'

/** The application of the Next.js quick start: installed, built, started and opened in a browser. */

const example = join(root, 'examples/nextjs')
/** The installation needs the network, and the build needs about half a minute of CPU time. */
const prepareMilliseconds = 600_000

let server: ServerProcess
let browser: Browser
/** Has the place of the repository, and `folder` that of the example. */
let checkout: string
let folder: string
let environment: NodeJS.ProcessEnv
let flag: string
let next: ChildProcess | undefined

const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
const call = async (path: string, method = 'GET', body?: unknown) => {
  const response = await fetch(server.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  return response.json() as Promise<{ id: number; results: [{ id: number; api_token: string }] }>
}

beforeAll(async () => {
  ;[server, browser] = await Promise.all([startServer('sqlite::memory:'), launch()])
  const { id, api_token: token } = (await call('/api/projects/')).results[0]
  flag = `/api/projects/${id}/feature_flags/${(await call(`/api/projects/${id}/feature_flags/`, 'POST', { key: 'new-checkout' })).id}/`
  checkout = mkdtempSync(join(tmpdir(), 'halyard-nextjs-'))
  folder = join(checkout, 'examples/nextjs')
  for (const name of ['react', 'openfeature-web']) await copyModules(name, join(checkout, 'packages', name))
  // Without what a build in the checkout left behind.
  const isSource = (path: string) => !/[\\/](?:node_modules|\.next)$/.test(path)
  cpSync(example, folder, { recursive: true, filter: isSource })
  environment = {
    ...process.env,
    // Vitest's own value would build for tests.
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    HALYARD_URL: server.url,
    NEXT_PUBLIC_HALYARD_URL: server.url,
    NEXT_PUBLIC_HALYARD_PROJECT_TOKEN: token,
  }
  await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--loglevel=error'])
  await run(process.execPath, ['node_modules/next/dist/bin/next', 'build'])
}, prepareMilliseconds)
afterAll(async () => {
  if (next?.exitCode === null) {
    const ended = new Promise(resolve => next!.on('close', resolve))
    next.kill()
    await ended
  }
  await Promise.all([browser?.close(), server?.stop()])
  rmSync(checkout, { recursive: true, force: true })
}, prepareMilliseconds)

it('the page shows the files of the example', () => {
  const files = fencesOf(readFileSync(join(root, 'docs/quick-start/nextjs.md'), 'utf8')).flatMap(
    ({ directive, text }) => (directive?.name === 'file' ? [[directive.value, text]] : []),
  )
  expect(files.map(([name]) => name)).toEqual(['lib/flags.js', 'proxy.js', 'app/checkout.jsx', 'app/page.js'])
  for (const [name, text] of files)
    expect({ name, text }).toEqual({ name, text: readFileSync(join(example, name!), 'utf8') })
})

it(
  'renders on the server, hydrates without a change of the page, and follows the flag',
  async () => {
    const address = await start()
    const page = await (await browser.newContext()).newPage()
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(String(error)))
    page.on('console', message => {
      const isIcon = message.location().url.endsWith('/favicon.ico')
      if (['error', 'warning'].includes(message.type()) && !isIcon) complaints.push(message.text())
    })

    // Every heading that the page has ever shown.
    await page.addInitScript(`
      globalThis.shown = []
      new MutationObserver(() => {
        const text = document.querySelector('h1')?.textContent
        if (text && shown.at(-1) !== text) shown.push(text)
      }).observe(document, { childList: true, characterData: true, subtree: true })
    `)

    expect(await textOf(address)).toContain('<h1>New checkout</h1>')
    const followed = page.waitForResponse(response => response.url().includes('/ofrep/v1/stream'))
    await page.goto(address)
    await page.getByRole('heading', { name: 'New checkout' }).waitFor()
    await page.getByRole('button', { name: 'Pay in one step' }).waitFor()
    await followed

    await call(flag, 'PATCH', { active: false })
    await page.getByRole('heading', { name: 'Old checkout' }).waitFor()
    await page.getByRole('button', { name: 'Continue' }).waitFor()
    expect(await page.evaluate('shown')).toEqual(['New checkout', 'Old checkout'])
    const off = await textOf(address)
    expect(off).toContain('<h1>Old checkout</h1>')
    expect(off).not.toContain('New checkout')
    expect(complaints).toEqual([])
  },
  prepareMilliseconds,
)

const textOf = async (address: string): Promise<string> => (await fetch(address)).text()

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: folder, env: environment, shell: process.platform === 'win32' })
  let output = ''
  child.stdout.on('data', text => (output += text))
  child.stderr.on('data', text => (output += text))
  const status = await new Promise(resolve => child.on('close', resolve))
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${output.slice(-2000)}`)
}

/** Resolves with the address when the application serves. */
async function start(): Promise<string> {
  const args = ['node_modules/next/dist/bin/next', 'start', '--port', '0', '--hostname', '127.0.0.1']
  const child = spawn(process.execPath, args, { cwd: folder, env: environment })
  next = child
  return new Promise((resolve, reject) => {
    let output = ''
    child.stderr.on('data', text => (output += text))
    createInterface({ input: child.stdout }).on('line', line => {
      output += `${line}\n`
      if (line.includes('Ready in')) resolve(/http:\/\/127\.0\.0\.1:\d+/.exec(output)![0])
    })
    child.on('close', status => reject(new Error(`next start ended with ${status}:\n${output}`)))
  })
}
