import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../packages/server/src/config.ts'
import { createHalyard, type Halyard } from '../packages/server/src/main.ts'
import type { Project } from '../packages/server/src/tenancy.ts'

/**
 * Measures the cost of persons and events on a separate database (a SQLite file, or the empty PostgreSQL database in DATABASE_URL).
 * Bounded: BENCH_PERSONS persons (default 100,000), BENCH_EVENTS events (default 20,000) from 16 clients on loopback.
 */
const personCount = Number(process.env.BENCH_PERSONS ?? 100_000)
const eventCount = Number(process.env.BENCH_EVENTS ?? 20_000)
const clients = 16
const eventsPerRequest = 20

const folder = mkdtempSync(join(tmpdir(), 'halyard-bench-'))
const file = join(folder, 'bench.db')
const config = readConfig({
  DATABASE_URL: process.env.DATABASE_URL ?? `sqlite:${file}`,
  HALYARD_BOOTSTRAP_KEY: 'phx_benchbenchbenchbenchbench',
  LOG_LEVEL: 'error',
})
const halyard = await createHalyard(config, pino({ level: config.logLevel }))
try {
  await run(halyard)
} finally {
  await halyard.close()
  rmSync(folder, { recursive: true, force: true })
}

async function run({ app, database, serving }: Halyard): Promise<void> {
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const project = (await database.read(tx => tx.projects.findFirst())) as Project
  await fetch(`${url}/api/projects/${project.id}/feature_flags/`, {
    method: 'POST',
    headers: { authorization: 'Bearer phx_benchbenchbenchbenchbench', 'content-type': 'application/json' },
    body: JSON.stringify({ key: 'bench' }),
  })
  const send = (batch: object[]) =>
    fetch(`${url}/batch/`, { method: 'POST', body: JSON.stringify({ api_key: project.apiToken, batch }) })

  const identify = (n: number) => ({
    event: '$identify',
    distinct_id: `user-${n}`,
    properties: { $set: { email: `user-${n}@example.com`, plan: n % 2 ? 'pro' : 'free', age: n % 90, country: 'NO' } },
  })
  await timed(`create ${personCount} persons`, personCount, () => sendInSlices(personCount, 500, identify, send))
  if (!process.env.DATABASE_URL) console.log(`database file: ${Math.round(statSync(file).size / 2 ** 20)} MiB`)

  const ids = Array.from({ length: 2000 }, (_, n) => `user-${(n * 7919) % personCount}`)
  await timed('find a person by distinct id', ids.length, async () => {
    for (const id of ids) await database.read(tx => tx.persons.findByDistinctIds(project.id, [id]))
  })
  await timed('scan all persons in batches of 1000', personCount, async () => {
    for (let after = 0; ; ) {
      const batch = await database.read(tx => tx.persons.scan(project.id, after, 1000))
      if (batch.length === 0) break
      after = batch.at(-1)?.id ?? after
    }
  })
  await timed('count all persons', 1, () => database.read(tx => tx.persons.count(project.id)).then(() => {}))

  const called = (n: number) => ({
    event: '$feature_flag_called',
    distinct_id: `user-${n % personCount}`,
    properties: { $feature_flag: 'bench', $feature_flag_response: true },
  })
  await timed(`${eventCount} flag calls`, eventCount, () => sendInSlices(eventCount, eventsPerRequest, called, send))
  await timed(`${eventCount} flag calls again`, eventCount, () =>
    sendInSlices(eventCount, eventsPerRequest, called, send),
  )
  const today = new Date().toISOString().slice(0, 10)
  const range = { flagKey: 'bench', kind: 'called', from: today, to: today } as const
  console.log('usage', await database.read(tx => tx.usage.series(project.id, range)))
  if (serving.snapshots.size === 0) throw new Error('The project has no snapshot in memory.')
}

async function sendInSlices(
  count: number,
  size: number,
  make: (n: number) => object,
  send: (batch: object[]) => Promise<Response>,
): Promise<void> {
  let next = 0
  const work = async () => {
    while (next < count) {
      const from = next
      next += size
      const reply = await send(Array.from({ length: Math.min(size, count - from) }, (_, n) => make(from + n)))
      if (reply.status !== 200) throw new Error(await reply.text())
      await reply.text()
    }
  }
  await Promise.all(Array.from({ length: clients }, work))
}

async function timed(name: string, count: number, work: () => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  await work()
  const milliseconds = performance.now() - startedAt
  const { user, system } = process.cpuUsage(before)
  const each = (milliseconds * 1000) / count
  console.log(
    `${name}: ${Math.round(milliseconds)} ms, ${each.toFixed(1)} µs each, ${Math.round(count / (milliseconds / 1000))}/s ` +
      `(${((user + system) / count).toFixed(1)} µs CPU each, clients included)`,
  )
}
