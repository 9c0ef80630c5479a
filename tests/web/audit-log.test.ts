import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { expectSound, suiteVisit } from './browser.ts'

onEachDatabase('the audit page', dialect => {
  const visit = suiteVisit({}, dialect)
  let path: string
  beforeAll(async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'audited' })
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { name: 'A new name' })
    path = `${scenario.organization.replace('/api/organizations', '/organization')}/audit`
  }, 120_000)

  it('shows who changed what, old and new, and filters it', async () => {
    const page = await visit.signedIn(path)
    const entry = page.getByRole('button', { name: /updated the flag audited/ })
    const rows = await page.getByRole('button', { name: /^#\d+/ }).allInnerTexts()
    expect(rows.filter(row => /FeatureFlag|AuditLog/.test(row))).toEqual([])
    await entry.click()
    await page.getByText('Operation: updateFeatureFlag').waitFor()
    await page.getByRole('table', { name: /FeatureFlag\/\d+ audited: updated/ }).waitFor()
    expect(await page.getByRole('cell', { name: 'A new name' }).isVisible()).toBe(true)
    await expectSound(page)

    await page.getByRole('textbox', { name: 'Search' }).fill('createFeatureFlag')
    await page.getByRole('button', { name: 'Filter' }).click()
    await entry.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /created the flag audited/ }).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export JSON Lines' }).click()
    expect((await download).suggestedFilename()).toBe('audit-log.jsonl')
  }, 60_000)

  it.each([
    ['en-US', 'Audit log', 'Filter'],
    ['de-DE', 'Audit-Protokoll', 'Filtern'],
  ])(
    'has one row of filters in %s',
    async (locale, title, filter) => {
      const page = await visit.signedIn(path, { locale, width: 1280 })
      await page.getByRole('heading', { level: 1, name: title }).waitFor()
      const form = page.locator('form').filter({ has: page.getByRole('button', { name: filter }) })
      const tops = await form
        .locator('label')
        .evaluateAll(labels => labels.map(each => each.getBoundingClientRect().top))
      expect([tops.length, new Set(tops).size]).toEqual([5, 1])
      const [button, field] = [form.getByRole('button'), form.locator('input').last()]
      expect(Math.round((await button.boundingBox())!.y)).toBe(Math.round((await field.boundingBox())!.y))
    },
    60_000,
  )

  it('has German texts', async () => {
    const page = await visit.signedIn(path, { locale: 'de-DE' })
    await page.getByRole('button', { name: 'Als JSON Lines exportieren' }).waitFor()
    await page.getByRole('button', { name: /hat geändert: Flag audited/ }).waitFor()
  }, 60_000)
})
