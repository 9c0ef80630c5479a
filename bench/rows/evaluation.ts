import { startPostgres } from '../../tests/postgres-server.ts'
import { cpuRatios, rates, speedRatios, tailRatios } from '../compare.ts'
import { createFlags, type Installation, storePersons } from '../installation.ts'
import { type Round, startBaseline } from '../load.ts'
import { maintain } from '../maintenance.ts'
import { type Figure, interleave, median, spreadOf } from '../measure.ts'
import { personAt } from '../mix.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import { type Shape, shapes } from '../requests.ts'
import type { Row, RowContext } from '../row.ts'

type Database = 'SQLite' | 'PostgreSQL'

/** Shares of the bare server at 100 flags. */
const shareTargets: Readonly<Partial<Record<Shape, number>>> = {
  plain: 0.35,
  gzip: 0.18,
  stored: 0.28,
  'stored + gzip': 0.15,
}
const targetFlags = 100
const peerFactor = 5

/**
 * What clients send to evaluate all flags, a different person per request, beside a bare `node:http` server that sends a constant of the
 * size of the plain response.
 */
export const evaluation: Row = async context => {
  const figures: Figure[] = []
  for (const database of ['SQLite', 'PostgreSQL'] as const) {
    for (const flagCount of context.size.flagCounts) figures.push(...(await evaluationOf(context, database, flagCount)))
  }
  return figures
}

async function evaluationOf(context: RowContext, database: Database, flagCount: number): Promise<Figure[]> {
  const { size, load, log } = context
  const { halyard, stop } = await start(context, database, flagCount)
  const name = `${flagCount} flags, ${database}`
  log(`  ${name}: storing ${size.persons.toLocaleString('en')} persons …`)
  await storePersons(halyard, size.persons)
  await maintain(halyard.databaseUrl)
  await checkStored(halyard)
  const aim = async (id: string, server: { port: number; pid: number }, shape: Shape) => {
    const { activePersons, persons } = size
    const users = shape === 'first request' ? ([activePersons, persons] as const) : ([0, activePersons] as const)
    const plan = { kind: 'evaluate', shape, token: halyard.token, users } as const
    const target = { id: `${name}, ${id}`, port: server.port, pid: server.pid, plan, status: 200 }
    const run = await load.aim({ ...target, isNewConnectionEach: shape === 'new connections' }, size.connections)
    return () => run(size.roundMilliseconds)
  }
  const contestants: Record<string, () => Promise<Round>> = {}
  for (const shape of shapes) contestants[shape] = await aim(shape, halyard, shape)
  const baseline = await startBaseline((await contestants.plain!()).responseBytes)
  contestants.bare = await aim('bare', baseline, 'plain')
  const unleash = flagCount === targetFlags && database === 'SQLite' ? await startPeer(context) : undefined
  if (unleash) contestants['unleash-server'] = unleash.run
  await seeActivePersons(contestants.stored!, size.activePersons)
  const rounds = await interleave(contestants, size.rounds)
  await Promise.all([baseline.stop(), stop(), unleash?.stop()])
  for (const [each, own] of Object.entries(rounds)) log(`  ${name}, ${each}: ${rates(own)}`)
  return figuresOf(name, flagCount, rounds)
}

/** Persons who send requests again and again have been looked up before. */
async function seeActivePersons(stored: () => Promise<Round>, count: number): Promise<void> {
  for (let seen = 0; seen < count; ) seen += (await stored()).requests
}

function figuresOf(name: string, flagCount: number, rounds: Readonly<Record<string, readonly Round[]>>): Figure[] {
  const bare = rounds.bare!
  const figure = (measure: string, values: readonly number[], more: Partial<Figure> = {}): Figure => ({
    measure: `${name}, ${measure}`,
    value: median(values),
    unit: '×',
    spread: spreadOf(values),
    ...more,
  })
  const unleash = rounds['unleash-server']
  return [
    ...shapes.map(shape => {
      const own = rounds[shape]!
      const target = flagCount === targetFlags ? shareTargets[shape] : undefined
      const cpu = median(cpuRatios(bare, own)).toFixed(2)
      const note = `${cpu} by CPU time, p99 ${median(own.map(({ p99 }) => p99)).toFixed(1)} ms`
      return figure(`${shape}: share of bare node:http`, speedRatios(own, bare), {
        note,
        ...(target !== undefined && { atLeast: target }),
      })
    }),
    figure('stored: p99 ÷ p99 of plain', tailRatios(rounds.stored!, rounds.plain!), {
      ...(flagCount === targetFlags && { atMost: 3 }),
    }),
    ...(unleash
      ? [figure('mixed: requests/s ÷ unleash-server', speedRatios(rounds.mixed!, unleash), { atLeast: peerFactor })]
      : []),
  ]
}

async function start({ installations }: RowContext, database: Database, flagCount: number) {
  if (database === 'SQLite') {
    const halyard = await installations.start(flagCount)
    return { halyard, stop: () => halyard.stop() }
  }
  const postgres = await startPostgres(['fsync=on', 'full_page_writes=on'])
  const halyard = await installations.open(postgres.url)
  await createFlags(halyard, flagCount)
  const stop = async () => {
    await halyard.stop()
    await postgres.stop()
  }
  return { halyard, stop }
}

/** Requests with and without the properties of a stored person get the same flags; otherwise the rows could not be compared. */
async function checkStored({ url, token }: Installation): Promise<void> {
  const { distinctId, personProperties } = personAt(0)
  const evaluate = async (body: object) => {
    const response = await fetch(`${url}/flags/?v=2`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, distinct_id: distinctId, ...body }),
    })
    return JSON.stringify(((await response.json()) as { flags: unknown }).flags)
  }
  if ((await evaluate({ person_properties: personProperties })) !== (await evaluate({})))
    throw new Error('Stored and sent properties lead to different flags.')
}

/** Unleash with the mixed requests, if it is installed. */
async function startPeer({ peers, size, load, log }: RowContext) {
  if (!peers.areEnabled) return undefined
  log('  Starting unleash-server …')
  const unleash = await startUnleash(peers, targetFlags)
  if (!unleash) {
    log('  unleash-server: not installed')
    return undefined
  }
  const { port, pid, frontendHeaders: headers, stop } = unleash
  const plan = { kind: 'evaluate-unleash', headers, users: [0, size.activePersons] } as const
  const run = await load.aim({ id: 'unleash-server', port, pid, plan, status: 200 }, size.connections)
  return { run: () => run(size.roundMilliseconds), stop }
}
