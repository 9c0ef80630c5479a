import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ServerProcess, startServer } from '../../tests/faults/server-process.ts'
import { startPostgres } from '../../tests/postgres-server.ts'
import { ownerHeaders } from '../installation.ts'
import { type Figure, median, spreadOf } from '../measure.ts'
import type { Row, RowContext } from '../row.ts'

const root = process.cwd()
/** Beside the program, because some files are located relative to it. */
const folder = join(root, 'packages/server/dist-audit-bench')
/** Short blocks, so that both halves of a pair meet the same load of the machine. */
const writesPerBlock = 10
/** A request with this note leaves no entry. */
const unaudited = 'unaudited'

/**
 * What the audit log costs a write, on both databases: one server, whose requests leave an entry or not, in blocks that take turns. So
 * both halves meet the same database, the same process and the same other load of the machine.
 */
export const audit: Row = async context => {
  try {
    await buildSwitchable()
    const onSqlite = await onDatabase(context, 'SQLite', (await context.installations.copy(0)).databaseUrl)
    const postgres = await startPostgres(['fsync=on', 'full_page_writes=on'])
    try {
      return [...onSqlite, ...(await onDatabase(context, 'PostgreSQL', postgres.url))]
    } finally {
      await postgres.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The program as it is built, except that entries of requests with the note are dropped before they are written. */
async function buildSwitchable(): Promise<void> {
  const { build } = await import('esbuild')
  const { serverBundles } = await import(pathToFileURL(join(root, 'scripts/server-bundle.mjs')).href)
  const loop = 'for (const entry of entries) {'
  const drop = `if (entry.origin.note === '${unaudited}') { entry.origin.isRecorded = true; continue }`
  const plugin = {
    name: 'switchable-audit-log',
    setup({ onLoad }: Parameters<NonNullable<Parameters<typeof build>[0]['plugins']>[number]['setup']>[0]) {
      onLoad({ filter: /audit-store\.sql\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!text.includes(loop)) throw new Error('The loop that writes the entries has changed.')
        return { contents: text.replace(loop, `${loop}\n${drop}`), loader: 'ts' }
      })
    },
  }
  for (const options of serverBundles) {
    await build({ ...options, outdir: folder, plugins: [plugin], absWorkingDir: root, sourcemap: false })
  }
}

async function onDatabase({ size, log }: RowContext, name: string, databaseUrl: string): Promise<Figure[]> {
  const settings = { HALYARD_FLAGS_PER_PROJECT_MAX: '1000000', HALYARD_SCHEDULER_SECONDS: '3600' }
  const server = await startServer(databaseUrl, settings, undefined, join(folder, 'halyard.js'))
  try {
    const writes = await createWrites(server)
    const figures: Figure[] = []
    for (const [operation, write] of Object.entries(writes)) {
      const pairs = await takeTurns(server, write, size.rounds * 10)
      for (const [clock, title] of [
        ['seconds', 'time'],
        ['cpu', 'CPU time'],
      ] as const) {
        const ratios = pairs.map(({ on, off }) => on[clock] / off[clock])
        const spread = spreadOf(ratios)
        const measure = `${operation} on ${name}: ${title} with the audit log`
        figures.push({ measure, unit: '×', value: median(ratios), spread, atMost: 1.05 })
      }
      log(`  ${operation} on ${name}: ${pairs.length} pairs of ${writesPerBlock} writes`)
    }
    return figures
  } finally {
    await server.stop()
  }
}

type Write = (headers: Readonly<Record<string, string>>) => Promise<void>

async function createWrites({ url }: ServerProcess): Promise<Readonly<Record<string, Write>>> {
  const send = async (method: string, path: string, body: object | undefined, headers: object = {}) => {
    const all = { ...ownerHeaders, 'content-type': 'application/json', ...headers }
    const reply = await fetch(`${url}${path}`, { method, headers: all, ...(body && { body: JSON.stringify(body) }) })
    const answer = await reply.json()
    if (!reply.ok) throw new Error(`${method} ${path} returned ${reply.status}: ${JSON.stringify(answer)}`)
    return answer as { id: number; results: { id: number }[] }
  }
  const project = (await send('GET', '/api/projects/', undefined)).results[0]!.id
  const flags = `/api/projects/${project}/feature_flags/`
  const { id } = await send('POST', flags, { key: 'patched' })
  let count = 0
  return {
    'PATCH of a flag': async headers => {
      count += 1
      const groups = [{ properties: [], rollout_percentage: count % 100 }]
      await send('PATCH', `${flags}${id}/`, { name: `Name ${count}`, filters: { groups } }, headers)
    },
    'create a flag': async headers => {
      count += 1
      await send('POST', flags, { key: `created-${count}`, name: 'Benchmark' }, headers)
    },
  }
}

/** Of all threads, to the nanosecond: a write takes less than a tick of the usual clock. Only Linux has it. */
function cpuSeconds(pid: number): number {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks)) return Number.NaN
  return readdirSync(tasks).reduce((sum, task) => sum + runNanoseconds(`${tasks}/${task}/schedstat`), 0) / 1e9
}

function runNanoseconds(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0])
  } catch {
    // The thread has just ended.
    return 0
  }
}

interface Cost {
  readonly seconds: number
  readonly cpu: number
}

/** Which half comes first alternates, so that growth of the database favors neither. */
async function takeTurns(server: ServerProcess, write: Write, rounds: number) {
  const block = async (note: string): Promise<Cost> => {
    const headers = { 'x-halyard-note': note }
    const cpuBefore = cpuSeconds(server.pid)
    const began = performance.now()
    for (let n = 0; n < writesPerBlock; n += 1) await write(headers)
    return { seconds: (performance.now() - began) / 1000, cpu: cpuSeconds(server.pid) - cpuBefore }
  }
  await block('warm-up')
  await block(unaudited)
  const blocks: { on: Cost; off: Cost }[] = []
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const on = await block('recorded')
      blocks.push({ on, off: await block(unaudited) })
    } else {
      const off = await block(unaudited)
      blocks.push({ on: await block('recorded'), off })
    }
  }
  return blocks
}
