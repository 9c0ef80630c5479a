import { compareWithPeer, rates, speedRatios } from '../compare.ts'
import { type Installation, ownerHeaders } from '../installation.ts'
import { type Server, startBaseline, type Target } from '../load.ts'
import { interleave, median, spreadOf } from '../measure.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import type { Row } from '../row.ts'

const flagsPath = ({ projectId }: Installation) => `/api/projects/${projectId}/feature_flags/`

/**
 * Creates and lists flags over the API, on SQLite with synced commits; Unleash on PostgreSQL with synced commits. Unleash requires
 * Node 22, so Halyard runs on this Node and on that one.
 */
export const management: Row = async ({ size, installations, load, peers, log }) => {
  // The benchmark creates more flags than the default limit per project.
  const { databaseUrl } = await installations.copy(100)
  const settings = { HALYARD_FLAGS_PER_PROJECT_MAX: '1000000' }
  const halyard = await installations.open(databaseUrl, settings)
  const node22 = peers.node(22)
  const onNode22 =
    node22 === undefined
      ? undefined
      : await installations.open((await installations.copy(100)).databaseUrl, settings, node22)
  const unleash = await startUnleash(peers, 100)
  if (!unleash && peers.areEnabled) log('  unleash-server: not installed')
  const aim = async (id: string, { port, pid }: Pick<Server, 'port' | 'pid'>, plan: Target['plan'], status: number) => {
    const run = await load.aim({ id, port, pid, plan, status }, size.connections)
    return () => run(size.roundMilliseconds)
  }
  const path = flagsPath(halyard)
  const theirPath = '/api/admin/projects/default/features'
  const list = { kind: 'same', method: 'GET', path, headers: ownerHeaders } as const
  const listing = await aim('list', halyard, list, 200)
  const baseline = await startBaseline((await listing()).responseBytes)
  const lists = await interleave(
    {
      baseline: await aim('list baseline', baseline, list, 200),
      halyard: listing,
      ...(onNode22 && {
        halyard22: await aim('list on Node 22', onNode22, { ...list, path: flagsPath(onNode22) }, 200),
      }),
      ...(unleash && {
        unleash: await aim('list unleash', unleash, { ...list, path: theirPath, headers: unleash.adminHeaders }, 200),
      }),
    },
    size.rounds,
  )
  // Last, because it makes the list longer.
  const body = JSON.stringify({ key: '%', name: 'Benchmark', filters: { groups: [{ rollout_percentage: 50 }] } })
  const create = { kind: 'new', path, headers: ownerHeaders, body } as const
  const theirs = { ...create, path: theirPath, body: '{"name":"%","description":"Benchmark","type":"release"}' }
  const creates = await interleave(
    {
      halyard: await aim('create', halyard, create, 201),
      ...(onNode22 && {
        halyard22: await aim('create on Node 22', onNode22, { ...create, path: flagsPath(onNode22) }, 201),
      }),
      ...(unleash && {
        unleash: await aim('create unleash', unleash, { ...theirs, headers: unleash.adminHeaders }, 201),
      }),
    },
    size.rounds,
  )
  await Promise.all([baseline.stop(), halyard.stop(), onNode22?.stop(), unleash?.stop()])
  for (const [name, own] of Object.entries(lists)) log(`  list, ${name}: ${rates(own)}`)
  for (const [name, own] of Object.entries(creates)) log(`  create, ${name}: ${rates(own)}`)
  const share = speedRatios(lists.halyard!, lists.baseline!)
  return [
    { measure: 'list 100 flags: share of bare node:http', value: median(share), unit: '×', spread: spreadOf(share) },
    ...compareWithPeer('list 100 flags', 'unleash-server, both on Node 22', lists.halyard22, lists.unleash),
    ...compareWithPeer('create a flag, durable', 'unleash-server, both on Node 22', creates.halyard22, creates.unleash),
  ]
}
