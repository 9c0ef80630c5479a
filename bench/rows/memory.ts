import { setTimeout as wait } from 'node:timers/promises'
import { residentMegabytes } from '../processes.ts'
import type { Row } from '../row.ts'

/** Memory of the server with many flags: after the start, under load, and when it has been idle. */
export const memory: Row = async ({ size, installations, load }) => {
  const halyard = await installations.start(size.manyFlags)
  const { port, pid, token } = halyard
  const plan = { kind: 'evaluate', token, users: size.users } as const
  const run = await load.aim({ id: 'memory', port, pid, plan, status: 200 }, size.connections)
  const started = residentMegabytes(pid)
  let loaded = 0
  for (let round = 0; round < size.rounds; round++) {
    await run(size.roundMilliseconds)
    loaded = Math.max(loaded, residentMegabytes(pid))
  }
  await wait(size.idleMilliseconds)
  const idle = residentMegabytes(pid)
  await halyard.stop()
  return [
    { measure: `memory after the start, ${size.manyFlags} flags`, value: started, unit: 'MB', guard: 'more is worse' },
    { measure: `memory idle, ${size.manyFlags} flags`, value: idle, unit: 'MB', atMost: 90 },
    {
      measure: `memory under load, ${size.manyFlags} flags`,
      value: loaded,
      unit: 'MB',
      atMost: 120,
      guard: 'more is worse',
    },
  ]
}
