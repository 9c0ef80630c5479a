import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  edgeKey,
  flagsAt,
  type RunningEdge,
  removeEdgeFolder,
  startEdge,
} from '../../packages/server/src/testing/edges.ts'
import { type Program, startProgram } from '../program/start-program.ts'

let s: Program
beforeAll(async () => {
  s = await startProgram('sqlite')
})
afterAll(() => s.close())

const end = async (edge: RunningEdge) => {
  await edge.close()
  await removeEdgeFolder(edge.folder)
}

describe('an edge behind another edge', () => {
  let near: RunningEdge
  let far: RunningEdge
  beforeAll(async () => {
    await s.post(`${s.project}/feature_flags/`, { key: 'first' })
    const key = await edgeKey(s)
    near = await startEdge(s.url, key)
    await near.edge.following.firstAttempt
    far = await startEdge(near.url, key)
    expect(await far.edge.following.firstAttempt).toBeUndefined()
  })
  afterAll(async () => {
    await end(far)
    await end(near)
  })

  const flagsOf = async (edge: RunningEdge, distinct_id = 'user') =>
    (await flagsAt(edge, { token: s.projectToken, distinct_id })) as { flags: Record<string, { enabled: boolean }> }

  it('serves the same state with the same digest', () => {
    const digestsAt = (edge: RunningEdge) => edge.edge.replica.all().map(({ project, digest }) => [project, digest])
    expect(digestsAt(far)).toEqual(digestsAt(near))
  })

  it('receives changes, looks up persons and forwards events through the edge in between', async () => {
    const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
    await s.post(`${s.project}/feature_flags/`, { key: 'pro', filters: { groups: [{ properties: pro }] } })
    await expect.poll(async () => Object.keys((await flagsOf(far)).flags)).toContain('pro')
    const $set = { plan: 'pro' }
    const reply = await far.post('/e/', { api_key: s.projectToken, event: '$identify', distinct_id: 'ada', $set })
    expect(reply.status).toBe(200)
    await expect.poll(async () => (await flagsOf(far, 'ada')).flags.pro?.enabled).toBe(true)
    expect((await s.get(`${s.project}/persons/?distinct_id=ada`)).body.results).toHaveLength(1)
  })

  it('receives only the projects that the key can access', async () => {
    const { body: other } = await s.post('/api/projects/', { name: 'Other' })
    await expect.poll(() => near.edge.replica.all().length).toBe(2)
    const narrow = await edgeKey(s, { scoped_teams: [other.id] })
    const nothing = () => near.post('/api/edge/batches/', { batches: [] }, { authorization: `Bearer ${narrow}` })
    await expect.poll(async () => (await nothing()).status).toBe(200)
    const one = await startEdge(near.url, narrow)
    expect(await one.edge.following.firstAttempt).toBeUndefined()
    expect(one.edge.replica.all().map(({ project }) => project)).toEqual([other.uuid])
    expect(await flagsAt(one, { token: s.projectToken, distinct_id: 'x' })).toEqual({ status: 401 })
    await end(one)
    await s.delete(`/api/projects/${other.id}/`)
    await expect.poll(() => far.edge.replica.all().length).toBe(1)
  })
})

describe('authorization of an edge', () => {
  /** The result of an edge's first connection attempt. */
  async function attempt(key: string): Promise<{ projects: string[]; problem: unknown }> {
    const edge = await startEdge(s.url, key)
    const problem = await edge.edge.following.firstAttempt
    const projects = edge.edge.replica.all().map(({ project }) => project)
    await end(edge)
    return { projects, problem }
  }

  it('accepts a key of an admin, for their own organization only', async () => {
    const stranger = await s.stranger('mallory')
    const { projects } = await attempt(await edgeKey(stranger))
    const own = (await stranger.get(`${stranger.project}/`)).body
    expect(projects).toEqual([own.uuid])
  })

  it('rejects a key of a member, a key with another scope, and a missing key', async () => {
    const member = await s.join('member')
    const refused = { projects: [], problem: { kind: 'refused' } }
    expect(await attempt(await edgeKey(member))).toMatchObject(refused)
    expect(await attempt(await edgeKey(s, { scopes: ['feature_flag:write'] }))).toMatchObject(refused)
    expect(await attempt('phx_nosuchkeynosuchkeynosuchkey')).toMatchObject(refused)
  })

  it('stops updates when the key is revoked; the edge continues to serve its last state', async () => {
    const { body: created } = await s.post('/api/personal_api_keys/', { label: 'edge', scopes: ['edge:write'] })
    const edge = await startEdge(s.url, created.value)
    await edge.edge.following.firstAttempt
    await s.delete(`/api/personal_api_keys/${created.id}/`)
    await expect.poll(() => edge.edge.following.connection).toBe('refused')
    await s.post(`${s.project}/feature_flags/`, { key: 'after-revocation' })
    const result = await flagsAt(edge, { token: s.projectToken, distinct_id: 'x' })
    expect(result).toMatchObject({ flags: { first: { enabled: true } } })
    expect(result).not.toHaveProperty('flags.after-revocation')
    await end(edge)
  })

  it('batches of two tenants with the same id are recorded separately', async () => {
    const stranger = await s.stranger('peggy')
    const send = async (key: string, project: string) => {
      const event = { uuid: '01890000-0000-7000-8000-000000000002', event: '$set', distinct_id: 'of-both' }
      const events = [{ ...event, properties: { $set: { a: 1 } }, at: new Date().toISOString(), ip: null }]
      const { uuid } = (await s.as(key).get(`${project}/`)).body
      return s
        .as(await edgeKey(s.as(key)))
        .post('/api/edge/batches/', { batches: [{ id: 'same', project: uuid, events }] })
    }
    for (const { key, project } of [stranger, s]) {
      expect((await send(key, project)).body).toEqual({ received: 1, refused: [] })
      expect((await s.as(key).get(`${project}/persons/?distinct_id=of-both`)).body.results).toHaveLength(1)
    }
  })

  it('rejects events for a project that the key cannot access, and returns their batch ids', async () => {
    const stranger = await s.stranger('trudy')
    const { uuid } = (await s.get(`${s.project}/`)).body
    const event = { uuid: '01890000-0000-7000-8000-000000000001', event: 'x', distinct_id: 'y', properties: {} }
    const events = [{ ...event, at: new Date().toISOString(), ip: null }]
    const key = await edgeKey(stranger)
    const reply = await s.as(key).post('/api/edge/batches/', { batches: [{ id: 'foreign', project: uuid, events }] })
    expect(reply.body).toEqual({ received: 0, refused: ['foreign'] })
    const question = {
      distinct_id: 'ada',
      person_properties: true,
      groups: [],
      static_cohorts: [],
      continuity_flags: [],
    }
    expect((await s.as(key).post('/api/edge/subjects/', { project: uuid, ...question })).status).toBe(404)
  })
})
