import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { visitServer } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'
import { expectFocus, expectSound, openPage } from './browser.ts'
import { launch } from './launch-browser.ts'

let browser: Browser
let server: ServerProcess
let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase('sqlite')
  ;[server, browser] = await Promise.all([startServer(database.url), launch()])
}, 120_000)
afterAll(async () => {
  await browser.close()
  await server.stop()
  await database.drop()
})

/** The link that the log contains until it is used. */
const setupLink = () => /\/setup\?token=\w{43}/.exec(server.lines.join('\n'))?.[0] ?? ''

describe('the first five minutes', { timeout: 240_000 }, () => {
  it('lead from the set-up form to a project that offers flags, an import and the demo', async () => {
    for (const options of [{ dark: true }, { width: 390, locale: 'de-DE' }]) {
      const other = await openPage(browser, server.url, options)
      await other.goto(setupLink())
      await expectSound(other)
    }
    const page = await openPage(browser, server.url)
    await page.goto(setupLink())
    await expectFocus(page.getByLabel('Name', { exact: true }))
    await page.keyboard.type('Ada')
    await page.getByLabel('Email').fill('ada')
    await page.getByLabel('Password').fill('correct horse')
    await page.keyboard.press('Enter')
    // Every wrong field has its message; the others keep what was entered, the password in memory alone.
    const problems = page.getByRole('alert')
    await expect
      .poll(() => problems.allInnerTexts())
      .toEqual(['Enter an email address, such as you@example.com.', 'Enter a name of up to 64 characters.'])
    await expectFocus(page.getByLabel('Email'))
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Ada')
    expect(await page.getByLabel('Password').inputValue()).toBe('correct horse')
    expect(await page.content()).not.toContain('correct horse')
    await expectSound(page)
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Project name').fill('Web shop')
    await page.getByLabel('Password').fill('short')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Use at least 8 characters').waitFor()
    await expectFocus(page.getByLabel('Password'))
    expect(await page.getByLabel('Password').inputValue()).toBe('short')
    await page.getByLabel('Password').fill('correct horse')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No flags yet' }).waitFor()
    await page.getByRole('button', { name: 'Switch project: Web shop' }).waitFor()
    for (const name of ['Create a flag', 'Import', 'Look around']) await page.getByRole('heading', { name }).waitFor()
    await expectSound(page)

    await page.getByRole('listitem').getByText('Waiting for the first call').waitFor()
    const scenario = await visitServer(server.url, ownerKey)
    await fetch(`${server.url}/flags/?v=2`, {
      method: 'POST',
      headers: { 'user-agent': 'posthog-node/5.1.0', 'content-type': 'application/json' },
      body: JSON.stringify({ token: scenario.projectToken, distinct_id: 'ada' }),
    })
    // Pushed, without a reload.
    await page.getByRole('listitem').getByText('First call received').waitFor()
    await expectSound(page)
    await page.getByRole('link', { name: 'Create your first flag' }).click()
    await page.getByRole('heading', { name: 'New flag' }).waitFor()
  })

  it('load the demo with a button, once', async () => {
    const scenario = await visitServer(server.url, ownerKey)
    const { body: project } = await scenario.post('/api/projects/', { name: 'Demo' })
    const { body: created } = await scenario.post('/api/personal_api_keys/', { label: 'Browser', scopes: ['*'] })
    const page = await openPage(browser, server.url, { width: 390, locale: 'de-DE', dark: true })
    const session = { key: created.value, expiresAt: '2099-01-01T00:00:00Z' }
    await page.addInitScript(`sessionStorage.setItem('halyard.session', ${JSON.stringify(JSON.stringify(session))})`)
    await page.goto(`/project/${project.id}`)
    await page.getByRole('heading', { name: 'Noch keine Flags' }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Demo laden' }).click()
    await page.getByText('8 Flags und 200 Personen geladen').waitFor()
    await page.getByRole('link', { name: 'new-checkout' }).first().waitFor()
    expect((await scenario.post(`/api/projects/${project.id}/load_demo/`)).status).toBe(400)
  })
})
