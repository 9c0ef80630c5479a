import { residentMegabytes } from '../processes.ts'
import type { Row } from '../row.ts'

/** What the server has in memory with many flags: when nothing is asked, and after as many answers as a few turns give. */
export const memory: Row = async ({ size, installations, load }) => {
  const halyard = await installations.start(size.manyFlags)
  const { port, pid, token } = halyard
  const plan = { kind: 'evaluate', token, users: size.users } as const
  const ask = await load.aim({ id: 'memory', port, pid, plan, status: 200 }, size.connections)
  const idle = residentMegabytes(pid)
  let loaded = 0
  for (let turn = 0; turn < size.turns; turn++) {
    await ask(size.turnMilliseconds)
    loaded = Math.max(loaded, residentMegabytes(pid))
  }
  await halyard.stop()
  return [
    { measure: `memory idle, ${size.manyFlags} flags`, value: idle, unit: 'MB', atMost: 90, guard: 'more is worse' },
    {
      measure: `memory under load, ${size.manyFlags} flags`,
      value: loaded,
      unit: 'MB',
      atMost: 120,
      guard: 'more is worse',
    },
  ]
}
