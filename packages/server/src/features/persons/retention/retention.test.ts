import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { createTestDatabase, freeLeases, onEachDatabase, type TestDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'

const inDays = (days: number) => instantOf(new Date(Date.now() + days * 24 * 3_600_000))

onEachDatabase('retention', dialect => {
  let database: TestDatabase
  let s: Scenario
  const start = async (environment: Record<string, string>) => {
    s = await startScenario(dialect, { databaseUrl: database.url, environment })
  }
  beforeAll(async () => {
    database = await createTestDatabase(dialect)
    await start({ HALYARD_PERSON_DAYS: '30', HALYARD_ACTIVITY_DAYS: '90' })
  })
  afterAll(async () => {
    await s.close()
    await database.drop()
  })

  const run = async (days: number) => {
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(inDays(days))
  }
  const send = async (...distinctIds: string[]) => {
    const batch = distinctIds.map(id => ({ event: 'seen', distinct_id: id, properties: {} }))
    expect((await s.post('/batch/', { api_key: s.projectToken, batch })).status).toBe(200)
  }
  const persons = async () => {
    const { results } = (await s.get(`${s.project}/persons/`)).body
    return results.map((person: { distinct_ids: string[] }) => person.distinct_ids[0]).sort()
  }
  const setSeen = (distinctId: string, day: string) =>
    s.halyard.storage.kysely
      .updateTable('person_seen')
      .set({ seen_on: day })
      .where('person_id', '=', ({ selectFrom }) =>
        selectFrom('person_distinct_ids').select('person_id').where('distinct_id', '=', distinctId),
      )
      .execute()

  it('removes persons that no event has named for so many days, and keeps members of static cohorts', async () => {
    await send('gone', 'back', 'member')
    const cohort = await s.post(`${s.project}/cohorts/`, { name: 'Kept', is_static: true })
    const people = (await s.get(`${s.project}/persons/?distinct_id=member`)).body.results
    await s.patch(`${s.project}/cohorts/${cohort.body.id}/add_persons_to_static_cohort/`, {
      person_ids: people.map((person: { uuid: string }) => person.uuid),
    })
    await run(0)
    expect(await persons()).toEqual(['back', 'gone', 'member'])
    for (const id of ['gone', 'back', 'member']) await setSeen(id, inDays(-29).slice(0, 10))
    await run(0)
    expect(await persons()).toEqual(['back', 'gone', 'member'])
    // An event of today.
    await send('back')
    await run(5)
    expect(await persons()).toEqual(['back', 'member'])
    await run(29)
    expect(await persons()).toEqual(['back', 'member'])
    await run(31)
    expect(await persons()).toEqual(['member'])
  })

  it('removes activity entries after so many days; the versions of a flag stay', async () => {
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'old' })
    const entries = async () => (await s.get(`${s.project}/feature_flags/${flag.id}/activity/`)).body.count
    await run(89)
    expect(await entries()).toBe(1)
    await run(91)
    expect(await entries()).toBe(0)
    expect((await s.get(`${s.project}/feature_flags/${flag.id}/versions/`)).body.results).toHaveLength(1)
  })

  it('counts from the moment that the setting takes effect, again after it was off', async () => {
    await send('known')
    await setSeen('known', '2020-01-01')
    await s.close()
    await start({})
    await run(0)
    await s.close()
    await start({ HALYARD_PERSON_DAYS: '30' })
    await run(0)
    expect(await persons()).toEqual(['known', 'member'])
    await run(31)
    expect(await persons()).toEqual(['member'])
  })
})
