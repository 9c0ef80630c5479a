import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTickScheduler, type Task } from './tick-scheduler.ts'

/** A clock that moves only when a task works. */
function setUp() {
  let time = 1000
  const order: string[] = []
  const scheduler = createTickScheduler(
    () => order.push('end'),
    () => time,
  )
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
  }
}

describe('the tick scheduler', () => {
  it('runs a few milliseconds of tasks per tick, round-robin', async () => {
    const { scheduler, order, task } = setUp()
    scheduler.add(task('a', 3, 1))
    scheduler.add(task('b', 2, 1))
    scheduler.add(task('c', 1, 1))
    await nextTick()
    expect(order).toEqual(['a', 'b', 'c', 'end'])
    await nextTick()
    expect(order).toEqual(['a', 'b', 'c', 'end', 'a', 'b', 'a', 'end'])
    expect(scheduler.waiting).toBe(0)
  })

  it('lets nothing overtake tasks that wait', async () => {
    const { scheduler, order, task } = setUp()
    scheduler.add(task('a', 1, 5))
    scheduler.add(task('b', 1, 5))
    await nextTick()
    expect(order).toEqual(['a', 'end'])
    scheduler.add(task('c', 1, 1))
    await nextTick()
    expect(order).toEqual(['a', 'end', 'b', 'end'])
    await nextTick()
    expect(order).toEqual(['a', 'end', 'b', 'end', 'c', 'end'])
    expect(scheduler.waiting).toBe(0)
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
    expect(order).toEqual(['a', 'end'])
    await nextTick()
    expect(order).toEqual(['a', 'end', 'b', 'end'])
  })
})
