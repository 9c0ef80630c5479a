import type { Page, Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectSound, suiteVisit } from './browser.ts'

const visit = suiteVisit()
let flagId: number
beforeAll(async () => {
  const { scenario } = visit
  const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
    key: 'new-checkout',
    filters: { groups: [{ properties: [], rollout_percentage: 5 }] },
  })
  flagId = flag.id
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const steps = [10, 50, 100].map((rollout_percentage, index) => ({ at: at(1 + index * 24), rollout_percentage }))
  const payload = { operation: 'ramp', value: { condition_index: 0, steps } }
  await scenario.post(`${scenario.project}/scheduled_changes/`, { record_id: flagId, payload })
}, 120_000)

const section = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

describe('home', { timeout: 240_000 }, () => {
  it('opens first, is in the sidebar and the palette, and keeps deep links', async () => {
    const { scenario } = visit
    const page = await visit.signedIn('/')
    await page.waitForURL(url => url.pathname === `/project/${scenario.projectId}`)
    const [first] = await page.getByRole('navigation', { name: 'Main' }).getByRole('link').all()
    expect(await first?.textContent()).toBe('Home')
    await expect.poll(() => first?.getAttribute('aria-current')).toBe('page')
    await page.getByRole('link', { name: 'Flags', exact: true }).click()
    await page.getByRole('heading', { name: 'Flags', level: 1 }).waitFor()
    await expect.poll(() => first?.getAttribute('aria-current')).toBeNull()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('home')
    await page.getByRole('option', { name: /^Home/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
    await page.goto(`/project/${scenario.projectId}/flags/${flagId}`)
    await page.getByRole('heading', { name: 'new-checkout', level: 1 }).waitFor()
  })

  it('shows what waits, runs and happened, pushed when others act', async () => {
    const { scenario } = visit
    const ann = await scenario.join('ann')
    const flags = `${scenario.project}/feature_flags`
    const { body: guarded } = await scenario.post(`${flags}/`, { key: 'guarded', tags: ['safe'] })
    const page = await visit.signedIn(`/project/${scenario.projectId}`)
    await section(page, 'Waiting for you').getByText('Nothing is waiting for you').waitFor()
    await section(page, 'Running and next').getByText('10% → 50% → 100%').waitFor()
    await section(page, 'Needs attention').getByText('No flag is stale').waitFor()

    const { body: me } = await scenario.get('/api/users/@me/')
    const approver_config = { users: [me.id] }
    await scenario.post(`${scenario.project}/approval_policies/`, {
      action_key: 'feature_flag.update',
      approver_config,
    })
    await ann.post(`${scenario.project}/change_requests/`, {
      flag_id: guarded.id,
      patch: { name: 'Guarded' },
      title: 'Describe the flag',
    })
    const request = section(page, 'Waiting for you').getByRole('link', { name: 'Describe the flag' })
    await request.waitFor()
    await section(page, 'Latest changes').getByText('requested a change:').waitFor()
    await ann.patch(`${flags}/${guarded.id}/`, { active: false })
    await section(page, 'Latest changes').getByText('turned off').waitFor()
    await expectSound(page)

    await request.click()
    await page.getByRole('button', { name: 'Approve and apply' }).click()
    await page.getByText('Applied').first().waitFor()
    await page.getByRole('link', { name: 'Home' }).click()
    await section(page, 'Waiting for you').getByText('Nothing is waiting for you').waitFor()
  })

  it('shows freezes, evaluations with their shape, and fits a phone in both languages and themes', async () => {
    const { scenario } = visit
    const ends_at = new Date(Date.now() + 3_600_000).toISOString()
    await scenario.post(`${scenario.organization}/freezes/`, {
      reason: 'Release week',
      ends_at,
      project: scenario.projectId,
    })
    const batch = Array.from({ length: 12 }, (_, n) => ({
      event: '$feature_flag_called',
      distinct_id: `user-${n}`,
      timestamp: new Date(Date.now() - (n % 4) * 86_400_000).toISOString(),
      properties: { $feature_flag: 'new-checkout', $feature_flag_response: true },
    }))
    await scenario.post('/batch/', { api_key: scenario.projectToken, batch })
    await expect
      .poll(async () => (await scenario.get(`${scenario.project}/home/`)).body.most_evaluated.length, {
        timeout: 60_000,
      })
      .toBe(1)
    const names = { 'en-US': 'Evaluated most', 'de-DE': 'Am häufigsten ausgewertet' }
    for (const [locale, name] of Object.entries(names)) {
      for (const options of [{ dark: true }, { width: 390 }, { width: 390, dark: true }]) {
        const page = await visit.signedIn(`/project/${scenario.projectId}`, { ...options, locale })
        await section(page, name).getByRole('img').waitFor()
        await page.locator('main').getByText('Release week').waitFor()
        await expectSound(page)
      }
    }
  })

  it('of an empty project has the first steps, and the list of flags leads to them', async () => {
    const { body: project } = await visit.scenario.post('/api/projects/', { name: 'Fresh' })
    const page = await visit.signedIn(`/project/${project.id}/flags`)
    await page.getByRole('heading', { name: 'First steps' }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Import, demo and first steps' }).click()
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    await page.getByRole('heading', { name: 'Look around' }).waitFor()
    await expectSound(page)
    await visit.scenario.post(`/api/projects/${project.id}/feature_flags/`, { key: 'first' })
    await section(page, 'Latest changes').getByRole('link', { name: 'first', exact: true }).waitFor()
    await section(page, 'First steps').getByText('Done:').first().waitFor({ state: 'attached' })
    await expectSound(page)
  })

  it('loads with one request of its own and is quiet afterwards', async () => {
    const { scenario } = visit
    const page = await visit.open()
    const requests: string[] = []
    page.on('request', (request: Request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/api/') && !pathname.includes('/stream')) requests.push(pathname)
    })
    await visit.signIn(page, `/project/${scenario.projectId}`)
    await section(page, 'Evaluated most').getByRole('img').waitFor()
    await page.waitForLoadState('load')
    expect(requests.filter(path => path.endsWith('/home/'))).toHaveLength(1)
    // Besides: signing in, the session, and what the sidebar shows on every page.
    expect(requests.length).toBeLessThan(14)
    expect(requests.filter(path => /summaries|feature_flags|activity|schedule/.test(path))).toEqual([])
    const before = requests.length
    // Another tab's change is all that moves it.
    await scenario.patch(`${scenario.project}/feature_flags/${flagId}/`, { active: false })
    await section(page, 'Latest changes').getByText('turned off').nth(1).waitFor()
    expect(requests.slice(before).filter(path => path.endsWith('/home/')).length).toBeLessThan(3)
  })
})
