import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OpenFeature } from '@openfeature/server-sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'

let s: Program
beforeAll(async () => {
  s = await startProgram('sqlite')
  const flags = `${s.project}/feature_flags/`
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  const variants = [{ key: 'blue', rollout_percentage: 100 }]
  await s.post(flags, { key: 'pro', filters: { groups: [{ properties: pro }] } })
  await s.post(flags, { key: 'color', filters: { groups: [{}], multivariate: { variants } } })
  await s.post(flags, { key: 'off', active: false })
  const typed = (return_type: string, payload: unknown) => ({ groups: [{}], return_type, payloads: { true: payload } })
  await s.post(flags, { key: 'limit', filters: typed('number', 25) })
  await s.post(flags, { key: 'theme', filters: typed('object', { dark: true }) })
  await s.post(flags, { key: 'title', filters: typed('string', '"Hello"') })
})
afterAll(async () => {
  await OpenFeature.close()
  await s.close()
})

it('the OpenFeature server SDK evaluates with the unmodified OFREP provider', async () => {
  const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'server' })
  for (const key of [s.projectToken, secret.value, s.key]) {
    const headers: [string, string][] = [['Authorization', `Bearer ${key}`]]
    await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: s.url, headers }))
    const client = OpenFeature.getClient()
    expect(await client.getBooleanValue('pro', false, { targetingKey: 'u', plan: 'pro' })).toBe(true)
    expect(await client.getBooleanValue('pro', true, { targetingKey: 'u', plan: 'free' })).toBe(false)
    expect(await client.getStringDetails('color', 'none', { targetingKey: 'u' })).toMatchObject({
      value: 'blue',
      variant: 'blue',
      reason: 'SPLIT',
      flagMetadata: { reasonCode: 'condition_match' },
    })
    expect(await client.getNumberValue('limit', 1, { targetingKey: 'u' })).toBe(25)
    expect(await client.getObjectValue('theme', {}, { targetingKey: 'u' })).toEqual({ dark: true })
    expect(await client.getStringValue('title', '', { targetingKey: 'u' })).toBe('Hello')
    // A disabled flag has no value, so the default in the code applies.
    expect(await client.getBooleanValue('off', true, { targetingKey: 'u' })).toBe(true)
    expect(await client.getBooleanValue('off', false, { targetingKey: 'u' })).toBe(false)
    expect(await client.getBooleanDetails('unknown', true, { targetingKey: 'u' })).toMatchObject({
      value: true,
      errorCode: 'FLAG_NOT_FOUND',
    })
    expect(await client.getBooleanDetails('pro', true, {})).toMatchObject({ errorCode: 'TARGETING_KEY_MISSING' })
    expect(await client.getStringDetails('pro', 'x', { targetingKey: 'u' })).toMatchObject({
      errorCode: 'TYPE_MISMATCH',
    })
  }
})
