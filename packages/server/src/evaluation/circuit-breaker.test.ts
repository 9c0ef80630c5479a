import { expect, it } from 'vitest'
import { createCircuitBreaker } from './circuit-breaker.ts'

it('opens for the failed project only, for a second', () => {
  let now = 0
  const breaker = createCircuitBreaker(() => now)
  breaker.open(1)
  expect([breaker.isOpen(1), breaker.isOpen(2)]).toEqual([true, false])
  now = 999
  expect(breaker.isOpen(1)).toBe(true)
  now = 1000
  expect(breaker.isOpen(1)).toBe(false)
})
