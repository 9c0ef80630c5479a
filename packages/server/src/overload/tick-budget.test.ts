import { setImmediate as nextTick } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTickBudget } from './tick-budget.ts'

/** Each piece of work takes one millisecond of a clock that otherwise stands still. */
function recorder() {
  let time = 0
  const done: string[] = []
  const budget = createTickBudget(2, () => time)
  const connections = { a: {}, b: {}, c: {} }
  const add = (name: string, connection: object = connections[name[0] as 'a']) =>
    budget.run(connection, () => {
      time += 1
      done.push(name)
    })
  return { done, add }
}

it('runs work at once while the tick has time left', () => {
  const { done, add } = recorder()
  add('a1')
  add('a2')
  expect(done).toEqual(['a1', 'a2'])
})

it('spreads the rest over the next ticks, and connections take turns', async () => {
  const { done, add } = recorder()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2']) add(name)
  expect(done).toEqual(['a1', 'a2'])
  await nextTick()
  expect(done.splice(0)).toEqual(['a1', 'a2', 'a3', 'b1'])
  add('c1')
  expect(done).toEqual([])
  await nextTick()
  await nextTick()
  expect(done.splice(0)).toEqual(['a4', 'b2', 'c1', 'a5'])
  await nextTick()
  add('c2')
  expect(done).toEqual(['c2'])
})

it('refuses work of a connection that has too much of it waiting', async () => {
  const { done, add } = recorder()
  const added = Array.from({ length: 200 }, (_, n) => add(`a${n}`))
  expect(added.filter(Boolean)).toHaveLength(102)
  expect(add('b')).toBe(true)
  await expect.poll(() => done.length).toBe(103)
})

it('takes shorter ticks while many connections wait', async () => {
  const { done, add } = recorder()
  for (let n = 0; n < 204; n++) add(`${n}`, {})
  expect(done.splice(0)).toHaveLength(2)
  await nextTick()
  expect(done.splice(0)).toHaveLength(1)
  await nextTick()
  expect(done.splice(0)).toHaveLength(1)
  await nextTick()
  expect(done.splice(0)).toHaveLength(2)
})
