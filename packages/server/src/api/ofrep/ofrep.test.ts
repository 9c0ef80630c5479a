import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Client } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const variants = [
  { key: 'a', rollout_percentage: 50 },
  { key: 'b', rollout_percentage: 50 },
]
const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]

onEachDatabase('OFREP', dialect => {
  const s = suiteScenario(dialect)
  let client: Client
  let flags: string
  const ids: Record<string, number> = {}
  beforeAll(async () => {
    client = s.as(s.projectToken)
    flags = `${s.project}/feature_flags/`
    const create = async (key: string, filters: object, more: object = {}) => {
      ids[key] = (await s.post(flags, { key, filters, ...more })).body.id
    }
    await create('everyone', { groups: [{ properties: [] }], payloads: { true: '{"a":1}' } })
    await create('pro', { groups: [{ properties: pro }] })
    await create('off', { groups: [{}] }, { active: false })
    await create('rollout', { groups: [{ rollout_percentage: 0 }] })
    await create('split', { groups: [{ properties: pro }], multivariate: { variants } })
    await create('forced', { groups: [{ properties: [], variant: 'b' }], multivariate: { variants } })
    await create('server side', { groups: [{}] }, { evaluation_runtime: 'server' })
    await create('with/slash', { groups: [{}] })
  })

  const one = (key: string, context: unknown = { targetingKey: 'u1' }, as = client) =>
    as.post(`/ofrep/v1/evaluate/flags/${key}`, { context })
  const all = (context: unknown = { targetingKey: 'u1' }, headers?: Record<string, string>) =>
    client.post('/ofrep/v1/evaluate/flags', { context }, headers)

  it('returns one flag with value, reason, variant and metadata', async () => {
    const reply = await one('everyone')
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toMatch('application/json')
    expect(reply.body).toEqual({
      key: 'everyone',
      value: true,
      reason: 'STATIC',
      variant: 'on',
      metadata: { flagId: ids.everyone, version: 1, reasonCode: 'condition_match', payload: '{"a":1}' },
    })
    const plan = { targetingKey: 'u1', plan: 'pro' }
    expect((await one('pro', plan)).body).toMatchObject({ value: true, reason: 'TARGETING_MATCH' })
    expect((await one('pro')).body).toMatchObject({ value: false, variant: 'off', reason: 'UNKNOWN' })
    const disabled = (await one('off')).body
    expect(disabled).toMatchObject({ key: 'off', reason: 'DISABLED' })
    expect(disabled).not.toHaveProperty('value')
    expect(disabled).not.toHaveProperty('variant')
    expect((await one('rollout')).body).toMatchObject({ value: false, reason: 'SPLIT' })
    expect((await one('split', plan)).body).toMatchObject({ value: expect.stringMatching(/^[ab]$/), reason: 'SPLIT' })
    expect((await one('forced')).body).toMatchObject({ value: 'b', variant: 'b', reason: 'STATIC' })
    const undecided = (await one('split')).body
    expect(undecided).toMatchObject({ variant: 'off', reason: 'UNKNOWN' })
    expect(undecided).not.toHaveProperty('value')
    expect((await one('with%2Fslash')).body.value).toBe(true)
    expect((await one('with/slash')).body.value).toBe(true)
    expect((await one('server%20side')).body.value).toBe(true)
  })

  it('returns the payload as the value of a flag whose return type says so', async () => {
    const typed = async (filters: object) => {
      const reply = await s.post(flags, { key: 'typed', filters: { groups: [{}], ...filters } })
      if (reply.status !== 201) return [reply.status, reply.body.attr, reply.body.detail]
      const { value, variant, metadata } = (await one('typed')).body
      await s.patch(`${flags}${reply.body.id}/`, { deleted: true })
      return { value, variant, payload: metadata.payload }
    }
    expect(await typed({ return_type: 'number', payloads: { true: '0.5' } })).toEqual({
      value: 0.5,
      variant: 'on',
      payload: '0.5',
    })
    expect(await typed({ return_type: 'object', payloads: { true: { a: [1] } } })).toMatchObject({ value: { a: [1] } })
    expect(await typed({ return_type: 'string', payloads: { true: '"hi"' } })).toMatchObject({ value: 'hi' })
    const sizes = {
      multivariate: { variants: [{ key: 'large', rollout_percentage: 100 }] },
      payloads: { large: '7' },
    }
    expect(await typed({ ...sizes, return_type: 'number' })).toMatchObject({ value: 7, variant: 'large' })
    expect(await typed({ ...sizes, return_type: 'string' })).toMatchObject({ value: 'large' })
    // Without a payload, or for people who do not get the flag, the default in the code applies.
    expect(await typed({ return_type: 'number' })).toEqual({ variant: 'on' })
    expect(await typed({ return_type: 'number', groups: [], payloads: { true: '1' } })).toEqual({ variant: 'off' })
    expect(await typed({ return_type: 'number', payloads: { true: '"text"' } })).toEqual([
      400,
      'filters',
      expect.stringContaining('filters.payloads.true'),
    ])
    const nothing = await typed({ return_type: 'object', payloads: { true: 'null' } })
    expect(nothing).toEqual([400, 'filters', expect.stringContaining('filters.payloads.true')])
    expect(await typed({ return_type: 'date' })).toEqual([400, 'filters', expect.stringContaining('return_type')])
    expect(await typed({ default_value: 'x' })).toEqual([400, 'filters', expect.stringContaining('default_value')])
  })

  it('agrees with /flags/', async () => {
    for (const id of ['u1', 'u2', 'ü', '3']) {
      const context = { targetingKey: id, plan: 'pro' }
      const asked = {
        token: s.projectToken,
        distinct_id: id,
        person_properties: { plan: 'pro' },
        evaluation_runtime: 'server',
      }
      const { body: sdk } = await client.post('/flags/?v=2', asked)
      const { body: bulk } = await all(context)
      for (const flag of bulk.flags) {
        const detail = sdk.flags[flag.key]
        if (flag.reason === 'DISABLED') expect(detail).toBeUndefined()
        else expect(flag.value ?? false).toEqual(detail.variant ?? detail.enabled)
        expect((await one(encodeURIComponent(flag.key), context)).body).toEqual(flag)
      }
    }
  })

  it('returns an error code for each kind of error', async () => {
    const seen = async (reply: ReturnType<typeof one>) => {
      const { status, body, headers } = await reply
      expect(headers.get('access-control-expose-headers')).toContain('ETag')
      return [status, body.key, body.errorCode]
    }
    expect(await seen(one('unknown'))).toEqual([404, 'unknown', 'FLAG_NOT_FOUND'])
    expect(await seen(one('everyone', {}))).toEqual([400, 'everyone', 'TARGETING_KEY_MISSING'])
    expect(await seen(one('everyone', { targetingKey: '' }))).toEqual([400, 'everyone', 'TARGETING_KEY_MISSING'])
    expect(await seen(one('everyone', 'text'))).toEqual([400, 'everyone', 'INVALID_CONTEXT'])
    expect(await seen(one('everyone', null))).toEqual([400, 'everyone', 'INVALID_CONTEXT'])
    expect(await seen(all({}))).toEqual([400, undefined, 'TARGETING_KEY_MISSING'])
    const broken = { method: 'POST', body: '{"context":', headers: { 'content-type': 'application/json' } }
    expect(await seen(client.send('/ofrep/v1/evaluate/flags/everyone', broken))).toEqual([
      400,
      'everyone',
      'PARSE_ERROR',
    ])
    expect(await seen(one('everyone', null, s.as(undefined)))).toEqual([401, 'everyone', 'GENERAL'])
    expect(await seen(one('everyone', null, s.as('phc_unknown')))).toEqual([401, 'everyone', 'GENERAL'])
  })

  it('returns all flags, also inactive ones, and the URL of the change stream', async () => {
    const { body } = await all()
    expect(body.flags.map((flag: { key: string }) => flag.key).sort()).toEqual(Object.keys(ids).sort())
    const [stream] = body.eventStreams
    expect(stream).toMatchObject({ type: 'sse', inactivityDelaySec: expect.any(Number) })
    const listening = await fetch(new URL(stream.endpoint.requestUri, s.url))
    expect([listening.status, listening.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching('event-stream'),
    ])
    await listening.body?.cancel()
  })

  it('has an ETag of the results', async () => {
    const first = await all({ targetingKey: 'u1', plan: 'free' })
    const etag = first.headers.get('etag') ?? ''
    const again = await all({ targetingKey: 'u1', plan: 'free' }, { 'if-none-match': etag })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    // The same key with another property gives another result and needs another ETag.
    expect((await all({ targetingKey: 'u1', plan: 'pro' }, { 'if-none-match': etag })).status).toBe(200)
    const { body: flag } = await s.post(flags, { key: 'newcomer' })
    expect((await all({ targetingKey: 'u1', plan: 'free' }, { 'if-none-match': etag })).status).toBe(200)
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    expect((await all({ targetingKey: 'u1', plan: 'free' }, { 'if-none-match': etag })).status).toBe(304)
  })

  it('authenticates by token, secret key and personal key, in either header', async () => {
    const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'server' })
    for (const key of [s.projectToken, secret.value, s.key]) {
      expect((await one('everyone', null, s.as(key))).status).toBe(400)
      expect((await one('everyone', { targetingKey: 'u' }, s.as(key))).status).toBe(200)
      const byHeader = await s
        .as(undefined)
        .post('/ofrep/v1/evaluate/flags', { context: { targetingKey: 'u' } }, { 'x-api-key': key })
      expect(byHeader.status).toBe(200)
    }
  })

  it('reads groups from the context, and hides server flags from browsers', async () => {
    await s.halyard.database.transaction(async tx => {
      await tx.groupTypes.ensure(s.projectId, 'company')
      const at = '2026-01-01T00:00:00.000000Z'
      await tx.changes.append({ topic: 'project', organizationId: null, projectId: s.projectId, entityId: '', at })
    })
    const { body: flag } = await s.post(flags, {
      key: 'company',
      filters: {
        aggregation_group_type_index: 0,
        groups: [{ properties: [{ key: 'size', type: 'group', group_type_index: 0, value: 5 }] }],
      },
    })
    const context = { targetingKey: 'u', groups: { company: 'acme' }, groupProperties: { company: { size: 5 } } }
    expect((await one('company', context)).body).toMatchObject({ value: true, reason: 'TARGETING_MATCH' })
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    const browser = await all({ targetingKey: 'u' }, { origin: 'https://example.com' })
    expect(browser.body.flags.map((flag: { key: string }) => flag.key)).not.toContain('server side')
    const preflight = await client.send('/ofrep/v1/evaluate/flags', { method: 'OPTIONS' })
    for (const header of ['authorization', 'content-type', 'if-none-match', 'x-api-key']) {
      expect(preflight.headers.get('access-control-allow-headers')).toContain(header)
    }
  })
})
