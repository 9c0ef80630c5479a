import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'
import { violationsIn } from '../web/browser.ts'
import { launch } from '../web/launch-browser.ts'

/** The toolbar in an application of another origin, under a policy that forbids inline styles and scripts. */
const application = `
  import { HalyardWebProvider } from '@halyard/openfeature-web'
  import { createPageOverrides, showToolbar } from '@halyard/openfeature-web/toolbar'
  import { OpenFeature } from '@openfeature/web-sdk'
  const { url, token, project } = document.body.dataset
  const overrides = createPageOverrides()
  showToolbar({ url, project, overrides, openFeature: OpenFeature })
  await OpenFeature.setContext({ targetingKey: 'user-1' })
  await OpenFeature.setProviderAndWait(new HalyardWebProvider({ url, token, overrides }))
  const client = OpenFeature.getClient()
  const render = () => {
    const values = [
      client.getBooleanValue('checkout', false),
      client.getStringValue('color', 'none'),
      client.getNumberValue('limit', 0),
    ]
    document.querySelector('#values').textContent = values.join(' ')
  }
  client.addHandler('PROVIDER_CONFIGURATION_CHANGED', render)
  render()
`

const bundle = async (contents: string) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['halyard-source'],
  })
  return outputFiles[0]!.text
}

let s: Program
let browser: Browser
let site: Server
let address: string
beforeAll(async () => {
  const script = await bundle(application)
  ;[s, browser] = await Promise.all([startProgram('sqlite'), launch()])
  site = createServer((request, response) => {
    const isScript = request.url === '/app.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.setHeader('content-security-policy', `default-src 'none'; script-src 'self'; connect-src ${s.url}`)
    const data = `data-url="${s.url}" data-token="${s.projectToken}" data-project="${s.projectId}"`
    const page = `<!doctype html><html lang="en"><title>Shop</title><body ${data}><main><h1>Shop</h1><p id="values"></p></main><script type="module" src="/app.js"></script>`
    response.end(isScript ? script : page)
  })
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  const variants = ['red', 'blue'].map((key, n) => ({ key, rollout_percentage: n * 100 }))
  const pro = [{ key: 'plan', type: 'person', operator: 'exact', value: 'pro' }]
  for (const flag of [
    { key: 'checkout', filters: { groups: [{ properties: pro }] } },
    { key: 'color', filters: { groups: [{}], multivariate: { variants } } },
    { key: 'limit', filters: { groups: [{}], return_type: 'number', payloads: { true: '5' } } },
  ])
    await s.post(`${s.project}/feature_flags/`, flag)
})
afterAll(async () => {
  await browser.close()
  site.close()
  site.closeAllConnections()
  await s.close()
})

/** Each visitor has a browser profile of their own. */
async function visit(link = address): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC' })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('pageerror', error => complaints.push(String(error)))
  page.on('console', message => {
    if (message.type() === 'error' && !message.location().url.includes('favicon')) complaints.push(message.text())
  })
  await page.addInitScript(`
    document.addEventListener('securitypolicyviolation', event => {
      if (!event.blockedURI.includes('favicon')) console.error(event.violatedDirective)
    })
    navigator.clipboard.writeText = async text => { window.copied = text }
  `)
  await page.goto(link)
  return { page, complaints }
}

/** For looking at it: TEST_SCREENSHOTS names a folder. */
async function picture(page: Page): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS
  if (!folder) return
  for (const width of [390, 1280]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 700 })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${folder}/toolbar ${width} ${colorScheme}.png` })
    }
  }
}

const values = (page: Page) => page.locator('#values').textContent()
const shows = (page: Page, text: string) => expect.poll(() => values(page)).toBe(text)
const row = (page: Page, key: string) => page.locator('halyard-toolbar tr', { hasText: key })

it('shows values and reasons, overrides them for this browser, and shares them by a link that cannot be changed', async () => {
  const created = await s.post('/api/personal_api_keys/', { label: 'Toolbar', scopes: ['flag_override:write'] })
  const { page, complaints } = await visit()
  await shows(page, 'false blue 5')
  const opener = page.locator('halyard-toolbar button.open')
  await expect.poll(() => opener.textContent()).toBe('Flags: 3')
  await opener.click()
  await expect.poll(() => row(page, 'checkout').textContent()).toContain('falseNo condition matched')
  expect(await violationsIn(page)).toEqual([])

  const status = page.locator('halyard-toolbar [role=status]')
  await page.getByLabel('Override checkout').selectOption('On')
  const refused = page.getByText('The server does not accept the overrides.')
  await refused.waitFor()
  await page.getByRole('button', { name: 'Remove overrides' }).click()
  await refused.waitFor({ state: 'detached' })
  expect(await values(page)).toBe('false blue 5')

  await page.getByLabel('API key').fill(created.body.value)
  await page.getByLabel('API key').press('Tab')
  const color = page.getByLabel('Override color')
  await expect.poll(() => color.locator('option').allTextContents()).toEqual(['No override', 'red', 'blue', 'Off'])
  await page.getByLabel('Override limit').fill('"many"')
  await page.getByLabel('Override limit').press('Enter')
  await expect.poll(() => status.textContent()).toContain('must be of the type number')
  await page.getByLabel('Override checkout').selectOption('On')
  await shows(page, 'true blue 5')
  await color.selectOption('red')
  await shows(page, 'true red 5')
  await page.getByLabel('Override limit').fill('9')
  await page.getByLabel('Override limit').press('Enter')
  await shows(page, 'true red 9')
  await expect.poll(() => row(page, 'checkout').textContent()).toContain('trueOverridden')
  await expect.poll(() => opener.textContent()).toBe('Flags: 3, 3 overridden')
  await picture(page)
  expect(await violationsIn(page)).toEqual([])

  await page.getByRole('button', { name: 'Copy link' }).click()
  await expect.poll(() => status.textContent()).toBe('The link is copied.')
  const link = String(await page.evaluate('window.copied'))
  const other = await visit(link)
  await shows(other.page, 'true red 9')
  expect(other.page.url()).toBe(address)

  const [, content] = new URL(link).searchParams.get('halyard_overrides')!.split('.')
  const more = { ...JSON.parse(Buffer.from(content!, 'base64url').toString()), e: 4_000_000_000 }
  const tampered = await visit(link.replace(content!, Buffer.from(JSON.stringify(more)).toString('base64url')))
  await shows(tampered.page, 'false blue 5')
  await tampered.page.locator('halyard-toolbar button.open').click()
  await tampered.page.getByText('The server does not accept the overrides.').waitFor()

  await page.getByRole('button', { name: 'Remove overrides' }).click()
  await shows(page, 'false blue 5')
  await page.keyboard.press('Escape')
  await expect.poll(() => opener.getAttribute('aria-expanded')).toBe('false')
  await expect.poll(() => page.evaluate('document.activeElement?.localName')).toBe('halyard-toolbar')
  await page.reload()
  await shows(page, 'false blue 5')
  for (const { complaints: found } of [other, tampered]) expect(found).toEqual([])
  // The browser reports the request that the server refused.
  expect(complaints.filter(text => !text.includes('status of 400'))).toEqual([])
})

it('is small', async () => {
  const script = await bundle(`export * from '@halyard/openfeature-web/toolbar'`)
  expect(script.length).toBeLessThan(15_000)
  expect(gzipSync(script).length).toBeLessThan(6_000)
})
