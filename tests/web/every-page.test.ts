import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { expectFocus, expectSound, sendEventsOfAda, suiteVisit } from './browser.ts'
import { pageTabs, patternsWithTabs } from './page-patterns.ts'
import { type ResponseOrder, respondInOrder, responseOrders } from './response-order.ts'
import { watchButtons } from './watch-buttons.ts'

const visit = suiteVisit()
type Pages = Record<string, { path: string; shows: string }>
let pages: Pages
let publicPages: Pages
/** Where the content of a dialog depends on policies, environments and people. */
let gated: { id: number; path: string; flagId: number; cohortId: number; setId: number; requestId: number }

beforeAll(async () => {
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
  await sendEventsOfAda(scenario)
  const { body: cohort } = await scenario.post(`${scenario.project}/cohorts/`, { name: 'Beta', is_static: true })
  const person = await vi.waitUntil(async () => (await scenario.get(`${scenario.project}/persons/`)).body.results[0], {
    timeout: 60_000,
  })
  const { body: plugin } = await scenario.post(`${scenario.organization}/plugins/`, { name: 'Greeter' })
  await scenario.patch(`${scenario.organization}/plugins/${plugin.id}/update_source/`, {
    'plugin.json': JSON.stringify({ name: 'Greeter', config: [{ key: 'word', name: 'Word', type: 'string' }] }),
    'index.ts': 'export const processEvent = event => event\n',
  })
  await scenario.post(`${scenario.project}/plugin_configs/`, { plugin: plugin.id, enabled: true })
  const { body: invite } = await scenario.post(`${scenario.organization}/invites/`, { target_email: 'eve@example.com' })
  const { body: fresh } = await scenario.post('/api/projects/', { name: 'Fresh' })
  gated = await createGatedProject()
  const linked = await createLinkedFlags()
  const { body: certificate } = await scenario.post(`${scenario.project}/import_certificates/`, {
    certificate: someCertificate,
  })
  const project = `/project/${scenario.projectId}`
  const organization = scenario.organization.replace('/api/organizations', '/organization')
  const pluginTab = (name: string) => `${organization}/plugins/${plugin.id}?tab=${name}`
  const tab = (name: string) => `${project}/flags/${flag.id}?tab=${name}`
  pages = {
    home: { path: project, shows: 'Latest changes' },
    flags: { path: `${project}/flags`, shows: '1 condition, 25% rollout to people' },
    'new flag': { path: `${project}/flags/new`, shows: 'Create flag' },
    flag: { path: `${project}/flags/${flag.id}`, shows: 'On for' },
    usage: { path: tab('usage'), shows: 'Evaluations by value' },
    schedule: { path: tab('schedule'), shows: 'No scheduled changes' },
    history: { path: tab('history'), shows: 'created' },
    ownership: { path: tab('details'), shows: 'No comments yet' },
    playground: { path: `${project}/playground`, shows: 'What-if properties' },
    import: { path: `${project}/settings/import`, shows: 'Drop the exported file here' },
    health: { path: `${project}/health`, shows: 'No owner 1' },
    projects: { path: tab('copies'), shows: 'Review and copy' },
    code: { path: tab('code'), shows: 'npm install posthog-node' },
    access: { path: tab('access'), shows: 'No additional roles can edit this flag' },
    debugger: { path: `${project}/debugger?id=ada`, shows: '1 flag for ada' },
    cohorts: { path: `${project}/cohorts`, shows: 'Beta' },
    cohort: { path: `${project}/cohorts/${cohort.id}`, shows: 'Upload CSV' },
    'new cohort': { path: `${project}/cohorts/new`, shows: 'Add group' },
    people: { path: `${project}/persons`, shows: 'ada@example.com' },
    person: { path: `${project}/persons/${person.uuid}`, shows: '1 flag for ada' },
    groups: { path: `${project}/groups`, shows: 'acme' },
    activity: { path: `${project}/activity`, shows: 'created' },
    changes: { path: `${project}/changes`, shows: 'Hour earlier' },
    tags: { path: `${project}/tags`, shows: 'Rename' },
    setup: { path: `${project}/setup`, shows: 'npm install posthog-node' },
    settings: { path: `${project}/settings`, shows: 'Delete project' },
    'keys of a project': { path: `${project}/settings/keys`, shows: 'No secret keys yet' },
    policies: { path: `${project}/settings/policies`, shows: 'No policies: every change' },
    webhooks: { path: `${project}/settings/webhooks`, shows: 'No webhooks yet' },
    'change requests': { path: `${project}/requests`, shows: 'Nothing is waiting for you' },
    freezes: { path: `${organization}/freezes`, shows: 'No freezes' },
    members: { path: `${organization}/settings/members`, shows: 'owner@' },
    roles: { path: `${organization}/settings/roles`, shows: 'No roles yet' },
    'sign-in of members': { path: `${organization}/settings/sign-in`, shows: 'No identity providers yet' },
    provisioning: { path: `${organization}/settings/provisioning`, shows: 'No tokens yet' },
    'service keys': { path: `${organization}/settings/service-keys`, shows: 'No service keys yet' },
    'trust relationships': {
      path: `${organization}/settings/trust-relationships`,
      shows: 'No trust relationships yet',
    },
    'audit log': { path: `${organization}/settings/audit`, shows: 'created the flag' },
    account: { path: '/account', shows: 'First key' },
    environments: { path: `${organization}/environments`, shows: 'development → production' },
    plugins: { path: `${organization}/plugins`, shows: 'Greeter' },
    'order of plugins': { path: `${organization}/plugins?tab=order`, shows: 'Events pass through' },
    catalog: { path: `${organization}/plugins?tab=catalog`, shows: 'Flag guardrails' },
    'activity of plugins': { path: `${organization}/plugins?tab=activity`, shows: 'installed Greeter' },
    'settings of a plugin': { path: pluginTab('settings'), shows: 'This plugin requests no network access' },
    'source of a plugin': { path: pluginTab('source'), shows: 'processEvent' },
    'log of a plugin': { path: pluginTab('log'), shows: 'Follow' },
    'metrics of a plugin': { path: pluginTab('metrics'), shows: 'Calls' },
    'jobs of a plugin': { path: pluginTab('jobs'), shows: 'no jobs to run' },
    'activity of a plugin': { path: pluginTab('activity'), shows: 'installed Greeter' },
    'about a plugin': { path: pluginTab('about'), shows: 'Uninstall' },
    'an unknown flag': { path: `${project}/flags/999999`, shows: 'Page not found' },
    'an unknown page': { path: '/nonsense', shows: 'Page not found' },
    'an unknown tab': { path: pluginTab('nonsense'), shows: 'This plugin requests no network access' },
    // A page outside of projects goes on with the project that was shown last, so those of others come last.
    'a flag with environments': { path: `${gated.path}/flags/${gated.flagId}`, shows: 'Promote' },
    'a change request': { path: `${gated.path}/requests/${gated.requestId}`, shows: 'Required approvals' },
    'compared environments': { path: `${organization}/environments/${gated.setId}`, shows: 'pay-later' },
    'a certificate': { path: `${project}/import/certificates/${certificate.id}`, shows: 'unleash-client' },
    dependencies: { path: `${linked}/dependencies`, shows: 'Used by' },
    'home without flags': { path: `/project/${fresh.id}`, shows: 'Look around' },
    'no flags': { path: `/project/${fresh.id}/flags`, shows: 'No flags yet' },
    'debugger without a person': { path: `/project/${fresh.id}/debugger`, shows: 'No person selected' },
    'no cohorts': { path: `/project/${fresh.id}/cohorts`, shows: 'No cohorts yet' },
    'no people': { path: `/project/${fresh.id}/persons`, shows: 'No people yet' },
    'no groups': { path: `/project/${fresh.id}/groups`, shows: 'No groups yet' },
    'no dependencies': { path: `/project/${fresh.id}/dependencies`, shows: 'No flag depends on another' },
    'no activity': { path: `/project/${fresh.id}/activity`, shows: 'No activity yet' },
  }
  publicPages = {
    'sign-in': { path: '/login', shows: 'Need an account?' },
    invitation: { path: `/signup/${invite.token}`, shows: 'At least 8 characters' },
    'expired invitation': { path: `/signup/${crypto.randomUUID()}`, shows: 'Ask an admin for a new one' },
  }
}, 120_000)

