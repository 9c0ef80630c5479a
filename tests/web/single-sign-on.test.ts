import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addProvider, addVerifiedDomain, clientId } from '../../packages/server/src/testing/single-sign-on.ts'
import { expectSound, startVisit, type Visit } from './browser.ts'

/** A real OpenID Connect provider whose sign-in page always signs in as Ada. */
async function startProvider(server: Server, url: string, redirectUri: string, logoutUri: string, backTo: string) {
  const provider = new Provider(url, {
    clients: [
      {
        client_id: clientId,
        client_secret: 'client-secret',
        token_endpoint_auth_method: 'client_secret_post',
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [backTo],
        backchannel_logout_uri: logoutUri,
        backchannel_logout_session_required: true,
      },
    ],
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    findAccount: async (_context, sub) => ({
      accountId: sub,
      claims: async () => ({
        sub,
        email: 'ada@example.com',
        email_verified: true,
        name: 'Ada',
        groups: ['platform'],
      }),
    }),
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId, accountId: oidc.session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  })
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/')) {
      provider.interactionFinished(request, response, { login: { accountId: 'ada' } }).catch(() => response.end())
    } else handle(request, response)
  })
}

let visit: Visit
let server: Server
beforeAll(async () => {
  server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  visit = await startVisit({ HALYARD_TRUSTED_ORIGINS: url })
  const { scenario } = visit
  const fields = { name: 'Acme', scopes: ['openid', 'email', 'profile', 'groups'] }
  const mapping = { group_mappings: [{ group: 'platform', level: 8 }] }
  const providerId = await addProvider(scenario, url, { ...fields, ...mapping })
  await addVerifiedDomain(scenario, 'example.com')
  const { body } = await scenario.get(`${scenario.organization}/identity_providers/${providerId}/`)
  await startProvider(server, url, body.redirect_uri, body.backchannel_logout_uri, `${scenario.url}/login`)
}, 120_000)
afterAll(async () => {
  await visit.close()
  server.closeAllConnections()
  server.close()
})

it('signs in with a provider from the sign-in page', async () => {
  const page = await visit.open()
  await page.goto('/login?next=%2Faccount')
  await page.getByRole('button', { name: 'Use single sign-on' }).click()
  await page.getByText('Enter your email address first.').waitFor()
  await expectSound(page)
  await page.locator('input[type=email]').fill('ada@example.com')
  await page.getByRole('button', { name: 'Use single sign-on' }).click()
  await page.waitForURL(url => url.pathname === '/account')
  await page.getByRole('heading', { level: 1 }).waitFor()
  const { scenario } = visit
  const members = (await scenario.get(`${scenario.organization}/members/`)).body.results
  expect(members.find((each: { user: { email: string } }) => each.user.email === 'ada@example.com').level).toBe(8)
}, 120_000)

it('explains a callback that does not belong to this browser', async () => {
  const page = await visit.open({ locale: 'de-DE' })
  const { scenario } = visit
  const [provider] = (await scenario.get(`${scenario.organization}/identity_providers/`)).body
  await page.goto(`/login/sso/${provider.id}?code=stolen&state=stolen`)
  await page.getByText('in einem anderen Browser begonnen').waitFor()
  expect(page.url()).not.toContain('stolen')
}, 120_000)
