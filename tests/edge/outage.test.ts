import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import {
  type EdgeOptions,
  edgeKey,
  flagsAt,
  newEdgeFolder,
  type RunningEdge,
  removeEdgeFolder,
  startEdge,
} from '../../packages/server/src/testing/edges.ts'
import { openUpstreamDoor, type UpstreamDoor } from './upstream-door.ts'

let database: TestDatabase
let door: UpstreamDoor
let key: string
let folder: string
let token: string
let projectPath: string
const running: RunningEdge[] = []

beforeEach(async () => {
  database = await createTestDatabase('sqlite', 'empty')
  door = await openUpstreamDoor(database.url)
  key = await edgeKey(door.s)
  folder = await newEdgeFolder()
  token = door.s.projectToken
  projectPath = door.s.project
  await createFlag({ key: 'first' })
})
afterEach(async () => {
  for (const edge of running.splice(0)) await edge.close()
  await door.close()
  await database.drop()
  await removeEdgeFolder(folder)
})

const createFlag = (flag: object) => door.s.post(`${projectPath}/feature_flags/`, flag)
const open = async (options: EdgeOptions = {}) => {
  const edge = await startEdge(door.url, key, { folder, ...options })
  running.push(edge)
  return edge
}
const close = async (edge: RunningEdge) => {
  running.splice(running.indexOf(edge), 1)
  await edge.close()
}
const keysAt = async (edge: RunningEdge): Promise<string[] | number> => {
  const result = (await flagsAt(edge, { token, distinct_id: 'user' })) as { flags?: object; status?: number }
  return result.flags ? Object.keys(result.flags).sort() : result.status!
}
const send = (edge: RunningEdge, ...names: string[]) =>
  edge.post('/batch/', { api_key: token, batch: names.map(event => ({ event, distinct_id: 'ada' })) })
/** How often the upstream has counted an event. */
const counted = (event: string): Promise<number> =>
  door.s.halyard.database.read(tx =>
    tx.eventCounts.sum(door.s.projectId, {
      event,
      from: '2000-01-01T00:00:00.000000Z',
      to: '2100-01-01T00:00:00.000000Z',
    }),
  )

it('serves without its upstream, restarts from its disk, and catches up when the upstream returns', async () => {
  const edge = await open()
  expect(await edge.edge.following.firstAttempt).toBeUndefined()
  expect(await keysAt(edge)).toEqual(['first'])
  await door.away()
  await expect.poll(() => edge.edge.following.connection).toBe('away')
  expect(await keysAt(edge)).toEqual(['first'])
  const ready = await edge.get('/_readyz')
  expect([ready.status, ready.body.upstream]).toEqual([200, 'away'])
  await close(edge)

  const again = await open()
  expect(await keysAt(again)).toEqual(['first'])
  expect((await again.get('/_readyz')).status).toBe(200)
  await door.back()
  await createFlag({ key: 'second' })
  await expect.poll(() => keysAt(again)).toEqual(['first', 'second'])
  await expect.poll(() => again.edge.following.connection).toBe('following')
})

it('is not ready until it has a state to serve, and becomes ready automatically', async () => {
  await door.away()
  const edge = await open()
  expect(await edge.edge.following.firstAttempt).toMatchObject({ kind: 'away' })
  const ready = await edge.get('/_readyz')
  expect([ready.status, ready.body.state]).toEqual([503, 'none'])
  expect((await edge.get('/_livez')).status).toBe(200)
  expect(await keysAt(edge)).toBe(401)
  await door.back()
  await expect.poll(async () => (await edge.get('/_readyz')).status).toBe(200)
  expect(await keysAt(edge)).toEqual(['first'])
})

it('applies every change, however often the connection breaks', async () => {
  const edge = await open()
  await edge.edge.following.firstAttempt
  const { body: toggled } = await createFlag({ key: 'toggled' })
  for (let n = 0; n < 8; n++) {
    if (n % 2) door.cut()
    await createFlag({ key: `n${n}` })
    await door.s.patch(`${projectPath}/feature_flags/${toggled.id}/`, { active: n % 2 === 0 })
  }
  await expect.poll(() => keysAt(edge)).toEqual(['first', 'n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7'])
  expect(edge.edge.following.connects).toBeGreaterThan(1)
})

