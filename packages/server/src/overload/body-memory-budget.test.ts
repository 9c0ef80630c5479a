import { describe, expect, it } from 'vitest'
import type { Problem } from '../problem.ts'
import { createBodyMemoryBudget } from './body-memory-budget.ts'

describe('the memory budget for large bodies', () => {
  it('never exceeds its limit and is released once', () => {
    const budget = createBodyMemoryBudget(100)
    const [first, second] = [budget.reserve(() => {}), budget.reserve(() => {})]
    first.grow(60)
    expect(() => second.grow(50)).toThrow(/Try again/)
    second.grow(40)
    first.release()
    first.release()
    expect(budget.heldBytes).toBe(40)
    second.grow(60)
    second.release()
    expect(budget.heldBytes).toBe(0)
  })

  it('evicts bodies that dribble, never those that are complete or recent', () => {
    let now = 0
    const budget = createBodyMemoryBudget(100, () => now)
    const evicted: string[] = []
    const reserve = (name: string) => budget.reserve((why: Problem) => evicted.push(`${name} ${why.kind}`))
    const [here, slow, slower] = [reserve('here'), reserve('slow'), reserve('slower')]
    here.grow(30)
    here.complete()
    slow.grow(30)
    slower.grow(30)
    now = 60_000
    const recent = reserve('recent')
    recent.grow(5)
    expect(evicted).toEqual([])
    reserve('next').grow(30)
    expect(evicted).toEqual(['slow unavailable'])
    reserve('one more').grow(35)
    expect(evicted).toEqual(['slow unavailable', 'slower unavailable'])
    expect(() => reserve('too much').grow(70)).toThrow(/Try again/)
    expect(evicted).toHaveLength(2)
    expect(budget.heldBytes).toBe(100)
  })

  it('inflates four bodies at a time, in order, also when one fails', async () => {
    const budget = createBodyMemoryBudget(100)
    let running = 0
    let most = 0
    const order: number[] = []
    const all = Array.from({ length: 30 }, (_, index) =>
      budget.inflate(async () => {
        most = Math.max(most, ++running)
        await new Promise(resolve => setImmediate(resolve))
        running -= 1
        order.push(index)
        if (index % 7 === 0) throw new Error('damaged')
        return Buffer.alloc(1)
      }),
    )
    await Promise.allSettled(all)
    expect(budget.inflatesTotal).toBe(30)
    expect(most).toBe(4)
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(running).toBe(0)
  })
})
