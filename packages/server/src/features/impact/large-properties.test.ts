import { beforeAll, expect, it } from 'vitest'
import { batchBytesMax } from '../../evaluation/scan/batch.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { createPersons } from '../../testing/persons.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

/** The maximum size of a person's properties. */
const characters = 500_000
const large = Math.ceil((2 * batchBytesMax) / characters)

onEachDatabase('persons with large properties', dialect => {
  const s = suiteScenario(dialect)
  beforeAll(async () => {
    const text = 'y'.repeat(characters)
    await createPersons(s, s.projectId, { small: { plan: 'pro' } })
    for (let index = 0; index < large; index++)
      await createPersons(s, s.projectId, { [`large ${index}`]: { plan: index % 2 ? 'pro' : 'free', text } })
    await createPersons(s, s.projectId, { last: { plan: 'pro' } })
  })

  it('are read in small batches, and all of them are counted', async () => {
    const properties = [{ key: 'plan', value: 'pro', operator: 'exact', type: 'person' }]
    const { status, body } = await s.post(`${s.project}/feature_flags/user_blast_radius/`, {
      filters: { groups: [{ properties, rollout_percentage: 100 }] },
    })
    expect(status).toBe(200)
    expect([body.users_affected, body.total_users]).toEqual([Math.floor(large / 2) + 2, large + 2])
  })
})
