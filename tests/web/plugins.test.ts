import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSound, startVisit, type Visit } from './browser.ts'

let visit: Visit
beforeAll(async () => {
  visit = await startVisit()
}, 120_000)
afterAll(() => visit.close())

const plugins = () => `${visit.scenario.organization.replace('/api/organizations', '/organization')}/plugins`
const manifest = { name: 'Shouter', config: [{ key: 'word', name: 'Word', type: 'string', default: 'hey' }] }

describe('plugins', { timeout: 120_000 }, () => {
  it('are written, compiled, configured and watched', async () => {
    const page = await visit.signedIn(plugins())
    await page.getByText('No plugins yet').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Write one' }).click()
    await page.getByRole('heading', { name: 'Untitled plugin', level: 1 }).waitFor()
    await page.getByRole('textbox', { name: /^index\./ }).fill('export function processEvent(event) {')
    await page.getByRole('button', { name: 'Compile and save' }).click()
    await page
      .getByRole('alert')
      .getByText(/index\.\w+/)
      .waitFor()
    await expectSound(page)
    await page
      .getByRole('textbox', { name: /^index\./ })
      .fill('export function processEvent(event) { console.log("seen"); return event }')
    await page.getByRole('button', { name: 'Compile and save' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    const { body } = await visit.scenario.get(`${visit.scenario.organization}/plugins/`)
    const { id } = body.results[0]
    await visit.scenario.patch(`${visit.scenario.organization}/plugins/${id}/update_source/`, {
      'plugin.json': JSON.stringify(manifest),
    })
    await page.reload()
    await page.getByRole('tab', { name: 'Configuration' }).click()
    await page.getByRole('textbox', { name: 'Word' }).fill('ahoy')
    await page.getByRole('switch', { name: 'Use it in this project' }).click({ force: true })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'The last 24 hours' }).waitFor()
    await expectSound(page)
    const configs = await visit.scenario.get(`${visit.scenario.project}/plugin_configs/`)
    expect(configs.body.results).toMatchObject([{ plugin: id, enabled: true, config: { word: 'ahoy' } }])
  })

  it('are offered in a catalogue', async () => {
    const page = await visit.signedIn(plugins(), { dark: true, width: 360, height: 740 })
    await page.getByRole('tab', { name: 'Catalogue' }).click()
    await page.getByText('GeoIP').first().waitFor()
    await expectSound(page)
  })
})
