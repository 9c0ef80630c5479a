import { type ClientRequest, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { instantOf } from '../../packages/server/src/instant.ts'
import { edgeKey, type RunningEdge, removeEdgeFolder, startEdge } from '../../packages/server/src/testing/edges.ts'
import { type OpenStream, openStream } from '../../packages/server/src/testing/event-source.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { readPanels, readRules } from './promql.ts'
import { evaluateQuery } from './promql-evaluator.ts'
import { type Labels, type Sample, type Scrape, scrape, type Target, withValues } from './scrapes.ts'

/** Every query of the dashboard and of the alert rules is evaluated over scrapes of a server with PostgreSQL and of an edge. */

const requestsInFlightMax = 4
/** No process listens there. */
const unreachable = 'http://127.0.0.1:9'
/** As if this time passed between two scrapes. Together they fill the longest window of a rule, 15 minutes. */
const secondsBetweenScrapes = 150
const rounds = 6

let s: Scenario
let edge: RunningEdge
let stream: OpenStream
let flagPath: string
let targets: readonly Target[]
let healthy: readonly Scrape[]

beforeAll(async () => {
  s = await startScenario('postgres', {
    environment: { HALYARD_REQUESTS_IN_FLIGHT_MAX: String(requestsInFlightMax) },
  })
  const flag = await s.post(`${s.project}/feature_flags/`, { key: 'flag', filters: { groups: [{}] } })
  flagPath = `${s.project}/feature_flags/${flag.body.id}/`
  const plugin = (await s.post(`${s.organization}/plugins/`, {})).body.id
  const source = {
    'plugin.json': JSON.stringify({ name: 'pass-on' }),
    'index.ts': 'export const processEvent = event => event',
  }
  // On a busy machine the first compilation can exceed its time limit.
  await until(async () => (await s.patch(`${s.organization}/plugins/${plugin}/update_source/`, source)).status, 200)
  await until(async () => (await s.post(`${s.project}/plugin_configs/`, { plugin, enabled: true })).status, 201)
  stream = await openStream(`${s.url}/ofrep/v1/stream`, { authorization: `Bearer ${s.projectToken}` })
  edge = await startEdge(s.url, await edgeKey(s))
  await until(async () => (await edge.get('/_readyz')).status, 200)
  targets = [
    { url: s.url, job: 'halyard', instance: 'server' },
    { url: edge.url, job: 'halyard-edge', instance: 'edge' },
  ]
  // The first round creates the series that a rate needs twice.
  await sendTraffic(1)
  const scrapes = [await scrape(targets, 0)]
  for (let round = 1; round <= rounds; round++) {
    await sendTraffic(round + 1)
    scrapes.push(await scrape(targets, round * secondsBetweenScrapes))
  }
  healthy = scrapes
}, 180_000)
afterAll(async () => {
  stream.close()
  await edge.close()
  await removeEdgeFolder(edge.folder)
  await s.close()
})

/** In each round: three evaluations on each of two routes, one refused; a change, an event and a malformed one, a failed sign-in. */
async function sendTraffic(round: number): Promise<void> {
  const anonymous = s.as(undefined)
  const token = s.projectToken
  for (const user of ['a', 'b', 'c']) {
    expect((await anonymous.post('/flags/?v=2', { token, distinct_id: user })).status).toBe(200)
    expect((await s.post('/ofrep/v1/evaluate/flags', { context: { targetingKey: user } })).status).toBe(200)
  }
  expect((await anonymous.post('/flags/?v=2', { token: 'phc_unknown', distinct_id: 'a' })).status).toBe(401)
  expect((await s.patch(flagPath, { name: `Round ${round}` })).status).toBe(200)
  const malformed = { event: 'visited' }
  const batch = [{ event: 'visited', distinct_id: 'a' }, malformed]
  expect((await anonymous.post('/batch/', { api_key: token, batch })).status).toBe(200)
  await anonymous.post('/api/login/', { email: `user-${round}@example.com`, password: 'wrong' })
  await s.halyard.jobs.runDue(instantOf(new Date()))
  // A response can arrive before its request is counted.
  await until(() => now('sum(halyard_http_requests_total{route=~"/flags|/ofrep.*"})'), 7 * round)
  await until(() => now('halyard_events_recorded_total'), round)
  await until(() => now('sum(halyard_http_requests_total{route="/api/login"})'), round)
}

/** The value that a query has on the server now. */
const now = async (query: string): Promise<number | undefined> =>
  evaluateQuery(query, [await scrape([{ url: s.url, job: 'halyard', instance: 'server' }], 0)])[0]?.value

const until = (read: () => Promise<unknown>, expected: unknown): Promise<void> =>
  vi.waitFor(async () => expect(await read()).toBe(expected), { timeout: 30_000 })

const number = expect.any(Number)
const perRound = (count: number) => expect.closeTo(count / secondsBetweenScrapes, 10)
const series = (labels: object, value: unknown) => ({ labels, value })
const single = (value: unknown) => [series({}, value)]
const perInstance = (...instances: string[]) => instances.map(instance => series({ instance }, number))

/** The expected series of each query of a panel, by its title. */
const panels: Readonly<Record<string, readonly unknown[]>> = {
  'Evaluation requests': [
    [series({ route: '/flags' }, perRound(4)), series({ route: '/ofrep/v1/evaluate/flags' }, perRound(3))],
  ],
  'Latency of evaluations': [single(number), single(number), single(number)],
  'Error ratio of evaluations': [[], single(expect.closeTo(1 / 7, 10))],
  'Flags evaluated': [single(perRound(6))],
  'Requests that left the fast path': [['error', 'large', 'not_in_memory'].map(reason => series({ reason }, 0))],
  'Open streams': [[series({ instance: 'edge' }, 0), series({ instance: 'server' }, 1)]],
  'Propagation of changes': [single(number), single(number)],
  'Age of flags in memory': [perInstance('server')],
  'Background failures': [
    ['change_announce', 'change_notify', 'change_read', 'snapshot_refresh', 'worker_apply_timeout'].map(kind =>
      series({ kind }, 0),
    ),
  ],
  // Requests of the set-up have further statuses.
  'API requests by status': [
    expect.arrayContaining([series({ status: '200' }, perRound(1)), series({ status: '401' }, perRound(1))]),
  ],
  'Slowest API routes (p95)': [
    [series({ route: '/api/login' }, number), series({ route: '/api/projects/:project_id/feature_flags/:id' }, number)],
  ],
  'In flight and shed': [
    perInstance('edge', 'server'),
    [series({ instance: 'edge' }, 0), series({ instance: 'server' }, 0)],
  ],
  CPU: [perInstance('edge', 'server')],
  Memory: [perInstance('edge', 'server')],
  'Event-loop delay (p99)': [perInstance('edge', 'server')],
  Connections: [[series({ state: 'busy' }, number), series({ state: 'idle' }, number)], single(number)],
  Size: [single(number)],
  'Failed writes': [['disk_full', 'timeout', 'unavailable'].map(kind => series({ kind }, 0)), single(0)],
  Events: [single(perRound(2)), [series({ reason: 'malformed' }, perRound(1))]],
  'Events waiting': [[series({ instance: 'server' }, 0)]],
  'Commit of events (p95)': [single(number)],
  'Background jobs': [
    [
      'change-requests',
      'cohorts',
      'rollback',
      'scheduled-changes',
      'trim-changes',
      'trim-events',
      'trim-sign-in-failures',
      'webhooks',
    ].map(name => series({ name, outcome: 'success' }, perRound(1))),
  ],
  // On a busy machine a call can exceed its time limit, which is another outcome.
  'Plugin calls': [expect.arrayContaining([series({ plugin: 'pass-on', outcome: 'ok' }, number)])],
  'Failed sign-ins': [[series({ reason: 'throttled' }, 0), series({ reason: 'wrong_password' }, perRound(1))]],
  Connection: [
    [
      series({ state: 'away' }, 0),
      series({ state: 'connecting' }, 0),
      series({ state: 'following' }, 1),
      series({ state: 'refused' }, 0),
      series({ state: 'rejected' }, 0),
    ],
  ],
  'Age of the state': [perInstance('edge')],
  'Events on disk': [[series({ instance: 'edge' }, 0)]],
}

describe('the dashboard', () => {
  const all = readPanels()

  it('has the panels that are listed here', () => {
    expect(all.map(({ title }) => title).sort()).toEqual(Object.keys(panels).sort())
  })

  it.each(all)('shows $title', ({ title, queries }) => {
    const results = queries.map(query => evaluateQuery(query, healthy))
    expect(results.map(sorted)).toEqual(panels[title])
    expect(results.flat().filter(({ value }) => Number.isNaN(value))).toEqual([])
  })
})

const sorted = (samples: readonly Sample[]): Sample[] => {
  const key = ({ labels }: Sample) => JSON.stringify(Object.values(labels))
  return [...samples].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

describe('the alert rules', () => {
  const all = readRules()
  let failing: readonly Scrape[]
  let lostEdge: RunningEdge
  beforeAll(async () => {
    lostEdge = await startEdge(unreachable, 'phx_key')
    const more = [
      { url: unreachable, job: 'halyard', instance: 'stopped-server' },
      { url: lostEdge.url, job: 'halyard-edge', instance: 'lost-edge' },
    ]
    const scrapes = [...healthy]
    for (let round = rounds + 1; round <= rounds + 2; round++) {
      await beOverloaded()
      scrapes.push(await scrape([...targets, ...more], round * secondsBetweenScrapes))
    }
    failing = scrapes
  })
  afterAll(async () => {
    await lostEdge.close()
    await removeEdgeFolder(lostEdge.folder)
  })

  /** An evaluation is refused while as many requests are in flight as the limit. */
  async function beOverloaded(): Promise<void> {
    const held = Array.from({ length: requestsInFlightMax }, (): ClientRequest => {
      const unfinished = request(`${s.url}/api/login/`, { method: 'POST', headers: { 'content-length': '10' } })
      unfinished.on('error', () => {})
      unfinished.write('{')
      return unfinished
    })
    await until(isOverloaded, true)
    const refused = await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id: 'a' })
    expect(refused.status).toBe(503)
    for (const unfinished of held) unfinished.destroy()
    await until(isOverloaded, false)
  }
  const isOverloaded = async () => ((await now('halyard_http_requests_in_flight')) ?? 0) >= requestsInFlightMax

  const gauge = (metric: string, value: number) => () => withValues(healthy, metric, () => value)
  const growing = (metric: string, perScrape: number) => () =>
    withValues(healthy, metric, (sample, index) => sample.value + index * perScrape)
  /** Every observation after the first scrape is above `seconds`. */
  const slow = (metric: string, seconds: number) => () => {
    const first = new Map(healthy[0]!.samples.map(({ labels, value }) => [JSON.stringify(labels), value]))
    return withValues(healthy, `${metric}_bucket`, ({ labels, value }) =>
      Number(labels.le) <= seconds ? (first.get(JSON.stringify(labels)) ?? 0) : value,
    )
  }
  const ofServer = { job: 'halyard', instance: 'server' }
  /** One more series of the server, which counts from 0. */
  const added = (metric: string, labels: Labels) => () =>
    healthy.map(({ time, samples }, index) => ({
      time,
      samples: [...samples, { labels: { ...ofServer, ...labels, __name__: metric }, value: index }],
    }))

  /** Scrapes for which an alert fires, and the labels of the alert. Some conditions are really provoked, others are written into scrapes. */
  const conditions: Readonly<Record<string, readonly [() => readonly Scrape[], object]>> = {
    HalyardDown: [() => failing, { job: 'halyard', instance: 'stopped-server' }],
    HalyardEvaluationErrors: [() => failing, { job: 'halyard' }],
    HalyardEvaluationSlow: [slow('halyard_http_request_duration_seconds', 0.25), { job: 'halyard' }],
    HalyardOverloaded: [() => failing, ofServer],
    HalyardStaleFlags: [gauge('halyard_snapshot_age_seconds', 61), ofServer],
    HalyardSlowPropagation: [slow('halyard_change_propagation_seconds', 5), { job: 'halyard' }],
    HalyardDiskFull: [gauge('halyard_database_disk_full', 1), ofServer],
    HalyardWriteFailures: [growing('halyard_database_write_failures_total', 1), { job: 'halyard', kind: 'timeout' }],
    HalyardDatabasePoolExhausted: [gauge('halyard_database_pool_waiting', 11), ofServer],
    HalyardJobFailing: [
      added('halyard_job_runs_total', { name: 'rollback', outcome: 'failure' }),
      { job: 'halyard', name: 'rollback' },
    ],
    HalyardEventsDropped: [
      added('halyard_events_dropped_total', { reason: 'overload' }),
      { job: 'halyard', reason: 'overload' },
    ],
    HalyardSignInFailures: [growing('halyard_sign_in_failures_total', secondsBetweenScrapes + 1), { job: 'halyard' }],
    HalyardEdgeDisconnected: [() => failing, { job: 'halyard-edge', instance: 'lost-edge' }],
  }

  it('have the names that are listed here', () => {
    expect(all.map(({ alert }) => alert).sort()).toEqual(Object.keys(conditions).sort())
  })

  it.each(all)('do not fire $alert for a healthy server', ({ expr }) => {
    expect(evaluateQuery(expr, healthy)).toEqual([])
  })

  it.each(all)('fire $alert when its condition holds', ({ alert, expr }) => {
    const [scrapes, labels] = conditions[alert]!
    expect(evaluateQuery(expr, scrapes()).map(sample => sample.labels)).toContainEqual(expect.objectContaining(labels))
  })
})
