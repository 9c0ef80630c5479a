import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'

onEachDatabase('event counts', dialect => {
  let s: Scenario
  beforeAll(async () => {
    s = await startScenario(dialect)
  })
  afterAll(() => s.close())

  const around = (from: string, to: string) =>
    s.get(`${s.project}/event_counts/?date_from=${encodeURIComponent(from)}&date_to=${encodeURIComponent(to)}`)

  it('are returned by interval, evaluations first', async () => {
    const start = Math.floor(Date.now() / 60_000) * 60_000 - 30 * 60_000
    const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString()
    const send = (event: string, minutes: number) => ({
      event,
      distinct_id: 'ada',
      timestamp: at(minutes),
      properties: {},
    })
    await s.as(undefined).post('/batch/', {
      api_key: s.projectToken,
      batch: [send('order', 0), send('order', 3), send('order', 3), send('$feature_flag_called', 4), send('order', 20)],
    })
    const body = async () => (await around(at(0), at(10))).body
    await expect.poll(async () => (await body()).events.length).toBe(2)
    expect(await body()).toMatchObject({
      interval_minutes: 1,
      events: [
        { event: '$feature_flag_called', counts: [0, 0, 0, 0, 1, 0, 0, 0, 0, 0] },
        { event: 'order', counts: [1, 0, 0, 2, 0, 0, 0, 0, 0, 0] },
      ],
    })
    const day = await around(new Date(start - 23 * 3_600_000).toISOString(), at(60))
    expect(day.body.interval_minutes).toBe(12)
    expect(day.body.events[1].counts).toHaveLength(120)
  })

  it('are returned by value for a flag that is rolled out', async () => {
    const filters = { groups: [{ properties: [], rollout_percentage: 50 }] }
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'half', filters })
    const { body: full } = await s.post(`${s.project}/feature_flags/`, { key: 'full' })
    const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000
    const at = (hours: number) => new Date(hour + hours * 3_600_000).toISOString()
    const send = (event: string, value: unknown, time: string) => ({
      event,
      distinct_id: 'ada',
      timestamp: time,
      properties: { '$feature/half': value, '$feature/full': true },
    })
    const batch = [
      send('error', true, at(-2)),
      send('error', true, at(-1.5)),
      send('error', false, at(-1)),
      send('error', 'invented', at(-1)),
      send('goal', true, at(-1)),
    ]
    await s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
    const counts = async (id: number, more = '') =>
      (await s.get(`${s.project}/feature_flags/${id}/event_counts/?date_from=${at(-2)}&date_to=${at(0)}${more}`)).body
    await expect.poll(async () => (await counts(flag.id)).events.length, { timeout: 30_000 }).toBe(2)
    expect(await counts(flag.id)).toEqual({
      from: expect.stringContaining(at(-2).slice(0, 16)),
      is_counted: true,
      events: [
        { event: 'error', count: 4 },
        { event: 'goal', count: 1 },
      ],
      event: 'error',
      series: [
        { value: '(other)', counts: [0, 1] },
        { value: 'false', counts: [0, 1] },
        { value: 'true', counts: [2, 0] },
      ],
    })
    expect((await counts(flag.id, '&event=goal')).series).toEqual([{ value: 'true', counts: [0, 1] }])
    expect(await counts(full.id)).toMatchObject({ is_counted: false, event: null, series: [] })
    const outside = await s.get(`${s.project}/feature_flags/999999/event_counts/?date_from=${at(-2)}&date_to=${at(0)}`)
    expect(outside.status).toBe(404)
    const long = await s.get(
      `${s.project}/feature_flags/${flag.id}/event_counts/?date_from=${at(-200)}&date_to=${at(0)}`,
    )
    expect([long.status, long.body.attr]).toEqual([400, 'date_to'])
  })

  it.each([
    ['date_from', '', '2026-01-01T00:00:00Z'],
    ['date_from', 'yesterday', '2026-01-01T00:00:00Z'],
    ['date_to', '2026-01-01T00:00:00Z', 'x'],
    ['date_to', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['date_to', '2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z'],
  ])('refuse a wrong %s (%s to %s)', async (field, from, to) => {
    const refused = await around(from, to)
    expect([refused.status, refused.body.attr]).toEqual([400, field])
  })
})
