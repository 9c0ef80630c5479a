import { expect, test } from 'vitest'
import { createMemoryCache } from './memory-cache.ts'

test('values are returned until they expire', () => {
  let now = 0
  const cache = createMemoryCache(() => now)
  cache.set('a', { x: 1 }, 10)
  cache.set('b', 'for ever', null)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([{ x: 1 }, 'for ever', null])
  now = 10_000
  expect([cache.get('a'), cache.get('b')]).toEqual([null, 'for ever'])
  expect(cache.expire('b', 5)).toBe(true)
  expect(cache.expire('c', 5)).toBe(false)
  now = 15_000
  expect(cache.get('b')).toBeNull()
})

test('counters count', () => {
  const cache = createMemoryCache()
  expect([cache.incr('n'), cache.incr('n')]).toEqual([1, 2])
  cache.set('t', 'text', null)
  expect(() => cache.incr('t')).toThrow('not a number')
})

test('lists are pushed, read, searched and popped', () => {
  const cache = createMemoryCache()
  expect(cache.lpush('l', [1, 2])).toBe(2)
  expect(cache.lpush('l', [3])).toBe(3)
  expect(cache.lrange('l', 0, -1)).toEqual([3, 2, 1])
  expect(cache.lrange('l', -2, 99)).toEqual([2, 1])
  expect(cache.llen('l')).toBe(3)
  cache.lpush('l', [2])
  expect(cache.lrem('l', 1, 2)).toBe(1)
  expect(cache.lrange('l', 0, 9)).toEqual([3, 2, 1])
  expect(cache.lpop('l', 2)).toEqual([3, 2])
  expect(cache.llen('l')).toBe(1)
  expect(cache.llen('none')).toBe(0)
  cache.set('t', 1, null)
  expect(() => cache.lpush('t', [1])).toThrow('not a list')
})

test('the cache never exceeds its limits', () => {
  const cache = createMemoryCache(Date.now, {
    entriesMax: 2,
    listItemsMax: 3,
    valueCharactersMax: 20,
    charactersMax: 1_000,
  })
  for (const key of ['a', 'b', 'c']) cache.set(key, 1, null)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([null, 1, 1])
  expect(() => cache.set('d', 'x'.repeat(20), null)).toThrow('too large')
  expect(() => cache.lpush('l', [1, 2, 3, 4])).toThrow('at most 3')
})

test('all entries together are bounded, and lists are counted exactly', () => {
  const limits = { entriesMax: 100, listItemsMax: 100, valueCharactersMax: 1_000, charactersMax: 120 }
  const cache = createMemoryCache(Date.now, limits)
  for (let round = 0; round < 50; round += 1) {
    cache.lpush('l', ['x'.repeat(20), 'y'])
    cache.lrem('l', 0, 'absent')
    cache.lrem('l', 0, 'y')
    cache.lpop('l', 1)
  }
  expect(cache.llen('l')).toBe(0)
  cache.set('a', 'x'.repeat(50), null)
  cache.set('b', 'x'.repeat(50), null)
  expect([cache.get('a'), cache.get('b')]).toEqual(['x'.repeat(50), 'x'.repeat(50)])
  cache.set('c', 'x'.repeat(50), null)
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([null, 'x'.repeat(50), 'x'.repeat(50)])
})

test('a list may be set, read and searched by value', () => {
  const cache = createMemoryCache()
  cache.set('l', [{ a: 1 }, null, 'x'], null)
  expect(cache.get('l')).toEqual([{ a: 1 }, null, 'x'])
  expect([cache.lrem('l', 0, { a: 1 }), cache.lrem('l', 0, { a: 1 }), cache.lrem('l', 0, null)]).toEqual([1, 0, 1])
  expect(cache.lrange('l', 0, -1)).toEqual(['x'])
})
