import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OpenFeature } from '@openfeature/server-sdk'
import { PostHog } from 'posthog-node'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import {
  edgeKey,
  flagsAt,
  type RunningEdge,
  removeEdgeFolder,
  startEdge,
} from '../../packages/server/src/testing/edges.ts'
import { openStream } from '../../packages/server/src/testing/event-source.ts'
import { type Program, startProgram } from '../program/start-program.ts'

const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
const variants = [
  { key: 'control', rollout_percentage: 50 },
  { key: 'test', rollout_percentage: 50 },
]

onEachDatabase('an edge', dialect => {
  let s: Program
  let edge: RunningEdge
  let flags: string
  let secret: string
  beforeAll(async () => {
    s = await startProgram(dialect)
    flags = `${s.project}/feature_flags/`
    const payloads = { true: '{"color":"red"}' }
    await s.post(flags, { key: 'on', filters: { groups: [{ properties: [] }], payloads } })
    await s.post(flags, { key: 'half', filters: { groups: [{ properties: [], rollout_percentage: 50 }] } })
    await s.post(flags, { key: 'pro', name: 'For professionals', filters: { groups: [{ properties: pro }] } })
    await s.post(flags, { key: 'off', active: false })
    await s.post(flags, { key: 'experiment', filters: { groups: [{ properties: [] }], multivariate: { variants } } })
    secret = (await s.post(`${s.project}/secret_keys/`, { label: 'server' })).body.value
    edge = await startEdge(s.url, await edgeKey(s))
    expect(await edge.edge.following.firstAttempt).toBeUndefined()
  })
  afterAll(async () => {
    await edge.close()
    await removeEdgeFolder(edge.folder)
    await s.close()
  })

  const asking = (distinct_id: string, more: object = {}) => ({ token: s.projectToken, distinct_id, ...more })
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

  it('evaluates like its upstream', async () => {
    for (let n = 0; n < 20; n++) {
      const body = asking(`user ${n}`, { person_properties: { plan: n % 2 ? 'pro' : 'free' } })
      const result = await flagsAt(edge, body)
      expect(result).toEqual(await flagsAt(s, body))
      expect(result).toMatchObject({ flags: { on: { enabled: true } }, errorsWhileComputingFlags: false })
    }
    expect(await flagsAt(edge, { token: 'phc_unknown', distinct_id: 'x' })).toEqual({ status: 401 })
  })

  it('returns byte-identical responses on every path', async () => {
    const body = asking('user', { person_properties: { plan: 'pro' } })
    const withoutTime = (text: string) =>
      text.replace(/"requestId":"[^"]*"/, '"requestId":""').replace(/"evaluatedAt":\d+/, '"evaluatedAt":0')
    for (const path of [
      '/flags/?v=2',
      '/flags/?v=1',
      '/flags/',
      '/flags/?v=2&config=true',
      '/decide/?v=3',
      '/decide/',
    ]) {
      const [here, there] = await Promise.all([edge.post(path, body), s.as(undefined).post(path, body)])
      expect(here.status, path).toBe(200)
      expect(withoutTime(here.text), path).toBe(withoutTime(there.text))
    }
    const definitions = '/flags/definitions'
    const token = s.projectToken
    for (const [path, key] of [
      [`${definitions}?token=${token}&send_cohorts`, s.key],
      [`${definitions}?token=${token}`, secret],
      [definitions, s.key],
      [`/api/feature_flag/local_evaluation?token=${token}`, s.key],
      [`${s.project}/feature_flags/on/remote_config?token=${token}`, s.key],
      [`/array/${token}/config`, undefined],
      [`/array/${token}/config.js`, undefined],
      [`${definitions}?token=${token}`, undefined],
      [`${definitions}?token=${token}`, 'phs_nosuchkey'],
      [`${definitions}?token=${token}`, token],
    ] as const) {
      const headers = key ? bearer(key) : {}
      const [here, there] = await Promise.all([edge.get(path, headers), s.as(undefined).get(path, headers)])
      expect([here.status, here.text, here.headers.get('etag')], path).toEqual([
        there.status,
        there.text,
        there.headers.get('etag'),
      ])
    }
    const first = await edge.get(`${definitions}?token=${token}`, bearer(secret))
    const again = { ...bearer(secret), 'if-none-match': first.headers.get('etag')! }
    expect((await edge.get(`${definitions}?token=${token}`, again)).status).toBe(304)
  })

  it('supports OFREP and the unmodified OpenFeature provider', async () => {
    const context = { context: { targetingKey: 'u', plan: 'pro' } }
    const [here, there] = await Promise.all(
      [edge, s.as(undefined)].map(at => at.post('/ofrep/v1/evaluate/flags', context, bearer(s.projectToken))),
    )
    expect([here!.text, here!.headers.get('etag')]).toEqual([there!.text, there!.headers.get('etag')])
    const headers: [string, string][] = [['Authorization', `Bearer ${secret}`]]
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: edge.url, headers }))
    expect(await OpenFeature.getClient().getBooleanValue('pro', false, { targetingKey: 'u', plan: 'pro' })).toBe(true)
    await OpenFeature.close()
  })

  it('applies changes of its upstream and pushes them to its own streams', async () => {
    const stream = await openStream(`${edge.url}${s.project}/feature_flags/stream`, bearer(secret))
    expect(await stream.next()).toMatchObject({ event: 'state' })
    const { body: flag } = await s.post(flags, { key: 'fresh' })
    expect(await stream.next()).toMatchObject({ event: 'change', data: { flags: [{ key: 'fresh', active: true }] } })
    expect(await flagsAt(edge, asking('a'))).toMatchObject({ flags: { fresh: { enabled: true } } })
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    expect(await stream.next()).toMatchObject({ event: 'change', data: { removed: [flag.id] } })
    expect(await flagsAt(edge, asking('a'))).not.toHaveProperty('flags.fresh')
    stream.close()
  })

  it('authenticates keys like its upstream, and applies changes to them', async () => {
    const path = `/flags/definitions?token=${s.projectToken}`
    const statusWith = async (key: string) => (await edge.get(path, bearer(key))).status
    const { body: own } = await s.post('/api/personal_api_keys/', { label: 'reader', scopes: ['feature_flag:read'] })
    const { body: other } = await s.post('/api/personal_api_keys/', { label: 'other', scopes: ['cohort:read'] })
    const { body: fresh } = await s.post(`${s.project}/secret_keys/`, { label: 'fresh' })
    await expect.poll(() => statusWith(own.value)).toBe(200)
    await expect.poll(() => statusWith(fresh.value)).toBe(200)
    // Keys without a relevant scope are not replicated.
    expect(await statusWith(other.value)).toBe(401)
    await s.delete(`/api/personal_api_keys/${own.id}/`)
    await s.delete(`${s.project}/secret_keys/${fresh.id}/`)
    await expect.poll(() => statusWith(own.value)).toBe(401)
    await expect.poll(() => statusWith(fresh.value)).toBe(401)
  })

  it('looks up stored persons, groups and cohorts at its upstream', async () => {
    const send = (event: object) => s.as(undefined).post('/capture/', { api_key: s.projectToken, ...event })
    await send({ event: '$identify', distinct_id: 'ada', properties: { $set: { plan: 'pro' } } })
    await send({
      event: '$groupidentify',
      distinct_id: 'ada',
      properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 12 } },
    })
    const large = [{ key: 'size', type: 'group', group_type_index: 0, operator: 'gt', value: 10 }]
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'Friends', is_static: true })
    const people = (await s.get(`${s.project}/persons/?distinct_id=ada`)).body.results
    await s.patch(`${s.project}/cohorts/${cohort.id}/add_persons_to_static_cohort/`, { person_ids: [people[0].uuid] })
    const member = [{ key: 'id', type: 'cohort', operator: 'in', value: cohort.id }]
    const paid = { type: 'behavioral', key: 'paid', value: 'performed_event', time_value: 7, time_interval: 'day' }
    const did = { name: 'Paid', filters: { properties: { type: 'AND', values: [paid] } } }
    const { body: payers } = await s.post(`${s.project}/cohorts/`, did)
    const payer = [{ key: 'id', type: 'cohort', operator: 'in', value: payers.id }]
    await s.post(flags, { key: 'payer', filters: { groups: [{ properties: payer }] } })
    await send({ event: 'paid', distinct_id: 'ada', properties: {} })
    await s.post(flags, { key: 'friends', filters: { groups: [{ properties: member }] } })
    const company = { aggregation_group_type_index: 0, groups: [{ properties: large }] }
    await s.post(flags, { key: 'large', filters: company })
    const body = asking('ada', { groups: { company: 'acme' } })
    await expect
      .poll(() => flagsAt(edge, body))
      .toMatchObject({
        errorsWhileComputingFlags: false,
        flags: {
          pro: { enabled: true },
          friends: { enabled: true },
          large: { enabled: true },
          payer: { enabled: true },
        },
      })
    expect(await flagsAt(edge, body)).toEqual(await flagsAt(s, body))
    expect(await flagsAt(edge, asking('unknown'))).toEqual(await flagsAt(s, asking('unknown')))
  })

  it('serves the unmodified posthog-node with local and remote evaluation, and forwards its events', async () => {
    const problems: unknown[] = []
    const open = (options: object) => {
      const client = new PostHog(s.projectToken, { host: edge.url, flushAt: 1, flushInterval: 0, ...options })
      client.on('error', problem => problems.push(problem))
      return client
    }
    const remote = open({})
    const local = open({ personalApiKey: s.key })
    await local.reloadFeatureFlags()
    for (const distinctId of ['u1', 'u2', 'u3', 'u4']) {
      const options = { personProperties: { plan: 'pro' }, sendFeatureFlagEvents: false }
      const expected = (await flagsAt(s, asking(distinctId, { person_properties: { plan: 'pro' } }))) as {
        flags: Record<string, { enabled: boolean; variant: string | null }>
      }
      for (const key of ['half', 'pro', 'experiment']) {
        const { enabled, variant } = expected.flags[key]!
        expect(await remote.getFeatureFlag(key, distinctId, options)).toBe(variant ?? enabled)
        expect(await local.getFeatureFlag(key, distinctId, { ...options, onlyEvaluateLocally: true })).toBe(
          variant ?? enabled,
        )
      }
    }
    remote.capture({ distinctId: 'grace', event: 'arrived', properties: { $set: { name: 'Grace' } } })
    await Promise.all([remote.shutdown(), local.shutdown()])
    expect(problems).toEqual([])
    await expect
      .poll(async () => (await s.get(`${s.project}/persons/?distinct_id=grace`)).body.results)
      .toMatchObject([{ properties: { name: 'Grace' } }])
  })

  it('serves health checks and metrics', async () => {
    expect((await edge.get('/_livez')).status).toBe(200)
    const ready = await edge.get('/_readyz')
    expect(ready.status).toBe(200)
    expect(ready.body).toMatchObject({ status: 'ready', evaluation: 'ok', state: 'ok', upstream: 'following' })
    const { text } = await edge.get('/metrics')
    expect(text).toMatch(/halyard_edge_connection\{state="following"\} 1/)
    expect(text).toMatch(/halyard_edge_projects 1\n/)
    expect(text).toMatch(/halyard_edge_state_age_seconds \d/)
    expect((await s.get('/metrics')).text).toMatch(/halyard_edges_following 1\n/)
  })

  it('serves neither the web app nor management, and stores no secrets', async () => {
    expect((await edge.get('/api/projects/', bearer(s.key))).status).toBe(404)
    expect((await edge.get(`${s.project}/feature_flags/`, bearer(s.key))).status).toBe(404)
    const stored = edge.edge.replica.all().flatMap(({ documents }) => [...documents.values()].map(({ json }) => json))
    const all = stored.join('\n')
    for (const hidden of [s.key, secret, '@', 'password']) expect(all).not.toContain(hidden)
  })
})