async function createGatedProject() {
  const { scenario } = visit
  const approver = await scenario.join('ann')
  const { body: project } = await scenario.post('/api/projects/', { name: 'Gated' })
  const { body: mobile } = await scenario.post('/api/projects/', { name: 'Mobile' })
  const api = `/api/projects/${project.id}`
  await sendEventsOfAda(scenario, project.api_token)
  const { body: cohort } = await scenario.post(`${api}/cohorts/`, {
    name: 'Pro',
    filters: {
      properties: { type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }] },
    },
  })
  const condition = (percentage: number) => ({
    groups: [
      { properties: [{ key: 'id', type: 'cohort', value: cohort.id }], rollout_percentage: percentage },
      { properties: [], rollout_percentage: 0 },
    ],
  })
  const { body: flag } = await scenario.post(`${api}/feature_flags/`, {
    key: 'pay-later',
    active: false,
    filters: condition(50),
  })
  await scenario.patch(`${api}/feature_flags/${flag.id}/`, { filters: condition(100) })
  await vi.waitUntil(async () => (await scenario.get(`${api}/persons/`)).body.results[0], { timeout: 60_000 })
  const { body: set } = await scenario.post(`${scenario.organization}/environment_sets/`, {
    name: 'Shop',
    environments: [
      { name: 'development', is_production: false, project: project.id },
      { name: 'production', is_production: true, project: mobile.id },
    ],
  })
  const policy = { action_key: '*', approver_config: { users: [approver.id], quorum: 1 } }
  expect((await scenario.post(`${api}/approval_policies/`, policy)).status).toBe(201)
  const { body: request } = await scenario.post(`${api}/change_requests/`, {
    flag_id: flag.id,
    patch: { filters: condition(25) },
    title: 'A quarter first',
  })
  const ids = { flagId: flag.id, cohortId: cohort.id, setId: set.id, requestId: request.id }
  return { id: project.id, path: `/project/${project.id}`, ...ids }
}

