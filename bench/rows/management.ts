import { ownerHeaders } from '../installation.ts'
import { startFloor } from '../load.ts'
import { interleave, median, spreadOf } from '../measure.ts'
import type { Row } from '../row.ts'
import { startUnleash } from '../unleash.ts'
import { compare } from './evaluation.ts'

/** Creating and listing flags over the public interface, SQLite on disk with every commit synced. */
export const management: Row = async ({ size, installations, load, peers, say }) => {
  const halyard = await installations.start(100)
  const unleash = await startUnleash(peers, 100, say)
  const flags = `/api/projects/${halyard.projectId}/feature_flags/`
  const list = { kind: 'same', method: 'GET', path: flags, headers: ownerHeaders } as const
  const body = JSON.stringify({
    key: '%',
    name: 'Made by the bench',
    filters: { groups: [{ rollout_percentage: 50 }] },
  })
  const create = { kind: 'new', path: flags, headers: ownerHeaders, body } as const
  const { port, pid } = halyard
  const listing = await load.aim({ id: 'list', port, pid, plan: list, status: 200 }, size.connections)
  const { answerBytes } = await listing(size.turnMilliseconds / 2)
  const floor = await startFloor(answerBytes)
  const bare = await load.aim({ id: 'list floor', ...floor, plan: list, status: 200 }, size.connections)
  const creating = await load.aim({ id: 'create', port, pid, plan: create, status: 201 }, size.connections)
  const theirs = unleash && {
    list: await load.aim({ id: 'unleash list', ...unleash.target, plan: unleash.list, status: 200 }, size.connections),
    create: await load.aim(
      { id: 'unleash create', ...unleash.target, plan: unleash.create, status: 201 },
      size.connections,
    ),
  }
  const run =
    <T>(ask: (milliseconds: number) => Promise<T>) =>
    () =>
      ask(size.turnMilliseconds)
  const lists = await interleave(
    { floor: run(bare), halyard: run(listing), ...(theirs && { unleash: run(theirs.list) }) },
    size.turns,
  )
  // Last: it makes the list longer.
  const creates = await interleave(
    { halyard: run(creating), ...(theirs && { unleash: run(theirs.create) }) },
    size.turns,
  )
  await Promise.all([floor.stop(), halyard.stop(), unleash?.stop()])
  const perSecond = (turns: readonly { perSecond: number }[]) => turns.map(turn => turn.perSecond)
  const created = perSecond(creates.halyard!)
  const listed = perSecond(lists.halyard!)
  return [
    ...compare('list 100 flags', lists.halyard!, lists.floor!, {}).slice(0, 2),
    { measure: 'list 100 flags', value: median(listed), unit: 'requests/s', spread: spreadOf(listed) },
    ...(theirs ? [against('list 100 flags', listed, perSecond(lists.unleash!), 25)] : []),
    { measure: 'create a flag, durable', value: median(created), unit: 'flags/s', spread: spreadOf(created) },
    ...(theirs ? [against('create a flag, durable', created, perSecond(creates.unleash!), 8)] : []),
    {
      measure: 'create a flag, durable: processor time',
      value: median(creates.halyard!.map(turn => turn.cpuEach)),
      unit: 'µs',
      alarm: 20_000,
    },
  ]
}

function against(name: string, own: readonly number[], theirs: readonly number[], atLeast: number) {
  const each = own.map((value, turn) => value / theirs[turn]!)
  return { measure: `${name} × unleash-server`, value: median(each), unit: '×', spread: spreadOf(each), atLeast }
}
