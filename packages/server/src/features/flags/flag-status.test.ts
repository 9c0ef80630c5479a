import { beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const day = 24 * 60 * 60 * 1000
const ago = (days: number): Instant => plusMilliseconds(instantOf(new Date()), -days * day)
const everyone = { groups: [{ properties: [], rollout_percentage: 100 }] }
const half = { groups: [{ properties: [], rollout_percentage: 50 }] }
const someone = { groups: [{ properties: [{ key: 'a', value: 'b', type: 'person' }], rollout_percentage: 100 }] }
const variants = (share: number) => ({
  variants: [
    { key: 'a', rollout_percentage: share },
    { key: 'b', rollout_percentage: 100 - share },
  ],
})

onEachDatabase('stale flags', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
  })

  const cases: [name: string, flag: object, calledDaysAgo: number | null, status: string][] = [
    ['young', { filters: everyone, created_at: ago(29) }, null, 'active'],
    ['old and fully rolled out', { filters: everyone, created_at: ago(31) }, null, 'stale'],
    ['old, fully rolled out, still called', { filters: everyone, created_at: ago(31) }, 1, 'stale'],
    ['old and never called', { filters: half, created_at: ago(31) }, null, 'active'],
    ['old and called lately', { filters: half, created_at: ago(31) }, 29, 'active'],
    ['old and no longer called', { filters: half, created_at: ago(60) }, 31, 'stale'],
    ['old with properties', { filters: someone, created_at: ago(31) }, null, 'active'],
    [
      'old with one variant',
      { filters: { ...everyone, multivariate: variants(100) }, created_at: ago(31) },
      null,
      'stale',
    ],
    [
      'old with variants',
      { filters: { ...everyone, multivariate: variants(50) }, created_at: ago(31) },
      null,
      'active',
    ],
    [
      'old with a forced variant',
      { filters: { groups: [{ variant: 'b' }], multivariate: variants(50) }, created_at: ago(31) },
      null,
      'stale',
    ],
    ['off', { filters: everyone, created_at: ago(31), active: false }, 60, 'inactive'],
    ['deleted', { filters: everyone, created_at: ago(31), deleted: true }, null, 'deleted'],
  ]

  it.each(cases)('%s', async (key, flag, calledDaysAgo, status) => {
    const { body } = await s.post(flags, { key, ...flag })
    if (calledDaysAgo !== null) {
      const lastAt = ago(calledDaysAgo)
      const call = { flagKey: key, kind: 'called', variant: 'true', day: lastAt.slice(0, 10), calls: 1 } as const
      await s.halyard.database.transaction(tx => tx.usage.add(s.projectId, [{ ...call, userHashes: [1], lastAt }]))
    }
    const reply = await s.get(`${flags}${body.id}/status/`)
    expect(reply.body).toMatchObject({ status, reason: expect.stringMatching(/\.$/) })
    expect(reply.body.last_called_at === null).toBe(calledDaysAgo === null)
    const listed = await s.get(`${flags}?active=STALE&search=${encodeURIComponent(key)}`)
    const keys = listed.body.results.map((found: { key: string }) => found.key)
    expect(keys.includes(key)).toBe(status === 'stale')
    expect(listed.body.count).toBe(keys.length)
  })

  it('is 404 for what is not there', async () => {
    expect((await s.get(`${flags}999999/status/`)).status).toBe(404)
  })

  it('counts and pages the stale ones alone', async () => {
    const { body } = await s.get(`${flags}?active=STALE&limit=2`)
    expect(body.count).toBe(cases.filter(([, , , status]) => status === 'stale').length)
    expect(body.results).toHaveLength(2)
    expect(body.next).toContain('active=STALE')
  })
})
