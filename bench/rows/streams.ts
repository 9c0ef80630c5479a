import { startPostgres } from '../../tests/postgres-server.ts'
import { createFlags, type Installation, open, ownerHeaders } from '../installation.ts'
import { type Figure, median, quantile } from '../measure.ts'
import { residentMegabytes } from '../processes.ts'
import type { Row } from '../row.ts'
import { openStream, type Stream } from '../sse.ts'

/** How soon a client with an open stream sees a change: from the sending of the PATCH, the durable commit included. */
export const streams: Row = async ({ size, installations }) => {
  const alone = await installations.start(size.flagCounts.includes(100) ? 100 : 10)
  const sqlite = await latencies(alone, alone, size.changes)
  await alone.stop()
  const postgres = await startPostgres(['fsync=on'])
  const one = await open(postgres.url)
  await createFlags(one, 10)
  const other = await open(postgres.url)
  const near = await latencies(one, one, size.changes)
  const far = await latencies(one, other, size.changes)
  await Promise.all([one.stop(), other.stop()])
  await postgres.stop()
  return [
    ...told('a stream sees a change, same node, SQLite', sqlite, 20),
    ...told('a stream sees a change, same node, PostgreSQL', near, 20),
    ...told('a stream sees a change, other node, PostgreSQL', far, 100),
  ]
}

const told = (measure: string, values: readonly number[], atMost: number): Figure[] => [
  { measure: `${measure}, p50`, value: median(values), unit: 'ms', alarm: 1000 },
  { measure: `${measure}, p99`, value: quantile(values, 0.99), unit: 'ms', atMost },
]

async function latencies(writer: Installation, reader: Installation, changes: number): Promise<number[]> {
  const stream = await follow(reader)
  const flags = `/api/projects/${writer.projectId}/feature_flags/`
  const { results } = (await writer.ask('GET', `${flags}?limit=1`)) as { results: { id: number }[] }
  const each: number[] = []
  // The first changes only warm the way.
  for (let change = -3; change < changes; change++) {
    const mark = `mark-${writer.pid}-${reader.pid}-${change}-`
    const filters = { groups: [{ properties: [], rollout_percentage: 100 }], payloads: { true: `"${mark}"` } }
    const arrival = stream.arrival(mark)
    const begun = performance.now()
    await writer.ask('PATCH', `${flags}${results[0]!.id}/`, { filters })
    const at = await arrival
    if (change >= 0) each.push(at - begun)
  }
  stream.close()
  return each
}

const follow = ({ port, projectId }: Installation): Promise<Stream> =>
  openStream(port, `/api/projects/${projectId}/feature_flags/stream`, ownerHeaders)

/** What many open streams cost when nothing happens. */
export const idleStreams: Row = async ({ size, installations }) => {
  const halyard = await installations.start(10)
  const before = residentMegabytes(halyard.pid)
  const open: Stream[] = []
  const path = `/ofrep/v1/stream?token=${halyard.token}`
  while (open.length < size.idleStreams) {
    const some = Math.min(100, size.idleStreams - open.length)
    open.push(...(await Promise.all(Array.from({ length: some }, () => openStream(halyard.port, path, {})))))
  }
  const after = residentMegabytes(halyard.pid)
  for (const stream of open) stream.close()
  await halyard.stop()
  const measure = `memory with ${size.idleStreams} idle streams`
  const note = `${before.toFixed(0)} MB before the first`
  return [{ measure, value: after, unit: 'MB', atMost: 300, alarm: 600, note }]
}
