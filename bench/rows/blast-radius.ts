import { openSqlite } from '../../packages/server/src/storage/sqlite-driver.ts'
import { open } from '../installation.ts'
import { median, quantile, spreadOf } from '../measure.ts'
import type { Row } from '../row.ts'

/** Whom a flag with two conditions would reach among very many persons, and what that does to evaluations meanwhile. */
export const blastRadius: Row = async ({ size, installations, load }) => {
  const { databaseUrl } = await installations.copy(10)
  await open(databaseUrl).then(halyard => {
    addPersons(databaseUrl.slice('sqlite:'.length), halyard.projectId, size.persons)
    return halyard.stop()
  })
  const halyard = await open(databaseUrl)
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

/** Straight into the file: a million events would measure something else. */
function addPersons(path: string, projectId: number, count: number): void {
  const handle = openSqlite(path)
  handle.exec(`
    begin;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into persons (id, project_id, uuid, properties, email, is_identified, distinct_id_count, version, created_at)
    select 1000 + i, ${projectId}, printf('00000000-0000-4000-8000-%012x', i),
      json_object('country', substr('NOSEDEFRUSJP', 1 + 2 * (i % 6), 2), 'age', 15 + i % 60, 'plan', 'plan-' || (i % 4),
        'email', 'person' || i || '@example.com', 'browser', 'Chrome', 'seats', i % 50),
      'person' || i || '@example.com', 1, 1, 1, '2024-01-01T00:00:00.000000Z' from n;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into person_distinct_ids (project_id, distinct_id, person_id)
    select ${projectId}, 'user-' || i, 1000 + i from n;
    commit`)
  handle.close()
}
