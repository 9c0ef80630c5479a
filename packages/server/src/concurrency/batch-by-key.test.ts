import { expect, it } from 'vitest'
import { batchByKey } from './batch-by-key.ts'

it('handles what is asked for together in one call for each key, and no more than the maximum at a time', async () => {
  const calls: string[] = []
  const double = batchByKey(2, async (key: string, items: readonly number[]) => {
    calls.push(`${key} ${items}`)
    return items.map(item => item * 2)
  })
  const asked = [double('a', 1), double('a', 2), double('a', 3), double('b', 4)]
  expect(await Promise.all(asked)).toEqual([2, 4, 6, 8])
  expect(await double('a', 5)).toBe(10)
  expect(calls).toEqual(['a 1,2', 'a 3', 'b 4', 'a 5'])
})

it('rejects each item of a call that fails, and none of the next', async () => {
  const fail = batchByKey(2, async (_: string, items: readonly number[]) => {
    if (items.includes(1)) throw new Error('refused')
    return items
  })
  const outcomes = await Promise.allSettled([fail('a', 1), fail('a', 2), fail('a', 3)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})
