import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HalyardProvider } from '@halyard/openfeature-server'
import { HalyardWebProvider } from '@halyard/openfeature-web'
import { OpenFeature } from '@openfeature/server-sdk'
import { OpenFeature as OpenFeatureWeb } from '@openfeature/web-sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type OpenStream, openStream } from '../../packages/server/src/testing/event-source.ts'
import { type Client, clientOf } from '../../packages/server/src/testing/scenario.ts'
import { runCommand, type ServerProcess, startDev } from '../faults/server-process.ts'
import { type Program, startProgram } from '../program/start-program.ts'

/** `halyard dev` as it is built: a project is pulled from one server and served by another process without a database. */

let s: Program
let folder: string
let file: string
let overridesFile: string
let dev: ServerProcess
let client: Client
const streams: OpenStream[] = []

const pull = (out: string) =>
  runCommand(['dev', 'pull', '--from', s.url, '--key', s.key, '--project', String(s.projectId), '--out', out])

/** As editors do it: a complete file replaces the former one. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}
const override = (overrides: object): void => replace(overridesFile, JSON.stringify(overrides, null, 2))

beforeAll(async () => {
  s = await startProgram('sqlite')
  folder = mkdtempSync(join(tmpdir(), 'halyard-dev-'))
  file = join(folder, 'halyard.dev.json')
  overridesFile = join(folder, 'flags.local.json')
  const flags = `${s.project}/feature_flags/`
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  const { body: cohort } = await s.post(`${s.project}/cohorts/`, {
    name: 'Pro users',
    filters: { properties: { type: 'AND', values: pro } },
  })
  await s.post(`${s.project}/cohorts/`, { name: 'Pilot', is_static: true, distinct_ids: ['hidden-person'] })
  const variants = ['red', 'green', 'blue'].map((key, n) => ({ key, rollout_percentage: n === 0 ? 34 : 33 }))
  const { body: half } = await s.post(flags, { key: 'half', filters: { groups: [{ rollout_percentage: 50 }] } })
  const inCohort = { key: 'id', type: 'cohort', value: cohort.id, operator: 'in' }
  for (const flag of [
    { key: 'checkout', filters: { groups: [{ properties: pro }], payloads: { true: '{"steps":3}' } } },
    {
      key: 'color',
      filters: { groups: [{}], multivariate: { variants }, payloads: { red: '{"hex":"#f00"}', blue: '"b"' } },
    },
    { key: 'limit', filters: { groups: [{}], return_type: 'number', payloads: { true: '25' } } },
    { key: 'members', filters: { groups: [{ properties: [inCohort] }] } },
    {
      key: 'follower',
      filters: {
        groups: [{ properties: [{ key: String(half.id), type: 'flag', operator: 'flag_evaluates_to', value: true }] }],
      },
    },
    { key: 'retired', active: false },
  ]) {
    const reply = await s.post(flags, flag)
    if (reply.status !== 201) throw new Error(reply.text)
  }
  const pulled = await pull(file)
  if (pulled.code !== 0) throw new Error(pulled.output)
  dev = await startDev(['--file', file, '--overrides', overridesFile, '--port', '0'])
  client = clientOf(dev.url, undefined)
})
afterEach(async () => {
  for (const stream of streams.splice(0)) stream.close()
  override({})
  await expect.poll(async () => overriddenKeys()).toEqual([])
})
afterAll(async () => {
  await dev?.stop()
  await s.close()
  rmSync(folder, { recursive: true, force: true })
})

const flagsOf = async (at: Client, body: object, token = 'phc_whatever') => {
  const reply = await at.post('/flags/?v=2', { token, distinct_id: 'user-1', ...body })
  expect(reply.status, reply.text).toBe(200)
  return reply.body.flags
}
const overriddenKeys = async () =>
  Object.entries(await flagsOf(client, {}, 'phc_x')).flatMap(([key, flag]) =>
    (flag as { reason: { code: string } }).reason.code === 'override' ? [key] : [],
  )
const printed = (text: string) => expect.poll(() => dev.lines.join('\n')).toContain(text)

describe('halyard dev pull', () => {
  it('writes definitions without keys, persons or authors, and the same bytes each time', async () => {
    const text = readFileSync(file, 'utf8')
    const { body: user } = await s.get('/api/users/@me/')
    for (const secret of [s.key, s.projectToken, user.email, user.uuid, 'hidden-person']) {
      expect(text).not.toContain(secret)
    }
    expect(JSON.parse(text).flags.map(({ key }: { key: string }) => key)).toEqual([
      'checkout',
      'color',
      'follower',
      'half',
      'limit',
      'members',
      'retired',
    ])
    const again = join(folder, 'again.json')
    const { output } = await pull(again)
    expect(output).toContain('Wrote 7 flags and 2 cohorts')
    expect(readFileSync(again, 'utf8')).toBe(text)
  })

  it('explains a key that is not accepted', async () => {
    const { code, output } = await runCommand(['dev', 'pull', '--from', s.url, '--key', 'phx_wrong', '--out', file])
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('does not accept this key') })
  })
})

describe('halyard dev', () => {
  it('evaluates as the server does, whatever the token', async () => {
    for (let n = 0; n < 20; n++) {
      const asked = { distinct_id: `user-${n}`, person_properties: { plan: n % 2 ? 'pro' : 'free' } }
      expect(await flagsOf(client, asked)).toEqual(await flagsOf(s.as(undefined), asked, s.projectToken))
    }
  })

  it('sends equal definitions for any key of the right kind, and refuses the public token', async () => {
    const definitions = (at: Client, key: string, token: string) =>
      at.get(`/flags/definitions?token=${token}&send_cohorts`, { authorization: `Bearer ${key}` })
    const { body: expected } = await definitions(s, s.key, s.projectToken)
    for (const key of ['phx_anything', 'phs_anything']) {
      expect((await definitions(client, key, 'phc_anything')).body).toEqual(expected)
    }
    expect((await definitions(client, 'phc_anything', 'phc_anything')).status).toBe(401)
  })

  it('sends definitions to no page of another site', async () => {
    const ask = (headers: Record<string, string>) =>
      client.get('/flags/definitions?token=phc_x', { authorization: 'Bearer phs_x', ...headers })
    expect((await ask({ origin: 'https://elsewhere.example' })).status).toBe(403)
    expect((await ask({ origin: 'http://localhost:3000' })).status).toBe(200)
    const page = { origin: 'https://elsewhere.example' }
    expect((await client.post('/flags/?v=2', { token: 'phc_x', distinct_id: 'a' }, page)).status).toBe(200)
  })

  it('pushes overrides to followers of definitions and of evaluations', async () => {
    const definitions = await openStream(`${dev.url}/api/projects/@current/feature_flags/stream`, {
      authorization: 'Bearer phs_local',
    })
    const evaluations = await openStream(`${dev.url}/ofrep/v1/stream?token=phc_local`)
    streams.push(definitions, evaluations)
    expect((await definitions.next())?.event).toBe('state')
    override({ checkout: true, color: 'blue', half: false, limit: { value: true, payload: 7 } })
    const changed = (await definitions.next())!.data.flags.map(({ key }: { key: string }) => key)
    expect(changed.sort()).toEqual(['checkout', 'color', 'half', 'limit'])
    expect((await evaluations.next())?.data).toMatchObject({ type: 'refetchEvaluation' })
    const values = await flagsOf(client, {})
    expect(values).toMatchObject({
      checkout: { enabled: true, reason: { code: 'override' }, metadata: { payload: '{"steps":3}' } },
      color: { variant: 'blue', reason: { code: 'override' }, metadata: { payload: '"b"' } },
      half: { enabled: false, reason: { code: 'override' } },
      // Depends on a flag that is overridden.
      follower: { enabled: false, reason: { code: 'no_condition_match' } },
      limit: { metadata: { payload: '7' } },
    })
    const one = await client.post(
      '/ofrep/v1/evaluate/flags/limit',
      { context: { targetingKey: 'a' } },
      { authorization: 'Bearer phc_x' },
    )
    expect(one.body).toMatchObject({ value: 7, reason: 'TARGETING_MATCH', metadata: { reasonCode: 'override' } })
  })

  it('keeps the last valid state and reports where a file is broken', async () => {
    override({ color: 'green' })
    await expect.poll(overriddenKeys).toEqual(['color'])
    replace(overridesFile, '{\n  "color": "red",\n  "half" true\n}\n')
    await printed('flags.local.json:3:10: this is not JSON; expected \\":\\".')
    expect((await flagsOf(client, {})).color.variant).toBe('green')
    override({ colr: 'red', half: 'x', limit: 3, color: 'blu', checkout: true })
    await printed('flags.local.json:2:3: There is no flag \\"colr\\". Did you mean \\"color\\"?')
    await printed('flags.local.json:3:3: The flag \\"half\\" has no variants: use true or false.')
    await printed('flags.local.json:4:3: The value of \\"limit\\" must be true, false, a variant')
    await printed('flags.local.json:5:3: The flag \\"color\\" has no variant \\"blu\\".')
    await expect.poll(overriddenKeys).toEqual(['checkout'])
    const text = readFileSync(file, 'utf8')
    replace(file, text.replace('"flags": [', '"flags": {'))
    await printed('halyard.dev.json:')
    expect(await overriddenKeys()).toEqual(['checkout'])
    replace(file, text.replace('"key": "retired"', '"key": "returned"'))
    await expect.poll(async () => (await definitionsOf()).includes('returned')).toBe(true)
    replace(file, text)
    await expect.poll(async () => (await definitionsOf()).includes('retired')).toBe(true)
  })

  const definitionsOf = async (): Promise<string[]> => {
    const { body } = await client.get('/flags/definitions?token=phc_x', { authorization: 'Bearer phs_x' })
    return body.flags.map(({ key }: { key: string }) => key)
  }

  it('works with posthog-node, with and without local evaluation', async () => {
    override({ color: 'green' })
    await expect.poll(overriddenKeys).toEqual(['color'])
    const { PostHog } = createRequire(import.meta.url)('posthog-node')
    for (const personalApiKey of [undefined, 'phx_local']) {
      const library = new PostHog('phc_local', { host: dev.url, personalApiKey })
      expect(await library.getFeatureFlag('color', 'user-1')).toBe('green')
      expect(await library.getFeatureFlag('half', 'user-1')).toBe((await flagsOf(client, {})).half.enabled)
      await library.shutdown()
    }
  })

  it('works with the OpenFeature providers, which receive an edited override', async () => {
    const provider = new HalyardProvider({ url: dev.url, key: 'phs_local' })
    const web = new HalyardWebProvider({ url: dev.url, token: 'phc_local', storage: null, stream: false })
    await OpenFeature.setProviderAndWait(provider)
    await OpenFeatureWeb.setContext({ targetingKey: 'user-1' })
    await OpenFeatureWeb.setProviderAndWait(web)
    const server = OpenFeature.getClient()
    expect(await server.getNumberValue('limit', 0, { targetingKey: 'user-1' })).toBe(25)
    expect(OpenFeatureWeb.getClient().getNumberValue('limit', 0)).toBe(25)
    override({ limit: { value: true, payload: 3 } })
    await expect.poll(() => server.getNumberValue('limit', 0, { targetingKey: 'user-1' })).toBe(3)
    await OpenFeature.close()
    await OpenFeatureWeb.close()
  })

  it('accepts overrides of a request without a signature', async () => {
    const content = { o: { color: 'red', gone: true }, e: Math.floor(Date.now() / 1000) + 60 }
    const token = `unsigned.${Buffer.from(JSON.stringify(content)).toString('base64url')}`
    const ask = (header: string) =>
      client.post('/flags/?v=2', { token: 'phc_x', distinct_id: 'a' }, { 'x-halyard-overrides': header })
    const reply = await ask(token)
    expect(reply.headers.get('x-halyard-overrides')).toBe('applied')
    expect(reply.body.flags.color).toMatchObject({ variant: 'red', reason: { code: 'override' } })
    expect((await ask('ho1.x')).headers.get('x-halyard-overrides')).toBe('invalid')
  })

  it('explains a missing file in one sentence', async () => {
    const { code, output } = await runCommand(['dev', '--file', join(folder, 'none.json'), '--port', '0'])
    expect(code).toBe(1)
    expect(output).toMatch(/^halyard: There is no file .*none\.json\. Create it with "halyard dev pull"\.$/)
  })
})
