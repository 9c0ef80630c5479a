import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  packFiles,
  type RegistryServer,
  startRegistryServer,
} from '../../packages/server/src/testing/registry-server.ts'
import { expectSound, startVisit, toggle, type Visit } from './browser.ts'

let registry: RegistryServer
let visit: Visit
beforeAll(async () => {
  registry = await startRegistryServer()
  visit = await startVisit({ HALYARD_NPM_REGISTRY: registry.url, HALYARD_PLUGIN_DIR: 'examples/plugins' })
}, 120_000)
afterAll(async () => {
  await visit.close()
  await registry.close()
})

const plugins = () => `${visit.scenario.organization.replace('/api/organizations', '/organization')}/plugins`
const api = () => `${visit.scenario.organization}/plugins/`
const configs = () => `${visit.scenario.project}/plugin_configs/`
const fullManifest = {
  name: 'Shouter',
  description: 'Says things loudly.',
  config: [
    { markdown: 'Read **this** first: `loud` at [the site](https://example.com/loud).' },
    { key: 'word', name: 'Word', type: 'string', default: 'hey', required: true, hint: 'What is said.' },
    { key: 'mode', name: 'Mode', type: 'choice', choices: ['plain', 'signed'], default: 'plain' },
    { key: 'token', name: 'Token', type: 'string', secret: true, visible_if: [['mode', 'signed']], required: true },
    { key: 'rules', name: 'Rules', type: 'json' },
    { key: 'voice', name: 'Voice', type: 'attachment' },
  ],
  publicJobs: {
    'Say it': {
      payload: {
        text: { type: 'string', title: 'Text', required: true },
        times: { type: 'number', title: 'How often' },
        loud: { type: 'boolean', title: 'Loud' },
      },
    },
  },
  allowedHosts: ['api.example.com', '*.chat.example'],
}
const code = `export function processEvent(event, { config }) {
  event.properties.word = config.word
  return event
}
export const jobs = { 'Say it': payload => console.warn('said', payload.text, payload.times) }
`

async function make(name: string, source = code, manifest: object = fullManifest): Promise<number> {
  const { body } = await visit.scenario.post(api(), { name })
  const files = { 'plugin.json': JSON.stringify({ ...manifest, name }, null, 2), 'index.ts': source }
  expect((await visit.scenario.patch(`${api()}${body.id}/update_source/`, files)).status).toBe(200)
  return body.id
}

const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click()
const editor = (page: Page, file: string) => page.getByRole('textbox', { name: `Source of ${file}` })

/** Replaces the editor's content by keyboard. */
async function type(page: Page, file: string, text: string): Promise<void> {
  await editor(page, file).click()
  await page.keyboard.press('ControlOrMeta+a')
  // Chromium would keep the style of the replaced text as an inline style, which the policy blocks.
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}

