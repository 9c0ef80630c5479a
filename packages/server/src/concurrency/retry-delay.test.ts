import { expect, it } from 'vitest'
import { retryDelay } from './retry-delay.ts'

const limits = { first: 100, max: 5000 }

it('doubles with every attempt up to the maximum, and spreads callers over half of the delay', () => {
  for (const [attempt, delay] of [
    [1, 100],
    [2, 200],
    [5, 1600],
    [7, 5000],
    [1_000_000, 5000],
  ] as const) {
    const delays = Array.from({ length: 200 }, () => retryDelay(attempt, limits))
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(delay / 2)
    expect(Math.max(...delays)).toBeLessThanOrEqual(delay)
    expect(new Set(delays).size).toBeGreaterThan(100)
  }
})
