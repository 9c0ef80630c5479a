import { compile } from '@halyard/engine'
import { OpenFeature } from '@openfeature/server-sdk'
import { OpenFeature as OpenFeatureWeb } from '@openfeature/web-sdk'
import { afterEach, describe, expect, it } from 'vitest'
import { definitionsWire } from '../../engine/src/testing/definitions-wire.ts'
import { randomFrom } from '../../engine/src/testing/random.ts'
import { randomDefinitions, randomSubject } from '../../engine/src/testing/random-project.ts'
import { trustedRegex } from '../../engine/src/testing/regex.ts'
import { combinationsOf, createTestFlags, serverTestProvider, webTestProvider, withFlags } from './index.ts'

const plan = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
const variants = [
  { key: 'control', rollout_percentage: 50 },
  { key: 'fast', rollout_percentage: 50 },
]
const needs = (id: number, value: unknown) => [{ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value }]
const flag = (id: number, key: string, filters: object) => ({ id, key, active: true, filters })
const definitions = {
  flags: [
    // Before the flag that it depends on.
    flag(1, 'dependent', { groups: [{ properties: needs(2, 'fast') }] }),
    flag(2, 'test', { groups: [{ properties: plan }], multivariate: { variants } }),
    flag(3, 'constant', { groups: [{}] }),
    flag(4, 'limit', { groups: [{ properties: plan }], return_type: 'number', payloads: { true: '25' } }),
  ],
}

describe('flags in tests', () => {
  afterEach(async () => {
    await OpenFeature.close()
    await OpenFeatureWeb.close()
  })

  it('has the values that a test sets, and restores them', async () => {
    const flags = createTestFlags({ values: { on: false } })
    await OpenFeature.setProviderAndWait(serverTestProvider(flags))
    const client = OpenFeature.getClient()
    const changes: (readonly string[])[] = []
    flags.onChange(keys => changes.push(keys))
    const failing = withFlags(flags, { on: true, size: 3, theme: { dark: true } }, async () => {
      expect(await client.getBooleanValue('on', false)).toBe(true)
      expect(await client.getNumberValue('size', 1)).toBe(3)
      expect(await client.getObjectValue('theme', {})).toEqual({ dark: true })
      expect((await client.getStringDetails('size', 'x')).errorCode).toBe('TYPE_MISMATCH')
      throw new Error('of the test')
    })
    await expect(failing).rejects.toThrow('of the test')
    expect(await client.getBooleanDetails('on', true)).toMatchObject({ value: false, reason: 'STATIC' })
    expect(await client.getNumberDetails('size', 1)).toMatchObject({ value: 1, errorCode: 'FLAG_NOT_FOUND' })
    expect(changes).toEqual([
      ['on', 'size', 'theme'],
      ['on', 'size', 'theme'],
    ])
  })

  it('evaluates definitions as Halyard does, in both SDKs', async () => {
    const flags = createTestFlags({ definitions, values: { constant: false } })
    await OpenFeature.setProviderAndWait(serverTestProvider(flags))
    OpenFeatureWeb.setProvider(webTestProvider(flags))
    const client = OpenFeature.getClient()
    const pro = { targetingKey: 'user-1', plan: 'pro' }
    expect(await client.getStringDetails('test', 'x', pro)).toMatchObject({ reason: 'SPLIT' })
    expect(await client.getStringValue('test', 'x', { targetingKey: 'user-1', plan: 'free' })).toBe('x')
    expect(await client.getNumberValue('limit', 1, pro)).toBe(25)
    expect(await client.getBooleanValue('constant', true, pro)).toBe(false)
    await OpenFeatureWeb.setContext(pro)
    expect(OpenFeatureWeb.getClient().getNumberValue('limit', 1)).toBe(25)
  })

  it('finds the combinations that can occur', () => {
    const keys = ['dependent', 'test', 'constant']
    const found = combinationsOf(definitions, { keys })
    expect(found).toHaveLength(4)
    // Only with the variant that it depends on.
    expect(found).toContainEqual({ test: 'fast', dependent: true, constant: true })
    expect(found).toContainEqual({ test: 'control', dependent: false, constant: true })
    expect(found).not.toContainEqual({ test: 'control', dependent: true, constant: true })
    expect(combinationsOf(definitions)).toHaveLength(8)
    expect(() => combinationsOf(definitions, { max: 7 })).toThrow('more than 7')
    expect(() => combinationsOf(definitions, { keys: ['unknown'] })).toThrow('"unknown"')
  })

  it('finds every combination that a person gets in random projects', () => {
    const random = randomFrom(6)
    for (let run = 0; run < 40; run++) {
      const project = { ...randomDefinitions(random, 5), propertyMatchingVersion: 2 as const }
      const snapshot = compile(project, { regex: trustedRegex })
      const keys = snapshot.flags.map(({ key }) => key)
      const textOf = (read: (key: string) => unknown) => JSON.stringify(keys.map(read))
      const wire = definitionsWire(project, snapshot) as unknown as typeof definitions
      const found = new Set(combinationsOf(wire, { max: 10_000 }).map(each => textOf(key => each[key])))
      for (let person = 0; person < 30; person++) {
        const results = snapshot.evaluate(randomSubject(random), { now: 0 })
        expect(found).toContain(textOf(key => results.get(key)?.value))
      }
    }
  })
})