const someCertificate = {
  source: 'unleash',
  environment: 'production',
  file_sha256: 'e'.repeat(64),
  sdk: 'unleash-client',
  sdk_version: '6.1.0',
  halyard_version: '1.0.0',
  node_version: '22.0.0',
  seed: 1,
  contexts: 1,
  pairs: 1,
  equal: 0,
  differing: 1,
  declared: 0,
  sdk_errors: 0,
  exact: 1,
  approximate: 0,
  refused: 0,
  flags: [{ key: 'search-v2', status: 'exact', reasons: [], pairs: 1, equal: 0 }],
  differences: [
    {
      flag: 'search-v2',
      status: 'exact',
      context: { id: 'ada', attributes: { plan: 'pro' } },
      there: 'on',
      here: false,
      there_trace: 'default',
      here_trace: ['Condition 1 matched'],
    },
  ],
}

/** A project with a flag that depends on another; returns its path. */
async function createLinkedFlags(): Promise<string> {
  const { scenario } = visit
  const { body: project } = await scenario.post('/api/projects/', { name: 'Linked' })
  const flags = `/api/projects/${project.id}/feature_flags/`
  const { body: base } = await scenario.post(flags, { key: 'checkout' })
  const condition = { key: String(base.id), type: 'flag', value: true, operator: 'flag_evaluates_to' }
  const filters = { groups: [{ properties: [condition] }] }
  expect((await scenario.post(flags, { key: 'coupon', active: false, filters })).status).toBe(201)
  return `/project/${project.id}`
}

/** 0.1 counts as a good cumulative layout shift. Here only a line that wraps differently in another font may move. */
const layoutShiftMax = 0.01
const watchShifts = `window.shifts = []
const nameOf = node => node ? (node.textContent || node.nodeName).slice(0, 40) : 'a removed element'
new PerformanceObserver(list => {
  for (const { value, sources, hadRecentInput } of list.getEntries()) {
    if (!hadRecentInput) window.shifts.push({ value, moved: sources.map(({ node }) => nameOf(node)) })
  }
}).observe({ type: 'layout-shift', buffered: true })`

interface Shift {
  readonly value: number
  /** The text of the moved elements. */
  readonly moved: readonly string[]
}

async function expectNoShift(page: Page, name: string): Promise<void> {
  const shifts = await page.evaluate<Shift[]>('window.shifts')
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  expect(sum, `how far "${name}" jumps: ${JSON.stringify(shifts)}`).toBeLessThan(layoutShiftMax)
}

type Scheme = 'light' | 'dark'

/** Loads every page once with ordered responses and checks it in both color schemes. */
async function checkPages(
  page: Page,
  paths: Pages,
  schemes: readonly [Scheme, Scheme],
  order: ResponseOrder,
): Promise<void> {
  await page.addInitScript(watchShifts)
  const isIdle = await respondInOrder(page, order)
  for (const [name, { path, shows }] of Object.entries(paths)) {
    await page.emulateMedia({ colorScheme: schemes[0] })
    await page.goto(path)
    await page.getByText(shows).filter({ visible: true }).first().waitFor()
    await isIdle()
    await expectNoShift(page, name)
    for (const scheme of schemes) {
      await page.emulateMedia({ colorScheme: scheme })
      await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor()
      await expectSound(page, scheme === schemes[0] ? 'all' : 'colors')
    }
  }
}

/** Any address that no page has; it is visited. */
const unknownPage = '$'
const phone = { dark: true, width: 360, height: 740 }

/** Matches the addresses of a page or of one of its tabs; the first tab needs no name. */
function addressesOf(pattern: string): RegExp {
  const [path, tab] = pattern.split('?tab=')
  const first = Object.entries(pageTabs()).find(([end]) => pattern.endsWith(end))?.[1][0]
  const query = tab ? `\\?tab=${tab}` : first ? `(\\?tab=${first})?` : '(\\?.*)?'
  return new RegExp(`^${path!.replace(/\$\w+/g, '[^/?]+')}${query}$`)
}

