import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { isBuiltin } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createProgram } from '../packages/server/src/cli/program.ts'
import { freePort } from './free-port.ts'

/** The program as it is built, from the outside. */

// Dozens of processes are started, on machines that may be busy.
vi.setConfig({ testTimeout: 240_000 })

const program = join(import.meta.dirname, '../packages/server/dist/halyard.js')
const folders: string[] = []
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-commands-'))
  folders.push(folder)
  return folder
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

interface Result {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

type Environment = Record<string, string>

/** Where every process lists the scripts that it has loaded. */
const coverage = newFolder()

/** Only PATH comes from outside: npm and vitest set variables that commands look at. */
const clean = (environment: Environment): Environment => ({
  PATH: process.env.PATH ?? '',
  NODE_V8_COVERAGE: coverage,
  ...environment,
})

const run = (args: readonly string[], environment: Environment = {}, cwd?: string, node = process.execPath) =>
  new Promise<Result>(resolve => {
    execFile(node, [program, ...args], { env: clean(environment), cwd }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

interface Server {
  readonly process: ChildProcess
  readonly url: string
  output(): string
  errors(): string
  /** Resolves with the exit code. */
  stop(): Promise<number | null>
}

async function startServer(
  environment: Environment,
  args: string[] = ['serve'],
  node = process.execPath,
): Promise<Server> {
  const child = spawn(node, [program, ...args], {
    env: clean({ PORT: '0', ...environment }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let errors = ''
  child.stderr.on('data', data => {
    errors += data
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.once('exit', code => reject(new Error(`exited ${code}: ${output}${errors}`)))
    child.stdout.on('data', data => {
      output += data
      const line = output.split('\n').find(text => text.includes('server_listening'))
      if (line?.endsWith('}')) resolve(JSON.parse(line).address)
    })
  })
  return {
    process: child,
    url,
    output: () => output,
    errors: () => errors,
    stop: () =>
      new Promise(resolve => {
        child.once('exit', resolve)
        child.kill('SIGTERM')
      }),
  }
}

const logIn = (url: string, email: string, password: string) =>
  fetch(`${url}/api/login/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })

const logLines = (server: Server) =>
  server
    .output()
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)

describe('commands beside a running server', () => {
  const folder = newFolder()
  const environment = { DATABASE_URL: `sqlite:${join(folder, 'halyard.db')}`, HALYARD_PRINT_CREDENTIALS: '1' }
  let server: Server
  const shown = (name: string) => new RegExp(`export ${name}=(\\S+)`).exec(server.output())?.[1] ?? ''
  const halyard = (...args: string[]) => run(args, { ...environment, HALYARD_URL: server.url })
  beforeAll(async () => {
    server = await startServer(environment)
  })

  it('prints what the README says to paste, and it works', async () => {
    expect(shown('HALYARD_PROJECT_TOKEN')).toMatch(/^phc_/)
    const password = /Password\s+(\S+)/.exec(server.output())?.[1] ?? ''
    expect((await logIn(server.url, 'owner@halyard.local', password)).status).toBe(200)
    const headers = { authorization: `Bearer ${shown('HALYARD_KEY')}`, 'content-type': 'application/json' }
    const flags = `${server.url}/api/projects/${shown('HALYARD_PROJECT_ID')}/feature_flags/`
    const created = await fetch(flags, { method: 'POST', headers, body: '{"key": "my-first-flag"}' })
    expect(created.status).toBe(201)
    const body = JSON.stringify({ token: shown('HALYARD_PROJECT_TOKEN'), distinct_id: 'user-1' })
    const evaluated = await fetch(`${server.url}/flags/?v=2`, { method: 'POST', body })
    expect(await evaluated.json()).toMatchObject({ flags: { 'my-first-flag': { enabled: true } } })
  })

  it('copies counts only to a ClickHouse that is named and responds', async () => {
    const unset = await halyard('migrate-events')
    expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('Set EVENTS_URL to the ClickHouse')])
    const away = { ...environment, EVENTS_URL: `clickhouse://127.0.0.1:${await freePort()}/events` }
    const refused = await run(['migrate-events'], away)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('The tables cannot be created')])
  })

  it('copies persons while the server runs, and moves them when it has stopped', async () => {
    const unset = await halyard('migrate-persons')
    expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('Set PERSONS_DATABASE_URL')])
    const batch = [{ event: '$set', distinct_id: 'ada', properties: { $set: { plan: 'pro' } } }]
    const body = JSON.stringify({ api_key: shown('HALYARD_PROJECT_TOKEN'), batch })
    expect((await fetch(`${server.url}/batch/`, { method: 'POST', body })).status).toBe(200)
    // A copy, because the tests below use the server.
    const copy = join(newFolder(), 'copy.db')
    expect((await halyard('backup', copy)).code).toBe(0)
    const main = { DATABASE_URL: `sqlite:${copy}` }
    const personsFile = join(newFolder(), 'persons.db')
    const split = { ...main, PERSONS_DATABASE_URL: `sqlite:${personsFile}` }
    const early = await run(['doctor'], split)
    expect([early.code, early.stdout]).toEqual([1, expect.stringMatching(/BAD .*no database.*PERSONS_DATABASE_URL/)])
    expect(existsSync(personsFile)).toBe(false)
    const copied = await run(['migrate-persons'], split)
    expect([copied.code, copied.stdout]).toEqual([0, expect.stringContaining('halyard migrate-persons --finish')])
    const finished = await run(['migrate-persons', '--finish'], split)
    expect([finished.code, finished.stdout]).toEqual([0, expect.stringContaining('counts and checksums agree')])
    const good = await run(['doctor'], split)
    expect([good.code, good.stdout]).toEqual([0, expect.stringContaining('The sqlite persons database responds')])
    expect(good.stdout).toContain('The persons database file is intact.')
    const swapped = { DATABASE_URL: split.PERSONS_DATABASE_URL, PERSONS_DATABASE_URL: main.DATABASE_URL }
    const mixedUp = await run(['doctor'], swapped)
    expect([mixedUp.code, mixedUp.stdout]).toEqual([1, expect.stringContaining('names a database of persons')])
    expect(mixedUp.stdout).toContain('names a main database of Halyard')
    expect(mixedUp.stdout).not.toMatch(/halyard migrate|newer Halyard/)
    const unbound = await run(['serve'], { ...main, PORT: '0' })
    expect([unbound.code, unbound.stderr]).toEqual([1, expect.stringContaining('Set PERSONS_DATABASE_URL')])
    expect((await run(['export', '-'], split)).stderr).toContain('docs/operate/persons-database.md')
  })

  it('creates, lists and revokes keys', async () => {
    const args = ['--email', 'owner@halyard.local', '--scopes', 'feature_flag:read', '--expires-in-days', '7', '--json']
    const { id, value } = JSON.parse((await halyard('keys', 'create', ...args)).stdout)
    const request = () =>
      fetch(`${server.url}/api/projects/@current/feature_flags/`, { headers: { authorization: `Bearer ${value}` } })
    expect((await request()).status).toBe(200)
    expect((await halyard('keys', 'list', '--email', 'owner@halyard.local')).stdout).toContain(id)
    expect((await halyard('keys', 'revoke', '--email', 'owner@halyard.local', id)).code).toBe(0)
    expect((await request()).status).toBe(401)
    const quiet = await halyard('keys', 'create', '--email', 'owner@halyard.local', '--quiet')
    expect(quiet.stdout).toMatch(/^phx_\w+\n$/)
  })

  it('creates and lists users and resets passwords', async () => {
    const created = await halyard('users', 'create', '--email', 'cli@example.com', '--level', 'admin', '--json')
    const reset = await halyard('users', 'reset-password', '--email', 'cli@example.com')
    const oldPassword = JSON.parse(created.stdout).password
    const newPassword = /: (\S+)\s*$/.exec(reset.stdout)?.[1] ?? ''
    expect((await logIn(server.url, 'cli@example.com', oldPassword)).status).toBe(401)
    expect((await logIn(server.url, 'cli@example.com', newPassword)).status).toBe(200)
    const users = JSON.parse((await halyard('users', 'list', '--json')).stdout)
    expect(users.map(({ email }: { email: string }) => email)).toEqual(['owner@halyard.local', 'cli@example.com'])
    expect((await halyard('keys', 'list', '--email', 'no@example.com')).stderr).toContain('There is no user')
  })

  it('leaves an entry in the audit log for each command that changes an account or a key', async () => {
    const email = ['--email', 'audited@example.com']
    const [{ organization, sequence }] = JSON.parse((await halyard('audit', 'head', '--json')).stdout)
    await halyard('users', 'create', ...email)
    await halyard('users', 'reset-password', ...email, '--verify-email')
    await halyard('users', 'reset-second-factor', ...email)
    await halyard('users', 'promote', ...email)
    await halyard('users', 'demote', ...email)
    const { id } = JSON.parse((await halyard('keys', 'create', ...email, '--json')).stdout)
    await halyard('keys', 'revoke', id, ...email)
    const { stdout } = await halyard('audit', 'export', organization, '--after', String(sequence))
    const entries = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
      .filter(
        entry => JSON.stringify(entry.objects ?? '').includes('audited@example.com') || entry.objects?.[0]?.id === id,
      )
    expect(entries.map(({ operation, actor, credential }) => [operation, actor, credential.kind])).toEqual(
      [
        'users create',
        'users reset-password',
        'users reset-second-factor',
        'users promote',
        'users demote',
        'keys create',
        'keys revoke',
      ].map(operation => [operation, null, 'command_line']),
    )
    expect(stdout).not.toMatch(/phx_/)
  })

  it('manages and evaluates flags without a key, and leaves no key behind', async () => {
    expect(
      (await halyard('flags', 'create', 'by-cli', '--rollout', '100', '--tag', 'x', '--name', 'A flag')).code,
    ).toBe(0)
    expect((await halyard('flags', 'list')).stdout).toMatch(/by-cli +enabled +100% +A flag/)
    expect((await halyard('flags', 'eval', 'by-cli')).stdout).toBe('true\n')
    expect((await halyard('flags', 'disable', 'by-cli')).stdout).toContain('disabled')
    expect((await halyard('flags', 'eval', 'by-cli')).stdout).toBe('false\n')
    expect((await halyard('flags', 'enable', 'by-cli')).stdout).toContain('enabled')
    const history = JSON.parse((await halyard('flags', 'history', 'by-cli', '--json')).stdout)
    expect(history.map(({ activity }: { activity: string }) => activity)).toEqual(['updated', 'updated', 'created'])
    const filters = '{"groups": [{"properties": [{"key": "plan", "operator": "exact", "value": "pro"}]}]}'
    await halyard('flags', 'create', 'by-plan', '--filters', filters)
    expect((await halyard('flags', 'eval', 'by-plan', '--property', 'plan=pro')).stdout).toBe('true\n')
    expect((await halyard('flags', 'eval', 'by-plan', '--property', 'plan=free')).stdout).toBe('false\n')
    expect(JSON.parse((await halyard('flags', 'get', 'by-cli', '--json')).stdout)).toMatchObject({ tags: ['x'] })
    const unknown = await halyard('flags', 'get', 'nothing')
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There is no flag "nothing"')])
    expect((await halyard('keys', 'list', '--email', 'owner@halyard.local')).stdout).not.toContain('temporary')
  })

  it('generates types of flags, checks them, and keeps them up to date', async () => {
    const out = join(newFolder(), 'flags.ts')
    expect((await halyard('types')).stdout).toContain("  'by-cli': boolean\n")
    expect((await halyard('types', '--check')).stderr).toContain('need --out')
    expect((await halyard('types', '--out', out)).code).toBe(0)
    expect((await halyard('types', '--out', out, '--check')).code).toBe(0)
    const watching = spawn(process.execPath, [program, 'types', '--out', out, '--watch'], {
      env: clean({ ...environment, HALYARD_URL: server.url, HALYARD_KEY: shown('HALYARD_KEY') }),
    })
    try {
      await halyard('flags', 'create', 'typed', '--filters', '{"groups": [], "return_type": "number"}')
      await expect.poll(() => readFileSync(out, 'utf8'), { timeout: 60_000 }).toContain('  typed: number\n')
    } finally {
      watching.kill()
      await new Promise(done => watching.once('close', done))
    }
    await halyard('flags', 'create', 'untyped')
    const outdated = await halyard('types', '--out', out, '--check')
    expect([outdated.code, outdated.stderr]).toEqual([1, expect.stringContaining('is out of date')])
  })

  it('changes no flag that needs approval, but requests it, unless it is an emergency', async () => {
    const project = JSON.parse((await halyard('projects', 'create', 'Gated', '--json')).stdout).id
    const inProject = (...args: string[]) => halyard('flags', ...args, '--project', String(project))
    await inProject('create', 'gated')
    const key = (await halyard('keys', 'create', '--email', 'owner@halyard.local', '--quiet')).stdout.trim()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    for (const action_key of ['*', 'feature_flag.disable']) {
      const body = JSON.stringify({ action_key })
      const policies = `${server.url}/api/projects/${project}/approval_policies/`
      expect((await fetch(policies, { method: 'POST', headers, body })).status).toBe(201)
    }
    const requests = async () =>
      JSON.parse((await halyard('requests', 'list', '--project', String(project), '--json')).stdout)
    for (const change of [
      ['disable', 'gated'],
      ['create', 'another'],
      ['rollout', 'gated', '20'],
      ['variants', 'gated', 'a=40', 'b=60'],
    ]) {
      const refused = await inProject(...change)
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Add --request-approval')])
    }
    expect(await requests()).toEqual([])
    expect((await inProject('list')).stdout).toMatch(/^KEY.*\ngated +enabled[^\n]*\n$/)
    const asked = await inProject('rollout', 'gated', '20', '--request-approval', '--note', 'The first week went well')
    expect([asked.code, asked.stdout]).toEqual([0, expect.stringMatching(/^Opened change request \d+\./)])
    const [{ id }] = await requests()
    const shown = await halyard('requests', 'show', String(id), '--project', String(project))
    expect(shown.stdout).toContain('filters.groups[0].rollout_percentage: none → 20')
    expect(shown.stdout).toContain('The first week went well')
    const own = await halyard('requests', 'approve', String(id), '--project', String(project))
    expect([own.code, own.stderr]).toEqual([1, expect.stringMatching(/^halyard: .+/)])
    const rejected = await halyard(
      'requests',
      'reject',
      String(id),
      '--reason',
      'Too early',
      '--project',
      String(project),
    )
    expect([rejected.code, rejected.stdout + rejected.stderr]).toEqual([
      expect.any(Number),
      expect.stringMatching(/\w/),
    ])
    expect((await inProject('disable', 'gated', '--emergency', 'Checkout is down')).stdout).toContain('disabled')
  })

  it('sets rollouts and variants, shows what was changed, archives and brings back', async () => {
    await halyard('flags', 'create', 'edited', '--rollout', '10')
    expect((await halyard('flags', 'rollout', 'edited', '25')).stdout).toMatch(/edited +enabled +25%/)
    expect((await halyard('flags', 'rollout', 'edited', '200')).code).toBe(2)
    expect((await halyard('flags', 'variants', 'edited', 'control=50', 'test=40')).stderr).toContain('add up to 90')
    expect((await halyard('flags', 'variants', 'edited', 'control=50', 'test=50')).stdout).toMatch(
      /control +50[\s\S]*test +50/,
    )
    expect((await halyard('flags', 'variants', 'edited', 'test=70', 'control=30')).stdout).toMatch(
      /control +30[\s\S]*test +70/,
    )
    expect(JSON.parse((await halyard('flags', 'variants', 'edited', '--json')).stdout)).toMatchObject([
      { key: 'control', rollout_percentage: 30 },
      { key: 'test', rollout_percentage: 70 },
    ])
    for (const args of [
      ['flags', 'history', 'edited'],
      ['activity', '--limit', '10'],
    ]) {
      const { stdout } = await halyard(...args)
      expect(stdout).toContain('filters.groups[0].rollout_percentage: 10 → 25')
      expect(stdout).toContain('filters.multivariate.variants[0].rollout_percentage: 50 → 30')
    }
    expect((await halyard('flags', 'archive', 'edited')).stdout).toContain('disabled')
    expect((await halyard('flags', 'get', 'edited')).stderr).toContain('There is no flag "edited"')
    expect((await halyard('flags', 'unarchive', 'edited')).stdout).toContain('disabled')
    const escaped = await halyard('flags', 'create', 'bad key!')
    expect([escaped.code, escaped.stderr]).toEqual([0, expect.stringContaining('has to be escaped in URLs')])
  })

  it('compares environments and promotes flags between them', async () => {
    const key = (await halyard('keys', 'create', '--email', 'owner@halyard.local', '--quiet')).stdout.trim()
    const sets = `${server.url}/api/organizations/@current/environment_sets/`
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const made = await fetch(sets, { method: 'POST', headers, body: JSON.stringify({ name: 'Shop' }) })
    const { environments } = (await made.json()) as { environments: { name: string; project: number }[] }
    const [development, production] = environments
    await halyard('flags', 'create', 'pay-later', '--rollout', '40', '--project', String(development?.project))
    expect((await halyard('environments', 'list')).stdout).toMatch(/Shop +\d+ +production +\d+ +yes/)
    const compare = () => halyard('environments', 'compare', '--set', 'Shop')
    expect((await compare()).stdout).toMatch(/KEY +DEVELOPMENT +PRODUCTION\npay-later +enabled 40% +-/)
    const promote = (...more: string[]) =>
      halyard('promote', 'pay-later', '--set', 'Shop', '--from', 'development', '--to', 'production', ...more)
    expect((await promote('--dry-run')).stdout).toMatch(/pay-later: create[\s\S]*Nothing was changed/)
    expect((await compare()).stdout).toContain('-')
    expect((await promote()).stdout).toContain('Promoted from development to production')
    expect((await compare()).stdout).toMatch(/pay-later +enabled 40% +disabled 40%/)
    expect((await promote('--to', 'moon')).stderr).toContain('It has: development, production.')
    const body = JSON.stringify({ action_key: '*' })
    await fetch(`${server.url}/api/projects/${production?.project}/approval_policies/`, {
      method: 'POST',
      headers,
      body,
    })
    await halyard('flags', 'rollout', 'pay-later', '60', '--project', String(development?.project))
    expect((await promote()).stderr).toContain('Add --request-approval')
    expect((await promote('--request-approval')).stdout).toMatch(/^Opened change request \d+/)
  })

  it('creates, lists and revokes secret keys of a project', async () => {
    const { id, value } = JSON.parse((await halyard('keys', 'secret', 'create', 'Backend', '--json')).stdout)
    expect(value).toMatch(/^phs_/)
    expect((await halyard('keys', 'secret', 'list')).stdout).toContain('Backend')
    expect((await halyard('keys', 'secret', 'revoke', id)).stdout).toBe(`Revoked ${id}.\n`)
    expect((await halyard('keys', 'secret', 'list')).stdout).not.toContain('Backend')
  })

  it('names the scope that was meant, and what is wrong with a project', async () => {
    const create = (scopes: string) => halyard('keys', 'create', '--email', 'owner@halyard.local', '--scopes', scopes)
    expect((await create('flags:write')).stderr).toContain('Did you mean "feature_flag:write"?')
    expect((await create('zebra:read')).stderr).toContain('edge:write, feature_flag:read, feature_flag:write')
    expect((await halyard('flags', 'list', '--project', '987654')).stderr).toContain('See: halyard projects list')
  })

  it('finds flags in a checkout or a folder, and uploads where they are', async () => {
    const folder = newFolder()
    const write = (path: string, text: string | Buffer) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    write('src/cart.ts', "start()\nif (isEnabled('by-cli')) show()\n")
    write('node_modules/library.js', "'by-cli'")
    write('image.png', Buffer.from("\0'by-cli'"))
    write('large.txt', `'by-cli'${' '.repeat(1024 * 1024)}`)
    const scan = (...more: string[]) => halyard('code-refs', '--repository', 'acme/shop', '--dir', folder, ...more)
    const dry = await scan('--dry-run')
    expect([dry.code, dry.stdout]).toEqual([0, 'src/cart.ts:2  by-cli\n'])
    expect(dry.stderr).toContain('Nothing was uploaded.')
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { env: clean({ HOME: folder }) })
    git('init', '--quiet', '--initial-branch', 'trunk')
    write('.gitignore', 'src\n')
    write('größe.yaml', 'flag: by-cli\n')
    const { uploaded, references } = JSON.parse((await scan('--commit', 'abc', '--no-excerpts', '--json')).stdout)
    expect(uploaded).toMatchObject({ name: 'acme/shop', branch: 'trunk', commit: 'abc', reference_count: 2 })
    expect(references).toEqual([
      { flag_key: 'by-cli', path: 'größe.yaml', line: 1 },
      { flag_key: 'by-cli', path: 'node_modules/library.js', line: 1 },
    ])
    const missing = await halyard('code-refs', '--repository', 'x', '--dir', join(folder, 'missing'))
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('is not a folder')])
  })

  it('imports from another service, from a file or an address, and exports again', async () => {
    const project = JSON.parse((await halyard('projects', 'create', 'Imported', '--json')).stdout).id
    const on = { on: true, salt: 's', variations: [true, false], offVariation: 1, fallthrough: { variation: 0 } }
    const clauses = [{ attribute: 'a', op: 'near', values: [1] }]
    const data = JSON.stringify({ flags: { moved: on, odd: { ...on, rules: [{ clauses, variation: 0 }] } } })
    const file = join(newFolder(), 'launchdarkly.json')
    writeFileSync(file, data)
    const importFrom = (...args: string[]) =>
      halyard('import-from', 'launchdarkly', '--project', String(project), ...args)
    const dry = await importFrom('--file', file, '--dry-run')
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('1 exact, 0 approximate, 1 refused')])
    expect(dry.stdout).toContain(
      'The operator "near" is not known; express the clause with another one. (flags.odd.rules[0].clauses[0].op)',
    )
    expect((await halyard('flags', 'list', '--project', String(project), '--json')).stdout).toBe('[]\n')

    const requests: (string | undefined)[] = []
    const stub = createHttpServer((request, response) => {
      requests.push(request.headers.authorization)
      response.end(data)
    })
    await new Promise<void>(resolve => stub.listen(0, '127.0.0.1', resolve))
    const { port } = stub.address() as AddressInfo
    const address = ['--url', `http://127.0.0.1:${port}/flags`, '--token-env', 'LD_TOKEN']
    const settings = { ...environment, HALYARD_URL: server.url, LD_TOKEN: 'api-123' }
    const args = ['import-from', 'launchdarkly', '--project', String(project), ...address]
    const refused = await run(args, settings)
    expect([refused.code, requests]).toEqual([1, []])
    const imported = await run(args, { ...settings, HALYARD_TRUSTED_ORIGINS: `http://127.0.0.1:${port}` })
    stub.close()
    expect([imported.code, imported.stdout, requests]).toEqual([0, expect.stringContaining('1 created'), ['api-123']])
    expect(imported.stderr).toContain('Imported: 1 of 1 saved')

    const exported = await halyard('export-to', 'flagd', '--project', String(project))
    expect(JSON.parse(exported.stdout).flags.moved).toMatchObject({ state: 'ENABLED', defaultVariant: 'off' })
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`flag-${index}`, on]))
    writeFileSync(file, JSON.stringify({ flags: many }))
    const large = await importFrom('--file', file, '--dry-run')
    expect([large.code, large.stdout]).toEqual([0, expect.stringContaining('500 exact')])
    writeFileSync(file, '{"flags": ')
    const broken = await importFrom('--file', file)
    expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('line 1, column')])
    expect((await importFrom()).code).toBe(2)
  })

  it('imports several environments into a new environment set, then into the same one', async () => {
    const state = (on: boolean) => ({ on, salt: 's', offVariation: 1, fallthrough: { variation: 0 } })
    const variations = [{ value: true }, { value: false }]
    const environments = { dev: state(true), qa: state(true), live: state(false) }
    const folder = newFolder()
    const file = join(folder, 'launchdarkly.json')
    writeFileSync(file, JSON.stringify({ items: [{ key: 'both', variations, environments }] }))
    const importFrom = (...args: string[]) => halyard('import-from', 'launchdarkly', ...args)
    const several = await importFrom('--file', file)
    expect([several.code, several.stderr]).toEqual([1, expect.stringContaining('choose one: dev, live, qa')])
    const chosen = ['--environment', 'dev=development', '--environment', 'live']
    const dry = await importFrom('--file', file, '--new-environment-set', 'Moved', ...chosen, '--dry-run')
    expect(dry.stdout).toContain('New project for development from dev: 1 exact')
    expect((await halyard('projects', 'list')).stdout).not.toContain('Moved')
    const made = await importFrom('--file', file, '--new-environment-set', 'Moved', ...chosen, '--json')
    const { targets } = JSON.parse(made.stdout)
    expect(targets).toMatchObject([
      { name: 'development', environment: 'dev', created: 1 },
      { name: 'live', environment: 'live', created: 1 },
    ])
    const [first, second] = targets as { project: number }[]
    const mapped = ['--environment', `dev=${first!.project}`, '--environment', `live=${second!.project}`]
    const again = await importFrom('--file', file, ...mapped)
    expect(again.stdout.match(/0 created, 0 updated, 1 unchanged/g)).toHaveLength(2)

    for (const args of [
      ['--file', `dev=${file}`],
      ['--file', file, '--environment', 'dev=development'],
      ['--file', file, '--new-environment-set', 'Moved', '--prove'],
    ]) {
      expect((await importFrom(...args)).code).toBe(2)
    }
    const files = ['development', 'live'].flatMap(name => {
      const own = join(folder, `${name}.json`)
      const on = { ...state(name === 'live'), variations: [true, false] }
      writeFileSync(own, JSON.stringify({ flags: { own: on } }))
      return ['--file', `${name}=${own}`]
    })
    const separate = JSON.parse((await importFrom(...files, '--new-environment-set', 'Files', '--json')).stdout)
    expect(separate.targets).toMatchObject([
      { name: 'development', created: 1 },
      { name: 'live', created: 1 },
    ])
  })

  it('proves an import with the SDK of the service, and imports nothing when an exact flag differs', async () => {
    const project = JSON.parse((await halyard('projects', 'create', 'Proved', '--json')).stdout).id
    const folder = newFolder()
    const file = join(folder, 'posthog.json')
    const half = { groups: [{ properties: [{ key: 'plan', value: 'pro' }], rollout_percentage: 50 }] }
    writeFileSync(file, JSON.stringify([{ id: 1, key: 'half', active: true, filters: half }]))
    const certificate = join(folder, 'certificate.json')
    const prove = (...args: string[]) =>
      halyard(
        ...['import-from', 'posthog', '--project', String(project), '--file', file, '--prove', '--pairs', '2000'],
        ...['--seed', '7', '--certificate', certificate, ...args],
      )
    const missing = await prove('--sdk-from', folder)
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('Run there: npm install posthog-node')])

    const wrong = join(folder, 'node_modules', 'posthog-node')
    mkdirSync(wrong, { recursive: true })
    writeFileSync(join(wrong, 'package.json'), '{ "name": "posthog-node", "version": "0.0.0", "main": "index.js" }')
    const code = 'async waitForLocalEvaluationReady() {} async getAllFlags() { return { half: true } } shutdown() {}'
    writeFileSync(join(wrong, 'index.js'), `exports.PostHog = class { ${code} }`)
    const disproved = await prove('--sdk-from', folder)
    expect([disproved.code, disproved.stderr]).toEqual([1, expect.stringContaining('nothing was imported')])
    expect(disproved.stdout).toContain('differs  flag half for ')
    expect(JSON.parse(readFileSync(certificate, 'utf8'))).toMatchObject({ sdk_version: '0.0.0', exact: 1 })
    expect((await halyard('flags', 'list', '--project', String(project), '--json')).stdout).toBe('[]\n')

    const proved = await prove('--sdk-from', join(import.meta.dirname, '..'))
    expect([proved.code, proved.stdout]).toEqual([0, expect.stringContaining('0 differ for exact flags')])
    expect(proved.stdout).toContain('1 created')
    const { seed, pairs, equal, differing, flags } = JSON.parse(readFileSync(certificate, 'utf8'))
    expect({ seed, differing, flags }).toMatchObject({
      seed: 7,
      differing: 0,
      flags: [{ key: 'half', pairs, equal: pairs }],
    })
    expect(equal).toBeGreaterThanOrEqual(2000)
    expect(proved.stderr.match(/of 2000 comparisons/g)!.length).toBeLessThanOrEqual(10)
  })

  it('proves flags about groups as it imports them, and names those that it could not compare', async () => {
    const created = JSON.parse((await halyard('projects', 'create', 'Proved groups', '--json')).stdout)
    const file = join(newFolder(), 'posthog.json')
    const inOrg = [{ key: 'plan', type: 'group', group_type_index: 0, value: 'pro', operator: 'exact' }]
    const filters = { aggregation_group_type_index: 0, groups: [{ properties: inOrg, rollout_percentage: 50 }] }
    const continuous = { key: 'continuous', ensure_experience_continuity: true, filters: { groups: [{}] } }
    const old = { key: 'old', archived: true, filters }
    const flags = [{ key: 'of-org', filters }, continuous, old].map((flag, id) => ({ id, active: true, ...flag }))
    writeFileSync(file, JSON.stringify({ flags, group_type_mapping: { 0: 'org' } }))
    const args = ['--project', String(created.id), '--file', file, '--prove', '--pairs', '2000']
    const sdk = ['--sdk-from', join(import.meta.dirname, '..')]
    const proved = await halyard('import-from', 'posthog', ...args, ...sdk)
    expect([proved.code, proved.stdout]).toEqual([0, expect.stringContaining('0 differ for exact flags')])
    expect(proved.stdout).toContain('not compared  flag continuous\n  The SDK has no value: it queries its server')
    expect(proved.stdout).toContain('1 archived left out; --include-archived imports them.')
    expect(proved.stdout).toContain('Group types created: org.')
    const key = ['--key', shown('HALYARD_KEY')]
    const path = `/api/projects/${created.id}/import_certificates/`
    const headers = { authorization: `Bearer ${key[1]}` }
    const { results } = (await (await fetch(`${server.url}${path}`, { headers })).json()) as {
      results: { id: number }[]
    }
    const stored = (await (await fetch(`${server.url}${path}${results[0]!.id}/`, { headers })).json()) as {
      certificate: { flags: { key: string; pairs: number }[] }
    }
    expect(stored).toMatchObject({
      certificate: {
        exact: 2,
        flags: expect.arrayContaining([
          expect.objectContaining({ key: 'of-org', status: 'exact', pairs: expect.any(Number) }),
          expect.objectContaining({ key: 'continuous', pairs: 0, not_compared: expect.any(String) }),
        ]),
      },
    })
    expect(stored.certificate.flags.find(flag => flag.key === 'of-org')!.pairs).toBeGreaterThan(500)
  })

  it('reads every page of flags and segments at an address', async () => {
    const project = JSON.parse((await halyard('projects', 'create', 'Paged', '--json')).stdout).id
    const state = (more: object) => ({ on: true, salt: 's', offVariation: 1, fallthrough: { variation: 1 }, ...more })
    const rules = [{ clauses: [{ op: 'segmentMatch', values: ['second'] }], variation: 0 }]
    const item = (key: string, more: object = {}) => ({
      key,
      variations: [{ value: true }, { value: false }],
      environments: { production: state(more) },
    })
    const page = (items: object[], next?: string) => ({
      items,
      totalCount: 2,
      _links: next === undefined ? {} : { next: { href: next } },
    })
    const pages: Record<string, object> = {
      '/api/v2/flags/shop?summary=0': page([item('one')], '/api/v2/flags/shop?summary=0&offset=1'),
      '/api/v2/flags/shop?summary=0&offset=1': page([item('two', { rules })]),
      '/api/v2/segments/shop/production?limit=50': page(
        [{ key: 'first' }],
        '/api/v2/segments/shop/production?offset=1',
      ),
      '/api/v2/segments/shop/production?offset=1': page([{ key: 'second', included: ['ann'] }]),
    }
    const stub = createHttpServer((request, response) => response.end(JSON.stringify(pages[request.url!] ?? {})))
    await new Promise<void>(resolve => stub.listen(0, '127.0.0.1', resolve))
    const origin = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`
    const args = [
      'import-from',
      'launchdarkly',
      '--project',
      String(project),
      '--url',
      `${origin}/api/v2/flags/shop?summary=0`,
    ]
    const settings = { ...environment, HALYARD_URL: server.url, HALYARD_TRUSTED_ORIGINS: origin }
    const imported = await run(args, settings)
    expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining('4 exact, 0 approximate, 0 refused')])
    const evaluated = await halyard('flags', 'eval', 'two', '--project', String(project), '--distinct-id', 'ann')
    expect(evaluated.stdout).toBe('true\n')
    pages['/api/v2/flags/shop?summary=0'] = page([item('one')], 'http://elsewhere.invalid/flags')
    const elsewhere = await run(args, settings)
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('elsewhere.invalid, which is not')])
    const file = join(newFolder(), 'page.json')
    writeFileSync(file, JSON.stringify(page([item('one')])))
    const partial = await halyard('import-from', 'launchdarkly', '--project', String(project), '--file', file)
    expect([partial.code, partial.stderr]).toEqual([
      1,
      expect.stringContaining('1 of 2 flags; read every page with --url'),
    ])
    stub.close()
  })

  it('lists and creates projects, with a key', async () => {
    const key = ['--key', shown('HALYARD_KEY')]
    const created = JSON.parse((await halyard('projects', 'create', 'Second', '--json', ...key)).stdout)
    const projects = JSON.parse((await halyard('projects', 'list', '--json', ...key)).stdout)
    expect(projects.map(({ id }: { id: number }) => id)).toContain(created.id)
    const wrong = await halyard('projects', 'list', '--key', 'phx_wrong')
    expect([wrong.code, wrong.stderr]).toEqual([
      1,
      expect.stringMatching(/^halyard: The server at .* does not accept this key/),
    ])
  })

  it('checks the health of the server', async () => {
    expect((await halyard('health')).code).toBe(0)
    expect(JSON.parse((await halyard('health', '--ready', '--json')).stdout)).toMatchObject({
      http_status: 200,
      status: 'ready',
    })
    const down = await run(['health'], { HALYARD_URL: `http://127.0.0.1:${await freePort()}` })
    expect([down.code, down.stderr]).toEqual([1, expect.stringContaining('No Halyard server responds')])
  })

  it('backs up while serving, and never over a file that exists', async () => {
    const target = join(folder, 'copy.db')
    expect((await halyard('backup', target)).code).toBe(0)
    expect(statSync(target).mode & 0o077).toBe(0)
    expect((await halyard('backup', target)).stderr).toContain('exists already')
  })

  it('exports to standard output', async () => {
    const { stdout, code } = await halyard('export', '-')
    expect(code).toBe(0)
    for (const line of stdout.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow()
    expect(existsSync('-')).toBe(false)
  })

  it('prints the heads of audit logs, exports one and verifies it', async () => {
    const heads = await halyard('audit', 'head', '--json')
    const [head] = JSON.parse(heads.stdout)
    const { stdout } = await halyard('audit', 'export', head.organization)
    const path = join(newFolder(), 'audit.jsonl')
    writeFileSync(path, stdout)
    expect((await run(['audit', 'verify', path, '--head', head.hash])).code).toBe(0)
    expect((await run(['audit', 'verify', path, '--key', '0'.repeat(64)])).code).toBe(0)
    writeFileSync(path, stdout.replace('"operation":"', '"operation":"x'))
    expect((await run(['audit', 'verify', path])).code).toBe(1)
  })

  it('lists secrets by age, oldest first and without their values', async () => {
    const args = ['--email', 'owner@halyard.local', '--label', 'listed by age', '--json']
    const { id, value } = JSON.parse((await halyard('keys', 'create', ...args)).stdout)
    const headers = { authorization: `Bearer ${shown('HALYARD_KEY')}`, 'content-type': 'application/json' }
    const provider = {
      name: 'Company',
      issuer: 'https://id.example.com',
      client_id: 'halyard',
      client_secret: 'client-secret-value',
    }
    const providers = `${server.url}/api/organizations/@current/identity_providers/`
    const added = await fetch(providers, { method: 'POST', headers, body: JSON.stringify(provider) })
    expect(added.status).toBe(201)
    const { stdout, code } = await halyard('doctor', '--secrets', '--json')
    const listed: Record<string, unknown>[] = JSON.parse(stdout)
    expect([code, stdout.includes(value)]).toEqual([0, false])
    expect(listed.slice(-2)).toMatchObject([
      { kind: 'personal API key', label: 'listed by age', age_days: 0 },
      { kind: 'client secret', label: 'Company', age_days: 0 },
    ])
    expect(stdout).not.toContain('client-secret-value')
    const created = listed.map(secret => String(secret.created_at))
    expect(created).toEqual([...created].sort())
    expect(listed).toContainEqual(expect.objectContaining({ kind: 'secret key', label: 'halyard.key', age_days: 0 }))
    await halyard('keys', 'revoke', '--email', 'owner@halyard.local', id)
  })

  it('lists the key that signs checkpoints of the audit log with its age, and says when it cannot be opened', async () => {
    const headers = { authorization: `Bearer ${shown('HALYARD_KEY')}` }
    const head = await fetch(`${server.url}/api/organizations/@current/audit_log/head/`, { headers })
    const { checkpoint_key: fingerprint } = (await head.json()) as { checkpoint_key: string }
    const listed = JSON.parse((await halyard('doctor', '--secrets', '--json')).stdout)
    expect(listed).toContainEqual(
      expect.objectContaining({ kind: 'checkpoint key', mask: fingerprint, of: 'this installation', age_days: 0 }),
    )
    expect((await halyard('doctor')).stdout).toContain(`signed with the key ${fingerprint} (0 days old).`)
    const elsewhere = await run(['doctor'], {
      ...environment,
      HALYARD_SECRET_KEY: 'another-secret-key-of-32-characters!',
    })
    expect(elsewhere).toMatchObject({ code: 1, stdout: expect.stringContaining('sealed with another secret key') })
  })

  it('diagnoses an installation, and a fresh one passes the security audit', async () => {
    const { stdout, code } = await halyard('doctor')
    expect(stdout).toContain('The database file is intact.')
    expect([code, stdout.includes('BAD')]).toEqual([0, false])
    const audit = JSON.parse((await halyard('doctor', '--security', '--json')).stdout)
    expect(audit.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
    for (const name of readdirSync(folder)) expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0])
    const sick = await run(['doctor'], { DATABASE_URL: 'postgres://user@127.0.0.1:1/none' })
    expect([sick.code, sick.stdout]).toEqual([1, expect.stringContaining('BAD')])
    expect(stdout).toContain('Nothing is exported by OTLP')
    expect(stdout).toContain(
      'Prometheus metrics are served at /metrics on the main port, without a token: HOST is 127.0.0.1, so only this machine',
    )
    const silent = await run(['doctor'], { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })
    expect([silent.code, silent.stdout]).toEqual([1, expect.stringContaining('http://127.0.0.1:1/v1/traces')])
  })

  it('migrates the database of persons as well, and names the setting that is wrong', async () => {
    const into = newFolder()
    const [main, persons] = ['main.db', 'persons.db'].map(name => `sqlite:${join(into, name)}`) as [string, string]
    const settings = { DATABASE_URL: main, PERSONS_DATABASE_URL: persons }
    const migrated = await run(['migrate'], settings)
    expect(migrated.code).toBe(0)
    const version = Number(/Schema of persons version (\d+)\./.exec(migrated.stdout)?.[1])
    expect(JSON.parse((await run(['migrate', '--json'], settings)).stdout).persons).toEqual({ applied: [], version })
    const swapped = await run(['migrate'], { DATABASE_URL: persons, PERSONS_DATABASE_URL: main })
    expect([swapped.code, swapped.stderr]).toEqual([
      1,
      expect.stringContaining('DATABASE_URL names a database of persons'),
    ])
    const half = await run(['doctor'], { ...settings, DATABASE_URL: 'postgres://user@127.0.0.1:1/none' })
    expect([half.code, half.stdout]).toEqual([1, expect.stringContaining('The sqlite persons database responds')])
    expect(half.stdout).toContain('Check DATABASE_URL')
    const nowhere = { ...settings, PERSONS_DATABASE_URL: 'postgres://user:hidden@127.0.0.1:1/none' }
    const away = await run(['migrate-persons'], nowhere)
    expect([away.code, away.stderr]).toEqual([1, expect.stringContaining('Check PERSONS_DATABASE_URL.')])
    expect(away.stderr).not.toMatch(/hidden|\n\s+at /)
  })

  it('creates the demo without changing the current project, and removes all of it', async () => {
    const users = (await halyard('users', 'list', '--json')).stdout
    const headers = { authorization: `Bearer ${shown('HALYARD_KEY')}` }
    const current = async () =>
      ((await (await fetch(`${server.url}/api/projects/@current/`, { headers })).json()) as { id: number }).id
    const before = await current()
    const made = await halyard('demo')
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('Creating flags')])
    expect(await current()).toBe(before)
    expect((await halyard('demo', '--remove')).code).toBe(0)
    expect((await halyard('users', 'list', '--json')).stdout).toBe(users)
    expect((await halyard('projects', 'list')).stdout).not.toContain('Demo')
  })

  it('runs the commands that other files test in depth', async () => {
    const into = newFolder()
    const file = (name: string) => join(into, name)
    const onCopy = (...args: string[]) => run(args, { DATABASE_URL: `sqlite:${file('copy.db')}` })
    const plugin = join(import.meta.dirname, '../examples/plugins/flag-chat')
    expect(await halyard('plugins', 'test', plugin)).toMatchObject({ code: 0 })
    expect(await halyard('backup', file('backup.db'))).toMatchObject({ code: 0 })
    expect(await halyard('export', file('all.jsonl'))).toMatchObject({ code: 0 })
    expect(await onCopy('migrate')).toMatchObject({ code: 0 })
    expect(await onCopy('import', file('all.jsonl'))).toMatchObject({ code: 0 })
    const moved = `sqlite:${file('moved.db')}`
    expect(await halyard('migrate-store', `sqlite:${file('copy.db')}`, moved)).toMatchObject({ code: 0 })
    expect(await onCopy('restore', file('backup.db'))).toMatchObject({ code: 0 })

    expect(await halyard('dev', 'pull', '--out', file('dev.json'))).toMatchObject({ code: 0 })
    const development = await startServer({}, ['dev', '--file', file('dev.json')])
    expect(await development.stop()).toBe(0)
    const key = (await halyard('keys', 'create', '--email', 'owner@halyard.local', '--quiet')).stdout.trim()
    const edge = await startServer({}, ['edge', '--upstream', server.url, '--key', key, '--data', file('edge')])
    expect(await edge.stop()).toBe(0)

    // Counting people starts a thread.
    const flags = `${server.url}/api/projects/${shown('HALYARD_PROJECT_ID')}/feature_flags`
    const filters = { groups: [{ properties: [{ key: 'plan', type: 'person', value: 'pro' }] }] }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ key: 'counted', filters })
    const counted = await fetch(`${flags}/user_blast_radius/`, { method: 'POST', headers, body })
    expect(counted.status).toBe(200)
  })

  it('logs text levels, ISO times and events, but neither keys nor passwords', () => {
    const lines = logLines(server)
    expect(lines.find(({ event }) => event === 'server_listening')).toMatchObject({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })
    const text = JSON.stringify(lines)
    expect(text).toContain('"route"')
    expect(text).not.toMatch(/phx_|phc_|password/)
  })

  it('stops on SIGTERM with 0 and says so', async () => {
    expect(await server.stop()).toBe(0)
    expect(logLines(server).at(-1)).toMatchObject({ event: 'server_stopped', msg: 'stopped' })
  })
})

