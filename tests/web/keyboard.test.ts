import type { FileChooser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RegistryServer, startRegistryServer } from '../../packages/server/src/testing/registry-server.ts'
import { expectFocus, expectSound, startVisit, type Visit } from './browser.ts'

let registry: RegistryServer
let visit: Visit
beforeAll(async () => {
  registry = await startRegistryServer()
  visit = await startVisit({ HALYARD_NPM_REGISTRY: registry.url, HALYARD_PLUGIN_DIR: 'examples/plugins' })
  const { scenario } = visit
  await scenario.post('/batch/', {
    api_key: scenario.projectToken,
    batch: ['ada', 'bob'].map(distinct_id => ({
      event: '$identify',
      distinct_id,
      properties: { $set: { plan: 'pro' } },
    })),
  })
  await scenario.post(`${scenario.project}/feature_flags/`, { key: 'search-v2', filters: { groups: [] } })
  await scenario.post(`${scenario.project}/cohorts/`, { name: 'Testers', is_static: true })
}, 120_000)
afterAll(async () => {
  await visit.close()
  await registry.close()
})

const inProject = (path: string) => `/project/${visit.scenario.projectId}${path}`
const plugins = () => `${visit.scenario.organization.replace('/api/organizations', '/organization')}/plugins`
const tabsMax = 150

/** Moves the focus to the element with Tab or, in a menu, with an arrow key. */
async function tabTo(element: Locator, key: 'Tab' | 'Shift+Tab' | 'ArrowDown' = 'Tab'): Promise<void> {
  await element.waitFor({ state: 'attached' })
  const focused = element.and(element.page().locator(':focus'))
  for (let tabs = 0; tabs < tabsMax; tabs++) {
    if ((await focused.count()) === 1) return
    await element.page().keyboard.press(key)
  }
  throw new Error(`Not reached with ${key}: ${element}`)
}

async function press(element: Locator, key = 'Enter'): Promise<void> {
  await tabTo(element)
  await element.page().keyboard.press(key)
}

async function type(field: Locator, text: string): Promise<void> {
  await tabTo(field)
  await field.page().keyboard.type(text)
}

/** Selects an option with the arrow keys. */
async function choose(select: Locator, option: string): Promise<void> {
  await tabTo(select)
  const chosen = () => select.evaluate<string, { selectedOptions: { text: string }[] }>(e => e.selectedOptions[0]!.text)
  await select.page().keyboard.press('Home')
  for (let steps = 0; (await chosen()) !== option; steps++) {
    if (steps > 50) throw new Error(`No such option: ${option}`)
    await select.page().keyboard.press('ArrowDown')
  }
}

/** Waits for an announcement to screen readers. */
const announced = (page: Page, text: string | RegExp) =>
  page.getByRole('alert').filter({ hasText: text }).first().waitFor()

/** The used part of a DOM element: the browser's types are not known here. */
interface Described {
  getAttribute(name: string): string | null
  readonly ownerDocument: { getElementById(id: string): { readonly textContent: string } | null }
}

/** The error message is linked to the field, so that screen readers announce it. */
const expectFieldError = (field: Locator, sentence: string) =>
  expect
    .poll(() =>
      field.evaluate<string, Described>(e => {
        const ids = (e.getAttribute('aria-describedby') ?? '').split(' ')
        const texts = ids.map((id: string) => e.ownerDocument.getElementById(id)?.textContent ?? '')
        return `${e.getAttribute('aria-invalid')}: ${texts.join(' ')}`
      }),
    )
    .toContain(`true: ${sentence}`)

