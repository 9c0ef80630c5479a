import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { clientOf, type RunningServer, visitServer } from '../../packages/server/src/testing/scenario.ts'
import { addProvider, addVerifiedDomain, finishSignIn } from '../../packages/server/src/testing/single-sign-on.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../openid-provider.ts'

/** A browser as far as the redirects of a provider need one. */
class Browser {
  readonly #cookies = new Map<string, string>()

  /** Follows redirects up to an address that is not the provider's. */
  async visit(address: string, origin: string, form?: URLSearchParams): Promise<{ url: URL; text: string }> {
    let url = new URL(address)
    let init: RequestInit = form ? { method: 'POST', body: form } : {}
    for (let redirects = 0; redirects < 10; redirects++) {
      if (url.origin !== origin) return { url, text: '' }
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { ...init, redirect: 'manual', headers: { cookie } })
      for (const each of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(each) ?? []
        if (name !== undefined) this.#cookies.set(name, value ?? '')
      }
      const location = response.headers.get('location')
      if (location === null) return { url, text: await response.text() }
      url = new URL(location, url)
      init = {}
    }
    throw new Error(`Too many redirects, at last to ${url}`)
  }
}

onEachDatabase('with oidc-provider and two nodes of the program', dialect => {
  let idp: OpenIdProvider
  let database: TestDatabase
  let processes: ServerProcess[] = []
  let one: RunningServer
  let two: RunningServer
  let providerId: string
  beforeAll(async () => {
    idp = await startOpenIdProvider()
    database = await createTestDatabase(dialect)
    const settings = {
      HALYARD_TRUSTED_ORIGINS: idp.url,
      HALYARD_SECRET_KEY: 'the same on all nodes',
      HALYARD_LAG_MILLISECONDS_MAX: '0',
    }
    const first = await startServer(database.url, settings)
    // Behind one address, as behind a load balancer.
    processes = [first, await startServer(database.url, { ...settings, HALYARD_PUBLIC_URL: first.url })]
    one = await visitServer(first.url, ownerKey)
    two = await visitServer(processes[1]!.url, ownerKey)
    providerId = await addProvider(one, idp.url, {
      name: 'Acme',
      scopes: ['openid', 'email', 'profile', 'groups'],
      group_mappings: [{ group: 'platform', level: 8 }],
    })
    await addVerifiedDomain(one, 'example.com')
    const { body } = await one.get(`${one.organization}/identity_providers/${providerId}/`)
    idp.register({
      redirectUri: body.redirect_uri,
      backchannelLogoutUri: body.backchannel_logout_uri,
      returnTo: `${one.url}/login`,
    })
  }, 120_000)
  afterAll(async () => {
    for (const each of processes) await each.stop()
    await database.drop()
    idp.close()
  })

  /** Starts on one node and finishes on the other. */
  async function signIn(browser = new Browser()) {
    const started = await one.as(undefined).post(`/api/login/sso/${providerId}/start/`, {})
    expect(started.status, started.text).toBe(200)
    const { url } = await browser.visit(started.body.redirect_url, idp.url)
    const cookie = started.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const reply = await finishSignIn(two, providerId, cookie, url.search.slice(1))
    expect(reply.status, reply.text).toBe(200)
    return { browser, reply, key: reply.body.api_key as string }
  }
  const statuses = async (key: string) =>
    Promise.all([one, two].map(async node => (await node.as(key).get('/api/users/@me/')).status))
  const levelOfAda = async (): Promise<number> => {
    const { results } = (await one.get(`${one.organization}/members/`)).body
    return results.find((each: { user: { email: string } }) => each.user.email === 'ada@example.com').level
  }

  it('signs in with PKCE, and applies the groups of each sign-in', async () => {
    const first = await signIn()
    expect(first.reply.body.user.email).toBe('ada@example.com')
    expect([await levelOfAda(), await statuses(first.key)]).toEqual([8, [200, 200]])
    idp.groups = []
    await signIn()
    expect(await levelOfAda()).toBe(1)
    idp.groups = ['platform']
    await signIn()
    expect(await levelOfAda()).toBe(8)
    idp.groups = undefined
    await signIn()
    expect(await levelOfAda()).toBe(8)
    const { body } = await one.get(`${one.organization}/identity_providers/${providerId}/`)
    expect(body.problem).toContain('`groups` was missing')
    idp.groups = ['platform']
  })

  it('signs out at the provider, which then ends the other session by the back channel on both nodes', async () => {
    const browser = new Browser()
    const here = await signIn(browser)
    const there = await signIn(browser)
    const elsewhere = await signIn()
    const { body } = await one.as(here.key).post('/api/logout/')
    expect(await statuses(here.key)).toEqual([401, 401])
    expect(await statuses(there.key)).toEqual([200, 200])
    const page = await browser.visit(body.redirect_url, idp.url)
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
    const form = new URLSearchParams({ xsrf, logout: 'yes' })
    const left = await browser.visit(`${idp.url}/session/end/confirm`, idp.url, form)
    expect(left.url.href).toMatch(`${one.url}/login`)
    await expect.poll(() => statuses(there.key)).toEqual([401, 401])
    expect(await statuses(elsewhere.key)).toEqual([200, 200])
    expect((await clientOf(two.url, there.key).get(`${one.project}/feature_flags/`)).status).toBe(401)
  })
})
