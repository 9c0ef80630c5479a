import { type Installation, ownerHeaders } from '../installation.ts'
import { type Figure, quantile } from '../measure.ts'
import { cpuSeconds } from '../processes.ts'
import type { Row, RowContext } from '../row.ts'
import { openCrowd, type StreamCrowd, streamsMax } from '../scale/stream-crowd.ts'

const flagCount = 10
const patienceMilliseconds = 60_000

/** Thousands of streams of one process: one change until every one is notified, and a stop that ends them all. */
export const scaleStreams: Row = async context => {
  const { size, log } = context
  const count = Math.min(size.scaleStreams, streamsMax())
  if (count < size.scaleStreams)
    log(`  The limit of open files allows ${count} of ${size.scaleStreams} streams. Raise it: ulimit -n`)
  return [
    ...(await streamsOf(context, 'evaluation streams (OFREP)', count, ({ token }) => ({
      path: `/ofrep/v1/stream?token=${token}`,
      text: 'refetchEvaluation',
    }))),
    ...(await streamsOf(context, 'definition streams', count, ({ projectId }) => ({
      path: `/api/projects/${projectId}/feature_flags/stream`,
      text: 'event: change',
    }))),
  ]
}

type Kind = (halyard: Installation) => { readonly path: string; readonly text: string }

async function streamsOf(
  { installations, log }: RowContext,
  name: string,
  count: number,
  kind: Kind,
): Promise<Figure[]> {
  const { databaseUrl } = await installations.copy(flagCount)
  const halyard = await installations.open(databaseUrl, { HALYARD_STREAMS_PER_PROJECT_MAX: String(count + 100) })
  const { path, text } = kind(halyard)
  const headers = path.includes('token=') ? {} : ownerHeaders
  log(`  ${name}: opening ${count.toLocaleString('en')} …`)
  const crowd = await openCrowd(halyard.port, path, headers, count)
  try {
    return [...(await change(halyard, crowd, name, text)), ...(await stop(halyard, crowd, name))]
  } finally {
    crowd.close()
    await halyard.kill()
  }
}

const countOf = (crowd: StreamCrowd, name: string): string => `${crowd.size.toLocaleString('en')} ${name}`

async function change(halyard: Installation, crowd: StreamCrowd, name: string, text: string): Promise<Figure[]> {
  const flags = `/api/projects/${halyard.projectId}/feature_flags/`
  const { results } = (await halyard.request('GET', `${flags}?limit=1`)) as { results: { id: number }[] }
  const arriving = crowd.arrivals(text, patienceMilliseconds)
  const cpuBefore = cpuSeconds(halyard.pid)
  const sentAt = performance.now()
  await halyard.request('PATCH', `${flags}${results[0]!.id}/`, { name: 'changed', active: false })
  const arrivals = await arriving
  const cpu = (cpuSeconds(halyard.pid) - cpuBefore) * 1000
  const delays = arrivals.flatMap(at => (at === undefined ? [] : [at - sentAt]))
  const missed = arrivals.length - delays.length
  return [
    {
      measure: `${countOf(crowd, name)}: one change until a stream is notified, p99`,
      value: quantile(delays, 0.99),
      unit: 'ms',
      note: `p50 ${quantile(delays, 0.5).toFixed(0)} ms, last ${Math.max(...delays).toFixed(0)} ms, ${cpu.toFixed(0)} ms CPU`,
    },
    { measure: `${countOf(crowd, name)}: streams that were not notified`, value: missed, unit: '', atMost: 0 },
  ]
}

async function stop(halyard: Installation, crowd: StreamCrowd, name: string): Promise<Figure[]> {
  const ending = crowd.ends(patienceMilliseconds)
  const sentAt = performance.now()
  const code = await halyard.stop()
  if (code !== 0) throw new Error(`The server exited with ${code}.`)
  const stoppedAt = performance.now()
  const ends = await ending
  const endedAt = ends.map(({ at }) => (at ?? Number.POSITIVE_INFINITY) - sentAt)
  const reconnects = ends.map(({ at, retryMilliseconds }) => (at ?? 0) - sentAt + (retryMilliseconds ?? 0))
  return [
    {
      measure: `${countOf(crowd, name)}: SIGTERM until the process has exited`,
      value: stoppedAt - sentAt,
      unit: 'ms',
      atMost: 20_000,
      note: `streams end after p50 ${quantile(endedAt, 0.5).toFixed(0)} ms, p99 ${quantile(endedAt, 0.99).toFixed(0)} ms`,
    },
    {
      measure: `${countOf(crowd, name)}: most clients that reconnect within the same 100 ms`,
      value: busiest(reconnects, 100),
      unit: '',
    },
    {
      measure: `${countOf(crowd, name)}: streams that ended without \`retry:\``,
      value: ends.filter(({ retryMilliseconds }) => retryMilliseconds === undefined).length,
      unit: '',
      atMost: 0,
    },
  ]
}

/** The largest number of values within one interval. */
function busiest(values: readonly number[], interval: number): number {
  const counts = new Map<number, number>()
  for (const value of values) {
    const slot = Math.floor(value / interval)
    counts.set(slot, (counts.get(slot) ?? 0) + 1)
  }
  return Math.max(...counts.values())
}
