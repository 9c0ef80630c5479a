import { createClient } from '@halyard/client'
import { HalyardProvider, ShadowProvider } from '@halyard/openfeature-server'
import { InMemoryProvider, OpenFeature } from '@openfeature/server-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Program, startProgram } from '../program/start-program.ts'
import { startStreamProxy } from './stream-proxy.ts'

onEachDatabase('shadow mode', dialect => {
  let s: Program
  let secret: string
  const ids: Record<string, number> = {}
  beforeAll(async () => {
    s = await startProgram(dialect)
    secret = (await s.post(`${s.project}/secret_keys/`, { label: 'shadow' })).body.value
    const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
    for (const flag of [{ key: 'same' }, { key: 'other', filters: { groups: [{ properties: pro }] } }]) {
      ids[flag.key] = (await s.post(`${s.project}/feature_flags/`, flag)).body.id
    }
  })
  afterAll(() => s.close())

  const shadowOf = async (key: string) => (await s.get(`${s.project}/feature_flags/${ids[key]}/shadow/`)).body
  const report = (body: object, key = secret) => s.as(key).post('/api/shadow_reports/', body)

  it('returns the value of the provider in use and counts where Halyard differs', async () => {
    const on = { variants: { on: true, off: false }, defaultVariant: 'on', disabled: false }
    const errors: Error[] = []
    const provider = new ShadowProvider({
      current: new InMemoryProvider({ same: on, other: on, unknown: on }),
      candidate: new HalyardProvider({ url: s.url, key: secret }, { initializationTimeoutMilliseconds: 60_000 }),
      report: { url: s.url, key: secret, intervalMilliseconds: 600_000, onError: error => errors.push(error) },
    })
    await OpenFeature.setProviderAndWait('shadow', provider)
    const client = OpenFeature.getClient('shadow')
    // The candidate becomes ready in the background; until then nothing is compared.
    await expect
      .poll(
        async () => {
          await client.getBooleanValue('same', false, { targetingKey: 'early' })
          await provider.reporter.flush()
          return (await shadowOf('same')).agree
        },
        { timeout: 60_000 },
      )
      .toBeGreaterThan(0)
    const before = await shadowOf('same')
    for (let index = 0; index < 20; index++) {
      const context = { targetingKey: `user-${index}`, plan: index < 15 ? 'pro' : 'free' }
      expect(await client.getBooleanValue('same', false, context)).toBe(true)
      expect(await client.getBooleanValue('other', false, context)).toBe(true)
      expect(await client.getBooleanValue('unknown', false, context)).toBe(true)
    }
    await OpenFeature.clearProviders()
    await provider.onClose()
    expect(errors).toEqual([])
    expect(await shadowOf('same')).toMatchObject({ agree: before.agree + 20, differ: 0, last_difference: null })
    expect(await shadowOf('other')).toMatchObject({
      agree: 15,
      differ: 5,
      since: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      last_difference: { there: true, here: false, distinct_id: expect.stringMatching(/^user-1[5-9]$/) },
    })
    const metrics = await (await fetch(`${s.url}/metrics`)).text()
    expect(metrics).toContain('halyard_shadow_evaluations_total{result="differ"} 5')
  })

  it('counts a burst of evaluations that need the server, and failures apart from differences', {
    timeout: 240_000,
  }, async () => {
    const key = 'burst'
    const plan = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
    ids[key] = (
      await s.post(`${s.project}/feature_flags/`, { key, filters: { groups: [{ properties: plan }] } })
    ).body.id
    const people = Array.from({ length: 600 }, (_, n) => `burst-${n}`)
    const batch = people.map((distinct_id, n) => ({
      event: '$set',
      distinct_id,
      properties: { $set: { plan: n % 20 === 0 ? 'free' : 'pro' } },
    }))
    await s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
    const proxy = await startStreamProxy(s.url)
    const on = { variants: { on: true, off: false }, defaultVariant: 'on', disabled: false }
    const errors: Error[] = []
    const halyard = createClient({
      url: proxy.url,
      key: secret,
      exposures: false,
      requestTimeoutMilliseconds: 120_000,
      onError: error => errors.push(error),
    })
    await expect.poll(() => halyard.status).toBe('ready')
    const provider = new ShadowProvider({
      current: new InMemoryProvider({ [key]: on }),
      candidate: new HalyardProvider(halyard),
      report: { url: s.url, key: secret, intervalMilliseconds: 600_000 },
    })
    await OpenFeature.setProviderAndWait('burst', provider)
    const client = OpenFeature.getClient('burst')
    const evaluateAll = (names: readonly string[]) =>
      Promise.all(names.map(targetingKey => client.getBooleanValue(key, false, { targetingKey })))
    expect(new Set(await evaluateAll(people))).toEqual(new Set([true]))
    const { reporter } = provider
    await expect
      .poll(
        async () => {
          await reporter.flush()
          const { agree, differ, failed } = await shadowOf(key)
          return agree + differ + failed
        },
        { timeout: 120_000 },
      )
      .toBe(600)
    // On a busy machine the server can fail to read a person in time.
    const before = await shadowOf(key)
    expect(errors.length).toBeGreaterThanOrEqual(before.failed)
    expect(before.differ).toBeLessThanOrEqual(30)
    proxy.isDown = true
    await evaluateAll(people.map(name => `${name}-later`))
    await OpenFeature.clearProviders()
    await provider.onClose()
    await halyard.close()
    await proxy.close()
    const { agree, differ } = before
    expect(await shadowOf(key)).toMatchObject({ agree, differ, failed: before.failed + 600 })
    expect(errors.filter(({ message }) => message.includes('/flags/ returned 502'))).toHaveLength(600)
    const metrics = await (await fetch(`${s.url}/metrics`)).text()
    expect(metrics).toContain(`halyard_shadow_evaluations_total{result="failed"} ${before.failed + 600}`)
  })

  it('counts a report once, for flags of the project only', async () => {
    const before = await shadowOf('other')
    const body = {
      batch_id: 'twice',
      flags: [
        { key: 'other', agree: 3, differ: 0 },
        { key: 'gone', agree: 1, differ: 0 },
      ],
    }
    expect((await report(body)).body).toEqual({ counted: true })
    expect((await report(body)).body).toEqual({ counted: false })
    expect((await shadowOf('other')).agree).toBe(before.agree + 3)
    const stranger = await s.stranger('shadow-stranger')
    expect((await stranger.get(`${s.project}/feature_flags/${ids.other}/shadow/`)).status).toBe(404)
  })

  it.each<[string, object, string]>([
    ['a negative count', { flags: [{ key: 'other', agree: -1, differ: 0 }] }, 'agree'],
    ['too many flags', { flags: Array(1001).fill({ key: 'other', agree: 1, differ: 0 }) }, 'flags'],
    ['no id', { batch_id: undefined }, 'batch_id'],
  ])('refuses %s', async (_name, more, field) => {
    const reply = await report({ batch_id: 'bad', flags: [], ...more })
    expect(reply.status).toBe(400)
    expect(JSON.stringify(reply.body)).toContain(field)
  })

  it('needs a key that can read definitions', async () => {
    const { api_token: token } = (await s.get(`${s.project}/`)).body
    expect((await report({ batch_id: 'x', flags: [] }, token)).status).toBe(401)
    expect((await report({ batch_id: 'x', flags: [] }, 'phs_wrong')).status).toBe(401)
  })
})
