import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectSound, sendEventsOfAda, suiteVisit } from './browser.ts'

const visit = suiteVisit()
let page: Page
/** Requests that the server refused. */
const refused: string[] = []

/** What changes something. A name that is needed for reading, such as "Copy key", is no such word. */
const writes =
  /^(?:new|create|save|delete|remove|add|edit|turn|enable|disable|archive|restore|promote|import|choose file|rotate|revoke|invite|upload|install|upgrade|uninstall|schedule|rename|approve|reject|request|load demo|cancel|end|compile|break glass|send|run)\b/i

async function openAsViewer(name: string): Promise<void> {
  const { scenario } = visit
  const viewer = await scenario.join(name)
  expect((await scenario.patch(`${scenario.organization}/members/${viewer.uuid}/`, { level: 0 })).body.level).toBe(0)
  page = await visit.open()
  page.on('response', response => {
    if (response.status() === 403) refused.push(`${response.request().method()} ${response.url()}`)
  })
  await visit.signIn(page, `/project/${scenario.projectId}/flags`, {
    email: viewer.email,
    password: 'correct horse battery',
  })
}

describe('a view-only member', { timeout: 300_000 }, () => {
  it('is offered nothing that fails, on any page', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'search-v2',
      tags: ['web'],
    })
    const { body: cohort } = await scenario.post(`${scenario.project}/cohorts/`, { name: 'Beta', is_static: true })
    await sendEventsOfAda(scenario)
    const { body: empty } = await scenario.post('/api/projects/', { name: 'Empty' })
    const { body: set } = await scenario.post(`${scenario.organization}/environment_sets/`, {
      name: 'Shop',
      environments: [
        { name: 'development', is_production: false, project: scenario.projectId },
        { name: 'production', is_production: true, project: empty.id },
      ],
    })
    await openAsViewer('vera')
    const project = `/project/${scenario.projectId}`
    const organization = scenario.organization.replace('/api/organizations', '/organization')
    const tabs = ['usage', 'schedule', 'history', 'details', 'copies', 'code', 'access']
    const sections = [
      'flags',
      'flags/new',
      'requests',
      'tags',
      'health',
      'debugger',
      'playground',
      'cohorts',
      'persons',
    ]
    const more = [
      'groups',
      'activity',
      'changes',
      'dependencies',
      'setup',
      'settings',
      'settings/keys',
      'settings/policies',
    ]
    const rest = ['settings/webhooks', 'settings/import', `cohorts/${cohort.id}`, 'cohorts/new', `flags/${flag.id}`]
    const ofOrganization = ['environments', `environments/${set.id}`, 'freezes', 'plugins', 'settings/members']
    const paths = [
      ...[...sections, ...more, ...rest].map(section => `${project}/${section}`),
      ...tabs.map(tab => `${project}/flags/${flag.id}?tab=${tab}`),
      ...[...ofOrganization, 'settings/roles', 'plugins?tab=catalog'].map(section => `${organization}/${section}`),
      `/project/${empty.id}/flags`,
    ]
    const offered: Record<string, string[]> = {}
    for (const path of paths) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('main .mantine-Loader-root').first().waitFor({ state: 'hidden' })
      const controls = page
        .locator('main')
        .locator('button:enabled:not([role=tab]), a, [role=switch]:enabled, [role=menuitem]')
      const names = await controls.evaluateAll(elements =>
        elements.map(element => element.getAttribute('aria-label') ?? element.textContent ?? ''),
      )
      const wrong = names.map(name => name.trim()).filter(name => writes.test(name))
      if (wrong.length > 0) offered[path] = wrong
    }
    expect(offered).toEqual({})
    expect(refused).toEqual([])
    // A form that is opened by its address says why it is missing.
    for (const path of ['flags/new', 'cohorts/new', 'settings/import']) {
      await page.goto(`${project}/${path}`)
      await page.getByText('You can view this project, not change it').waitFor()
      await expectSound(page)
    }
  })

  it('sees what a flag means for people, and which variant has a payload', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'colors',
      filters: {
        groups: [{ properties: [], rollout_percentage: 100 }],
        multivariate: { variants: ['red', 'blue'].map(key => ({ key, rollout_percentage: 50 })) },
        payloads: { blue: '{"size": 2}' },
      },
    })
    await sendEventsOfAda(scenario)
    await openAsViewer('victor')
    await page.goto(`/project/${scenario.projectId}/flags/${flag.id}`)
    await page.getByText('On for 1 of 1').waitFor()
    await page.getByText('Payload of blue').waitFor()
    expect(await page.getByText('Payload of red').count()).toBe(0)
    const preview = page.getByRole('region', { name: 'Try it' })
    await preview.getByText('Condition 1 matched').waitFor()
    expect(refused).toEqual([])
    await expectSound(page)
  })
})
