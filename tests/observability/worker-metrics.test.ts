import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clientOf } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, startServer } from '../faults/server-process.ts'

it('/metrics sums up all workers, and a worker that dies takes nothing out of the sums', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-workers-'))
  const server = await startServer(`sqlite:${join(folder, 'halyard.db')}`, { HALYARD_WORKERS: '2' })
  try {
    const client = clientOf(server.url, ownerKey)
    const value = async (series: string) => {
      const { text } = await client.get('/metrics')
      expect(text).not.toMatch(/worker="/)
      return Number(
        text
          .split('\n')
          .find(line => line.startsWith(`${series} `))
          ?.split(' ')
          .at(-1) ?? Number.NaN,
      )
    }
    const evaluations = 'halyard_http_requests_total{method="POST",route="/flags",status="200"}'
    const durations = 'halyard_http_request_duration_seconds_count{method="POST",route="/flags",status="200"}'
    await expect.poll(() => value('halyard_workers')).toBe(2)
    const [project] = (await client.get('/api/projects/')).body.results
    const count = 20
    for (let n = 0; n < count; n++) {
      // A connection of its own each time, so that both workers get some.
      const body = { token: project.api_token, distinct_id: `user-${n}` }
      expect((await client.post('/flags/?v=2', body, { connection: 'close' })).status).toBe(200)
    }
    for (let n = 0; n < 4; n++) expect([await value(evaluations), await value(durations)]).toEqual([count, count])
    // Both describe the one database: their values are not added up.
    const own = (await client.get('/metrics')).text
    expect(own).toMatch(/^halyard_build_info\{[^}]*\} 1$/m)

    const started = server.lines.filter(line => line.includes('worker_started')).map(line => JSON.parse(line).worker)
    process.kill(started.at(-1), 'SIGKILL')
    await expect.poll(() => server.lines.filter(line => line.includes('worker_started')).length).toBe(3)
    await expect.poll(() => value('halyard_workers')).toBe(2)
    expect([await value(evaluations), await value(durations)]).toEqual([count, count])
  } finally {
    expect(await server.stop()).toBe(0)
    rmSync(folder, { recursive: true })
  }
})
