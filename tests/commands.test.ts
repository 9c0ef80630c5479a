import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** The program as it is built, from the outside. */

const program = join(import.meta.dirname, '../packages/server/dist/halyard.js')
const run = promisify(execFile)

describe('the command line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-commands-'))
  const environment = {
    ...process.env,
    DATABASE_URL: `sqlite:${join(folder, 'halyard.db')}`,
    PORT: '0',
    LOG_LEVEL: 'info',
  }
  const halyard = (...args: string[]) => run(process.execPath, [program, ...args], { env: environment })
  const failing = (...args: string[]) =>
    halyard(...args).then(
      () => {
        throw new Error(`halyard ${args.join(' ')} should have failed`)
      },
      (error: { code: number; stderr: string; stdout: string }) => error,
    )
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  let server: ChildProcess
  let output = ''
  let url = ''
  let key = ''
  const shown = (name: string) => new RegExp(`export ${name}=(\\S+)`).exec(output)?.[1] ?? ''

  beforeAll(async () => {
    server = spawn(process.execPath, [program, 'serve'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
    await new Promise<void>((resolve, reject) => {
      server.once('exit', code => reject(new Error(`exited ${code}: ${output}`)))
      server.stdout?.on('data', data => {
        output += data
        if (output.includes('Halyard is serving')) resolve()
      })
    })
    url = shown('HALYARD_URL')
    key = shown('HALYARD_KEY')
  })

  it('prints, once, what the README tells to paste, and it works', async () => {
    expect(key).toMatch(/^phx_/)
    expect(shown('HALYARD_PROJECT_TOKEN')).toMatch(/^phc_/)
    const reply = await fetch(`${url}/api/projects/${shown('HALYARD_PROJECT_ID')}/feature_flags/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"key": "new-checkout", "filters": {"groups": [{"rollout_percentage": 50}]}}',
    })
    expect(reply.status).toBe(201)
    const password = /password (\S+)/.exec(output)?.[1]
    const login = await fetch(`${url}/api/login/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'owner@halyard.local', password }),
    })
    expect(login.status).toBe(200)
  })

  it('makes, lists and revokes keys beside a running server', async () => {
    const made = await halyard(
      'keys',
      'create',
      '--email',
      'owner@halyard.local',
      '--scopes',
      'feature_flag:read',
      '--expires-in-days',
      '7',
    )
    const value = /^phx_\S+$/m.exec(made.stdout)?.[0] ?? ''
    const ask = () =>
      fetch(`${url}/api/projects/@current/feature_flags/`, { headers: { authorization: `Bearer ${value}` } })
    expect((await ask()).status).toBe(200)
    const id = /^Key (\S+)/.exec(made.stdout)?.[1] ?? ''
    expect((await halyard('keys', 'list', '--email', 'owner@halyard.local')).stdout).toContain(id)
    await halyard('keys', 'revoke', '--email', 'owner@halyard.local', id)
    expect((await ask()).status).toBe(401)
  })

  it('makes users and resets passwords', async () => {
    const made = await halyard(
      'users',
      'create',
      '--email',
      'cli@example.com',
      '--first-name',
      'Cli',
      '--level',
      'admin',
    )
    const reset = await halyard('users', 'reset-password', '--email', 'cli@example.com')
    const login = (text: string) =>
      fetch(`${url}/api/login/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'cli@example.com', password: /: (\S+)\s*$/.exec(text)?.[1] }),
      })
    expect((await login(made.stdout)).status).toBe(401)
    expect((await login(reset.stdout)).status).toBe(200)
  })

  it('backs up while serving, and never over a file that exists', async () => {
    const target = join(folder, 'copy.db')
    await halyard('backup', target)
    expect(existsSync(target)).toBe(true)
    expect((await failing('backup', target)).stderr).toContain('exists already')
  })

  it('examines an installation', async () => {
    const { stdout } = await halyard('doctor')
    expect(stdout).toContain('The database file is sound.')
    expect(stdout).not.toContain('BAD')
    const sick = await run(process.execPath, [program, 'doctor'], {
      env: { ...environment, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' },
    }).catch((error: { stdout: string }) => error)
    expect(sick.stdout).toContain('BAD')
  })

  it('says what is wrong with words and settings', async () => {
    expect((await failing('nonsense')).stderr).toContain('There is no command "nonsense"')
    expect((await failing('keys', 'create')).stderr).toContain('--email is missing')
    const { stderr } = await run(process.execPath, [program, 'serve'], {
      env: { ...environment, PORT: 'http', DATABASE_URL: 'mysql://x' },
    }).catch((error: { stderr: string }) => error)
    expect(stderr).toContain('PORT must be a whole number')
    expect(stderr).toContain('DATABASE_URL must be')
  })

  it('logs neither keys nor passwords', () => {
    const log = output
      .split('\n')
      .filter(line => line.startsWith('{'))
      .join('\n')
    expect(log).toContain('"route"')
    expect(log).not.toMatch(/phx_|phc_|password/)
  })

  it('stops on SIGTERM with 0', async () => {
    const exit = new Promise(resolve => server.once('exit', resolve))
    server.kill('SIGTERM')
    expect(await exit).toBe(0)
  })
})
