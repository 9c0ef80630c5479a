import { describe, expect, it } from 'vitest'
import { expectFocus, expectSound, openSignedIn, suiteVisit } from './browser.ts'

const visit = suiteVisit()

const password = 'correct horse battery'

/** A member with a session of their own. */
async function join(name: string, level?: number) {
  const { scenario } = visit
  const person = await scenario.join(name)
  if (level !== undefined) await scenario.patch(`${scenario.organization}/members/${person.uuid}/`, { level })
  const { body } = await scenario.as(undefined).post('/api/login/', { email: person.email, password })
  return { key: body.api_key as string, expiresAt: body.expires_at as string }
}

describe('a flag that others have open', { timeout: 120_000 }, () => {
  it('shows who they are and who is editing, until they leave', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'shared' })
    const path = `/project/${scenario.projectId}/flags/${flag.id}`
    const owner = await visit.signedIn(path)
    const here = owner.getByRole('main').getByRole('status')
    const anna = await visit.open()
    await openSignedIn(anna, path, await join('Anna'))
    await here.getByText('Anna has this flag open').waitFor({ state: 'attached' })
    await anna.getByText('has this flag open').waitFor({ state: 'attached' })

    const description = anna.getByRole('textbox', { name: 'Description' })
    await description.fill('Edited by Anna')
    await here.getByText('Anna is editing').first().waitFor()
    await expectSound(owner)
    await owner.emulateMedia({ colorScheme: 'dark' })
    await expectSound(owner, 'colors')
    await owner.setViewportSize({ width: 390, height: 800 })
    await expectSound(owner)
    await description.fill('')
    await here.getByText('Anna has this flag open').waitFor({ state: 'attached' })
    await anna.close()
    await expect.poll(() => here.getByText('Anna').count()).toBe(0)
  })

  it('shows view-only members, and stays quiet', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'quiet' })
    const path = `/project/${scenario.projectId}/flags/${flag.id}`
    const vera = await visit.open()
    await openSignedIn(vera, path, await join('Vera', 0))
    const owner = await visit.open()
    const requests: string[] = []
    owner.on('request', request => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
    await owner.clock.install()
    await visit.signIn(owner, path)
    await owner.getByRole('main').getByText('Vera has this flag open').waitFor({ state: 'attached' })
    const settled = async () => {
      const count = requests.length
      await owner.clock.runFor(1000)
      return requests.length === count
    }
    await expect.poll(settled).toBe(true)
    requests.length = 0
    for (let second = 0; second < 20; second++) await owner.clock.runFor(1000)
    expect(requests).toEqual([])
    // Then the report is renewed.
    const isReport = (request: string) => /^PUT .*\/presence\//.test(request)
    await expect
      .poll(async () => {
        await owner.clock.runFor(5000)
        return requests.filter(isReport).length
      })
      .toBeGreaterThan(0)
    // Another page is no presence.
    await owner.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Cohorts' }).click()
    await expect.poll(() => vera.getByRole('main').getByText('has this flag open').count()).toBe(0)
  })
})

describe('dependencies of flags', { timeout: 120_000 }, () => {
  it('are a graph with a table, for the project and around one flag', async () => {
    const { scenario } = visit
    const create = async (key: string, ...properties: object[]): Promise<number> =>
      (await scenario.post(`${scenario.project}/feature_flags/`, { key, filters: { groups: [{ properties }] } })).body
        .id
    const on = (id: number) => ({ key: String(id), type: 'flag', value: true, operator: 'flag_evaluates_to' })
    const base = await create('base')
    const checkout = await create('checkout', on(base))
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags`)
    const navigation = page.getByRole('navigation', { name: 'Main' })
    await navigation.getByRole('link', { name: 'Dependencies', exact: true }).click()
    const graph = page.getByRole('region', { name: 'Graph of dependencies' })
    const namesIn = async (level: number) =>
      (
        await graph
          .getByRole('list', { name: `Level ${level}` })
          .getByRole('link')
          .allInnerTexts()
      ).map(text => text.trim())
    await graph.waitFor()
    expect([await namesIn(1), await namesIn(2)]).toEqual([['base'], ['checkout']])
    const row = page.getByRole('row', { name: /^checkout/ })
    expect(await row.getByRole('link').allInnerTexts()).toEqual(['checkout', 'base'])
    await expectSound(page)

    // A change elsewhere is pushed.
    await create('coupon', on(checkout))
    await expect.poll(() => namesIn(3)).toEqual(['coupon'])
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 390, height: 800 })
    await expectSound(page)

    await page.goto(`/project/${scenario.projectId}/flags/${checkout}?tab=details`)
    await expect.poll(() => graph.locator('[aria-current]').allInnerTexts()).toEqual(['checkout'])
    await expectSound(page)
    await graph.getByRole('link', { name: 'coupon' }).focus()
    await page.keyboard.press('Enter')
    const heading = page.getByRole('heading', { name: 'coupon', level: 1 })
    await heading.waitFor()
    await expectFocus(heading)
  })
})
