import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { suiteVisit } from './browser.ts'
import { patternsWithTabs } from './page-patterns.ts'
import { respondInOrder, responseOrders } from './response-order.ts'
import { writeDirectly } from './write-directly.ts'

/** Would add an element, run a script and load an image if it were ever read as HTML. */
const hostile = '<img data-hostile src=https://evil.example/x onerror=alert(1)>'
/** For labels, which are short. */
const short = '<img data-hostile onerror=alert(1)>'
const script = 'javascript:alert(1)'
const link = `[click](${script})`

/** Without a place to break the line. */
const long = 'unbroken'.repeat(12)

const visit = suiteVisit()
let parameters: Record<string, string>
let pluginId: number
beforeAll(async () => {
  const { scenario: s } = visit
  const created = async (path: string, body: object) => {
    const reply = await s.post(path, body)
    expect(reply.status, `${path} ${reply.text}`).toBe(201)
    return reply.body
  }
  expect((await s.patch('/api/users/@me/', { first_name: hostile })).status).toBe(200)
  expect((await s.patch(`${s.project}/`, { name: hostile })).status).toBe(200)
  const property = { key: hostile, type: 'person', operator: 'exact', value: [hostile, script] }
  const cohort = await created(`${s.project}/cohorts/`, {
    name: `Cohort ${hostile} ${long}`,
    description: `${hostile} ${long}`,
    filters: { properties: { type: 'OR', values: [{ type: 'AND', values: [property] }] } },
  })
  const flag = await created(`${s.project}/feature_flags/`, {
    key: `key-${hostile}-${long}`,
    name: `${hostile} ${link} ${long}`,
    tags: [hostile, script, { html: hostile }],
    filters: {
      groups: [
        { properties: [property], rollout_percentage: 25, description: hostile },
        { properties: [{ key: 'id', type: 'cohort', operator: 'in', value: cohort.id }], rollout_percentage: 50 },
      ],
      multivariate: { variants: [{ key: hostile, name: hostile, rollout_percentage: 100 }] },
      payloads: { [hostile]: JSON.stringify({ html: hostile, href: script }) },
    },
  })
  await s.patch(`${s.project}/feature_flags/${flag.id}/`, {
    name: `changed ${hostile}`,
    tags: [`<b data-hostile>`, long],
  })
  await created(`${s.project}/feature_flags/`, {
    key: `dependent-${hostile}-${long}`,
    filters: {
      groups: [{ properties: [{ type: 'flag', key: String(flag.id), operator: 'flag_evaluates_to', value: false }] }],
    },
  })
  const role = await created(`${s.organization}/roles/`, { name: `Role ${hostile}` })
  await created(`${s.project}/feature_flags/${flag.id}/role_access/`, { role_id: role.id })
  await created(`${s.project}/scheduled_changes/`, {
    record_id: flag.id,
    payload: { operation: 'update_status', value: false },
    scheduled_at: new Date(Date.now() + 86_400_000).toISOString(),
  })
  await created('/api/personal_api_keys/', { label: short, scopes: ['*'] })
  await created(`${s.project}/secret_keys/`, { label: short })
  const invite = await created(`${s.organization}/invites/`, { target_email: 'eve@example.com', first_name: hostile })
  const other = await created('/api/projects/', { name: `Other ${hostile}` })
  await s.post(`${s.organization}/feature_flags/copy_flags/`, {
    feature_flag_key: flag.key,
    from_project: s.projectId,
    target_project_ids: [other.id],
  })
  pluginId = await makePlugin()
  const events = {
    api_key: s.projectToken,
    batch: [
      {
        event: hostile,
        distinct_id: hostile,
        properties: { $set: { email: `${hostile}${long}`, [hostile]: hostile, [long]: long, site: script } },
      },
      {
        event: '$groupidentify',
        distinct_id: hostile,
        properties: {
          $group_type: hostile,
          $group_key: `${hostile}${long}`,
          $group_set: { [hostile]: hostile, site: script },
        },
      },
      {
        event: '$feature_flag_called',
        distinct_id: hostile,
        properties: { $feature_flag: flag.key, $feature_flag_response: hostile },
      },
    ],
  }
  expect((await s.post('/batch/', events)).status).toBe(200)
  const person = await vi.waitUntil(async () => (await s.get(`${s.project}/persons/`)).body.results[0], {
    timeout: 60_000,
  })
  const request = await created(`${s.project}/change_requests/`, {
    flag_id: flag.id,
    patch: { name: `requested ${hostile}` },
    title: `${hostile} ${long}`,
    reason: `${hostile} ${long}`,
  })
  const set = await created(`${s.organization}/environment_sets/`, {
    name: hostile,
    environments: [
      { name: short, project: s.projectId },
      { name: 'other', project: other.id },
    ],
  })
  const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
  await created(`${s.organization}/freezes/`, { starts_at: days(7), ends_at: days(8), reason: `${hostile} ${long}` })
  await created(`${s.project}/webhooks/`, { name: hostile, url: 'https://chat.example.com/hook', tag: hostile })
  await created(`${s.project}/feature_flags/${flag.id}/comments/`, { text: `${hostile} ${link} ${long}` })
  const proof = await created(`${s.project}/import_certificates/`, { certificate: hostileCertificate })
  // The last change: from here on the organization's name is hostile as well.
  expect((await s.patch(`${s.organization}/`, { name: short })).status).toBe(200)
  parameters = {
    projectId: String(s.projectId),
    organizationId: s.organization.split('/').at(-1)!,
    flagId: String(flag.id),
    cohortId: String(cohort.id),
    personId: person.uuid,
    pluginId: String(pluginId),
    requestId: String(request.id),
    setId: String(set.id),
    certificateId: String(proof.id),
    token: invite.token,
  }
}, 120_000)