describe('the first start', () => {
  const databaseIn = (folder: string) => ({ DATABASE_URL: `sqlite:${join(folder, 'halyard.db')}` })

  it('loses nothing when the port is taken, and shows the credentials until they are used', async () => {
    const environment = { ...databaseIn(newFolder()), HALYARD_PRINT_CREDENTIALS: '1' }
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    const { port } = taken.address() as { port: number }
    const failed = await run(['serve', '--port', String(port)], environment)
    taken.close()
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^halyard: Port \d+ is in use.*another Halyard/),
    })
    expect(failed.stdout).not.toContain('phx_')

    const keyIn = ({ output }: Server) => /HALYARD_KEY=(phx_\w+)/.exec(output())?.[1]
    const first = await startServer(environment)
    const key = keyIn(first)
    expect(key).toBeDefined()
    await first.stop()
    const second = await startServer(environment)
    expect(keyIn(second)).toBe(key)
    const headers = { authorization: `Bearer ${key}` }
    expect((await fetch(`${second.url}/api/projects/`, { headers })).status).toBe(200)
    await second.stop()
    const third = await startServer(environment)
    expect(keyIn(third)).toBeUndefined()
    await third.stop()
    expect((await run(['credentials'], environment)).stderr).toContain('have been used')
  })

  it('prints no secret outside of a terminal; a one-time link sets the first owner up and signs them in', async () => {
    const environment = databaseIn(newFolder())
    const server = await startServer(environment)
    expect(server.output()).not.toMatch(/phx_|Password/)
    const setup = String(logLines(server).find(({ event }) => event === 'setup_required')?.setup)
    expect(setup).toMatch(/\/setup\?token=\w{43}$/)
    const page = await fetch(setup)
    expect([page.status, page.headers.get('content-security-policy')]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
    ])
    expect(await page.text()).toMatch(/<input id="first_name"[^>]* autofocus>/)
    const german = await fetch(setup, { headers: { 'accept-language': 'de-DE,de;q=0.9' } })
    expect(await german.text()).toContain('Mindestens 8 Zeichen')

    const token = new URL(setup).searchParams.get('token') ?? ''
    const send = (fields: Record<string, string>) =>
      fetch(`${server.url}/setup`, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' })
    const right = { token, first_name: 'Ada', email: 'ada@example.com', password: 'correct horse', project: 'Web shop' }
    expect((await send({ ...right, token: 'wrong' })).status).toBe(404)
    const wrong = { first_name: ' ', email: 'ada', password: 'short', project: '' }
    const unstorable = { first_name: 'Ada\nLovelace', project: 'Web\u0000shop' }
    for (const [field, value] of [...Object.entries(wrong), ...Object.entries(unstorable)]) {
      const refused = await send({ ...right, [field]: value })
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(`id="${field}-problem"`)])
    }
    const blank = await (await send({ token, password: 'short' })).text()
    expect(blank.match(/(?<=<p role="alert" id=")\w+(?=-problem)/g)).toEqual([
      'first_name',
      'email',
      'password',
      'project',
    ])
    expect(blank).not.toContain('short')
    expect((await run(['credentials', '--json'], environment)).stdout).toContain(token)
    const done = await send(right)
    expect(done.status).toBe(303)
    expect(done.headers.get('location')).toMatch(/^\/project\/\d+#signed-in$/)
    const cookie = done.headers.get('set-cookie')?.split(';')[0] ?? ''
    const resumed = await fetch(`${server.url}/api/session/resume/`, { method: 'POST', headers: { cookie } })
    const { api_key, user } = (await resumed.json()) as { api_key: string; user: { first_name: string } }
    expect(user.first_name).toBe('Ada')
    const projects = await fetch(`${server.url}/api/projects/`, { headers: { authorization: `Bearer ${api_key}` } })
    expect(await projects.text()).toContain('"name":"Web shop"')
    expect((await logIn(server.url, 'ada@example.com', 'correct horse')).status).toBe(200)
    expect((await send({ ...right, password: 'another one' })).status).toBe(404)
    expect((await fetch(setup)).status).toBe(404)
    await server.stop()
  })

  it('takes the owner from settings and files', async () => {
    const folder = newFolder()
    const file = join(folder, 'password')
    writeFileSync(file, 'from a file\n')
    const owner = { HALYARD_OWNER_EMAIL: 'me@example.com', HALYARD_OWNER_PASSWORD_FILE: file }
    const server = await startServer({
      ...databaseIn(folder),
      ...owner,
      HALYARD_BOOTSTRAP_KEY: `phx_${'k'.repeat(30)}`,
    })
    expect((await logIn(server.url, 'me@example.com', 'from a file')).status).toBe(200)
    expect(logLines(server).some(({ event }) => event === 'setup_required')).toBe(false)
    await server.stop()
  })

  it('refuses an emptied database beside its encryption key', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'halyard.db'), '')
    writeFileSync(join(folder, 'halyard.key'), 'key')
    const { code, stderr } = await run(['serve'], databaseIn(folder))
    expect([code, stderr]).toEqual([1, expect.stringContaining('is empty, but its encryption key')])
    expect(statSync(join(folder, 'halyard.db')).size).toBe(0)
  })

  const nodes = [process.execPath, ...(process.env.TEST_NODES ?? '').split(delimiter).filter(path => path !== '')]
  it.each(nodes)('prints no warning with %s', async node => {
    const server = await startServer(databaseIn(newFolder()), ['serve'], node)
    await server.stop()
    expect(server.errors()).toBe('')
  })
})

