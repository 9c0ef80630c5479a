import { ownerHeaders } from '../installation.ts'
import { startFloor } from '../load.ts'
import { interleave, median, spreadOf } from '../measure.ts'
import type { Row } from '../row.ts'
import { compare } from './evaluation.ts'

/** Creating and listing flags over the public interface, SQLite on disk with every commit synced. */
export const management: Row = async ({ size, installations, load }) => {
  const halyard = await installations.start(100)
  const { port, pid } = halyard
  const path = `/api/projects/${halyard.projectId}/feature_flags/`
  const list = { kind: 'same', method: 'GET', path, headers: ownerHeaders } as const
  const body = JSON.stringify({ key: '%', name: 'From the bench', filters: { groups: [{ rollout_percentage: 50 }] } })
  const create = { kind: 'new', path, headers: ownerHeaders, body } as const
  const listing = await load.aim({ id: 'list', port, pid, plan: list, status: 200 }, size.connections)
  const { answerBytes } = await listing(size.turnMilliseconds / 2)
  const floor = await startFloor(answerBytes)
  const bare = await load.aim(
    { id: 'list floor', port: floor.port, pid: floor.pid, plan: list, status: 200 },
    size.connections,
  )
  const creating = await load.aim({ id: 'create', port, pid, plan: create, status: 201 }, size.connections)
  const milliseconds = size.turnMilliseconds
  const lists = await interleave({ floor: () => bare(milliseconds), halyard: () => listing(milliseconds) }, size.turns)
  // Last: it makes the list longer.
  const creates = await interleave({ halyard: () => creating(milliseconds) }, size.turns)
  await Promise.all([floor.stop(), halyard.stop()])
  const listed = lists.halyard!.map(turn => turn.perSecond)
  const created = creates.halyard!.map(turn => turn.perSecond)
  return [
    ...compare('list 100 flags', lists.halyard!, lists.floor!).slice(0, 2),
    { measure: 'list 100 flags', value: median(listed), unit: 'requests/s', spread: spreadOf(listed) },
    { measure: 'create a flag, durable', value: median(created), unit: 'flags/s', spread: spreadOf(created) },
    {
      measure: 'create a flag, durable: processor time',
      value: median(creates.halyard!.map(turn => turn.cpuEach)),
      unit: 'µs',
      alarm: 20_000,
    },
  ]
}
