import { floorHash } from '../floor-hash.ts'
import { median, ratios, spreadOf } from '../measure.ts'
import { cpuSeconds, cpuSecondsSince } from '../processes.ts'
import type { Row } from '../row.ts'

/** Whom a flag with two conditions would reach among very many persons, and what that does to evaluations meanwhile. */
export const blastRadius: Row = async ({ size, installations, load }) => {
  const { databaseUrl } = await installations.copyWithPersons(size.persons)
  const halyard = await installations.open(databaseUrl)
  const { port, pid, token, projectId } = halyard
  const plan = { kind: 'evaluate', token, users: Math.min(size.users, 5000) } as const
  // A steady few hundred requests a second: it is about the tail, not about throughput.
  const ask = await load.aim({ id: 'beside', port, pid, plan, status: 200, pauseMilliseconds: 10 }, 4)
  const properties = [
    { key: 'country', type: 'person', value: ['NO', 'SE'], operator: 'exact' },
    { key: 'age', type: 'person', value: 40, operator: 'gt' },
  ]
  const candidate = { key: 'candidate', filters: { groups: [{ properties, rollout_percentage: 100 }] } }
  const scan = async () => {
    const begun = performance.now()
    const before = cpuSeconds(pid)
    const answer = await halyard.ask('POST', `/api/projects/${projectId}/feature_flags/user_blast_radius/`, candidate)
    const { total_users } = answer as { total_users: number }
    if (total_users < size.persons) throw new Error(`Only ${total_users} persons were looked at.`)
    return { seconds: (performance.now() - begun) / 1000, cpu: cpuSecondsSince(pid, before) }
  }
  await scan()
  const times: number[] = []
  const costs: number[] = []
  const hashes: number[] = []
  const calm: number[] = []
  const besideTimes: number[] = []
  const beside: number[] = []
  for (let turn = 0; turn < Math.min(size.turns, 5); turn++) {
    const { seconds, cpu } = await scan()
    times.push(seconds)
    costs.push(cpu)
    hashes.push(secondsOfHash())
    calm.push((await ask(size.turnMilliseconds)).p99)
    const scanning = scan()
    beside.push((await ask(size.turnMilliseconds)).p99)
    besideTimes.push((await scanning).seconds)
  }
  await halyard.stop()
  const name = `blast radius over ${size.persons.toLocaleString('en')} persons`
  const harm = ratios(beside, calm)
  return [
    { measure: name, value: median(times), unit: 's', spread: spreadOf(times), atMost: 2 },
    { measure: `${name}: processor time`, value: median(costs), unit: 's', spread: spreadOf(costs) },
    {
      measure: `${name}: processor time for one ÷ JS SHA-1 of one id`,
      value: median(costs) / size.persons / median(hashes),
      unit: '×',
      guard: 'more is worse',
    },
    { measure: `${name}, beside evaluations`, value: median(besideTimes), unit: 's', spread: spreadOf(besideTimes) },
    {
      measure: `${name}: evaluation p99 meanwhile ÷ without it`,
      value: median(harm),
      unit: '×',
      spread: spreadOf(harm),
      atMost: 1.5,
      note: `${median(beside).toFixed(1)} and ${median(calm).toFixed(1)} ms`,
    },
  ]
}

/** How fast the processor is just now. */
function secondsOfHash(): number {
  const count = 100_000
  const before = process.cpuUsage()
  let sum = 0
  for (let n = 0; n < count; n++) sum += floorHash(`candidate.user-${n}`)
  const { user, system } = process.cpuUsage(before)
  if (sum < 0) throw new Error('A share of the whole is never below nothing.')
  return (user + system) / 1e6 / count
}
