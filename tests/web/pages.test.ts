import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectFocus, expectSound, sendEventsOfAda, startVisit, toggle, type Visit } from './browser.ts'

let visit: Visit
let flagId: number
/** Receives webhooks. */
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
let receiverOrigin: string
beforeAll(async () => {
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  receiverOrigin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  visit = await startVisit({ HALYARD_TRUSTED_ORIGINS: receiverOrigin })
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
  await sendEventsOfAda(scenario)
}, 120_000)
afterAll(async () => {
  await visit.close()
  receiver.close()
})

const inProject = (path: string) => `/project/${visit.scenario.projectId}${path}`
const inOrganization = (path: string) =>
  visit.scenario.organization.replace('/api/organizations', '/organization') + path

describe('the debugger', { timeout: 120_000 }, () => {
  it('shows each flag with the trace of every condition', async () => {
    const page = await visit.signedIn(inProject('/debugger'))
    await expectSound(page)
    await expectFocus(page.getByRole('combobox', { name: 'Person' }))
    await page.keyboard.type('ada')
    await page.getByRole('option', { name: /ada@example.com/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /search-v2/ }).click()
    await page.getByText('plan equals “pro” – actual: “pro”').waitFor()
    await expectSound(page)

    const other = await visit.signedIn(inProject('/debugger?id=unknown'), { dark: true, width: 360, height: 740 })
    await other.getByRole('button', { name: /search-v2/ }).click()
    await other.getByText('plan equals “pro” – not set', { exact: true }).waitFor()
    await other.getByText('No events from unknown yet.').waitFor()
    await expectSound(other)
  })
})

describe('webhooks', { timeout: 120_000 }, () => {
  it('are added, tested, read in the delivery log and sent again', async () => {
    const page = await visit.signedIn(inProject('/settings'))
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByText('No webhooks yet').waitFor()
    await expectSound(page)
    await page.getByRole('textbox', { name: 'Name' }).fill('Releases')
    await page.getByRole('textbox', { name: 'URL' }).fill(`${receiverOrigin}/hook`)
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('button', { name: /^Releases/ }).click()
    await page.getByText('Nothing was sent in the last 7 days').waitFor()
    await page.getByRole('button', { name: 'Send test' }).click()
    const log = page.getByRole('table', { name: 'Deliveries of Releases' })
    await log.getByText('Delivered (204)').waitFor()
    await expectSound(page)
    await log.getByRole('button', { name: /^Resend/ }).click()
    await page.getByText('Sent again').waitFor()

    const other = await visit.signedIn(inProject('/settings/webhooks'), { dark: true, width: 390, height: 740 })
    await other.getByRole('button', { name: /^Releases/ }).click()
    await other.getByText('Delivered (204)').waitFor()
    await expectSound(other)
  })
})

describe('tags and SDK setup', { timeout: 120_000 }, () => {
  it('renames, merges and removes tags on all flags', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Tagged' })
    const flags = `/api/projects/${project.id}/feature_flags/`
    for (const [key, tags] of Object.entries({ a: ['web'], b: ['web', 'beta'], c: ['mobile'] })) {
      await scenario.post(flags, { key, tags })
    }
    const tagsOf = async () =>
      Object.fromEntries(
        (await scenario.get(flags)).body.results.map(({ key, tags }: { key: string; tags: string[] }) => [key, tags]),
      )
    const page = await visit.signedIn(`/project/${project.id}/tags`)
    await page.getByRole('button', { name: 'Rename: web' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rename tag web' })
    await dialog.getByRole('textbox', { name: 'New name' }).fill('beta')
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await page.getByText('2 flags changed').waitFor()
    await page.getByRole('button', { name: 'Rename: web' }).waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /^beta 2/ }).waitFor()
    expect(await tagsOf()).toEqual({ a: ['beta'], b: ['beta'], c: ['mobile'] })
    await page.getByRole('button', { name: 'Remove: mobile' }).click()
    await page.getByRole('dialog').getByText('Remove the tag mobile from 1 flag?').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('1 flag changed').waitFor()
    expect(await tagsOf()).toEqual({ a: ['beta'], b: ['beta'], c: [] })
  })

  it('shows the first call of an SDK as soon as it arrives', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Not connected' })
    const page = await visit.signedIn(`/project/${project.id}/setup`)
    await page.getByText('Waiting for the first call').waitFor()
    const call = { token: project.api_token, distinct_id: 'ada' }
    await scenario.as(undefined).post('/flags/?v=2', call, { 'user-agent': 'posthog-python/3.1.0' })
    await page.getByRole('status').getByText('First call received').waitFor()
    await page.getByRole('row', { name: /^posthog-python 3.1.0 1/ }).waitFor()
    await expectSound(page)
  })
})

