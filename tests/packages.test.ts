import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishedPackages } from '../scripts/npm-packages/published-packages.mjs'
import { startRegistry } from './docs/package-registry.ts'

/** Each published package, packed and installed into an empty project, compiles under `strict` and works. */

const root = resolve(import.meta.dirname, '..')
const run = promisify(execFile)
const npm = (args: string[], cwd: string) =>
  run('npm', [...args, '--loglevel=error'], { cwd, shell: process.platform === 'win32' })

/** What the packages expect the application to have; packed from what is installed here, so that no registry is needed. */
const peers = [
  '@openfeature/core',
  '@openfeature/react-sdk',
  '@openfeature/server-sdk',
  '@openfeature/web-sdk',
  'react',
  'typebox',
]

const definitions = {
  flags: [
    { id: 1, key: 'on', active: true, filters: { groups: [{ properties: [] }], payloads: { true: '{"a":1}' } } },
    { id: 2, key: 'half', active: true, filters: { groups: [{ properties: [], rollout_percentage: 50 }] } },
    {
      id: 3,
      key: 'mail',
      active: true,
      filters: { groups: [{ properties: [{ key: 'email', type: 'person', operator: 'regex', value: '@a\\.b$' }] }] },
    },
  ],
  cohorts: {},
  group_type_mapping: {},
  property_matching_version: 2,
}

/** Evaluates with the client, without a network, and with the engine. The same text runs as a module and as CommonJS. */
const evaluations = `
const client = createClient({ url: 'http://127.0.0.1:9', key: 'phs_none', bootstrap: ${JSON.stringify(definitions)}, updates: 'none' })
const context = { distinctId: 'user-1', personProperties: { email: 'x@a.b' } }
const snapshot = compile(
  { flags: [{ id: 1, key: 'half', active: true, filters: { groups: [{ rollout_percentage: 50 }] } }], cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 },
  { regex: () => { throw new Error('none') } },
)
const values = ['on', 'half', 'mail', 'gone'].map(key => client.evaluateLocally(key, context).value ?? null)
const engine = snapshot.evaluate({ distinctId: 'user-1' }, { now: 0 }).get('half')?.value
const text = JSON.stringify([...values, engine, client.evaluateLocally('on', context).payload])
`
const esm = `import { createClient } from '@halyard/client'\nimport { compile } from '@halyard/engine'\n${evaluations}`
const expected = '[true,true,true,null,true,{"a":1}]'

const openFeature = `
import { HalyardProvider } from '@halyard/openfeature-server'
import { OpenFeature } from '@openfeature/server-sdk'
const provider = new HalyardProvider({ url: 'http://127.0.0.1:9', key: 'phs_none', bootstrap: ${JSON.stringify(definitions)}, updates: 'none' })
await OpenFeature.setProviderAndWait(provider)
const details = await OpenFeature.getClient().getObjectDetails('on', {}, { targetingKey: 'user-1' })
console.log(JSON.stringify([details.value, details.reason]))
await OpenFeature.close()
`

const typed = `
import { type ClientStatus, createClient, type Evaluation, type HalyardClient } from '@halyard/client'
import { fileCache } from '@halyard/client/file-cache'
import { createApi, type Flag, routes } from '@halyard/contract'
import { compile, type Snapshot } from '@halyard/engine'

const client: HalyardClient = createClient({ url: 'http://127.0.0.1:9', key: 'phs_none', cache: fileCache('x'), updates: 'none' })
export const status: ClientStatus = client.status
export const evaluation: Promise<Evaluation> = client.evaluate('a', { distinctId: 'b' })
// @ts-expect-error: a key is required.
createClient({ url: 'x' })
export const key = (flag: Flag): string => flag.key
export const path: string = routes.flags.list.path
export const created: Promise<Flag> = createApi({ url: 'x', key: 'y' }).call(routes.flags.create, { params: { project_id: '1' }, body: { key: 'a' } })
export const snapshot: Snapshot = compile({ flags: [], cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 }, { regex: () => ({ size: 1, test: () => true }) })
`
const typedOpenFeature = `
import { HalyardProvider } from '@halyard/openfeature-server'
import { OpenFeature, type Provider } from '@openfeature/server-sdk'
const provider: Provider = new HalyardProvider({ url: 'http://127.0.0.1:9', key: 'phs_none' })
OpenFeature.setProvider(provider)
`

