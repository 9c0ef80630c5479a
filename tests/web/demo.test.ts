import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { demo } from '../../packages/server/src/cli/demo/demo.ts'
import { withDatabase } from '../../packages/server/src/cli/with-database.ts'
import { demoPeople } from '../../packages/server/src/features/demo/demo-content.ts'
import { expectSound, startVisit, type Visit } from './browser.ts'

let visit: Visit
const log = console.log
beforeAll(async () => {
  visit = await startVisit()
  console.log = () => {}
  vi.stubEnv('DATABASE_URL', visit.scenario.databaseUrl)
}, 120_000)
afterAll(async () => {
  console.log = log
  vi.unstubAllEnvs()
  await visit.close()
})

async function countAccounts(): Promise<number> {
  let count = 0
  await withDatabase(async database => {
    count = await database.read(tx => tx.identity.countAccounts())
  })
  return count
}

/** Set by `scripts/screenshots.mjs` to the folder of the README's screenshots. */
const pictures = process.env.README_PICTURES

describe('halyard demo', { timeout: 240_000 }, () => {
  it('fills a project with sample data and removes it again', async () => {
    const { scenario } = visit
    const options = { url: scenario.url, key: scenario.key }
    const currentBefore = (await scenario.get('/api/projects/@current/')).body.id
    await demo(options)
    expect((await scenario.get('/api/projects/@current/')).body.id).toBe(currentBefore)
    const projects = (await scenario.get('/api/projects/')).body.results
    const { id } = projects.find((project: { name: string }) => project.name === 'Demo shop')
    expect((await scenario.get(`/api/projects/${id}/feature_flags/`)).body.count).toBe(8)
    await expect
      .poll(async () => (await scenario.get(`/api/projects/${id}/persons/`)).body.count, { timeout: 30_000 })
      .toBeGreaterThanOrEqual(demoPeople.length)

    const { results: story } = (await scenario.get(`/api/projects/${id}/feature_flags/activity/?limit=100`)).body
    const weekMilliseconds = 7 * 24 * 60 * 60 * 1000
    expect(Date.parse(story.at(-1).created_at)).toBeLessThan(Date.now() - 5 * weekMilliseconds)
    expect(new Set(story.map(({ user }: { user: { first_name: string } }) => user.first_name))).toContain('Mira')

    const page = await visit.signedIn(`/project/${id}/flags`, { width: 1280, height: 720 })
    // The first visit may be in the font of the system: ours is shown from the cache.
    if (pictures) await page.reload()
    await page.getByText('3 conditions, 10–100% rollout to people').waitFor()
    await page.getByText('Off: rolled back').waitFor()
    await expectSound(page)
    if (pictures) await page.screenshot({ path: `${pictures}/flags.png` })
    await page.getByRole('link', { name: 'new-checkout' }).click()
    await page.getByText(/On for \d+ of/).waitFor()
    await expectSound(page)
    if (pictures) await page.screenshot({ path: `${pictures}/editor.png` })
    await page.getByRole('tab', { name: 'Usage' }).click()
    await page.getByRole('img', { name: /Evaluations by value/ }).waitFor()
    await expectSound(page)
    if (pictures) await page.screenshot({ path: `${pictures}/usage.png` })

    await page.getByRole('tab', { name: 'History' }).click()
    await page.getByText('scheduled a change to').waitFor()
    await expectSound(page)
    if (pictures) await page.screenshot({ path: `${pictures}/history.png` })

    const debuggerPage = await visit.signedIn(`/project/${id}/debugger?id=customer-7`, {
      width: 1280,
      height: 720,
      dark: true,
    })
    if (pictures) await debuggerPage.reload()
    await debuggerPage.getByRole('button', { name: /new-checkout/ }).click()
    await debuggerPage
      .getByText(/bucket .*, rollout/)
      .filter({ visible: true })
      .first()
      .waitFor()
    await expectSound(debuggerPage)
    if (pictures) await debuggerPage.screenshot({ path: `${pictures}/why.png` })

    expect(await countAccounts()).toBe(3)
    await demo({ ...options, remove: true })
    expect(await countAccounts()).toBe(1)
    const left = (await scenario.get('/api/projects/')).body.results
    expect(left.map((project: { name: string }) => project.name)).not.toContain('Demo shop')
    expect((await scenario.get('/api/organizations/')).body.count).toBe(1)
  })
})
