import { beforeAll, describe, expect, it } from 'vitest'
import type { ServedProject } from '../../../evaluation/projects/served-project.ts'
import { createOverrideSigner, readUnsigned } from '../../../evaluation/projects/signed-overrides.ts'
import { createRequestOverrides } from '../../../evaluation/request-overrides.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { edgeKey, type RunningEdge, removeEdgeFolder, startEdge } from '../../../testing/edges.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

const project = { uuid: 'a', apiToken: 'phc_a' }
const signed = { overrides: new Map([['new', { value: true, payload: { n: 1 } }]]), expiresAt: 5_000 }

describe('a signature', () => {
  const signer = createOverrideSigner('key')
  const token = signer.sign(project, signed)

  it('belongs to one project, its token and one installation', () => {
    expect(signer.read(project, token)).toEqual(signed)
    expect(signer.read({ ...project, uuid: 'b' }, token)).toBe('invalid')
    expect(signer.read({ ...project, apiToken: 'phc_b' }, token)).toBe('invalid')
    expect(createOverrideSigner('other').read(project, token)).toBe('invalid')
  })

  it('does not survive a change of any character', () => {
    for (let at = 0; at < token.length; at++) {
      const tampered = `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
      // The last character of base64 has bits that mean nothing.
      if (at < token.length - 1) expect(signer.read(project, tampered), String(at)).toBe('invalid')
    }
    const content = token.split('.')[1]
    for (const other of ['', 'ho1', `ho1.${content}`, `unsigned.${content}`, `${token}.`, 'x'.repeat(9000)]) {
      expect(signer.read(project, other)).toBe('invalid')
    }
  })

  it('counts until it expires', () => {
    const served = { project, live: [] } as unknown as ServedProject
    const statusAt = (now: number) =>
      createRequestOverrides(signer.read, () => now).apply(served, { 'x-halyard-overrides': token }).overrides
    expect([4_999, 5_000].map(statusAt)).toEqual(['applied', 'expired'])
  })

  it('is not needed for development', () => {
    expect(readUnsigned(project, `unsigned.${token.split('.')[1]}`)).toEqual(signed)
    expect(readUnsigned(project, 'unsigned.bm9uZQ')).toBe('invalid')
  })
})

onEachDatabase('signed overrides', dialect => {
  const s = suiteScenario(dialect)
  let path: string
  beforeAll(async () => {
    path = `${s.project}/flag_overrides/`
    const variants = ['red', 'blue'].map((key, n) => ({ key, rollout_percentage: n * 100 }))
    for (const flag of [
      { key: 'new', active: false, filters: { groups: [{}], payloads: { true: '{"n":1}' } } },
      { key: 'color', filters: { groups: [{}], multivariate: { variants } } },
      { key: 'limit', filters: { groups: [{}], return_type: 'number', payloads: { true: '5' } } },
    ])
      await s.post(`${s.project}/feature_flags/`, flag)
  })

  const sign = async (overrides: object, more: object = {}): Promise<string> => {
    const reply = await s.post(path, { overrides, ...more })
    expect(reply.status, reply.text).toBe(201)
    return reply.body.token
  }
  const flagsWith = async (token: string | undefined) => {
    const headers = token === undefined ? undefined : { 'x-halyard-overrides': token }
    const reply = await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id: 'a' }, headers)
    expect(reply.status).toBe(200)
    return { status: reply.headers.get('x-halyard-overrides'), flags: reply.body.flags }
  }

  it('give their values to the requests that carry them, and to no other', async () => {
    const token = await sign({ new: true, color: 'red', limit: { value: true, payload: 9 } })
    const { status, flags } = await flagsWith(token)
    expect(status).toBe('applied')
    expect(flags).toMatchObject({
      new: { enabled: true, reason: { code: 'override' }, metadata: { payload: '{"n":1}' } },
      color: { variant: 'red', reason: { code: 'override' } },
      limit: { metadata: { payload: '9' } },
    })
    const ofrep = (headers: Record<string, string>) =>
      s.as(s.projectToken).post('/ofrep/v1/evaluate/flags', { context: { targetingKey: 'a' } }, headers)
    const bulk = await ofrep({ 'x-halyard-overrides': token })
    expect(bulk.headers.get('x-halyard-overrides')).toBe('applied')
    expect(bulk.headers.get('access-control-expose-headers')).toContain('x-halyard-overrides')
    const limit = { key: 'limit', value: 9, reason: 'TARGETING_MATCH', metadata: { reasonCode: 'override' } }
    expect(bulk.body.flags).toEqual(expect.arrayContaining([expect.objectContaining({ value: 'red' })]))
    expect(bulk.body.flags.find(({ key }: { key: string }) => key === 'limit')).toMatchObject(limit)
    const ordinary = await flagsWith(undefined)
    expect(ordinary.status).toBeNull()
    expect(ordinary.flags).toMatchObject({ color: { variant: 'blue', reason: { code: 'condition_match' } } })
    expect(ordinary.flags.new).toBeUndefined()
  })

  it('are not counted as evaluations', async () => {
    const token = await sign({ color: 'red' })
    const { totals } = s.halyard.serving.counts
    const before = { ...totals }
    await flagsWith(token)
    expect(s.halyard.serving.counts.totals).toMatchObject({ requests: before.requests, flags: before.flags })
    await flagsWith(undefined)
    expect(s.halyard.serving.counts.totals.requests).toBe(before.requests + 1)
  })

  it('are ignored when they are not valid, and the response has the reason', async () => {
    const { flags: ordinary } = await flagsWith(undefined)
    const token = await sign({ color: 'red' })
    const other = (await s.post('/api/projects/', { name: `Other ${dialect}` })).body
    await s.post(`/api/projects/${other.id}/feature_flags/`, { key: 'color' })
    const foreign = (await s.post(`/api/projects/${other.id}/flag_overrides/`, { overrides: { color: false } })).body
    for (const bad of ['x', `${token.slice(0, -5)}AAAAA`, foreign.token]) {
      expect(await flagsWith(bad)).toEqual({ status: 'invalid', flags: ordinary })
    }
  })

  it('follow the flags: a deleted one is left out, a changed one stays overridden', async () => {
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'short-lived' })
    const token = await sign({ 'short-lived': false, color: 'red' })
    await s.patch(`${s.project}/feature_flags/${flag.id}/`, { filters: { groups: [{ rollout_percentage: 100 }] } })
    expect((await flagsWith(token)).flags['short-lived']).toMatchObject({ enabled: false })
    await s.patch(`${s.project}/feature_flags/${flag.id}/`, { deleted: true })
    const { flags } = await flagsWith(token)
    expect(flags['short-lived']).toBeUndefined()
    expect(flags.color.variant).toBe('red')
  })

  it.each([
    [{}, '1 to 20 flags'],
    [Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`f${n}`, true])), '1 to 20 flags'],
    [{ unknown: true }, 'There is no flag "unknown" in this project.'],
    [{ color: 'green' }, 'has no variant "green"'],
    [{ color: true }, 'has variants'],
    [{ new: 'red' }, 'has no variants'],
    [{ limit: { value: true, payload: 'many' } }, 'must be of the type number'],
    [{ new: [] }, 'must be true, false'],
  ])('are refused for %j', async (overrides, message) => {
    const reply = await s.post(path, { overrides })
    expect([reply.status, reply.body]).toMatchObject([
      400,
      { attr: 'overrides', detail: expect.stringContaining(message) },
    ])
  })

  it('are bounded in size and time', async () => {
    const large = await s.post(path, { overrides: { new: { value: true, payload: 'x'.repeat(3000) } } })
    expect([large.status, large.body.attr]).toEqual([400, 'overrides'])
    for (const expires_in_seconds of [0, 59, 604_801]) {
      expect((await s.post(path, { overrides: { new: true }, expires_in_seconds })).status).toBe(400)
    }
  })

  it('need a key that can edit flags or sign overrides, and a user who can edit the flag', async () => {
    const keyWith = async (scopes: string[]) =>
      (await s.post('/api/personal_api_keys/', { label: 'dev', scopes })).body.value
    const ask = (key: string | undefined) => s.as(key).post(path, { overrides: { new: true } })
    expect((await ask(undefined)).status).toBe(401)
    expect((await ask(s.projectToken)).status).toBe(401)
    expect((await ask(await keyWith(['feature_flag:read']))).status).toBe(403)
    const developer = await keyWith(['flag_override:write'])
    expect((await ask(developer)).status).toBe(201)
    expect((await s.as(developer).get(`${s.project}/feature_flags/`)).status).toBe(403)
    const stranger = await s.stranger(`stranger-${dialect}`)
    expect((await stranger.post(path, { overrides: { new: true } })).status).toBe(404)
    const member = await s.join(`member-${dialect}`)
    expect((await member.post(path, { overrides: { new: true } })).status).toBe(201)
    await s.patch(`${s.organization}/`, { default_access_level: 21 })
    expect((await member.post(path, { overrides: { new: true } })).status).toBe(403)
  })

  it('are chosen from the variants of flags that the caller can edit', async () => {
    const variantsFor = (keys: string) => s.get(`${path}variants/?keys=${keys}`)
    const { body, headers } = await variantsFor('color,unknown,new,color')
    expect(body.results).toEqual([
      { key: 'color', variants: ['red', 'blue'] },
      { key: 'new', variants: [] },
    ])
    expect(headers.get('access-control-allow-origin')).toBe('*')
    for (const bad of ['', ',', Array.from({ length: 21 }, (_, n) => `f${n}`).join(',')]) {
      const reply = await variantsFor(bad)
      expect([reply.status, reply.body.attr]).toEqual([400, 'keys'])
    }
    const viewer = await s.join(`viewer-${dialect}`)
    await s.patch(`${s.organization}/`, { default_access_level: 21 })
    expect((await viewer.get(`${path}variants/?keys=color`)).body.results).toEqual([])
    await s.patch(`${s.organization}/`, { default_access_level: 37 })
  })

  it('can be signed from a page of another origin', async () => {
    const preflight = await s
      .as(undefined)
      .send(path, { method: 'OPTIONS', headers: { origin: 'https://shop.example' } })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-halyard-overrides')
    const refused = await s.as('phx_wrong').post(path, { overrides: { new: true } })
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, '*'])
  })

  it('end when the project gets a new token', async () => {
    const { body: other } = await s.post('/api/projects/', { name: `Rotated ${dialect}` })
    await s.post(`/api/projects/${other.id}/feature_flags/`, { key: 'on' })
    const { token } = (await s.post(`/api/projects/${other.id}/flag_overrides/`, { overrides: { on: false } })).body
    const ask = async (projectToken: string) => {
      const headers = { 'x-halyard-overrides': token }
      const body = { token: projectToken, distinct_id: 'a' }
      return (await s.as(undefined).post('/flags/?v=2', body, headers)).headers.get('x-halyard-overrides')
    }
    expect(await ask(other.api_token)).toBe('applied')
    const { body: rotated } = await s.patch(`/api/projects/${other.id}/reset_token/`)
    expect(await ask(rotated.api_token)).toBe('invalid')
  })

  it('are ignored by edges', async () => {
    const edge: RunningEdge = await startEdge(s.url, await edgeKey(s))
    await expect.poll(() => edge.edge.isReady()).toBe(true)
    const headers = { 'x-halyard-overrides': await sign({ color: 'red' }) }
    const reply = await edge.post('/flags/?v=2', { token: s.projectToken, distinct_id: 'a' }, headers)
    expect(reply.headers.get('x-halyard-overrides')).toBe('unsupported')
    expect(reply.body.flags.color.variant).toBe('blue')
    await edge.close()
    await removeEdgeFolder(edge.folder)
  })
})
