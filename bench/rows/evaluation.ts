import { compareWithBaseline, compareWithPeer, rates } from '../compare.ts'
import { type Round, type Server, startBaseline, startServing, type Target } from '../load.ts'
import { type Figure, interleave } from '../measure.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import type { Row, RowContext } from '../row.ts'

const targets: Readonly<Record<number, { readonly atLeast: number }>> = {
  10: { atLeast: 0.75 },
  100: { atLeast: 0.55 },
  1000: { atLeast: 0.2 },
}

/** `POST /flags/?v=2`, a different user per request, relative to a bare server with responses of the same size and to other servers. */
export const evaluation: Row = async context => {
  const figures: Figure[] = []
  for (const flagCount of context.size.flagCounts) figures.push(...(await evaluationOf(context, flagCount)))
  return figures
}

async function evaluationOf(context: RowContext, flagCount: number): Promise<Figure[]> {
  const { size, installations, load, log } = context
  const halyard = await installations.start(flagCount)
  const aim = (id: string, { port, pid }: Pick<Server, 'port' | 'pid'>, plan: Target['plan']) =>
    load.aim({ id: `${id} ${flagCount}`, port, pid, plan, status: 200 }, size.connections)
  const plan = { kind: 'evaluate', token: halyard.token, users: size.users } as const
  const run = await aim('halyard', halyard, plan)
  const { responseBytes } = await run(size.roundMilliseconds / 2)
  const baseline = await startBaseline(responseBytes)
  const runBaseline = await aim('baseline', baseline, plan)
  const contestants: Record<string, () => Promise<Round>> = {
    baseline: () => runBaseline(size.roundMilliseconds),
    halyard: () => run(size.roundMilliseconds),
  }
  const hasRivals = flagCount === 100 && context.peers.areEnabled
  const rivals = hasRivals ? await startRivals(context, flagCount) : {}
  const node22 = hasRivals ? context.peers.node(22) : undefined
  if (node22 !== undefined) {
    const server = await installations.open((await installations.copy(flagCount)).databaseUrl, {}, node22)
    rivals['halyard 22'] = { server, plan: { ...plan, token: server.token } }
  }
  for (const [name, { server, plan }] of Object.entries(rivals)) {
    const runPeer = await aim(name, server, plan)
    contestants[name] = () => runPeer(size.roundMilliseconds)
  }
  const rounds = await interleave(contestants, size.rounds)
  for (const { server } of Object.values(rivals)) await server.stop()
  await Promise.all([baseline.stop(), halyard.stop()])
  for (const [name, own] of Object.entries(rounds)) log(`  ${flagCount} flags, ${name}: ${rates(own)}`)
  const name = `POST /flags/?v=2, ${flagCount} flags`
  return [
    ...compareWithBaseline(name, rounds.halyard!, rounds.baseline!, targets[flagCount]),
    ...compareWithPeer(name, 'unleash-server, both on Node 22', rounds['halyard 22'], rounds['unleash-server'], 20),
    ...compareWithPeer(name, 'unleash-server on Node 22', rounds.halyard, rounds['unleash-server']),
    ...compareWithPeer(name, 'fastify + flagd-core, this Node', rounds.halyard, rounds['fastify + flagd-core']),
    ...compareWithPeer(name, 'fastify + flagd-core, Node 22', rounds.halyard, rounds['fastify + flagd-core 22']),
  ]
}

type Rivals = Record<
  string,
  { readonly server: Pick<Server, 'port' | 'pid'> & Stoppable; readonly plan: Target['plan'] }
>
interface Stoppable {
  stop(): Promise<unknown>
}

/** Other servers, if they are installed. */
async function startRivals({ peers, size, log }: RowContext, flagCount: number): Promise<Rivals> {
  const { users } = size
  const rivals: Rivals = {}
  const fastify = peers.find('fastify')
  const flagd = peers.find('flagd-core')
  if (fastify && flagd) {
    const node22 = peers.node(22)
    const start = async (node?: string) => ({
      server: await startServing('flagd-server', [String(flagCount), fastify, flagd], node),
      plan: { kind: 'evaluate-flagd', users } as const,
    })
    rivals['fastify + flagd-core'] = await start()
    if (node22) rivals['fastify + flagd-core 22'] = await start(node22)
  } else log('  fastify + flagd-core: not installed')
  log('  Starting unleash-server …')
  const unleash = await startUnleash(peers, flagCount)
  if (unleash) {
    const plan = { kind: 'evaluate-unleash', headers: unleash.frontendHeaders, users } as const
    rivals['unleash-server'] = { server: unleash, plan }
  } else log('  unleash-server: not installed')
  return rivals
}
