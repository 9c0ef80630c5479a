import { expect, it } from 'vitest'
import { Problem } from '../problem.ts'
import type { Database, Stores } from '../stores.ts'
import { warmUp } from './warm-up.ts'

const away = () => new Problem('unavailable', 'The database is away.')

it('reads projects into memory also when the database is away at first, and knows what will never work', async () => {
  const asked: string[] = []
  let failures = 2
  const stores = {
    projects: { listLastChanged: async () => ['a', 'b', 'broken'].map((apiToken, id) => ({ id, apiToken })) },
  } as unknown as Stores
  const database: Pick<Database, 'read'> = {
    read: async work => {
      if (failures-- > 0) throw away()
      return work(stores)
    },
  }
  const forToken = async (token: string) => {
    asked.push(token)
    if (token === 'broken') throw new Error('It will never work.')
    if (token === 'a' && asked.length === 1) throw away()
    return undefined
  }
  const stop = warmUp({ database, snapshots: { forToken }, changes: { subscribe: () => () => {} }, projectsMax: 10 })
  await expect.poll(() => asked).toEqual(['a', 'b', 'broken', 'a'])
  stop()
})
