import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import packagedChromium from '@sparticuz/chromium'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const systemBrowsers = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const waitMilliseconds = 30_000

/** The page in a real browser against a real server. */
export interface Visit {
  readonly scenario: Scenario
  /** A window of its own: nothing is shared between two of them. */
  open(options?: { width?: number; height?: number; dark?: boolean; locale?: string }): Promise<Page>
  /** The owner signs in, and goes there. */
  signIn(page: Page, path: string): Promise<void>
  /** A window in which the owner is signed in. */
  signedIn(path: string, options?: Parameters<Visit['open']>[0]): Promise<Page>
  close(): Promise<void>
}

export async function startVisit(environment: Record<string, string> = {}): Promise<Visit> {
  const [scenario, browser] = await Promise.all([
    startScenario('sqlite', { environment: { HALYARD_SCHEDULER_SECONDS: '1', ...environment } }),
    launch(),
  ])
  const contexts: BrowserContext[] = []
  const { password, email } = scenario.halyard.firstOwner!

  const open: Visit['open'] = async (options = {}) => {
    const context = await browser.newContext({
      baseURL: scenario.url,
      locale: options.locale ?? 'en-US',
      timezoneId: 'UTC',
      colorScheme: options.dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
    })
    contexts.push(context)
    context.setDefaultTimeout(waitMilliseconds)
    const page = await context.newPage()
    watch(page)
    return page
  }
  const signIn: Visit['signIn'] = async (page, path) => {
    await page.goto(`/login?next=${encodeURIComponent(path)}`)
    await page.locator('input[type=email]').fill(email)
    await page.locator('input[type=password]').fill(password)
    const field = await page.locator('input[type=password]').elementHandle()
    await page.locator('button[type=submit]').click()
    await page.waitForURL(url => url.pathname !== '/login')
    // The address changes a moment before the page does, and the sign-in form has fields that other pages have too.
    await field?.waitForElementState('hidden')
  }
  return {
    scenario,
    open,
    signIn,
    async signedIn(path, options) {
      const page = await open(options)
      await signIn(page, path)
      return page
    },
    async close() {
      for (const context of contexts) await context.close()
      await browser.close()
      await scenario.close()
    },
  }
}

export async function launch(): Promise<Browser> {
  const executablePath = systemBrowsers.find(path => existsSync(path)) ?? (await packagedChromium.executablePath())
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--headless',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

const complaints = new WeakMap<Page, string[]>()

/** Whatever a test is about, an error in the console (a refused style, a thrown exception) fails it. */
function watch(page: Page): void {
  const found: string[] = []
  complaints.set(page, found)
  page.on('pageerror', error => found.push(String(error)))
  page.on('console', message => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) found.push(message.text())
  })
}

/** Nothing in the console, nothing that axe finds against WCAG 2.2 AA. */
export async function expectSound(page: Page): Promise<void> {
  const folder = process.env.TEST_SCREENSHOTS
  if (folder)
    await page.screenshot({ path: `${folder}/${expect.getState().currentTestName} ${performance.now() | 0}.png` })
  expect(complaints.get(page)).toEqual([])
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource)
  // As text, since it runs in the browser, whose names are not known here.
  const results = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(axeOptions)})`)
  const violations = results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html.slice(0, 300)} ${any[0]?.message ?? ''}`),
  )
  expect(violations).toEqual([])
  expect(await page.evaluate(namelessTabs), 'rows of tabs without a name').toBe(0)
  expect(await hasSidewaysScroll(page), 'the page scrolls sideways').toBe(false)
}

/** That is where the keyboard is. */
export const expectFocus = (element: Locator): Promise<void> =>
  expect.poll(() => element.and(element.page().locator(':focus')).count()).toBe(1)

const namelessTabs = 'document.querySelectorAll("[role=tablist]:not([aria-label])").length'

interface AxeResults {
  violations: { id: string; nodes: { html: string; any: { message: string }[] }[] }[]
}

const axeOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  rules: { region: { enabled: false } },
}

const hasSidewaysScroll = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1')

/** A person of a company who has asked for the flag `search-v2`. */
export async function meetAda(scenario: Scenario): Promise<void> {
  await scenario.post('/batch/', {
    api_key: scenario.projectToken,
    batch: [
      { event: '$identify', distinct_id: 'ada', properties: { $set: { email: 'ada@example.com', plan: 'pro' } } },
      {
        event: '$groupidentify',
        distinct_id: 'ada',
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 12 } },
      },
      {
        event: '$feature_flag_called',
        distinct_id: 'ada',
        properties: { $feature_flag: 'search-v2', $feature_flag_response: true },
      },
    ],
  })
}
