import { afterAll, beforeAll, expect, it } from 'vitest'
import { expectSound, startVisit, type Visit } from './browser.ts'

let visit: Visit
let path: string
beforeAll(async () => {
  visit = await startVisit()
  const { scenario } = visit
  const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'audited' })
  await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { name: 'A new name' })
  path = `${scenario.organization.replace('/api/organizations', '/organization')}/audit`
}, 120_000)
afterAll(() => visit.close())

it('shows who changed what, old and new, and filters it', async () => {
  const page = await visit.signedIn(path)
  const entry = page.getByRole('button', { name: /updateFeatureFlag audited/ })
  await entry.click()
  await page.getByRole('table', { name: /FeatureFlag\/\d+ audited: updated/ }).waitFor()
  expect(await page.getByRole('cell', { name: 'A new name' }).isVisible()).toBe(true)
  await expectSound(page)

  await page.getByRole('textbox', { name: 'Search' }).fill('createFeatureFlag')
  await page.getByRole('button', { name: 'Filter' }).click()
  await entry.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /createFeatureFlag audited/ }).waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export JSON Lines' }).click()
  expect((await download).suggestedFilename()).toBe('audit-log.jsonl')
}, 60_000)

it('has German texts', async () => {
  const page = await visit.signedIn(path, { locale: 'de-DE' })
  await page.getByRole('heading', { name: 'Audit-Protokoll' }).waitFor()
  await page.getByRole('button', { name: 'Als JSON Lines exportieren' }).waitFor()
}, 60_000)