describe('every page', { timeout: 900_000 }, () => {
  it('is visited here', () => {
    const visited = Object.values({ ...pages, ...publicPages }).map(({ path }) => path)
    const patterns = patternsWithTabs().filter(({ isRedirect }) => !isRedirect)
    const forgotten = patterns.filter(({ path }) => !visited.some(each => addressesOf(path).test(each)))
    expect(forgotten.map(({ path }) => path).filter(path => path !== unknownPage)).toEqual([])
    expect(patterns.length).toBeGreaterThan(50)
  })

  it('is accessible and has no layout shift on a desktop, in light and dark mode', async () => {
    await checkPages(await visit.signedIn('/'), pages, ['light', 'dark'], responseOrders.firstInFirstOut)
    await checkPages(await visit.open(), publicPages, ['light', 'dark'], responseOrders.firstInFirstOut)
  })

  it('is accessible and has no layout shift on a phone, in dark and light mode', async () => {
    await checkPages(await visit.signedIn('/', phone), pages, ['dark', 'light'], responseOrders.lastInFirstOut)
    await checkPages(await visit.open(phone), publicPages, ['dark', 'light'], responseOrders.lastInFirstOut)
  })

  it('has no layout shift when the session loads last', async () => {
    const page = await visit.signedIn('/')
    await page.addInitScript(watchShifts)
    const isIdle = await respondInOrder(page, responseOrders.sessionLast)
    for (const name of [
      'home',
      'flags',
      'plugins',
      'catalog',
      'members',
      'source of a plugin',
      'debugger without a person',
    ]) {
      const { path, shows } = pages[name]!
      await page.goto(path)
      await page.getByText(shows).filter({ visible: true }).first().waitFor()
      await isIdle()
      await expectNoShift(page, name)
      // It was hidden until then and could not take the focus.
      const isForm = name === 'debugger without a person'
      await expectFocus(page.getByRole(isForm ? 'combobox' : 'heading', isForm ? { name: 'Person' } : { level: 1 }))
    }
  })
})

describe('every dialog', { timeout: 600_000 }, () => {
  it('keeps its buttons in place while its content arrives', async () => {
    const page = await visit.signedIn('/')
    await page.addInitScript(watchButtons('[role="dialog"] button'))
    const isIdle = await respondInOrder(page, responseOrders.lastInFirstOut)
    const flag = `${gated.path}/flags/${gated.flagId}`
    const organization = visit.scenario.organization.replace('/api/organizations', '/organization')
    const press = (name: string | RegExp) => page.getByRole('button', { name }).click()
    const dialogs: Record<string, { path: string; open: () => Promise<void>; shows: string }> = {
      toggle: {
        path: `${gated.path}/flags`,
        open: () => page.getByRole('switch').press('Space'),
        shows: 'Request approval',
      },
      'turn on many': {
        path: `${gated.path}/flags`,
        open: async () => {
          await page.getByRole('checkbox', { name: 'Select pay-later' }).check()
          await press('Turn on')
        },
        shows: '1 would gain access',
      },
      review: {
        path: flag,
        open: async () => {
          await page.getByRole('textbox', { name: 'Description' }).fill('Later')
          await press(/^(Review and save|Request approval)/)
        },
        shows: 'Request approval',
      },
      delete: {
        path: flag,
        open: async () => {
          await press('More actions')
          await page.getByRole('menuitem', { name: 'Delete' }).click()
        },
        shows: 'Nothing depends on it',
      },
      restore: {
        path: `${flag}?tab=history`,
        open: async () => {
          await page.getByText('Versions', { exact: true }).click()
          await press('Restore version 1')
        },
        shows: 'Request approval',
      },
      copy: {
        path: `${flag}?tab=copies`,
        open: async () => {
          await page.getByRole('checkbox', { name: 'Copy to Mobile' }).check()
          await press('Review and copy')
        },
        shows: 'This flag doesn’t exist yet',
      },
      schedule: {
        path: `${flag}?tab=schedule`,
        open: () => press('Schedule'),
        shows: 'may need approval',
      },
      promote: {
        path: flag,
        open: () => press(/^Promote/),
        shows: 'Will be created',
      },
      'delete a cohort': {
        path: `${gated.path}/cohorts/${gated.cohortId}`,
        open: () => press('Delete'),
        shows: 'pay-later',
      },
      archive: {
        path: `${gated.path}/health`,
        open: () => press('Archive: pay-later'),
        shows: 'Nothing depends on it',
      },
      'new set': { path: `${organization}/environments`, open: () => press('New set'), shows: 'Production' },
    }
    for (const [name, { path, open, shows }] of Object.entries(dialogs)) {
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await isIdle()
      await open()
      await page.getByRole('dialog').getByText(shows).first().waitFor()
      await isIdle()
      expect(await page.evaluate('window.moves'), `buttons of "${name}" that moved`).toEqual([])
    }
  })
})
