import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectSound, meetAda, startVisit, type Visit } from './browser.ts'

let visit: Visit
let flagId: number
beforeAll(async () => {
  visit = await startVisit()
  const { scenario } = visit
  const filters = (percent: number) => ({
    groups: [
      {
        properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }],
        rollout_percentage: percent,
      },
    ],
  })
  const flag = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'search-v2', filters: filters(10) })
  flagId = flag.body.id
  await scenario.post(`${scenario.project}/feature_flags/`, { key: 'always-on' })
  await scenario.patch(`${scenario.project}/feature_flags/${flagId}/`, { filters: filters(100) })
  await meetAda(scenario)
}, 120_000)
afterAll(() => visit.close())

const inProject = (path: string) => `/project/${visit.scenario.projectId}${path}`
const inOrganization = (path: string) =>
  visit.scenario.organization.replace('/api/organizations', '/organization') + path

describe('finding out why', { timeout: 120_000 }, () => {
  it('shows each flag with what every condition saw', async () => {
    const page = await visit.signedIn(inProject('/why'))
    await expectSound(page)
    await page.getByRole('combobox', { name: 'Person' }).fill('ada')
    await page.getByRole('option', { name: /ada@example.com/ }).click()
    await page.getByRole('button', { name: 'Find out' }).click()
    await page.getByRole('button', { name: /search-v2/ }).click()
    await page.getByText('plan is one of “pro” – it is “pro”').waitFor()
    await expectSound(page)

    const other = await visit.signedIn(inProject('/why?id=nobody'), { dark: true, width: 360, height: 740 })
    await other.getByRole('button', { name: /search-v2/ }).click()
    await other.getByText('plan is one of “pro” – it is not known', { exact: true }).waitFor()
    await other.getByText('Nobody with the distinct id nobody is known').waitFor()
    await expectSound(other)
  })
})

describe('history and usage', { timeout: 120_000 }, () => {
  it('compares versions and brings one back', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=history`))
    await page.getByText('Removed: Condition 1: 10% of people').waitFor()
    await page.getByText('Versions', { exact: true }).click()
    await page.getByText('Removed: Condition 1: 10% of people').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByText('Version 1 is back').waitFor()
    const flag = await visit.scenario.get(`${visit.scenario.project}/feature_flags/${flagId}/`)
    expect(flag.body.filters.groups[0].rollout_percentage).toBe(10)
    expect(flag.body.version).toBe(3)
  })

  it('charts who asked for a flag, and says it in a table', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=usage`))
    await page.getByRole('img', { name: /Calls by answer/ }).waitFor()
    await page.getByText('Show as a table').first().click()
    await page.getByRole('table', { name: 'Calls by answer' }).getByRole('row', { name: /Total/ }).waitFor()
    await expectSound(page)
  })

  it('comes up in a browser that names no language that there is', async () => {
    const page = await visit.open()
    await page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })")
    await visit.signIn(page, inProject(`/flags/${flagId}?tab=usage`))
    await page.getByRole('img', { name: /Calls by answer/ }).waitFor()
    await expectSound(page)
  })

  it('schedules a ramp', async () => {
    await visit.scenario.patch(`${visit.scenario.project}/feature_flags/${flagId}/`, {
      filters: { groups: [{ properties: [], rollout_percentage: 10 }] },
    })
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=schedule`), { dark: true })
    await page.getByText('Nothing is scheduled.').waitFor()
    await page.getByRole('combobox', { name: 'What' }).selectOption('ramp')
    await expectSound(page)
    await page.getByRole('button', { name: 'Schedule', exact: true }).click()
    await page.getByRole('rowheader', { name: 'Condition 1: 32.5% → 55% → 77.5% → 100%', exact: true }).waitFor()
    await expectSound(page)
  })

  it('sets what rolls a flag back, and tells what it measures', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=schedule`), { width: 360, height: 740 })
    const section = page.getByRole('group', { name: 'Roll back by itself' })
    await section.getByRole('textbox', { name: 'Event' }).fill('$exception')
    await section.getByRole('button', { name: 'Add', exact: true }).click()
    await section.getByText('when the count of $exception is greater than 10 within 60 minutes').waitFor()
    await section.getByText('watching').waitFor()
    await section.getByRole('textbox', { name: 'Event' }).fill('error')
    await section.getByRole('combobox', { name: 'Measured' }).selectOption('per')
    await section.getByRole('textbox', { name: 'The other event' }).fill('$pageview')
    await section.getByRole('textbox', { name: 'Threshold' }).fill('0.02')
    await section.getByRole('button', { name: 'Only events where' }).click()
    await section.getByRole('combobox', { name: 'Property', exact: true }).fill('level')
    await section.getByRole('combobox', { name: 'Comparison' }).last().selectOption('icontains')
    await section.getByRole('textbox', { name: 'Value', exact: true }).fill('fatal')
    await expectSound(page)
    await section.getByRole('button', { name: 'Add', exact: true }).click()
    await section.getByText('the count of error for each $pageview where level contains “fatal”').waitFor()
    await section.getByText('A metric that you push').click()
    await section.getByRole('textbox', { name: 'Metric' }).fill('latency')
    await section.getByRole('combobox', { name: 'Measured' }).selectOption('maximum')
    await section.getByRole('button', { name: 'Add', exact: true }).click()
    await section.getByText('when the largest latency is greater than 10').waitFor()
    await expectSound(page)
    const report = await visit.scenario.get(`${visit.scenario.project}/feature_flags/${flagId}/rollback/`)
    expect(report.body.conditions.map((condition: { status: string }) => condition.status)).toEqual([
      'watching',
      'watching',
      'watching',
    ])
  })

  it('calls off what is scheduled', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=schedule`))
    await page.getByRole('button', { name: 'Call off' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Call off' }).click()
    await page.getByText('Nothing is scheduled.').waitFor()
  })

  it('copies a flag to another project', async () => {
    const { body: target } = await visit.scenario.post('/api/projects/', { name: 'Mobile' })
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=copies`))
    await page.getByText('not there').first().waitFor()
    await page.getByRole('checkbox', { name: 'Copy to Mobile' }).check()
    await expectSound(page)
    await page.getByRole('button', { name: 'Review and copy' }).click()
    const preview = page.getByRole('dialog', { name: 'What will change' })
    await preview.getByText('The flag is not there yet.').waitFor()
    await expectSound(page)
    await preview.getByRole('button', { name: 'Copy the flag' }).click()
    await page.getByText('Copied to 1 project').waitFor()
    const copies = await visit.scenario.get(`/api/projects/${target.id}/feature_flags/`)
    expect(copies.body.results).toMatchObject([{ key: 'search-v2', active: false }])

    await visit.scenario.patch(`/api/projects/${target.id}/feature_flags/${copies.body.results[0].id}/`, {
      filters: { groups: [{ properties: [], rollout_percentage: 5 }] },
    })
    await page.reload()
    await page.getByRole('row', { name: /Mobile .*Conditions/ }).waitFor()
    await page.getByRole('switch', { name: 'Copies start switched off' }).click({ force: true })
    await page.getByRole('row', { name: /Mobile .*On, Conditions/ }).waitFor()
    await page.getByRole('checkbox', { name: 'Copy to Mobile' }).check()
    await page.getByRole('button', { name: 'Review and copy' }).click()
    await preview.getByText('Removed: Condition 1: 5% of people').waitFor()
    await preview.getByText('Added: Condition 1: 10% of people').waitFor()
    await expectSound(page)
  })

  it('tells what happened in the project', async () => {
    const page = await visit.signedIn(inProject('/activity'), { dark: true })
    await page.getByText('created').first().waitFor()
    await expectSound(page)
  })
})

