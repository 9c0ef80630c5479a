import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabaseAndPath } from '../../testing/paths.ts'
import { type Client, type Reply, type Scenario, startScenario } from '../../testing/scenario.ts'

const variants = [
  { key: 'control', rollout_percentage: 50 },
  { key: 'test', rollout_percentage: 50 },
]

onEachDatabaseAndPath('the paths of SDKs', (dialect, environment) => {
  let s: Scenario
  let anonymous: Client
  let flags: string
  const ids: Record<string, number> = {}

  beforeAll(async () => {
    s = await startScenario(dialect, { environment })
    anonymous = s.as(undefined)
    flags = `${s.project}/feature_flags/`
    const create = async (flag: { key: string } & Record<string, unknown>) => {
      const reply = await s.post(flags, flag)
      expect([flag.key, reply.status, reply.text]).toEqual([flag.key, 201, expect.any(String)])
      ids[flag.key] = reply.body.id
    }
    const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }]
    await create({ key: 'on', filters: { groups: [{ properties: [] }], payloads: { true: '{"a":1}' } } })
    await create({ key: 'off', active: false })
    await create({ key: 'none', filters: { groups: [{ properties: [], rollout_percentage: 0 }] } })
    await create({ key: 'pro', filters: { groups: [{ properties: pro }] } })
    await create({
      key: 'variants',
      filters: {
        groups: [{ properties: [], variant: 'test' }],
        multivariate: { variants },
        payloads: { test: '"hello"' },
      },
    })
    await create({ key: 'needs-on', filters: dependsOn('on') })
    await create({ key: 'server-only', evaluation_runtime: 'server' })
    await create({ key: 'client-only', evaluation_runtime: 'client' })
    await create({ key: 'in-context', evaluation_contexts: ['checkout'] })
    await create({ key: 'survey-targeting-x' })
    await create({
      key: 'by-id',
      filters: { groups: [{ properties: [{ key: 'distinct_id', type: 'person', value: ['u1', '7'] }] }] },
    })
  })
  afterAll(() => s.close())

  const dependsOn = (key: string) => ({
    groups: [{ properties: [{ type: 'flag', key: String(ids[key]), operator: 'flag_evaluates_to', value: true }] }],
  })
  const ask = (body: object, query = '?v=2', headers?: Record<string, string>): Promise<Reply> =>
    anonymous.post(`/flags/${query}`, { token: s.projectToken, distinct_id: 'u1', ...body }, headers)
  const decide = (body: object, query: string): Promise<Reply> =>
    anonymous.post(`/decide/${query}`, { token: s.projectToken, distinct_id: 'u1', ...body })

  describe('POST /flags/?v=2', () => {
    it('returns every active flag with its reason and metadata', async () => {
      const reply = await ask({ person_properties: { plan: 'pro' } })
      expect(reply.status).toBe(200)
      expect(reply.headers.get('content-type')).toMatch('application/json')
      expect(reply.headers.get('access-control-allow-origin')).toBe('*')
      expect(reply.body).toMatchObject({
        errorsWhileComputingFlags: false,
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        evaluatedAt: expect.any(Number),
      })
      expect(reply.body).not.toHaveProperty('sessionRecording')
      const returned = reply.body.flags
      expect(returned).not.toHaveProperty('off')
      expect(returned.on).toEqual({
        key: 'on',
        enabled: true,
        variant: null,
        reason: { code: 'condition_match', condition_index: 0, description: 'Matched condition set 1' },
        metadata: { id: ids.on, version: 1, description: null, payload: '{"a":1}', has_experiment: false },
      })
      expect(returned.none).toMatchObject({ enabled: false, reason: { code: 'out_of_rollout_bound' } })
      expect(returned.pro.enabled).toBe(true)
      expect(returned.variants).toMatchObject({ enabled: true, variant: 'test', metadata: { payload: '"hello"' } })
      expect(returned['needs-on'].enabled).toBe(true)
      expect(returned['by-id'].enabled).toBe(true)
    })

    it.each([
      ['api_key', { token: undefined }],
      ['$token', { token: undefined }],
    ])('takes the token as %s', async (name, body) => {
      expect((await ask({ ...body, [name]: s.projectToken })).body.flags.on.enabled).toBe(true)
    })

    it('accepts numbers as ids, and the aliases of fields', async () => {
      const numeric = await ask({ distinct_id: 7 })
      expect(numeric.body.flags['by-id'].enabled).toBe(true)
      const named = await ask({ distinct_id: undefined, $distinct_id: 'u1', $properties: { plan: 'pro' } })
      expect([named.body.flags['by-id'].enabled, named.body.flags.pro.enabled]).toEqual([true, true])
      expect((await ask({ person_properties: [], groups: [], group_properties: null })).status).toBe(200)
    })

    it('truncates ids to 200 characters', async () => {
      const { body: flag } = await s.post(flags, {
        key: 'long-id',
        filters: { groups: [{ properties: [{ key: 'distinct_id', type: 'person', value: '🦔'.repeat(200) }] }] },
      })
      expect((await ask({ distinct_id: '🦔'.repeat(300) })).body.flags['long-id'].enabled).toBe(true)
      await s.patch(`${flags}${flag.id}/`, { deleted: true })
    })

    it.each(['flag_keys_to_evaluate', 'flag_keys'])('returns only the flags of %s', async name => {
      const { body } = await ask({ [name]: ['needs-on', 'on', 'off', 'unknown'] })
      expect(Object.keys(body.flags).sort()).toEqual(['needs-on', 'on'])
      expect(body.featureFlagPayloads).toEqual({ on: '{"a":1}' })
      expect(Object.keys((await ask({ [name]: [] })).body.flags)).toEqual([])
    })

    it('returns flags to their runtimes only', async () => {
      const returned = async (body: object, headers?: Record<string, string>) => {
        const reply = await ask(body, '?v=2', headers)
        return ['server-only', 'client-only', 'on'].filter(key => key in reply.body.flags)
      }
      expect(await returned({ evaluation_runtime: 'server' })).toEqual(['server-only', 'on'])
      expect(await returned({ evaluation_runtime: 'client' })).toEqual(['client-only', 'on'])
      expect(await returned({}, { 'user-agent': 'posthog-node/5.67.0' })).toEqual(['server-only', 'on'])
      expect(await returned({}, { 'user-agent': 'Mozilla/5.0 (X11)' })).toEqual(['client-only', 'on'])
      expect(await returned({}, { 'user-agent': 'posthog-python/7.42.0' })).toEqual(['server-only', 'on'])
    })

    it('returns flags of the requested contexts, and flags without a context', async () => {
      const other = (await ask({ evaluation_contexts: ['search'] })).body.flags
      expect([other['in-context'], other.on.enabled]).toEqual([undefined, true])
      for (const name of ['evaluation_contexts', 'evaluation_environments']) {
        expect((await ask({ [name]: ['checkout', 'x'] })).body.flags['in-context'].enabled).toBe(true)
      }
      expect((await ask({ evaluation_contexts: [] })).body.flags['in-context'].enabled).toBe(true)
    })

    it('returns only the flags of surveys on request', async () => {
      const { body } = await ask({}, '?v=2&only_evaluate_survey_feature_flags=true')
      expect(Object.keys(body.flags)).toEqual(['survey-targeting-x'])
    })

    it('evaluates nothing when flags are disabled, and needs no distinct id then', async () => {
      const { status, body } = await ask({ disable_flags: true, distinct_id: undefined })
      expect([status, body.flags]).toEqual([200, {}])
    })

    it.each<[string, string, Record<string, string>, string?]>([
      ['text/plain', '', { 'content-type': 'text/plain' }],
      ['gzip without a word', 'gzip', { 'content-type': 'text/plain' }],
      ['gzip by Content-Encoding', 'gzip', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
      ['gzip by parameter', 'gzip', { 'content-type': 'text/plain' }, '&compression=gzip-js'],
      ['a base64 form', 'form', { 'content-type': 'application/x-www-form-urlencoded' }, '&compression=base64'],
    ])('reads %s', async (_name, encoding, headers, more = '') => {
      const json = JSON.stringify({ token: s.projectToken, distinct_id: 'u1', person_properties: { plan: 'pro' } })
      const form = `data=${encodeURIComponent(Buffer.from(json).toString('base64'))}`
      const body = encoding === 'gzip' ? gzipSync(json) : encoding === 'form' ? form : json
      for (const path of ['/flags/', '/flags']) {
        const reply = await anonymous.send(`${path}?v=2${more}`, { method: 'POST', body: body as string, headers })
        expect([reply.status, reply.body.flags?.pro?.enabled]).toEqual([200, true])
      }
    })

    it('rejects invalid requests', async () => {
      const post = (body: string | Buffer | null, headers: Record<string, string> = {}) =>
        anonymous.send('/flags/?v=2', {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json', ...headers },
        })
      const seen = async (reply: Promise<Reply>) => {
        const { status, body, headers } = await reply
        expect(headers.get('access-control-allow-origin')).toBe('*')
        return [status, body.code]
      }
      expect(await seen(post('{"token":'))).toEqual([400, 'parse_error'])
      expect(await seen(post(null))).toEqual([400, 'parse_error'])
      expect(await seen(post('[]'))).toEqual([401, 'authentication_failed'])
      expect(await seen(post('null'))).toEqual([401, 'authentication_failed'])
      expect(await seen(post('"text"'))).toEqual([401, 'authentication_failed'])
      expect(await seen(post('{}'))).toEqual([401, 'authentication_failed'])
      expect(await seen(ask({ token: 'phc_unknown' }))).toEqual([401, 'authentication_failed'])
      expect(await seen(ask({ token: '' }))).toEqual([401, 'authentication_failed'])
      expect(await seen(ask({ token: '\u0000' }))).toEqual([401, 'authentication_failed'])
      expect(await seen(ask({ distinct_id: undefined }))).toEqual([400, 'required'])
      expect(await seen(post(gzipSync(Buffer.alloc(25_000_000)), { 'content-encoding': 'gzip' }))).toEqual([
        413,
        'request_too_large',
      ])
      expect(await seen(post(`${'['.repeat(200)}${']'.repeat(200)}`))).toEqual([400, 'parse_error'])
    })

    it('puts an empty distinct_id into bucket 0, which is inside every rollout', async () => {
      const { body } = await ask({ distinct_id: '' })
      expect(body.flags.none).toMatchObject({ enabled: true, reason: { code: 'condition_match' } })
    })

    it('handles every odd value in every field', async () => {
      const odd = [null, 0, '', 'x', true, [], [1, null], {}, { constructor: { prototype: 1 } }, 1e308]
      const fields = [
        'person_properties',
        'groups',
        'group_properties',
        'flag_keys',
        'evaluation_contexts',
        '$device_id',
      ]
      for (const field of [...fields, '$anon_distinct_id', 'evaluation_runtime', 'disable_flags', 'geoip_disable']) {
        for (const value of odd)
          expect([field, value, (await ask({ [field]: value })).status]).toEqual([field, value, 200])
      }
      const polluted = `{"token":"${s.projectToken}","distinct_id":"u1","person_properties":{"__proto__":{"plan":"pro"}}}`
      const reply = await anonymous.send('/flags/?v=2', { method: 'POST', body: polluted })
      expect(reply.body.flags.pro.enabled).toBe(false)
    })
  })

  it('GET, HEAD and OPTIONS /flags/ respond without evaluating', async () => {
    const get = await anonymous.get('/flags/')
    expect([get.status, get.body.flags, get.body.hasFeatureFlags]).toEqual([200, {}, true])
    expect((await fetch(`${s.url}/flags/`, { method: 'HEAD' })).status).toBe(200)
    const preflight = await anonymous.send('/flags/?v=2', {
      method: 'OPTIONS',
      headers: { origin: 'https://example.com', 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    expect(preflight.headers.get('access-control-allow-headers')).toContain('content-type')
  })

  it('serves each generation of SDKs its own shape', async () => {
    const person = { person_properties: { plan: 'pro' } }
    const first = await ask(person, '?v=1')
    expect(first.body.featureFlags).toMatchObject({ on: true, none: false, variants: 'test' })
    expect(first.body.featureFlagPayloads).toEqual({ on: '{"a":1}', variants: '"hello"' })
    expect(first.body).not.toHaveProperty('flags')
    expect(first.body).not.toHaveProperty('hasFeatureFlags')
    for (const query of ['?v=2&config=true', '']) {
      const configured = await ask(person, query)
      expect(configured.body).toMatchObject({ flags: { on: { enabled: true } }, sessionRecording: false, siteApps: [] })
      expect(configured.body).not.toHaveProperty('surveys')
    }
    for (const query of ['', '?v=1', '?v=nonsense']) {
      const { body } = await decide(person, query)
      expect(body.featureFlags).toEqual(expect.arrayContaining(['on', 'variants', 'pro']))
      expect(body.featureFlags).not.toContain('none')
    }
    const second = (await decide(person, '?v=2')).body
    expect(second.featureFlags).toMatchObject({ on: true, variants: 'test' })
    expect(second.featureFlags).not.toHaveProperty('none')
    const third = (await decide(person, '?v=3')).body
    expect(third).toMatchObject({ featureFlags: { on: true, none: false }, featureFlagPayloads: { on: '{"a":1}' } })
    expect(third).toMatchObject({ sessionRecording: false, config: { enable_collect_everything: true } })
    expect((await decide(person, '?v=4')).body.flags.variants.variant).toBe('test')
  })

  describe('definitions', () => {
    const paths = ['/flags/definitions', '/api/feature_flag/local_evaluation', '/api/feature_flag/local_evaluation/']
    const byKey = (body: { flags: { key: string }[] }, key: string) => body.flags.find(flag => flag.key === key)

    it.each(paths)('%s returns active and inactive flags by key', async path => {
      const { status, headers, body } = await s.get(`${path}?token=${s.projectToken}&send_cohorts`)
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('private, must-revalidate')
      const keys = body.flags.map((flag: { key: string }) => flag.key)
      expect(keys).toEqual([...keys].sort())
      expect(keys).not.toContain('survey-targeting-x')
      expect(byKey(body, 'off')).toMatchObject({ active: false, deleted: false })
      expect(byKey(body, 'on')).toEqual({
        id: ids.on,
        team_id: s.projectId,
        name: '',
        key: 'on',
        filters: { groups: [{ properties: [] }], payloads: { true: '{"a":1}' } },
        deleted: false,
        active: true,
        ensure_experience_continuity: false,
        has_encrypted_payloads: false,
        version: 1,
        evaluation_runtime: 'all',
        evaluation_contexts: [],
        bucketing_identifier: null,
        has_experiment: false,
      })
      expect(body).toMatchObject({ group_type_mapping: {}, cohorts: {}, property_matching_version: 2 })
    })

    it('list the dependencies of a flag by key, in evaluation order', async () => {
      const { body: last } = await s.post(flags, { key: 'needs-needs-on', filters: dependsOn('needs-on') })
      const { body } = await s.get(`/flags/definitions?token=${s.projectToken}`)
      expect(byKey(body, 'needs-needs-on')).toMatchObject({
        filters: {
          groups: [{ properties: [{ type: 'flag', key: 'needs-on', dependency_chain: ['on', 'needs-on'] }] }],
        },
      })
      await s.patch(`${flags}${ids.on}/`, { key: 'on-renamed' })
      const renamed = (await s.get(`/flags/definitions?token=${s.projectToken}`)).body
      expect(byKey(renamed, 'needs-on')).toMatchObject({
        filters: { groups: [{ properties: [{ key: 'on-renamed', dependency_chain: ['on-renamed'] }] }] },
      })
      await s.patch(`${flags}${ids.on}/`, { key: 'on' })
      await s.patch(`${flags}${last.id}/`, { deleted: true })
    })

    it('leave early access to the server', async () => {
      const { body: flag } = await s.post(flags, {
        key: 'early',
        filters: { feature_enrollment: true, groups: [{ properties: [], rollout_percentage: 0 }] },
      })
      const { body } = await s.get(`/flags/definitions?token=${s.projectToken}`)
      expect(byKey(body, 'early')).toMatchObject({ ensure_experience_continuity: true })
      const { body: returned } = await ask({ person_properties: { '$feature_enrollment/early': true } })
      expect(returned.flags.early).toMatchObject({ enabled: true, reason: { code: 'super_condition_value' } })
      await s.patch(`${flags}${flag.id}/`, { deleted: true })
    })

    it('leave the bucketing of other services to the server', async () => {
      const bucketing = { algorithm: 'unleash', seed: 'checkout', by: 'company' }
      const split = { variants: variants.map(({ key }, index) => ({ variant: key, weight: index === 0 ? 0 : 1 })) }
      const filters = { groups: [{ rollout_percentage: 100, split }], multivariate: { variants }, bucketing }
      const { body: flag } = await s.post(flags, { key: 'imported', filters })
      expect(flag.filters).toEqual(filters)
      const { body } = await s.get(`/flags/definitions?token=${s.projectToken}`)
      expect(byKey(body, 'imported')).toMatchObject({ ensure_experience_continuity: true, filters })
      const { body: known } = await ask({ person_properties: { company: 'acme' } })
      expect(known.flags.imported).toMatchObject({ variant: 'test', reason: { code: 'condition_match' } })
      const { body: unknown } = await ask({})
      expect(unknown.flags.imported).toMatchObject({ enabled: false, reason: { code: 'out_of_rollout_bound' } })
      const refused = await s.patch(`${flags}${flag.id}/`, {
        filters: { ...filters, bucketing: { algorithm: 'rot13' } },
      })
      expect([refused.status, refused.body.attr]).toEqual([400, 'filters'])
      expect(refused.body.detail).toContain('filters.bucketing.algorithm')
      await s.patch(`${flags}${flag.id}/`, { deleted: true })
    })

    it('are answered with 304 while nothing changes', async () => {
      const path = `/flags/definitions?token=${s.projectToken}&send_cohorts`
      const etag = (await s.get(path)).headers.get('etag') ?? ''
      expect(etag).toMatch(/^W\/"/)
      const unchanged = await s.get(path, { 'if-none-match': etag })
      expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag])
      const { body: flag } = await s.post(flags, { key: 'etag' })
      const changed = await s.get(path, { 'if-none-match': etag })
      expect(changed.status).toBe(200)
      expect(changed.headers.get('etag')).not.toBe(etag)
      await s.patch(`${flags}${flag.id}/`, { deleted: true })
      expect((await s.get(path, { 'if-none-match': etag })).status).toBe(304)
    })

    it('are the same on the fast path and on the ordinary path', async () => {
      const query = `?token=${s.projectToken}&send_cohorts`
      await s.get(`/flags/definitions${query}`)
      const [short, long] = [
        await s.get(`/flags/definitions${query}`),
        await s.get(`/api/feature_flag/local_evaluation${query}`),
      ]
      expect([short.status, short.text]).toEqual([200, long.text])
      const returned = ({ headers }: typeof short) =>
        Object.fromEntries(
          [...headers].filter(([name]) => !['date', 'x-request-id', 'keep-alive', 'connection'].includes(name)),
        )
      expect(returned(short)).toEqual(returned(long))
    })

    it('are for secret keys and for personal keys with the scope', async () => {
      const path = `/flags/definitions?token=${s.projectToken}`
      const seen = async (key: string | undefined, address = path) => (await s.as(key).get(address)).status
      const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'server' })
      expect(await seen(secret.value)).toBe(200)
      expect(await seen(secret.value, '/flags/definitions')).toBe(200)
      expect(await seen(secret.value, '/flags/definitions?token=phc_other')).toBe(401)
      expect(await seen(s.key, '/flags/definitions')).toBe(200)
      expect(await seen(undefined)).toBe(401)
      expect(await seen(s.projectToken)).toBe(401)
      expect(await seen('phx_unknown')).toBe(401)
      expect(await seen(s.key, '/flags/definitions?token=phc_unknown')).toBe(401)
      const { body: narrow } = await s.post('/api/personal_api_keys/', { label: 'narrow', scopes: ['cohort:read'] })
      expect(await seen(narrow.value)).toBe(403)
      const stranger = await s.stranger(`definitions-${dialect}`)
      expect(await seen(stranger.key)).toBe(401)
      const { body: reader } = await s.post('/api/personal_api_keys/', { label: 'r', scopes: ['feature_flag:read'] })
      expect(await seen(reader.value)).toBe(200)
      await s.delete(`/api/personal_api_keys/${reader.id}/`)
      expect(await seen(reader.value)).toBe(401)
      await s.delete(`${s.project}/secret_keys/${secret.id}/`)
      expect(await seen(secret.value)).toBe(401)
    })
  })

  it('4.2 GET local_evaluation has the shape of a flag, with the definitions next to it', async () => {
    const path = `${flags}local_evaluation/?send_cohorts`
    const { status, headers, body } = await s.get(path)
    expect([status, body.id, body.key, body.created_by.email]).toEqual([200, 0, '', 'owner@halyard.local'])
    const { body: definitions } = await s.get(`/flags/definitions?token=${s.projectToken}&send_cohorts`)
    expect(body).toMatchObject(definitions)
    const unchanged = await s.get(path, { 'if-none-match': headers.get('etag') ?? '' })
    expect([unchanged.status, unchanged.text]).toEqual([304, ''])
    expect((await s.as(undefined).get(path)).status).toBe(401)
    expect((await s.get(`/api/projects/@current/feature_flags/local_evaluation/?token=${s.projectToken}`)).status).toBe(
      200,
    )
  })

  it('remote_config returns the payload of a flag by key or id, as a JSON string', async () => {
    const path = (key: string | number, project: string | number = '@current') =>
      `/api/projects/${project}/feature_flags/${key}/remote_config?token=${s.projectToken}`
    expect(JSON.parse((await s.get(path('on'))).body)).toEqual({ a: 1 })
    expect(JSON.parse((await s.get(path(ids.on!, s.projectId))).body)).toEqual({ a: 1 })
    const none = await s.get(path('none'))
    expect([none.status, none.text]).toEqual([200, ''])
    expect((await s.get(path('unknown'))).status).toBe(404)
    expect((await s.get(path('on', 999_999))).status).toBe(404)
    expect((await s.as(undefined).get(path('on'))).status).toBe(401)
  })

  it('config and config.js start posthog-js', async () => {
    const config = await anonymous.get(`/array/${s.projectToken}/config`)
    expect(config.body).toMatchObject({
      token: s.projectToken,
      hasFeatureFlags: true,
      analytics: { endpoint: '/i/v0/e/' },
    })
    expect(config.body).not.toHaveProperty('surveys')
    const script = await anonymous.get(`/array/${s.projectToken}/config.js`)
    expect(script.headers.get('content-type')).toMatch('javascript')
    expect(script.headers.get('access-control-allow-origin')).toBe('*')
    const page: { _POSTHOG_REMOTE_CONFIG?: Record<string, unknown> } = {}
    new Function('window', script.text)(page)
    expect(page._POSTHOG_REMOTE_CONFIG).toEqual({ [s.projectToken]: { config: config.body, siteApps: [] } })
    expect((await anonymous.get('/array/phc_unknown/config')).status).toBe(404)
    expect((await anonymous.get(`/array/${encodeURIComponent('</script>')}/config.js`)).status).toBe(404)
  })

  it('returns the optional parts of the response on request', async () => {
    expect((await anonymous.get(`/api/surveys/?token=${s.projectToken}`)).body).toMatchObject({ surveys: [] })
    expect((await anonymous.get('/api/early_access_features/?token=x')).body).toEqual({ earlyAccessFeatures: [] })
  })
})
