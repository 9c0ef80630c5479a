import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { addressesOf } from './mixed-writes.ts'
import { ownerKey, startServer } from './server-process.ts'

const rounds = 40
/** Enough connections to reach both workers in every round. */
const readers = 6

onEachDatabase('two workers on one port', dialect => {
  it('serve an acknowledged write to the next reader, whichever worker it reaches', async () => {
    const database = await createTestDatabase(dialect)
    const server = await startServer(database.url, { HALYARD_WORKERS: '2', LOG_LEVEL: 'info' })
    try {
      await expect.poll(() => server.lines.filter(line => line.includes('Halyard is serving')).length).toBe(2)
      const { project } = await addressesOf(server.url)
      // Each request opens a connection, and so reaches any worker.
      const headers = {
        authorization: `Bearer ${ownerKey}`,
        'content-type': 'application/json',
        connection: 'close',
      }
      const send = async (path: string, init: RequestInit) => {
        const response = await fetch(server.url + path, { headers, ...init })
        return (await response.json()) as Record<string, unknown>
      }
      const { api_token: token } = await send(`${project}/`, {})
      const { id } = await send(`${project}/feature_flags/`, { method: 'POST', body: JSON.stringify({ key: 'flag' }) })

      const stale: string[] = []
      for (let round = 0; round < rounds; round++) {
        const active = round % 2 === 0
        const filters = { groups: [{}], payloads: { true: JSON.stringify(String(round)) } }
        const body = JSON.stringify({ active: true, filters, name: String(active) })
        await send(`${project}/feature_flags/${id}/`, { method: 'PATCH', body })
        const evaluate = async () => {
          const evaluation = JSON.stringify({ token, distinct_id: 'user-1' })
          const { flags } = (await send('/flags/?v=2', { method: 'POST', body: evaluation })) as {
            flags: { flag: { metadata: { payload: string } } }
          }
          if (flags.flag.metadata.payload !== JSON.stringify(String(round))) stale.push(`round ${round}`)
        }
        await Promise.all(Array.from({ length: readers }, evaluate))
      }
      const metrics = await (await fetch(`${server.url}/metrics`)).text()
      expect(metrics).toMatch(/^halyard_workers 2$/m)
      // A worker that could not acknowledge in time would explain a stale read, and is reported.
      expect(metrics).toMatch(/^halyard_background_failures_total\{kind="worker_apply_timeout"\} \d+$/m)
      expect(stale).toEqual([])
    } finally {
      expect(await server.stop(), server.lines.slice(-20).join('\n')).toBe(0)
      await database.drop()
    }
  }, 240_000)
})
