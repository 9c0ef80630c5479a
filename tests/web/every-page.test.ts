import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { expectSound, startVisit, type Visit } from './browser.ts'

let visit: Visit
let pages: Record<string, { path: string; shows: string }>

beforeAll(async () => {
  visit = await startVisit()
  const { scenario } = visit
  const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
    key: 'search-v2',
    tags: ['web'],
    filters: {
      groups: [
        { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }], rollout_percentage: 25 },
      ],
    },
  })
  await scenario.post('/batch/', {
    api_key: scenario.projectToken,
    batch: [
      { event: '$identify', distinct_id: 'ada', properties: { $set: { email: 'ada@example.com', plan: 'pro' } } },
      {
        event: '$groupidentify',
        distinct_id: 'ada',
        properties: { $group_type: 'company', $group_key: 'acme', $group_set: { size: 12 } },
      },
      {
        event: '$feature_flag_called',
        distinct_id: 'ada',
        properties: { $feature_flag: 'search-v2', $feature_flag_response: true },
      },
    ],
  })
  const { body: cohort } = await scenario.post(`${scenario.project}/cohorts/`, { name: 'Beta', is_static: true })
  const person = await vi.waitUntil(async () => (await scenario.get(`${scenario.project}/persons/`)).body.results[0], {
    timeout: 60_000,
  })
  const { body: fresh } = await scenario.post('/api/projects/', { name: 'Fresh' })
  const project = `/project/${scenario.projectId}`
  const organization = scenario.organization.replace('/api/organizations', '/organization')
  const tab = (name: string) => `${project}/flags/${flag.id}?tab=${name}`
  pages = {
    flags: { path: `${project}/flags`, shows: 'On for 25% of people in 1 condition' },
    'new flag': { path: `${project}/flags/new`, shows: 'Create flag' },
    flag: { path: `${project}/flags/${flag.id}`, shows: 'On for' },
    usage: { path: tab('usage'), shows: 'Calls by answer' },
    schedule: { path: tab('schedule'), shows: 'Nothing is scheduled.' },
    history: { path: tab('history'), shows: 'created' },
    projects: { path: tab('copies'), shows: 'Review and copy' },
    code: { path: tab('code'), shows: 'npm install posthog-node' },
    access: { path: tab('access'), shows: 'No role has been let in' },
    why: { path: `${project}/why?id=ada`, shows: '1 flag for ada' },
    cohorts: { path: `${project}/cohorts`, shows: 'Beta' },
    cohort: { path: `${project}/cohorts/${cohort.id}`, shows: 'Upload a CSV file' },
    'new cohort': { path: `${project}/cohorts/new`, shows: 'Add a group' },
    people: { path: `${project}/persons`, shows: 'ada@example.com' },
    person: { path: `${project}/persons/${person.uuid}`, shows: '1 flag for ada' },
    groups: { path: `${project}/groups`, shows: 'acme' },
    activity: { path: `${project}/activity`, shows: 'created' },
    settings: { path: `${project}/settings`, shows: 'No secret keys yet' },
    members: { path: `${organization}/members`, shows: 'owner@' },
    roles: { path: `${organization}/roles`, shows: 'No roles yet' },
    account: { path: '/account', shows: 'First key' },
    'no flags': { path: `/project/${fresh.id}/flags`, shows: 'No flags yet' },
    'nobody to ask about': { path: `/project/${fresh.id}/why`, shows: 'Whose flags?' },
    'no cohorts': { path: `/project/${fresh.id}/cohorts`, shows: 'No cohorts yet' },
    'no people': { path: `/project/${fresh.id}/persons`, shows: 'Nobody yet' },
    'no groups': { path: `/project/${fresh.id}/groups`, shows: 'No groups yet' },
    'no activity': { path: `/project/${fresh.id}/activity`, shows: 'Nothing has happened yet' },
  }
}, 120_000)
afterAll(() => visit.close())

/** Beyond this, browsers call it a page that jumps. */
const layoutShiftMax = 0.1
const watchShifts = `window.shifts = 0
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value
}).observe({ type: 'layout-shift', buffered: true })`

async function lookAt(page: Page): Promise<void> {
  await page.addInitScript(watchShifts)
  for (const [name, { path, shows }] of Object.entries(pages)) {
    await page.goto(path)
    await page.getByText(shows).filter({ visible: true }).first().waitFor()
    await expectSound(page)
    expect(await page.evaluate('window.shifts'), `how far "${name}" jumps`).toBeLessThan(layoutShiftMax)
  }
}

describe('every page', { timeout: 240_000 }, () => {
  it('is sound and stays in place, in the light on a desk', async () => {
    await lookAt(await visit.signedIn('/'))
  })

  it('is sound and stays in place, in the dark on a phone', async () => {
    await lookAt(await visit.signedIn('/', { dark: true, width: 360, height: 740 }))
  })
})
