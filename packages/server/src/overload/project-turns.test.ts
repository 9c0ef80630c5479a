import { setImmediate as nextTick } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createProjectTurns } from './project-turns.ts'

const [quick, slow, slowToo] = [1, 2, 3]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Work takes ten milliseconds of a clock that otherwise stands still. */
function recorder() {
  let time = 0
  const done: string[] = []
  const turns = createProjectTurns(() => time)
  turns.mark(slow)
  turns.mark(slowToo)
  const add = (projectId: number, name: string) =>
    turns.run(projectId, () => {
      time += projectId === quick ? 0 : 10
      done.push(name)
      return name
    })
  return { done, add, turns, pass: (milliseconds: number) => (time += milliseconds) }
}

it('runs the work of projects that are not marked at once, and that of the others one at a time, in turns', async () => {
  const { done, add } = recorder()
  const results = [add(slow, 'a1'), add(slow, 'a2'), add(slow, 'a3'), add(slowToo, 'b1')]
  expect(add(quick, 'c1')).toBe('c1')
  expect(done).toEqual(['c1'])
  await nextTick()
  expect(done).toEqual(['c1', 'a1'])
  expect(await Promise.all(results)).toEqual(['a1', 'a2', 'a3', 'b1'])
  expect(done).toEqual(['c1', 'a1', 'b1', 'a2', 'a3'])
})

it('leaves time to other projects after each turn, while they have work', async () => {
  const { done, add } = recorder()
  const results = [add(slow, 'a1'), add(slow, 'a2')]
  await nextTick()
  add(quick, 'c1')
  await nextTick()
  await nextTick()
  vi.advanceTimersByTime(9)
  expect(done).toEqual(['a1', 'c1'])
  vi.advanceTimersByTime(1)
  await Promise.all(results)
  expect(done).toEqual(['a1', 'c1', 'a2'])
})

it('refuses what waits too long, and what is too much', async () => {
  const { done, add, pass } = recorder()
  const late = add(slow, 'late')
  pass(3001)
  await expect(late).rejects.toMatchObject({ kind: 'unavailable' })
  // The mark has passed as well.
  expect(add(slow, 'a')).toBe('a')
  const many = recorder()
  const waiting = Array.from({ length: 100 }, (_, n) => many.add(slow, `a${n}`))
  expect(() => many.add(slow, 'too many')).toThrow('overloaded')
  expect(many.add(quick, 'c')).toBe('c')
  await Promise.all(waiting)
  expect(done).toEqual(['a'])
})

it('rejects with what the work throws, and goes on', async () => {
  const { add, turns } = recorder()
  const failing = turns.run(slow, () => {
    throw new Error('broken')
  })
  const next = add(slow, 'next')
  await expect(failing).rejects.toThrow('broken')
  expect(await next).toBe('next')
})
