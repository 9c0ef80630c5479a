import type { JWTPayload } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Reply, type Scenario, startScenario } from '../../testing/scenario.ts'
import { startTokenIssuer, type TokenIssuer } from '../../testing/token-issuer.ts'
import { announceIdentity } from '../identity/announce-identity.ts'
import { hashSecret } from '../identity/secret.ts'

const audience = 'https://flags.acme.com'
const tokenType = 'urn:ietf:params:oauth:token-type'

/** Claims as GitHub Actions, GitLab CI and Kubernetes write them, and rules for exactly one workload. */
const shapes = {
  GitHub: {
    rules: [
      { claim: 'repository', match: 'exact', value: 'acme/shop' },
      { claim: 'ref', match: 'exact', value: 'refs/heads/main' },
    ],
    claims: {
      sub: 'repo:acme/shop:ref:refs/heads/main',
      repository: 'acme/shop',
      repository_owner: 'acme',
      ref: 'refs/heads/main',
      event_name: 'push',
      workflow_ref: 'acme/shop/.github/workflows/deploy.yml@refs/heads/main',
    },
    wrong: [
      { repository: 'acme/other' },
      { repository: 'acme/shop-evil' },
      { repository: 'Acme/shop' },
      { ref: 'refs/heads/feature' },
      { ref: 'refs/heads/main2' },
      { ref: ['refs/heads/main'] },
      { repository: undefined },
    ],
  },
  GitLab: {
    rules: [
      { claim: 'project_path', match: 'exact', value: 'acme/shop' },
      { claim: 'ref_protected', match: 'exact', value: 'true' },
      { claim: 'sub', match: 'prefix', value: 'project_path:acme/shop:ref_type:branch:ref:release/' },
    ],
    claims: {
      sub: 'project_path:acme/shop:ref_type:branch:ref:release/7',
      project_path: 'acme/shop',
      ref_protected: 'true',
      ref_type: 'branch',
      ref: 'release/7',
    },
    wrong: [
      { project_path: 'acme/shop2' },
      { ref_protected: 'false' },
      { ref_protected: true },
      { sub: 'project_path:acme/shop:ref_type:branch:ref:released/7' },
    ],
  },
  Kubernetes: {
    rules: [{ claim: 'sub', match: 'exact', value: 'system:serviceaccount:shop:deployer' }],
    claims: {
      sub: 'system:serviceaccount:shop:deployer',
      'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'deployer', uid: '4f7f' } },
    },
    wrong: [{ sub: 'system:serviceaccount:shop:default' }, { sub: 'system:serviceaccount:shop:deployer2' }],
  },
} as const

