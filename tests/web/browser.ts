import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { type Program, startProgram } from '../program/start-program.ts'
import { launch } from './launch-browser.ts'

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const waitMilliseconds = 30_000

export interface PageOptions {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
  readonly locale?: string
}

/** The web app in a real browser against a real server. */
export interface Visit {
  readonly scenario: Program
  /** Opens a page in a browser context of its own, until the end of the test. */
  open(options?: PageOptions): Promise<Page>
  /** Signs the owner or someone else in with the form and opens the path. */
  signIn(page: Page, path: string, as?: { email: string; password: string }): Promise<void>
  /** Opens a page with the owner signed in, without the form. */
  signedIn(path: string, options?: PageOptions): Promise<Page>
  close(): Promise<void>
}

export async function startVisit(
  environment: Record<string, string> = {},
  dialect: 'sqlite' | 'postgres' = 'sqlite',
): Promise<Visit> {
  const [scenario, browser] = await Promise.all([
    startProgram(dialect, { HALYARD_SCHEDULER_SECONDS: '1', ...environment }),
    launch(),
  ])
  const { email, password } = scenario.owner

  const open: Visit['open'] = options => openPage(browser, scenario.url, options)
  const signIn: Visit['signIn'] = async (page, path, as = { email, password }) => {
    await page.goto(`/login?next=${encodeURIComponent(path)}`)
    await page.locator('input[type=email]').fill(as.email)
    await page.locator('input[type=password]').fill(as.password)
    const field = await page.locator('input[type=password]').elementHandle()
    await page.locator('button[type=submit]').click()
    await page.waitForURL(url => url.pathname !== '/login')
    // The URL changes before the content does, and other pages have fields with the same names.
    await field?.waitForElementState('hidden')
    await contentOf(page)
  }
  return {
    scenario,
    open,
    signIn,
    async signedIn(path, options) {
      const page = await open(options)
      const session = await scenario.as(undefined).post('/api/login/', { email, password })
      await openSignedIn(page, path, { key: session.body.api_key, expiresAt: session.body.expires_at })
      return page
    },
    async close() {
      await browser.close()
      await scenario.close()
    },
  }
}

/** The visit of the enclosing suite: started before the tests and hooks that follow, closed after all of them. */
export function suiteVisit(...options: Parameters<typeof startVisit>): Visit {
  let started: Visit
  beforeAll(async () => {
    started = await startVisit(...options)
  }, 120_000)
  afterAll(() => started.close())
  return new Proxy({} as Visit, { get: (_, name) => started[name as keyof Visit] })
}

/** Opens a page in a browser context of its own, until the end of the test. */
export async function openPage(browser: Browser, baseURL: string, options: PageOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    baseURL,
    locale: options.locale ?? 'en-US',
    timezoneId: 'UTC',
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: 'reduce',
    viewport: { width: options.width ?? 1280, height: options.height ?? 800 },
  })
  // An open page would follow the changes of later tests.
  onTestFinished(() => context.close())
  context.setDefaultTimeout(waitMilliseconds)
  await context.addInitScript(watchBubbles)
  const page = await context.newPage()
  watch(page)
  return page
}

/** Collects what the browser reports about a field in a bubble of its own, which a page prevents. */
const watchBubbles = `window.bubbles = []
window.addEventListener('invalid', event => setTimeout(() => {
  if (!event.defaultPrevented) window.bubbles.push(event.target.outerHTML.slice(0, 200))
}), true)`

interface StoredSession {
  readonly key: string
  readonly expiresAt: string
}

/** Opens a path with a session that a sign-in would have stored. */
export async function openSignedIn(page: Page, path: string, session: StoredSession): Promise<void> {
  await page.addInitScript(storeSession(session))
  await page.goto(path)
  await contentOf(page)
}

/** Signs the tab in once: a later reload finds what the web app has stored. */
const storeSession = (session: StoredSession): string => `{
  if (!sessionStorage.getItem('test.signed-in')) {
    sessionStorage.setItem('test.signed-in', 'yes')
    sessionStorage.setItem('halyard.session', ${JSON.stringify(JSON.stringify(session))})
  }
}`

const consoleErrors = new WeakMap<Page, string[]>()

/** An error in the console, such as a blocked style or an exception, fails any test. */
function watch(page: Page): void {
  const errors: string[] = []
  consoleErrors.set(page, errors)
  page.on('pageerror', error => errors.push(String(error)))
  page.on('console', message => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
}

/** Waits for the heading of the page. The URL changes first, and until then nothing can be said about the content. */
async function contentOf(page: Page): Promise<void> {
  await page.locator('main').first().waitFor({ state: 'attached' })
  await page.locator('h1').first().waitFor({ state: 'attached' })
}

/**
 * No console errors, no bubbles of the browser and no violations of WCAG 2.2 AA that axe can find. A page that has passed
 * in one color scheme needs only the rules for colors in the other.
 */
export async function expectSound(page: Page, rules: 'all' | 'colors' = 'all'): Promise<void> {
  await contentOf(page)
  const folder = process.env.TEST_SCREENSHOTS
  if (folder)
    await page.screenshot({ path: `${folder}/${expect.getState().currentTestName} ${performance.now() | 0}.png` })
  expect(consoleErrors.get(page)).toEqual([])
  expect(await violationsIn(page, rules)).toEqual([])
  expect(await page.evaluate('window.bubbles ?? []'), 'errors in bubbles of the browser').toEqual([])
  expect(await page.evaluate(namelessTabs), 'tab lists without an accessible name').toBe(0)
  expect(await hasHorizontalScroll(page), 'the page scrolls horizontally').toBe(false)
}

/** What axe finds in any page. */
export async function violationsIn(page: Page, rules: keyof typeof axeOptions = 'all'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axeSource)
  // As text: it runs in the browser, whose types are not known here.
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(axeOptions[rules])}).then(${describeViolations})`)
}

/** Switches with the keyboard, because a drawing covers the element, and waits for the effect. */
export async function toggle(element: Locator): Promise<void> {
  const wasOn = await element.isChecked()
  await element.press('Space')
  await expect.poll(() => element.isChecked()).toBe(!wasOn)
}

/** Waits until the element has the focus. */
export const expectFocus = (element: Locator): Promise<void> =>
  expect.poll(() => element.and(element.page().locator(':focus')).count()).toBe(1)

const namelessTabs = 'document.querySelectorAll("[role=tablist]:not([aria-label])").length'

/** Only this much leaves the browser: the full results describe every element that passed. */
const describeViolations = `({ violations }) => violations.flatMap(({ id, nodes }) =>
  nodes.map(({ html, any }) => id + ': ' + html.slice(0, 300) + ' ' + (any[0]?.message ?? '')))`

const axeOptions = {
  all: {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    rules: { region: { enabled: false } },
    resultTypes: ['violations'],
  },
  /** The rules whose outcome depends on the color scheme. */
  colors: { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }, resultTypes: ['violations'] },
}

const hasHorizontalScroll = (page: Page): Promise<boolean> =>
  page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth + 1')

/** Sends events of a person in a company who has evaluated the flag `search-v2`. */
export async function sendEventsOfAda(scenario: Program, token = scenario.projectToken): Promise<void> {
  await scenario.post('/batch/', {
    api_key: token,
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
