import { Secret, TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { expectSound, startVisit, type Visit } from './browser.ts'

/** Passkeys are bound to a domain name; the tests of other pages use the address 127.0.0.1. */
const atLocalhost = (visit: Visit, path: string): string => visit.scenario.url.replace('127.0.0.1', 'localhost') + path

onEachDatabase('second factors', dialect => {
  let visit: Visit
  beforeAll(async () => {
    visit = await startVisit({}, dialect)
  })
  afterAll(() => visit?.close())

  async function addAuthenticator(page: Page) {
    const cdp = await page.context().newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
  }

  async function enterPassword(page: Page, person: { email: string; password: string }, path = '/account') {
    await page.goto(atLocalhost(visit, `/login?next=${encodeURIComponent(path)}`))
    await page.locator('input[type=email]').fill(person.email)
    await page.locator('input[type=password]').fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  it('a passkey is added, signs in after the password, and signs in without one; a captured response works once', async () => {
    const ann = { ...(await visit.scenario.join('ann')), password: 'correct horse battery' }
    const page = await visit.open()
    await addAuthenticator(page)
    await enterPassword(page, ann)
    const section = page.getByRole('region', { name: 'Second factor' })
    await section.getByText('No second factor yet').waitFor()
    await section.getByRole('button', { name: 'Add passkey' }).click()
    await section.getByText('Store them safely').waitFor()
    await section.getByRole('cell', { name: 'Passkey' }).first().waitFor()
    expect(await section.locator('code').count()).toBe(10)
    await expectSound(page)

    const organization = visit.scenario.organization.replace('/api/organizations', '/organization')
    const owner = await visit.signedIn(`${organization}/settings/members`)
    await owner.getByRole('button', { name: /^Reset second factor/ }).click()
    const reset = owner.getByRole('dialog', { name: 'Reset the second factor of ann?' })
    await reset.waitFor()
    await expectSound(owner)

    const sent: { url: string; body: string }[] = []
    page.on('request', request => {
      if (request.method() === 'POST') sent.push({ url: request.url(), body: request.postData() ?? '' })
    })
    await page.evaluate('sessionStorage.clear()')
    await enterPassword(page, ann)
    await page.getByText('Confirm it’s you').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await section.waitFor()

    await page.evaluate('sessionStorage.clear()')
    await page.goto(atLocalhost(visit, '/login?next=%2Faccount'))
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await section.waitFor()
    const signIns = page.getByRole('table', { name: 'Active sign-ins' })
    await signIns.waitFor()

    for (const path of ['/api/login/second_factor', '/api/login/passkey']) {
      const captured = sent.find(({ url }) => new URL(url).pathname.replace(/\/$/, '') === path)
      expect(captured, path).toBeDefined()
      const replayed = await fetch(captured!.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: captured!.body,
      })
      expect(replayed.status, path).toBe(401)
    }
  }, 120_000)

  it('an authenticator app is required by the organization, set up at sign-in, and asked for', async () => {
    const owner = await visit.scenario.stranger('fay')
    const fay = { email: 'fay@elsewhere.example', password: 'correct horse battery' }
    const page = await visit.open({ width: 390 })
    await enterPassword(page, fay)
    const section = page.getByRole('region', { name: 'Second factor' })
    const addApp = async () => {
      await page.getByRole('button', { name: 'Add authenticator app' }).click()
      const dialog = page.getByRole('dialog')
      const secret = ((await dialog.locator('code').textContent()) ?? '').replaceAll(' ', '')
      await dialog.getByLabel('Code').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate())
      await dialog.getByRole('button', { name: 'Confirm' }).click()
      await page.getByText('Store them safely').waitFor()
    }
    await section.waitFor()
    await addApp()
    await section.getByRole('button', { name: 'Create new recovery codes' }).click()
    const renewal = page.getByRole('dialog', { name: 'Create ten new recovery codes?' })
    await renewal.waitFor()
    await expectSound(page)
    await renewal.getByRole('button', { name: 'Cancel' }).click()
    await section.getByRole('button', { name: /^Remove/ }).click()
    const removal = page.getByRole('dialog', { name: 'Remove the second factor Authenticator app?' })
    await removal.waitFor()
    await expectSound(page)
    await removal.getByRole('button', { name: 'Cancel' }).click()

    const invite = await owner.post(`${owner.organization}/invites/`, { target_email: 'gus@example.com' })
    const gus = { email: 'gus@example.com', password: 'correct horse battery' }
    await visit.scenario.as(undefined).post(`/api/signup/${invite.body.token}/`, { first_name: 'Gus', ...gus })
    await page.goto(atLocalhost(visit, `/organization/${owner.organization.split('/').at(-1)}/settings/sign-in`))
    await page.getByLabel('Require a second factor').click()
    await page.getByText('Second factor is now required').first().waitFor()
    await expectSound(page)

    const other = await visit.open({ locale: 'de-DE' })
    await other.goto(atLocalhost(visit, '/login'))
    await other.locator('input[type=email]').fill(gus.email)
    await other.locator('input[type=password]').fill(gus.password)
    await other.getByRole('button', { name: 'Anmelden', exact: true }).click()
    await other.getByRole('heading', { name: 'Zweiten Faktor einrichten' }).waitFor()
    await expectSound(other)
  }, 120_000)

  it('the page for forgotten passwords says what to do without a mail server', async () => {
    const page = await visit.open({ width: 390 })
    await page.goto('/login')
    await page.getByRole('link', { name: 'Forgot password?' }).click()
    await page.getByText('This server sends no emails').waitFor()
    await expectSound(page)
    await page.goto(`/reset-password#${'A'.repeat(43)}`)
    await page.getByLabel('New password').fill('a new password')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('This link is wrong, expired or was used.').waitFor()
    await expectSound(page)
  }, 60_000)
})
