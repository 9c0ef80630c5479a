import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../packages/server/src/testing/databases.ts'
import { startServer } from './faults/server-process.ts'
import { freePort } from './free-port.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase('sqlite')
})
afterAll(() => database.drop())

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

it('METRICS_TOKEN is required for /metrics on the main port', async () => {
  const server = await startServer(database.url, { METRICS_TOKEN: 'a-token-for-scrapers' })
  try {
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401)
    expect((await fetch(`${server.url}/metrics`, bearer('wrong'))).status).toBe(401)
    const response = await fetch(`${server.url}/metrics`, bearer('a-token-for-scrapers'))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('process_cpu_seconds_total')
  } finally {
    expect(await server.stop()).toBe(0)
  }
})

it('HALYARD_METRICS_PORT serves /metrics alone, and the main port no longer does', async () => {
  const port = await freePort()
  const server = await startServer(database.url, { HALYARD_METRICS_PORT: String(port) })
  try {
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404)
    const metrics = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining('halyard_')])
    expect((await fetch(`http://127.0.0.1:${port}/api/projects/`)).status).toBe(404)
  } finally {
    expect(await server.stop()).toBe(0)
  }
})
