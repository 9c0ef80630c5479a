import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'

/** Clients that are generated from the OpenAPI document of a running server compile, and work against it. */

const root = resolve(import.meta.dirname, '../..')
/** The generators use the compiler API of TypeScript 5, which TypeScript 7 does not have. */
const typescript5 = pathToFileURL(join(import.meta.dirname, 'typescript-5.mjs')).href
const run = promisify(execFile)

const openApiFetch = `
import createClient from 'openapi-fetch'
import type { components, paths } from './openapi-typescript.ts'

type FeatureFlag = components['schemas']['FeatureFlag']
const { HALYARD_URL = '', HALYARD_KEY = '', HALYARD_TOKEN = '' } = process.env
const client = createClient<paths>({ baseUrl: HALYARD_URL, headers: { authorization: \`Bearer \${HALYARD_KEY}\` } })
const rollout = (flag: FeatureFlag | undefined): number | null | undefined => flag?.filters.groups?.[0]?.rollout_percentage

const path = { project_id: '@current' }
const filters: components['schemas']['Filters'] = {
  groups: [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }], rollout_percentage: 100 }],
}
const created = await client.POST('/api/projects/{project_id}/feature_flags/', {
  params: { path },
  body: { key: 'first', filters },
})
const refused = await client.POST('/api/projects/{project_id}/feature_flags/', { params: { path }, body: { key: 'first' } })
const listed = await client.GET('/api/projects/{project_id}/feature_flags/', {
  params: { path, query: { limit: 10, active: 'true', deleted: false } },
})
const evaluated = await client.POST('/flags/', {
  params: { query: { v: 2 } },
  body: { token: HALYARD_TOKEN, distinct_id: 'user-1', person_properties: { plan: 'pro' } },
})
console.log(
  JSON.stringify({
    rollout: rollout(created.data),
    error: refused.error?.code,
    keys: listed.data?.results.map(flag => flag.key),
    enabled: evaluated.data && 'flags' in evaluated.data ? evaluated.data.flags.first?.enabled : undefined,
  }),
)
`

const heyApi = `
import { client } from './hey-api/client.gen.ts'
import { createFeatureFlag, evaluateFlags, listFeatureFlags } from './hey-api/sdk.gen.ts'
import type { FeatureFlag, Filters } from './hey-api/types.gen.ts'

const { HALYARD_URL = '', HALYARD_KEY = '', HALYARD_TOKEN = '' } = process.env
client.setConfig({ baseUrl: HALYARD_URL, auth: HALYARD_KEY })
const rollout = (flag: FeatureFlag | undefined): number | null | undefined => flag?.filters.groups?.[0]?.rollout_percentage

const path = { project_id: '@current' }
const filters: Filters = { groups: [{ properties: [], rollout_percentage: 100 }] }
const created = await createFeatureFlag({ path, body: { key: 'second', filters } })
const refused = await createFeatureFlag({ path, body: { key: 'second' } })
const listed = await listFeatureFlags({ path, query: { limit: 10, active: 'true', search: 'second' } })
const evaluated = await evaluateFlags({ body: { token: HALYARD_TOKEN, distinct_id: 'user-1' }, query: { v: 2 } })
console.log(
  JSON.stringify({
    rollout: rollout(created.data),
    error: refused.error?.code,
    keys: listed.data?.results.map(flag => flag.key),
    enabled: evaluated.data && 'flags' in evaluated.data ? evaluated.data.flags.second?.enabled : undefined,
  }),
)
`

describe('generated clients', () => {
  let s: Program
  let folder: string
  beforeAll(async () => {
    s = await startProgram('sqlite')
    folder = mkdtempSync(join(tmpdir(), 'halyard-clients-'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    mkdirSync(join(folder, 'hey-api'))
    writeFileSync(join(folder, 'openapi.json'), (await s.get('/api/schema/')).text)
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
    writeFileSync(join(folder, 'openapi-fetch.ts'), openApiFetch)
    writeFileSync(join(folder, 'hey-api.ts'), heyApi)
    await Promise.all([
      generate('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'openapi-typescript.ts'),
      generate('@hey-api/openapi-ts/dist/run.mjs', '-i', 'openapi.json', '-o', 'hey-api', '--no-log-file'),
    ])
  }, 180_000)
  afterAll(async () => {
    await s.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const generate = (program: string, ...args: string[]) =>
    run(process.execPath, ['--import', typescript5, join(root, 'node_modules', program), ...args], { cwd: folder })

  /** Bundles the program and runs it; what it prints is JSON. */
  async function print(program: string): Promise<unknown> {
    const outfile = join(folder, `${program}.mjs`)
    await build({
      entryPoints: [join(folder, `${program}.ts`)],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
    })
    const env = { ...process.env, HALYARD_URL: s.url, HALYARD_KEY: s.key, HALYARD_TOKEN: s.projectToken }
    return JSON.parse((await run(process.execPath, [outfile], { env })).stdout)
  }

  it('type-check under strict', async () => {
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'preserve',
      '--moduleResolution',
      'bundler',
      '--target',
      'es2022',
      '--types',
      'node',
    ]
    const programs = ['openapi-fetch.ts', 'hey-api.ts']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = await run(
      process.execPath,
      [compiler, ...options, '--allowImportingTsExtensions', ...programs],
      { cwd: folder },
    ).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  }, 180_000)

  it('work with openapi-typescript and openapi-fetch', async () => {
    expect(await print('openapi-fetch')).toEqual({ rollout: 100, error: 'unique', keys: ['first'], enabled: true })
  })

  it('work with @hey-api/openapi-ts', async () => {
    expect(await print('hey-api')).toEqual({ rollout: 100, error: 'unique', keys: ['second'], enabled: true })
  })
})
