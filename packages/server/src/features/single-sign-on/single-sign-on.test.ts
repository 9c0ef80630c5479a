import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../testing/scenario.ts'
import {
  addProvider,
  addVerifiedDomain,
  clientId,
  finishSignIn,
  signInWith,
  startSignIn,
  tokenResponse,
  verifyAddress,
} from '../../testing/single-sign-on.ts'
import { startTokenIssuer, type TokenIssuer } from '../../testing/token-issuer.ts'
import { resetFactors } from '../second-factor/change-factors.ts'

const credentials = { email: 'owner@example.com', password: 'owner-password-1' }
const logoutEvents = { 'http://schemas.openid.net/event/backchannel-logout': {} }

/** Adds a second factor to the account of a session. */
async function addAuthenticatorApp(client: Client) {
  const path = '/api/users/@me/second_factors/'
  const { token, secret } = (await client.post(`${path}code/`)).body
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  const { body } = await client.post(`${path}code/confirm/`, { token, code })
  const [factor] = (await client.get(path)).body.factors
  const userId: number = (await client.get('/api/users/@me/')).body.id
  return { id: factor.id as string, recoveryCodes: body.recovery_codes as string[], userId }
}

onEachDatabase('single sign-on', dialect => {
  let issuer: TokenIssuer
  let s: Scenario
  let other: Scenario
  let providerId: string
  let roleId: string
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    const environment = {
      HALYARD_TRUSTED_ORIGINS: issuer.url,
      HALYARD_OWNER_EMAIL: credentials.email,
      HALYARD_OWNER_PASSWORD: credentials.password,
    }
    s = await startScenario(dialect, { environment })
    other = await s.startAnother({ environment })
    roleId = (await s.post(`${s.organization}/roles/`, { name: 'Checkout' })).body.id
    providerId = await addProvider(s, issuer.url, {
      group_mappings: [
        { group: 'platform', level: 8 },
        { group: 'checkout', role_id: roleId },
      ],
    })
    await addVerifiedDomain(s, 'example.com')
  }, 60_000)
  afterAll(async () => {
    await s.close()
    await issuer.close()
  })

  const verified = (name: string) => ({ email: `${name}@example.com`, email_verified: true })
  const memberOf = async (email: string) =>
    (await s.get(`${s.organization}/members/?limit=100`)).body.results.find(
      (member: { user: { email: string } }) => member.user.email === email,
    )
  const providerNow = async () => (await s.get(`${s.organization}/identity_providers/${providerId}/`)).body
  const logout = async (node: Scenario, token: string) =>
    node.as(undefined).send(`/api/login/sso/${providerId}/backchannel_logout/`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: token }).toString(),
    })

  it('creates an account on the first sign-in, and finds it by its subject afterwards', async () => {
    const first = await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada'), given_name: 'Ada' })
    expect(first.status).toBe(200)
    expect(first.body).toMatchObject({ user: { email: 'ada@example.com', first_name: 'Ada' }, next: '/' })
    expect((await s.as(first.body.api_key).get(`${s.project}/feature_flags/`)).status).toBe(200)
    const moved = await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada.lovelace'), groups: [] })
    expect(moved.body.user).toMatchObject({ id: first.body.user.id, email: 'ada@example.com' })
  })

  it('binds the attempt to the browser with a cookie that scripts and other sites do not get', async () => {
    const reply = await s.as(undefined).post(`/api/login/sso/${providerId}/start/`, {})
    expect(reply.headers.get('set-cookie')).toMatch(
      /^halyard_sso=[^;]+; Max-Age=600; Path=\/api\/login\/sso; HttpOnly; SameSite=Lax$/,
    )
    const { searchParams } = new URL(reply.body.redirect_url)
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: clientId,
      code_challenge_method: 'S256',
      response_type: 'code',
      scope: 'openid email profile',
      redirect_uri: (await providerNow()).redirect_uri,
    })
    const fromElsewhere = { 'sec-fetch-site': 'cross-site' }
    expect((await s.as(undefined).post(`/api/login/sso/${providerId}/start/`, {}, fromElsewhere)).status).toBe(403)
  })

  it('finishes on one node what was started on another, once', async () => {
    const started = await startSignIn(s, providerId, `${s.project}/flags`)
    issuer.onToken = async () => ({
      body: await tokenResponse(issuer, { sub: 'nodes', nonce: started.nonce, ...verified('nodes') }),
    })
    const parameters = { code: 'code', state: started.state }
    const [one, two] = await Promise.all([
      finishSignIn(other, providerId, started.cookie, parameters),
      finishSignIn(s, providerId, started.cookie, parameters),
    ])
    expect([one.status, two.status].sort()).toEqual([200, 401])
    expect((one.status === 200 ? one : two).body.next).toBe(`${s.project}/flags`)
  })

  it('gives level and roles by groups on every sign-in, and leaves them when the claim is missing', async () => {
    const signIn = (groups?: readonly string[]) =>
      signInWith(s, issuer, providerId, { sub: 'grace', ...verified('grace'), ...(groups && { groups }) })
    const rolesOf = async (email: string) =>
      (await s.get(`${s.organization}/roles/${roleId}/`)).body.members.includes(email)
    await signIn(['platform', 'checkout', 'unknown'])
    expect([(await memberOf('grace@example.com')).level, await rolesOf('grace@example.com')]).toEqual([8, true])
    expect((await providerNow()).problem).toBeNull()
    await signIn()
    expect([(await memberOf('grace@example.com')).level, await rolesOf('grace@example.com')]).toEqual([8, true])
    expect((await providerNow()).problem).toContain('`groups` was missing')
    await signIn([])
    expect([(await memberOf('grace@example.com')).level, await rolesOf('grace@example.com')]).toEqual([1, false])
  })

  it('links a member by a verified address of a verified domain, and never an account outside of the organization', async () => {
    const ben = await s.join('ben')
    await verifyAddress(s, ben)
    const linked = await signInWith(s, issuer, providerId, { sub: 'ben', ...verified('ben') })
    expect(linked.body.user.id).toBe(ben.id)
    const another = await signInWith(s, issuer, providerId, { sub: 'ben again', ...verified('ben') })
    expect([another.status, another.body.code]).toEqual([401, 'sso_account_elsewhere'])

    const cleo = await s.join('cleo')
    await verifyAddress(s, cleo)
    const unverified = await signInWith(s, issuer, providerId, { sub: 'cleo', email: cleo.email })
    expect([unverified.status, unverified.body.code]).toEqual([401, 'sso_account_elsewhere'])

    const stranger = await s.stranger('mallory')
    const taken = await signInWith(s, issuer, providerId, {
      sub: 'mallory',
      email: 'mallory@elsewhere.example',
      email_verified: true,
    })
    expect([taken.status, taken.body.code]).toEqual([401, 'sso_account_elsewhere'])
    expect((await stranger.get(`${stranger.project}/feature_flags/`)).status).toBe(200)
  })

  it('keeps members from entering the address of a colleague, whose sign-in would be linked to their account', async () => {
    const squatter = await s.join('squatter')
    const entered = { email: 'chief@example.com', current_password: 'correct horse battery' }
    const refused = await squatter.patch('/api/users/@me/', entered)
    expect([refused.status, refused.body.attr]).toEqual([400, 'email'])
    const chief = await signInWith(s, issuer, providerId, { sub: 'chief', ...verified('chief') })
    expect(chief.body.user.id).not.toBe(squatter.id)
  })

  it('does not bring back a member who was removed, unless they are invited', async () => {
    const first = await signInWith(s, issuer, providerId, { sub: 'dora', ...verified('dora') })
    await s.delete(`${s.organization}/members/${first.body.user.uuid}/`)
    expect((await signInWith(s, issuer, providerId, { sub: 'dora', ...verified('dora') })).status).toBe(401)
    await s.post(`${s.organization}/invites/`, { target_email: 'dora@example.com', level: 8 })
    const again = await signInWith(s, issuer, providerId, { sub: 'dora', ...verified('dora') })
    expect(again.body.user.id).toBe(first.body.user.id)
    expect((await memberOf('dora@example.com')).level).toBe(8)
  })

  it('opens a session that reaches the organization of the provider alone', async () => {
    const eve = await s.join('eve', 8)
    await verifyAddress(s, eve)
    const own = (await eve.post('/api/organizations/', { name: 'Of Eve' })).body
    const session = s.as((await signInWith(s, issuer, providerId, { sub: 'eve', ...verified('eve') })).body.api_key)
    expect((await session.get(`${s.organization}/`)).status).toBe(200)
    expect((await session.get(`/api/organizations/${own.id}/`)).status).toBe(404)
    expect(
      (await session.post('/api/personal_api_keys/', { label: 'wide', scopes: ['*'], scoped_organizations: [] }))
        .status,
    ).toBe(400)
    expect((await eve.get(`/api/organizations/${own.id}/`)).status).toBe(200)
  })

  it('opens a session that cannot add or remove second factors, which would reach other organizations', async () => {
    const { body } = await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada') })
    const session = s.as(body.api_key)
    for (const path of ['second_factors/code/', 'second_factors/passkey/', 'recovery_codes/']) {
      expect((await session.post(`/api/users/@me/${path}`, {})).status, path).toBe(403)
    }
  })

  it('ends the session with the one at the provider', async () => {
    const soon = Math.floor(Date.now() / 1000) + 600
    const limited = await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada'), session_expiry: soon })
    expect(Date.parse(limited.body.expires_at)).toBe(soon * 1000)
  })

  it('signs out at the provider as well', async () => {
    const session = s.as((await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada') })).body.api_key)
    const reply = await session.post('/api/logout/')
    expect(reply.status).toBe(200)
    const address = new URL(reply.body.redirect_url)
    expect(address.origin + address.pathname).toBe(`${issuer.url}/logout`)
    expect(address.searchParams.get('post_logout_redirect_uri')).toBe(`${s.url}/login`)
    expect(address.searchParams.get('id_token_hint')).toMatch(/^ey/)
    expect((await session.get('/api/users/@me/')).status).toBe(401)
  })

  it('ends sessions on both nodes when the provider sends a logout token, which works once', async () => {
    const one = await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada'), sid: 'session 1' })
    const two = await signInWith(other, issuer, providerId, { sub: 'ada', ...verified('ada'), sid: 'session 2' })
    const status = async (node: Scenario, key: string) => (await node.as(key).get('/api/users/@me/')).status
    expect([await status(other, one.body.api_key), await status(s, two.body.api_key)]).toEqual([200, 200])
    const token = await issuer.sign({ aud: clientId, sid: 'session 1', jti: 'a', events: logoutEvents })
    expect((await logout(s, token)).status).toBe(200)
    expect([await status(s, one.body.api_key), await status(other, one.body.api_key)]).toEqual([401, 401])
    expect(await status(other, two.body.api_key)).toBe(200)
    expect((await logout(other, token)).status).toBe(400)
    const all = await issuer.sign({ aud: clientId, sub: 'ada', jti: 'b', events: logoutEvents })
    expect((await logout(other, all)).status).toBe(200)
    expect([await status(s, two.body.api_key), await status(other, two.body.api_key)]).toEqual([401, 401])
  })

  it('offers providers by domain or organization, whether or not an account exists', async () => {
    const offer = async (query: string) => (await s.as(undefined).get(`/api/login/sso/?${query}`)).body
    expect(await offer('domain=EXAMPLE.com')).toEqual([{ id: providerId, name: 'Test provider' }])
    const { slug } = (await s.get(`${s.organization}/`)).body
    expect(await offer(`organization=${slug}`)).toHaveLength(1)
    expect(await offer('domain=elsewhere.example')).toEqual([])
    expect(await offer('')).toEqual([])
  })

  it('says so when the provider is unavailable, and everything else goes on', async () => {
    const { body } = await signInWith(s, issuer, providerId, { sub: 'ada', ...verified('ada') })
    const started = await startSignIn(s, providerId)
    issuer.isDown = true
    const reply = await finishSignIn(s, providerId, started.cookie, { code: 'code', state: started.state })
    expect([reply.status, reply.body.code]).toEqual([503, 'sso_unavailable'])
    expect((await s.as(body.api_key).get('/api/users/@me/')).status).toBe(200)
    expect((await s.as(undefined).post('/flags/', { token: s.projectToken, distinct_id: 'x' })).status).toBe(200)
    const test = await s.post(`${s.organization}/identity_providers/${providerId}/test/`)
    expect(test.body).toMatchObject({ is_usable: false, problems: [expect.stringContaining('could not be read')] })
    issuer.isDown = false
    expect((await s.post(`${s.organization}/identity_providers/${providerId}/test/`)).body).toEqual({
      is_usable: true,
      problems: [],
    })
    issuer.metadata = { scopes_supported: ['openid', 'profile'] }
    expect((await s.post(`${s.organization}/identity_providers/${providerId}/test/`)).body).toEqual({
      is_usable: true,
      problems: ['The provider does not list the scope `email`. It may support it anyway.'],
    })
    issuer.metadata = {}
  })

  it('keeps the client secret to itself, and records changes without it', async () => {
    const path = `${s.organization}/identity_providers/${providerId}/`
    const changed = await s.patch(path, { client_secret: 'another-secret', name: 'Renamed' })
    expect(changed.text + (await s.get(path)).text).not.toContain('another-secret')
    expect(changed.body).toMatchObject({ has_client_secret: true, name: 'Renamed' })
    const stored = await s.halyard.database.read(tx => tx.identityProviders.find(providerId))
    expect(stored?.clientSecret).toMatch(/^v1:/)
  })

  it('is managed by the owner; admins read and test', async () => {
    const admin = await s.join('admin', 8)
    const member = await s.join('member')
    const path = `${s.organization}/identity_providers/`
    const content = { name: 'Mine', issuer: issuer.url, client_id: 'x' }
    expect((await admin.get(path)).status).toBe(200)
    expect((await admin.post(`${path}${providerId}/test/`)).status).toBe(200)
    expect((await admin.post(path, content)).status).toBe(403)
    expect((await admin.patch(`${path}${providerId}/`, { name: 'Mine' })).status).toBe(403)
    expect((await admin.delete(`${path}${providerId}/`)).status).toBe(403)
    expect((await member.get(path)).status).toBe(403)
    const stranger = await s.stranger('strange')
    expect((await stranger.get(`${stranger.organization}/identity_providers/${providerId}/`)).status).toBe(404)
    for (const wrong of [
      { ...content, issuer: 'http://127.0.0.1:1' },
      { ...content, issuer: 'https://user:secret@idp.example' },
      { ...content, default_level: 15 },
      { ...content, group_mappings: [{ group: 'x', level: 15 }] },
      { ...content, group_mappings: [{ group: 'x' }] },
      { ...content, group_mappings: [{ group: 'x', role_id: stranger.organization.slice(-36) }] },
    ]) {
      expect((await s.post(path, wrong)).status).toBe(400)
    }
    // A database could store it, and not read it again.
    const tooLarge = await s.patch(`${path}${providerId}/`, { default_level: 2 ** 53 })
    expect([tooLarge.status, tooLarge.body.attr]).toEqual([400, 'default_level'])
  })

  it('can be required: passwords then reach other organizations only, except for the owner', async () => {
    const frank = await s.join('frank', 8)
    const gina = await s.join('gina')
    await verifyAddress(s, gina)
    await frank.post('/api/organizations/', { name: 'Of Frank' })
    const requirement = `${s.organization}/single_sign_on/`
    expect((await frank.patch(requirement, { is_required: true })).status).toBe(403)
    const lacking = await s.patch(requirement, { is_required: true })
    expect([lacking.status, lacking.body.attr]).toEqual([400, 'is_required'])
    expect(lacking.body.detail).toContain('second factor')
    const signIn = (email: string, password = 'correct horse battery') =>
      other.as(undefined).post('/api/login/', { email, password })
    const owner = s.as((await signIn(credentials.email, credentials.password)).body.api_key)
    const app = await addAuthenticatorApp(owner)
    expect((await s.patch(requirement, { is_required: true })).body).toEqual({ is_required: true })
    const last = await owner.delete(`/api/users/@me/second_factors/${app.id}/`)
    expect([last.status, last.body.code]).toEqual([400, 'required'])
    expect((await gina.get(`${s.organization}/`)).status).toBe(404)
    const refused = await signIn(gina.email)
    expect([refused.status, refused.body.code]).toEqual([403, 'sso_required'])
    expect((await signIn(gina.email, 'wrong')).status).toBe(401)
    const elsewhere = other.as((await signIn(frank.email)).body.api_key)
    expect(
      (await elsewhere.get('/api/organizations/')).body.results.map((each: { name: string }) => each.name),
    ).toEqual(['Of Frank'])
    const newKey = (client: Client, fields = {}) =>
      client.post('/api/personal_api_keys/', { label: 'Key', scopes: ['*'], ...fields })
    for (const client of [elsewhere, frank, gina]) {
      const everywhere = await newKey(client)
      expect([everywhere.status, everywhere.body.attr], 'a key for all organizations').toEqual([400, 'scoped_teams'])
    }
    const [ofFrank] = (await elsewhere.get('/api/organizations/')).body.results
    const limited = await newKey(elsewhere, { scoped_organizations: [ofFrank.id] })
    expect((await s.as(limited.body.value).get(`${s.organization}/`)).status).toBe(404)
    const pending = await signIn(credentials.email, credentials.password)
    expect([pending.status, pending.body.methods]).toEqual([202, ['code', 'recovery_code']])
    const opened = await other
      .as(undefined)
      .post('/api/login/second_factor/', { token: pending.body.token, recovery_code: app.recoveryCodes[0] })
    expect((await other.as(opened.body.api_key).get(`${s.organization}/`)).status).toBe(200)
    const heir = (await s.get(`${s.organization}/members/`)).body.results.find(
      (member: { user: { email: string } }) => member.user.email === frank.email,
    )
    const handedOver = await s.patch(`${s.organization}/members/${heir.user.uuid}/`, { level: 15 })
    expect([handedOver.status, handedOver.body.attr], 'an owner without a factor').toEqual([400, 'level'])
    // After a lost device, the password alone opens nothing but the set-up of a new factor.
    await s.halyard.database.transaction(tx => resetFactors(tx, app.userId, instantOf(new Date())))
    const bare = other.as((await signIn(credentials.email, credentials.password)).body.api_key)
    expect((await bare.get(`${s.organization}/`)).status).toBe(403)
    expect((await bare.get('/api/users/@me/second_factors/')).body.required_by).toHaveLength(1)
    const session = await signInWith(other, issuer, providerId, { sub: 'gina', ...verified('gina') })
    expect((await other.as(session.body.api_key).get(`${s.organization}/`)).status).toBe(200)
    const path = `${s.organization}/identity_providers/${providerId}/`
    expect((await s.patch(path, { enabled: false })).status).toBe(400)
    expect((await s.delete(path)).status).toBe(400)
    await s.patch(requirement, { is_required: false })
    expect((await gina.get(`${s.organization}/`)).status).toBe(200)
  })

  it('ends its sessions when the provider is removed', async () => {
    const extra = await addProvider(s, issuer.url)
    const { body } = await signInWith(s, issuer, extra, { sub: 'ada', ...verified('ada') })
    expect((await other.as(body.api_key).get('/api/users/@me/')).status).toBe(200)
    expect((await s.delete(`${s.organization}/identity_providers/${extra}/`)).status).toBe(204)
    expect((await other.as(body.api_key).get('/api/users/@me/')).status).toBe(401)
    expect((await s.as(undefined).post(`/api/login/sso/${extra}/start/`, {})).status).toBe(404)
  })
})
