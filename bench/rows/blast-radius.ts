import { baselineHash } from '../baseline-hash.ts'
import { median, ratios, spreadOf } from '../measure.ts'
import { cpuSeconds, cpuSecondsSince } from '../processes.ts'
import type { Row } from '../row.ts'

/** Blast radius of a flag with two conditions over many persons, and its effect on concurrent evaluations. */
export const blastRadius: Row = async ({ size, installations, load }) => {
  const { databaseUrl } = await installations.copyWithPersons(size.persons)
  const halyard = await installations.open(databaseUrl)
  const { port, pid, token, projectId } = halyard
  const plan = { kind: 'evaluate', token, users: Math.min(size.users, 5000) } as const
  // A constant few hundred requests per second, to measure latency and not throughput.
  const evaluate = await load.aim({ id: 'concurrent', port, pid, plan, status: 200, pauseMilliseconds: 10 }, 4)
  const properties = [
    { key: 'country', type: 'person', value: ['NO', 'SE'], operator: 'exact' },
    { key: 'age', type: 'person', value: 40, operator: 'gt' },
  ]
  const candidate = { key: 'candidate', filters: { groups: [{ properties, rollout_percentage: 100 }] } }
  const scan = async () => {
    const startedAt = performance.now()
    const before = cpuSeconds(pid)
    const response = await halyard.request(
      'POST',
      `/api/projects/${projectId}/feature_flags/user_blast_radius/`,
      candidate,
    )
    const { total_users } = response as { total_users: number }
    if (total_users < size.persons) throw new Error(`Only ${total_users} persons were scanned.`)
    return { seconds: (performance.now() - startedAt) / 1000, cpu: cpuSecondsSince(pid, before) }
  }
  await scan()
  const times: number[] = []
  const costs: number[] = []
  const hashes: number[] = []
  const idleP99: number[] = []
  const concurrentTimes: number[] = []
  const concurrentP99: number[] = []
  for (let round = 0; round < Math.min(size.rounds, 5); round++) {
    const { seconds, cpu } = await scan()
    times.push(seconds)
    costs.push(cpu)
    hashes.push(secondsOfHash())
    idleP99.push((await evaluate(size.roundMilliseconds)).p99)
    const scanning = scan()
    concurrentP99.push((await evaluate(size.roundMilliseconds)).p99)
    concurrentTimes.push((await scanning).seconds)
  }
  await halyard.stop()
  const name = `blast radius over ${size.persons.toLocaleString('en')} persons`
  const slowdown = ratios(concurrentP99, idleP99)
  return [
    { measure: name, value: median(times), unit: 's', spread: spreadOf(times), atMost: 2 },
    { measure: `${name}: CPU time`, value: median(costs), unit: 's', spread: spreadOf(costs) },
    {
      measure: `${name}: CPU time per person ÷ JS SHA-1 of one id`,
      value: median(costs) / size.persons / median(hashes),
      unit: '×',
      guard: 'more is worse',
    },
    {
      measure: `${name}, with concurrent evaluations`,
      value: median(concurrentTimes),
      unit: 's',
      spread: spreadOf(concurrentTimes),
    },
    {
      measure: `${name}: evaluation p99 during the scan ÷ without`,
      value: median(slowdown),
      unit: '×',
      spread: spreadOf(slowdown),
      atMost: 1.5,
      note: `${median(concurrentP99).toFixed(1)} and ${median(idleP99).toFixed(1)} ms`,
    },
  ]
}

/** Calibrates for the current speed of the CPU. */
function secondsOfHash(): number {
  const count = 100_000
  const before = process.cpuUsage()
  let sum = 0
  for (let n = 0; n < count; n++) sum += baselineHash(`candidate.user-${n}`)
  const { user, system } = process.cpuUsage(before)
  if (sum < 0) throw new Error('A hash must not be negative.')
  return (user + system) / 1e6 / count
}