const typedWeb = `
import { evaluateFlags, type FlagSnapshot, HalyardWebProvider } from '@halyard/openfeature-web'
import { OpenFeature, type Provider } from '@openfeature/web-sdk'
import { createPageOverrides, type HalyardToolbar, showToolbar } from '@halyard/openfeature-web/toolbar'
const overrides = createPageOverrides()
const provider: Provider = new HalyardWebProvider({ url: 'http://127.0.0.1:9', token: 'phc_none', overrides })
OpenFeature.setProvider(provider)
export const toolbar: HalyardToolbar = showToolbar({ url: 'x', overrides, openFeature: OpenFeature })
export const snapshot: Promise<FlagSnapshot | undefined> = evaluateFlags({ url: 'x', token: 'y', context: {} })
`

const typedReact = `
import { HalyardFlags, type HalyardFlagsProps, useFlag } from '@halyard/react'
declare module '@halyard/react' { interface Register { flags: { on: boolean; color: 'red' | 'blue'; theme: { dark: boolean } } } }
export function Component(): string {
  const color: 'red' | 'blue' = useFlag('color', 'red')
  const dark: boolean = useFlag('theme', { dark: true }).dark
  // @ts-expect-error: there is no such flag.
  useFlag('unknown', false)
  // @ts-expect-error: there is no such variant.
  useFlag('color', 'green')
  return color + dark
}
export const props: HalyardFlagsProps = { url: 'x', token: 'y', context: { targetingKey: 'u' } }
export const Flags = HalyardFlags
`
const typedTesting = `
import { combinationsOf, createTestFlags, serverTestProvider, webTestProvider, withFlags } from '@halyard/test-kit'
import { OpenFeature, type Provider } from '@openfeature/server-sdk'
import type { Provider as WebProvider } from '@openfeature/web-sdk'
const flags = createTestFlags({ values: { on: true } })
const provider: Provider = serverTestProvider(flags)
export const web: WebProvider = webTestProvider(flags)
OpenFeature.setProvider(provider)
export const result: Promise<number> = withFlags(flags, { on: false }, () => combinationsOf({ flags: [] }).length)
`

/** The compiler checks the libraries as well, on machines that may be busy. */
const compileMilliseconds = 300_000

const installLines = readFileSync(join(root, 'docs/quick-start/in-process.md'), 'utf8')
  .split('\n')
  .filter(line => line.startsWith('npm install ') && line.includes('HALYARD_PACKAGES'))

let project: string
let registry: Awaited<ReturnType<typeof startRegistry>>
beforeAll(async () => {
  registry = await startRegistry(root)
  project = mkdtempSync(join(tmpdir(), 'halyard-packages-'))
  const tarballs = join(project, 'tarballs')
  mkdirSync(tarballs)
  await run(process.execPath, [join(root, 'scripts/npm-packages/pack.mjs'), '--out', tarballs])
  const folders = peers.map(name => join(root, 'node_modules', name))
  await npm(['pack', ...folders, '--ignore-scripts', '--pack-destination', tarballs], project)
  writeFileSync(join(project, 'package.json'), '{"private": true, "type": "module"}')
  const files = readdirSync(tarballs).map(name => join(tarballs, name))
  await npm(['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', ...files], project)
}, 900_000)
afterAll(async () => {
  await registry.stop()
  rmSync(project, { recursive: true, force: true })
})

const write = (name: string, text: string): string => {
  const path = join(project, name)
  writeFileSync(path, text)
  return path
}

/** Not part of the lock file, so they need not be installed, except where `HALYARD_TEST_RUNTIMES` is `all`. */
const runtimes = otherRuntimes()
const isInstalled = ({ command }: { readonly command: string }) => existsSync(command)
const isUsed = process.env.HALYARD_TEST_RUNTIMES === 'all' ? () => true : isInstalled
const scripted = runtimes.filter(({ name }) => name !== 'workerd').filter(isUsed)
const isolates = runtimes.filter(({ name }) => name === 'workerd').filter(isUsed)
const unused = runtimes.filter(runtime => !isUsed(runtime)).map(({ name }) => name)
if (unused.length > 0) {
  console.info(`Not tested, because not installed: ${unused.join(', ')} (scripts/npm-packages/install-runtimes.mjs).`)
}

