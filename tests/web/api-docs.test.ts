import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectSound, suiteVisit } from './browser.ts'

describe('the API reference', () => {
  const visit = suiteVisit()

  async function openReference(page: Page) {
    const response = await page.goto('/api/docs/')
    // All operations are rendered at once, which takes a busy machine a while.
    await search(page).waitFor({ timeout: 120_000 })
    return response
  }
  const search = (page: Page) => page.getByRole('textbox', { name: 'Search operations' })

  it('lists the operations, accessibly, under a policy that allows only this server', async () => {
    const page = await visit.open()
    const response = await openReference(page)
    expect(response?.headers()['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    )
    await page.locator('#operations-tag-Feature_flags').waitFor()
    await expectSound(page)
    // Sections are rendered when they come into view, and each that is rendered moves the end of the page.
    const scrollToEnd = async () => {
      await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
      return page.locator('#operations-tag-Edges').count()
    }
    await expect.poll(scrollToEnd, { timeout: 120_000 }).toBe(1)
  }, 180_000)

  it('finds an operation and runs it with a key on a phone, without a request to another origin', async () => {
    const page = await visit.open({ width: 390, dark: true })
    const requested: string[] = []
    page.on('request', request => requested.push(request.url()))
    await openReference(page)

    await search(page).fill('list flags newest project')
    const operation = page.locator('#operations-Feature_flags-listFeatureFlags')
    await expect.poll(() => page.locator('.opblock').count()).toBeLessThan(10)
    await operation.waitFor()

    await page.getByRole('button', { name: 'Authorize' }).first().click()
    const dialog = page.locator('.dialog-ux')
    await dialog.locator('input').first().fill(visit.scenario.key)
    await dialog.getByRole('button', { name: 'Authorize' }).first().click()
    await dialog.getByRole('button', { name: 'Logout' }).waitFor()
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Close' }).last().click()

    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('button', { name: 'Execute' }).click()
    const status = operation.locator('.live-responses-table .response-col_status').last()
    await expect.poll(() => status.innerText()).toContain('200')
    await expectSound(page)

    expect(requested.filter(url => !url.startsWith(visit.scenario.url) && !url.startsWith('data:'))).toEqual([])
    expect(requested.filter(url => url.includes('/feature_flags/'))).toHaveLength(1)
  }, 180_000)

  it("follows the system's color scheme, and the one that was chosen in the dashboard", async () => {
    const page = await visit.open({ dark: true })
    await openReference(page)
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(await background()).toBe('rgb(28, 32, 34)')
    await page.locator('#operations-tag-Feature_flags').waitFor()
    await expectSound(page)
    await page.evaluate(`localStorage.setItem('mantine-color-scheme-value', 'light')`)
    await openReference(page)
    expect(await background()).toBe('rgb(255, 255, 255)')
  }, 180_000)

  it('shows the body of a new flag and the schema of the response', async () => {
    const page = await visit.open({ width: 390 })
    await openReference(page)
    await search(page).fill('createFeatureFlag')
    await expect.poll(() => page.locator('.opblock').count()).toBe(2)
    const operation = page.locator('#operations-Feature_flags-createFeatureFlag')
    await operation.locator('.opblock-summary-control').click()
    await expect.poll(() => operation.innerText()).toContain('"pricing-test"')
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await operation.getByRole('textbox', { name: 'Request body' }).waitFor()
    await expectSound(page)
    await operation.getByRole('tab', { name: 'Schema' }).last().click()
    await expect.poll(() => operation.innerText()).toContain('rollout_percentage')
  }, 180_000)
})
