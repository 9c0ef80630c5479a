import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DnsServer, startDnsServer } from '../../packages/server/src/testing/dns-server.ts'
import { startTokenIssuer, type TokenIssuer } from '../../packages/server/src/testing/token-issuer.ts'
import { expectSound, startVisit, toggle, type Visit } from './browser.ts'

let visit: Visit
let issuer: TokenIssuer
let dns: DnsServer
let organization: string
beforeAll(async () => {
  issuer = await startTokenIssuer()
  dns = await startDnsServer()
  visit = await startVisit({ HALYARD_TRUSTED_ORIGINS: issuer.url, HALYARD_DNS_SERVERS: dns.address })
  const { scenario } = visit
  organization = scenario.organization.replace('/api/organizations', '/organization')
  await scenario.post(`${scenario.organization}/roles/`, { name: 'Checkout' })
  await scenario.post(`${scenario.organization}/projects/`, { name: 'Second project' })
}, 120_000)
afterAll(async () => {
  await visit?.close()
  await issuer?.close()
  await dns?.close()
})

it('adds an identity provider with groups, tests, edits and removes it', async () => {
  const page = await visit.signedIn(`${organization}/settings/sign-in`)
  await page.getByText('No identity providers yet').waitFor()
  await page.getByRole('button', { name: 'Add provider' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add provider' })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Fill in this field').first().waitFor()
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Acme Okta')
  await dialog.getByRole('textbox', { name: 'Issuer' }).fill('http://elsewhere.example')
  await dialog.getByRole('textbox', { name: 'Client ID' }).fill('halyard-client')
  await dialog.getByLabel('Client secret', { exact: true }).fill('client-secret')
  await dialog.getByRole('button', { name: 'Add group' }).click()
  const group = dialog.getByRole('group', { name: 'Group 1' })
  await group.getByRole('textbox', { name: 'Group' }).fill('platform')
  await group.getByRole('combobox', { name: 'Organization role' }).selectOption('Admin')
  await group.getByRole('combobox', { name: 'Role', exact: true }).selectOption('Checkout')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('must be an https:// address').waitFor()
  await expectSound(page)
  await dialog.getByRole('textbox', { name: 'Issuer' }).fill(issuer.url)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })

  const row = page.getByRole('row', { name: /Acme Okta/ })
  await row.getByRole('button', { name: 'Copy redirect URI' }).waitFor()
  await row.getByRole('button', { name: 'Test' }).click()
  await page.getByText('Acme Okta is reachable and ready').waitFor()
  const { scenario } = visit
  const [stored] = (await scenario.get(`${scenario.organization}/identity_providers/`)).body
  expect(stored).toMatchObject({
    has_client_secret: true,
    group_mappings: [{ group: 'platform', level: 8, role_id: expect.any(String) }],
  })
  expect(await row.innerText()).toContain(stored.redirect_uri)

  await row.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit provider' })
  await edit.getByRole('textbox', { name: 'Name' }).fill('Acme')
  await edit.getByRole('button', { name: 'Remove group 1' }).click()
  await toggle(edit.getByRole('switch', { name: 'Enabled' }))
  await edit.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Disabled').waitFor()
  const changed = (await scenario.get(`${scenario.organization}/identity_providers/${stored.id}/`)).body
  expect(changed).toMatchObject({ name: 'Acme', has_client_secret: true, group_mappings: [], enabled: false })
  await expectSound(page)

  await page.getByRole('row', { name: /Acme/ }).getByRole('button', { name: 'Remove' }).click()
  const removal = page.getByRole('dialog', { name: 'Remove the provider Acme?' })
  await removal.waitFor()
  await expectSound(page)
  await removal.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No identity providers yet').waitFor()
}, 120_000)

it('verifies a domain by its TXT record', async () => {
  const page = await visit.signedIn(`${organization}/settings/sign-in`)
  await page.getByRole('textbox', { name: 'Domain' }).fill('acme.example')
  await page.getByRole('button', { name: 'Add domain' }).click()
  const row = page.getByRole('row', { name: /acme\.example/ })
  await row.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('No TXT record at _halyard.acme.example').waitFor()
  await expectSound(page)
  const { scenario } = visit
  const [domain] = (await scenario.get(`${scenario.organization}/domains/`)).body
  expect(await row.innerText()).toContain(domain.record_value)
  dns.records.set(domain.record_name, [[domain.record_value]])
  await row.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('Verified', { exact: false }).first().waitFor()
  await row.getByRole('button', { name: 'Check now' }).waitFor({ state: 'detached' })
  await row.getByRole('button', { name: 'Remove' }).click()
  const removal = page.getByRole('dialog', { name: 'Remove the domain acme.example?' })
  await removal.waitFor()
  await expectSound(page)
  await removal.getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
}, 120_000)

