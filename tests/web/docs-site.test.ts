import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { version } from '../../packages/server/src/version.ts'
import { expectSound, suiteVisit } from './browser.ts'

/** The documentation as a reader gets it from a running server. */

const visit = suiteVisit()

const docs = join(import.meta.dirname, '../../docs')
const addresses = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.md'))
  .map(name => `/docs/${name.replaceAll('\\', '/').slice(0, -'.md'.length).toLowerCase()}/`.replace(/index\/$/, ''))

/** Fails when the page requests anything from another origin. */
function watchOrigin(page: Page): string[] {
  const foreign: string[] = []
  page.on('request', request => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== visit.scenario.url) foreign.push(request.url())
  })
  return foreign
}

describe('the docs site', { timeout: 180_000 }, () => {
  it('shows the home page with its version, and follows links', async () => {
    const page = await visit.open()
    const foreign = watchOrigin(page)
    await page.goto('/docs/')
    await page.getByRole('heading', { level: 1, name: 'Get started' }).waitFor()
    expect(await page.locator('header').textContent()).toContain(version)
    await expectSound(page)
    await page.getByRole('main').getByRole('link', { name: 'Concepts', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'Concepts' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/docs/concepts/')
    await expectSound(page)
    expect(foreign).toEqual([])
  })

  it('finds a page by a word of its text, with the keyboard', async () => {
    const page = await visit.open()
    const foreign = watchOrigin(page)
    await page.goto('/docs/')
    await page.keyboard.press('/')
    await page.keyboard.type('rollout')
    const results = page.getByRole('option')
    await results.first().waitFor()
    await expect.poll(() => results.first().textContent()).toMatch(/rollout/i)
    await expectSound(page)
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname !== '/docs/')
    // The address changes before the page is complete.
    await expect.poll(() => page.getByRole('main').textContent()).toMatch(/rollout/i)
    await page.getByRole('combobox').fill('qwertzuiop')
    await page.getByText('No results for').waitFor()
    expect(foreign).toEqual([])
  })

  it('has a dark mode that follows the system and stays as chosen', async () => {
    const page = await visit.open({ dark: true })
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    await page.goto('/docs/guide/schedules/')
    const dark = await background()
    await expectSound(page)
    await page.getByRole('button', { name: 'Dark mode' }).click()
    await expect.poll(background).not.toBe(dark)
    const light = await background()
    await page.reload()
    expect(await background()).toBe(light)
    await expectSound(page)
  })

  it('works on a phone: every page fits, and the menu opens', async () => {
    const page = await visit.open({ width: 390, height: 844 })
    await page.goto('/docs/operate/deploy/')
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').first().waitFor()
    await expectSound(page)
    const wide: string[] = []
    for (const address of addresses) {
      await page.goto(address, { waitUntil: 'domcontentloaded' })
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      if ((await page.evaluate<number>(overflow)) > 1) wide.push(address)
    }
    expect(wide).toEqual([])
  })

  it('serves every page compressed under a strict policy, with links that lead somewhere', async () => {
    const { url } = visit.scenario
    const anchors = new Set<string>()
    const links = new Map<string, string>()
    for (const address of addresses) {
      const response = await fetch(url + address, { headers: { 'accept-encoding': 'br' } })
      expect([address, response.status, response.headers.get('content-encoding')]).toEqual([address, 200, 'br'])
      expect(response.headers.get('content-security-policy')).not.toContain('unsafe')
      const html = await response.text()
      expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/)
      anchors.add(address)
      for (const [, id] of html.matchAll(/ id="([^"]+)"/g)) anchors.add(`${address}#${id}`)
      for (const [, href] of html.matchAll(/ href="((?:\/docs\/|#)[^"]*)"/g)) {
        links.set(href!.startsWith('#') ? address + href : href!, address)
      }
    }
    const pages = [...links].filter(([link]) => !link.startsWith('/docs/assets/'))
    expect(pages.filter(([link]) => !anchors.has(link)).map(([link, from]) => `${from} → ${link}`)).toEqual([])
  })

  it('explains an unknown page, and serves nothing outside its folder', async () => {
    const { url } = visit.scenario
    const unknown = await fetch(`${url}/docs/nothing/`, { headers: { accept: 'text/html' } })
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('Page not found')])
    const program = await fetch(`${url}/docs/nothing/`)
    expect([program.status, program.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
    for (const path of ['/docs/..%2f..%2fpackage.json', '/docs/%2e%2e/halyard.js', '/docs/404.html.br']) {
      expect((await fetch(url + path)).status).toBe(404)
    }
  })
})
