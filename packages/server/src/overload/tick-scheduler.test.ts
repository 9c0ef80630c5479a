import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTickScheduler, type Task } from './tick-scheduler.ts'

/** A clock that moves only when a task works. */
function setUp() {
  let time = 1000
  const scheduler = createTickScheduler(() => time)
  const order: string[] = []
  const task = (name: string, slices: number, milliseconds: number): Task => ({
    run() {
      time += milliseconds
      order.push(name)
      slices -= 1
      return slices > 0
    },
  })
  return {
    scheduler,
    order,
    task,
    work: (milliseconds: number) => {
      time += milliseconds
    },
    now: () => time,
  }
}

describe('the tick scheduler', () => {
  it('lets work run at once until the time of the tick is used up', async () => {
    const { scheduler, work, now } = setUp()
    expect(scheduler.hasTime(now())).toBe(true)
    work(2)
    expect(scheduler.hasTime(now())).toBe(true)
    work(2)
    expect(scheduler.hasTime(now())).toBe(false)
    await nextTick()
    expect(scheduler.hasTime(now())).toBe(true)
  })

  it('runs a few milliseconds of tasks per tick, round-robin', async () => {
    const { scheduler, order, task } = setUp()
    scheduler.add(task('a', 3, 1))
    scheduler.add(task('b', 2, 1))
    scheduler.add(task('c', 1, 1))
    await nextTick()
    expect(order).toEqual(['a', 'b', 'c'])
    await nextTick()
    expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a'])
    expect(scheduler.waiting).toBe(0)
  })

  it('lets nothing overtake tasks that wait', async () => {
    const { scheduler, task, now } = setUp()
    scheduler.add(task('a', 1, 5))
    scheduler.add(task('b', 1, 5))
    expect(scheduler.hasTime(now())).toBe(false)
    await nextTick()
    expect(scheduler.waiting).toBe(1)
    expect(scheduler.hasTime(now())).toBe(false)
    await nextTick()
    expect(scheduler.hasTime(now())).toBe(true)
  })

  it('accepts connections before it evaluates, but not for ever', async () => {
    const { scheduler, order, task, work } = setUp()
    scheduler.add(task('a', 1, 1))
    scheduler.add(task('b', 1, 1))
    for (let tick = 0; tick < 3; tick++) {
      scheduler.accepted()
      work(1)
      await nextTick()
    }
    expect(order).toEqual([])
    for (let tick = 0; tick < 10 && order.length === 0; tick++) {
      scheduler.accepted()
      work(1)
      await nextTick()
    }
    expect(order).toEqual(['a'])
    await nextTick()
    expect(order).toEqual(['a', 'b'])
  })
})
