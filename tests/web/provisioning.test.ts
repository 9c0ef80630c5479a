import { scimUserSchema } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { expectSound, suiteVisit } from './browser.ts'

const visit = suiteVisit()
let organization: string
beforeAll(() => {
  organization = visit.scenario.organization.replace('/api/organizations', '/organization')
}, 120_000)

it('creates a token that provisions a person, lists both, and revokes the token', async () => {
  const { scenario } = visit
  const page = await visit.signedIn(`${organization}/settings/provisioning`)
  const baseUrl = `${scenario.url}/scim/v2/${organization.split('/').at(-1)}`
  await page.getByText(baseUrl, { exact: true }).waitFor()
  await page.getByText('No provisioned members yet').waitFor()
  await page.getByRole('textbox', { name: 'Label' }).fill('Entra ID')
  await page.getByRole('button', { name: 'Create token' }).click()
  const token = await page
    .getByRole('alert')
    .getByText(/^scim_\w+$/)
    .innerText()
  await page.getByRole('table', { name: 'Tokens' }).getByRole('cell', { name: 'Entra ID' }).waitFor()

  const user = { schemas: [scimUserSchema], userName: 'ada@acme.example', displayName: 'Ada Lovelace' }
  const made = await scenario.as(token).post(`/scim/v2/${organization.split('/').at(-1)}/Users`, user)
  expect(made.status, made.text).toBe(201)
  const people = page.getByRole('table', { name: 'Provisioned members' })
  await people.getByRole('cell', { name: 'ada@acme.example' }).waitFor()
  await expectSound(page)

  await page.goto(`${scenario.url}${organization}/settings/members`)
  await page.getByRole('cell', { name: /ada@acme.example.*SCIM/ }).waitFor()
  await page.goto(`${scenario.url}${organization}/settings/provisioning`)
  await page.getByRole('button', { name: /^Revoke/ }).click()
  const revoke = page.getByRole('dialog', { name: 'Revoke the token Entra ID?' })
  await revoke.waitFor()
  await expectSound(page)
  await revoke.getByRole('button', { name: /^Revoke/ }).click()
  await page.getByText('No tokens yet').waitFor()
  expect((await scenario.as(token).get(`/scim/v2/${organization.split('/').at(-1)}/Users`)).status).toBe(401)
}, 90_000)

it('has German texts', async () => {
  const page = await visit.signedIn(`${organization}/settings/provisioning`, { locale: 'de-DE' })
  await page.getByRole('heading', { name: 'Bereitstellung' }).waitFor()
  await page.getByRole('button', { name: 'Token erstellen' }).waitFor()
  await expectSound(page)
}, 60_000)
