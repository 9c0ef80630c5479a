import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { clientOf } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, startServer } from '../faults/server-process.ts'
import { freePort } from '../free-port.ts'
import { expectSound, openPage, openSignedIn } from './browser.ts'
import { launch } from './launch-browser.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launch()
}, 120_000)
afterAll(() => browser.close())

const session = { key: ownerKey, expiresAt: '2099-01-01T00:00:00Z' }

/** A server as a process of its own, which comes back at the same address after a crash. */
async function startCrashingServer() {
  const database = await createTestDatabase('sqlite')
  onTestFinished(() => database.drop())
  const environment = { PORT: String(await freePort()) }
  let server = await startServer(database.url, environment)
  onTestFinished(() => server.kill())
  const owner = clientOf(server.url, ownerKey)
  const { id } = (await owner.get('/api/projects/')).body.results[0]
  return {
    url: server.url,
    owner,
    flags: `/api/projects/${id}/feature_flags`,
    path: `/project/${id}/flags`,
    crash: () => server.kill(),
    async restart() {
      server = await startServer(database.url, environment)
    },
  }
}

describe('a server that crashes and comes back', { timeout: 180_000 }, () => {
  it('goes on sending changes to pages that stayed open', async () => {
    const { url, owner, flags, path, crash, restart } = await startCrashingServer()
    const { body: flag } = await owner.post(`${flags}/`, { key: 'watched' })
    const page = await openPage(browser, url)
    await openSignedIn(page, path, session)
    const rename = (name: string) => owner.patch(`${flags}/${flag.id}/`, { name })
    expect((await rename('Before the crash')).status).toBe(200)
    await page.getByText('Before the crash').waitFor()
    const loaded = await page.evaluate('performance.timeOrigin')

    await crash()
    await restart()
    // Most likely before the page is connected again: it has to resume after the last change that it received.
    expect((await rename('Right after the restart')).status).toBe(200)
    await page.getByText('Right after the restart').waitFor()
    expect((await rename('Later')).status).toBe(200)
    await page.getByText('Later').waitFor()
    expect(await page.evaluate('performance.timeOrigin'), 'the page was not loaded again').toBe(loaded)
    await expectSound(page)
  })

  it('does not take a page down that was still loading', async () => {
    const { url, owner, flags, path } = await startCrashingServer()
    const { body: flag } = await owner.post(`${flags}/`, { key: 'watched' })
    const page = await openPage(browser, url)
    const late = /\/assets\/(shortcut-help|change-worker)-/
    const refused = new Set<string>()
    await page.context().route(late, route => {
      refused.add(late.exec(route.request().url())?.[1] ?? '')
      return route.abort('connectionrefused')
    })
    await openSignedIn(page, path, session)
    await page.getByRole('link', { name: 'watched' }).waitFor()
    await page.keyboard.press('?')
    const failed = page.getByRole('alert').filter({ hasText: 'Part of the page couldn’t be loaded' })
    await failed.waitFor()
    await expectSound(page)
    await owner.patch(`${flags}/${flag.id}/`, { name: 'Still connected' })
    await page.getByText('Still connected').waitFor()
    expect(await failed.count()).toBe(1)

    await page.context().setOffline(true)
    await failed.getByRole('button', { name: 'Reload page' }).click()
    await failed.getByText('Can’t reach the server').waitFor()
    await page.context().setOffline(false)
    await page.context().unroute(late)
    expect([...refused].sort()).toEqual(['change-worker', 'shortcut-help'])
    await failed.getByRole('button', { name: 'Reload page' }).click()
    await failed.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor()
    await expectSound(page)
  })

  it('loses no unsaved edit, which is saved afterwards', async () => {
    const { url, owner, flags, path, crash, restart } = await startCrashingServer()
    const { body: flag } = await owner.post(`${flags}/`, { key: 'edited' })
    const page = await openPage(browser, url)
    await openSignedIn(page, `${path}/${flag.id}`, session)
    const description = page.getByRole('textbox', { name: 'Description' })
    await description.fill('typed before the crash')
    await page.getByRole('button', { name: 'Review and save' }).click()
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('Added: typed before the crash').waitFor()

    await crash()
    await review.getByRole('button', { name: 'Save' }).click()
    await review.getByText('Can’t reach the server').waitFor()
    await review.getByRole('button', { name: 'Keep editing' }).click()
    await description.fill('typed during the crash')

    await restart()
    await page.reload()
    await expect.poll(() => description.inputValue()).toBe('typed during the crash')
    await page.keyboard.press('Control+s')
    await review.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Changes saved', { exact: true }).waitFor()
    expect((await owner.get(`${flags}/${flag.id}/`)).body.name).toBe('typed during the crash')
    await expectSound(page)
  })
})
