import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { paths } from '../../packages/server/src/testing/paths.ts'
import { type Program, startProgram } from '../program/start-program.ts'

/** The common API of all versions of the library. */
interface Library {
  getFeatureFlag(key: string, id: string, options?: object): Promise<boolean | string | undefined>
  getFeatureFlagPayload(key: string, id: string, value?: unknown, options?: object): Promise<unknown>
  isFeatureEnabled(key: string, id: string, options?: object): Promise<boolean | undefined>
  getAllFlags(id: string, options?: object): Promise<Record<string, boolean | string>>
  getRemoteConfigPayload?(key: string): Promise<unknown>
  reloadFeatureFlags(): Promise<void>
  capture(event: object): void
  on?(event: string, listener: (problem: unknown) => void): void
  shutdown(): Promise<void> | void
  shutdownAsync?(): Promise<void>
}
type LibraryClass = new (token: string, options: object) => Library

const packages = [
  'posthog-node-2',
  'posthog-node-3',
  'posthog-node-4-11',
  'posthog-node-4-18',
  'posthog-node-5-1',
  'posthog-node-5-28',
  'posthog-node',
]
const require = createRequire(import.meta.url)

const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
const variants = [
  { key: 'control', rollout_percentage: 50 },
  { key: 'test', rollout_percentage: 50 },
]
const flags = [
  { key: 'on', filters: { groups: [{ properties: [] }], payloads: { true: '{"color":"red"}' } } },
  { key: 'off', active: false },
  { key: 'pro', filters: { groups: [{ properties: pro }] } },
  { key: 'half', filters: { groups: [{ properties: [], rollout_percentage: 50 }] } },
  {
    key: 'experiment',
    filters: {
      groups: [{ properties: [] }],
      multivariate: { variants },
      payloads: { test: '{"n":1}', control: '{"n":2}' },
    },
  },
]

describe.each(Object.entries(paths))('on the %s', (_path, environment) => {
  let program: Program
  beforeAll(async () => {
    program = await startProgram('sqlite', environment)
  })
  afterAll(() => program.close())

  describe.each(packages)('unmodified %s', name => use(name, () => program))
})

