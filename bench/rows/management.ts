import { compareWithFloor, compareWithPeer, rates } from '../compare.ts'
import { ownerHeaders } from '../installation.ts'
import { type Server, startFloor, type Target } from '../load.ts'
import { interleave, median } from '../measure.ts'
import { startUnleash } from '../peers/unleash-server.ts'
import type { Row } from '../row.ts'

/** Creating and listing flags over the public interface, SQLite on disk with every commit synced; Unleash on a PostgreSQL that syncs as well. */
export const management: Row = async ({ size, installations, load, peers, say }) => {
  // Flags are made for as long as the clock runs, more of them than a project holds unless told otherwise.
  const { databaseUrl } = await installations.copy(100)
  const halyard = await installations.open(databaseUrl, { HALYARD_FLAGS_PER_PROJECT_MAX: '1000000' })
  const unleash = await startUnleash(peers, 100)
  if (!unleash && peers.areWanted) say('  unleash-server: not installed')
  const aim = async (id: string, { port, pid }: Pick<Server, 'port' | 'pid'>, plan: Target['plan'], status: number) => {
    const ask = await load.aim({ id, port, pid, plan, status }, size.connections)
    return () => ask(size.turnMilliseconds)
  }
  const path = `/api/projects/${halyard.projectId}/feature_flags/`
  const theirPath = '/api/admin/projects/default/features'
  const list = { kind: 'same', method: 'GET', path, headers: ownerHeaders } as const
  const listing = await aim('list', halyard, list, 200)
  const floor = await startFloor((await listing()).answerBytes)
  const lists = await interleave(
    {
      floor: await aim('list floor', floor, list, 200),
      halyard: listing,
      ...(unleash && {
        unleash: await aim('list unleash', unleash, { ...list, path: theirPath, headers: unleash.adminHeaders }, 200),
      }),
    },
    size.turns,
  )
  // Last: it makes the list longer.
  const body = JSON.stringify({ key: '%', name: 'From the bench', filters: { groups: [{ rollout_percentage: 50 }] } })
  const create = { kind: 'new', path, headers: ownerHeaders, body } as const
  const theirs = { ...create, path: theirPath, body: '{"name":"%","description":"From the bench","type":"release"}' }
  const creates = await interleave(
    {
      halyard: await aim('create', halyard, create, 201),
      ...(unleash && {
        unleash: await aim('create unleash', unleash, { ...theirs, headers: unleash.adminHeaders }, 201),
      }),
    },
    size.turns,
  )
  await Promise.all([floor.stop(), halyard.stop(), unleash?.stop()])
  for (const [name, own] of Object.entries(lists)) say(`  list, ${name}: ${rates(own)}`)
  for (const [name, own] of Object.entries(creates)) say(`  create, ${name}: ${rates(own)}`)
  const listed = compareWithFloor('list 100 flags', lists.halyard!, lists.floor!).slice(0, 2)
  const work = creates.halyard!.map((turn, at) => turn.cpuEach / lists.floor![at]!.cpuEach)
  return [
    ...compareWithPeer('list 100 flags', 'unleash-server', lists.halyard!, lists.unleash, 25),
    ...listed,
    ...compareWithPeer('create a flag, durable', 'unleash-server', creates.halyard!, creates.unleash, 8),
    {
      measure: 'create a flag, durable: processor time ÷ that of the floor for a list',
      value: median(work),
      unit: '×',
      guard: 'more is worse',
    },
  ]
}
