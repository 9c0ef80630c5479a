import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSound, startVisit, type Visit } from './browser.ts'

let visit: Visit
beforeAll(async () => {
  visit = await startVisit()
  const { scenario } = visit
  const create = (key: string, more: object = {}) =>
    scenario.post(`${scenario.project}/feature_flags/`, { key, ...more })
  await create('new-checkout', { name: 'The checkout of 2026', tags: ['web'] })
  await create('dark-mode', {
    active: false,
    filters: { groups: [{ properties: [], rollout_percentage: 25 }] },
  })
  await create('pricing-test', {
    tags: ['growth'],
    filters: {
      groups: [
        { properties: [{ key: 'country', type: 'person', value: ['DE'], operator: 'exact' }], rollout_percentage: 25 },
        { properties: [{ key: 'country', type: 'person', value: ['FR'], operator: 'exact' }], rollout_percentage: 25 },
      ],
      multivariate: {
        variants: [
          { key: 'control', rollout_percentage: 50 },
          { key: 'test', rollout_percentage: 50 },
        ],
      },
    },
  })
}, 120_000)
afterAll(() => visit.close())

const flagNamed = async (key: string) =>
  (await visit.scenario.get(`${visit.scenario.project}/feature_flags/?search=${key}&limit=1`)).body.results[0]

describe('the list of flags', { timeout: 120_000 }, () => {
  it('says what each flag does, finds and filters', async () => {
    const page = await visit.signedIn('/')
    await page.getByText('On for all people').waitFor()
    await page.getByText('On for 25% of people in 2 conditions · 2 variants').waitFor()
    await page.getByText('Off for everybody').waitFor()
    await expectSound(page)

    await page.getByRole('textbox', { name: 'Search flags' }).fill('2026')
    await page.getByText('1 of 3 flags').waitFor()
    await page.getByRole('link', { name: 'new-checkout' }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByRole('combobox', { name: 'Type' }).selectOption('variants')
    await page.getByText('1 of 3 flags').waitFor()
    await page.getByRole('link', { name: 'pricing-test' }).waitFor()
    await page.reload()
    await page.getByText('1 of 3 flags').waitFor()
    await page.getByRole('combobox', { name: 'Tag' }).selectOption('growth')
    await page.getByRole('combobox', { name: 'State' }).selectOption('off')
    await page.getByText('No flag fits these filters.').waitFor()
  })

  it('switches with one click, and back with another', async () => {
    const page = await visit.signedIn('/')
    const onOff = page.getByRole('switch', { name: 'dark-mode is on' })
    await onOff.click({ force: true })
    await page.getByText('dark-mode is on now').waitFor()
    expect((await flagNamed('dark-mode')).active).toBe(true)
    await expectSound(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Off for everybody').waitFor()
    await expect.poll(async () => (await flagNamed('dark-mode')).active).toBe(false)
  })

  it('is worked by keyboard alone', async () => {
    const page = await visit.signedIn('/')
    await page.getByRole('link', { name: 'pricing-test' }).waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('pricing-test')
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('dark-mode')
    await page.keyboard.press('x')
    await page.getByRole('region', { name: '1 selected' }).waitFor()
    await page.keyboard.press('k')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('pricing-test')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await expectSound(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('/')
    await page.keyboard.type('pricing')
    await page.getByText('1 of 3 flags').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('k')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'pricing-test', level: 1 }).waitFor()
  })

  it('shows at once what somebody else changes', async () => {
    const { scenario } = visit
    const page = await visit.signedIn('/')
    await page.getByRole('link', { name: 'new-checkout' }).waitFor()
    const isListening = page.waitForResponse(response => response.url().includes('/ofrep/v1/stream'))
    await page.reload()
    await isListening
    await page.getByRole('link', { name: 'new-checkout' }).waitFor()
    const flag = await flagNamed('new-checkout')
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, {
      filters: { groups: [{ properties: [], rollout_percentage: 37 }] },
    })
    await page.getByText('On for 37% of people').waitFor()
  })

  it('changes many at once', async () => {
    const page = await visit.signedIn('/')
    await page.getByRole('checkbox', { name: 'Select all shown flags' }).check()
    await page.getByRole('button', { name: 'Add a tag' }).click()
    await page.getByRole('textbox', { name: 'Tag' }).fill('q3')
    await page.getByRole('dialog').getByRole('button', { name: 'Add a tag' }).click()
    await page.getByText('3 flags changed').waitFor()
    expect((await flagNamed('new-checkout')).tags).toEqual(['web', 'q3'])

    await page.getByRole('checkbox', { name: 'Select dark-mode' }).check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await expectSound(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 flags').waitFor()
    await page.getByRole('combobox', { name: 'State' }).selectOption('deleted')
    await page.getByRole('checkbox', { name: 'Select dark-mode' }).check()
    await page.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('No flag fits these filters.').waitFor()
    expect((await flagNamed('dark-mode')).deleted).toBe(false)
  })

  it('shows a viewer what they may not change', async () => {
    const { scenario } = visit
    await scenario.post(`${scenario.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    const viewer = await scenario.join('viewer')
    const page = await visit.open({ dark: true })
    await page.goto('/login')
    await page.getByLabel('E-mail').fill(viewer.email)
    await page.locator('input[type=password]').fill('correct horse battery')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'pricing-test' }).waitFor()
    expect(await page.getByRole('switch', { name: 'pricing-test is on' }).isDisabled()).toBe(true)
    await expectSound(page)
  })
})

describe('with ten thousand flags', { timeout: 180_000 }, () => {
  it('draws only what is in sight and searches all of them', async () => {
    const flags = Array.from({ length: 10_000 }, (_, index) => wireFlag(index))
    const page = await visit.open()
    await page.route(/feature_flags\/\?/, route => {
      const query = new URL(route.request().url()).searchParams
      const offset = Number(query.get('offset') ?? 0)
      const results = flags.slice(offset, offset + Number(query.get('limit') ?? 100))
      return route.fulfill({ json: { count: flags.length, next: null, previous: null, results } })
    })
    const { email, password } = visit.scenario.halyard.firstOwner!
    await page.goto('/login')
    await page.getByLabel('E-mail').fill(email)
    await page.locator('input[type=password]').fill(password)
    await page.keyboard.press('Enter')
    await page.getByText('10000 flags').waitFor()
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    await page.getByRole('textbox', { name: 'Search flags' }).fill('flag-09999')
    await page.getByText('1 of 10000 flags').waitFor()
    await page.getByRole('link', { name: 'flag-09999' }).waitFor()
    await expectSound(page)
  })
})

const wireFlag = (index: number) => ({
  id: index + 1,
  key: `flag-${String(index).padStart(5, '0')}`,
  name: '',
  filters: { groups: [{ properties: [], rollout_percentage: index % 101 }] },
  deleted: false,
  active: index % 2 === 0,
  created_by: {
    id: 1,
    uuid: '',
    distinct_id: '',
    first_name: 'Ada',
    email: 'ada@example.com',
    is_email_verified: true,
  },
  created_at: '2026-01-01T00:00:00.000Z',
  tags: [],
  can_edit: true,
  performed_rollback: false,
  version: 1,
})
