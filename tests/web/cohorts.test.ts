import { beforeAll, describe, expect, it } from 'vitest'
import { expectSound, suiteVisit, toggle } from './browser.ts'

const visit = suiteVisit()
beforeAll(async () => {
  const { scenario } = visit
  const people = Array.from({ length: 20 }, (_, index) => ({
    event: '$identify',
    distinct_id: `person-${index}`,
    properties: { $set: { plan: index % 4 === 0 ? 'pro' : 'free' } },
  }))
  await scenario.post('/batch/', { api_key: scenario.projectToken, batch: people })
}, 120_000)

const inProject = (path: string) => `/project/${visit.scenario.projectId}${path}`

describe('cohorts', { timeout: 120_000 }, () => {
  it('with filters are created, counted and used in a flag with its impact', async () => {
    const page = await visit.signedIn(inProject('/cohorts/new'))
    await page.getByRole('textbox', { name: 'Name' }).fill('Paying')
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('combobox', { name: 'Property', exact: true }).fill('plan')
    await page.getByRole('combobox', { name: 'Operator' }).selectOption('icontains')
    await page.getByRole('combobox', { name: 'Value', exact: true }).fill('pro')
    await expectSound(page)
    await page.getByRole('button', { name: 'Create cohort' }).click()
    await page.getByRole('heading', { name: 'Paying', level: 1 }).waitFor()
    await page.getByText('5 people').waitFor()
    await page.getByRole('link', { name: 'person-0' }).waitFor()
    await expectSound(page)

    await page.goto(inProject('/flags/new'))
    await page.getByRole('textbox', { name: 'Key' }).fill('for-paying')
    await page.getByRole('button', { name: 'Add filter' }).click()
    await page.getByRole('menuitem', { name: 'Cohort' }).click()
    await page.getByRole('combobox', { name: 'Cohort', exact: true }).click()
    await page.getByRole('option', { name: 'Paying' }).click()
    await page.getByText('On for 5 of 20 people (25%)').waitFor()
    await expectSound(page)
    await page.getByText('Once the flag is on:').waitFor()
    await toggle(page.getByRole('switch', { name: 'Enable on creation' }))
    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByRole('heading', { name: 'for-paying', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Remove filter' }).click()
    await page.getByText('15 would gain access').waitFor()
    await expectSound(page)
  })

  it('of what people did are built from event names, and say since when these are counted', async () => {
    const { scenario } = visit
    const page = await visit.signedIn(inProject('/cohorts/new'))
    await page.getByRole('textbox', { name: 'Name' }).fill('Repeat buyers')
    await page.getByRole('button', { name: 'Add event filter' }).click()
    await page.getByRole('button', { name: 'Create cohort' }).click()
    await page.getByText('`key` must be the name of an event').waitFor()
    await page.getByRole('combobox', { name: 'Behavior' }).selectOption('performed event multiple times')
    await page.getByRole('combobox', { name: 'Event', exact: true }).fill('bought')
    await page.getByRole('combobox', { name: 'Comparison' }).selectOption('at least')
    await page.getByRole('textbox', { name: 'Number of events' }).fill('3')
    await page.getByRole('textbox', { name: 'Length of time' }).fill('2')
    await page.getByRole('combobox', { name: 'Unit of time' }).selectOption('weeks')
    await expectSound(page)
    await page.getByRole('button', { name: 'Create cohort' }).click()
    await page.getByRole('heading', { name: 'Repeat buyers', level: 1 }).waitFor()
    await page.getByText(/^bought: since /).waitFor()
    await expectSound(page)
    const { body } = await scenario.get(`${scenario.project}/cohorts/?search=Repeat`)
    expect(body.results[0].filters.properties.values[0].values).toMatchObject([
      { type: 'behavioral', key: 'bought', operator: 'gte', operator_value: 3, time_value: 2, time_interval: 'week' },
    ])
  })

  it('show a new count without polling', async () => {
    const { scenario } = visit
    const filtersFor = (plan: string) => {
      const values = [{ key: 'plan', type: 'person', value: plan, operator: 'exact' }]
      return { properties: { type: 'AND', values: [{ type: 'AND', values }] } }
    }
    const { body: cohort } = await scenario.post(`${scenario.project}/cohorts/`, {
      name: 'Recounted',
      filters: filtersFor('pro'),
    })
    const page = await visit.signedIn(inProject(`/cohorts/${cohort.id}`))
    // Less than the polling interval.
    await page.getByText('5 people').waitFor({ timeout: 20_000 })
    await scenario.patch(`${scenario.project}/cohorts/${cohort.id}/`, { filters: filtersFor('free') })
    await page.getByText('15 people').waitFor({ timeout: 20_000 })
  })

  it('with nested groups are built without JSON and fixed at the field', async () => {
    const { scenario } = visit
    const { body: paying } = await scenario.post(`${scenario.project}/cohorts/`, {
      name: 'Payers',
      filters: {
        properties: { type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'] }] },
      },
    })
    const page = await visit.signedIn(inProject('/cohorts/new'))
    await page.getByRole('textbox', { name: 'Name' }).fill('Free or number seven')
    await page.getByRole('button', { name: 'Add cohort' }).click()
    await page.getByRole('combobox', { name: 'Operator' }).selectOption('not_in')
    await page.getByRole('combobox', { name: 'Cohort', exact: true }).click()
    await page.getByRole('option', { name: 'Payers' }).click()
    await page.getByRole('button', { name: 'Add group' }).click()
    const group = page.getByRole('region', { name: 'Group 2' })
    await group.getByRole('combobox', { name: 'Property', exact: true }).fill('plan')
    await group.getByRole('combobox', { name: 'Operator' }).selectOption('regex')
    await group.getByRole('textbox', { name: 'Value', exact: true }).fill('(')
    await group.getByRole('checkbox', { name: 'not' }).check()
    await page.getByRole('button', { name: 'Create cohort' }).click()
    await group.getByText('The regular expression cannot be used').waitFor()
    await expectSound(page)
    await group.getByRole('textbox', { name: 'Value', exact: true }).fill('^pro$')
    await page.getByRole('button', { name: 'Create cohort' }).click()
    await page.getByRole('heading', { name: 'Free or number seven', level: 1 }).waitFor()
    await page.getByText('15 people').waitFor()
    const { body } = await scenario.get(`${scenario.project}/cohorts/?limit=1`)
    expect(body.results[0].filters.properties).toMatchObject({
      type: 'AND',
      values: [
        { type: 'AND', values: [{ type: 'cohort', value: paying.id, negation: true }] },
        { type: 'OR', values: [{ key: 'plan', operator: 'regex', negation: true }] },
      ],
    })
    await page.getByRole('button', { name: 'Edit as JSON' }).click()
    await expect.poll(() => page.getByRole('textbox', { name: 'Edit as JSON' }).inputValue()).toContain('negation')
    await expectSound(page)
  })

  it('with a static list import people from a file', async () => {
    const page = await visit.signedIn(inProject('/cohorts/new'), { dark: true, width: 360, height: 740 })
    await page.getByRole('textbox', { name: 'Name' }).fill('Beta')
    await page.getByText('Static (list)', { exact: true }).click()
    await page.getByRole('button', { name: 'Create cohort' }).click()
    await page.getByText('No people in this cohort').waitFor()
    await page.locator('input[type=file]').setInputFiles({
      name: 'beta.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('email,distinct_id\na@x.org,person-1\n"b, c@x.org",person-2\nc@x.org,missing-1\n'),
    })
    await page.getByText('2 added, 1 unknown').waitFor()
    await page.getByText('Unknown IDs: missing-1').waitFor()
    // Two columns without a header: the user decides.
    await page.locator('input[type=file]').setInputFiles({
      name: 'unclear.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('x,missing-2\ny,missing-3\n'),
    })
    const dialog = page.getByRole('dialog', { name: 'Choose a column' })
    await dialog.getByRole('combobox').selectOption({ label: 'Column 2: missing-2, missing-3' })
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Import' }).click()
    const nothing = page.getByRole('alert').filter({ hasText: '0 added, 2 unknown' })
    await nothing.getByText('Unknown IDs: missing-2, missing-3').waitFor()
    expect(await nothing.getAttribute('style')).toContain('yellow')
    await page.getByRole('link', { name: 'person-1' }).waitFor()
    await expectSound(page)
    await page.goto(inProject('/cohorts'))
    await page.getByRole('row', { name: /Beta Static 2/ }).waitFor()
    await expectSound(page)
    const list = await visit.scenario.get(`${visit.scenario.project}/cohorts/`)
    expect(list.body.results.map((cohort: { name: string }) => cohort.name)).toContain('Beta')
  })
})