describe('by keyboard alone', { timeout: 300_000 }, () => {
  it('all kinds of conditions are created, with each error at its field', async () => {
    const page = await visit.signedIn(inProject('/flags/new'))
    const add = page.getByRole('button', { name: 'Add filter' })
    const filter = (name: string) => page.getByRole('group', { name, exact: true })
    const value = (name: string) => filter(name).getByLabel('Value', { exact: true })
    const pick = async (kind: string) => {
      await tabTo(page.getByRole('menuitem', { name: kind }), 'ArrowDown')
      await page.keyboard.press('Enter')
    }
    const addPerson = async (property: string, operator: string) => {
      await press(add)
      await pick('Person property')
      await expectFocus(filter('Filter').getByRole('combobox', { name: 'Property' }))
      await page.keyboard.type(property)
      await choose(filter(`Filter by ${property}`).getByRole('combobox', { name: 'Operator' }), operator)
    }
    await type(page.getByRole('textbox', { name: 'Key' }), 'by-keyboard')

    await addPerson('plan', 'equals')
    await page.keyboard.press('ControlOrMeta+s')
    await expectFocus(value('Filter by plan'))
    await expectFieldError(value('Filter by plan'), 'Enter at least one value')
    await page.keyboard.type('pro')
    await page.keyboard.press('Enter')
    await page.keyboard.type('team')
    await page.keyboard.press('Enter')

    await addPerson('born', 'is before')
    await type(value('Filter by born'), 'soon')
    await page.keyboard.press('ControlOrMeta+s')
    await expectFocus(value('Filter by born'))
    await expectFieldError(value('Filter by born'), 'Use a date')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('-7d')

    await addPerson('name', 'matches regex')
    await type(value('Filter by name'), '^a(')
    await page.keyboard.press('ControlOrMeta+s')
    await expectFocus(value('Filter by name'))
    await page.keyboard.press('Backspace')

    await addPerson('version', 'version ≥')
    await type(value('Filter by version'), '1.4.0')
    await addPerson('age', 'is between')
    await type(filter('Filter by age').getByRole('textbox', { name: 'From' }), '18')
    await page.keyboard.press('Tab')
    await page.keyboard.type('30')
    await addPerson('mail', 'is set')

    await press(add)
    await pick('Cohort')
    const cohort = page.getByRole('combobox', { name: 'Cohort', exact: true })
    await page.keyboard.press('ControlOrMeta+s')
    await expectFocus(cohort)
    await expectFieldError(cohort, 'Select a cohort')
    await page.keyboard.type('Test')
    await page.getByRole('option', { name: 'Testers' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')

    await press(add)
    await pick('Flag')
    const flag = page.getByRole('combobox', { name: 'Flag', exact: true })
    await expectFocus(flag)
    await page.keyboard.type('search')
    await page.getByRole('option', { name: 'search-v2' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await choose(filter('Flag').getByRole('combobox', { name: 'Value' }), 'is off')
    await expectSound(page)

    await press(page.getByRole('button', { name: 'Add condition' }))
    const second = page.getByRole('region', { name: 'Condition 2' })
    await tabTo(second.getByRole('button', { name: 'Move up' }), 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Condition 2 moved to position 1').waitFor({ state: 'attached' })
    await expectFocus(page.getByRole('region', { name: 'Condition 1' }).getByRole('button', { name: 'Move down' }))
    await page.keyboard.press('Enter')

    await page.keyboard.press('ControlOrMeta+s')
    await announced(page, 'Flag by-keyboard created')
    await expectFocus(page.getByRole('heading', { name: 'by-keyboard', level: 1 }))
    const { body } = await visit.scenario.get(`${visit.scenario.project}/feature_flags/?search=by-keyboard`)
    expect(body.results[0].filters.groups[0].properties).toMatchObject([
      { key: 'plan', operator: 'exact', value: ['pro', 'team'] },
      { key: 'born', operator: 'is_date_before', value: '-7d' },
      { key: 'name', operator: 'regex', value: '^a' },
      { key: 'version', operator: 'semver_gte', value: '1.4.0' },
      { key: 'age', operator: 'between', value: ['18', '30'] },
      { key: 'mail', operator: 'is_set' },
      { type: 'cohort', operator: 'in' },
      { type: 'flag', operator: 'flag_evaluates_to', value: false },
    ])
  })

  it('a change is scheduled and canceled, and a rollback condition is added and removed', async () => {
    const { scenario } = visit
    const { body } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'planned',
      filters: { groups: [{ properties: [], rollout_percentage: 10 }] },
    })
    const page = await visit.signedIn(inProject(`/flags/${body.id}?tab=schedule`))
    const schedules = page.getByRole('group', { name: 'Scheduled changes' })
    await choose(schedules.getByRole('combobox', { name: 'Change' }), 'Ramp up rollout')
    await tabTo(schedules.getByRole('textbox', { name: 'Percentages' }))
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('55, 100')
    await press(schedules.getByRole('button', { name: 'Schedule' }))
    const review = page.getByRole('dialog', { name: 'Review scheduled change' })
    await expectFocus(review.getByRole('button', { name: 'Schedule' }))
    await page.keyboard.press('Enter')
    await announced(page, 'Scheduled: Condition 1: 55% → 100%')
    await expectFocus(schedules.getByRole('button', { name: 'Schedule', exact: true }))
    await tabTo(schedules.getByRole('button', { name: /^Cancel change ?: Condition 1/ }), 'Shift+Tab')
    await page.keyboard.press('Enter')
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Cancel change' }))
    await page.keyboard.press('Enter')
    await announced(page, 'Canceled: Condition 1: 55% → 100%')
    await schedules.getByText('No scheduled changes').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')

    await choose(schedules.getByRole('combobox', { name: 'Change' }), 'Turn off')
    await tabTo(schedules.getByLabel('Time'))
    await page.keyboard.type('01012020')
    await press(schedules.getByRole('button', { name: 'Schedule' }))
    await expectFocus(review.getByRole('button', { name: 'Schedule' }))
    await page.keyboard.press('Enter')
    await review.waitFor({ state: 'hidden' })
    await expectFieldError(schedules.getByLabel('Time'), 'Choose a time in the future')

    const rollback = page.getByRole('group', { name: 'Automatic rollback' })
    await type(rollback.getByRole('combobox', { name: 'Event' }), '$exception')
    await choose(rollback.getByRole('combobox', { name: 'Measure' }), 'ratio to event')
    await press(rollback.getByRole('button', { name: 'Add event filter' }))
    await expectFocus(rollback.getByRole('combobox', { name: 'Property' }))
    await page.keyboard.type('type')
    await press(rollback.getByRole('button', { name: 'Add condition' }))
    // The missing field gets the focus.
    await expectFocus(rollback.getByRole('combobox', { name: 'Ratio to event' }))
    await page.keyboard.type('$pageview')
    await page.keyboard.press('Enter')
    const filtered = rollback.getByLabel('Value', { exact: true })
    await expectFocus(filtered)
    await expectFieldError(filtered, 'Enter at least one value')
    await page.keyboard.type('TypeError')
    await page.keyboard.press('Enter')
    await press(rollback.getByRole('button', { name: 'Add condition' }))
    await announced(page, 'Rollback condition added')
    await rollback.getByText('ratio of $exception to $pageview').waitFor()
    await expectSound(page)
    await tabTo(rollback.getByRole('button', { name: /^Remove: ratio of/ }), 'Shift+Tab')
    await page.keyboard.press('Enter')
    await announced(page, 'Rollback condition removed')
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')
  })

  it('a file is imported into a cohort, which is then deleted', async () => {
    const page = await visit.signedIn(inProject('/cohorts/new'))
    const choosers: FileChooser[] = []
    page.on('filechooser', chooser => choosers.push(chooser))
    await type(page.getByRole('textbox', { name: 'Name' }), 'From a file')
    await tabTo(page.getByRole('radio', { name: 'Dynamic (filters)' }))
    await page.keyboard.press('ArrowRight')
    await press(page.getByRole('button', { name: 'Create cohort' }))
    await expectFocus(page.getByRole('heading', { name: 'From a file', level: 1 }))
    await tabTo(page.getByRole('button', { name: 'Upload CSV' }))
    await page.keyboard.press('Enter')
    await expect.poll(() => choosers.length).toBe(1)
    await choosers[0]!.setFiles({
      name: 'people.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('distinct_id\nada\nbob\nunknown\n'),
    })
    await announced(page, '2 added')
    await expectFocus(page.getByRole('button', { name: 'Upload CSV' }))
    await tabTo(page.getByRole('button', { name: 'Delete' }), 'Shift+Tab')
    await page.keyboard.press('Enter')
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Delete' }))
    await page.keyboard.press('Enter')
    await announced(page, 'Cohort From a file deleted')
    await expectFocus(page.getByRole('heading', { name: 'Cohorts', level: 1 }))
  })

  it('tags are renamed and removed', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Tagged' })
    const flags = `/api/projects/${project.id}/feature_flags/`
    await scenario.post(flags, { key: 'a', tags: ['web'] })
    const page = await visit.signedIn(`/project/${project.id}/tags`)
    await press(page.getByRole('button', { name: 'Rename: web' }))
    const dialog = page.getByRole('dialog', { name: 'Rename tag web' })
    await expectFocus(dialog.getByRole('textbox', { name: 'New name' }))
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('browser')
    await page.keyboard.press('Enter')
    await announced(page, '1 flag changed')
    await dialog.waitFor({ state: 'hidden' })
    await press(page.getByRole('button', { name: 'Remove: browser' }))
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Remove' }))
    await page.keyboard.press('Enter')
    await page.getByText('No tags yet').waitFor()
    await expect.poll(async () => (await scenario.get(flags)).body.results[0].tags).toEqual([])
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')
  })

  it('a webhook is added and removed, with the error at its field', async () => {
    const page = await visit.signedIn(inProject('/settings/webhooks'))
    await type(page.getByRole('textbox', { name: 'Name' }), 'Releases')
    const url = page.getByRole('textbox', { name: 'URL' })
    await type(url, 'hooks.example.com/x')
    await choose(page.getByRole('combobox', { name: 'Format' }), 'Slack')
    await press(page.getByRole('button', { name: 'Add webhook' }))
    await expectFieldError(url, 'Enter an address that starts with https://')
    await expectFocus(url)
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('https://hooks.example.com/x')
    await page.keyboard.press('Enter')
    await page.getByText(/^whsec_/).waitFor()
    await press(page.getByRole('button', { name: /^Releases/ }))
    await press(page.getByRole('button', { name: 'Delete' }))
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Delete' }))
    await page.keyboard.press('Enter')
    await page.getByText('No webhooks yet').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).not.toBe('BODY')
  })

  it('people are evaluated in the playground, with a what-if value', async () => {
    const { scenario } = visit
    const groups = [{ properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['team'] }] }]
    await scenario.post(`${scenario.project}/feature_flags/`, { key: 'for-teams', filters: { groups } })
    const page = await visit.signedIn(inProject('/playground'))
    await type(page.getByRole('textbox', { name: 'People' }), 'ada')
    await page.keyboard.press('Enter')
    await page.keyboard.type('bob')
    await type(page.getByRole('textbox', { name: 'What-if properties' }), 'plan = team')
    await type(page.getByRole('textbox', { name: 'Flags' }), 'for-teams')
    await press(page.getByRole('button', { name: 'Evaluate' }))
    await page.getByRole('row', { name: /^bob/ }).getByText('on', { exact: true }).waitFor()
    await tabTo(page.getByRole('button', { name: 'Export CSV' }))
    await expectSound(page)
  })

  it('flags of another service are reviewed and imported', async () => {
    const page = await visit.signedIn(inProject('/import'))
    const choosers: FileChooser[] = []
    page.on('filechooser', chooser => choosers.push(chooser))
    await choose(page.getByRole('combobox', { name: 'Service' }), 'LaunchDarkly')
    await press(page.getByRole('button', { name: 'Choose file' }))
    await expect.poll(() => choosers.length).toBe(1)
    const on = { on: true, salt: 's', variations: [true, false], offVariation: 1, fallthrough: { variation: 0 } }
    await choosers[0]!.setFiles({
      name: 'flags.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify({ flags: { 'brought-along': on } })),
    })
    await page.getByText('flags.json').waitFor()
    await press(page.getByRole('button', { name: 'Review import' }))
    await page
      .getByRole('cell', { name: 'brought-along' })
      .or(page.getByRole('rowheader', { name: 'brought-along' }))
      .waitFor()
    await press(page.getByRole('button', { name: 'Import', exact: true }))
    await page.getByText('1 created, 0 updated.').waitFor()
    await press(page.getByRole('link', { name: 'brought-along' }))
    await expectFocus(page.getByRole('heading', { name: 'brought-along', level: 1 }))
  })

  it('plugins are installed from the catalog and a URL, reordered and uninstalled', async () => {
    registry.publish('greeter', '1.0.0', {
      'plugin.json': { name: 'Greeter', config: [] },
      'index.js': 'export function processEvent(event) { return event }',
    })
    const page = await visit.signedIn(`${plugins()}?tab=catalog`)
    await press(page.getByRole('button', { name: 'Install Flag guardrails' }))
    await announced(page, 'Flag guardrails installed')
    await expectFocus(page.getByRole('link', { name: 'Open Flag guardrails' }))

    await tabTo(page.getByRole('tab', { name: 'Catalog' }), 'Shift+Tab')
    await page.keyboard.press('Home')
    await page.keyboard.press('Enter')
    await type(page.getByRole('textbox', { name: 'Package or repository URL' }), 'https://example.com/nothing')
    await page.keyboard.press('Enter')
    await expectFieldError(page.getByRole('textbox', { name: 'Package or repository URL' }), 'Plugins come from')
    await expectFocus(page.getByRole('textbox', { name: 'Package or repository URL' }))
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('https://www.npmjs.com/package/greeter')
    await page.keyboard.press('Enter')
    await announced(page, 'Greeter installed')
    await expectFocus(page.getByRole('heading', { name: 'Greeter', level: 1 }))
    await press(page.getByRole('switch', { name: /^Use in/ }), 'Space')
    await press(page.getByRole('button', { name: 'Save' }))
    await announced(page, 'Greeter is on.')

    const { body } = await visit.scenario.get(`${visit.scenario.organization}/plugins/`)
    const guardrails = body.results.find(({ name }: { name: string }) => name === 'Flag guardrails')
    await visit.scenario.post(`${visit.scenario.project}/plugin_configs/`, { plugin: guardrails.id, enabled: true })
    await page.goto(`${plugins()}?tab=order`)
    await press(page.getByRole('button', { name: 'Move Flag guardrails up' }))
    await page.getByText('Flag guardrails moved to position 1 of 2').waitFor({ state: 'attached' })
    await expectFocus(page.getByRole('button', { name: 'Move Flag guardrails up' }))

    await page.goto(`${plugins()}/${guardrails.id}?tab=about`)
    await press(page.getByRole('button', { name: 'Uninstall' }))
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Uninstall' }))
    await page.keyboard.press('Enter')
    await announced(page, 'Flag guardrails uninstalled')
    await expectFocus(page.getByRole('heading', { name: 'Plugins', level: 1 }))
    await expectSound(page)
  })
})
