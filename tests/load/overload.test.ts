import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { addressesOf } from '../faults/mixed-writes.ts'
import { ownerKey, startServer } from '../faults/server-process.ts'

const connections = Number(process.env.HALYARD_OVERLOAD_CONNECTIONS ?? 300)
const seconds = Number(process.env.HALYARD_OVERLOAD_SECONDS ?? 3)
const flagCount = 20
const probes = 20
const script = fileURLToPath(new URL('overload-clients.mjs', import.meta.url))

interface Report {
  readonly statuses: Readonly<Record<string, number>>
  readonly errors: number
  readonly retryAfterMissing: number
  readonly neverAnswered: number
  readonly probesAnswered: number
}

/** How long it took is printed and not asserted: the machine may be busy. */
it.each([1, 2])(
  '%i workers respond to every client and every probe while all connections are busy',
  async workers => {
    const database = await createTestDatabase('sqlite')
    const server = await startServer(database.url, { HALYARD_WORKERS: String(workers), LOG_LEVEL: 'info' })
    try {
      const { project } = await addressesOf(server.url)
      const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
      for (let n = 0; n < flagCount; n++) {
        const body = JSON.stringify({ key: `flag-${n}`, filters: { groups: [{ rollout_percentage: 50 }] } })
        const made = await fetch(`${server.url}${project}/feature_flags/`, { method: 'POST', headers, body })
        expect(made.status).toBe(201)
      }
      const { api_token } = (await (await fetch(`${server.url}${project}/`, { headers })).json()) as {
        api_token: string
      }
      const options = {
        port: Number(new URL(server.url).port),
        token: api_token,
        connections,
        inFlight: 4,
        seconds,
        probes,
        firstResponseSecondsMax: 5,
        patienceSeconds: 90,
      }
      const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
      console.log(`${workers} worker(s), ${connections} connections: ${stdout.trim()}`)
      const report = JSON.parse(stdout) as Report
      expect(report.neverAnswered).toBe(0)
      expect(report.probesAnswered).toBe(2 * probes)
      expect([report.errors, report.retryAfterMissing]).toEqual([0, 0])
      expect(Object.keys(report.statuses).filter(status => status !== '200' && status !== '503')).toEqual([])
      expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/route="\/flags",status="200"/)
    } finally {
      expect(await server.stop()).toBe(0)
      await database.drop()
    }
  },
  240_000,
)
