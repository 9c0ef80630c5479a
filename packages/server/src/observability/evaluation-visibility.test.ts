import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readConfig } from '../config.ts'
import { createHalyard } from '../main.ts'
import { createTestDatabase } from '../testing/databases.ts'
import { onEachPath } from '../testing/paths.ts'
import { clientOf } from '../testing/scenario.ts'

const key = 'phx_ownerownerownerownerownerowner'

/** A server whose log lines are collected. */
async function start(environment: Readonly<Record<string, string>>) {
  const database = await createTestDatabase('sqlite')
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const config = readConfig({
    DATABASE_URL: database.url,
    HALYARD_BOOTSTRAP_KEY: key,
    PORT: '0',
    HALYARD_SCHEDULER_SECONDS: '0',
    HALYARD_WARM_PROJECTS_MAX: '0',
    HALYARD_LAG_MILLISECONDS_MAX: '0',
    ...environment,
  })
  const halyard = await createHalyard(config, log)
  const url = await halyard.app.listen({ host: '127.0.0.1', port: 0 })
  const client = clientOf(url, key)
  const [project] = (await client.get('/api/projects/')).body.results
  await client.post(`/api/projects/${project.id}/feature_flags/`, { key: 'flag', filters: { groups: [{}] } })
  lines.length = 0
  return {
    client,
    project: project as { readonly id: number; readonly api_token: string },
    evaluations: () =>
      lines.filter(line => line.msg === 'http_request' && /^\/(flags|decide|ofrep)/.test(String(line.route))),
    async close() {
      await halyard.close()
      await database.drop()
    },
  }
}

const requestId = { 'x-request-id': 'visible-1' }

onEachPath('evaluations', environment => {
  it('are counted with route and status, with a histogram of their durations', async () => {
    const s = await start(environment)
    try {
      const token = s.project.api_token
      const count = 5
      // The first one reads the project into memory.
      for (let n = 0; n < count; n++) {
        expect((await s.client.post('/flags/?v=2', { token, distinct_id: `user-${n}` })).status).toBe(200)
        expect((await s.client.post('/decide/?v=3', { token, distinct_id: `user-${n}` })).status).toBe(200)
        expect((await s.client.get(`/flags/definitions?token=${token}`)).status).toBe(200)
        const context = { context: { targetingKey: `user-${n}` } }
        expect((await s.client.post('/ofrep/v1/evaluate/flags/flag', context)).status).toBe(200)
        expect((await s.client.post('/ofrep/v1/evaluate/flags', context)).status).toBe(200)
      }
      expect((await s.client.post('/flags/?v=2', { token: 'phc_unknown', distinct_id: 'a' })).status).toBe(401)
      const { text } = await s.client.get('/metrics')
      for (const [method, route, status, expected] of [
        ['POST', '/flags', 200, count],
        ['POST', '/decide', 200, count],
        ['GET', '/flags/definitions', 200, count],
        ['POST', '/ofrep/v1/evaluate/flags/*', 200, count],
        ['POST', '/ofrep/v1/evaluate/flags', 200, count],
        ['POST', '/flags', 401, 1],
      ] as const) {
        const labels = `method="${method}",route="${route}",status="${status}"`
        expect(text).toContain(`halyard_http_requests_total{${labels}} ${expected}\n`)
        expect(text).toContain(`halyard_http_request_duration_seconds_count{${labels}} ${expected}\n`)
        expect(text).toContain(`halyard_http_request_duration_seconds_bucket{le="+Inf",${labels}} ${expected}\n`)
      }
    } finally {
      await s.close()
    }
  })

  it.each([
    ['errors', [401]],
    ['all', [200, 200, 401]],
    ['sampled', [200, 401]],
    ['off', []],
  ] as const)('are logged with HALYARD_ACCESS_LOG=%s as %j', async (mode, statuses) => {
    const s = await start({ ...environment, HALYARD_ACCESS_LOG: mode })
    try {
      const token = s.project.api_token
      const evaluate = (body: object) => s.client.post('/flags/?v=2', { distinct_id: 'a', ...body }, requestId)
      await evaluate({ token })
      await evaluate({ token })
      await evaluate({ token: 'phc_unknown' })
      await expect.poll(() => s.evaluations().map(line => line.status)).toEqual(statuses)
      for (const line of s.evaluations()) {
        expect(line).toMatchObject({
          reqId: 'visible-1',
          method: 'POST',
          route: '/flags',
          path: '/flags/',
          ip: '127.0.0.1',
          milliseconds: expect.any(Number),
          bytes: expect.any(Number),
        })
        expect(line.project).toBe(line.status === 200 ? s.project.id : undefined)
        expect(JSON.stringify(line)).not.toContain(token)
      }
    } finally {
      await s.close()
    }
  })
})
