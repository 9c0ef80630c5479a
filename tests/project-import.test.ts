import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { DialectName } from '../packages/server/src/storage/migrations/migration.ts'
import { tableShapes } from '../packages/server/src/storage/transfer/table-shapes.ts'
import { createTestDatabase, type TestDatabase } from '../packages/server/src/testing/databases.ts'
import { type Scenario, startScenario } from '../packages/server/src/testing/scenario.ts'
import { canonicalLines, numbersIn, rowNumbersIn } from './canonical-export.ts'
import { runCommand } from './faults/server-process.ts'
import { type StagedProject, stageProject } from './staged-project.ts'

// Starts many processes, which is slow on a busy machine.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 300_000 })

const folder = mkdtempSync(join(tmpdir(), 'halyard-import-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const newFile = () => join(folder, `export-${++files}`)
const environment = { HALYARD_SECRET_KEY: 'a key that both installations share' }
const halyard = (databaseUrl: string, args: readonly string[], keys: Record<string, string> = environment) =>
  runCommand(args, { DATABASE_URL: databaseUrl, LOG_LEVEL: 'silent', ...keys })

async function exported(databaseUrl: string, projectId: number): Promise<string> {
  const file = newFile()
  const { output } = await halyard(databaseUrl, ['export', file, '--project', String(projectId)])
  expect(output).toMatch(/Exported \d+ rows/)
  return file
}

/** The evaluation results of all persons, without flag ids. */
async function resultsOf(s: Scenario, { token, people }: Pick<StagedProject, 'token' | 'people'>): Promise<unknown[]> {
  const results: unknown[] = []
  for (const distinct_id of [...people, 'unknown']) {
    const groups = { company: people.indexOf(distinct_id) % 2 === 0 ? 'acme' : 'globex' }
    const { status, body } = await s.as(undefined).post('/flags/?v=2', { token, distinct_id, groups })
    expect(status).toBe(200)
    for (const flag of Object.values(body.flags) as { metadata?: { id?: number } }[]) delete flag.metadata?.id
    results.push(body.flags)
  }
  return results
}

const rounds = Number(process.env.HALYARD_IMPORT_ROUNDS ?? 1)
const seeds = Array.from({ length: rounds }, (_, n) => Number(process.env.HALYARD_FAULT_SEED ?? 11) + n)
const directions: readonly (readonly [DialectName, DialectName])[] = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
]

describe.each(directions.flatMap(([from, to]) => seeds.map(seed => [from, to, seed] as const)))(
  'a project from %s into a running installation on %s, seed %i',
  (from, to, seed) => {
    let source: TestDatabase
    let target: TestDatabase
    let s: Scenario
    let staged: StagedProject
    let file: string
    let before: unknown[]
    beforeAll(async () => {
      source = await createTestDatabase(from)
      target = await createTestDatabase(to)
      staged = await stageProject(from, source.url, seed, environment)
      file = await exported(source.url, staged.id)
      const there = await startScenario(from, { databaseUrl: source.url, environment })
      before = await resultsOf(there, staged)
      await there.close()
      s = await startScenario(to, { databaseUrl: target.url, environment })
      await s.join('colleague')
      await s.post(`${s.organization}/roles/`, { name: 'crew' })
      await s.post(`${s.project}/feature_flags/`, { key: 'flag-0', name: 'of another project' })
    })
    afterAll(async () => {
      await s?.close()
      await source.drop()
      await target.drop()
    })

    const projects = async () => (await s.get('/api/projects/')).body.results as { id: number; api_token: string }[]
    const importInto = (...args: string[]) => halyard(target.url, ['import', file, ...args])

    it('the staged project has rows in every table of a project', async () => {
      const tables = readFileSync(file, 'utf8').matchAll(/^{"table":"(\w+)"/gm)
      const all = (await tableShapes()).map(({ name }) => name).filter(name => !ofTheInstallation.has(name))
      expect(new Set([...tables].map(([, table]) => table))).toEqual(new Set(all))
    })

    it('a dry run prints the plan and writes nothing', async () => {
      const untouched = await exported(target.url, s.projectId)
      const { code, output } = await importInto('--dry-run')
      expect(code).toBe(0)
      expect(output).toMatch(/Would import \d+ rows as a new project, Staging/)
      expect(output).toContain('No account here: ghost@example.com')
      expect(output).toContain('The role Only there was missing')
      expect(output).toContain('Nothing was written')
      expect(await projects()).toHaveLength(1)
      expect(
        readFileSync(await exported(target.url, s.projectId), 'utf8')
          .split('\n')
          .slice(1),
      ).toEqual(readFileSync(untouched, 'utf8').split('\n').slice(1))
      expect((await s.get(`${s.organization}/roles/`)).body.count).toBe(1)
    })

    it('is complete: evaluation results are the same, and a new export differs only in ids', async () => {
      const request = { token: staged.token, distinct_id: 'person-1' }
      expect((await s.as(undefined).post('/flags/?v=2', request)).status).toBe(401)
      const { code, output } = await importInto()
      expect([code, output]).toEqual([0, expect.stringContaining(`Its token: ${staged.token}`)])
      expect(output).not.toContain('cannot be opened')
      await expect.poll(async () => (await s.as(undefined).post('/flags/?v=2', request)).status).toBe(200)
      expect(await resultsOf(s, staged)).toEqual(before)
      const id = (await projects()).at(-1)?.id ?? 0
      const again = await exported(target.url, id)
      const [first, second] = [readFileSync(file, 'utf8'), readFileSync(again, 'utf8')]
      expect(sameButSealed(await canonicalLines(second))).toEqual(sameButSealed(await canonicalLines(first)))
      const old = rowNumbersIn(first).filter(number => number > 730_000_000)
      expect(old.length).toBeGreaterThan(100)
      const left = numbersIn(second)
      expect(old.filter(number => left.has(number))).toEqual([])
    })

    it('preserves users, roles, secrets and history', async () => {
      const project = `/api/projects/${(await projects()).at(-1)?.id}`
      const authors = (await s.get(`${project}/feature_flags/?limit=100`)).body.results.map(
        (flag: { created_by: { email: string } }) => flag.created_by.email,
      )
      expect(new Set(authors)).toEqual(new Set(['owner@halyard.local', 'colleague@example.com', 'ghost@example.com']))
      const definitions = await s.as(staged.secretKey).get(`/flags/definitions?token=${staged.token}`)
      expect(definitions.status).toBe(200)
      const roles = (await s.get(`${s.organization}/roles/`)).body.results as { name: string; members: string }[]
      expect(roles.map(role => [role.name, role.members]).sort()).toEqual([
        ['Only there', ''],
        ['crew', ''],
      ])
      const invite = await s.post(`${s.organization}/invites/`, { target_email: 'ghost@example.com' })
      const joined = await s
        .as(undefined)
        .post(`/api/signup/${invite.body.token}/`, { first_name: 'Ghost', password: 'correct horse' })
      expect(joined.status).toBe(201)
      expect((await s.as(joined.body.api_key).get(`${project}/feature_flags/`)).body.count).toBe(15)
      expect((await s.get(`${s.project}/feature_flags/`)).body.results).toMatchObject([{ name: 'of another project' }])
    })

    it('a second import shares nothing with the first: token, secret key and persons are new', async () => {
      const { output } = await importInto(
        '--name',
        'Once more',
        '--organization',
        s.organization.split('/').at(-1) ?? '',
      )
      expect(output).toContain('The token is new')
      const secret = /The secret key server is replaced.*: (phs_\w+)/.exec(output)?.[1] ?? ''
      const token = /Its token: (phc_\w+)/.exec(output)?.[1] ?? ''
      expect(token).not.toBe(staged.token)
      await expect
        .poll(async () => (await s.as(undefined).post('/flags/?v=2', { token, distinct_id: 'x' })).status)
        .toBe(200)
      expect(await resultsOf(s, { token, people: staged.people })).toEqual(before)
      expect(await resultsOf(s, staged)).toEqual(before)
      expect((await s.as(secret).get(`/flags/definitions?token=${token}`)).status).toBe(200)
    })

    it('reports secrets that were encrypted with another key and disables their plugin', async () => {
      const switchedOn = newFile()
      writeFileSync(switchedOn, readFileSync(file, 'utf8').replace('"enabled":0', '"enabled":1'))
      const { output } = await halyard(target.url, ['import', switchedOn], {
        HALYARD_SECRET_KEY: 'the key of another installation',
      })
      expect(output).toContain('cannot be opened with the key of this installation')
      const id = (await projects()).at(-1)?.id
      expect((await s.get(`/api/projects/${id}/plugin_configs/`)).body.results).toMatchObject([{ enabled: false }])
    })

    it('rejects a truncated file, an unknown organization and a full export', async () => {
      const count = (await projects()).length
      const cut = newFile()
      writeFileSync(cut, readFileSync(file, 'utf8').split('\n').slice(0, -3).join('\n'))
      expect((await halyard(target.url, ['import', cut])).output).toContain('Nothing was imported')
      expect((await importInto('--organization', 'nowhere')).output).toContain('"nowhere" is no one organization here')
      const everything = newFile()
      await halyard(source.url, ['export', everything])
      expect((await halyard(target.url, ['import', everything])).output).toContain('is not empty')
      expect(await projects()).toHaveLength(count)
    })
  },
)

/** Tables that do not belong to projects. */
const ofTheInstallation = new Set([
  'sign_ins',
  'environment_sets',
  'environments',
  'api_keys',
  'instance',
  'invites',
  'leases',
  'event_backlog',
  'received_batches',
  'resource_access',
])
// Emails belong to the organization that queued them.
ofTheInstallation.add('emails')
ofTheInstallation.add('known_sign_ins').add('sign_in_failures')
for (const table of [
  'account_ties',
  'account_tokens',
  'audit_entries',
  'audit_heads',
  'identity_links',
  'identity_providers',
  'organization_domains',
  'recovery_codes',
  'scim_groups',
  'scim_suspended_roles',
  'scim_tokens',
  'scim_users',
  'second_factors',
  'trust_relationships',
  'used_tokens',
])
  ofTheInstallation.add(table)
// What organizations have accepted of each other's plugins.
ofTheInstallation.add('plugin_acceptances').add('plugin_releases')

/** Ciphertexts differ with each encryption. */
const sameButSealed = (lines: readonly string[]) => lines.map(line => line.replace(/"v1:[^"]+"/, '"sealed"'))
