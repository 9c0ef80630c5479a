import { startPostgres } from '../../tests/postgres-server.ts'
import { type Installation, projectOf } from '../installation.ts'
import type { Round } from '../load.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { actionNames, eventsPerRequest } from '../requests.ts'
import type { Row, RowContext } from '../row.ts'
import { noProcesses, type ProcessGroup, postgresProcesses } from '../scale/process-group.ts'

const cohortCount = 50
const connections = 4

type Counted = Round & { readonly storeCpuEach: number }

/** The rate of ingestion with 50 behavioral cohorts, all of whose events arrive, beside a project of the same server without any. */
export const scaleBehavior: Row = async context => {
  const { databaseUrl } = await context.installations.copy(10)
  const onSqlite = await behaviorOn(context, 'SQLite', databaseUrl, noProcesses)
  const postgres = await startPostgres(['fsync=on', 'full_page_writes=on', 'shared_buffers=256MB'])
  try {
    const group = await postgresProcesses(postgres.url)
    return [...onSqlite, ...(await behaviorOn(context, 'PostgreSQL', postgres.url, group))]
  } finally {
    await postgres.stop()
  }
}

async function behaviorOn(
  { size, installations, load, log }: RowContext,
  database: string,
  databaseUrl: string,
  group: ProcessGroup,
): Promise<Figure[]> {
  const halyard = await installations.open(databaseUrl)
  const other = await projectOf(halyard, 'With behavioral cohorts')
  await createCohorts(halyard, other.id)
  const aim = async (id: string, token: string) => {
    const plan = { kind: 'first events', token } as const
    const target = { id: `${database}, ${id}`, port: halyard.port, pid: halyard.pid, plan, status: 200 }
    const run = await load.aim(target, connections)
    return async (): Promise<Counted> => {
      const before = group.cpuSeconds()
      const round = await run(size.scaleRoundMilliseconds)
      return { ...round, storeCpuEach: ((group.cpuSeconds() - before) / round.requests) * 1e6 }
    }
  }
  const contestants = { without: await aim('without', halyard.token), with: await aim('with', other.token) }
  log(`  ${database}: ${size.rounds} rounds of events …`)
  const rounds = await interleave(contestants, size.rounds)
  await halyard.stop()
  const [without, withCohorts] = [rounds.without!, rounds.with!]
  const cpu = (list: readonly Counted[]) => list.map(({ cpuEach }) => cpuEach)
  const total = (list: readonly Counted[]) => list.map(({ cpuEach, storeCpuEach }) => cpuEach + storeCpuEach)
  const rates = (list: readonly Counted[]) => list.map(({ perSecond }) => perSecond)
  const each = (list: readonly Counted[]) => `${(median(cpu(list)) / eventsPerRequest).toFixed(1)} µs`
  const rateRatios = ratios(rates(withCohorts), rates(without))
  const cpuRatios = ratios(total(without), total(withCohorts))
  return [
    {
      measure: `${database}: rate by CPU time with ${cohortCount} behavioral cohorts ÷ without`,
      value: median(cpuRatios),
      unit: '×',
      spread: spreadOf(cpuRatios),
      atLeast: 0.8,
      note: `server ${each(withCohorts)} and ${each(without)} per event; events per second ${median(rateRatios).toFixed(2)} ×`,
    },
  ]
}

/** Each event is in two cohorts. */
async function createCohorts({ request }: Installation, projectId: number): Promise<void> {
  for (let index = 0; index < cohortCount; index++) {
    const filter = {
      type: 'behavioral',
      key: actionNames[index % actionNames.length],
      value: 'performed_event_multiple',
      operator: 'gte',
      operator_value: 1 + index,
      time_value: 30,
      time_interval: 'day',
    }
    const filters = { properties: { type: 'AND', values: [filter] } }
    await request('POST', `/api/projects/${projectId}/cohorts/`, { name: `Behavior ${index}`, filters })
  }
}
