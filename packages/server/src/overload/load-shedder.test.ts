import { type ClientRequest, request } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { startScenario } from '../testing/scenario.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'
import { createLoadShedder } from './load-shedder.ts'

/** Stops the event loop, as too much work would. */
function block(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

describe('more requests than capacity', () => {
  const s = suiteScenario('sqlite', { environment: { HALYARD_REQUESTS_IN_FLIGHT_MAX: '2' } })

  /** Requests whose bodies never come, so that they stay. */
  function hold(count: number): ClientRequest[] {
    return Array.from({ length: count }, () => {
      const held = request(`${s.url}/api/login/`, { method: 'POST', headers: { 'content-length': '10' } })
      held.on('error', () => {})
      held.write('{')
      return held
    })
  }

  it('turns evaluation away first, then management, and never the supervisor', async () => {
    const evaluate = () => s.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'someone' })
    const manage = () => s.get(`${s.project}/feature_flags/`)
    const inFlight = async () =>
      Number(/halyard_http_requests_in_flight (\d+)/.exec((await s.get('/metrics')).text)?.[1])
    expect((await evaluate()).status).toBe(200)

    const held = hold(2)
    await expect.poll(inFlight).toBe(2)
    const refused = await evaluate()
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.body.code).toBe('unavailable')
    expect((await manage()).status).toBe(200)

    held.push(...hold(2))
    await expect.poll(inFlight).toBe(4)
    expect((await manage()).status).toBe(503)
    expect((await s.get('/_livez')).status).toBe(200)
    expect((await s.get('/_readyz')).status).toBe(200)

    for (const one of held) one.destroy()
    await expect.poll(inFlight).toBe(0)
    expect((await evaluate()).status).toBe(200)
    expect((await manage()).status).toBe(200)
    const { text } = await s.get('/metrics')
    expect(text).toMatch(/halyard_http_requests_shed_total 2/)
  })
})

describe('an event loop that is late again and again', () => {
  it('sheds evaluation, answers management, and recovers', async () => {
    const s = await startScenario('sqlite', { environment: { HALYARD_LAG_MILLISECONDS_MAX: '150' } })
    const evaluate = () => s.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'someone' })
    try {
      expect((await evaluate()).status).toBe(200)
      const blocking = setInterval(() => block(400), 1)
      await vi.waitFor(async () => expect((await evaluate()).status).toBe(503), { timeout: 20_000 })
      clearInterval(blocking)
      await vi.waitFor(async () => expect((await evaluate()).status).toBe(200), { timeout: 20_000 })
    } finally {
      await s.close()
    }
  })
})

describe('evaluations that have waited in the queue', () => {
  it('are shed beyond the limit, except for one in four', () => {
    const shedder = createLoadShedder({ lagMillisecondsMax: 1000, inFlightMax: 10 })
    const admitted = (queueMilliseconds: number) =>
      Array.from({ length: 8 }, () => shedder.admitLate(queueMilliseconds) === undefined)
    expect(admitted(900)).toEqual(Array(8).fill(true))
    expect(admitted(1100)).toEqual([false, false, false, true, false, false, false, true])
    expect(shedder.load.shedTotal).toBe(6)
    shedder.close()
    const unlimited = createLoadShedder({ lagMillisecondsMax: 0, inFlightMax: 10 })
    expect(unlimited.admitLate(60_000)).toBeUndefined()
    unlimited.close()
  })
})
