import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../testing/scenario.ts'

const password = 'correct horse battery'
const factors = '/api/users/@me/second_factors/'

onEachDatabase('second factor', dialect => {
  let nodes: readonly Scenario[]
  let s: Scenario
  beforeAll(async () => {
    const environment = { HALYARD_SECRET_KEY: 'the same on all nodes', TRUST_PROXY: '1' }
    s = await startScenario(dialect, { environment })
    nodes = [s, await s.startAnother({ environment })]
  }, 120_000)
  afterAll(() => s?.close())

  let addresses = 0
  const place = () => ({ 'x-forwarded-for': `192.0.2.${addresses++}` })
  const login = (email: string, node = s) => node.as(undefined).post('/api/login/', { email, password }, place())
  const finish = (body: object, node = nodes[1]!, address = place()) =>
    node.as(undefined).post('/api/login/second_factor/', body, address)
  const kysely = () => s.halyard.storage.kysely
  /** As if the time of the last code were long ago: a test has no half minute to wait for the next one. */
  const forgetLastCode = (userId: number) =>
    kysely().updateTable('second_factors').set({ counter: 0 }).where('user_id', '=', userId).execute()
  const ageProofs = () => kysely().updateTable('sign_ins').set({ proven_at: '2020-01-01T00:00:00.000000Z' }).execute()
  const codeOf = (secret: string, offset = 0) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + offset * 30_000 })

  /** A member with an authenticator app, and what the set-up returned. */
  async function withApp(name: string, level: 1 | 8 = 1) {
    const member = await s.join(name, level)
    return { ...member, ...(await addApp(member)) }
  }
  async function addApp(client: Client) {
    const { body: step } = await client.post(`${factors}code/`)
    const added = await client.post(`${factors}code/confirm/`, { token: step.token, code: codeOf(step.secret) })
    expect(added.status, added.text).toBe(201)
    return { secret: step.secret as string, recoveryCodes: added.body.recovery_codes as string[], step, added }
  }

  it('is asked for after the password, on any node, and its secret is readable nowhere', async () => {
    const ann = await withApp('ann')
    expect(ann.step.uri).toContain(`otpauth://totp/Halyard:ann%40example.com?issuer=Halyard&secret=${ann.secret}`)
    expect(ann.recoveryCodes).toHaveLength(10)
    const rows = JSON.stringify([
      await kysely().selectFrom('second_factors').selectAll().execute(),
      await kysely().selectFrom('recovery_codes').selectAll().execute(),
      await kysely().selectFrom('account_tokens').selectAll().execute(),
    ])
    for (const secret of [ann.secret, ...ann.recoveryCodes]) expect(rows).not.toContain(secret)

    // The code that set it up does not sign in as well.
    const first = await login(ann.email)
    expect([first.status, first.body.methods]).toEqual([202, ['code', 'recovery_code']])
    expect((await finish({ token: first.body.token, code: codeOf(ann.secret) })).status).toBe(401)
    await forgetLastCode(ann.id)
    const done = await finish({ token: first.body.token, code: codeOf(ann.secret) })
    expect(done.status).toBe(200)
    const signIns = await s.as(done.body.api_key).get('/api/users/@me/sign_ins/')
    expect(signIns.body[0]).toMatchObject({ method: 'password_and_code', is_current: true })
    expect((await s.get(`${s.organization}/members/`)).body.results).toEqual(
      expect.arrayContaining([expect.objectContaining({ is_2fa_enabled: true })]),
    )
  })

  it('works once: neither a code nor a pending sign-in nor a recovery code can be replayed, also at once', async () => {
    const ben = await withApp('ben')
    await forgetLastCode(ben.id)
    const code = codeOf(ben.secret)
    const tokens = [await login(ben.email), await login(ben.email, nodes[1])].map(({ body }) => body.token)
    const both = await Promise.all([
      finish({ token: tokens[0], code }, nodes[0]),
      finish({ token: tokens[1], code }, nodes[1]),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    const pending = (await login(ben.email)).body.token
    const [recovery, other] = ben.recoveryCodes
    const typed = recovery!.toUpperCase().replaceAll('-', ' ')
    expect((await finish({ token: pending, recovery_code: typed })).status).toBe(200)
    expect((await finish({ token: pending, recovery_code: other })).status).toBe(401)
    const next = (await login(ben.email)).body.token
    expect((await finish({ token: next, recovery_code: recovery })).status).toBe(401)
    expect((await finish({ token: next, recovery_code: other })).status).toBe(200)
    expect((await ben.get(factors)).body.recovery_codes_left).toBe(8)
  })

  it('accepts codes of the neighboring half minutes only', async () => {
    const cyd = await withApp('cyd')
    const statuses: number[] = []
    for (const offset of [-3, -1, 1, 3]) {
      await forgetLastCode(cyd.id)
      const { token } = (await login(cyd.email)).body
      statuses.push((await finish({ token, code: codeOf(cyd.secret, offset) })).status)
    }
    expect(statuses).toEqual([401, 200, 200, 401])
  })

  it('cannot be guessed: a pending sign-in ends after five wrong codes, and the account is throttled', async () => {
    const dan = await withApp('dan')
    await forgetLastCode(dan.id)
    const { token } = (await login(dan.email)).body
    const wrong: number[] = []
    for (let n = 0; n < 5; n++) wrong.push((await finish({ token, code: `00000${n}` })).status)
    expect(wrong).toEqual([401, 401, 401, 401, 401])
    expect((await finish({ token, code: codeOf(dan.secret) })).status).toBe(401)

    const outcomes: number[] = []
    for (let n = 0; n < 20; n++) {
      const again = (await login(dan.email)).body.token
      outcomes.push((await finish({ token: again, code: `11111${n % 10}` }, nodes[n % 2])).status)
    }
    expect(outcomes.filter(status => status === 401)).toHaveLength(15)
    expect(outcomes.filter(status => status === 429)).toHaveLength(5)
    for (const body of [{ token: 'x' }, { token: 'x', code: '' }, { token: 'A'.repeat(43), passkey: { id: 'x' } }]) {
      expect((await finish(body)).status).toBe(401)
    }
  })

  it('is changed with a fresh proof by a sign-in only, and the last one goes with its recovery codes', async () => {
    const eve = await withApp('eve')
    const path = `${factors}${eve.added.body.factor.id}/`
    const { body: key } = await eve.post('/api/personal_api_keys/', { label: 'ci', scopes: ['*'] })
    const ci = s.as(key.value)
    expect((await ci.get(factors)).status).toBe(200)
    expect((await ci.delete(path)).status).toBe(403)
    await ageProofs()
    for (const reply of [
      await eve.delete(path),
      await eve.post('/api/users/@me/recovery_codes/'),
      await eve.post(`${factors}code/`),
      await eve.post(`${factors}passkey/`),
    ]) {
      expect([reply.status, reply.body.code]).toEqual([403, 'proof_required'])
    }
    await forgetLastCode(eve.id)
    const { body: step } = await eve.post('/api/users/@me/proof/options/')
    expect((await eve.post('/api/users/@me/proof/', { token: step.token, password })).status).toBe(400)
    const proof = { token: step.token, code: codeOf(eve.secret) }
    expect((await eve.post('/api/users/@me/proof/', proof)).status).toBe(204)
    expect((await eve.post('/api/users/@me/proof/', proof)).status).toBe(400)
    const renewed = await eve.post('/api/users/@me/recovery_codes/')
    expect(renewed.body.recovery_codes).toHaveLength(10)
    const { token } = (await login(eve.email)).body
    expect((await finish({ token, recovery_code: eve.recoveryCodes[0] })).status).toBe(401)
    expect((await finish({ token, recovery_code: renewed.body.recovery_codes[0] })).status).toBe(200)
    const stranger = await s.join('mallory')
    expect((await stranger.delete(path)).status).toBe(404)
    expect((await eve.delete(path)).status).toBe(204)
    expect((await eve.get(factors)).body).toMatchObject({ factors: [], recovery_codes_left: 0 })
    expect((await login(eve.email)).status).toBe(200)
  })

  it('can be required: members without one can only set it up, on every node, and API keys go on', async () => {
    const owner = await s.stranger('fay')
    const { organization } = owner
    const require = (isRequired: boolean) => owner.patch(`${organization}/`, { requires_second_factor: isRequired })
    expect((await require(true)).body).toMatchObject({ attr: 'requires_second_factor' })
    await addApp(owner)
    const invite = await owner.post(`${organization}/invites/`, { target_email: 'gus@example.com' })
    const person = { first_name: 'Gus', password }
    const gus = nodes[1]!.as((await s.as(undefined).post(`/api/signup/${invite.body.token}/`, person)).body.api_key)
    const key = (await gus.post('/api/personal_api_keys/', { label: 'ci', scopes: ['*'] })).body.value
    expect((await gus.get(`${owner.project}/feature_flags/`)).status).toBe(200)

    expect((await require(true)).body.requires_second_factor).toBe(true)
    const signedIn = await login('gus@example.com', nodes[1])
    expect(signedIn.status).toBe(200)
    const again = nodes[1]!.as(signedIn.body.api_key)
    for (const client of [gus, again]) {
      const refused = await client.get(`${owner.project}/feature_flags/`)
      expect([refused.status, refused.body.code]).toEqual([403, 'second_factor_required'])
      expect((await client.post('/api/personal_api_keys/', { label: 'around', scopes: ['*'] })).status).toBe(403)
      // The protocols of SDKs take the key of a sign-in as well.
      for (const path of ['/api/feature_flag/local_evaluation/', '/openfeature/v0/manifest']) {
        expect([(await client.get(path)).status, path]).toEqual([403, path])
      }
    }
    expect((await s.as(key).get(`${owner.project}/feature_flags/`)).status).toBe(200)
    expect((await owner.get(`${owner.project}/feature_flags/`)).status).toBe(200)
    expect((await again.get('/api/users/@me/')).body.needs_second_factor).toBe(true)
    expect((await again.get(factors)).body.required_by).toEqual(["fay's organization"])
    const { added } = await addApp(again)
    expect((await again.get('/api/users/@me/')).body.needs_second_factor).toBe(false)
    expect((await again.get(`${owner.project}/feature_flags/`)).status).toBe(200)
    expect((await again.delete(`${factors}${added.body.factor.id}/`)).body.code).toBe('required')
    expect((await again.get(factors)).body.factors).toHaveLength(1)
  })

  it('is reset by an admin, who ends the sign-ins on every node, but not for accounts above or elsewhere', async () => {
    const admin = await s.join('admin', 8)
    const hal = await withApp('hal')
    const path = (uuid: string) => `${s.organization}/members/${uuid}/second_factors/`
    expect((await hal.delete(path(admin.uuid))).status).toBe(403)
    expect((await admin.delete(path(admin.uuid))).status).toBe(403)
    expect((await admin.delete(path('00000000-0000-7000-8000-000000000000'))).status).toBe(404)
    expect((await nodes[1]!.as(hal.key).get('/api/users/@me/')).status).toBe(200)
    expect((await admin.delete(path(hal.uuid))).status).toBe(204)
    expect((await nodes[1]!.as(hal.key).get('/api/users/@me/')).status).toBe(401)
    expect((await login(hal.email, nodes[1])).status).toBe(200)
    const log = JSON.stringify(await kysely().selectFrom('audit_entries').selectAll().execute())
    expect(log).toContain('second_factor_reset')
    expect(log).not.toContain(hal.secret)

    // Also a member of an organization where the admin has nothing to say.
    const both = await withApp('both', 8)
    await both.post('/api/organizations/', { name: 'Elsewhere' })
    expect((await admin.delete(path(both.uuid))).status).toBe(403)
    expect((await s.delete(path(both.uuid))).status).toBe(204)
  })

  it('belongs to no one else: steps of another user, expired ones and unknown passkeys are refused', async () => {
    const [ida, jon] = [await s.join('ida'), await s.join('jon')]
    const { body: step } = await ida.post(`${factors}code/`)
    const confirm = (client: Client) =>
      client.post(`${factors}code/confirm/`, { token: step.token, code: codeOf(step.secret) })
    expect((await confirm(jon)).body).toMatchObject({ attr: 'token' })
    await kysely()
      .updateTable('account_tokens')
      .set({ expires_at: instantOf(new Date(Date.now() - 1)) })
      .execute()
    expect((await confirm(ida)).body).toMatchObject({ attr: 'token' })
    expect((await ida.get(factors)).body.factors).toEqual([])
    const open = s.as(undefined)
    const { body: options } = await open.post('/api/login/passkey/options/')
    expect(options.options).toMatchObject({ rpId: '127.0.0.1', userVerification: 'required' })
    const passkey = { id: 'AAAA', rawId: 'AAAA', type: 'public-key', response: {}, clientExtensionResults: {} }
    for (const token of [options.token, 'v1:AAAA', 'x']) {
      expect((await open.post('/api/login/passkey/', { token, passkey }, place())).status).toBe(401)
    }
    const { body: prepared } = await ida.post(`${factors}passkey/`)
    const forged = await ida.post(`${factors}passkey/confirm/`, { token: prepared.token, passkey })
    expect(forged.body).toMatchObject({ attr: 'passkey' })
  })
})
