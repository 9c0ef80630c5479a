import { expect, it } from 'vitest'
import { onEachDatabaseAndPath } from '../testing/paths.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'

onEachDatabaseAndPath('limits of regular expressions', (dialect, environment) => {
  const s = suiteScenario(dialect, { environment })

  const filters = (...patterns: string[]) => ({
    groups: patterns.map(value => ({ properties: [{ key: 'text', type: 'person', operator: 'regex', value }] })),
  })
  const create = (key: string, ...patterns: string[]) =>
    s.post(`${s.project}/feature_flags/`, { key, filters: filters(...patterns) })
  const evaluate = (text: string) =>
    s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id: 'u1', person_properties: { text } })

  it('reject an oversized pattern with the limit in the message, and store nothing', async () => {
    for (const [pattern, limit] of [
      ['a'.repeat(400_000), 'the limit is 1000'],
      ['(?:a{100}){100}', 'the limit is 1000'],
    ] as const) {
      const reply = await create('oversized', pattern)
      expect([reply.status, reply.body.attr]).toEqual([400, 'filters'])
      expect(reply.body.detail).toContain(limit)
    }
    const list = await s.get(`${s.project}/feature_flags/?search=oversized`)
    expect(list.body.count).toBe(0)
  })

  it('fail a flag whose evaluation exceeds the budget, and no other flag', async () => {
    const hostile = Array.from({ length: 4 }, (_, index) => `${index}|[\\p{L}\\p{N}]{900}$`)
    expect((await create('hostile', ...hostile)).status).toBe(201)
    expect((await create('ordinary', '^(x|y)')).status).toBe(201)
    const cheap = await evaluate('x')
    expect(cheap.body.errorsWhileComputingFlags).toBe(false)
    const { body } = await evaluate('x'.repeat(800))
    expect(body.errorsWhileComputingFlags).toBe(true)
    expect(body.flags.hostile).toMatchObject({ enabled: false, reason: { code: 'error' } })
    expect(body.flags.ordinary).toMatchObject({ enabled: true, reason: { code: 'condition_match' } })
    const tooLong = await evaluate('x'.repeat(60_000))
    expect(tooLong.body.errorsWhileComputingFlags).toBe(false)
    expect(tooLong.body.flags.ordinary).toMatchObject({ enabled: false, reason: { code: 'no_condition_match' } })
  })

  it('give evaluations their turns, with the same results, once one has taken many steps', async () => {
    const texts = Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? 'x'.repeat(800 + index) : `y${index}`))
    const replies = await Promise.all(texts.map(evaluate))
    expect(replies.map(({ status, body }) => [status, body.flags.ordinary.enabled])).toEqual(
      texts.map(() => [200, true]),
    )
    expect(replies.map(({ body }) => body.errorsWhileComputingFlags)).toEqual(texts.map((_, index) => index % 3 === 0))
  })
})
