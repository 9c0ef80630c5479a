import { type ClientRequest, request } from 'node:http'
import { PostHog } from 'posthog-node'
import { afterEach, expect, it } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'

const clientsCount = 20
const retriesMax = 3

let s: Program
const held: ClientRequest[] = []
const libraries: PostHog[] = []
afterEach(async () => {
  for (const one of held.splice(0)) one.destroy()
  await Promise.all(libraries.splice(0).map(library => library.shutdown()))
  await s.close()
})

/** Requests whose bodies never arrive occupy all slots for requests in flight. */
function hold(count: number): void {
  for (let n = 0; n < count; n += 1) {
    const one = request(`${s.url}/api/login/`, { method: 'POST', headers: { 'content-length': '10' } })
    one.on('error', () => {})
    one.write('{')
    held.push(one)
  }
}

/** Without the usage event, so that only evaluation requests count. */
const evaluate = (library: PostHog, n: number) =>
  library.getFeatureFlag('on', `person ${n}`, { sendFeatureFlagEvents: false })

const metric = async (name: string): Promise<number> =>
  Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, 'm').exec((await s.get('/metrics')).text)?.[1] ?? 0)

it('posthog-node limits its retries while the server sheds load, and recovers afterwards', async () => {
  s = await startProgram('sqlite', { HALYARD_REQUESTS_IN_FLIGHT_MAX: '2' })
  await s.post(`${s.project}/feature_flags/`, { key: 'on' })
  for (let n = 0; n < clientsCount; n += 1) {
    const options = { host: s.url, fetchRetryCount: retriesMax, fetchRetryDelay: 20, flushAt: 1000 }
    const library = new PostHog(s.projectToken, options)
    library.on('error', () => {})
    libraries.push(library)
  }
  hold(2)
  await expect.poll(() => metric('halyard_http_requests_in_flight')).toBe(2)

  const refused = await Promise.all(libraries.map(evaluate))
  expect(refused.filter(value => value !== undefined)).toEqual([])
  const shed = await metric('halyard_http_requests_shed_total')
  expect(shed).toBeGreaterThanOrEqual(clientsCount)
  expect(shed).toBeLessThanOrEqual(clientsCount * (1 + retriesMax))
  // No request is left behind, and management requests are served meanwhile.
  expect(await metric('halyard_http_requests_in_flight')).toBe(2)
  expect((await s.get(`${s.project}/feature_flags/`)).status).toBe(200)
  expect((await s.get('/_readyz')).status).toBe(200)

  for (const one of held.splice(0)) one.destroy()
  await expect.poll(() => metric('halyard_http_requests_in_flight')).toBe(0)
  // One after another, because the limit is two requests in flight.
  for (const [n, library] of libraries.entries()) expect(await evaluate(library, n)).toBe(true)
})

it('a client that honors Retry-After needs few attempts, and one that does not is rejected cheaply', async () => {
  s = await startProgram('sqlite', { HALYARD_REQUESTS_IN_FLIGHT_MAX: '1' })
  hold(1)
  await expect.poll(() => metric('halyard_http_requests_in_flight')).toBe(1)
  const evaluate = () => s.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'x' })
  let attempts = 0
  const patient = async (): Promise<number> => {
    for (;;) {
      attempts += 1
      const reply = await evaluate()
      if (reply.status === 200) return attempts
      expect(reply.status).toBe(503)
      const waitSeconds = Number(reply.headers.get('retry-after'))
      expect(waitSeconds).toBeGreaterThan(0)
      if (attempts === 1) for (const one of held.splice(0)) one.destroy()
      // Waits for Retry-After as part of the client under test, not as a pause of the test.
      await new Promise(resolve => setTimeout(resolve, waitSeconds * 1000))
    }
  }
  const eager = await Promise.all(Array.from({ length: 50 }, evaluate))
  expect(eager.every(({ status, headers }) => status === 503 && headers.has('retry-after'))).toBe(true)
  await patient()
  expect(attempts).toBeGreaterThan(1)
})