onEachDatabase('token exchange', dialect => {
  let issuer: TokenIssuer
  let s: Scenario
  let other: Scenario
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    const options = { environment: { HALYARD_TRUSTED_ORIGINS: issuer.url } }
    s = await startScenario(dialect, options)
    other = await s.startAnother(options)
  }, 60_000)
  afterAll(async () => {
    await s.close()
    await issuer.close()
  })

  const content = (fields: Record<string, unknown> = {}) => ({
    name: 'Deployments',
    issuer: issuer.url,
    audience,
    rules: shapes.GitHub.rules,
    scopes: ['feature_flag:write'],
    projects: [s.projectId],
    ...fields,
  })
  const trust = async (fields: Record<string, unknown> = {}): Promise<string> => {
    const reply = await s.post(`${s.organization}/trust_relationships/`, content(fields))
    expect(reply.status, reply.text).toBe(201)
    return reply.body.id
  }
  const send = (form: Record<string, string>, node: Scenario = s): Promise<Reply> =>
    node.as(undefined).send('/api/token/', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
  const exchange = (relationship: string, token: string, node?: Scenario) =>
    send(
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: `${tokenType}:jwt`,
        audience: relationship,
      },
      node,
    )
  const gitHubToken = (claims: Record<string, unknown> = {}, header = {}) =>
    issuer.sign({ aud: audience, ...shapes.GitHub.claims, ...claims }, header)

  for (const [name, { rules, claims, wrong }] of Object.entries(shapes)) {
    it(`exchanges a token of ${name} for the right workload, and no other`, async () => {
      const id = await trust({ rules })
      const sign = (change: JWTPayload = {}) => issuer.sign({ aud: audience, ...claims, ...change } as JWTPayload)
      const reply = await exchange(id, await sign())
      expect(reply.status, reply.text).toBe(200)
      expect(reply.body).toMatchObject({ token_type: 'Bearer', expires_in: 900, scope: 'feature_flag:write' })
      expect(reply.headers.get('cache-control')).toBe('no-store')
      const key = other.as(reply.body.access_token)
      expect((await key.post(`${s.project}/feature_flags/`, { key: `by-${name}` })).status).toBe(201)
      for (const change of wrong) {
        const refused = await exchange(id, await sign(change as JWTPayload))
        expect([refused.status, refused.body.error], JSON.stringify(change)).toEqual([400, 'invalid_request'])
      }
    })
  }

  it('refuses tokens that are forged, for another audience, expired or from the future', async () => {
    const id = await trust()
    const now = Math.floor(Date.now() / 1000)
    const stranger = await startTokenIssuer()
    const valid = await gitHubToken()
    const [header, payload, signature] = valid.split('.') as [string, string, string]
    const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
    const tokens = {
      'another audience': await gitHubToken({ aud: 'https://elsewhere.example' }),
      'no audience': await gitHubToken({ aud: undefined }),
      'another issuer': await gitHubToken({ iss: 'https://token.actions.githubusercontent.com' }),
      'another key': await stranger.sign({ iss: issuer.url, aud: audience, ...shapes.GitHub.claims }),
      expired: await gitHubToken({ exp: now - 120 }),
      'without expiry': await gitHubToken({ exp: undefined }),
      'from the future': await gitHubToken({ iat: now + 600 }),
      'not valid yet': await gitHubToken({ nbf: now + 600 }),
      'issued long ago': await gitHubToken({ iat: now - 2 * 86_400 }),
      'without subject': await gitHubToken({ sub: undefined }),
      'alg none': `${unsigned}.${payload}.`,
      'changed payload': `${header}.${Buffer.from('{"sub":"x"}').toString('base64url')}.${signature}`,
      'an address of keys': await stranger.sign(
        { iss: issuer.url, aud: audience, ...shapes.GitHub.claims },
        { jku: `${stranger.url}/jwks` },
      ),
      'not a token': 'x',
    }
    for (const [what, token] of Object.entries(tokens)) {
      const reply = await exchange(id, token)
      expect([reply.status, reply.body.error], what).toEqual([400, 'invalid_request'])
    }
    expect(stranger.requests).toEqual([])
    expect((await exchange(id, valid)).status).toBe(200)
    await stranger.close()
  })

  it('limits the key to its scopes, projects and time, and lists it nowhere', async () => {
    const id = await trust({ ttl_seconds: 60 })
    const { body } = await exchange(id, await gitHubToken())
    const key = s.as(body.access_token)
    const second = (await s.post(`${s.organization}/projects/`, { name: 'Second' })).body
    expect((await key.get(`${s.project}/feature_flags/`)).status).toBe(200)
    expect((await key.get(`/api/projects/${second.id}/feature_flags/`)).status).toBe(404)
    expect((await key.get(`${s.project}/cohorts/`)).status).toBe(403)
    expect((await key.get(`${s.organization}/members/`)).status).toBe(403)
    expect((await key.post('/api/personal_api_keys/', { label: 'more' })).status).toBe(403)
    expect((await s.get('/api/personal_api_keys/')).text).not.toContain('Exchanged')
    expect((await s.get(`${s.organization}/members/`)).text).not.toContain('Deployments')
    const { results } = (await s.get(`${s.project}/feature_flags/`)).body
    expect(results[0].created_by.first_name).toBe('Deployments')
    const stored = await s.halyard.database.read(tx => tx.identity.findActor(hashSecret(body.access_token)))
    expect(Date.parse(stored?.key.expiresAt ?? '') - Date.now()).toBeLessThanOrEqual(60_000)
    expect(stored?.key.label).toBe('Exchanged: repo:acme/shop:ref:refs/heads/main')
    await s.halyard.database.transaction(async tx => {
      await tx.identity.updateKey(stored?.key.id ?? '', { expiresAt: instantOf(new Date(Date.now() - 1)) })
      await announceIdentity(tx, stored?.actor.user.id ?? 0, instantOf(new Date()))
    })
    expect((await key.get(`${s.project}/feature_flags/`)).status).toBe(401)
  })

  it('stops the keys on both nodes when the relationship is changed or removed', async () => {
    const id = await trust()
    const path = `${s.organization}/trust_relationships/${id}/`
    const status = async (key: string) => [
      (await s.as(key).get(`${s.project}/feature_flags/`)).status,
      (await other.as(key).get(`${s.project}/feature_flags/`)).status,
    ]
    const first = (await exchange(id, await gitHubToken())).body.access_token
    expect(await status(first)).toEqual([200, 200])
    expect((await s.patch(path, { scopes: ['feature_flag:read'] })).status).toBe(200)
    expect(await status(first)).toEqual([401, 401])
    const second = (await exchange(id, await gitHubToken(), other)).body.access_token
    expect(await status(second)).toEqual([200, 200])
    expect((await other.delete(path)).status).toBe(204)
    expect(await status(second)).toEqual([401, 401])
    expect((await exchange(id, await gitHubToken())).body.error).toBe('invalid_target')
  })

  it('follows the rotation of the keys of the issuer', async () => {
    const id = await trust()
    const former = await gitHubToken()
    expect((await exchange(id, former)).status).toBe(200)
    await issuer.rotate()
    await expect
      .poll(async () => (await exchange(id, await gitHubToken())).status, { timeout: 10_000, interval: 300 })
      .toBe(200)
    expect((await exchange(id, former)).status).toBe(400)
  })

  it('reports an outage of the issuer as temporary, and a project that was deleted', async () => {
    const project = (await s.post(`${s.organization}/projects/`, { name: 'Short-lived' })).body
    const gone = await trust({ projects: [project.id] })
    expect((await s.delete(`/api/projects/${project.id}/`)).status).toBe(204)
    expect((await exchange(gone, await gitHubToken())).body.error).toBe('invalid_target')
    const unreachable = await s.post(
      `${s.organization}/trust_relationships/`,
      content({ issuer: 'https://idp.invalid' }),
    )
    const reply = await exchange(unreachable.body.id, await gitHubToken())
    expect([reply.status, reply.body.error]).toEqual([503, 'temporarily_unavailable'])
  })

  it('refuses a subject that is no text or cannot be stored, and does not repeat requests to an issuer that is down', async () => {
    const anyone = [{ claim: 'repository', match: 'exact', value: 'acme/shop' }]
    const id = await trust({ rules: anyone })
    for (const sub of [7, ['x'], { a: 1 }, true, '', 'nul\u0000', '\ud800', 'x'.repeat(256)]) {
      const reply = await exchange(id, await gitHubToken({ sub }))
      expect([reply.status, reply.body.error], JSON.stringify(sub)).toEqual([400, 'invalid_request'])
    }
    expect((await exchange(id, await gitHubToken({ repository: 'nul\u0000' }))).status).toBe(400)
    expect((await exchange(id, await gitHubToken({ 'other\u0000': 'nul\u0000' }))).status).toBe(200)
    const down = await startTokenIssuer()
    const node = await s.startAnother({ environment: { HALYARD_TRUSTED_ORIGINS: `${issuer.url},${down.url}` } })
    const relationship = (await node.post(`${s.organization}/trust_relationships/`, content({ issuer: down.url }))).body
    const token = await down.sign({ aud: audience, ...shapes.GitHub.claims })
    down.isDown = true
    const attempts = await Promise.all([1, 2, 3].map(() => exchange(relationship.id, token, node)))
    expect(attempts.map(({ body }) => body.error)).toEqual(Array(3).fill('temporarily_unavailable'))
    await exchange(relationship.id, token, node)
    expect(down.requests).toHaveLength(1)
    await down.close()
  })

  it('refuses rules that would trust strangers, and content that is wrong', async () => {
    const path = `${s.organization}/trust_relationships/`
    const rule = (fields: object) => ({ rules: [{ claim: 'sub', match: 'exact', value: 'x', ...fields }] })
    for (const wrong of [
      { rules: [] },
      rule({ claim: 'iss' }),
      rule({ claim: 'aud' }),
      rule({ match: 'prefix', value: 'repo:acme' }),
      rule({ match: 'prefix', value: 'repo:acme-' }),
      rule({ match: 'prefix', value: 'repo:acme/shop_' }),
      rule({ match: 'prefix', value: 'repo:' }),
      rule({ match: 'prefix', value: '::' }),
      { issuer: 'https://token.actions.githubusercontent.com', ...rule({ claim: 'ref', value: 'refs/heads/main' }) },
      { issuer: 'https://gitlab.com', ...rule({ claim: 'ref_protected', value: 'true' }) },
      rule({ match: 'suffix' }),
      { scopes: ['*'] },
      { scopes: [] },
      { scopes: ['user:write'] },
      { scopes: ['nonsense:read'] },
      { projects: [999_999] },
      { ttl_seconds: 3601 },
      { issuer: 'http://127.0.0.1:1' },
    ]) {
      expect((await s.post(path, content(wrong))).status, JSON.stringify(wrong)).toBe(400)
    }
    for (const right of [
      rule({ match: 'prefix', value: 'repo:acme/' }),
      rule({ match: 'prefix', value: 'system:serviceaccount:' }),
      rule({ claim: 'repository', match: 'prefix', value: 'acme/' }),
      { issuer: 'https://gitlab.com', ...rule({ claim: 'project_path', value: 'acme/shop' }) },
    ]) {
      expect((await s.post(path, content(right))).status, JSON.stringify(right)).toBe(201)
    }
    const member = await s.join('member')
    expect((await member.get(path)).status).toBe(403)
    expect((await member.post(path, content())).status).toBe(403)
    const stranger = await s.stranger('strange')
    expect((await stranger.get(`${stranger.organization}/trust_relationships/${await trust()}/`)).status).toBe(404)
    expect((await stranger.post(`${stranger.organization}/trust_relationships/`, content())).status).toBe(400)
  })

  it('explains a request that is not an exchange', async () => {
    const id = await trust()
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await gitHubToken(),
      subject_token_type: `${tokenType}:jwt`,
      audience: id,
    }
    const errorOf = async (change: Record<string, string>) => (await send({ ...form, ...change })).body.error
    expect(await errorOf({ grant_type: 'client_credentials' })).toBe('unsupported_grant_type')
    expect(await errorOf({ subject_token_type: `${tokenType}:saml2` })).toBe('invalid_request')
    expect(await errorOf({ subject_token: '' })).toBe('invalid_request')
    expect(await errorOf({ audience: 'unknown' })).toBe('invalid_target')
    expect((await s.as(undefined).post('/api/token/', form)).body.error).toBe('invalid_request')
    expect((await send(form)).status).toBe(200)
  })
})
