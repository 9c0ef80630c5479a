import { expect, it } from 'vitest'
import { Problem } from '../problem.ts'
import type { Database, Stores } from '../stores.ts'
import { warmUp } from './warm-up.ts'

const away = () => new Problem('unavailable', 'The database is away.')

/** A database whose first reads fail. */
function databaseOf(tokens: readonly string[], isAway: () => boolean): Pick<Database, 'read'> {
  const stores = {
    projects: { listLastChanged: async () => tokens.map((apiToken, id) => ({ id, apiToken })) },
  } as unknown as Stores
  return {
    read: async work => {
      if (isAway()) throw away()
      return work(stores)
    },
  }
}

const changes = { subscribe: () => () => {} }

it('loads projects after a database outage at the start, and gives up on invalid ones', async () => {
  const asked: string[] = []
  let failures = 2
  const forToken = async (token: string) => {
    asked.push(token)
    if (token === 'broken') throw new Error('It will never work.')
    if (token === 'a' && asked.length === 1) throw away()
    return undefined
  }
  const database = databaseOf(['a', 'b', 'broken'], () => failures-- > 0)
  const warming = warmUp({ database, snapshots: { forToken }, changes, projectsMax: 10, now: () => 0 })
  expect(warming.isDone()).toBe(false)
  await warming.done()
  expect(asked).toEqual(['a', 'b', 'broken', 'a'])
  expect(warming.isDone()).toBe(true)
  warming.stop()
})

it('delays readiness for a bounded time after the last outage', async () => {
  let time = 0
  let isAway = true
  let fails = 0
  const database = databaseOf(['a'], () => {
    if (isAway) fails += 1
    return isAway
  })
  const forToken = () => new Promise<undefined>(() => {})
  const warming = warmUp({ database, snapshots: { forToken }, changes, projectsMax: 10, now: () => time })
  await expect.poll(() => fails).toBeGreaterThan(0)
  time = 14_000
  const before = fails
  await expect.poll(() => fails).toBeGreaterThan(before)
  time = 28_000
  expect(warming.isDone()).toBe(false)
  isAway = false
  time = 50_000
  expect(warming.isDone()).toBe(true)
  await warming.done()
  warming.stop()
})
