import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Instant, instantOf } from '../../../instant.ts'
import { eventsUrl } from '../../../settings/events-url.ts'
import { type ClickHouseStandIn, startClickHouseStandIn } from '../../../testing/clickhouse-stand-in.ts'
import { createTestDatabase, freeLeases, onEachDatabase, type TestDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { literal } from './clickhouse-client.ts'

onEachDatabase('counts in ClickHouse', dialect => {
  let s: Scenario
  let clickHouse: ClickHouseStandIn
  let database: TestDatabase
  let flag: { id: number; usage_dashboard: number }

  const start = (environment: Record<string, string> = {}) =>
    startScenario(dialect, {
      databaseUrl: database.url,
      environment: { EVENTS_URL: clickHouse.url, HALYARD_EVENTS_READ_MILLISECONDS_MAX: '300', ...environment },
    })

  beforeEach(async () => {
    clickHouse = await startClickHouseStandIn()
    database = await createTestDatabase(dialect)
    s = await start()
    flag = (await s.post(`${s.project}/feature_flags/`, { key: 'checkout', active: true })).body
  })
  afterEach(async () => {
    // Requests that hang would delay the end.
    await clickHouse.close()
    await s.close()
    await database.drop()
  })

  const call = async (users: readonly string[]) => {
    const properties = { $feature_flag: 'checkout', $feature_flag_response: true }
    const batch = users.map(distinct_id => ({ event: '$feature_flag_called', distinct_id, properties }))
    const { status } = await s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
    expect(status).toBe(200)
  }
  const now = (): Instant => instantOf(new Date())
  const forward = () => s.halyard.jobs.runDue(now())
  const waiting = () => s.halyard.database.read(tx => tx.eventBacklog.measure())
  const metric = async (name: string) => {
    const text = (await s.get('/metrics')).text
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  }

  it('commits counts with their events, sends them merged by series, and then forgets them', async () => {
    await call(['ada', 'bob'])
    await call(['ada'])
    expect(await waiting()).toMatchObject({ batches: 2 })
    await forward()
    expect(await waiting()).toMatchObject({ batches: 0, oldestAt: undefined })
    const rowsOf = (name: string) =>
      clickHouse.inserts.filter(({ table }) => table === name).flatMap(({ rows }) => rows)
    expect(rowsOf('flag_usage')).toMatchObject([{ flag: 'checkout', kind: 'called', variant: 'true', calls: 3 }])
    expect(rowsOf('flag_users_input')[0]?.users).toHaveLength(2)
    expect(clickHouse.total('event_minutes', 'events')).toBe(3)
    expect(await metric('halyard_events_forwarded_blocks_total')).toBe(1)
  })

  it.each(['lost', 'refuses', 'hangs'] as const)('counts once when a server that %s stored perhaps', async fault => {
    await call(['ada', 'bob'])
    await forward()
    await call(['ada'])
    clickHouse.fault = fault
    const failing = forward()
    // The forwarder gives up on a server that hangs when the connection ends.
    if (fault === 'hangs') await clickHouse.close()
    await failing
    expect(await waiting()).toMatchObject({ batches: 1 })
    expect(await metric('halyard_events_forward_failures_total')).toBe(1)
    if (fault === 'hangs') return
    clickHouse.fault = 'none'
    await call(['eve'])
    await forward()
    expect(await waiting()).toMatchObject({ batches: 0 })
    expect(clickHouse.total('flag_usage', 'calls')).toBe(4)
    expect(clickHouse.total('event_minutes', 'events')).toBe(4)
  })

  it('sends a sealed block again unchanged when another node takes over', async () => {
    await call(['ada'])
    clickHouse.fault = 'lost'
    await forward()
    await call(['bob'])
    await freeLeases(s.halyard.storage)
    const other = await start()
    clickHouse.fault = 'none'
    await other.halyard.jobs.runDue(now())
    await other.close()
    const [first, second] = clickHouse.inserts.filter(({ table }) => table === 'flag_usage')
    expect(second).toEqual(first)
    expect(clickHouse.total('flag_usage', 'calls')).toBe(2)
  })

  it('affects nothing but counts while ClickHouse is away', async () => {
    await call(['ada'])
    await clickHouse.close()
    await forward()
    const dashboard = await s.get(`${s.project}/dashboards/${flag.usage_dashboard}/`)
    expect([dashboard.status, dashboard.body.code, dashboard.headers.get('retry-after')]).toEqual([
      503,
      'counts_unavailable',
      '5',
    ])
    expect((await s.get(`${s.project}/feature_flags/recent_usage/?ids=${flag.id}`)).status).toBe(503)
    expect((await s.get('/_readyz')).status).toBe(200)
    const evaluated = await s.as(undefined).post('/flags/?v=2', { api_key: s.projectToken, distinct_id: 'ada' })
    expect(evaluated.body.flags.checkout.enabled).toBe(true)
    expect((await s.get(`${s.project}/feature_flags/${flag.id}/status/`)).body.last_called_at).not.toBeNull()
    const renamed = await s.patch(`${s.project}/dashboards/${flag.usage_dashboard}/`, { name: 'Renamed' })
    expect([renamed.status, renamed.body.tiles[0].insight.series]).toEqual([200, []])
    const minutes = new URLSearchParams({ date_from: instantOf(new Date(Date.now() - 3_600_000)), date_to: now() })
    expect((await s.get(`${s.project}/event_counts/?${minutes}`)).status).toBe(200)
    expect(await metric('halyard_events_backlog_batches')).toBe(1)
  })

  it('says until when a dashboard is counted', async () => {
    const at = `${s.project}/dashboards/${flag.usage_dashboard}/`
    const refreshed = async () => (await s.get(at)).body.tiles[0].last_refresh as string
    const before = now()
    expect((await refreshed()) >= before).toBe(true)
    await call(['ada'])
    const recordedAt = (await waiting()).oldestAt
    expect(await refreshed()).toBe(recordedAt)
    await forward()
    expect((await refreshed()) > (recordedAt ?? '')).toBe(true)
  })

  it('drops counts, and nothing else, when too many wait', async () => {
    await s.close()
    s = await start({ HALYARD_EVENTS_BACKLOG_BYTES_MAX: '1024' })
    clickHouse.fault = 'refuses'
    await call(Array.from({ length: 200 }, (_, n) => `user-${n}`))
    // A failed attempt measures the backlog.
    await forward()
    await call(['late'])
    expect(await waiting()).toMatchObject({ batches: 1 })
    expect(await metric('halyard_events_backlog_dropped_total')).toBe(2)
    const person = await s.halyard.database.people.read(tx => tx.persons.findByDistinctIds(s.projectId, ['late']))
    expect(person).toHaveLength(1)
    const window = {
      event: '$feature_flag_called',
      from: '2000-01-01T00:00:00.000000Z',
      to: '2999-01-01T00:00:00.000000Z',
    }
    expect(await s.halyard.database.read(tx => tx.eventCounts.sum(s.projectId, window))).toBe(201)
  })
})

describe('EVENTS_URL', () => {
  it('names servers, user, database and replication', () => {
    expect(eventsUrl('clickhouse://u:p%40ss@a,b:8124/counts?replicated=1&quorum=2&person_events=0')).toEqual({
      origins: ['http://a:8123', 'http://b:8124'],
      user: 'u',
      password: 'p@ss',
      database: 'counts',
      isReplicated: true,
      quorum: 2,
      recordsPersonEvents: false,
    })
    expect(eventsUrl('clickhouses://[::1]/counts')).toMatchObject({ origins: ['https://[::1]:8443'], user: 'default' })
  })

  it.each([
    'http://a/counts',
    'clickhouse://a',
    'clickhouse://a/no-name',
    'clickhouse://u:p@ss@a/counts',
    'clickhouse://a,b/counts',
    'clickhouse://a/counts?replicated=yes',
    'clickhouse://a/counts?quorum=2',
    'clickhouse://a/counts?replicated=1&quorum=2',
    'clickhouse://a/counts?color=red',
    'clickhouse://a/counts?person_events=no',
    'clickhouse://a:b:c/counts',
  ])('refuses %s', url => {
    expect(() => eventsUrl(url)).toThrow()
  })

  it('escapes what ends a literal', () => {
    expect(literal("it's \\ \0 é\n")).toBe("'it\\'s \\\\ \\0 é\n'")
  })
})
