import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendEventsOfAda, startVisit, type Visit } from './browser.ts'

let visit: Visit
let flag: string
beforeAll(async () => {
  visit = await startVisit()
  const { scenario } = visit
  const { body } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'search-v2' })
  flag = `/project/${scenario.projectId}/flags/${body.id}`
})
afterAll(() => visit.close())

/** The fonts that the browser draws the elements with, as `family (system)` unless they were downloaded. */
async function fontsOf(page: Page, selector: string): Promise<string[]> {
  await page.evaluate('document.fonts.ready')
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('DOM.enable')
  await devTools.send('CSS.enable')
  const { root } = await devTools.send('DOM.getDocument')
  const { nodeIds } = await devTools.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector })
  const found = new Set<string>()
  for (const nodeId of nodeIds.slice(0, 20)) {
    const { fonts } = await devTools.send('CSS.getPlatformFontsForNode', { nodeId })
    for (const { familyName, isCustomFont } of fonts) found.add(isCustomFont ? familyName : `${familyName} (system)`)
  }
  await devTools.detach()
  return [...found]
}

interface Requested {
  readonly url: string
  readonly cacheControl: string | undefined
}

/** Opens a page a second time: a text font that was late the first time is cached now. */
async function openTwice(path: string, isReady: (page: Page) => Promise<void>): Promise<[Page, Requested[]]> {
  const isInside = !/^\/(docs|api|setup|login)/.test(path)
  const page = isInside ? await visit.signedIn(path) : await visit.open()
  const requests: Requested[] = []
  page.on('response', response => {
    if (response.request().resourceType() !== 'font') return
    requests.push({ url: response.url(), cacheControl: response.headers()['cache-control'] })
  })
  for (let times = 0; times < 2; times += 1) {
    await page.goto(path)
    await isReady(page)
    await page.evaluate('document.fonts.ready')
  }
  return [page, requests]
}

describe('shipped fonts', { timeout: 60_000 }, () => {
  it.each([
    ['dashboard', () => `${flag}?tab=code`, 'h1, [role=tab]', 'pre, code'],
    ['docs site', () => '/docs/', 'h1, article p', 'pre'],
    ['API reference', () => '/api/docs/', 'h1, header p, .opblock-tag', '.opblock-summary-path'],
    ['setup page', () => '/setup', 'h1, p, a', 'code'],
  ])('draw text and code of the %s', async (_name, path, text, code) => {
    const [page, requests] = await openTwice(path(), page => page.locator(code).first().waitFor())
    expect(await fontsOf(page, code)).toContain('IBM Plex Mono')
    const fonts = [...(await fontsOf(page, text)), ...(await fontsOf(page, code))]
    expect(fonts.filter(name => name.endsWith('(system)'))).toEqual([])
    expect(fonts).toContain('Inter')
    expect(requests.filter(({ url }) => !url.startsWith(visit.scenario.url))).toEqual([])
    expect(new Set(requests.map(({ cacheControl }) => cacheControl))).toEqual(
      new Set(['public, max-age=31536000, immutable']),
    )
  })

  it('draw the legend of a chart', async () => {
    const { scenario } = visit
    await sendEventsOfAda(scenario)
    const people = async () => (await scenario.get(`${scenario.project}/persons/`)).body.count
    await expect.poll(people, { timeout: 60_000 }).toBe(1)
    const legend = '.u-legend .u-label'
    const [page] = await openTwice(`${flag}?tab=usage`, page => page.locator(legend).first().waitFor())
    expect(await fontsOf(page, legend)).toEqual(['Inter'])
  })

  it('load no font for code on a page without any', async () => {
    const [, requests] = await openTwice('/login', page => page.locator('h1').waitFor())
    expect(requests.filter(({ url }) => url.includes('mono'))).toEqual([])
  })
})
