import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

const variants = [
  { key: 'red', rollout_percentage: 50 },
  { key: 'blue', rollout_percentage: 50 },
]

onEachDatabase('evaluation asked by people', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  beforeAll(async () => {
    flags = `${s.project}/feature_flags/`
    const email = [{ key: 'email', value: '@example.com', operator: 'icontains', type: 'person' }]
    const made = [
      { key: 'everyone' },
      { key: 'half', filters: { groups: [{ properties: [], rollout_percentage: 50 }] } },
      { key: 'color', filters: { groups: [{ rollout_percentage: 80 }], multivariate: { variants } } },
      { key: 'by-email', filters: { groups: [{ properties: email }] } },
      { key: 'switched-off', active: false },
      { key: 'gone', deleted: true },
      { key: '__proto__' },
    ]
    for (const flag of made) expect((await s.post(flags, flag)).status).toBe(201)
  })

  const evaluated = async (distinctId: string) => {
    const reply = await s.send('/flags/?v=2', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: s.projectToken, distinct_id: distinctId }),
    })
    return reply.body.flags as Record<string, { enabled: boolean; variant: string | null; reason: object }>
  }

  it('4.2 evaluation_reasons equals /flags for many people, and includes inactive flags', async () => {
    for (let n = 0; n < 20; n++) {
      const { body } = await s.get(`${flags}evaluation_reasons/?distinct_id=person-${n}`)
      const { 'switched-off': off, ...reasons } = body.reasons
      expect(off).toEqual({
        value: false,
        evaluation: { reason: 'disabled', condition_index: null, description: 'Feature flag is disabled' },
      })
      const returned = await evaluated(`person-${n}`)
      expect(Object.keys(reasons).sort()).toEqual(Object.keys(returned).sort())
      for (const [key, { enabled, variant, reason }] of Object.entries(returned)) {
        const { code, ...rest } = reason as { code: string }
        expect(reasons[key]).toEqual({ value: variant ?? enabled, evaluation: { reason: code, ...rest } })
      }
    }
  })

  it('has the documented shape and explains itself on request', async () => {
    const { body } = await s.get(`${flags}evaluation_reasons/?distinct_id=a&explain=true&flag_keys=["by-email"]`)
    expect(body).toMatchObject({ id: 0, key: '', is_incomplete: false })
    expect(Object.keys(body.reasons)).toEqual(['by-email'])
    expect(body.reasons['by-email'].trace).toMatchObject({
      key: 'by-email',
      outcome: { value: false },
      conditions: [
        {
          result: 'not_matched',
          decided_by: 0,
          filters: [{ kind: 'property', key: 'email', operator: 'icontains', present: false, matched: false }],
        },
      ],
    })
  })

  it('4.2 my_flags evaluates for the caller, newest first', async () => {
    const me = (await s.get('/api/users/@me/')).body
    const { body } = await s.get(`${flags}my_flags/`)
    expect(body).toMatchObject({ id: 0, is_incomplete: false })
    expect(body.results.map((entry: { feature_flag: { key: string } }) => entry.feature_flag.key)).toEqual([
      '__proto__',
      'switched-off',
      'by-email',
      'color',
      'half',
      'everyone',
    ])
    const returned = await evaluated(me.distinct_id)
    for (const { feature_flag: flag, value } of body.results) {
      const known = returned[flag.key]
      expect(value).toBe(known ? (known.variant ?? known.enabled) : false)
      expect(flag.can_edit).toBe(true)
    }
  })

  it('evaluates for the caller when no distinct id is sent', async () => {
    const me = (await s.get('/api/users/@me/')).body
    const named = await s.get(`${flags}evaluation_reasons/?distinct_id=${encodeURIComponent(me.distinct_id)}`)
    const unnamed = await s.get(`${flags}evaluation_reasons/`)
    expect(unnamed.status).toBe(200)
    expect(unnamed.body.reasons).toEqual(named.body.reasons)
  })

  it('names the field that is missing or malformed', async () => {
    const missing = await s.get(`${flags}evaluation_reasons/?distinct_id=`)
    expect([missing.status, missing.body.code, missing.body.attr]).toEqual([400, 'required', 'distinct_id'])
    for (const groups of ['{', '[]', '5']) {
      const reply = await s.get(`${flags}evaluation_reasons/?distinct_id=a&groups=${encodeURIComponent(groups)}`)
      expect([reply.status, reply.body.attr]).toEqual([400, 'groups'])
      expect((await s.get(`${flags}my_flags/?groups=${encodeURIComponent(groups)}`)).status).toBe(400)
    }
    const stranger = await s.stranger(`reasons-${dialect}`)
    expect((await stranger.get(`${flags}my_flags/`)).status).toBe(404)
    expect((await stranger.get(`${stranger.project}/feature_flags/my_flags/`)).body.results).toEqual([])
  })
})
