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
  readonly neverAnswered: number
  readonly probesAnswered: number
  readonly responsesDuringProbeMax: number
}

const inFlight = 4
/** A probe waits for what is in flight when it arrives at most a few times over. A probe that starves waits for all that clients send meanwhile. */
const roundsDuringProbeMax = 3

/** Bounds are counts of responses: durations say as much about the machine, which may be busy. */
it.each([1, 2])(
  '%i workers respond to every client and every probe while all connections are busy',
  async workers => {
    const database = await createTestDatabase('sqlite')
    // Shedding by event-loop lag depends on the machine; without it, no request may be refused.
    const environment = { HALYARD_WORKERS: String(workers), HALYARD_LAG_MILLISECONDS_MAX: '0' }
    const server = await startServer(database.url, environment)
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
        inFlight,
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
      expect(report.responsesDuringProbeMax).toBeLessThan(roundsDuringProbeMax * connections * inFlight)
      expect(report.errors).toBe(0)
      expect(Object.keys(report.statuses)).toEqual(['200'])
    } finally {
      expect(await server.stop()).toBe(0)
      await database.drop()
    }
  },
  240_000,
)
