import { startPostgres } from '../../tests/postgres-server.ts'
import { createFlags, type Installation, projectOf } from '../installation.ts'
import type { Round } from '../load.ts'
import { type Figure, interleave, median, ratios, spreadOf } from '../measure.ts'
import { actionNames, eventsPerRequest, type RequestPlan, usualNames } from '../requests.ts'
import type { Row, RowContext } from '../row.ts'
import { noProcesses, type ProcessGroup, postgresProcesses } from '../scale/process-group.ts'

const cohortCount = 50
const connections = 4
const flagCount = 10

type Counted = Round & { readonly storeCpuEach: number }

interface Mix {
  readonly name: string
  readonly kind: Extract<RequestPlan['kind'], 'first events' | 'events'>
  /** What the cohorts are about, as many as those of a project may name. */
  readonly eventNames: readonly string[]
}

const mixes: readonly Mix[] = [
  { name: 'worst case', kind: 'first events', eventNames: actionNames },
  {
    name: 'usual mix',
    kind: 'events',
    eventNames: [...usualNames, ...actionNames.slice(usualNames.length)],
  },
]

/**
 * The rate of ingestion with 50 behavioral cohorts beside a project of the same server without any: in the worst case, where all events are
 * counted and each is the first of its person, and with what clients send, of which half is counted, again and again for the same persons.
 */
export const scaleBehavior: Row = async context => {
  const databases: Readonly<Record<string, typeof onSqlite>> = { SQLite: onSqlite, PostgreSQL: onPostgres }
  const figures: Figure[] = []
  for (const name of context.size.behaviorDatabases) {
    const measure = databases[name]
    if (!measure) throw new Error(`--databases: ${name} is none of ${Object.keys(databases).join(', ')}.`)
    figures.push(...(await measure(context)))
  }
  return figures
}

async function onSqlite(context: RowContext): Promise<Figure[]> {
  const { databaseUrl } = await context.installations.copy(0)
  return behaviorOn(context, 'SQLite', databaseUrl, noProcesses)
}

async function onPostgres(context: RowContext): Promise<Figure[]> {
  const postgres = await startPostgres(['fsync=on', 'full_page_writes=on', 'shared_buffers=256MB'])
  try {
    return await behaviorOn(context, 'PostgreSQL', postgres.url, await postgresProcesses(postgres.url))
  } finally {
    await postgres.stop()
  }
}

async function behaviorOn(
  context: RowContext,
  database: string,
  databaseUrl: string,
  group: ProcessGroup,
): Promise<Figure[]> {
  const halyard = await context.installations.open(databaseUrl)
  const figures: Figure[] = []
  for (const mix of mixes) figures.push(await mixOn(context, halyard, database, group, mix))
  await halyard.stop()
  return figures
}

async function mixOn(
  { size, load, log }: RowContext,
  halyard: Installation,
  database: string,
  group: ProcessGroup,
  { name, kind, eventNames }: Mix,
): Promise<Figure> {
  const aim = async (id: string, token: string) => {
    const target = { id: `${database}, ${name}, ${id}`, port: halyard.port, pid: halyard.pid, plan: { kind, token } }
    const run = await load.aim({ ...target, status: 200 }, connections)
    return async (): Promise<Counted> => {
      const before = group.cpuSeconds()
      const round = await run(size.scaleRoundMilliseconds)
      return { ...round, storeCpuEach: ((group.cpuSeconds() - before) / round.requests) * 1e6 }
    }
  }
  const projects = [
    await projectWithFlags(halyard, `Without, ${name}`),
    await projectWithFlags(halyard, `With, ${name}`),
  ]
  await createCohorts(halyard, projects[1]!.id, eventNames)
  const contestants = {
    without: await aim('without', projects[0]!.token),
    with: await aim('with', projects[1]!.token),
  }
  log(`  ${database}, ${name}: ${size.rounds} rounds of events …`)
  const rounds = await interleave(contestants, size.rounds)
  const [without, withCohorts] = [rounds.without!, rounds.with!]
  const cpu = (list: readonly Counted[]) => list.map(({ cpuEach }) => cpuEach)
  const total = (list: readonly Counted[]) => list.map(({ cpuEach, storeCpuEach }) => cpuEach + storeCpuEach)
  const rates = (list: readonly Counted[]) => list.map(({ perSecond }) => perSecond)
  const each = (list: readonly Counted[]) => `${(median(cpu(list)) / eventsPerRequest).toFixed(1)} µs`
  const rateRatios = ratios(rates(withCohorts), rates(without))
  const cpuRatios = ratios(total(without), total(withCohorts))
  return {
    measure: `${database}, ${name}: rate by CPU time with ${cohortCount} behavioral cohorts ÷ without`,
    value: median(cpuRatios),
    unit: '×',
    spread: spreadOf(cpuRatios),
    atLeast: 0.8,
    note: `server ${each(withCohorts)} and ${each(without)} per event; events per second ${median(rateRatios).toFixed(2)} ×`,
  }
}

async function projectWithFlags(halyard: Installation, name: string) {
  const project = await projectOf(halyard, name)
  await createFlags({ ...halyard, projectId: project.id }, flagCount)
  return project
}

/** Each event is in two cohorts. */
async function createCohorts(
  { request }: Installation,
  projectId: number,
  eventNames: readonly string[],
): Promise<void> {
  for (let index = 0; index < cohortCount; index++) {
    const filter = {
      type: 'behavioral',
      key: eventNames[index % eventNames.length],
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
