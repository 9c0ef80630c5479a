import { expect, it } from 'vitest'
import { startRunTimer } from './run-timer.ts'

it('charges no CPU time while the process does not run', () => {
  const timer = startRunTimer()
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  expect(timer.hasRunLongerThan(300)).toBe(false)
  expect(timer.ranMs()).toBeLessThan(300)
})

it('detects code that does not end', () => {
  const timer = startRunTimer()
  while (!timer.hasRunLongerThan(30));
  expect(timer.ranMs()).toBeGreaterThan(30)
})
