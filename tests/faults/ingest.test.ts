import { expect, it } from 'vitest'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { ownerKey, type ServerProcess, startServer } from './server-process.ts'

const writers = 8
const acknowledgedBeforeTheEnd = 150
const testMillisecondsMax = 90_000

/** Each request reports one new user and one flag call. */
interface Reported {
  sent: number
  acknowledged: string[]
}

onEachDatabase('events when the server stops under load', dialect => {
  it.each([
    ['kill -9', (server: ServerProcess) => server.kill()],
    ['SIGTERM', (server: ServerProcess) => server.stop()],
  ])(
    'are durable once acknowledged, after %s',
    async (_name, end) => {
      const database = await createTestDatabase(dialect)
      try {
        const server = await startServer(database.url, { LOG_LEVEL: 'info' })
        const token = await prepare(server.url)
        const reported: Reported = { sent: 0, acknowledged: [] }
        const load = Array.from({ length: writers }, (_, n) => sendUntilRefused(server.url, token, n, reported))
        await expect
          .poll(() => reported.acknowledged.length, { timeout: 30_000 })
          .toBeGreaterThan(acknowledgedBeforeTheEnd)
        await end(server)
        await Promise.all(load)

        const { ids, calls, users } = await whatIsThere(database.url)
        expect(reported.acknowledged.filter(id => !ids.has(id))).toEqual([])
        expect(calls).toBeGreaterThanOrEqual(reported.acknowledged.length)
        expect(calls).toBeLessThanOrEqual(reported.sent)
        // Profiles and counts are written in one transaction.
        expect(users).toBe(calls)
        expect(ids.size).toBe(calls)
      } finally {
        await database.drop()
      }
    },
    testMillisecondsMax,
  )
})

async function prepare(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
  const projects = (await (await fetch(`${url}/api/projects/`, { headers })).json()) as {
    results: { id: number; api_token: string }[]
  }
  const project = projects.results[0]!
  const body = JSON.stringify({ key: 'counted' })
  await fetch(`${url}/api/projects/${project.id}/feature_flags/`, { method: 'POST', headers, body })
  return project.api_token
}

async function sendUntilRefused(url: string, token: string, writer: number, reported: Reported): Promise<void> {
  for (let n = 0; ; n++) {
    const id = `user-${writer}-${n}`
    const properties = { $feature_flag: 'counted', $feature_flag_response: true, $set: { n } }
    const body = JSON.stringify({ token, event: '$feature_flag_called', distinct_id: id, properties })
    reported.sent += 1
    try {
      const reply = await fetch(`${url}/i/v0/e/`, { method: 'POST', body })
      if (reply.status !== 200) return
      reported.acknowledged.push(id)
    } catch {
      return
    }
  }
}

async function whatIsThere(databaseUrl: string) {
  const storage = openStorage(databaseUrl)
  try {
    const ids = await storage.kysely.selectFrom('person_distinct_ids').select('distinct_id').execute()
    const usage = await storage.kysely.selectFrom('flag_usage').selectAll().execute()
    const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
    return {
      ids: new Set(ids.map(row => row.distinct_id)),
      calls: sum(usage.map(row => row.calls)),
      users: sum(usage.map(row => row.kept_users)),
    }
  } finally {
    await storage.close()
  }
}
