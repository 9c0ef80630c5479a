import { startPostgres } from '../../tests/postgres-server.ts'
import { createFlags, type Installation, ownerHeaders } from '../installation.ts'
import { type Figure, median, quantile } from '../measure.ts'
import { residentMegabytes } from '../processes.ts'
import type { Kit, Row } from '../row.ts'
import { openStream, type Stream } from '../sse.ts'

/** How soon a client with an open stream sees a change, on the node that took it and on another one. */
export const streams: Row = async kit => {
  const { size, installations, say } = kit
  const alone = await installations.start(size.flagCounts.includes(100) ? 100 : 10)
  say('  same node, SQLite …')
  const sqlite = await delays(alone, alone, size.changes)
  await alone.stop()
  return [
    ...told('a stream sees a change, same node, SQLite', sqlite, 20),
    ...(await onPostgres(kit, 'PostgreSQL', {})),
    // As behind a pooler that knows no LISTEN.
    ...(await onPostgres(kit, 'PostgreSQL, polling', { HALYARD_CHANGE_CHANNEL: 'poll' })),
  ]
}

async function onPostgres(
  { size, installations, say }: Kit,
  name: string,
  environment: Record<string, string>,
): Promise<Figure[]> {
  const postgres = await startPostgres(['fsync=on'])
  const one = await installations.open(postgres.url, environment)
  await createFlags(one, 10)
  const other = await installations.open(postgres.url, environment)
  say(`  same node, ${name} …`)
  const near = await delays(one, one, size.changes)
  say(`  other node, ${name} …`)
  const far = await delays(one, other, size.changes)
  await Promise.all([one.stop(), other.stop()])
  await postgres.stop()
  return [
    ...told(`a stream sees a change, same node, ${name}`, near, 20),
    ...told(`a stream sees a change, other node, ${name}`, far, 100),
  ]
}

/** Milliseconds of each change until it was seen: since the PATCH was sent, and since it was answered (0 when it was seen before). */
interface Delays {
  readonly sent: readonly number[]
  readonly answered: readonly number[]
}

function told(measure: string, { sent, answered }: Delays, atMost: number): Figure[] {
  const figure = (since: string, values: readonly number[]): Figure => ({
    measure: `${measure}, p99 since the PATCH was ${since}`,
    value: quantile(values, 0.99),
    unit: 'ms',
    atMost,
    note: `p50 ${median(values).toFixed(1)} ms`,
  })
  return [figure('answered', answered), figure('sent, commit included', sent)]
}

async function delays(writer: Installation, reader: Installation, changes: number): Promise<Delays> {
  const stream = await follow(reader)
  const flags = `/api/projects/${writer.projectId}/feature_flags/`
  const { results } = (await writer.ask('GET', `${flags}?limit=1`)) as { results: { id: number }[] }
  const found = { sent: [] as number[], answered: [] as number[] }
  // The first changes only warm the way.
  for (let change = -3; change < changes; change++) {
    const mark = `mark-${writer.pid}-${reader.pid}-${change}-`
    const filters = { groups: [{ properties: [], rollout_percentage: 100 }], payloads: { true: `"${mark}"` } }
    const arrival = stream.arrival(mark)
    const sent = performance.now()
    await writer.ask('PATCH', `${flags}${results[0]!.id}/`, { filters })
    const answered = performance.now()
    const at = await arrival
    if (change < 0) continue
    found.sent.push(at - sent)
    found.answered.push(Math.max(0, at - answered))
  }
  stream.close()
  return found
}

const follow = ({ port, projectId }: Installation): Promise<Stream> =>
  openStream(port, `/api/projects/${projectId}/feature_flags/stream`, ownerHeaders)

const streamsAtOnce = 100
/** One address has some 28,000 ports to call from; each ten thousand streams get another one. */
const streamsPerAddress = 10_000

/** What many open streams cost when nothing happens. */
export const idleStreams: Row = async ({ size, installations, say }) => {
  const halyard = await installations.start(10)
  const before = residentMegabytes(halyard.pid)
  const open: Stream[] = []
  const path = `/ofrep/v1/stream?token=${halyard.token}`
  while (open.length < size.idleStreams) {
    const some = Math.min(streamsAtOnce, size.idleStreams - open.length)
    const from = `127.0.0.${1 + Math.floor(open.length / streamsPerAddress)}`
    const calls = Array.from({ length: some }, () => openStream(halyard.port, path, {}, from))
    open.push(...(await Promise.all(calls)))
    if (open.length % 2000 === 0) say(`  ${open.length} streams …`)
  }
  const after = residentMegabytes(halyard.pid)
  for (const stream of open) stream.close()
  await halyard.stop()
  const measure = `memory with ${size.idleStreams.toLocaleString('en')} idle streams`
  const note = `${before.toFixed(0)} MB before the first`
  return [{ measure, value: after, unit: 'MB', atMost: 300, guard: 'more is worse', note }]
}
