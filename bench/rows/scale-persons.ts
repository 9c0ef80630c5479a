import { startPostgres } from '../../tests/postgres-server.ts'
import { createFlags, type Installation } from '../installation.ts'
import type { Round } from '../load.ts'
import { type Figure, interleave, median } from '../measure.ts'
import type { Row, RowContext } from '../row.ts'
import { addPersons, storeFirstPerson } from '../scale/bulk-persons.ts'
import { distinctIdOf } from '../scale/distinct-ids.ts'
import { noProcesses, type ProcessGroup, postgresProcesses } from '../scale/process-group.ts'

const flagCount = 10
/** Few, so that latencies are not those of a queue. */
const connections = 4
const extrapolatedPersons = 100_000_000

interface Measured {
  readonly persons: number
  readonly stored: readonly Round[]
  readonly plain: readonly Round[]
  /** CPU time of PostgreSQL for each stored request, in microseconds. */
  readonly storeCpuEach: number
}

/** Evaluations with stored properties of uniformly random persons, in stores of growing size, beside requests that bring their properties. */
export const scalePersons: Row = async context => [
  ...(await personsOn(context, 'SQLite')),
  ...(await personsOn(context, 'PostgreSQL')),
]

async function personsOn(context: RowContext, database: 'SQLite' | 'PostgreSQL'): Promise<Figure[]> {
  const { size, installations, log } = context
  const postgres =
    database === 'SQLite' ? undefined : await startPostgres(['fsync=on', 'shared_buffers=256MB', 'max_wal_size=4GB'])
  try {
    const { databaseUrl } = postgres ? { databaseUrl: postgres.url } : await installations.copy(flagCount)
    const first = await installations.open(databaseUrl)
    if (postgres) await createFlags(first, flagCount)
    await storeFirstPerson(first)
    await first.stop()
    const group = postgres ? await postgresProcesses(postgres.url) : noProcesses
    const measured: Measured[] = []
    let stored = 1
    for (const persons of size.scalePersons) {
      const started = performance.now()
      await addPersons(databaseUrl, first.projectId, stored, persons)
      stored = persons
      const seconds = ((performance.now() - started) / 1000).toFixed(0)
      log(`  ${database}: ${persons.toLocaleString('en')} persons are stored, ${seconds} s`)
      const halyard = await installations.open(databaseUrl)
      await checkStored(halyard, persons)
      measured.push(await measure(context, halyard, group, persons))
      await halyard.stop()
    }
    return [...measured.flatMap(one => figuresOf(database, one)), ...slopeOf(database, measured)]
  } finally {
    await postgres?.stop()
  }
}

/** What is measured are persons who exist. */
async function checkStored({ request, projectId }: Installation, persons: number): Promise<void> {
  const path = `/api/projects/${projectId}/persons/?distinct_id=${distinctIdOf(persons - 1)}`
  const { results } = (await request('GET', path)) as { results: { properties: { plan?: string } }[] }
  if (results[0]?.properties.plan === undefined) throw new Error('The last person is not stored.')
}

async function measure(
  { size, load }: RowContext,
  halyard: Installation,
  group: ProcessGroup,
  persons: number,
): Promise<Measured> {
  const aim = async (hasProperties: boolean) => {
    const plan = { kind: 'random person', hasProperties, token: halyard.token, persons } as const
    const target = {
      id: `random person ${hasProperties} ${halyard.pid}`,
      port: halyard.port,
      pid: halyard.pid,
      plan,
      status: 200,
    }
    return load.aim(target, connections)
  }
  const [stored, plain] = [await aim(false), await aim(true)]
  const counted = async () => {
    const before = group.cpuSeconds()
    const round = await stored(size.scaleRoundMilliseconds)
    return { ...round, storeCpuEach: ((group.cpuSeconds() - before) / round.requests) * 1e6 }
  }
  const plainRound = async () => ({ ...(await plain(size.scaleRoundMilliseconds)), storeCpuEach: 0 })
  const rounds = await interleave({ stored: counted, plain: plainRound }, size.rounds)
  const storeCpuEach = median(rounds.stored!.map(round => round.storeCpuEach))
  return { persons, stored: rounds.stored!, plain: rounds.plain!, storeCpuEach }
}

const of = (rounds: readonly Round[], pick: (round: Round) => number): number => median(rounds.map(pick))

function figuresOf(database: string, { persons, stored, plain, storeCpuEach }: Measured): Figure[] {
  const name = `${database}, ${persons.toLocaleString('en')} persons`
  const store = storeCpuEach > 0 ? `, and ${storeCpuEach.toFixed(0)} µs of PostgreSQL` : ''
  return [
    {
      measure: `${name}: evaluation with stored properties, p99`,
      value: of(stored, ({ p99 }) => p99),
      unit: 'ms',
      note: `p50 ${of(stored, ({ p50 }) => p50).toFixed(2)} ms; with sent properties p99 ${of(plain, ({ p99 }) => p99).toFixed(2)} ms, p50 ${of(plain, ({ p50 }) => p50).toFixed(2)} ms`,
    },
    {
      measure: `${name}: CPU per evaluation with stored properties`,
      value: of(stored, ({ cpuEach }) => cpuEach),
      unit: 'µs',
      note: `${of(plain, ({ cpuEach }) => cpuEach).toFixed(0)} µs with sent properties${store}; ${of(stored, ({ perSecond }) => perSecond).toFixed(0)} requests/s`,
    },
  ]
}

/** The CPU time of looking a person up, without that of the evaluation, which the same round has measured. */
const lookUpCpu = ({ stored, plain, storeCpuEach }: Measured): number =>
  of(stored, ({ cpuEach }) => cpuEach) - of(plain, ({ cpuEach }) => cpuEach) + storeCpuEach

/** How the cost grows with the logarithm of the number, as the depth of an index does. */
function slopeOf(database: string, measured: readonly Measured[]): Figure[] {
  const [first, last] = [measured[0]!, measured.at(-1)!]
  if (first === last) return []
  const perTenfold = (lookUpCpu(last) - lookUpCpu(first)) / Math.log10(last.persons / first.persons)
  const extrapolated = lookUpCpu(last) + perTenfold * Math.log10(extrapolatedPersons / last.persons)
  return [
    {
      measure: `${database}: CPU of a look-up, growth with ten times the persons`,
      value: perTenfold,
      unit: 'µs',
      note: `${lookUpCpu(first).toFixed(0)} µs at ${first.persons.toLocaleString('en')}, ${lookUpCpu(last).toFixed(0)} µs at ${last.persons.toLocaleString('en')}`,
    },
    {
      measure: `${database}: CPU of a look-up at 100,000,000 persons, by arithmetic from this slope`,
      value: Math.max(0, extrapolated),
      unit: 'µs',
    },
  ]
}
