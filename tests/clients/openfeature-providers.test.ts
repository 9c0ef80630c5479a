import { HalyardProvider } from '@halyard/openfeature-server'
import { evaluateFlags, HalyardWebProvider } from '@halyard/openfeature-web'
import { type EvaluationDetails, type FlagValue, OpenFeature, ProviderEvents } from '@openfeature/server-sdk'
import { OpenFeature as OpenFeatureWeb, ProviderStatus } from '@openfeature/web-sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'
import { type StreamProxy, startStreamProxy } from './stream-proxy.ts'

let s: Program
let proxy: StreamProxy
let secret: string
let flags: string
const ids: Record<string, number> = {}

beforeAll(async () => {
  s = await startProgram('sqlite')
  proxy = await startStreamProxy(s.url)
  flags = `${s.project}/feature_flags/`
  secret = (await s.post(`${s.project}/secret_keys/`, { label: 'provider' })).body.value
  const variants = [
    { key: 'red', rollout_percentage: 100 },
    { key: 'blue', rollout_percentage: 0 },
  ]
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  for (const flag of [
    { key: 'on' },
    { key: 'off', active: false },
    { key: 'none', filters: { groups: [{ rollout_percentage: 0 }], payloads: { true: '5' } } },
    { key: 'pro', filters: { groups: [{ properties: pro }] } },
    { key: 'color', filters: { groups: [{}], multivariate: { variants }, payloads: { red: '{"hex": "#f00"}' } } },
    { key: 'number', filters: { groups: [{}], payloads: { true: '0.5' } } },
    { key: 'text', filters: { groups: [{}], payloads: { true: '"hello"' } } },
    { key: 'limit', filters: { groups: [{}], return_type: 'number', payloads: { true: '25' } } },
    { key: 'list', filters: { groups: [{}], payloads: { true: '[1, 2]' } } },
  ]) {
    ids[flag.key] = (await s.post(flags, flag)).body.id
  }
})
afterEach(async () => {
  await OpenFeature.close()
  await OpenFeatureWeb.close()
  proxy.isDown = false
})
afterAll(async () => {
  await proxy.close()
  await s.close()
})

const context = { targetingKey: 'user-1', plan: 'pro' }