const counts = { contexts: 1, pairs: 1, equal: 0, differing: 1, declared: 0, sdk_errors: 0 }
const hostileCertificate = {
  ...counts,
  source: 'unleash',
  environment: hostile,
  file_sha256: 'e'.repeat(64),
  sdk: hostile,
  sdk_version: short,
  halyard_version: short,
  node_version: short,
  seed: 1,
  exact: 1,
  approximate: 0,
  refused: 0,
  flags: [{ key: hostile, status: 'exact', reasons: [hostile], pairs: 1, equal: 0 }],
  differences: [
    {
      flag: hostile,
      status: 'exact',
      context: { id: hostile, attributes: { [hostile]: hostile } },
      there: hostile,
      here: { [hostile]: hostile },
      there_trace: hostile,
      here_trace: [hostile],
    },
  ],
}

/** A plugin with hostile metadata, source, settings and logs. */
async function makePlugin(): Promise<number> {
  const { scenario: s } = visit
  const { body: plugin } = await s.post(`${s.organization}/plugins/`, { name: `Plugin ${hostile}` })
  const path = `${s.organization}/plugins/${plugin.id}/`
  const manifest = {
    name: `Plugin ${hostile}`,
    description: `${hostile} ${link} ${long}`,
    config: [
      { markdown: `${hostile} ${link} **${hostile}** \`${hostile}\`` },
      { key: 'word', name: hostile, type: 'string', default: script, hint: `${link} ${hostile}` },
      { key: 'mode', name: hostile, type: 'choice', choices: [hostile, script] },
    ],
    publicJobs: { job: { payload: { text: { type: 'string', title: hostile } } } },
  }
  const code = `export const processEvent = event => { console.warn(${JSON.stringify(hostile)}); return event }
export const jobs = { job: () => {} }
// ${hostile}
`
  const files = { 'plugin.json': JSON.stringify(manifest), 'index.ts': code }
  expect((await s.patch(`${path}update_source/`, files)).status).toBe(200)
  expect((await s.patch(path, { icon: script, tag: hostile })).status).toBe(200)
  // No request can set this address; a database may still hold it.
  await writeDirectly(s.databaseUrl, db =>
    db.updateTable('plugins').set({ url: script }).where('id', '=', plugin.id).execute(),
  )
  const config = await s.post(`${s.project}/plugin_configs/`, { plugin: plugin.id, enabled: true, name: hostile })
  expect(config.status, config.text).toBe(201)
  return plugin.id
}

interface Watched {
  readonly page: Page
  /** Dialogs, policy violations, requests to other servers and errors in the console. */
  readonly incidents: string[]
  isIdle(): Promise<void>
}

async function watched(page: Page): Promise<Watched> {
  const incidents: string[] = []
  page.on('dialog', async dialog => {
    incidents.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('pageerror', error => incidents.push(`error: ${error}`))
  page.on('console', message => {
    if (/content security policy|evil\.example/i.test(message.text())) incidents.push(message.text())
  })
  page.on('request', request => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== visit.scenario.url) incidents.push(`request: ${request.url()}`)
  })
  await page.exposeFunction('reportIncident', (text: string) => incidents.push(text))
  await page.addInitScript(`document.addEventListener('securitypolicyviolation', event =>
    reportIncident('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`)
  return { page, incidents, isIdle: await respondInOrder(page, responseOrders.firstInFirstOut) }
}

