import { compareWithBaseline, compareWithPeer, rates } from '../compare.ts'
import { ownerHeaders } from '../installation.ts'
import { type Round, type Server, startBaseline, type Target } from '../load.ts'
import { interleave } from '../measure.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import type { Row } from '../row.ts'

/**
 * `GET /flags/definitions`: unchanged compared with a bare 304, changed compared with a bare response of the same size and with the
 * definitions that Unleash sends to its server SDKs.
 */
export const definitions: Row = async ({ size, installations, load, peers, log }) => {
  const halyard = await installations.start(100)
  const path = `/flags/definitions?token=${halyard.token}&send_cohorts`
  const first = await fetch(halyard.url + path, { headers: ownerHeaders })
  const bytes = (await first.arrayBuffer()).byteLength
  const etag = first.headers.get('etag')
  if (!etag) throw new Error('The definitions have no ETag.')
  const request = { kind: 'same', method: 'GET', path } as const
  const unchanged = { ...request, headers: { ...ownerHeaders, 'if-none-match': etag } }
  const changed = { ...request, headers: ownerHeaders }
  const unleash = await startUnleash(peers, 100)
  if (!unleash && peers.areEnabled) log('  unleash-server: not installed')
  const baselines = { unchanged: await startBaseline(0), changed: await startBaseline(bytes) }

  const contestants: Record<string, () => Promise<Round>> = {}
  const enter = async (
    id: string,
    { port, pid }: Pick<Server, 'port' | 'pid'>,
    plan: Target['plan'],
    status: number,
  ) => {
    const run = await load.aim({ id, port, pid, plan, status }, size.connections)
    contestants[id] = () => run(size.roundMilliseconds)
  }
  await enter('304, baseline', baselines.unchanged, unchanged, 304)
  await enter('304', halyard, unchanged, 304)
  await enter('200, baseline', baselines.changed, changed, 200)
  await enter('200', halyard, changed, 200)
  if (unleash) {
    const plan = { ...request, path: '/api/client/features', headers: unleash.backendHeaders }
    await enter('200, unleash-server', unleash, plan, 200)
  }
  const rounds = await interleave(contestants, size.rounds)
  await Promise.all([baselines.unchanged.stop(), baselines.changed.stop(), halyard.stop(), unleash?.stop()])
  for (const [name, own] of Object.entries(rounds)) log(`  ${name}: ${rates(own)}`)
  const name = 'GET /flags/definitions, 100 flags'
  return [
    ...compareWithBaseline(`${name}, 304`, rounds['304']!, rounds['304, baseline']!, { atLeast: 0.8 }),
    ...compareWithBaseline(`${name}, 200`, rounds['200']!, rounds['200, baseline']!).slice(0, 2),
    ...compareWithPeer(
      `${name}, 200`,
      "unleash-server's client features",
      rounds['200']!,
      rounds['200, unleash-server'],
      20,
    ),
  ]
}