describe('the command line', () => {
  const leaves = (command: Command, path: readonly string[] = []): string[][] =>
    command.commands.length === 0
      ? [[...path]]
      : command.commands.flatMap(child => leaves(child, [...path, child.name()]))
  const commands = leaves(createProgram())

  it('explains every command with --help, which does nothing else', async () => {
    const folder = newFolder()
    expect(commands.length).toBeGreaterThan(25)
    for (const command of commands) {
      const { code, stdout, stderr } = await run([...command, '--help'], {}, folder)
      expect([command, code, stderr]).toEqual([command, 0, ''])
      expect(stdout).toContain(`Usage: halyard ${command.join(' ')}`)
      expect(stdout).toContain('Exit codes')
    }
    expect(readdirSync(folder)).toEqual([])
  })

  it.each([
    ['backup', 'out.db'],
    ['export', '-'],
    ['export', 'out.jsonl'],
    ['doctor'],
    ['users', 'list'],
    ['keys', 'list', '--email', 'a@b.c'],
    ['credentials'],
    ['flags', 'list'],
    ['keys', 'create', '--email', 'a@b.c'],
  ])('fails and creates nothing without a database: %s %s %s', async (...args) => {
    const folder = newFolder()
    const { code, stdout, stderr } = await run(args, {}, folder)
    expect(code).toBe(1)
    expect(stdout + stderr).toContain('There is no database at')
    expect(readdirSync(folder)).toEqual([])
  })

  it.each(['bash', 'zsh', 'fish'])('completes every command in %s', async shell => {
    const { code, stdout } = await run(['completion', shell])
    expect(code).toBe(0)
    for (const command of commands) expect(stdout).toContain(command.join(' '))
    for (const option of ['request-approval', 'expires-in-days']) expect(stdout).toContain(option)
  })

  it('completes commands, options and nothing after an option that takes a value in bash', async () => {
    const { stdout: script } = await run(['completion', 'bash'])
    const complete = (...line: string[]) => {
      const ask = `COMP_WORDS=(halyard "$@"); COMP_CWORD=$#; _halyard; printf '%s\\n' "\${COMPREPLY[@]}"`
      const output = execFileSync('bash', ['--norc', '-c', `${script}\n${ask}`, 'bash', ...line], { encoding: 'utf8' })
      return output.trim().split('\n')
    }
    expect(complete('fl')).toEqual(['flags'])
    expect(complete('flags', 'ro')).toEqual(['rollout'])
    expect(complete('flags', '--project', '3', 'list', '--se')).toEqual(['--search'])
    expect(complete('keys', 'secret', '')).toEqual(['create', 'list', 'revoke', '--help'])
    expect(complete('flags', 'list', '--search', '')).toEqual([''])
  })

  it('ends quietly when the reader of its output has enough', () => {
    const command = `"${process.execPath}" "${program}" completion fish | head -c 1; exit \${PIPESTATUS[0]}`
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', command], {
      env: clean({}),
      encoding: 'utf8',
    })
    expect([stdout, stderr, status]).toEqual(['#', '', 0])
  })

  it('prints its version', async () => {
    expect((await run(['version'])).stdout).toBe((await run(['--version'])).stdout)
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
    expect((await run(['--version'])).stdout).toBe(`${version}\n`)
  })

  it.each([
    [['nonsense'], "unknown command 'nonsense'"],
    [['keys', 'create'], "required option '--email <address>'"],
    [['keys'], 'Commands:'],
    [['users'], 'reset-password'],
    [['users', 'bogus'], "unknown command 'bogus'"],
    [['nonsense', '--help'], "unknown command 'nonsense'"],
    [['flags', 'nonsense', '--help'], "unknown command 'nonsense'"],
    [['flags', 'list', '--project', 'abc'], 'must be the id of a project'],
    [['backup'], "missing required argument 'file'"],
    [['doctor', '--nonsense'], "unknown option '--nonsense'"],
    [['keys', 'create', '--email', 'a@b.c', '--expires-in-days', 'x'], 'whole number'],
    [['migrate-store', 'mysql://x', 'sqlite:y'], 'names no database'],
  ])('exits with 2 for wrong usage: %j', async (args, message) => {
    const { code, stderr } = await run(args, {}, newFolder())
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it.each([
    [{ PORT: 'http', DATABASE_URL: 'mysql://x' }, /PORT must be a whole number.*\nDATABASE_URL must be/s],
    [{ TRUST_PROXY: 'foo' }, /^halyard: TRUST_PROXY must be/],
    [{ DATABASE_URL: 'postgres://u:a/b@h/d' }, /^halyard: DATABASE_URL is not a valid URL.*PGPASSWORD/],
    [{ LOG_FORMAT: 'xml' }, /^halyard: LOG_FORMAT must be one of/],
  ])('exits with 78 for wrong settings: %j', async (environment, message) => {
    const { code, stderr } = await run(['serve'], environment, newFolder())
    expect([code, stderr]).toEqual([78, expect.stringMatching(message)])
  })

  it('reports a misspelt setting with a suggestion', async () => {
    const environment = { DATABASE_URL: 'sqlite::memory:', HALYARD_WORKER: '3', LOG_FORMAT: 'pretty' }
    const { stdout } = await run(['serve', '--host', 'not-an-address.invalid'], environment)
    expect(stdout).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} WARN +HALYARD_WORKER is not a setting\. Did you mean HALYARD_WORKERS\?/,
    )
  })

  it('detects options that npm has taken for itself', async () => {
    const npm = { npm_command: 'run-script', npm_lifecycle_event: 'halyard', npm_config_security: 'true' }
    const { code, stderr } = await run(['doctor'], npm, newFolder())
    expect([code, stderr]).toEqual([2, expect.stringContaining('npm run halyard -- doctor --security')])
  })

  it('reports an unavailable database once, not once per attempt', async () => {
    const environment = {
      DATABASE_URL: `postgres://user@127.0.0.1:${await freePort()}/none`,
      HALYARD_DATABASE_WAIT_SECONDS: '2',
      PORT: '0',
    }
    const { code, stdout, stderr } = await run(['serve'], environment)
    expect(code).toBe(1)
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.map(({ event }) => event)).toEqual(['database_unavailable'])
    expect(stdout + stderr).not.toContain('    at ')
  })
})