describe('plugins', { timeout: 120_000 }, () => {
  it('are explained in an empty state and offered in a catalog', async () => {
    const page = await visit.signedIn(plugins(), { dark: true, width: 360, height: 740 })
    await page.getByRole('heading', { name: 'No plugins yet' }).waitFor()
    await expectSound(page)
    await tab(page, 'Catalog')
    await page.getByRole('heading', { name: 'GeoIP' }).waitFor()
    await page.getByText('HALYARD_GEOIP_DATABASE').waitFor()
    await expectSound(page)
    await page.getByRole('textbox', { name: 'Search plugins' }).fill('guardrails')
    await page.getByText('1 plugin', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Install Flag guardrails' }).click()
    await page.getByRole('link', { name: 'Open Flag guardrails' }).click()
    await tab(page, 'About')
    await page.getByText('Can block flag saves').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Uninstall' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).click()
    await page.getByRole('heading', { name: 'No plugins yet' }).waitFor()
  })

  it('are written in an editor that shows compile errors', async () => {
    const page = await visit.signedIn(plugins())
    const before = (await visit.scenario.get(api())).body.count
    await page.getByRole('button', { name: 'New plugin' }).click()
    await page.getByRole('textbox', { name: 'Plugin name' }).fill('Never created')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect((await visit.scenario.get(api())).body.count).toBe(before)
    await page.getByRole('button', { name: 'New plugin' }).click()
    await page.getByRole('textbox', { name: 'Plugin name' }).fill('Untitled plugin')
    await page.getByRole('button', { name: 'Create plugin' }).click()
    await page.getByRole('heading', { name: 'Untitled plugin', level: 1 }).waitFor()
    await editor(page, 'index.ts').waitFor()
    await expectSound(page)
    await type(page, 'index.ts', 'const one = 1\nexport function processEvent(event) {\n  return ][\n}\n')
    await page.keyboard.press('ControlOrMeta+s')
    const alert = page.getByRole('alert')
    await alert.getByText('index.ts, line 3, column 10').waitFor()
    await page.locator('.cm-lint-marker-error').waitFor()
    await expectSound(page)
    // Leaves the editor by keyboard and returns to the error.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await expect.poll(() => page.evaluate("document.activeElement.closest('.cm-editor')")).toBeNull()
    await alert.getByRole('button').press('Enter')
    await expect.poll(() => page.evaluate('document.getSelection().anchorNode.textContent')).toBe(']')

    await type(page, 'index.ts', "import { shout } from './lib/shout'\nexport const onEvent = e => shout(e.event)\n")
    await page.getByRole('button', { name: 'Add file' }).click()
    await page.getByRole('textbox', { name: 'File name' }).fill('lib/shot')
    await page.keyboard.press('Enter')
    await page.getByText('with an extension').waitFor()
    await page.getByRole('textbox', { name: 'File name' }).fill('lib/shot.ts')
    await page.keyboard.press('Enter')
    await type(page, 'lib/shot.ts', 'export const shout = (word: string) => console.log(word.toUpperCase())\n')
    await page.getByRole('button', { name: 'Actions for lib/shot.ts' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await page.getByRole('textbox', { name: 'File name' }).fill('lib/shout.ts')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Show changes' }).click()
    await page.getByRole('heading', { name: 'lib/shout.ts', level: 2 }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Compile and save' }).click()
    await page.getByText('Compiled and saved').waitFor()
    const { body } = await visit.scenario.get(api())
    const { id } = body.results[0]
    const { source } = (await visit.scenario.get(`${api()}${id}/source/`)).body
    expect(Object.keys(source)).toEqual(['index.ts', 'lib/shout.ts', 'plugin.json'])

    // Leaving with unsaved changes asks first.
    await type(page, 'lib/shout.ts', 'export const shout = () => {}\n')
    for (const away of [
      page.getByRole('link', { name: 'Organization settings' }),
      page.getByRole('tab', { name: 'Settings' }),
    ]) {
      await away.click()
      await page.getByRole('dialog').getByRole('button', { name: 'Keep editing' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByText('1 file modified').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('No changes').waitFor()
    await expect.poll(() => editor(page, 'lib/shout.ts').textContent()).toContain('toUpperCase')
    await page.getByRole('link', { name: 'Organization settings' }).click()
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    await visit.scenario.delete(`${api()}${id}/`)
  })

  it('are installed with progress, canceled, upgraded and downgraded', async () => {
    const files = (word: string) => ({
      'plugin.json': { name: 'Packed' },
      'index.js': `exports.onEvent = () => '${word}'`,
    })
    registry.publish('@t/packed', '1.0.0', files('one'))
    const path = '/@t/packed/-/packed-1.0.0.tgz'
    const requested = new Promise<ServerResponse>(done => registry.answer(path, (_request, response) => done(response)))
    const page = await visit.signedIn(plugins())
    await page.getByRole('textbox', { name: 'Package or repository URL' }).fill('nonsense')
    await page.getByRole('button', { name: 'Install', exact: true }).click()
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Package or repository URL' }).getAttribute('aria-invalid'))
      .toBe('true')
    await page
      .getByRole('textbox', { name: 'Package or repository URL' })
      .fill('https://www.npmjs.com/package/@t/packed')
    await page.getByRole('button', { name: 'Install', exact: true }).click()
    const response = await requested
    await page.getByRole('status').getByText('Download and verify').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Canceled. Nothing was changed.').waitFor()
    await expectSound(page)
    response.end()
    registry.answer(path, (_request, again) => again.end(packFiles(files('one'))))
    await page.getByRole('button', { name: 'Install', exact: true }).click()
    await page.getByRole('heading', { name: 'Packed', level: 1 }).waitFor()

    registry.publish('@t/packed', '2.0.0', files('two'))
    await tab(page, 'About')
    await page.getByRole('button', { name: 'Check for updates' }).click()
    await page.getByText('Update available: 2.0.0').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Preview changes', exact: true }).click()
    await page.getByRole('region', { name: 'Preview changes' }).getByText('1.0.0 → 2.0.0').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Upgrade to 2.0.0' }).click()
    await page.getByText('Installed: 2.0.0').waitFor()
    await page.getByRole('textbox', { name: 'Install another version' }).fill('1.0.0')
    await page.getByRole('button', { name: 'Preview changes Install another version: 1.0.0' }).click()
    await page.getByRole('region', { name: 'Preview changes' }).getByText('2.0.0 → 1.0.0').waitFor()
    await page.getByRole('textbox', { name: 'Install another version' }).press('Enter')
    await page.getByText('Installed: 1.0.0').waitFor()
    await tab(page, 'Activity')
    await page.getByText('changed the version of Packed').first().waitFor()
    await page.getByText("exports.onEvent = () => 'two'").first().waitFor()
    await expectSound(page)
    const { body } = await visit.scenario.get(api())
    for (const { id } of body.results) await visit.scenario.delete(`${api()}${id}/`)
  })

  it('are configured by a form generated from their schema', async () => {
    const id = await make('Shouter')
    const page = await visit.signedIn(`${plugins()}/${id}`, { dark: true })
    await page.getByRole('link', { name: 'the site' }).waitFor()
    await page.getByRole('textbox', { name: 'Word' }).fill('')
    await page.getByRole('textbox', { name: 'Rules' }).fill('{')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Fix 2 settings to save').waitFor()
    await page.getByText('Invalid JSON').waitFor()
    await expectSound(page)
    await page.getByRole('textbox', { name: 'Word' }).fill('ahoy')
    await page.getByRole('textbox', { name: 'Rules' }).fill('{"a": [1]}')
    expect(await page.getByLabel('Token').count()).toBe(0)
    await page.getByRole('combobox', { name: 'Mode' }).selectOption('signed')
    await page.getByRole('textbox', { name: 'Token' }).fill('hush')
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a file for Voice' }).click()
    await (await choosing).setFiles({ name: 'voice.txt', mimeType: 'text/plain', buffer: Buffer.from('la la') })
    await page.getByText('voice.txt (5 bytes)').waitFor()
    await page.getByRole('checkbox', { name: 'api.example.com' }).check()
    await toggle(page.getByRole('switch', { name: /^Use in/ }))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. Shouter is on.').waitFor()
    await page.getByText('A value is stored. It is never shown.').waitFor()
    await expectSound(page)
    const shown = async () =>
      (await visit.scenario.get(configs())).body.results.find((each: { plugin: number }) => each.plugin === id)
    expect(await shown()).toMatchObject({
      enabled: true,
      allowed_hosts: ['api.example.com'],
      config: {
        word: 'ahoy',
        mode: 'signed',
        rules: '{"a": [1]}',
        token: '••••••••',
        voice: { name: 'voice.txt', size: 5 },
      },
    })
    // A stored secret is kept without being sent.
    await page.getByRole('textbox', { name: 'Word' }).fill('oho')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await shown()).config).toMatchObject({ word: 'oho', token: '••••••••' })
    await page.getByRole('button', { name: 'Replace Token' }).click()
    await page.getByRole('textbox', { name: 'Token' }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Required').waitFor()
    await page.getByRole('button', { name: 'Keep current Token' }).click()
    await page.getByRole('button', { name: 'Remove the file of Voice' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await shown()).config.voice).toBeUndefined()
  })

  it('show logs, metrics, jobs and activity', async () => {
    const { scenario } = visit
    const id = await make('Watched')
    const { body: config } = await scenario.post(configs(), { plugin: id, enabled: true })
    const page = await visit.signedIn(`${plugins()}/${id}?tab=jobs`)
    await page.getByRole('heading', { name: 'Say it' }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Run Say it of Watched' }).click()
    await page.getByText('Required').waitFor()
    await page.getByRole('textbox', { name: 'Text' }).fill('hello')
    await page.getByRole('spinbutton', { name: 'How often' }).fill('3')
    await page.getByRole('button', { name: 'Run Say it of Watched' }).click()
    await page.getByText('Say it started').waitFor()
    await tab(page, 'Logs')
    await page.getByRole('log').getByText('said hello 3').waitFor()
    await expectSound(page)
    await page.getByRole('checkbox', { name: 'Error' }).press('Space')
    await page.getByText('No matching entries').waitFor()
    await page.getByRole('checkbox', { name: 'Warning' }).press('Space')
    await page.getByRole('log').getByText('said hello 3').waitFor()
    await page.getByRole('textbox', { name: 'Search logs' }).fill('no such entry')
    await page.getByText('No matching entries').waitFor()
    await expect
      .poll(async () => (await scenario.get(`${configs()}${config.id}/metrics/`)).body.calls)
      .toBeGreaterThan(0)
    await tab(page, 'Metrics')
    await page.getByRole('img', { name: /Calls per hour/ }).waitFor()
    await page.getByText('Show as table').click()
    await page.getByRole('table', { name: 'Calls per hour' }).waitFor()
    await expectSound(page)
    await tab(page, 'Activity')
    await page.getByText('ran a job of Watched: Say it').waitFor()
    await expectSound(page)
  })

  it('show new log entries and jobs without polling', async () => {
    const { scenario } = visit
    const source = `export const jobs = {
      'Say it': payload => console.warn('said', payload.text),
      Retry: () => { throw new RetryError('not yet') },
    }`
    const publicJobs = { 'Say it': { payload: { text: { type: 'string' } } }, Retry: { payload: {} } }
    const id = await make('Followed', source, { publicJobs })
    const { body: config } = await scenario.post(configs(), { plugin: id, enabled: true })
    const start = (type: string, payload = {}) =>
      scenario.post(`${configs()}${config.id}/job/`, { job: { type, payload } })
    // Less than the polling interval.
    const pushed = { timeout: 20_000 }
    const page = await visit.signedIn(`${plugins()}/${id}?tab=log`)
    await page.getByText(/No log entries yet/).waitFor()
    await start('Say it', { text: 'first' })
    await page.getByRole('log').getByText('said first').waitFor(pushed)
    await start('Say it', { text: 'second' })
    await page.getByRole('log').getByText('said second').waitFor(pushed)
    await tab(page, 'Jobs')
    await page.getByText('No queued jobs').waitFor()
    await start('Retry')
    const row = page.getByRole('table', { name: 'Queue' }).getByRole('row', { name: /Retry/ })
    await row.getByText('will retry').waitFor(pushed)
    await expectSound(page)
  })

  it('are reordered by keyboard', async () => {
    const { scenario } = visit
    for (const name of ['First', 'Second']) {
      const plugin = await make(name)
      await scenario.post(configs(), { plugin, enabled: true })
    }
    const page = await visit.signedIn(`${plugins()}?tab=order`, { width: 360, height: 740 })
    const names = async () =>
      (
        await page
          .getByRole('listitem')
          .filter({ has: page.getByRole('button', { name: /^Move/ }) })
          .allTextContents()
      ).map(text => /First|Second/.exec(text)?.[0])
    await page.getByRole('button', { name: 'Move Second up' }).focus()
    await page.keyboard.press('Enter')
    await page
      .getByRole('status')
      .getByText(/^Second moved to/)
      .waitFor()
    await expect.poll(async () => (await names()).filter(Boolean)).toEqual(['Second', 'First'])
    await expectSound(page)
    const order = async () =>
      (await scenario.get(configs())).body.results.map((each: { plugin: number }) => each.plugin)
    const { results } = (await scenario.get(api())).body
    const idOf = (name: string) => results.find((each: { name: string }) => each.name === name).id
    await expect
      .poll(async () => (await order()).indexOf(idOf('Second')) < (await order()).indexOf(idOf('First')))
      .toBe(true)
  })

  it('of another organization run in the accepted version until an admin has reviewed the new one', async () => {
    const { scenario } = visit
    const id = await make('Tagger', 'export const processEvent = event => event\n', { name: 'Tagger' })
    await scenario.patch(`${api()}${id}/`, { is_global: true })
    const tenant = await scenario.stranger('tenant')
    await tenant.post(`${tenant.project}/plugin_configs/`, { plugin: id, enabled: true })
    const page = await visit.open()
    const path = `${tenant.organization.replace('/api/organizations', '/organization')}/plugins/${id}`
    await page.goto(`/login?next=${encodeURIComponent(path)}`)
    await page.locator('input[type=email]').fill('tenant@elsewhere.example')
    await page.locator('input[type=password]').fill('correct horse battery')
    await page.locator('button[type=submit]').click()
    await page.getByRole('heading', { name: 'Tagger' }).waitFor()
    expect(await page.getByText('New version available').count()).toBe(0)

    const files = {
      'index.ts': 'export const processEvent = () => null\n',
      'plugin.json': JSON.stringify({ name: 'Tagger', allowedHosts: ['collect.example'] }, null, 2),
    }
    await scenario.patch(`${api()}${id}/update_source/`, files)
    await page.reload()
    await page.getByText('New version available').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Review and accept' }).click()
    const dialog = page.getByRole('dialog', { name: 'New version available' })
    await dialog.getByText('processEvent = () => null').waitFor()
    await dialog.getByText('Allowed hosts').waitFor()
    await expectSound(page)

    // What is accepted is what was reviewed, not what the owner has published in the meantime.
    await scenario.patch(`${api()}${id}/update_source/`, { 'index.ts': 'export const processEvent = () => 0\n' })
    await dialog.getByRole('button', { name: 'Accept version' }).click()
    await dialog.getByText('The plugin has changed since this release').waitFor()
    await dialog.getByText('processEvent = () => 0').waitFor()
    await dialog.getByRole('button', { name: 'Accept version' }).click()
    await page.getByText('New version of Tagger accepted').waitFor()
    await expect.poll(() => page.getByText('New version available').count()).toBe(0)
    const { body } = await tenant.get(`${tenant.organization}/plugins/${id}/`)
    expect([body.update_available, body.accepted_release]).toEqual([false, body.release])
  })

  it('are read-only for members, also in German', async () => {
    const member = await visit.scenario.join('watcher')
    const id = await make('Nur ansehen')
    const page = await visit.open({ locale: 'de-DE' })
    await page.goto(`/login?next=${encodeURIComponent(`${plugins()}/${id}`)}`)
    await page.locator('input[type=email]').fill(member.email)
    await page.locator('input[type=password]').fill('correct horse battery')
    await page.locator('button[type=submit]').click()
    await page.getByText('Nur Admins können diese Einstellungen ändern.').waitFor()
    await expectSound(page)
    await tab(page, 'Quellcode')
    await page.getByRole('textbox', { name: 'Quellcode von index.ts' }).waitFor()
    expect(await page.getByRole('button', { name: 'Kompilieren und speichern' }).count()).toBe(0)
    await page.getByText('Schreibgeschützt.').waitFor()
    await expectSound(page)
  })
})
