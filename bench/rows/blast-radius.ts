import { median, quantile, spreadOf } from '../measure.ts'
import type { Row } from '../row.ts'

/** Whom a flag with two conditions would reach among very many persons, and what that does to evaluations meanwhile. */
export const blastRadius: Row = async ({ size, installations, load }) => {
  const { databaseUrl } = await installations.copyWithPersons(size.persons)
  const halyard = await installations.open(databaseUrl)
  const { port, pid, token, projectId } = halyard
  const plan = { kind: 'evaluate', token, users: Math.min(size.users, 5000) } as const
  // Few connections: it is about the tail, not about throughput.
  const ask = await load.aim({ id: 'beside', port, pid, plan, status: 200 }, 4)
  const properties = [
    { key: 'country', type: 'person', value: ['NO', 'SE'], operator: 'exact' },
    { key: 'age', type: 'person', value: 40, operator: 'gt' },
  ]
  const candidate = { key: 'candidate', filters: { groups: [{ properties, rollout_percentage: 100 }] } }
  const scan = async () => {
    const begun = performance.now()
    const answer = await halyard.ask('POST', `/api/projects/${projectId}/feature_flags/user_blast_radius/`, candidate)
    const { total_users } = answer as { total_users: number }
    if (total_users < size.persons) throw new Error(`Only ${total_users} persons were looked at.`)
    return performance.now() - begun
  }
  await scan()
  const times: number[] = []
  const calm: number[] = []
  const beside: number[] = []
  for (let turn = 0; turn < Math.min(size.turns, 5); turn++) {
    times.push((await scan()) / 1000)
    calm.push((await ask(size.turnMilliseconds)).p99)
    const scanning = scan()
    beside.push((await ask(size.turnMilliseconds)).p99)
    await scanning
  }
  await halyard.stop()
  const name = `blast radius over ${size.persons.toLocaleString('en')} persons`
  return [
    { measure: name, value: median(times), unit: 's', spread: spreadOf(times), atMost: 2, alarm: 30 },
    {
      measure: `${name}: evaluation p99 meanwhile`,
      value: quantile(beside, 0.5),
      unit: 'ms',
      spread: spreadOf(beside),
    },
    { measure: `${name}: evaluation p99 without it`, value: quantile(calm, 0.5), unit: 'ms', spread: spreadOf(calm) },
  ]
}