describe('packed packages', () => {
  it('have a line in the docs that installs each', () => {
    for (const name of publishedPackages.filter(each => each !== 'engine')) {
      expect(
        installLines.some(line => new RegExp(`[-,]${name}\\}?-0`).test(line)),
        name,
      ).toBe(true)
    }
  })

  it.each(publishedPackages)('@halyard/%s has complete metadata and only built files', name => {
    const folder = join(project, 'node_modules/@halyard', name)
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({ license: 'MIT', sideEffects: false, type: 'module', engines: { node: '>=20.19' } })
    expect(manifest.description).toMatch(/\.$/)
    expect(manifest.devDependencies).toBeUndefined()
    expect(JSON.stringify(manifest)).not.toContain('src/')
    for (const file of ['LICENSE', 'README.md', 'dist/index.js', 'dist/index.d.ts']) {
      expect(existsSync(join(folder, file)), file).toBe(true)
    }
    const isCommonJs = ['engine', 'client', 'openfeature-server', 'test-kit'].includes(name)
    expect(existsSync(join(folder, 'dist/index.cjs'))).toBe(isCommonJs)
  })

  it(
    'type-check under strict without the types of the DOM or Node, also inside the libraries',
    async () => {
      write('typed.ts', typed)
      write('typed.cts', typed.replace(/import .*contract'\n|export const (key|path|created).*\n/g, ''))
      expect(await compileFiles(['typed.ts', 'typed.cts'], ['--types', ''])).toBe('')
    },
    compileMilliseconds,
  )

  it(
    'type-check with OpenFeature',
    async () => {
      mkdirSync(join(project, 'node_modules/@types'), { recursive: true })
      symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'), 'junction')
      write('openfeature.ts', typedOpenFeature)
      expect(await compileFiles(['openfeature.ts'], ['--types', 'node'])).toBe('')
      write('test-kit.ts', typedTesting)
      expect(await compileFiles(['test-kit.ts'], ['--types', 'node'])).toBe('')
      symlinkSync(join(root, 'node_modules/@types/react'), join(project, 'node_modules/@types/react'), 'junction')
      write('react.ts', typedReact)
      expect(await compileFiles(['react.ts'], ['--types', '', '--lib', 'es2023,dom'])).toBe('')
      write('openfeature-web.ts', typedWeb)
      expect(await compileFiles(['openfeature-web.ts'], ['--types', '', '--lib', 'es2023,dom'])).toBe('')
    },
    compileMilliseconds,
  )

  it('check a program that uses the typed API without deriving types from schemas', async () => {
    write(
      'manage.ts',
      `import { createApi, routes } from '@halyard/contract'
const api = createApi({ url: 'x', key: 'y' })
export const created = await api.call(routes.flags.create, { params: { project_id: '1' }, body: { key: 'a' } })
`,
    )
    const report = await compileFiles(['manage.ts'], ['--types', '', '--skipLibCheck', 'true', '--extendedDiagnostics'])
    const count = (name: string) => Number(new RegExp(`^${name}: +(\\d+)`, 'm').exec(report)?.[1] ?? Number.NaN)
    expect(report).not.toContain('error TS')
    expect(count('Types')).toBeLessThan(5_000)
    expect(count('Instantiations')).toBeLessThan(10_000)
  })

  it('resolve the types of their subpaths for older compilers', async () => {
    write(
      'subpaths.cts',
      `import { fileCache } from '@halyard/client/file-cache'
export const cache = fileCache('x')
`,
    )
    const older = ['--module', 'commonjs', '--moduleResolution', 'node10', '--skipLibCheck', 'true']
    expect(await compileFiles(['subpaths.cts'], older, 'typescript-5')).toBe('')
  })

  it('work in tests of CommonJS applications', async () => {
    const program = write(
      'jest.cjs',
      `const { createTestFlags, serverTestProvider, withFlags } = require('@halyard/test-kit')
const { OpenFeature } = require('@openfeature/server-sdk')
const flags = createTestFlags({ values: { on: false } })
OpenFeature.setProviderAndWait(serverTestProvider(flags)).then(async () => {
  const value = () => OpenFeature.getClient().getBooleanValue('on', false, { targetingKey: 'a' })
  console.log(await value(), await withFlags(flags, { on: true }, value))
})`,
    )
    expect((await run(process.execPath, [program])).stdout).toBe('false true\n')
  })

  it.each(installLines)('install with one line of the docs: %s', async line => {
    const application = mkdtempSync(join(project, 'application-'))
    writeFileSync(join(application, 'package.json'), '{"private": true, "type": "module"}')
    const env = {
      ...process.env,
      HALYARD_PACKAGES: join(project, 'tarballs'),
      npm_config_registry: registry.url,
      npm_config_cache: join(project, 'npm-cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_ignore_scripts: 'true',
    }
    await run('bash', ['-c', line], { cwd: application, env })
    const [, name] = /([\w-]+)\}?-0\.1\.0\.tgz/.exec(line)!
    const imported = `await import('@halyard/${name!.replace(/^halyard-/, '')}')`
    await run(process.execPath, ['--input-type=module', '-e', imported], { cwd: application })
  })

  it('run as modules and as CommonJS', async () => {
    const module = write('program.mjs', `${esm}\nconsole.log(text)`)
    expect((await run(process.execPath, [module])).stdout).toBe(`${expected}\n`)
    const imports = `const { createClient } = require('@halyard/client')\nconst { compile } = require('@halyard/engine')\n`
    const commonJs = write('program.cjs', `${imports}${evaluations}\nconsole.log(text)`)
    expect((await run(process.execPath, [commonJs])).stdout).toBe(`${expected}\n`)
    const { stdout: usage } = await run(join(project, 'node_modules/.bin/ofrep-conformance'), ['--help'])
    expect(usage).toMatch(/^Usage: ofrep-conformance <url>/)
    const provider = write('openfeature.mjs', openFeature)
    expect((await run(process.execPath, [provider])).stdout).toBe('[{"a":1},"STATIC"]\n')
  })

  it.each(scripted)('run on $name', async ({ command, args }) => {
    const program = write('program.mjs', `${esm}\nconsole.log(text)`)
    expect((await run(command, [...args, program], { cwd: project })).stdout).toBe(`${expected}\n`)
  })

  it.each(isolates)('run on $name, which forbids compiling WebAssembly', async ({ command }) => {
    const modules = ['client', 'engine'].map(name => {
      const file = `node_modules/@halyard/${name}/dist/index.js`
      return `(name = "@halyard/${name}", esModule = embed "${file}")`
    })
    write(
      'worker.mjs',
      `${esm}\nexport default { async test() { if (text !== ${JSON.stringify(expected)}) throw new Error(text) } }`,
    )
    write(
      'worker.capnp',
      `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs"), ${modules.join(', ')}],
  compatibilityDate = "2026-01-01",
))]);`,
    )
    const { stderr } = await run(command, ['test', 'worker.capnp'], { cwd: project })
    expect(stderr).toMatch(/PASS/)
  })
})

async function compileFiles(files: string[], options: string[], version = 'typescript'): Promise<string> {
  const compiler = join(root, 'node_modules', version, 'bin/tsc')
  const fixed = ['--strict', '--noEmit', '--skipLibCheck', 'false', '--module', 'nodenext', '--lib', 'es2023']
  const args = [compiler, ...fixed, '--target', 'es2022', ...options, ...files]
  const { stdout } = await run(process.execPath, args, { cwd: project }).catch((error: { stdout: string }) => error)
  return stdout
}

/** Where `node scripts/npm-packages/install-runtimes.mjs` puts them. */
function otherRuntimes() {
  const folder = join(root, '.cache/runtimes/node_modules')
  return [
    { name: 'Node 22', command: join(folder, 'node-22/bin/node'), args: [] },
    { name: 'Node 24', command: join(folder, 'node-24/bin/node'), args: [] },
    { name: 'Bun', command: join(folder, '.bin/bun'), args: ['run'] },
    { name: 'Deno', command: join(folder, '.bin/deno'), args: ['run', '--no-prompt', '--allow-all'] },
    { name: 'workerd', command: join(folder, '.bin/workerd'), args: [] },
  ]
}
