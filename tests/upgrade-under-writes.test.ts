import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStorage } from '../packages/server/src/storage/open-storage.ts'
import { createTestDatabase } from '../packages/server/src/testing/databases.ts'
import { findFaults } from './faults/consistency.ts'
import { addressesOf, createMixedWrites, type Write } from './faults/mixed-writes.ts'
import { seededRandom } from './faults/random.ts'
import { launchServer, ownerKey, root } from './faults/server-process.ts'

const upgrades = [
  {
    title: 'on PostgreSQL',
    /** Schema version 12: more than twenty steps are pending, which alter the tables that every write uses. */
    oldCommit: '78dd78aa303b75b34e7c6a3288da6003b6b35595',
    hasPersonsDatabase: false,
  },
  {
    title: 'with a database of persons',
    /** Schema version 85, the first one with such a database. Its schema is still the same. */
    oldCommit: 'f730ae668e81a2f9009acef3012864ae2ab09549',
    hasPersonsDatabase: true,
  },
]
const rounds = Number(process.env.HALYARD_UPGRADE_ROUNDS ?? 2)

const git = (...args: string[]) => spawnSync('git', args, { cwd: root, encoding: 'utf8' })

describe.each(upgrades)('a rolling upgrade $title', ({ title, oldCommit, hasPersonsDatabase }) => {
  const hasHistory = git('cat-file', '-e', `${oldCommit}^{commit}`).status === 0
  if (!hasHistory)
    console.warn(
      `Skipped (${title}): commit ${oldCommit} is not in this clone. Fetch the history: git fetch --unshallow`,
    )
  let folder: string
  let oldProgram: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'halyard-old-'))
    oldProgram = buildOldProgram(folder, oldCommit)
  }, 600_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.skipIf(!hasHistory).each(Array.from({ length: rounds }, (_, index) => index + 1))(
    'under writes through both nodes loses nothing and fails no request (round %i)',
    async round => {
      const database = await createTestDatabase('postgres', 'empty')
      const persons = hasPersonsDatabase ? await createTestDatabase('postgres', 'empty') : undefined
      const settings: Record<string, string> = persons ? { PERSONS_DATABASE_URL: persons.url } : {}
      const load = createMixedWrites(seededRandom(round))
      const stop = new AbortController()
      const nodes = [launchServer(database.url, settings, undefined, oldProgram)]
      try {
        const oldUrl = await nodes[0]!.serving
        if (persons) await countEvents(oldUrl)
        const writing = [load.run(oldUrl, stop.signal)]
        await expect.poll(() => acknowledged(load.writes)).toBeGreaterThan(60)

        const upgraded = launchServer(database.url, settings)
        nodes.push(upgraded)
        const newUrl = await upgraded.serving
        expect(upgraded.lines.some(line => line.includes('schema_migrated'))).toBe(true)
        const before = acknowledged(load.writes)
        writing.push(load.run(newUrl, stop.signal))
        await expect.poll(() => acknowledged(load.writes) - before).toBeGreaterThan(200)
        stop.abort()
        await Promise.all(writing)

        expect(load.writes.filter(write => write.outcome !== 'acknowledged')).toEqual([])
        expect(await findFaults(database.url, load.writes, persons?.url)).toEqual([])
        if (persons) expect(await countedEvents(persons.url)).toBe(sentEvents(load.writes))
        expect(await flagKeys(newUrl)).toEqual(await flagKeys(oldUrl))
      } finally {
        stop.abort()
        for (const node of nodes) await node.stop()
        await database.drop()
        await persons?.drop()
      }
    },
    600_000,
  )
})

/** Uses the installed packages; `@halyard/*` leads to the sources of the old commit. */
function buildOldProgram(folder: string, oldCommit: string): string {
  const archive = join(folder, 'old.tar')
  execFileSync('git', ['archive', '--output', archive, oldCommit, 'packages', 'scripts', 'package.json'], { cwd: root })
  execFileSync('tar', ['-xf', archive, '-C', folder])
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@halyard'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules')).filter(name => name !== '@halyard')) {
    symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(modules, '@halyard', name))
  }
  // The server comes first. The dashboard, which is not needed, may not build with the packages of today.
  const { stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, encoding: 'utf8' })
  const program = join(folder, 'packages/server/dist/halyard.js')
  if (!existsSync(program)) throw new Error(`The old program cannot be built:\n${stderr}`)
  return program
}

/** Each event that the load sends is counted for its person by a behavioral cohort. */
async function countEvents(url: string): Promise<void> {
  const { project } = await addressesOf(url)
  const performed = { type: 'behavioral', key: 'seen', value: 'performed_event', time_value: 7, time_interval: 'day' }
  const filters = { properties: { type: 'AND', values: [performed] } }
  const response = await fetch(`${url}${project}/cohorts/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Seen', filters }),
  })
  expect(response.status).toBe(201)
}

async function countedEvents(personsUrl: string): Promise<number> {
  const { kysely, close } = openStorage(personsUrl)
  const counted = await kysely
    .selectFrom('person_event_days')
    .select(({ fn }) => fn.sum<number>('count').as('events'))
    .executeTakeFirstOrThrow()
  await close()
  return Number(counted.events)
}

const sentEvents = (writes: readonly Write[]): number =>
  writes.filter(({ kind }) => kind === 'person').flatMap(({ markers }) => markers).length

const acknowledged = (writes: readonly Write[]): number =>
  writes.filter(write => write.outcome === 'acknowledged').length

async function get(url: string): Promise<{ results: { key: string }[] }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${ownerKey}` } })
  expect(response.status, url).toBe(200)
  return (await response.json()) as { results: { key: string }[] }
}

async function flagKeys(url: string): Promise<readonly string[]> {
  const { results } = await get(`${url}/api/projects/@current/feature_flags/?limit=1000`)
  return results.map(flag => flag.key)
}
