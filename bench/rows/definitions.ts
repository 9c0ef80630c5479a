import { compareWithFloor, compareWithPeer, rates } from '../compare.ts'
import { ownerHeaders } from '../installation.ts'
import { type Server, startFloor, type Target, type Turn } from '../load.ts'
import { interleave } from '../measure.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import type { Row } from '../row.ts'

/**
 * `GET /flags/definitions`: unchanged against a bare 304, changed against a bare answer of the same size and against what Unleash sends its
 * server libraries.
 */
export const definitions: Row = async ({ size, installations, load, peers, say }) => {
  const halyard = await installations.start(100)
  const path = `/flags/definitions?token=${halyard.token}&send_cohorts`
  const first = await fetch(halyard.url + path, { headers: ownerHeaders })
  const bytes = (await first.arrayBuffer()).byteLength
  const etag = first.headers.get('etag')
  if (!etag) throw new Error('The definitions came without an ETag.')
  const request = { kind: 'same', method: 'GET', path } as const
  const unchanged = { ...request, headers: { ...ownerHeaders, 'if-none-match': etag } }
  const changed = { ...request, headers: ownerHeaders }
  const unleash = await startUnleash(peers, 100)
  if (!unleash && peers.areWanted) say('  unleash-server: not installed')
  const floors = { unchanged: await startFloor(0), changed: await startFloor(bytes) }

  const contestants: Record<string, () => Promise<Turn>> = {}
  const enter = async (
    id: string,
    { port, pid }: Pick<Server, 'port' | 'pid'>,
    plan: Target['plan'],
    status: number,
  ) => {
    const ask = await load.aim({ id, port, pid, plan, status }, size.connections)
    contestants[id] = () => ask(size.turnMilliseconds)
  }
  await enter('304, floor', floors.unchanged, unchanged, 304)
  await enter('304', halyard, unchanged, 304)
  await enter('200, floor', floors.changed, changed, 200)
  await enter('200', halyard, changed, 200)
  if (unleash) {
    const plan = { ...request, path: '/api/client/features', headers: unleash.backendHeaders }
    await enter('200, unleash-server', unleash, plan, 200)
  }
  const turns = await interleave(contestants, size.turns)
  await Promise.all([floors.unchanged.stop(), floors.changed.stop(), halyard.stop(), unleash?.stop()])
  for (const [name, own] of Object.entries(turns)) say(`  ${name}: ${rates(own)}`)
  const name = 'GET /flags/definitions, 100 flags'
  return [
    ...compareWithFloor(`${name}, 304`, turns['304']!, turns['304, floor']!, { atLeast: 0.8 }),
    ...compareWithFloor(`${name}, 200`, turns['200']!, turns['200, floor']!).slice(0, 2),
    ...compareWithPeer(
      `${name}, 200`,
      "unleash-server's client features",
      turns['200']!,
      turns['200, unleash-server'],
      20,
    ),
  ]
}
