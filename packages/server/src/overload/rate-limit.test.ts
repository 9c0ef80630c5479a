import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { workerBusGroup } from '../testing/peer-group.ts'
import { createRateLimiter } from './rate-limit.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function limitersOf(processes: number, perMinute: number) {
  const limiters = workerBusGroup(processes).map(peers => createRateLimiter(perMinute, peers, () => Date.now()))
  return (process: number, key: string) => {
    try {
      limiters[process]!.take(key)
      return true
    } catch {
      return false
    }
  }
}

it('requests with a key are counted by all processes together, and each key separately', () => {
  const isLet = limitersOf(3, 60)
  for (let n = 0; n < 20; n += 1) for (const process of [0, 1, 2]) expect(isLet(process, 'a')).toBe(true)
  vi.advanceTimersByTime(200)
  for (const process of [0, 1, 2]) expect(isLet(process, 'a')).toBe(false)
  expect(isLet(0, 'b')).toBe(true)
  vi.advanceTimersByTime(60_000)
  for (const process of [0, 1, 2]) expect(isLet(process, 'a')).toBe(true)
})

it('a client on one connection to one process has all of its limit', () => {
  const isLet = limitersOf(3, 60)
  const answers = Array.from({ length: 70 }, () => isLet(1, 'a'))
  expect(answers.filter(Boolean)).toHaveLength(60)
})

it('what was refused is not counted against the next minute', () => {
  const isLet = limitersOf(2, 10)
  for (let n = 0; n < 500; n += 1) isLet(0, 'a')
  vi.advanceTimersByTime(61_000)
  for (let n = 0; n < 10; n += 1) expect(isLet(1, 'a')).toBe(true)
})