describe('people and groups', { timeout: 120_000 }, () => {
  it('finds a person and what is known', async () => {
    const page = await visit.signedIn(inProject('/persons'))
    await page.getByRole('textbox', { name: 'Search people' }).fill('example.com')
    await page.getByRole('link', { name: 'ada@example.com', exact: true }).waitFor()
    await expectSound(page)
    await visit.scenario.post('/batch/', {
      api_key: visit.scenario.projectToken,
      batch: [{ event: '$identify', distinct_id: 'mary', properties: { $set: { email: 'mary@example.com' } } }],
    })
    await page.getByRole('link', { name: 'mary@example.com', exact: true }).waitFor()
    await page.getByRole('link', { name: 'ada@example.com', exact: true }).click()
    await page.getByRole('row', { name: /plan pro/ }).waitFor()
    await expectSound(page)
    await page.getByRole('link', { name: /What flags does/ }).click()
    await page.getByText('for ada').waitFor()
  })

  it('shows groups by type', async () => {
    const page = await visit.signedIn(inProject('/groups'), { width: 360, height: 740 })
    await page.getByRole('button', { name: 'acme' }).click()
    await page.getByRole('row', { name: /size 12/ }).waitFor()
    await expectSound(page)
  })
})

describe('access', { timeout: 120_000 }, () => {
  it('invites somebody and gives them a role', async () => {
    const page = await visit.signedIn(inOrganization('/members'))
    await page.getByRole('textbox', { name: 'E-mail' }).fill('grace@example.com')
    await page.getByRole('button', { name: 'Invite somebody' }).click()
    await page.getByText('Send this link to grace@example.com').waitFor()
    await expectSound(page)
    await visit.scenario.join('linus')
    // Nobody reloads: what others do is seen all the same.
    await page.getByRole('row', { name: /linus@example.com/ }).waitFor()
    await page.goto(inOrganization('/roles'))
    await page.getByRole('textbox', { name: 'Name of the role' }).fill('Release managers')
    await page.getByRole('button', { name: 'Create role' }).click()
    await page.getByRole('button', { name: /Release managers/ }).click()
    await page.getByRole('combobox', { name: 'Add somebody' }).selectOption({ label: 'linus' })
    await page.getByRole('row', { name: /linus@example.com/ }).waitFor()
    await expectSound(page)
    await page.goto(inProject(`/flags/${flagId}?tab=access`))
    await page.getByRole('combobox', { name: 'Let a role edit this flag' }).selectOption({ label: 'Release managers' })
    await page.getByRole('button', { name: 'Let in' }).click()
    await page.getByRole('button', { name: 'Take access from Release managers' }).waitFor()
    await expectSound(page)
  })

  it('makes keys that are shown once and revokes them', async () => {
    const page = await visit.signedIn('/account', { dark: true })
    await page.getByRole('textbox', { name: 'Label' }).fill('deploy')
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByText(/^phx_\w{20,}$/).textContent()
    expect((await visit.scenario.as(key ?? '').get('/api/users/@me/')).status).toBe(200)
    await expectSound(page)
    await page
      .getByRole('row', { name: /deploy/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /deploy/ }).waitFor({ state: 'hidden' })
    expect((await visit.scenario.as(key ?? '').get('/api/users/@me/')).status).toBe(401)
  })

  it('shows the token of the project and makes secret keys', async () => {
    const page = await visit.signedIn(inProject('/settings'))
    await page.getByText(visit.scenario.projectToken).waitFor()
    await page.getByRole('textbox', { name: 'Label' }).fill('backend')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText(/^phs_/).waitFor()
    await expectSound(page)
  })
})