describe('code that is loaded on demand', () => {
  it('is loaded by a command or request of this file, all of it', () => {
    const files: string[] = JSON.parse(readFileSync(join(dirname(program), '.on-demand.json'), 'utf8'))
    const loaded = readdirSync(coverage).flatMap(name => {
      const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as { result: { url: string }[] }
      return result.map(({ url }) => url)
    })
    // OpenTelemetry has a file for each operating system. Threads of the sandbox are terminated and list nothing; a plugin ran in one above.
    const isOther = (name: string) => isBuiltin(name) || /getMachineId|sandbox-worker/.test(name)
    const wanted = files.filter(name => !isOther(name))
    const isLoaded = (name: string) =>
      loaded.some(url => url.endsWith(`/dist/${basename(name)}`) || url.includes(`/node_modules/${name}/`))
    expect(wanted.filter(name => !isLoaded(name))).toEqual([])
  })
})

describe('the packed package', () => {
  const root = join(import.meta.dirname, '..')
  const manifest = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8'))

  it('runs in an empty folder with nothing but its dependencies', async () => {
    const folder = newFolder()
    const npm = (args: string[], cwd: string) =>
      new Promise<string>((resolve, reject) =>
        execFile(
          'npm',
          args,
          { cwd, env: clean({ HOME: folder }), shell: process.platform === 'win32' },
          (error, stdout) => (error ? reject(error) : resolve(stdout)),
        ),
      )
    const [{ filename, files }] = JSON.parse(
      await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], join(root, 'packages/server')),
    )
    const names = files.map(({ path }: { path: string }) => path)
    expect(names).toContain('dist/halyard.js')
    expect(names).toContain('dist/THIRD-PARTY-LICENSES.txt')
    const licenses = readFileSync(join(root, 'packages/server/dist/THIRD-PARTY-LICENSES.txt'), 'utf8')
    for (const name of ['fastify', 'react', '@opentelemetry/api'])
      expect(licenses).toMatch(new RegExp(`^${name} \\d`, 'm'))
    expect(licenses).toMatch(/Permission is hereby granted/)
    expect(names.filter((name: string) => /\.(map|ts)$|\.compile-cache/.test(name))).toEqual([])
    await new Promise((resolve, reject) =>
      execFile('tar', ['-xzf', filename], { cwd: folder }, error => (error ? reject(error) : resolve(undefined))),
    )
    expect(Object.keys(manifest.dependencies).filter(name => name.startsWith('@halyard/'))).toEqual([])
    // What npm would install, from this checkout: the test needs no network.
    const { symlinkSync } = await import('node:fs')
    for (const name of Object.keys(manifest.dependencies)) {
      const target = join(folder, 'package/node_modules', name)
      mkdirSync(join(target, '..'), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), target, 'junction')
    }
    const installed = join(folder, 'package', manifest.bin.halyard)
    const version = await new Promise(resolve =>
      execFile(process.execPath, [installed, '--version'], { cwd: folder, env: clean({}) }, (_error, stdout) =>
        resolve(stdout),
      ),
    )
    expect(version).toBe(`${manifest.version}\n`)
    const child = spawn(process.execPath, [installed, 'serve', '--port', '0'], { cwd: folder, env: clean({}) })
    const output = await new Promise<string>((resolve, reject) => {
      let text = ''
      child.once('exit', code => reject(new Error(`exited ${code}: ${text}`)))
      child.stderr.on('data', data => (text += data))
      child.stdout.on('data', data => {
        text += data
        if (text.includes('server_listening')) resolve(text)
      })
    })
    const address = /"address":"([^"]+)"/.exec(output)?.[1]
    expect((await fetch(`${address}/`)).headers.get('content-type')).toContain('text/html')
    child.kill('SIGTERM')
    await once(child, 'exit')
    expect(existsSync(join(folder, 'data/halyard.db'))).toBe(true)
  })
})