it('names the owner who needs a second factor before single sign-on can be required', async () => {
  const page = await visit.signedIn(`${organization}/settings/sign-in`, { locale: 'de-DE' })
  const required = page.getByRole('switch', { name: 'Single Sign-on verlangen' })
  await page.getByText(`braucht ${visit.scenario.owner.email} zuerst einen zweiten Faktor`).waitFor()
  await required.press('Space')
  await page.getByRole('alert').waitFor()
  await expect.poll(() => required.isChecked()).toBe(false)
  await expectSound(page)
}, 120_000)

it('creates a service key, shows it once, and revokes it', async () => {
  const page = await visit.signedIn(`${organization}/settings/service-keys`)
  await page.getByText('No service keys yet').waitFor()
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'New service key' })
  await dialog.getByRole('textbox', { name: 'Label' }).fill('Deployments')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Choose what the key can do').waitFor()
  await expectSound(page)
  await dialog.getByRole('combobox', { name: 'Access' }).selectOption('Edit flags')
  await dialog.getByRole('combobox', { name: 'Expires' }).selectOption('in 7 days')
  await dialog.getByRole('checkbox', { name: 'Second project' }).check()
  await dialog.getByRole('button', { name: 'Create key' }).click()
  const { scenario } = visit
  const secret = await page.getByRole('alert').locator('code').innerText()
  const reply = await scenario.as(secret).get('/api/projects/')
  expect([reply.status, reply.body.count]).toEqual([200, 1])
  const row = page.getByRole('row', { name: /Deployments/ })
  await row.getByText('feature_flag:write').waitFor()
  await row.getByText('Second project').waitFor()
  await expectSound(page)
  await page.reload()
  await row.waitFor()
  expect(await page.content()).not.toContain(secret)
  await row.getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No service keys yet').waitFor()
  expect((await scenario.as(secret).get('/api/projects/')).status).toBe(401)
}, 120_000)

it('creates a trust relationship with claim rules, edits and removes it', async () => {
  const page = await visit.signedIn(`${organization}/settings/trust-relationships`)
  await page.getByText('No trust relationships yet').waitFor()
  await page.getByRole('button', { name: 'New trust relationship' }).click()
  const dialog = page.getByRole('dialog', { name: 'New trust relationship' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Shop')
  await dialog.getByRole('textbox', { name: 'Issuer' }).fill(issuer.url)
  const first = dialog.getByRole('group', { name: 'Rule 1' })
  await first.getByRole('textbox', { name: 'Value' }).fill('repo:acme/shop:ref:refs/heads/main')
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  const second = dialog.getByRole('group', { name: 'Rule 2' })
  await second.getByRole('textbox', { name: 'Claim' }).fill('workflow')
  await second.getByRole('combobox', { name: 'Match' }).selectOption('starts with')
  await second.getByRole('textbox', { name: 'Value' }).fill('deploy/')
  await dialog.getByRole('combobox', { name: 'Access' }).selectOption('Edit flags')
  await expectSound(page)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { scenario } = visit
  const path = `${scenario.organization}/trust_relationships/`
  const [stored] = (await scenario.get(path)).body
  expect(stored).toMatchObject({
    ttl_seconds: 900,
    projects: [],
    rules: [
      { claim: 'sub', match: 'exact', value: 'repo:acme/shop:ref:refs/heads/main' },
      { claim: 'workflow', match: 'prefix', value: 'deploy/' },
    ],
  })
  const row = page.getByRole('row', { name: /Shop/ })
  await row.getByText('starts with').waitFor()
  await row.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit trust relationship' })
  await edit.getByRole('button', { name: 'Remove rule 2' }).click()
  await edit.getByRole('textbox', { name: 'Keys expire after (minutes)' }).fill('5')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  const changed = (await scenario.get(`${path}${stored.id}/`)).body
  expect([changed.ttl_seconds, changed.rules.length, changed.scopes]).toEqual([300, 1, stored.scopes])
  await expectSound(page)
  await row.getByRole('button', { name: 'Remove' }).click()
  const removal = page.getByRole('dialog', { name: 'Remove the trust relationship Shop?' })
  await removal.waitFor()
  await expectSound(page)
  await removal.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('No trust relationships yet').waitFor()
}, 120_000)

for (const [name, path, title] of [
  ['single sign-on', 'sign-in', 'Anmeldung'],
  ['service keys', 'service-keys', 'Dienstschlüssel'],
  ['trust relationships', 'trust-relationships', 'Vertrauensbeziehungen'],
] as const) {
  it(`shows ${name} in German, in the dark and on a phone`, async () => {
    const page = await visit.signedIn(`${organization}/settings/${path}`, { locale: 'de-DE', dark: true, width: 390 })
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await expectSound(page)
  }, 60_000)
}
