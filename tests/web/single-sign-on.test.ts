import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { addProvider, addVerifiedDomain } from '../../packages/server/src/testing/single-sign-on.ts'
import { type OpenIdProvider, startOpenIdProvider } from '../openid-provider.ts'
import { expectSound, startVisit, type Visit } from './browser.ts'

onEachDatabase('the sign-in page', dialect => {
  let visit: Visit
  let idp: OpenIdProvider
  beforeAll(async () => {
    idp = await startOpenIdProvider()
    visit = await startVisit({ HALYARD_TRUSTED_ORIGINS: idp.url }, dialect)
    const { scenario } = visit
    const fields = { name: 'Acme', scopes: ['openid', 'email', 'profile', 'groups'] }
    const mapping = { group_mappings: [{ group: 'platform', level: 8 }] }
    const providerId = await addProvider(scenario, idp.url, { ...fields, ...mapping })
    await addVerifiedDomain(scenario, 'example.com')
    const { body } = await scenario.get(`${scenario.organization}/identity_providers/${providerId}/`)
    idp.register({
      redirectUri: body.redirect_uri,
      backchannelLogoutUri: body.backchannel_logout_uri,
      returnTo: `${scenario.url}/login`,
    })
  }, 120_000)
  afterAll(async () => {
    await visit.close()
    idp.close()
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
})
