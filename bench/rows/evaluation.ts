import { compareWithFloor, compareWithPeer, rates } from '../compare.ts'
import { type Server, startFloor, startServing, type Target, type Turn } from '../load.ts'
import { type Figure, interleave } from '../measure.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import type { Kit, Row } from '../row.ts'

const bars: Readonly<Record<number, { readonly atLeast: number }>> = {
  10: { atLeast: 0.75 },
  100: { atLeast: 0.55 },
  1000: { atLeast: 0.2 },
}

/** `POST /flags/?v=2`, every request another user, against a bare server that answers as many bytes, and against other servers. */
export const evaluation: Row = async kit => {
  const figures: Figure[] = []
  for (const flagCount of kit.size.flagCounts) figures.push(...(await evaluationOf(kit, flagCount)))
  return figures
}

async function evaluationOf(kit: Kit, flagCount: number): Promise<Figure[]> {
  const { size, installations, load, say } = kit
  const halyard = await installations.start(flagCount)
  const aim = (id: string, { port, pid }: Pick<Server, 'port' | 'pid'>, plan: Target['plan']) =>
    load.aim({ id: `${id} ${flagCount}`, port, pid, plan, status: 200 }, size.connections)
  const plan = { kind: 'evaluate', token: halyard.token, users: size.users } as const
  const ask = await aim('halyard', halyard, plan)
  const { answerBytes } = await ask(size.turnMilliseconds / 2)
  const floor = await startFloor(answerBytes)
  const bare = await aim('floor', floor, plan)
  const contestants: Record<string, () => Promise<Turn>> = {
    floor: () => bare(size.turnMilliseconds),
    halyard: () => ask(size.turnMilliseconds),
  }
  const rivals = flagCount === 100 && kit.peers.areWanted ? await startRivals(kit, flagCount) : {}
  for (const [name, { server, plan }] of Object.entries(rivals)) {
    const asked = await aim(name, server, plan)
    contestants[name] = () => asked(size.turnMilliseconds)
  }
  const turns = await interleave(contestants, size.turns)
  for (const { server } of Object.values(rivals)) await server.stop()
  await Promise.all([floor.stop(), halyard.stop()])
  for (const [name, own] of Object.entries(turns)) say(`  ${flagCount} flags, ${name}: ${rates(own)}`)
  const name = `POST /flags/?v=2, ${flagCount} flags`
  return [
    ...compareWithFloor(name, turns.halyard!, turns.floor!, bars[flagCount]),
    ...compareWithPeer(name, 'unleash-server, Node 22', turns.halyard!, turns['unleash-server'], 28),
    ...compareWithPeer(name, 'fastify + flagd-core, this Node', turns.halyard!, turns['fastify + flagd-core']),
    ...compareWithPeer(name, 'fastify + flagd-core, Node 22', turns.halyard!, turns['fastify + flagd-core 22']),
  ]
}

type Rivals = Record<string, { readonly server: Server; readonly plan: Target['plan'] }>

/** The servers of others, as far as they are installed. */
async function startRivals({ peers, size, say }: Kit, flagCount: number): Promise<Rivals> {
  const { users } = size
  const rivals: Rivals = {}
  const fastify = peers.find('fastify')
  const flagd = peers.find('flagd-core')
  if (fastify && flagd) {
    const node22 = peers.node22()
    const start = async (node?: string) => ({
      server: await startServing('flagd-server', [String(flagCount), fastify, flagd], node),
      plan: { kind: 'evaluate-flagd', users } as const,
    })
    rivals['fastify + flagd-core'] = await start()
    if (node22) rivals['fastify + flagd-core 22'] = await start(node22)
  } else say('  fastify + flagd-core: not installed')
  say('  Starting unleash-server …')
  const unleash = await startUnleash(peers, flagCount)
  if (unleash) {
    const plan = { kind: 'evaluate-unleash', headers: unleash.frontendHeaders, users } as const
    rivals['unleash-server'] = { server: unleash, plan }
  } else say('  unleash-server: not installed')
  return rivals
}
