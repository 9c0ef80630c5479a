import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

const warnings: Error[] = []
const note = (warning: Error) => warnings.push(warning)
let s: Scenario
let node: Scenario

beforeAll(async () => {
  process.on('warning', note)
  s = await startScenario('postgres')
  node = await startScenario('postgres', { databaseUrl: s.databaseUrl })
})
afterAll(async () => {
  await node.close()
  await s.close()
  process.off('warning', note)
})

it('uses the driver without deprecated calls', async () => {
  const flags = `${s.project}/feature_flags/`
  const made = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 ? s : node).post(flags, { key: `flag-${n}` })),
  )
  const ids: number[] = made.map(({ body }) => body.id)
  await Promise.all([
    ...ids.flatMap((id, n) => [
      (n % 2 ? s : node).patch(`${flags}${id}/`, { name: 'changed' }),
      s.patch(`${flags}${id}/`, { tags: ['changed'] }),
      node.get(`${flags}?search=FLAG&limit=5`),
    ]),
    s.post(`${flags}bulk_update/`, { ids, active: false }),
    s.post(`${s.project}/cohorts/`, { name: 'static', is_static: true, distinct_ids: ['a', 'b'] }),
    ...ids.map(n =>
      s.post('/capture/', {
        token: s.projectToken,
        distinct_id: `person-${n}`,
        event: 'x',
        properties: { $set: { n } },
      }),
    ),
  ])
  // Warnings are emitted in a later tick.
  await new Promise(resolve => setImmediate(resolve))
  expect(warnings.filter(({ name }) => name === 'DeprecationWarning').map(String)).toEqual([])
})