it('reports flags that cannot be evaluated while persons cannot be looked up', async () => {
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  await createFlag({ key: 'pro', filters: { groups: [{ properties: pro }] } })
  const identify = { event: '$identify', distinct_id: 'ada', properties: { $set: { plan: 'pro' } } }
  await door.s.as(undefined).post('/capture/', { api_key: token, ...identify })
  const edge = await open()
  await edge.edge.following.firstAttempt
  const ada = { token, distinct_id: 'ada' }
  await expect.poll(() => flagsAt(edge, ada)).toMatchObject({ flags: { pro: { enabled: true } } })
  await door.away()
  await expect
    .poll(() => flagsAt(edge, ada))
    .toMatchObject({
      errorsWhileComputingFlags: true,
      flags: { first: { enabled: true }, pro: { enabled: false, failed: true } },
    })
  const result = await flagsAt(edge, { ...ada, person_properties: { plan: 'pro' } })
  expect(result).toMatchObject({ errorsWhileComputingFlags: false, flags: { pro: { enabled: true } } })
  await close(edge)

  const alone = await open({ environment: { HALYARD_EDGE_LOOK_UPS: 'none' } })
  await door.back()
  await expect.poll(() => alone.edge.following.connection).toBe('following')
  expect(await flagsAt(alone, ada)).toMatchObject({ errorsWhileComputingFlags: true, flags: { pro: { failed: true } } })
})

it('spools events on disk across restarts, and each is counted once', async () => {
  const edge = await open()
  await edge.edge.following.firstAttempt
  expect((await send(edge, 'before')).body).toEqual({ status: 1 })
  await expect.poll(() => counted('before')).toBe(1)
  await door.away()
  for (let n = 0; n < 5; n++) expect((await send(edge, 'during', 'during')).status).toBe(200)
  await close(edge)

  const again = await open()
  expect((await send(again, 'during')).status).toBe(200)
  await door.back()
  await expect.poll(() => counted('during')).toBe(11)
  await expect.poll(async () => (await again.get('/metrics')).text).toMatch(/halyard_edge_spool_bytes 0\n/)
  expect(await readdir(join(folder, 'events'))).toEqual([])
  expect(await counted('during')).toBe(11)
  expect(await counted('before')).toBe(1)
})

it('counts a batch once when it is resent in the same request, concurrently and later', async () => {
  const uuid = door.s.halyard.serving.snapshots.cached(token)?.project.uuid
  const { body: projects } = await door.s.get('/api/projects/')
  const event = { event: 'once', distinct_id: 'ada', properties: {}, at: new Date().toISOString(), ip: null }
  const batch = {
    id: 'batch-1',
    project: uuid ?? projects.results[0].uuid,
    events: [{ uuid: '01890000-0000-7000-8000-000000000000', ...event }],
    evaluations: { requests: 3, flags: 5 },
  }
  const post = () => door.s.as(key).post('/api/edge/batches/', { batches: [batch, batch] })
  const replies = await Promise.all([post(), post(), post()])
  for (const reply of [...replies, await post()]) expect(reply.body).toEqual({ received: 2, refused: [] })
  expect(await counted('once')).toBe(1)
  const { text } = await door.s.get('/metrics')
  expect(text).toMatch(/halyard_edge_evaluation_requests_total 3\n/)
  expect(text).toMatch(/halyard_edge_flags_evaluated_total 5\n/)
})

it('sets a damaged state file aside and requests the state again', async () => {
  const edge = await open()
  await edge.edge.following.firstAttempt
  await close(edge)
  const path = join(folder, 'state.jsonl')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('first', 'forged'))
  await door.away()
  const again = await open()
  expect((await again.get('/_readyz')).status).toBe(503)
  expect(await keysAt(again)).toBe(401)
  expect(await readFile(join(folder, 'state.damaged'), 'utf8')).toContain('forged')
  await door.back()
  await expect.poll(() => keysAt(again)).toEqual(['first'])
})

it('retains its state when the new one exceeds the size limit', async () => {
  const edge = await open({ environment: { HALYARD_EDGE_STATE_BYTES_MAX: '10000' } })
  await edge.edge.following.firstAttempt
  expect(await keysAt(edge)).toEqual(['first'])
  await createFlag({ key: 'huge', filters: { groups: [{ properties: [] }], payloads: { true: 'x'.repeat(20_000) } } })
  await expect.poll(() => edge.edge.following.connection).toBe('away')
  expect(await keysAt(edge)).toEqual(['first'])
})

it('returns 503 when its event spool is full', async () => {
  const edge = await open({ environment: { HALYARD_EDGE_SPOOL_BYTES_MAX: '2000' } })
  await edge.edge.following.firstAttempt
  await door.away()
  const statuses: number[] = []
  for (let n = 0; n < 20; n++) {
    const reply = await send(edge, 'spooled')
    statuses.push(reply.status)
    if (reply.status === 503) expect(reply.headers.get('retry-after')).toBe('30')
  }
  expect(statuses).toContain(200)
  expect(statuses.at(-1)).toBe(503)
  await door.back()
  await expect.poll(() => counted('spooled')).toBe(statuses.filter(status => status === 200).length)
})
