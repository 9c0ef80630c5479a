import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type DnsServer, startDnsServer } from '../../testing/dns-server.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import {
  addProvider,
  addVerifiedDomain,
  clientId,
  signInWith,
  startSignIn,
  verifyAddress,
} from '../../testing/single-sign-on.ts'
import { startTokenIssuer, type TokenIssuer } from '../../testing/token-issuer.ts'

onEachDatabase('accounts that single sign-on finds', dialect => {
  let issuer: TokenIssuer
  let dns: DnsServer
  let s: Scenario
  let providerId: string
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    dns = await startDnsServer()
    const environment = {
      HALYARD_TRUSTED_ORIGINS: issuer.url,
      HALYARD_DNS_SERVERS: dns.address,
      HALYARD_FOUR_EYES_DAYS: '30',
    }
    s = await startScenario(dialect, { environment })
    providerId = await addProvider(s, issuer.url)
  }, 60_000)
  afterAll(async () => {
    await s.close()
    await issuer.close()
    await dns.close()
  })

  const verified = (name: string) => ({ sub: name, email: `${name}@example.com`, email_verified: true })
  const codeOf = async (name: string) => {
    const { status, body } = await signInWith(s, issuer, providerId, verified(name))
    return [status, body.code]
  }
  const logout = (claims: Record<string, unknown>) =>
    issuer
      .sign({ aud: clientId, events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, ...claims })
      .then(token =>
        s.as(undefined).send(`/api/login/sso/${providerId}/backchannel_logout/`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams({ logout_token: token }).toString(),
        }),
      )

  it('verifies a domain by a TXT record in DNS, whole or in parts, and by no other', async () => {
    const { body: domain } = await s.post(`${s.organization}/domains/`, { domain: 'dns.example' })
    const verify = () => s.post(`${s.organization}/domains/${domain.id}/verify/`)
    expect((await verify()).status, 'without a record').toBe(400)
    dns.records.set(domain.record_name, [['v=spf1 -all'], [`${domain.record_value}x`]])
    expect((await verify()).status, 'with other records').toBe(400)
    dns.records.set('dns.example', [[domain.record_value]])
    expect((await verify()).status, 'at another name').toBe(400)
    const half = domain.record_value.length / 2
    dns.records.set(domain.record_name, [
      ['v=spf1 -all'],
      [domain.record_value.slice(0, half), domain.record_value.slice(half)],
    ])
    const reply = await verify()
    expect([reply.status, reply.body.verified_at]).toEqual([200, expect.any(String)])
  })

  it('are those with a verified address: one that was entered without proof is refused', async () => {
    // Without a mail server, the inviter holds the link and can accept it in the name of a colleague.
    const admin = await s.join('admin', 8)
    const invite = await admin.post(`${s.organization}/invites/`, { target_email: 'colleague@example.com' })
    const accepted = await s
      .as(undefined)
      .post(`/api/signup/${invite.body.token}/`, { first_name: 'Puppet', password: 'a long enough password' })
    expect(accepted.status, accepted.text).toBe(201)
    const puppet = s.as(accepted.body.api_key)
    const me = (await puppet.get('/api/users/@me/')).body
    expect(me.is_email_verified).toBe(false)
    const controlled = await s.halyard.database.read(tx =>
      tx.accountTies.dependentOn(admin.id, [me.id], instantOf(new Date())),
    )
    expect([...controlled.keys()]).toEqual([me.id])
    const early = await s.join('early')
    await addVerifiedDomain(s, 'example.com')
    expect(await codeOf('colleague')).toEqual([401, 'sso_address_unverified'])
    expect(await codeOf('early')).toEqual([401, 'sso_address_unverified'])
    await verifyAddress(s, early)
    expect(await codeOf('early')).toEqual([200, undefined])
    expect(await codeOf('first')).toEqual([200, undefined])
  })

  it('keeps the id of a session whole, and refuses one that cannot be', async () => {
    const sid = 's'.repeat(255)
    const long = await signInWith(s, issuer, providerId, { ...verified('long'), sid })
    const status = async () => (await s.as(long.body.api_key).get('/api/users/@me/')).status
    expect((await logout({ sid: sid.slice(0, 200), jti: 'cut' })).status).toBe(200)
    expect(await status()).toBe(200)
    expect((await logout({ sid, jti: 'whole' })).status).toBe(200)
    expect(await status()).toBe(401)
    for (const wrong of [`${sid}s`, 'nul\u0000', '', 7]) {
      const refused = await signInWith(s, issuer, providerId, { ...verified('long'), sid: wrong })
      expect([refused.status, refused.body.code], String(wrong)).toEqual([401, 'sso_refused'])
      expect((await logout({ sid: wrong, jti: 'x' })).status, String(wrong)).toBe(400)
      expect((await logout({ sub: wrong, jti: 'x' })).status, String(wrong)).toBe(400)
    }
  })

  it('lists and revokes no keys of other organizations', async () => {
    const eve = await s.join('eve', 8)
    await verifyAddress(s, eve)
    const own = (await eve.post('/api/organizations/', { name: 'Of Eve' })).body
    const ownProject = (await eve.post('/api/projects/', { name: 'Of Eve', organization: own.id })).body
    const newKey = async (label: string, fields: Record<string, unknown>) =>
      (await eve.post('/api/personal_api_keys/', { label, scopes: ['*'], ...fields })).body.id
    const elsewhere = await newKey('elsewhere', { scoped_organizations: [own.id] })
    const inProject = await newKey('in project', { scoped_teams: [ownProject.id] })
    const everywhere = await newKey('everywhere', {})
    const here = await newKey('here', { scoped_teams: [s.projectId] })
    const session = s.as((await signInWith(s, issuer, providerId, verified('eve'))).body.api_key)
    const listed = (await session.get('/api/personal_api_keys/')).body.map(({ id }: { id: string }) => id)
    expect(listed.sort()).toEqual([everywhere, here].sort())
    for (const id of [elsewhere, inProject]) {
      for (const method of ['get', 'delete'] as const) {
        expect((await session[method](`/api/personal_api_keys/${id}/`)).status).toBe(404)
      }
      expect((await session.patch(`/api/personal_api_keys/${id}/`, { label: 'x' })).status).toBe(404)
    }
    expect((await session.delete(`/api/personal_api_keys/${here}/`)).status).toBe(204)
    expect((await eve.get('/api/personal_api_keys/')).body).toHaveLength(3)
  })

  it('asks an issuer that is down once, however many lookups there are', async () => {
    const down = await startTokenIssuer()
    down.isDown = true
    const fresh = await s.startAnother({
      environment: { HALYARD_TRUSTED_ORIGINS: `${issuer.url},${down.url}` },
    })
    const id = await addProvider(fresh, down.url)
    const start = () => fresh.as(undefined).post(`/api/login/sso/${id}/start/`, {})
    const replies = await Promise.all([start(), start(), start(), start()])
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 503, 503])
    expect((await start()).status).toBe(503)
    expect(down.requests).toHaveLength(1)
    down.isDown = false
    expect((await fresh.post(`${fresh.organization}/identity_providers/${id}/test/`)).body.is_usable).toBe(true)
    await startSignIn(fresh, id)
    await down.close()
  })
})
