import { describe, expect, it } from 'vitest'
import { createFlagCounts } from './flag-counts.ts'

describe('counts of live flags', () => {
  it('know nothing of a project whose flags were not counted', () => {
    expect(createFlagCounts().atMost(1, 500)).toBe(Number.POSITIVE_INFINITY)
  })

  it('are never below the truth: each change since may have been a new flag', () => {
    const counts = createFlagCounts()
    counts.keep(1, 40, 100)
    counts.keep(2, 7, 100)
    const then = counts.atMost(1, 100)
    expect(then).toBeGreaterThanOrEqual(40)
    expect(counts.atMost(1, 130)).toBe(then + 30)
    expect(counts.atMost(2, 130)).toBe(then - 33 + 30)
  })

  it('hold when the changes that were there are rolled back and others get their numbers', () => {
    const counts = createFlagCounts()
    // Counted within a transaction that had edited five flags before, and was rolled back: the newest change is 95 again.
    counts.keep(1, 40, 100)
    const createdSince = 5
    expect(counts.atMost(1, 100)).toBeGreaterThanOrEqual(40 + createdSince)
  })

  it('are replaced by a later count', () => {
    const counts = createFlagCounts()
    counts.keep(1, 40, 100)
    const before = counts.atMost(1, 200)
    counts.keep(1, 40, 200)
    expect(counts.atMost(1, 200)).toBe(before - 100)
  })
})
