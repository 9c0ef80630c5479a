import { expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { expectSound, suiteVisit } from './browser.ts'

/** The journey that a broken build, script or database breaks first; `npm run test:all` has the others. */
onEachDatabase('the dashboard', dialect => {
  const visit = suiteVisit({}, dialect)

  it('signs in, creates a flag, switches it and shows its history', async () => {
    const { scenario } = visit
    const page = await visit.open()
    await visit.signIn(page, `/project/${scenario.projectId}/flags/new`)
    await page.getByLabel('Key', { exact: true }).fill('new-checkout')
    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByRole('heading', { name: 'new-checkout', level: 1 }).waitFor()
    await expectSound(page)
    const flag = async () => (await scenario.get(`${scenario.project}/feature_flags/`)).body.results[0]
    expect(await flag()).toMatchObject({ key: 'new-checkout' })

    await page.goto(`/project/${scenario.projectId}/flags`)
    await page.getByText('Off for everyone').waitFor()
    await page.getByRole('switch', { name: 'new-checkout is on' }).click({ force: true })
    const review = page.getByRole('dialog', { name: 'Turn new-checkout on?' })
    await review.getByRole('button', { name: 'Turn on' }).click()
    await expect.poll(async () => (await flag()).active).toBe(true)

    await page.goto(`/project/${scenario.projectId}/flags/${(await flag()).id}?tab=history`)
    await page.getByText('created').first().waitFor()
    await expectSound(page)
  }, 120_000)
})
