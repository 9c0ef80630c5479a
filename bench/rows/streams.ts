import { startPostgres } from '../../tests/postgres-server.ts'
import { createFlags, type Installation, ownerHeaders } from '../installation.ts'
import { type Figure, median, quantile } from '../measure.ts'
import type { Row, RowContext } from '../row.ts'
import { openStream, type Stream } from '../sse.ts'

/** Delay until a change arrives on an open stream, on the node that received it and on another node. */
export const streams: Row = async context => {
  const { size, installations, log } = context
  const single = await installations.start(size.flagCounts.includes(100) ? 100 : 10)
  log('  same node, SQLite …')
  const sqlite = await delays(single, single, size.changes)
  await single.stop()
  return [
    ...delayFigures('change arrives on a stream, same node, SQLite', sqlite, 20),
    ...(await onPostgres(context, 'PostgreSQL', {})),
    // As with a connection pooler that does not support LISTEN.
    ...(await onPostgres(context, 'PostgreSQL, polling', { HALYARD_CHANGE_CHANNEL: 'poll' })),
  ]
}

async function onPostgres(
  { size, installations, log }: RowContext,
  name: string,
  environment: Record<string, string>,
): Promise<Figure[]> {
  const postgres = await startPostgres(['fsync=on'])
  const one = await installations.open(postgres.url, environment)
  await createFlags(one, 10)
  const other = await installations.open(postgres.url, environment)
  log(`  same node, ${name} …`)
  const near = await delays(one, one, size.changes)
  log(`  other node, ${name} …`)
  const far = await delays(one, other, size.changes)
  await Promise.all([one.stop(), other.stop()])
  await postgres.stop()
  return [
    ...delayFigures(`change arrives on a stream, same node, ${name}`, near, 20),
    ...delayFigures(`change arrives on a stream, other node, ${name}`, far, 100),
  ]
}

/** Milliseconds until each change arrived, after the PATCH request and after its response (0 if it arrived before). */
interface Delays {
  readonly afterRequest: readonly number[]
  readonly afterResponse: readonly number[]
}

function delayFigures(measure: string, { afterRequest, afterResponse }: Delays, atMost: number): Figure[] {
  const figure = (start: string, values: readonly number[]): Figure => ({
    measure: `${measure}, p99 after the PATCH ${start}`,
    value: quantile(values, 0.99),
    unit: 'ms',
    atMost,
    note: `p50 ${median(values).toFixed(1)} ms`,
  })
  return [figure('response', afterResponse), figure('request, including the commit', afterRequest)]
}

async function delays(writer: Installation, reader: Installation, changes: number): Promise<Delays> {
  const stream = await follow(reader)
  const flags = `/api/projects/${writer.projectId}/feature_flags/`
  const { results } = (await writer.request('GET', `${flags}?limit=1`)) as { results: { id: number }[] }
  const measured = { afterRequest: [] as number[], afterResponse: [] as number[] }
  // The first changes are a warm-up.
  for (let change = -3; change < changes; change++) {
    const marker = `marker-${writer.pid}-${reader.pid}-${change}-`
    const filters = { groups: [{ properties: [], rollout_percentage: 100 }], payloads: { true: `"${marker}"` } }
    const arrival = stream.arrival(marker)
    const sent = performance.now()
    await writer.request('PATCH', `${flags}${results[0]!.id}/`, { filters })
    const responded = performance.now()
    const at = await arrival
    if (change < 0) continue
    measured.afterRequest.push(at - sent)
    measured.afterResponse.push(Math.max(0, at - responded))
  }
  stream.close()
  return measured
}

const follow = ({ port, projectId }: Installation): Promise<Stream> =>
  openStream(port, `/api/projects/${projectId}/feature_flags/stream`, ownerHeaders)
