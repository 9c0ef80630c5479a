import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { removable } from '../../testing/removable-database.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

onEachDatabase('while the database is away', dialect => {
  let s: Scenario
  const database = removable()
  beforeAll(async () => {
    s = await startScenario(dialect, { storage: database })
    const flags = `${s.project}/feature_flags/`
    await s.post(flags, { key: 'half', filters: { groups: [{ rollout_percentage: 50 }] } })
    await s.post(flags, {
      key: 'pro',
      filters: { groups: [{ properties: [{ key: 'plan', value: 'pro', type: 'person' }] }] },
    })
  })
  afterAll(async () => {
    database.setAway(false)
    await s.close()
  })

  const people = Array.from({ length: 50 }, (_, n) => `person-${n}`)
  const answers = () =>
    Promise.all(
      people.map(async id => {
        const asked = { token: s.projectToken, distinct_id: id, person_properties: { plan: 'pro' } }
        const { status, body } = await s.as(undefined).post('/flags/?v=2', asked)
        return [status, body.errorsWhileComputingFlags, body.flags.half.enabled, body.flags.pro.enabled]
      }),
    )

  it('evaluations, definitions and OFREP stay correct, and what is not in memory is 503', async () => {
    const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'server' })
    const definitions = () => s.as(secret.value).get(`/flags/definitions?token=${s.projectToken}`)
    const ofrep = () =>
      s.as(s.projectToken).post('/ofrep/v1/evaluate/flags', { context: { targetingKey: 'a', plan: 'pro' } })
    const personal = () => s.get(`/flags/definitions?token=${s.projectToken}`)
    const before = [await answers(), (await definitions()).body, (await ofrep()).body, (await personal()).body]
    expect(new Set((before[0] as unknown[][]).map(answer => answer[2]))).toEqual(new Set([true, false]))
    database.setAway(true)
    for (let round = 0; round < 3; round++) {
      expect([await answers(), (await definitions()).body, (await ofrep()).body, (await personal()).body]).toEqual(
        before,
      )
    }
    const unknown = await s.as(undefined).post('/flags/?v=2', { token: 'phc_never_seen', distinct_id: 'a' })
    expect([unknown.status, unknown.body.code]).toEqual([503, 'unavailable'])
    expect((await s.get(`${s.project}/feature_flags/`)).status).toBe(503)
    database.setAway(false)
    await s.post(`${s.project}/feature_flags/`, { key: 'back' })
    expect((await ofrep()).body.flags).toHaveLength(3)
    expect((await s.as(undefined).post('/flags/?v=2', { token: 'phc_never_seen', distinct_id: 'a' })).status).toBe(401)
  })
})