/** Each version has a project of its own. */
function use(name: string, program: () => Program): void {
  let s: Program
  let project: string
  let token: string
  const opened: Library[] = []
  beforeAll(async () => {
    s = program()
    const { status, body } = await s.post(`${s.organization}/projects/`, { name })
    expect(status).toBe(201)
    project = `/api/projects/${body.id}`
    token = body.api_token
    for (const flag of flags) expect((await s.post(`${project}/feature_flags/`, flag)).status).toBe(201)
  })
  afterAll(async () => {
    for (const library of opened) await (library.shutdownAsync?.() ?? library.shutdown())
  })

  const { PostHog } = require(name) as { PostHog: LibraryClass }
  const problems: unknown[] = []
  function open(options: object = {}): Library {
    const library = new PostHog(token, { host: s.url, flushAt: 1, flushInterval: 0, ...options })
    library.on?.('error', problem => problems.push(problem))
    opened.push(library)
    return library
  }
  // Version 3 hashes non-ASCII characters differently in local evaluation.
  const people = ['u1', 'u2', 'u3', 'a@example.com', ...(name === 'posthog-node-3' ? [] : ['ü'])]
  const raw = async (distinct_id: string, plan: string) => {
    const body = { token: token, distinct_id, person_properties: { plan }, evaluation_runtime: 'server' }
    const { flags: details } = (await s.as(undefined).post('/flags/?v=2', body)).body
    return Object.fromEntries(
      Object.entries(details as Record<string, { enabled: boolean; variant: string | null }>).map(([key, detail]) => [
        key,
        detail.variant ?? detail.enabled,
      ]),
    )
  }

  it('reads the responses of /flags/ and /decide/', async () => {
    const library = open()
    for (const id of people) {
      const personProperties = { plan: 'pro' }
      const expected = await raw(id, 'pro')
      expect(await library.getAllFlags(id, { personProperties })).toEqual(expected)
      expect(await library.getFeatureFlag('half', id)).toBe(expected.half)
      expect(await library.getFeatureFlag('experiment', id)).toBe(expected.experiment)
      expect(await library.getFeatureFlagPayload('experiment', id)).toEqual({
        n: expected.experiment === 'test' ? 1 : 2,
      })
    }
    expect(await library.isFeatureEnabled('pro', 'u1', { personProperties: { plan: 'free' } })).toBe(false)
    expect(await library.getFeatureFlagPayload('on', 'u1')).toEqual({ color: 'red' })
    expect(problems).toEqual([])
  })

  it('evaluates locally with the same results as /flags/, and follows changes', async () => {
    // A poll that comes while a response is awaited is the library's last one, so it must not come soon.
    const library = open({ personalApiKey: s.key, featureFlagsPollingInterval: 1000 })
    await library.reloadFeatureFlags()
    const local = { onlyEvaluateLocally: true, sendFeatureFlagEvents: false }
    for (const id of people) {
      const expected = await raw(id, 'pro')
      for (const key of ['on', 'half', 'experiment', 'pro']) {
        const value = await library.getFeatureFlag(key, id, { ...local, personProperties: { plan: 'pro' } })
        expect([id, key, value]).toEqual([id, key, expected[key]])
      }
      expect(await library.getFeatureFlag('off', id, local)).toBe(false)
    }
    const { results } = (await s.get(`${project}/feature_flags/?search=half`)).body
    await s.patch(`${project}/feature_flags/${results[0].id}/`, { filters: { groups: [{ rollout_percentage: 0 }] } })
    await expect.poll(() => library.getFeatureFlag('half', 'u1', local), { timeout: 20_000 }).toBe(false)
    await s.patch(`${project}/feature_flags/${results[0].id}/`, { filters: flags[3]!.filters })
    expect(problems).toEqual([])
  })

  it('asks the server about cohorts of what people did', async () => {
    const paid = { type: 'behavioral', key: 'paid', value: 'performed_event', time_value: 7, time_interval: 'day' }
    const filters = { properties: { type: 'AND', values: [paid] } }
    const { body: cohort } = await s.post(`${project}/cohorts/`, { name: 'Payers', filters })
    const groups = [{ properties: [{ key: 'id', type: 'cohort', operator: 'in', value: cohort.id }] }]
    expect((await s.post(`${project}/feature_flags/`, { key: 'payer', filters: { groups } })).status).toBe(201)
    const library = open({ personalApiKey: s.key, featureFlagsPollingInterval: 1000 })
    await library.reloadFeatureFlags()
    const quietly = { sendFeatureFlagEvents: false }
    expect(await library.getFeatureFlag('payer', 'payer-1', { ...quietly, onlyEvaluateLocally: true })).toBeUndefined()
    expect(await library.getFeatureFlag('payer', 'payer-1', quietly)).toBe(false)
    const event = { api_key: token, event: 'paid', distinct_id: 'payer-1', properties: {} }
    expect((await s.as(undefined).post('/capture/', event)).status).toBe(200)
    expect(await library.getFeatureFlag('payer', 'payer-1', quietly)).toBe(true)
    expect(problems).toEqual([])
  })

  it('delivers its events', async () => {
    const library = open()
    library.capture({ distinctId: `${name}-person`, event: '$set', properties: { $set: { plan: 'pro' } } })
    await (library.shutdownAsync?.() ?? library.shutdown())
    opened.splice(opened.indexOf(library), 1)
    const stored = async () => {
      const body = { token: token, distinct_id: `${name}-person` }
      return (await s.as(undefined).post('/flags/?v=2', body)).body.flags.pro.enabled
    }
    await expect.poll(stored, { timeout: 20_000 }).toBe(true)
  })

  it.each(name === 'posthog-node' ? ['on'] : [])('reads the remote configuration of %s', async key => {
    const library = open({ personalApiKey: s.key })
    expect(await library.getRemoteConfigPayload?.(key)).toEqual({ color: 'red' })
  })
}
