import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fencesOf } from '../docs/run-shell-blocks.ts'
import { ownerKey, root, type ServerProcess, startServer } from '../faults/server-process.ts'
import { freePort } from '../free-port.ts'

/** The program of the quick start, with the packed client and the built server, where something is wrong. */

const page = readFileSync(join(root, 'docs/quick-start/in-process.md'), 'utf8')
const documented = fencesOf(page).find(({ text }) => text.includes("from '@halyard/client'"))!.text

/** The same as CommonJS, which has no `await` outside of functions. */
const commonJs = `${documented
  .replace("import { createClient } from '@halyard/client'", "const { createClient } = require('@halyard/client')")
  .replace(/^const halyard/m, 'async function main() {\n$&')}}\nmain()\n`

let folder: string
let server: ServerProcess
let secret: string
let downUrl: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halyard-programs-'))
  const installed = join(folder, 'node_modules/@halyard/client')
  mkdirSync(installed, { recursive: true })
  await run('node', [join(root, 'scripts/npm-packages/pack.mjs'), '--out', folder, 'client'])
  await run('tar', ['-xzf', join(folder, 'halyard-client-0.1.0.tgz'), '--strip-components=1', '-C', installed])
  writeFileSync(join(folder, 'program.mjs'), documented)
  writeFileSync(join(folder, 'program.cjs'), commonJs)
  server = await startServer('sqlite::memory:')
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
  const create = async (path: string, body: object) =>
    (
      await fetch(`${server.url}/api/projects/@current/${path}/`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      })
    ).json()
  await create('feature_flags', { key: 'new-checkout' })
  secret = ((await create('secret_keys', { label: 'programs' })) as { value: string }).value
  downUrl = `http://127.0.0.1:${await freePort()}`
}, 300_000)
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const run = promisify(execFile)

interface Result {
  readonly status: number
  readonly output: string
  readonly errors: string
}

/** Standard input is closed and nothing else is open, so that only the client can keep the process alive. */
async function runProgram(file: string, environment: Record<string, string>): Promise<Result> {
  const child = spawn(process.execPath, [join(folder, file)], {
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stdout.on('data', text => (output += text))
  child.stderr.on('data', text => (errors += text))
  const status = await new Promise<number>(resolve => child.on('close', resolve))
  return { status, output: output.trim(), errors: errors.trim() }
}

describe.each(['program.mjs', 'program.cjs'])('the quick start as %s', file => {
  it('evaluates a flag and prints nothing else', async () => {
    expect(await runProgram(file, { HALYARD_URL: server.url, HALYARD_SECRET_KEY: secret })).toEqual({
      status: 0,
      output: 'new checkout',
      errors: '',
    })
  })

  it('goes on at once with a key that the server refuses, and logs that once', async () => {
    const { status, output, errors } = await runProgram(file, {
      HALYARD_URL: server.url,
      HALYARD_SECRET_KEY: 'phs_wrong',
    })
    expect([status, output]).toEqual([0, 'old checkout'])
    expect(errors).toMatch(/^\[halyard\] The server at http:\S+ does not accept the key \(401\)\. .+$/)
  })

  it('goes on at once without a key, and logs that once', async () => {
    const { status, output, errors } = await runProgram(file, { HALYARD_URL: server.url })
    expect([status, output]).toEqual([0, 'old checkout'])
    expect(errors).toMatch(/^\[halyard\] createClient has no `key`: .+$/)
  })

  it('waits for a server that is down, goes on, and logs that once', async () => {
    const { status, output, errors } = await runProgram(file, { HALYARD_URL: downUrl, HALYARD_SECRET_KEY: secret })
    expect([status, output]).toEqual([0, 'old checkout'])
    expect(errors).toBe(
      `[halyard] The server at ${downUrl} cannot be reached: connect ECONNREFUSED ${downUrl.replace('http://', '')}.`,
    )
  }, 60_000)

  it('ends with the name of the option that is missing when there is no address', async () => {
    const { status, output, errors } = await runProgram(file, {})
    expect([status, output]).toEqual([1, ''])
    expect(errors).toContain(
      'TypeError: createClient needs `url`, the address of the server, and `key`, a project secret key.',
    )
  })
})
