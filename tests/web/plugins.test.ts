import type { ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  packFiles,
  type RegistryServer,
  startRegistryServer,
} from '../../packages/server/src/testing/registry-server.ts'
import { expectSound, startVisit, type Visit } from './browser.ts'

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

/** Replaces all that is in the editor, by keyboard. */
async function type(page: Page, file: string, text: string): Promise<void> {
  await editor(page, file).click()
  await page.keyboard.press('ControlOrMeta+a')
  // Chromium would give what is put in the place of coloured text a style of its own, which the policy refuses.
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}

describe('plugins', { timeout: 120_000 }, () => {
  it('are explained where there are none, and offered in a catalogue', async () => {
    const page = await visit.signedIn(plugins(), { dark: true, width: 360, height: 740 })
    await page.getByRole('heading', { name: 'No plugins yet' }).waitFor()
    await expectSound(page)
    await tab(page, 'Catalogue')
    await page.getByRole('heading', { name: 'GeoIP' }).waitFor()
    await page.getByText('HALYARD_GEOIP_DATABASE').waitFor()
    await expectSound(page)
    await page.getByRole('textbox', { name: 'Search plugins' }).fill('guardrails')
    await page.getByText('1 plugin', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Install Flag guardrails' }).click()
    await page.getByRole('link', { name: 'Open Flag guardrails' }).click()
    await tab(page, 'About')
    await page.getByText('May refuse that a flag is saved').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Uninstall' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }).click()
    await page.getByRole('heading', { name: 'No plugins yet' }).waitFor()
  })

  it('are written in an editor that shows where they are wrong', async () => {
    const page = await visit.signedIn(plugins())
    await page.getByRole('button', { name: 'Write one' }).click()
    await page.getByRole('heading', { name: 'Untitled plugin', level: 1 }).waitFor()
    await editor(page, 'index.ts').waitFor()
    await expectSound(page)
    await type(page, 'index.ts', 'const one = 1\nexport function processEvent(event) {\n  return ][\n}\n')
    await page.keyboard.press('ControlOrMeta+s')
    const alert = page.getByRole('alert')
    await alert.getByText('index.ts, line 3, column 10').waitFor()
    await page.locator('.cm-lint-marker-error').waitFor()
    await expectSound(page)
    // The way out of the editor by keyboard, and back in to where the error is.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    expect(await page.evaluate("document.activeElement.closest('.cm-editor')")).toBeNull()
    await alert.getByRole('button').press('Enter')
    await expect.poll(() => page.evaluate('document.getSelection().anchorNode.textContent')).toBe(']')

    await type(page, 'index.ts', "import { shout } from './lib/shout'\nexport const onEvent = e => shout(e.event)\n")
    await page.getByRole('button', { name: 'Add a file' }).click()
    await page.getByRole('textbox', { name: 'File name' }).fill('lib/shot')
    await page.keyboard.press('Enter')
    await page.getByText('and an extension').waitFor()
    await page.getByRole('textbox', { name: 'File name' }).fill('lib/shot.ts')
    await page.keyboard.press('Enter')
    await type(page, 'lib/shot.ts', 'export const shout = (word: string) => console.log(word.toUpperCase())\n')
    await page.getByRole('button', { name: 'What to do with lib/shot.ts' }).click()
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

    // What is not saved is not lost by a wrong click.
    await type(page, 'lib/shout.ts', 'export const shout = () => {}\n')
    for (const away of [page.getByRole('link', { name: 'Members' }), page.getByRole('tab', { name: 'Settings' })]) {
      await away.click()
      await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByText('1 file is changed.').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('Nothing is changed.').waitFor()
    await expect.poll(() => editor(page, 'lib/shout.ts').textContent()).toContain('toUpperCase')
    await page.getByRole('link', { name: 'Members' }).click()
    await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
    await visit.scenario.delete(`${api()}${id}/`)
  })

  it('are installed step by step, stopped, upgraded and taken back', async () => {
    const files = (word: string) => ({
      'plugin.json': { name: 'Packed' },
      'index.js': `exports.onEvent = () => '${word}'`,
    })
    registry.publish('@t/packed', '1.0.0', files('one'))
    const path = '/@t/packed/-/packed-1.0.0.tgz'
    const asked = new Promise<ServerResponse>(done => registry.answer(path, (_request, response) => done(response)))
    const page = await visit.signedIn(plugins())
    await page.getByRole('textbox', { name: 'Address' }).fill('nonsense')
    await page.getByRole('button', { name: 'Install', exact: true }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Address' }).getAttribute('aria-invalid')).toBe('true')
    await page.getByRole('textbox', { name: 'Address' }).fill('https://www.npmjs.com/package/@t/packed')
    await page.getByRole('button', { name: 'Install', exact: true }).click()
    const response = await asked
    await page.getByRole('status').getByText('Downloading and checking it').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped. Nothing was changed.').waitFor()
    await expectSound(page)
    response.end()
    registry.answer(path, (_request, again) => again.end(packFiles(files('one'))))
    await page.getByRole('button', { name: 'Install', exact: true }).click()
    await page.getByRole('heading', { name: 'Packed', level: 1 }).waitFor()

    registry.publish('@t/packed', '2.0.0', files('two'))
    await tab(page, 'About')
    await page.getByRole('button', { name: 'Check for updates' }).click()
    await page.getByText('There is a newer version: 2.0.0').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'What would change?', exact: true }).click()
    await page.getByRole('region', { name: 'What would change?' }).getByText('1.0.0 → 2.0.0').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Upgrade to 2.0.0' }).click()
    await page.getByText('Installed: 2.0.0').waitFor()
    await page.getByRole('textbox', { name: 'Another version' }).fill('1.0.0')
    await page.getByRole('button', { name: 'What would change? Another version: 1.0.0' }).click()
    await page.getByRole('region', { name: 'What would change?' }).getByText('2.0.0 → 1.0.0').waitFor()
    await page.getByRole('textbox', { name: 'Another version' }).press('Enter')
    await page.getByText('Installed: 1.0.0').waitFor()
    await tab(page, 'Activity')
    await page.getByText('installed another version of Packed').first().waitFor()
    await page.getByText("exports.onEvent = () => 'two'").first().waitFor()
    await expectSound(page)
    const { body } = await visit.scenario.get(api())
    for (const { id } of body.results) await visit.scenario.delete(`${api()}${id}/`)
  })

  it('are configured by a form made of their schema', async () => {
    const id = await make('Shouter')
    const page = await visit.signedIn(`${plugins()}/${id}`, { dark: true })
    await page.getByRole('link', { name: 'the site' }).waitFor()
    await page.getByRole('textbox', { name: 'Word' }).fill('')
    await page.getByRole('textbox', { name: 'Rules' }).fill('{')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('2 settings are not right yet.').waitFor()
    await page.getByText('This is not valid JSON.').waitFor()
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
    await page.getByRole('switch', { name: /^Use it in/ }).click({ force: true })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved. Shouter is on.').waitFor()
    await page.getByText('A value is kept. It is never shown.').waitFor()
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
    // What is kept stays without being sent; what is replaced is another value.
    await page.getByRole('textbox', { name: 'Word' }).fill('oho')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await shown()).config).toMatchObject({ word: 'oho', token: '••••••••' })
    await page.getByRole('button', { name: 'Replace Token' }).click()
    await page.getByRole('textbox', { name: 'Token' }).fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('This is needed.').waitFor()
    await page.getByRole('button', { name: 'Keep the present Token' }).click()
    await page.getByRole('button', { name: 'Remove the file of Voice' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await expect.poll(async () => (await shown()).config.voice).toBeUndefined()
  })

  it('are watched: log, metrics, jobs and activity', async () => {
    const { scenario } = visit
    const id = await make('Watched')
    const { body: config } = await scenario.post(configs(), { plugin: id, enabled: true })
    const page = await visit.signedIn(`${plugins()}/${id}?tab=jobs`)
    await page.getByRole('heading', { name: 'Say it' }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Run Say it of Watched' }).click()
    await page.getByText('This is needed.').waitFor()
    await page.getByRole('textbox', { name: 'Text' }).fill('hello')
    await page.getByRole('spinbutton', { name: 'How often' }).fill('3')
    await page.getByRole('button', { name: 'Run Say it of Watched' }).click()
    await page.getByText('Say it will run in a moment').waitFor()
    await tab(page, 'Log')
    await page.getByRole('log').getByText('said hello 3').waitFor()
    await expectSound(page)
    await page.getByRole('checkbox', { name: 'Error' }).press('Space')
    await page.getByText('Nothing in the log is like that.').waitFor()
    await page.getByRole('checkbox', { name: 'Warning' }).press('Space')
    await page.getByRole('log').getByText('said hello 3').waitFor()
    await page.getByRole('textbox', { name: 'Search the log' }).fill('nobody')
    await page.getByText('Nothing in the log is like that.').waitFor()
    await expect
      .poll(async () => (await scenario.get(`${configs()}${config.id}/metrics/`)).body.calls)
      .toBeGreaterThan(0)
    await tab(page, 'Metrics')
    await page.getByRole('img', { name: /Calls by hour/ }).waitFor()
    await page.getByText('Show as a table').click()
    await page.getByRole('table', { name: 'Calls by hour' }).waitFor()
    await expectSound(page)
    await tab(page, 'Activity')
    await page.getByText('started a job of Watched: Say it').waitFor()
    await expectSound(page)
  })

  it('are put in order by keyboard', async () => {
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
      .getByText(/^Second is now/)
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

  it('can only be looked at by those who are no admins, in German as well', async () => {
    const member = await visit.scenario.join('watcher')
    const id = await make('Nur ansehen')
    const page = await visit.open({ locale: 'de-DE' })
    await page.goto(`/login?next=${encodeURIComponent(`${plugins()}/${id}`)}`)
    await page.locator('input[type=email]').fill(member.email)
    await page.locator('input[type=password]').fill('correct horse battery')
    await page.locator('button[type=submit]').click()
    await page.getByText('Nur Admins können diese Einstellungen ändern.').waitFor()
    await expectSound(page)
    await tab(page, 'Quelltext')
    await page.getByRole('textbox', { name: 'Quelltext von index.ts' }).waitFor()
    expect(await page.getByRole('button', { name: 'Übersetzen und speichern' }).count()).toBe(0)
    await page.getByText('Du kannst den Quelltext lesen').waitFor()
    await expectSound(page)
  })
})