/** Elements that came out of content, and addresses that run a script. */
const findInjected = `[
  ...[...document.querySelectorAll('[data-hostile], [onerror], [onload]')].map(each => each.outerHTML),
  ...[...document.querySelectorAll('[href], [src], [action], [formaction], [srcdoc]')]
    .filter(each => ['href', 'src', 'action', 'formaction'].some(name => /^\\s*(javascript|vbscript|data:text)/i.test(each.getAttribute(name) ?? '')) || each.hasAttribute('srcdoc'))
    .map(each => each.outerHTML),
]`
/** Elements that make the page wider than the window. What scrolls or is cut within another element does not. */
const findOverflow = `document.documentElement.scrollWidth <= innerWidth ? [] : (() => {
  const isCut = each => each !== document.body && (getComputedStyle(each).overflowX !== 'visible' || isCut(each.parentElement))
  return [...document.querySelectorAll('main *')]
    .filter(each => each.getBoundingClientRect().right > innerWidth + 1 && !isCut(each.parentElement))
    .map(each => each.outerHTML.slice(0, 300))
})()`

/** Without the shell around the page, which shows names as well. */
const shownText = `[...document.querySelectorAll('main, main input, main textarea, form')]
  .map(each => each.value ?? each.innerText).join('\\n')`

async function expectHarmless({ page, incidents, isIdle }: Watched, path: string, shows?: string): Promise<void> {
  await page.goto(path)
  await page.locator('main, form').first().waitFor()
  const shown = () => page.evaluate<string>(shownText)
  if (shows) await expect.poll(shown, { timeout: 30_000, message: path }).toContain(shows)
  await isIdle()
  expect(await page.evaluate(findInjected), path).toEqual([])
  expect(incidents, path).toEqual([])
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    await expect.poll(() => page.evaluate(findOverflow), { message: `${path}, ${width} px wide` }).toEqual([])
  }
}

/** The catalog comes with the server; the last three show nothing of others until something is entered. */
const shownInstead: Readonly<Record<string, string | undefined>> = {
  '?tab=catalog': 'Flag guardrails',
  '/tags': '<b data-hostile>',
  '/playground': undefined,
  '/setup': undefined,
  '/import': undefined,
}

/** It shows nothing but the address, which has a test of its own. */
const unknownPage = '$'

describe('hostile names, texts and addresses', { timeout: 300_000 }, () => {
  it('are shown as text on every page and every tab', async () => {
    const seen = await watched(await visit.signedIn('/'))
    const patterns = patternsWithTabs().filter(({ path }) => !['', '/login', unknownPage].includes(path))
    expect(patterns.length).toBeGreaterThanOrEqual(17)
    const paths = patterns.map(({ path }) =>
      path.replace(/\$(\w+)/g, (_all, name: string) => {
        expect(parameters, `the parameter of ${path}`).toHaveProperty(name)
        return parameters[name]!
      }),
    )
    paths.push(`/project/${parameters.projectId}/debugger?id=${encodeURIComponent(hostile)}`)
    for (const path of paths) {
      const other = Object.entries(shownInstead).find(([end]) => path.endsWith(end))
      await expectHarmless(seen, path, other ? other[1] : '<img data-hostile')
    }
  })

  it('are shown as text when the playground evaluates them', async () => {
    const { page, incidents, isIdle } = await watched(
      await visit.signedIn(`/project/${parameters.projectId}/playground`),
    )
    await page.getByLabel('People').fill(hostile)
    await page.getByRole('button', { name: 'Evaluate' }).click()
    await page.getByRole('table').getByText('<img data-hostile').first().waitFor()
    await isIdle()
    expect(await page.evaluate(findInjected)).toEqual([])
    expect(incidents).toEqual([])
  })

  it('are shown as text when they come with the address', async () => {
    const seen = await watched(await visit.signedIn('/'))
    const encoded = encodeURIComponent(hostile)
    const project = `/project/${parameters.projectId}`
    for (const path of [
      `${project}/flags?q=${encoded}`,
      `${project}/flags/${encoded}`,
      `${project}/debugger?id=${encoded}&groups=${encoded}`,
      `/organization/${encoded}/plugins`,
      `/signup/${encoded}`,
      `/${encoded}`,
    ]) {
      await expectHarmless(seen, path)
    }
  })

  it.each([script, '/\\evil.example/', '/\t/evil.example', '/..//evil.example', 'https://evil.example/'])(
    'do not lead away from the dashboard after signing in with next=%s',
    async next => {
      const { page, incidents } = await watched(await visit.open())
      await visit.signIn(page, next)
      await page.locator('main').first().waitFor()
      expect(new URL(page.url()).origin).toBe(visit.scenario.url)
      expect(incidents).toEqual([])
    },
  )

  it('would be noticed here if they were ever read as HTML', async () => {
    const { page, incidents } = await watched(await visit.open())
    await page.goto('/login')
    await page.evaluate(
      `document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(`${hostile}<a href="${script}">`)})`,
    )
    expect(await page.evaluate(findInjected)).toHaveLength(2)
    await expect.poll(() => incidents.some(text => text.startsWith('policy: img-src'))).toBe(true)
  })
})
