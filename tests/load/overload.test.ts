import { execFile } from 'node:child_process'
import { type ClientRequest, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { addressesOf } from '../faults/mixed-writes.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'

const connections = Number(process.env.HALYARD_OVERLOAD_CONNECTIONS ?? 300)
const seconds = Number(process.env.HALYARD_OVERLOAD_SECONDS ?? 3)
const flagCount = 20
const probes = 20
const script = fileURLToPath(new URL('overload-clients.mjs', import.meta.url))

interface Report {
  readonly statuses: Readonly<Record<string, number>>
  readonly errors: number
  /** Refusals that do not say when to try again. */
  readonly retryAfterMissing: number
  readonly neverAnswered: number
  readonly probesAnswered: number
  readonly responsesDuringProbeMax: number
}

const inFlight = 4
/** A probe waits for what is in flight when it arrives at most a few times over. A probe that starves waits for all that clients send meanwhile. */
const roundsDuringProbeMax = 3

async function createFlags(server: ServerProcess): Promise<string> {
  const { project } = await addressesOf(server.url)
  const headers = { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' }
  for (let n = 0; n < flagCount; n++) {
    const body = JSON.stringify({ key: `flag-${n}`, filters: { groups: [{ rollout_percentage: 50 }] } })
    const made = await fetch(`${server.url}${project}/feature_flags/`, { method: 'POST', headers, body })
    expect(made.status).toBe(201)
  }
  const { api_token } = (await (await fetch(`${server.url}${project}/`, { headers })).json()) as { api_token: string }
  return api_token
}

async function runClients(title: string, server: ServerProcess, token: string): Promise<Report> {
  const options = {
    port: Number(new URL(server.url).port),
    token,
    connections,
    inFlight,
    seconds,
    probes,
    firstResponseSecondsMax: 5,
    patienceSeconds: 90,
  }
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)])
  console.log(`${title}, ${connections} connections: ${stdout.trim()}`)
  return JSON.parse(stdout) as Report
}

/** Bounds are counts of responses: durations say as much about the machine, which may be busy. */
function expectEveryoneServed(report: Report): void {
  expect(report.neverAnswered).toBe(0)
  expect(report.probesAnswered).toBe(2 * probes)
  expect(report.responsesDuringProbeMax).toBeLessThan(roundsDuringProbeMax * connections * inFlight)
  expect(report.errors).toBe(0)
}

it.each([1, 2])(
  '%i workers respond to every client and every probe while all connections are busy',
  async workers => {
    const database = await createTestDatabase('sqlite')
    // Shedding by event-loop lag depends on the machine; without it, no request may be refused.
    const environment = { HALYARD_WORKERS: String(workers), HALYARD_LAG_MILLISECONDS_MAX: '0' }
    const server = await startServer(database.url, environment)
    try {
      const report = await runClients(`${workers} worker(s)`, server, await createFlags(server))
      expectEveryoneServed(report)
      expect(Object.keys(report.statuses)).toEqual(['200'])
    } finally {
      expect(await server.stop()).toBe(0)
      await database.drop()
    }
  },
  240_000,
)

it('a server without capacity refuses every evaluation with 503 and Retry-After, and serves the next one when it has', async () => {
  const database = await createTestDatabase('sqlite')
  const environment = { HALYARD_REQUESTS_IN_FLIGHT_MAX: '2', HALYARD_LAG_MILLISECONDS_MAX: '0' }
  const server = await startServer(database.url, environment)
  const held: ClientRequest[] = []
  try {
    const token = await createFlags(server)
    // Bodies that never arrive occupy the slots.
    for (let n = 0; n < 2; n++) {
      const one = request(`${server.url}/api/login/`, { method: 'POST', headers: { 'content-length': '10' } })
      one.on('error', () => {})
      one.write('{')
      held.push(one)
    }
    const occupied = async () =>
      /halyard_http_requests_in_flight (\d+)/.exec(await (await fetch(`${server.url}/metrics`)).text())?.[1]
    await expect.poll(occupied).toBe('2')
    const report = await runClients('no capacity', server, token)
    expectEveryoneServed(report)
    expect(Object.keys(report.statuses)).toEqual(['503'])
    expect(report.retryAfterMissing).toBe(0)

    for (const one of held) one.destroy()
    await expect.poll(occupied).toBe('0')
    const body = JSON.stringify({ token, distinct_id: 'user-1' })
    expect((await fetch(`${server.url}/flags/?v=2`, { method: 'POST', body })).status).toBe(200)
  } finally {
    for (const one of held) one.destroy()
    expect(await server.stop()).toBe(0)
    await database.drop()
  }
}, 240_000)
