import { request } from 'node:http'
import { allRoutes, edgeBatchEventsMax, edgeBatchesMax } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { edgeKey } from '../../packages/server/src/testing/edges.ts'
import type { Client, Scenario } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

const eventOf = (name: string) => ({
  uuid: '01890000-0000-7000-8000-000000000001',
  event: name,
  distinct_id: 'ada',
  properties: {},
  at: '2026-01-01T00:00:00Z',
  ip: null,
})

onEachDatabase('a hostile edge', dialect => {
  const s = suiteScenario(dialect, { environment: { HALYARD_BODY_BYTES_MAX: '2000000' } })
  let stranger: Awaited<ReturnType<Scenario['stranger']>>
  let strangersEdge: Client
  let own: { readonly uuid: string; readonly apiToken: string }
  let foreign: { readonly uuid: string; readonly apiToken: string }
  beforeAll(async () => {
    stranger = await s.stranger('mallory')
    strangersEdge = s.as(await edgeKey(stranger))
    await s.post(`${s.project}/feature_flags/`, { key: 'victims-flag' })
    await stranger.post(`${stranger.project}/feature_flags/`, { key: 'own-flag' })
    const projectAt = (path: string) =>
      s.halyard.database.read(async tx => (await tx.projects.find(Number(path.split('/').at(-1))))!)
    own = await projectAt(stranger.project)
    foreign = await projectAt(s.project)
  }, 60_000)

  /** Everything that the stream sends until the edge is current and leaves, or the server ends it. */
  function follow(
    client: Client,
    body: object = {},
    onCurrent: (leave: () => void) => unknown = leave => leave(),
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const asking = request(`${s.url}/api/edge/stream/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.key}`, 'content-type': 'application/json' },
      })
      asking.on('error', reject)
      asking.on('response', response => {
        let text = ''
        let isCurrent = false
        const done = () => resolve({ status: response.statusCode!, text })
        response.setEncoding('utf8')
        response.on('data', chunk => {
          text += chunk
          if (isCurrent || !text.includes('event: current')) return
          isCurrent = true
          onCurrent(() => {
            done()
            asking.destroy()
          })
        })
        response.on('end', done)
        response.on('error', () => {})
      })
      asking.end(JSON.stringify(body))
    })
  }

  const personsOf = async (client: Client & { project: string }) =>
    (await client.get(`${client.project}/persons/`)).body.results.length

  it('receives nothing of projects that its key has no access to, whatever it claims to have', async () => {
    for (const body of [{}, { have: { [foreign.uuid]: '1-x', [own.uuid]: '' } }, { have: { 'no-uuid': 'x' } }]) {
      const { status, text } = await follow(strangersEdge, body)
      expect(status).toBe(200)
      expect(text).toContain('own-flag')
      for (const hidden of ['victims-flag', foreign.apiToken, s.projectToken]) expect(text).not.toContain(hidden)
    }
    const { body: other } = await stranger.post('/api/projects/', { name: 'Other' })
    const narrow = s.as(await edgeKey(stranger, { scoped_teams: [other.id] }))
    expect((await follow(narrow)).text).not.toContain('own-flag')
  })

  it('needs the scope and an admin, and loses its stream with its key', async () => {
    const withoutScope = await stranger.post('/api/personal_api_keys/', {
      label: 'none',
      scopes: ['feature_flag:write'],
    })
    expect((await follow(s.as(withoutScope.body.value))).status).toBe(403)
    const member = await s.join(`member-${dialect}`)
    expect((await follow(s.as(await edgeKey(member)))).status).toBe(403)
    expect((await follow(s.as('phx_nosuchkeynosuchkeynosuchkey'))).status).toBe(401)
    expect((await follow(s.as(s.projectToken))).status).toBe(401)
    const { body: revoked } = await stranger.post('/api/personal_api_keys/', { label: 'edge', scopes: ['edge:read'] })
    const revoke = () => stranger.delete(`/api/personal_api_keys/${revoked.id}/`)
    // The server ends the stream: this resolves although the edge never leaves.
    expect((await follow(s.as(revoked.value), {}, revoke)).text).toContain('own-flag')
  })

  it('can use its key for nothing but edges', async () => {
    const within = (path: string) =>
      path
        .replace(':project_id', String(own && stranger.project.split('/').at(-1)))
        .replace(':parent_lookup_organization_id', stranger.organization.split('/').at(-1)!)
        .replace(/:\w+/g, '1')
    let tried = 0
    for (const route of allRoutes) {
      if (route.access.kind !== 'key' || route.access.scopes.length === 0 || route.path.startsWith('/api/edge/'))
        continue
      const reply = await strangersEdge.send(`${within(route.path)}/`, {
        method: route.method,
        ...(route.method !== 'GET' && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ key: 'taken', name: 'taken', active: false }),
        }),
      })
      tried += 1
      expect([403, 404, 405], `${route.method} ${route.path} returned ${reply.status}`).toContain(reply.status)
    }
    expect(tried).toBeGreaterThan(100)
    expect((await stranger.get(`${stranger.project}/feature_flags/?search=taken`)).body.count).toBe(0)
  }, 60_000)

  it('stores no event in, and looks up no person of, a project of others', async () => {
    const before = await personsOf(s)
    const events = [{ ...eventOf('$identify'), properties: { $set: { planted: true } } }]
    const sent = await strangersEdge.post('/api/edge/batches/', {
      batches: [
        { id: 'foreign', project: foreign.uuid, events },
        { id: 'unknown', project: '01890000-0000-7000-8000-00000000ffff', events },
        { id: 'none', events },
        { id: 'own', project: own.uuid, events },
      ],
    })
    expect(sent.body).toEqual({ received: 1, refused: ['foreign', 'unknown', 'none'] })
    expect(await personsOf(s)).toBe(before)
    await expect.poll(() => personsOf(stranger)).toBe(1)
    const question = {
      distinct_id: 'ada',
      person_properties: true,
      groups: [],
      static_cohorts: [],
      continuity_flags: [],
    }
    const ask = (project: string) => strangersEdge.post('/api/edge/subjects/', { project, ...question })
    expect((await ask(own.uuid)).body.person_properties).toMatchObject({ planted: true })
    const [hidden, unknown] = [await ask(foreign.uuid), await ask('01890000-0000-7000-8000-00000000ffff')]
    expect([hidden.status, hidden.body]).toEqual([404, unknown.body])
    // A batch id that the victim's own edge uses later is not taken by the stranger's batch of the same id.
    const victims = s.as(await edgeKey(s))
    const reused = { id: 'own', project: foreign.uuid, events: [{ ...events[0]!, distinct_id: 'victim' }] }
    expect((await victims.post('/api/edge/batches/', { batches: [reused] })).body).toEqual({ received: 1, refused: [] })
    await expect.poll(() => personsOf(s)).toBe(before + 1)
  })

  it('is refused with 4xx when it sends too much or something else, and nothing is stored', async () => {
    const before = await personsOf(stranger)
    const batch = (fields: object) => ({ batches: [{ id: 'b', project: own.uuid, events: [eventOf('x')], ...fields }] })
    const bodies: readonly (readonly [string, number, unknown])[] = [
      ['no object', 400, 5],
      ['no batches', 400, {}],
      ['too many batches', 400, { batches: Array(edgeBatchesMax + 1).fill({ id: 'b' }) }],
      ['too many events', 400, batch({ events: Array(edgeBatchEventsMax + 1).fill(eventOf('x')) })],
      ['an id with other characters', 400, batch({ id: '../../x' })],
      ['an id that is too long', 400, batch({ id: 'x'.repeat(101) })],
      ['another project', 400, batch({ project: '../1' })],
      ['an event name that is too long', 400, batch({ events: [eventOf('x'.repeat(201))] })],
      ['a person that is too long', 400, batch({ events: [{ ...eventOf('x'), distinct_id: 'x'.repeat(1001) }] })],
      ['properties that are no object', 400, batch({ events: [{ ...eventOf('x'), properties: [] }] })],
      ['negative counts', 400, { batches: [{ id: 'b', evaluations: { requests: -1, flags: 0 } }] }],
      [
        'a body that is too large',
        413,
        batch({ events: [{ ...eventOf('x'), properties: { a: 'x'.repeat(2_000_001) } }] }),
      ],
    ]
    for (const [what, status, body] of bodies) {
      const reply = await strangersEdge.post('/api/edge/batches/', body)
      expect([reply.status, typeof reply.body.detail], `${what}: ${reply.text}`).toEqual([status, 'string'])
    }
    const malformed = await strangersEdge.send('/api/edge/batches/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"batches":[{',
    })
    expect(malformed.status).toBe(400)
    const have = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`project-${n}`, 'x'.repeat(60)]))
    expect([400, 413]).toContain((await follow(strangersEdge, { have })).status)
    expect(await personsOf(stranger)).toBe(before)
  })
})