describe('the provider for servers', () => {
  const connect = async () => {
    const provider = new HalyardProvider(
      { url: proxy.url, key: secret, staleMilliseconds: 600_000 },
      { initializationTimeoutMilliseconds: 60_000 },
    )
    await OpenFeature.setProviderAndWait(provider)
    return { provider, client: OpenFeature.getClient() }
  }

  it('resolves each type with reason, variant and metadata', async () => {
    const { client } = await connect()
    expect(await client.getBooleanDetails('on', false, context)).toMatchObject({
      value: true,
      variant: 'on',
      reason: 'STATIC',
      flagMetadata: { flagSetId: String(s.projectId), flagId: ids.on, version: 1, contextId: 'user-1' },
    })
    expect(await client.getBooleanDetails('pro', false, context)).toMatchObject({
      value: true,
      reason: 'TARGETING_MATCH',
    })
    expect(await client.getStringDetails('color', 'x', context)).toMatchObject({ value: 'red', reason: 'SPLIT' })
    expect(await client.getObjectValue('color', {}, context)).toEqual({ hex: '#f00' })
    expect(await client.getNumberValue('number', 1, context)).toBe(0.5)
    expect(await client.getStringValue('text', 'x', context)).toBe('hello')
    expect(await client.getObjectValue('list', [], context)).toEqual([1, 2])
    expect(await client.getNumberValue('limit', 1, context)).toBe(25)
    expect((await client.getBooleanDetails('limit', false, context)).errorCode).toBe('TYPE_MISMATCH')
    expect(await client.getBooleanValue('list', false, context)).toBe(true)
  })

  it('passes signed overrides of a request on', async () => {
    const { client } = await connect()
    const { token } = (await s.post(`${s.project}/flag_overrides/`, { overrides: { off: true, color: 'blue' } })).body
    const overridden = { ...context, $halyard_overrides: token }
    expect(await client.getStringDetails('color', 'x', overridden)).toMatchObject({
      value: 'blue',
      reason: 'TARGETING_MATCH',
      flagMetadata: { reasonCode: 'override' },
    })
    expect(await client.getBooleanValue('off', false, overridden)).toBe(true)
    expect(await client.getStringValue('color', 'x', context)).toBe('red')
    expect(await client.getStringValue('color', 'x', { ...context, $halyard_overrides: 'forged' })).toBe('red')
    const snapshot = await evaluateFlags({ url: s.url, token: s.projectToken, context, overrides: token })
    expect(snapshot?.flags.find(({ key }) => key === 'color')).toMatchObject({ value: 'blue' })
  })

  it('uses the default in the code for flags without a value, and reports errors', async () => {
    const { client } = await connect()
    expect(await client.getBooleanDetails('off', true, context)).toMatchObject({ value: true, reason: 'DISABLED' })
    expect(await client.getNumberDetails('none', 7, context)).toMatchObject({ value: 7, reason: 'SPLIT' })
    const error = async (details: Promise<EvaluationDetails<FlagValue>>) => (await details).errorCode
    expect(await error(client.getBooleanDetails('unknown', true, context))).toBe('FLAG_NOT_FOUND')
    expect(await error(client.getBooleanDetails('on', true, {}))).toBe('TARGETING_KEY_MISSING')
    for (const details of [
      client.getStringDetails('on', 'x', context),
      client.getNumberDetails('on', 1, context),
      client.getNumberDetails('text', 1, context),
      client.getObjectDetails('number', {}, context),
      client.getBooleanDetails('color', true, context),
    ]) {
      expect(await error(details)).toBe('TYPE_MISMATCH')
    }
  })

  it('announces changes, runs hooks and sends tracked events', async () => {
    const { client, provider } = await connect()
    const changed: string[] = []
    client.addHandler(ProviderEvents.ConfigurationChanged, event => void changed.push(...(event?.flagsChanged ?? [])))
    await s.patch(`${flags}${ids.on}/`, { active: false })
    await expect.poll(async () => (await client.getBooleanDetails('on', true, context)).reason).toBe('DISABLED')
    await expect.poll(() => changed).toContain('on')
    await s.patch(`${flags}${ids.on}/`, { active: true })
    await expect.poll(() => client.getBooleanValue('on', false, context)).toBe(true)
    const { stages, hook } = recordingHook()
    await client.getBooleanValue('on', false, context, { hooks: [hook] })
    await client.getStringValue('on', 'x', context, { hooks: [hook] })
    expect(stages).toEqual(['before', 'after', 'finally', 'before', 'error', 'finally'])
    client.track('$set', { targetingKey: 'tracked' }, { value: 3 })
    await provider.client.flush()
    expect((await s.get(`${s.project}/persons/?search=tracked`)).body.count).toBe(1)
  })

  it('fails to initialize with a wrong key, and recovers when the server comes late', async () => {
    const patient = { initializationTimeoutMilliseconds: 60_000 }
    const refused = new HalyardProvider({ url: proxy.url, key: 'phs_wrong' }, patient)
    await expect(OpenFeature.setProviderAndWait(refused)).rejects.toThrow('The server does not accept the key.')
    expect(OpenFeature.getClient().providerStatus).toBe('FATAL')
    proxy.isDown = true
    const late = new HalyardProvider({ url: proxy.url, key: secret }, { initializationTimeoutMilliseconds: 50 })
    await expect(OpenFeature.setProviderAndWait(late)).rejects.toThrow('did not arrive in time')
    const client = OpenFeature.getClient()
    expect(await client.getBooleanValue('on', false, context)).toBe(false)
    proxy.isDown = false
    await expect.poll(() => client.providerStatus).toBe('READY')
    expect(await client.getBooleanValue('on', false, context)).toBe(true)
  })
})

