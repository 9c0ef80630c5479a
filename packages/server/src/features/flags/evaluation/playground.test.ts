import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('the playground', dialect => {
  const s = suiteScenario(dialect)
  let id: number
  beforeAll(async () => {
    const filters = {
      groups: [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }] }],
      payloads: { true: '{"a":1}' },
    }
    id = (await s.post(`${s.project}/feature_flags/`, { key: 'checkout', filters })).body.id
    await s.post(`${s.project}/feature_flags/`, { key: 'everyone' })
  })
  const play = (body: object) => s.post(`${s.project}/playground/`, body)
  const everyone = { groups: [{ properties: [], rollout_percentage: 100 }] }

  it('evaluates many flags for many people with what-if properties', async () => {
    const people = [{ distinct_id: 'a', person_properties: { plan: 'free' } }, { distinct_id: 'b' }]
    const { body } = await play({ people, person_properties: { plan: 'pro' } })
    expect(body).toMatchObject({
      flags: ['checkout', 'everyone'],
      results: [
        { distinct_id: 'a', values: { checkout: { value: false, payload: null }, everyone: { value: true } } },
        { distinct_id: 'b', values: { checkout: { value: true, payload: '{"a":1}', reason: 'condition_match' } } },
      ],
    })
  })

  it('compares a draft with what is live and stores nothing', async () => {
    const before = (await s.get(`${s.project}/feature_flags/${id}/`)).body
    const draft = { flag_id: id, filters: everyone }
    const { body } = await play({ people: [{ distinct_id: 'a' }], flag_keys: ['checkout'], draft })
    expect(body.results).toMatchObject([{ values: { checkout: { value: false } }, draft: { value: true } }])
    expect((await s.get(`${s.project}/feature_flags/${id}/`)).body).toEqual(before)
    expect((await s.get(`${s.project}/persons/`)).body.count).toBe(0)
  })

  it('refuses unknown flags, broken drafts, too many people, and strangers', async () => {
    const people = [{ distinct_id: 'a' }]
    const broken = { groups: [{ properties: [{ key: 'x', operator: 'nonsense', value: 1 }] }] }
    expect((await play({ people, flag_keys: ['nothing'] })).body.attr).toBe('flag_keys')
    expect((await play({ people, draft: { flag_id: id, filters: broken } })).body.attr).toBe('draft')
    expect((await play({ people, draft: { flag_id: 999_999, filters: everyone } })).body.attr).toBe('draft')
    const many = Array.from({ length: 201 }, (_, n) => ({ distinct_id: `p${n}` }))
    expect((await play({ people: many })).status).toBe(400)
    const stranger = await s.stranger('stranger')
    expect((await stranger.post(`${s.project}/playground/`, { people })).status).toBe(404)
  })
})
