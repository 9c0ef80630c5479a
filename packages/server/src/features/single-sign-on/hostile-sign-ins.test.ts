import { exportJWK, exportSPKI, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Reply, type Scenario, startTwoNodes, type TwoNodes } from '../../testing/scenario.ts'
import {
  addProvider,
  addVerifiedDomain,
  clientId,
  finishSignIn,
  type StartedSignIn,
  signInWith,
  startSignIn,
  verifyAddress,
} from '../../testing/single-sign-on.ts'
import { startTokenIssuer, type TokenIssuer } from '../../testing/token-issuer.ts'

onEachDatabase('hostile sign-ins on two nodes', dialect => {
  let issuer: TokenIssuer
  let evil: TokenIssuer
  let nodes: TwoNodes
  /** Where sign-ins start and end. */
  let s: Scenario
  let other: Scenario
  let providerId: string
  let evilId: string
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    evil = await startTokenIssuer()
    nodes = await startTwoNodes(dialect, { environment: { HALYARD_TRUSTED_ORIGINS: `${issuer.url},${evil.url}` } })
    s = nodes.one
    other = nodes.two
    providerId = await addProvider(s, issuer.url)
    evilId = await addProvider(s, evil.url)
    await addVerifiedDomain(s, 'example.com')
    await verifyAddress(s, await s.join('victim', 8))
  }, 60_000)
  afterAll(async () => {
    await nodes.close()
    await issuer.close()
    await evil.close()
  })

  const now = () => Math.floor(Date.now() / 1000)
  const honest = (started: StartedSignIn) => ({
    sub: 'honest',
    aud: clientId,
    nonce: started.nonce,
    email: 'honest@example.com',
    email_verified: true,
  })
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const response = (idToken: unknown) => ({ access_token: 'access', token_type: 'Bearer', id_token: idToken })

  /** Finishes a sign-in whose token endpoint returns this ID token. */
  async function withToken(makeToken: (started: StartedSignIn) => Promise<unknown>): Promise<Reply> {
    const started = await startSignIn(s, providerId)
    issuer.onToken = async () => ({ body: response(await makeToken(started)) })
    return finishSignIn(other, providerId, started.cookie, { code: 'code', state: started.state })
  }
  const withClaims = (claims: Record<string, unknown>, header = {}) =>
    withToken(started => issuer.sign({ ...honest(started), ...claims } as JWTPayload, header))
  const claimsOf = (started: StartedSignIn) => ({ iss: issuer.url, iat: now(), exp: now() + 300, ...honest(started) })

  const tokens: Record<string, () => Promise<Reply>> = {
    'alg none': () => withToken(async each => `${encode({ alg: 'none' })}.${encode(claimsOf(each))}.`),
    'alg None': () => withToken(async each => `${encode({ alg: 'None' })}.${encode(claimsOf(each))}.`),
    'no alg': () => withToken(async each => `${encode({})}.${encode(claimsOf(each))}.AAAA`),
    'HS256 with the public key': () =>
      withToken(async each =>
        new SignJWT(claimsOf(each))
          .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
          .sign(new TextEncoder().encode(await exportSPKI(issuer.publicKey()))),
      ),
    'HS256 with the client secret': () =>
      withToken(async each =>
        new SignJWT(claimsOf(each))
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode('client-secret'.padEnd(32, '-'))),
      ),
    'the key of another issuer': () => withToken(each => evil.sign(claimsOf(each))),
    'jku of another issuer': () => withToken(each => evil.sign(claimsOf(each), { jku: `${evil.url}/jwks` })),
    'x5u of another issuer': () => withToken(each => evil.sign(claimsOf(each), { x5u: `${evil.url}/jwks` })),
    'its own key in the header': () =>
      withToken(async each => evil.sign(claimsOf(each), { jwk: await exportJWK(evil.publicKey()) })),
    'a sub that is too long': () => withClaims({ sub: 'x'.repeat(256) }),
    'an unknown kid': () => withClaims({}, { kid: 'unknown' }),
    'a critical header': () => withClaims({}, { crit: ['exp'], exp: 1 }),
    'a changed payload': () =>
      withToken(async each => {
        const [header, , signature] = (await issuer.sign(honest(each))).split('.')
        return `${header}.${encode({ ...claimsOf(each), sub: 'other' })}.${signature}`
      }),
    'an empty signature': () => withToken(async each => (await issuer.sign(honest(each))).replace(/[^.]+$/, '')),
    'no ID token': () => withToken(async () => undefined),
    'an ID token that is none': () => withToken(async () => 'x.y.z'),
    'a number as ID token': () => withToken(async () => 7),
    'another aud': () => withClaims({ aud: 'other-client' }),
    'no aud': () => withClaims({ aud: undefined }),
    'several aud without azp': () => withClaims({ aud: [clientId, 'other-client'] }),
    'several aud with another azp': () => withClaims({ aud: [clientId, 'other'], azp: 'other' }),
    'another azp': () => withClaims({ azp: 'other-client' }),
    'another iss': () => withClaims({ iss: 'https://accounts.google.com' }),
    'iss with a slash': () => withClaims({ iss: `${issuer.url}/` }),
    'no iss': () => withClaims({ iss: undefined }),
    'another nonce': () => withClaims({ nonce: 'other' }),
    'no nonce': () => withClaims({ nonce: undefined }),
    expired: () => withClaims({ exp: now() - 3600 }),
    'no exp': () => withClaims({ exp: undefined }),
    'exp as text': () => withClaims({ exp: '9999999999' }),
    'iat in the future': () => withClaims({ iat: now() + 3600 }),
    'no iat': () => withClaims({ iat: undefined }),
    'nbf in the future': () => withClaims({ nbf: now() + 3600 }),
    'no sub': () => withClaims({ sub: undefined }),
    'an empty sub': () => withClaims({ sub: '' }),
    'sub as a list': () => withClaims({ sub: ['honest'] }),
    'no email': () => withClaims({ sub: 'new', email: undefined }),
    'an email with two addresses': () => withClaims({ sub: 'new', email: 'a@example.com,b@example.com' }),
    'an email that only looks like another': () => withClaims({ sub: 'new', email: 'victim@exаmple.com' }),
    'the unverified email of a member': () =>
      withClaims({ sub: 'thief', email: 'victim@example.com', email_verified: false }),
    'the email of a member, verified as text': () =>
      withClaims({ sub: 'thief', email: 'victim@example.com', email_verified: 'true' }),
    'the email of a member without a statement': () =>
      withClaims({ sub: 'thief', email: 'VICTIM@example.com', email_verified: undefined }),
  }
  for (const [what, attack] of Object.entries(tokens)) {
    it(`are refused: a token with ${what}`, async () => {
      const reply = await attack()
      expect(reply.status, reply.text).toBe(401)
      expect(reply.body).not.toHaveProperty('api_key')
    })
  }

  it('are refused: callbacks that do not belong to the browser, the attempt or the provider', async () => {
    const started = await startSignIn(s, providerId)
    const another = await startSignIn(s, providerId)
    const atEvil = await startSignIn(s, evilId)
    issuer.onToken = async () => ({ body: response(await issuer.sign(honest(started))) })
    evil.onToken = async () => ({ body: response(await evil.sign(honest(atEvil))) })
    const right = { code: 'code', state: started.state }
    const attempts: [string, string, string, Record<string, string> | string][] = [
      ['no cookie', providerId, '', right],
      ['the cookie of another attempt', providerId, another.cookie, right],
      ['a cookie that was changed', providerId, `${started.cookie.slice(0, -8)}AAAAAAAA`, right],
      ['a cookie that is text', providerId, 'halyard_sso=hello', right],
      ['the state of another attempt', providerId, started.cookie, { ...right, state: another.state }],
      ['no state', providerId, started.cookie, { code: 'code' }],
      ['two states', providerId, started.cookie, `code=code&state=${started.state}&state=${started.state}`],
      ['the provider of another attempt', evilId, started.cookie, right],
      ['mixed-up providers', providerId, atEvil.cookie, { code: 'code', state: atEvil.state }],
      ['an unknown provider', '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d', started.cookie, right],
    ]
    for (const [what, id, cookie, parameters] of attempts) {
      const reply = await finishSignIn(other, id, cookie, parameters)
      expect([401, 404], what).toContain(reply.status)
    }
    expect((await finishSignIn(other, providerId, started.cookie, right)).status).toBe(200)
    for (const node of [other, s])
      expect((await finishSignIn(node, providerId, started.cookie, right)).status, 'replayed').toBe(401)
    const cross = { cookie: another.cookie, origin: 'https://evil.example' }
    const path = `/api/login/sso/${providerId}/finish/`
    const parameters = new URLSearchParams({ code: 'code', state: another.state }).toString()
    expect((await s.as(undefined).post(path, { parameters }, cross)).status, 'another site').toBe(403)
  })

  it('are refused: the issuer of another provider, an error, no code, two codes, and a code that was used', async () => {
    const finish = async (parameters: (state: string) => string) => {
      const started = await startSignIn(s, providerId)
      issuer.onToken = async () => ({ body: response(await issuer.sign(honest(started))) })
      return (await finishSignIn(other, providerId, started.cookie, parameters(started.state))).status
    }
    expect(await finish(state => `code=c&state=${state}&iss=${encodeURIComponent(evil.url)}`)).toBe(401)
    expect(await finish(state => `error=access_denied&state=${state}`)).toBe(401)
    expect(await finish(state => `state=${state}`)).toBe(401)
    expect(await finish(state => `code=c&code=d&state=${state}`)).toBe(401)
    expect(await finish(state => `id_token=x&state=${state}`)).toBe(401)
    const started = await startSignIn(s, providerId)
    issuer.onToken = async () => ({ status: 400, body: { error: 'invalid_grant' } })
    const used = await finishSignIn(other, providerId, started.cookie, { code: 'used', state: started.state })
    expect(used.status).toBe(401)
  })

  it('prove the code with PKCE and the client secret', async () => {
    const started = await startSignIn(s, providerId)
    let form = new URLSearchParams()
    issuer.onToken = async sent => {
      form = sent
      return { body: response(await issuer.sign(honest(started))) }
    }
    await finishSignIn(other, providerId, started.cookie, { code: 'code', state: started.state })
    expect(Object.fromEntries(form)).toMatchObject({
      grant_type: 'authorization_code',
      client_secret: 'client-secret',
      code_verifier: expect.stringMatching(/^[\w-]{43,}$/),
      redirect_uri: expect.stringContaining(`/login/sso/${providerId}`),
    })
    expect(started.authorization.searchParams.get('code_challenge')).not.toBe(form.get('code_verifier'))
  })

  it('never lead to another site', async () => {
    for (const next of [
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/..//evil.example',
      'javascript:1',
    ]) {
      const started = await startSignIn(s, providerId, next)
      issuer.onToken = async () => ({ body: response(await issuer.sign(honest(started))) })
      const reply = await finishSignIn(other, providerId, started.cookie, { code: 'code', state: started.state })
      expect([reply.status, reply.body.next], next).toEqual([200, '/'])
    }
  })

  it('never reach private addresses, whatever a discovery document says', async () => {
    const path = `${s.organization}/identity_providers/`
    const content = { name: 'x', issuer: 'https://127.0.0.1:9', client_id: 'x' }
    const inside = (await s.post(path, content)).body.id
    expect((await s.as(undefined).post(`/api/login/sso/${inside}/start/`, {})).status).toBe(503)
    expect((await s.post(`${path}${inside}/test/`)).body.problems[0]).toContain('not a public address')
    const liar = await startTokenIssuer()
    evil.metadata = { token_endpoint: `${liar.url}/token`, jwks_uri: `${liar.url}/jwks` }
    const redirected = await addProvider(s, `${evil.url}`)
    const started = await startSignIn(s, redirected).catch(() => undefined)
    if (started) {
      const parameters = { code: 'code', state: started.state }
      expect((await finishSignIn(other, redirected, started.cookie, parameters)).status).not.toBe(200)
    }
    expect(liar.requests).toEqual([])
    evil.metadata = {}
    await liar.close()
  })

  it('with forged logout tokens end no session', async () => {
    const claims = { sub: 'honest', email: 'honest@example.com', email_verified: true, sid: 'kept' }
    const session = s.as((await signInWith(s, issuer, providerId, claims)).body.api_key)
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const right = { aud: clientId, sub: 'honest', sid: 'kept', jti: 'x', events }
    const forged = {
      'alg none': `${encode({ alg: 'none' })}.${encode({ iss: issuer.url, iat: now(), exp: now() + 60, ...right })}.`,
      'another key': await evil.sign({ iss: issuer.url, ...right }),
      'another issuer': await issuer.sign({ ...right, iss: evil.url }),
      'another aud': await issuer.sign({ ...right, aud: 'other' }),
      'a nonce': await issuer.sign({ ...right, nonce: 'n' }),
      'no event': await issuer.sign({ ...right, events: undefined } as unknown as JWTPayload),
      'another event': await issuer.sign({ ...right, events: { other: {} } }),
      'no jti': await issuer.sign({ ...right, jti: undefined } as unknown as JWTPayload),
      'neither sub nor sid': await issuer.sign({ aud: clientId, jti: 'y', events }),
      expired: await issuer.sign({ ...right, exp: now() - 3600 }),
      'an old iat': await issuer.sign({ ...right, iat: now() - 3600 }),
      'an iat in the future': await issuer.sign({ ...right, iat: now() + 3600 }),
      'another subject': await issuer.sign({ ...right, sub: 'other', jti: 'z' }),
    }
    for (const [what, token] of Object.entries(forged)) {
      const reply = await other.as(undefined).send(`/api/login/sso/${providerId}/backchannel_logout/`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ logout_token: token }).toString(),
      })
      expect(reply.status, what).toBe(what === 'another subject' ? 200 : 400)
      expect((await session.get('/api/users/@me/')).status, what).toBe(200)
    }
  })

  it('fill the audit log no faster than thirty entries per minute and provider', async () => {
    const flooded = await addProvider(s, issuer.url)
    const refusedOnce = async () => {
      const started = await startSignIn(s, flooded)
      return (await finishSignIn(s, flooded, started.cookie, { error: 'access_denied', state: started.state })).status
    }
    const statuses = await Promise.all(Array.from({ length: 40 }, refusedOnce))
    expect(new Set(statuses)).toEqual(new Set([401]))
    const { body } = await s.get(`${s.organization}/audit_log/?limit=100&operation=finishSingleSignOn`)
    const recorded = body.results.filter((entry: { path: object }) => JSON.stringify(entry.path).includes(flooded))
    expect(recorded).toHaveLength(30)
  })
})