describe('the provider for browsers', () => {
  const memory = () => {
    const entries = new Map<string, string>()
    return {
      getItem: (key: string) => entries.get(key) ?? null,
      setItem: (key: string, value: string) => void entries.set(key, value),
      removeItem: (key: string) => void entries.delete(key),
    }
  }

  it('resolves each type, and again after the context has changed', async () => {
    await OpenFeatureWeb.setContext(context)
    const provider = new HalyardWebProvider({ url: proxy.url, token: s.projectToken, storage: null })
    await OpenFeatureWeb.setProviderAndWait(provider)
    const client = OpenFeatureWeb.getClient()
    expect(client.getBooleanDetails('pro', false)).toMatchObject({ value: true, reason: 'TARGETING_MATCH' })
    expect(client.getStringDetails('color', 'x')).toMatchObject({ value: 'red', variant: 'red' })
    expect(client.getObjectValue('color', {})).toEqual({ hex: '#f00' })
    expect([client.getNumberValue('number', 1), client.getStringValue('text', 'x')]).toEqual([0.5, 'hello'])
    expect(client.getBooleanDetails('off', true)).toMatchObject({ value: true, reason: 'DISABLED' })
    expect(client.getBooleanDetails('unknown', true).errorCode).toBe('FLAG_NOT_FOUND')
    expect(client.getNumberDetails('text', 1).errorCode).toBe('TYPE_MISMATCH')
    await OpenFeatureWeb.setContext({ targetingKey: 'user-1', plan: 'free' })
    expect(client.getBooleanValue('pro', true)).toBe(false)
  })

  it('has metadata, runs hooks and sends tracked events', async () => {
    await OpenFeatureWeb.setContext({ targetingKey: 'tracked-in-browser' })
    await OpenFeatureWeb.setProviderAndWait(
      new HalyardWebProvider({ url: proxy.url, token: s.projectToken, storage: null }),
    )
    const client = OpenFeatureWeb.getClient()
    const { flagMetadata } = client.getBooleanDetails('off', false)
    const project = { flagSetId: String(s.projectId), contextId: 'tracked-in-browser' }
    expect(flagMetadata).toEqual({ ...project, flagId: ids.off, version: 1, reasonCode: 'flag_disabled' })
    const { stages, hook } = recordingHook()
    client.getBooleanValue('off', false, { hooks: [hook] })
    client.getStringValue('number', 'x', { hooks: [hook] })
    expect(stages).toEqual(['before', 'after', 'finally', 'before', 'error', 'finally'])
    client.track('$set', { value: 3 })
    const persons = async () => (await s.get(`${s.project}/persons/?search=tracked-in-browser`)).body.count
    await expect.poll(persons).toBe(1)
  })

  it('gets values again when the stream opens, because a change before that is announced by no event', async () => {
    const sources: { onopen?: () => void; close(): void }[] = []
    vi.stubGlobal(
      'EventSource',
      class {
        constructor() {
          sources.push(this)
        }
        close() {}
      },
    )
    await OpenFeatureWeb.setContext(context)
    const provider = new HalyardWebProvider({ url: proxy.url, token: s.projectToken, storage: null })
    await OpenFeatureWeb.setProviderAndWait(provider)
    vi.unstubAllGlobals()
    const client = OpenFeatureWeb.getClient()
    expect(client.getStringValue('text', 'x')).toBe('hello')
    const groups = [{ properties: [] }]
    await s.patch(`${flags}${ids.text}/`, { filters: { groups, payloads: { true: '"changed"' } } })
    for (const source of sources) source.onopen?.()
    await expect.poll(() => client.getStringValue('text', 'x')).toBe('changed')
    await s.patch(`${flags}${ids.text}/`, { filters: { groups, payloads: { true: '"hello"' } } })
  })

  it('opens the stream again after an error response, which browsers do not', async () => {
    const sources: { onerror?: () => void; readyState: number; close(): void }[] = []
    class Source {
      static readonly CLOSED = 2
      readyState = 1
      onerror?: () => void
      constructor() {
        sources.push(this)
      }
      close() {}
    }
    vi.stubGlobal('EventSource', Source)
    await OpenFeatureWeb.setContext(context)
    const provider = new HalyardWebProvider({ url: proxy.url, token: s.projectToken, storage: null })
    await OpenFeatureWeb.setProviderAndWait(provider)
    expect(sources).toHaveLength(1)
    // Connecting again, which the browser does.
    sources[0]!.readyState = 0
    sources[0]!.onerror?.()
    sources[0]!.readyState = Source.CLOSED
    sources[0]!.onerror?.()
    await expect.poll(() => sources.length).toBe(2)
    vi.unstubAllGlobals()
    await provider.onClose()
  })

  it('starts with the values of the last visit while the server is down, for the same context only', async () => {
    const storage = memory()
    await OpenFeatureWeb.setContext(context)
    const options = { url: proxy.url, token: s.projectToken, storage }
    await OpenFeatureWeb.setProviderAndWait(new HalyardWebProvider(options))
    proxy.isDown = true
    await OpenFeatureWeb.setProviderAndWait(new HalyardWebProvider(options))
    const client = OpenFeatureWeb.getClient()
    expect(client.getBooleanDetails('pro', false)).toMatchObject({ value: true, reason: 'CACHED' })
    await expect.poll(() => client.providerStatus).toBe(ProviderStatus.STALE)
    await OpenFeatureWeb.setContext({ targetingKey: 'another', plan: 'pro' })
    expect(client.getBooleanDetails('pro', false).errorCode).toBeDefined()
  })

  it('starts with values that a server has evaluated, without a request', async () => {
    const initial = (await evaluateFlags({ url: proxy.url, token: s.projectToken, context }))!
    proxy.isDown = true
    await OpenFeatureWeb.setContext(context)
    const serialized = JSON.parse(JSON.stringify(initial))
    const provider = new HalyardWebProvider({
      url: proxy.url,
      token: s.projectToken,
      initial: serialized,
      storage: null,
    })
    await OpenFeatureWeb.setProviderAndWait(provider)
    expect(OpenFeatureWeb.getClient().getBooleanDetails('pro', false)).toMatchObject({
      value: true,
      reason: 'TARGETING_MATCH',
    })
  })
})

/** A hook that records the stages in which it is called. */
function recordingHook() {
  const stages: string[] = []
  const hook = {
    before: () => void stages.push('before'),
    after: () => void stages.push('after'),
    error: () => void stages.push('error'),
    finally: () => void stages.push('finally'),
  }
  return { stages, hook }
}
