import { describe, expect, it } from 'vitest'
import type { Problem } from '../problem.ts'
import { createBodyMemoryBudget } from './body-memory-budget.ts'

describe('the room for large bodies', () => {
  it('is given back, and holds no more than it has', () => {
    const room = createBodyMemoryBudget(100)
    const [first, second] = [room.enter(() => {}), room.enter(() => {})]
    first.take(60)
    expect(() => second.take(50)).toThrow(/Try again/)
    second.take(40)
    first.leave()
    first.leave()
    expect(room.heldBytes).toBe(40)
    second.take(60)
    second.leave()
    expect(room.heldBytes).toBe(0)
  })

  it('is taken from bodies that dribble, never from those that are here or came just now', () => {
    let now = 0
    const room = createBodyMemoryBudget(100, () => now)
    const sentAway: string[] = []
    const enter = (name: string) => room.enter((why: Problem) => sentAway.push(`${name} ${why.kind}`))
    const [here, slow, slower] = [enter('here'), enter('slow'), enter('slower')]
    here.take(30)
    here.settle()
    slow.take(30)
    slower.take(30)
    now = 60_000
    const recent = enter('recent')
    recent.take(5)
    expect(sentAway).toEqual([])
    enter('next').take(30)
    expect(sentAway).toEqual(['slow unavailable'])
    enter('one more').take(35)
    expect(sentAway).toEqual(['slow unavailable', 'slower unavailable'])
    expect(() => enter('too much').take(70)).toThrow(/Try again/)
    expect(sentAway).toHaveLength(2)
    expect(room.heldBytes).toBe(100)
  })

  it('unpacks a few at a time, in order, also when one fails', async () => {
    const room = createBodyMemoryBudget(100)
    let underWay = 0
    let most = 0
    const order: number[] = []
    const all = Array.from({ length: 30 }, (_, index) =>
      room.unpack(async () => {
        most = Math.max(most, ++underWay)
        await new Promise(resolve => setImmediate(resolve))
        underWay -= 1
        order.push(index)
        if (index % 7 === 0) throw new Error('damaged')
        return Buffer.alloc(1)
      }),
    )
    await Promise.allSettled(all)
    expect(most).toBe(4)
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(underWay).toBe(0)
  })
})