describe('history and usage', { timeout: 120_000 }, () => {
  it('compares versions and restores one', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=history`))
    await page.getByText('Removed: Condition 1: 10% of people').waitFor()
    await page.getByText('Versions', { exact: true }).click()
    await page.getByText('Removed: Condition 1: 10% of people').waitFor()
    await expectSound(page)
    // The view is in the address: it survives a reload, and the back button leaves it.
    await page.reload()
    await page.getByRole('button', { name: 'Restore version 1' }).waitFor()
    await page.goBack()
    await expect.poll(() => page.getByRole('radio', { name: 'Changes' }).isChecked()).toBe(true)
    await page.goForward()
    await page.getByRole('button', { name: 'Restore version 1' }).click()
    const review = page.getByRole('dialog', { name: 'Restore version 1?' })
    await review.getByText('Added: Condition 1: 10% of people').waitFor()
    await review.getByRole('heading', { name: 'Impact' }).waitFor()
    await expectSound(page)
    const flagUrl = `${visit.scenario.project}/feature_flags/${flagId}/`
    expect((await visit.scenario.get(flagUrl)).body.version).toBe(2)
    await review.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Restored version 1').waitFor()
    const flag = await visit.scenario.get(flagUrl)
    expect(flag.body.filters.groups[0].rollout_percentage).toBe(10)
    expect(flag.body.version).toBe(3)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Restored version 2').waitFor()
    expect((await visit.scenario.get(flagUrl)).body.filters).not.toEqual(flag.body.filters)
  })

  it('charts evaluations of a flag, and lists them in a table', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=usage`))
    await page.getByRole('img', { name: /Evaluations by value/ }).waitFor()
    await page.getByText('1 in total').first().waitFor()
    await page.getByText('1 · 100%').first().waitFor()
    await page.getByText('Today is not over').first().waitFor()
    await page.getByText('Show as table').first().click()
    await page.getByRole('table', { name: 'Evaluations by value' }).getByRole('row', { name: /Total/ }).waitFor()
    await expectSound(page)
  })

  it('loads in a browser that reports an invalid language', async () => {
    const page = await visit.open()
    await page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })")
    await visit.signIn(page, inProject(`/flags/${flagId}?tab=usage`))
    await page.getByRole('img', { name: /Evaluations by value/ }).waitFor()
    await expectSound(page)
  })

  it('schedules a ramp', async () => {
    await visit.scenario.patch(`${visit.scenario.project}/feature_flags/${flagId}/`, {
      filters: { groups: [{ properties: [], rollout_percentage: 10 }] },
    })
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=schedule`), { dark: true })
    await page.getByText('No scheduled changes').waitFor()
    await page.getByRole('combobox', { name: 'Change' }).selectOption('ramp')
    await expectSound(page)
    await page.getByText('Time zone: UTC').waitFor()
    const steps = page.getByRole('textbox', { name: 'Percentages' })
    await expect.poll(() => steps.inputValue()).toBe('25, 50, 100')
    await steps.fill('5, 50')
    await page.getByText('Enter rising percentages above 10%, up to 100').waitFor()
    await expectSound(page)
    await steps.fill('20, 60, 100')
    await page.getByRole('button', { name: 'Schedule', exact: true }).click()
    const review = page.getByRole('dialog', { name: 'Review scheduled change' })
    await review.getByText('Added: Condition 1: 100% of people').waitFor()
    await expectSound(page)
    await review.getByRole('button', { name: 'Schedule' }).click()
    await page.getByRole('rowheader', { name: 'Condition 1: 20% → 60% → 100%', exact: true }).waitFor()
    await expectSound(page)
  })

  it('marks the steps of a ramp that are passed, and mentions the ramp in the review of an edit', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'overtaken-ramp',
      active: true,
      filters: { groups: [{ properties: [], rollout_percentage: 10 }] },
    })
    const days = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
    const steps = [25, 50, 100].map((rollout_percentage, index) => ({ at: days(index + 1), rollout_percentage }))
    const { status } = await scenario.post(`${scenario.project}/scheduled_changes/`, {
      record_id: String(flag.id),
      payload: { operation: 'ramp', value: { condition_index: 0, steps } },
    })
    expect(status).toBe(201)
    const page = await visit.signedIn(inProject(`/flags/${flag.id}`))
    await page
      .getByRole('textbox', { name: /^Rollout/ })
      .first()
      .fill('50')
    await page.keyboard.press('Control+s')
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('A ramp is pending (Condition 1: 25% → 50% → 100%).').waitFor()
    await expectSound(page)
    await review.getByRole('button', { name: 'Save' }).click()
    await review.waitFor({ state: 'hidden' })
    await page.getByRole('tab', { name: 'Schedule' }).click()
    await page.getByRole('rowheader').getByText('Already reached: 25%, 50%').waitFor()
    await expectSound(page)
    const german = await visit.signedIn(inProject(`/flags/${flag.id}?tab=schedule`), { locale: 'de-DE', width: 390 })
    await german.getByText(/^Bereits erreicht: 25\s%, 50\s%$/).waitFor()
    await expectSound(german)
  })

  it('adds rollback conditions and shows their measurements', async () => {
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=schedule`), { width: 360, height: 740 })
    const section = page.getByRole('group', { name: 'Automatic rollback' })
    await section.getByRole('combobox', { name: 'Event' }).fill('$exception')
    await section.getByRole('button', { name: 'Add condition', exact: true }).click()
    await section.getByText('count of $exception is greater than 10 within 60 minutes').waitFor()
    await section.getByText('monitoring').waitFor()
    await section.getByText('No such event in the last 90 days').first().waitFor()
    await section.getByRole('combobox', { name: 'Event' }).fill('error')
    await section.getByRole('combobox', { name: 'Measure' }).selectOption('per')
    await section.getByRole('combobox', { name: 'Ratio to event' }).fill('$pageview')
    await section.getByRole('textbox', { name: 'Threshold' }).fill('0.02')
    await section.getByRole('button', { name: 'Add event filter' }).click()
    await section.getByRole('combobox', { name: 'Property', exact: true }).fill('level')
    await section.getByRole('combobox', { name: 'Operator' }).last().selectOption('icontains')
    await section.getByRole('combobox', { name: 'Value', exact: true }).fill('fatal')
    await expectSound(page)
    await section.getByRole('button', { name: 'Add condition', exact: true }).click()
    await section.getByText('ratio of error to $pageview where level contains “fatal”').waitFor()
    // What is typed before the condition is saved would stay beside its threshold.
    await expect.poll(() => section.getByRole('textbox', { name: 'Threshold' }).inputValue()).toBe('10')
    await section.getByText('Pushed metric').click()
    await section.getByRole('textbox', { name: 'Metric' }).fill('latency')
    await section.getByRole('combobox', { name: 'Measure' }).selectOption('maximum')
    await section.getByRole('button', { name: 'Add condition', exact: true }).click()
    await section.getByText('maximum of latency is greater than 10').waitFor()
    await expectSound(page)
    const statuses = async () =>
      (await visit.scenario.get(`${visit.scenario.project}/feature_flags/${flagId}/rollback/`)).body.conditions.map(
        (condition: { status: string }) => condition.status,
      )
    await expect.poll(statuses).toEqual(['watching', 'watching', 'watching'])
  })

  it('keeps what is chosen in the form for the next rollback condition while one is being saved', async () => {
    const { body: flag } = await visit.scenario.post(`${visit.scenario.project}/feature_flags/`, { key: 'two-guards' })
    const page = await visit.signedIn(inProject(`/flags/${flag.id}?tab=schedule`))
    const section = page.getByRole('group', { name: 'Automatic rollback' })
    await section.getByRole('combobox', { name: 'Event' }).fill('$exception')
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route(`**/feature_flags/${flag.id}/`, async route => {
      if (route.request().method() !== 'PATCH') return route.fallback()
      const response = await route.fetch()
      await released
      await route.fulfill({ response })
    })
    await section.getByRole('button', { name: 'Add condition', exact: true }).click()
    await section.getByText('count of $exception is greater than 10').waitFor()
    await section.getByText('Pushed metric').click()
    await section.getByRole('textbox', { name: 'Metric' }).fill('latency')
    release()
    await page.getByText('Rollback condition added').waitFor()
    expect(await section.getByRole('textbox', { name: 'Metric' }).inputValue()).toBe('latency')
  })

  it('repeats a switch on working days with the time at which it is reverted', async () => {
    const { body: flag } = await visit.scenario.post(`${visit.scenario.project}/feature_flags/`, {
      key: 'office-hours',
      active: false,
    })
    const page = await visit.signedIn(inProject(`/flags/${flag.id}?tab=schedule`))
    await page.getByText('No scheduled changes').waitFor()
    await page.getByRole('combobox', { name: 'Repeat' }).selectOption('workdays')
    await page.getByLabel('Time', { exact: true }).fill('09:00')
    await page.getByLabel('Off again (optional)').fill('17:30')
    await expectSound(page)
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    await page.route('**/user_blast_radius/**', async route => {
      await released
      await route.continue()
    })
    await page.getByRole('button', { name: 'Schedule', exact: true }).click()
    const review = page.getByRole('dialog', { name: 'Review scheduled change' })
    await review.getByText('Every working day at 09:00 (UTC)').waitFor()
    const heightWhileLoading = await review.evaluate(dialog => dialog.offsetHeight)
    release()
    await review.getByText('would gain access').waitFor()
    expect(await review.evaluate(dialog => dialog.offsetHeight)).toBe(heightWhileLoading)
    await review.getByRole('button', { name: 'Schedule' }).click()
    await page.getByText('Every working day at 17:30 (UTC)').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: /^Pause both ?: Turn on/ }).click()
    await page.getByRole('button', { name: /^Resume both ?: Turn on/ }).click()
    await page.getByRole('button', { name: /^Pause both ?: Turn on/ }).waitFor()
    await page.getByRole('button', { name: /^Cancel change ?: Turn on/ }).click()
    await page.getByRole('dialog', { name: /Cancel the change at .+ and the one that reverts it\?/ }).waitFor()
    await expectSound(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel change' }).click()
    await page.getByText('No scheduled changes').waitFor()
  })

  it('undoes scheduling, pausing and canceling a change', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'undone', active: false })
    const stored = async () =>
      (await scenario.get(`${scenario.project}/scheduled_changes/?record_id=${flag.id}`)).body.results
    const page = await visit.signedIn(inProject(`/flags/${flag.id}?tab=schedule`))
    const undo = (notice: RegExp) =>
      page.getByRole('alert').filter({ hasText: notice }).getByRole('button', { name: 'Undo' }).click()
    const schedule = async () => {
      await page.getByRole('combobox', { name: 'Repeat' }).selectOption('workdays')
      await page.getByLabel('Time', { exact: true }).fill('09:00')
      await page.getByLabel('Off again (optional)').fill('17:30')
      await page.getByRole('button', { name: 'Schedule', exact: true }).click()
      const review = page.getByRole('dialog', { name: 'Review scheduled change' })
      await review.getByRole('button', { name: 'Schedule' }).click()
      await page.getByText('Every working day at 17:30 (UTC)').waitFor()
    }
    await page.getByText('No scheduled changes').waitFor()
    await schedule()
    await expectSound(page)
    await undo(/Turn on/)
    await page.getByText('No scheduled changes').waitFor()
    expect(await stored()).toEqual([])

    await schedule()
    await page.getByRole('button', { name: /^Pause both ?: Turn on/ }).click()
    await page.getByRole('button', { name: /^Resume both ?: Turn on/ }).waitFor()
    await expectSound(page)
    await undo(/^Paused: Turn on/)
    await page.getByRole('button', { name: /^Pause both ?: Turn on/ }).waitFor()
    expect((await stored()).map(({ is_recurring }: { is_recurring: boolean }) => is_recurring)).toEqual([true, true])

    const fields = ({ payload, cron_expression, timezone, is_recurring }: Record<string, unknown>) =>
      JSON.stringify({ payload, cron_expression, timezone, is_recurring })
    const before = (await stored()).map(fields).sort()
    await page.getByRole('button', { name: /^Cancel change ?: Turn on/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel change' }).click()
    await page.getByText('No scheduled changes').waitFor()
    await undo(/^Canceled: Turn on/)
    await page.getByText('Every working day at 17:30 (UTC)').waitFor()
    expect((await stored()).map(fields).sort()).toEqual(before)
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { deleted: true })
  })

  it('keeps a ramp with its condition, marks it when that is gone, and cancels it', async () => {
    const address = `${visit.scenario.project}/feature_flags/${flagId}/`
    const { body: before } = await visit.scenario.get(address)
    const other = { properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['team'] }] }
    await visit.scenario.patch(address, { filters: { groups: [other, ...before.filters.groups] } })
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=schedule`))
    const moved = page.getByRole('row', { name: /^Condition 2: 20% → 60% → 100%/ })
    await moved.getByText('Pending', { exact: true }).waitFor()
    await visit.scenario.patch(address, { filters: { groups: [other] } })
    const ramp = page.getByRole('row', { name: /^Condition 1: 20% → 60% → 100%/ })
    await ramp.getByText('broken', { exact: true }).waitFor()
    await ramp.getByText('Its condition was changed or removed.').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Cancel change' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel change' }).click()
    await page.getByText('No scheduled changes').waitFor()
    await visit.scenario.patch(address, { filters: before.filters })
  })

  it('copies a flag to another project', async () => {
    const { body: target } = await visit.scenario.post('/api/projects/', { name: 'Mobile' })
    const page = await visit.signedIn(inProject(`/flags/${flagId}?tab=copies`))
    await page.getByText('Missing').first().waitFor()
    await page.getByRole('checkbox', { name: 'Copy to Mobile' }).check()
    await expectSound(page)
    await page.getByRole('button', { name: 'Review and copy' }).click()
    const preview = page.getByRole('dialog', { name: 'Review changes' })
    await preview.getByText('This flag doesn’t exist yet').waitFor()
    await expectSound(page)
    await preview.getByRole('button', { name: 'Copy flag' }).click()
    await page.getByText('Copied to 1 project').waitFor()
    const copies = await visit.scenario.get(`/api/projects/${target.id}/feature_flags/`)
    expect(copies.body.results).toMatchObject([{ key: 'search-v2', active: false }])

    await visit.scenario.patch(`/api/projects/${target.id}/feature_flags/${copies.body.results[0].id}/`, {
      filters: { groups: [{ properties: [], rollout_percentage: 5 }] },
    })
    await page.reload()
    await page.getByRole('row', { name: /Mobile .*Release conditions/ }).waitFor()
    await toggle(page.getByRole('switch', { name: 'Turn copies off' }))
    await page.getByRole('row', { name: /Mobile .*State, Release conditions/ }).waitFor()
    await page.getByRole('checkbox', { name: 'Copy to Mobile' }).check()
    await page.getByRole('button', { name: 'Review and copy' }).click()
    await preview.getByText('Removed: Condition 1: 5% of people').waitFor()
    await preview.getByText('Added: Condition 1: 10% of people').waitFor()
    await preview.getByRole('heading', { name: 'Impact' }).waitFor()
    await expectSound(page)
    await preview.getByRole('button', { name: 'Copy flag' }).click()
    await page.getByText('Copied to 1 project').waitFor()
    const rollout = async () => {
      const { body } = await visit.scenario.get(`/api/projects/${target.id}/feature_flags/`)
      return body.results.map(
        ({ filters }: { filters: { groups: { rollout_percentage: number }[] } }) =>
          filters.groups[0]?.rollout_percentage,
      )
    }
    expect(await rollout()).toEqual([10])
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await page.getByText('Copy in 1 project undone').waitFor()
    expect(await rollout()).toEqual([5])
  })

  it('reviews what restoring a deleted flag and unarchiving one means, and undoes both', async () => {
    const { scenario } = visit
    const flags = `${scenario.project}/feature_flags`
    const { body: flag } = await scenario.post(`${flags}/`, { key: 'revived' })
    const address = `${flags}/${flag.id}/`
    await scenario.patch(address, { deleted: true })
    const page = await visit.signedIn(inProject(`/flags/${flag.id}`))
    const open = async (item: string) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await open('Restore')
    const restoring = page.getByRole('dialog', { name: 'Restore revived?' })
    await restoring.getByText(/^On for \d+ of \d+ people/).waitFor()
    await expectSound(page)
    expect((await scenario.get(address)).body.deleted).toBe(true)
    await restoring.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('1 flag restored').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await scenario.get(address)).body.deleted).toBe(true)
    await scenario.patch(address, { deleted: false })
    await scenario.post(`${address}archive/`)
    await page.reload()
    await open('Unarchive')
    const unarchiving = page.getByRole('dialog', { name: 'Unarchive revived?' })
    await unarchiving.getByText(/^On for \d+ of \d+ people/).waitFor()
    await expectSound(page)
    await unarchiving.getByRole('button', { name: 'Unarchive' }).click()
    const archived = async () => (await scenario.get(address)).body.archived
    await expect.poll(archived).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(archived).toBe(true)
  })

  it('lists the activity of the project', async () => {
    const page = await visit.signedIn(inProject('/activity'), { dark: true })
    await page.getByText('created').first().waitFor()
    await expectSound(page)
  })
})

describe('people and groups', { timeout: 120_000 }, () => {
  it('finds a person with its properties', async () => {
    const page = await visit.signedIn(inProject('/persons'))
    await page.getByRole('textbox', { name: 'Search people' }).fill('example.com')
    await page.getByRole('link', { name: 'ada@example.com', exact: true }).waitFor()
    await expectSound(page)
    await visit.scenario.post('/batch/', {
      api_key: visit.scenario.projectToken,
      batch: [{ event: '$identify', distinct_id: 'mary', properties: { $set: { email: 'mary@example.com' } } }],
    })
    // People are not streamed: the list is refreshed when the tab gets the focus.
    await expect
      .poll(async () => {
        await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
        return page.getByRole('link', { name: 'mary@example.com', exact: true }).count()
      })
      .toBe(1)
    await page.getByRole('link', { name: 'ada@example.com', exact: true }).click()
    await page.getByRole('row', { name: /plan pro/ }).waitFor()
    await expectSound(page)
    await page.getByRole('link', { name: /Debug flags for/ }).click()
    await page.getByText(/flags? for ada$/).waitFor()
  })

  it('shows groups by type', async () => {
    const page = await visit.signedIn(inProject('/groups'), { width: 360, height: 740 })
    await page.getByRole('button', { name: 'acme' }).click()
    await page.getByRole('row', { name: /size 12/ }).waitFor()
    await expectSound(page)
  })
})

describe('access', { timeout: 120_000 }, () => {
  it('invites a member and adds them to a role', async () => {
    const page = await visit.signedIn(inOrganization('/members'))
    await page.getByRole('textbox', { name: 'Email' }).fill('grace@example.com')
    await page.getByRole('button', { name: 'Invite member' }).click()
    await page.getByText('Send this link to grace@example.com').waitFor()
    await expectSound(page)
    await visit.scenario.join('linus')
    // Streamed, without a reload. The row of a member begins with the name; the invitation may still be there.
    await page.getByRole('row', { name: 'linus linus@example.com' }).waitFor()
    await page.goto(inOrganization('/roles'))
    const withoutRole = page.getByRole('combobox', { name: 'Members without a role' })
    await withoutRole.selectOption('Can view')
    await page.getByText(/Members without a role can create flags, and only view those of others/).waitFor()
    await expectSound(page)
    // What that means for each member.
    const accessOf = (name: string) => page.getByRole('row', { name: new RegExp(`${name}@`) })
    await page.goto(inOrganization('/members'))
    await accessOf('linus').getByText('Can view').waitFor()
    await accessOf('owner').getByText('Can edit').waitFor()
    await expectSound(page)
    await page.goto(inOrganization('/roles'))
    await withoutRole.selectOption('Can edit')
    await page.getByText('Members without a role can edit all flags.').waitFor()
    await page.getByRole('textbox', { name: 'Role name' }).fill('Release managers')
    await page.getByRole('button', { name: 'Create role' }).click()
    await page.getByRole('button', { name: /Release managers/ }).click()
    await page.getByRole('combobox', { name: 'Add member' }).selectOption({ label: 'linus' })
    await page.getByRole('row', { name: /linus@example.com/ }).waitFor()
    await expectSound(page)
    await page.goto(inProject(`/flags/${flagId}?tab=access`))
    await page
      .getByRole('combobox', { name: 'Grant edit access to a role' })
      .selectOption({ label: 'Release managers' })
    await page.getByRole('button', { name: 'Grant access' }).click()
    await page.getByRole('button', { name: 'Revoke access for Release managers' }).waitFor()
    await expectSound(page)
  })

  it('turns off emails, creates keys that are shown once and revokes them', async () => {
    const page = await visit.signedIn('/account', { dark: true })
    const preferences = async () => (await visit.scenario.get('/api/users/@me/')).body
    await toggle(page.getByRole('switch', { name: 'Emails about change requests' }))
    await expect.poll(preferences).toMatchObject({ change_request_emails: false, language: null })
    await page.getByRole('combobox', { name: 'Language of emails' }).selectOption('Deutsch')
    await expect.poll(preferences).toMatchObject({ change_request_emails: false, language: 'de' })
    await page.getByRole('textbox', { name: 'Label' }).fill('deploy')
    await page.getByRole('button', { name: 'Create key' }).click()
    // Nothing chosen is no access, not full access.
    await page.getByText('Choose what the key can do').waitFor()
    await page.getByRole('combobox', { name: 'Access' }).selectOption('Read flags')
    await page.getByRole('radiogroup', { name: 'Access to Account' }).getByText('Read', { exact: true }).click()
    await expectSound(page)
    await page.getByRole('button', { name: 'Create key' }).click()
    const key = await page.getByText(/^phx_\w{20,}$/).textContent()
    const program = visit.scenario.as(key ?? '')
    expect((await program.get('/api/users/@me/')).status).toBe(200)
    expect((await program.get(`${visit.scenario.project}/feature_flags/`)).status).toBe(200)
    expect((await program.post(`${visit.scenario.project}/feature_flags/`, { key: 'forbidden' })).status).toBe(403)
    await expectSound(page)
    await page
      .getByRole('row', { name: /deploy/ })
      .getByRole('button', { name: 'Revoke' })
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: /deploy/ }).waitFor({ state: 'hidden' })
    await expect.poll(async () => (await program.get('/api/users/@me/')).status).toBe(401)
  })

  it('shows the project token and creates secret keys', async () => {
    const page = await visit.signedIn(inProject('/settings/keys'))
    await page.getByText(visit.scenario.projectToken).waitFor()
    await page.getByRole('textbox', { name: 'Label' }).fill('backend')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText(/^phs_/).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Rotate' }).click()
    const rotate = page.getByRole('dialog', { name: 'Create a new token for ' })
    await rotate.getByRole('combobox', { name: 'Current token keeps working for' }).selectOption('1 hour')
    await expectSound(page)
    await rotate.getByRole('button', { name: 'Rotate' }).click()
    await page.getByText(/The previous token .* works until/).waitFor()
    await expectSound(page)
    const old = visit.scenario.projectToken
    const evaluated = () => visit.scenario.post('/flags/?v=2', { token: old, distinct_id: 'u' })
    expect((await evaluated()).status).toBe(200)
    await page.getByRole('button', { name: 'Revoke now' }).click()
    const revoke = page.getByRole('dialog', { name: 'Revoke the previous token?' })
    await revoke.waitFor()
    await expectSound(page)
    await revoke.getByRole('button', { name: 'Revoke now' }).click()
    await page.getByText('Previous token revoked').waitFor()
    expect((await evaluated()).status).toBe(401)
  })

  it('deletes a project only after its name was typed', async () => {
    const { body: doomed } = await visit.scenario.post('/api/projects/', { name: 'Doomed' })
    const page = await visit.signedIn(`/project/${doomed.id}/settings`)
    await page.getByRole('button', { name: 'Delete project' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete the project Doomed?' })
    await expectSound(page)
    await dialog.getByRole('textbox', { name: 'Type Doomed to confirm' }).fill('doom')
    expect(await dialog.getByRole('button', { name: 'Delete project' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox', { name: 'Type Doomed to confirm' }).fill('Doomed')
    await page.keyboard.press('Enter')
    await page.getByText('Doomed deleted').waitFor()
    expect((await visit.scenario.get(`/api/projects/${doomed.id}/`)).status).toBe(404)
  })
})
