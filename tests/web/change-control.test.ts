import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectSound, suiteVisit, type Visit } from './browser.ts'
import { watchButtons } from './watch-buttons.ts'

const rollout = (percentage: number) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })

/** Set by `scripts/screenshots.mjs` to the folder of the screenshots. */
const pictures = process.env.README_PICTURES

const visit = suiteVisit()
let ann: Awaited<ReturnType<Visit['scenario']['join']>>
beforeAll(async () => {
  ann = await visit.scenario.join('ann')
}, 120_000)

const organizationPath = (path: string) =>
  visit.scenario.organization.replace('/api/organizations', '/organization') + path

/** A project of its own with a flag at 10 %. */
async function projectWith(name: string, key: string) {
  const { scenario } = visit
  const { body: project } = await scenario.post('/api/projects/', { name })
  const api = `/api/projects/${project.id}`
  const { body: flag } = await scenario.post(`${api}/feature_flags/`, { key, filters: rollout(10) })
  const read = async () => (await scenario.get(`${api}/feature_flags/${flag.id}/`)).body
  return {
    id: project.id as number,
    token: project.api_token as string,
    api,
    path: `/project/${project.id}`,
    flagId: flag.id as number,
    read,
  }
}

async function roleNamed(name: string): Promise<string> {
  return (await visit.scenario.post(`${visit.scenario.organization}/roles/`, { name })).body.id
}

/** Moves the focus with the keyboard alone. */
async function tabTo(element: Locator): Promise<void> {
  await element.waitFor()
  const isFocused = async () => (await element.and(element.page().locator(':focus')).count()) > 0
  for (let steps = 0; steps < 100 && !(await isFocused()); steps++) await element.page().keyboard.press('Tab')
  expect(await isFocused()).toBe(true)
}

async function pressOn(element: Locator): Promise<void> {
  await tabTo(element)
  await element.page().keyboard.press('Enter')
}

const bottomOf = async (element: Locator): Promise<number> => {
  const box = await element.boundingBox()
  return box ? box.y + box.height : Number.POSITIVE_INFINITY
}

async function setRollout(page: Page, percentage: string): Promise<void> {
  const field = page.getByRole('textbox', { name: /^Rollout/ }).first()
  await field.fill(percentage)
  await field.blur()
}

describe('a change that needs approval', { timeout: 300_000 }, () => {
  it('is requested by one person, approved by another with the keyboard, and applied', async () => {
    const p = await projectWith('Gated', 'new-checkout')
    const { scenario } = visit
    const policy = { action_key: '*', approver_config: { users: [ann.id], quorum: 1 } }
    expect((await scenario.post(`${p.api}/approval_policies/`, policy)).status).toBe(201)

    const annPage = await visit.open()
    await visit.signIn(annPage, `${p.path}/requests`, { email: ann.email, password: 'correct horse battery' })
    await annPage.getByText('Nothing is waiting for you').waitFor()
    await expectSound(annPage)

    const page = await visit.signedIn(`${p.path}/flags/${p.flagId}`)
    await setRollout(page, '50')
    await page.getByRole('button', { name: 'Request approval' }).click()
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('This change needs approval.').waitFor()
    await review.getByRole('textbox', { name: 'Title (optional)' }).fill('Half of the customers')
    await review.getByRole('textbox', { name: 'Reason' }).fill('The first week went well.')
    await expectSound(page)
    await review.getByRole('button', { name: 'Break glass' }).click()
    await review.getByRole('textbox', { name: 'Reason for the emergency' }).waitFor()
    expect(await review.getByRole('button', { name: 'Save without approval' }).isDisabled()).toBe(true)
    await expectSound(page)
    await review.getByRole('button', { name: 'Don’t break glass' }).click()
    await review.getByRole('button', { name: 'Request approval' }).click()
    await page.getByRole('link', { name: 'Half of the customers' }).waitFor()
    await page.getByRole('button', { name: 'View request' }).click()
    await page.getByRole('heading', { level: 1, name: 'Half of the customers' }).waitFor()
    await page.getByText('You opened this request. Someone else has to approve it.').waitFor()
    await expectSound(page)
    expect((await p.read()).version).toBe(1)

    // Pushed to the other browser: the count and the list.
    await annPage.getByText('1 request is waiting for you').waitFor({ state: 'attached' })
    await pressOn(annPage.getByRole('link', { name: 'Half of the customers' }))
    await annPage.getByText('Added: Condition 1: 50% of people').waitFor({ state: 'attached' })
    await annPage.getByText('The first week went well.').waitFor()
    await expectSound(annPage)
    if (pictures) {
      // The first visit may be in the font of the system: ours is shown from the cache.
      await annPage.reload()
      await annPage.getByText('No event carried this flag').waitFor()
      await annPage.screenshot({ path: `${pictures}/change-request.png` })
    }
    await tabTo(annPage.getByRole('textbox', { name: 'Comment (optional)' }))
    await annPage.keyboard.type('Go ahead.')
    await pressOn(annPage.getByRole('button', { name: 'Approve and apply' }))
    await annPage.getByText('as version 2').waitFor()
    await annPage.getByRole('button', { name: 'Undo' }).waitFor()
    await expectSound(annPage)
    expect(await p.read()).toMatchObject({ version: 2, filters: rollout(50) })

    await page.getByText('as version 2').waitFor()
    await page.goto(`${p.path}/flags/${p.flagId}?tab=history`)
    await page.getByText('requested a change:').waitFor()
    await page.getByText('Go ahead.').first().waitFor()
    await expectSound(page)
  })

  it('shows the approver what the editor saw, what changed since, and a conversation with replies', async () => {
    const p = await projectWith('Discussed', 'express-delivery')
    const { scenario } = visit
    for (const person of ['p1', 'p2', 'p3', 'p4']) {
      await scenario.post('/capture/', { api_key: p.token, event: 'seen', distinct_id: person })
    }
    const { body: owner } = await scenario.get('/api/users/@me/')
    const policy = {
      action_key: 'feature_flag.rollout',
      approver_config: { users: [ann.id, owner.id], quorum: 2 },
      allow_self_approve: true,
    }
    expect((await scenario.post(`${p.api}/approval_policies/`, policy)).status).toBe(201)
    const body = { flag_id: p.flagId, patch: { filters: rollout(100) }, title: 'Everyone', reason: 'It works.' }
    const { body: request } = await scenario.post(`${p.api}/change_requests/`, body)
    await scenario.patch(`${p.api}/feature_flags/${p.flagId}/`, { name: 'Renamed meanwhile' })

    const annPage = await visit.open({ width: 390 })
    const path = `${p.path}/requests/${request.id}`
    await visit.signIn(annPage, path, { email: ann.email, password: 'correct horse battery' })
    await annPage.getByText('would gain access').first().waitFor()
    await annPage.getByText('For example').first().waitFor()
    await annPage.getByRole('region', { name: 'Try it' }).waitFor()
    await annPage.getByText('The flag has changed since this was requested').waitFor()
    await annPage.getByText('Added: Renamed meanwhile').waitFor({ state: 'attached' })
    // Someone else is still needed.
    await annPage.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await annPage.getByRole('textbox', { name: 'Comment (optional)' }).fill('Why not half first?')
    await annPage.getByRole('button', { name: 'Add comment' }).click()
    await annPage.getByText('Why not half first?', { exact: true }).waitFor()
    await expectSound(annPage)

    const page = await visit.signedIn(path, { dark: true })
    await page.getByRole('button', { name: 'Reply' }).click()
    await page.getByRole('textbox', { name: 'Comment', exact: true }).fill('Half was fine last week.')
    await page.getByRole('button', { name: 'Reply' }).click()
    await page.getByText('Half was fine last week.').waitFor()
    await expectSound(page)
    // Pushed to the approver, who has the page open.
    await annPage.getByText('Half was fine last week.').waitFor()
    await annPage.getByRole('button', { name: 'Edit' }).click()
    await annPage.getByRole('textbox', { name: 'Comment', exact: true }).fill('Why not 50% first?')
    await annPage.getByRole('button', { name: 'Save' }).click()
    await page.getByText('(edited)').waitFor()
    await annPage.getByRole('button', { name: 'Approve', exact: true }).click()
    await annPage.getByText('You have approved this change').first().waitFor()
    await expectSound(annPage)
    await page.goto(`${p.path}/flags`)
    const link = page.getByRole('navigation').getByRole('link', { name: /^Requests/ })
    await expect.poll(() => page.title()).toMatch(/^\(\d\) Flags/)
    await link.click()
    const updates = page.getByRole('region', { name: 'Updates' })
    await updates.getByText('Why not 50% first?').waitFor()
    await expectSound(page)
    // Only what waits for a decision is left once the updates were shown.
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    await page.goto(path)
    await page.getByRole('button', { name: 'Approve and apply' }).click()
    await page.getByText('as version 3').waitFor()
    expect(await p.read()).toMatchObject({ version: 3, filters: rollout(100), name: 'Renamed meanwhile' })
  })

  it('is announced to the requester who is elsewhere, in the page and in the title', async () => {
    const p = await projectWith('Announced', 'fast-lane')
    await visit.scenario.post(`${p.api}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const body = { flag_id: p.flagId, patch: { filters: rollout(80) }, title: 'Nearly everyone' }
    const { body: request } = await visit.scenario.post(`${p.api}/change_requests/`, body)
    const page = await visit.signedIn(`${p.path}/cohorts`)
    // What the page finds in the inbox when it opens is no news.
    const opened = page.waitForResponse(response => response.url().endsWith('/inbox/'))
    await page.reload()
    await (await opened).finished()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.title()).toMatch(/^\w/)
    await ann.post(`${p.api}/change_requests/${request.id}/approve/`)
    await page.getByText('ann approved: fast-lane · On for 80% of people').waitFor()
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    await expectSound(page)
    await page.getByRole('button', { name: 'View request' }).click()
    await page.getByText('as version 2').waitFor()
  })

  it('says whose approval does not count, and why', async () => {
    const p = await projectWith('Own robot', 'self-made')
    const { scenario } = visit
    const key = await scenario.post(`${scenario.organization}/service_keys/`, { label: 'Robot', scopes: ['*'] })
    await scenario.post(`${p.api}/approval_policies/`, { action_key: '*' })
    const body = { flag_id: p.flagId, patch: { filters: rollout(60) }, title: 'By a robot' }
    const { body: request } = await scenario.as(key.body.value).post(`${p.api}/change_requests/`, body)
    const page = await visit.signedIn(`${p.path}/requests/${request.id}`)
    await page.getByText('Your approval doesn’t count. “Required approvals” says why.').waitFor()
    await page.getByRole('listitem').getByText('created the requester’s account').waitFor()
    expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
    await expectSound(page)
  })

  it('stops at a conflict, which is resolved in three columns', async () => {
    const p = await projectWith('Conflicted', 'search')
    const { scenario } = visit
    const policy = {
      action_key: '*',
      conditions: { type: 'tag', value: 'gated' },
      approver_config: { users: [ann.id] },
    }
    await scenario.post(`${p.api}/approval_policies/`, policy)
    const flag = `${p.api}/feature_flags/${p.flagId}/`
    const body = { flag_id: p.flagId, patch: { filters: rollout(50), tags: ['gated'] }, title: 'Half' }
    const { body: request } = await scenario.post(`${p.api}/change_requests/`, body)
    await scenario.patch(flag, { filters: rollout(20) })
    const page = await visit.signedIn(`${p.path}/requests/${request.id}`, { width: 390, dark: true })
    await page.getByRole('button', { name: 'Resolve conflict' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resolve conflict' })
    for (const percent of ['10%', '20%', '50%']) await dialog.getByText(`${percent} of people`).waitFor()
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Resolve conflict' }).click()
    await page.getByText('Added: Condition 1: 50% of people').waitFor({ state: 'attached' })
    await page.getByText('Removed: Condition 1: 20% of people').waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Cancel request' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click()
    await page.getByText('Canceled', { exact: true }).first().waitFor()
    await expectSound(page)
  })
})

describe('a request that waits', { timeout: 300_000 }, () => {
  it('is taken over from someone who left, gets another time, and waits for the end of a freeze', async () => {
    const p = await projectWith('Waiting', 'invoices')
    const { scenario } = visit
    const leaver = await scenario.join('leaver')
    await scenario.post(`${p.api}/approval_policies/`, { action_key: '*', approver_config: { users: [ann.id] } })
    const body = { flag_id: p.flagId, patch: { filters: rollout(50) }, title: 'Left behind' }
    const { body: request } = await leaver.post(`${p.api}/change_requests/`, body)
    await scenario.delete(`${scenario.organization}/members/${leaver.uuid}/`)
    const page = await visit.signedIn(`${p.path}/requests/${request.id}`)
    await page.getByText('leaver left the organization.').waitFor()
    await page.getByRole('button', { name: 'Take over request' }).click()
    const claim = page.getByRole('dialog', { name: 'Take over the request “Left behind”?' })
    await claim.getByRole('textbox', { name: 'Comment (optional)' }).fill('Still wanted.')
    await expectSound(page)
    await claim.getByRole('button', { name: 'Take over request' }).click()
    await page.getByText('You opened this request. Someone else has to approve it.').waitFor()

    const approve = () => ann.post(`${p.api}/change_requests/${request.id}/approve/`)
    await page.getByRole('button', { name: 'Change time' }).click()
    const reschedule = page.getByRole('dialog', { name: 'When should it be applied?' })
    await reschedule.getByLabel('Apply at (optional)').fill('2099-01-31T09:00')
    await expectSound(page)
    await reschedule.getByRole('button', { name: 'Change time' }).click()
    await page.getByText('Apply at: Jan 31, 2099, 9:00 AM').waitFor()
    expect((await approve()).body.status).toBe('approved')
    await page.getByText('Approved', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Change time' }).click()
    await reschedule.getByLabel('Apply at (optional)').fill('')
    await reschedule.getByRole('button', { name: 'Change time' }).click()
    await page.getByText('Needs approval again').waitFor()
    await expectSound(page)

    const freeze = { project: p.id, ends_at: '2099-11-27T10:00:00Z', reason: 'Sale' }
    expect((await scenario.post(`${scenario.organization}/freezes/`, freeze)).status).toBe(201)
    expect((await approve()).body.status).toBe('approved')
    await page.getByText('Waits for the end of a freeze: Nov 27, 2099, 10:00 AM').waitFor()
    await expectSound(page)
  })
})

describe('policies, environments, freezes and the archive', { timeout: 300_000 }, () => {
  it('adds a policy with a condition in words', async () => {
    const p = await projectWith('Policies', 'any')
    const onCall = await roleNamed('On call')
    const page = await visit.signedIn(`${p.path}/settings/policies`)
    await page.getByRole('button', { name: 'Add policy' }).click()
    const dialog = page.getByRole('dialog', { name: 'New approval policy' })
    await dialog.getByRole('group', { name: 'Approvers' }).getByRole('combobox', { name: 'People' }).waitFor()
    // The buttons are in view although the form is longer than the window.
    const save = dialog.getByRole('button', { name: 'Save' })
    await expect.poll(async () => await bottomOf(save)).toBeLessThanOrEqual(800)
    const expiry = dialog.getByRole('textbox', { name: 'Requests expire after (days)' })
    await expect.poll(() => expiry.inputValue()).toBe('14')
    await expiry.fill('7')
    await dialog.getByRole('combobox', { name: 'When' }).selectOption('before_after')
    await dialog.getByRole('textbox', { name: 'Value' }).fill('50')
    await dialog.getByRole('textbox', { name: 'By more than (people)' }).fill('')
    await dialog.getByRole('combobox', { name: 'Roles that can break glass' }).click()
    await page.getByRole('option', { name: 'On call' }).click()
    await page.keyboard.press('Tab')
    await expectSound(page)
    await save.click()
    await page.getByText('when Rollout percentage becomes > 50').waitFor()
    const { body: policies } = await visit.scenario.get(`${p.api}/approval_policies/`)
    expect(policies.results).toMatchObject([
      { reapprove_percent: 10, reapprove_people: null, emergency_roles: [onCall], expires_after_hours: 168 },
    ])
    await page.getByText('1 approval by Any admin').waitFor()
    await expectSound(page)
  })

  it('compares environments and promotes a flag', async () => {
    const page = await visit.signedIn(organizationPath('/environments'))
    await page.getByRole('button', { name: 'New set' }).click()
    const dialog = page.getByRole('dialog', { name: 'New environment set' })
    await dialog.getByRole('textbox', { name: 'Name of the application' }).fill('Shop')
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('development → production').waitFor()
    await expectSound(page)
    const { scenario } = visit
    const { body: sets } = await scenario.get(`${scenario.organization}/environment_sets/`)
    const [development, production] = sets.results[0].environments
    await scenario.post(`/api/projects/${development.project}/feature_flags/`, {
      key: 'pay-later',
      filters: rollout(30),
    })
    await page.getByRole('link', { name: 'Shop' }).click()
    await page.getByRole('checkbox', { name: 'Select pay-later' }).check()
    await page.getByText('Missing').waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Promote 1 flag' }).click()
    const promotion = page.getByRole('dialog', { name: 'Promote pay-later' })
    await promotion.getByText('Will be created').waitFor()
    // A new flag has nothing to be compared with.
    await promotion.getByText('Condition 1: 30% of people').waitFor()
    expect(await promotion.innerText()).toMatch(/State\s+Off\n/)
    expect(await promotion.getByText(/^(Before|After|None)$/).count()).toBe(0)
    await expectSound(page)
    await promotion.getByRole('button', { name: 'Promote', exact: true }).click()
    await page.getByRole('link', { name: 'Open pay-later' }).waitFor()
    const { body: promoted } = await scenario.get(`/api/projects/${production.project}/feature_flags/?search=pay-later`)
    expect(promoted.results).toMatchObject([{ key: 'pay-later', active: false }])
    await page.goto(`/project/${production.project}/flags/${promoted.results[0].id}`)
    const strip = page.getByRole('region', { name: 'Environments of this flag' })
    await strip.getByText('On for 30% of people').waitFor()
    await strip.getByText('Differs').waitFor()
    await expectSound(page)

    // On a phone the controls begin on the upper half of the screen.
    const small = await visit.signedIn(`/project/${production.project}/flags/${promoted.results[0].id}`, { width: 390 })
    await small.getByText('On for 30% of people').waitFor()
    expect((await small.getByRole('button', { name: 'Add filter' }).boundingBox())!.y).toBeLessThan(520)
    for (const target of [
      small.getByRole('link', { name: 'development' }),
      small.getByRole('button', { name: 'Promote' }),
    ])
      expect((await target.boundingBox())!.height).toBeGreaterThanOrEqual(24)
    await expectSound(small)

    // The other direction: each cell has the sentence of the list, and the difference is shown on demand.
    await page.goto(organizationPath(`/environments/${sets.results[0].id}`))
    const row = page.getByRole('row', { name: /pay-later/ })
    await row.getByRole('link', { name: 'On for 30% of people' }).waitFor()
    await row.getByRole('link', { name: 'Off for everyone' }).waitFor()
    await row.getByRole('button', { name: /^Show ?: pay-later/ }).click()
    await page.getByRole('row').nth(2).getByText('production').first().waitFor()
    await expectSound(page)
    await page.getByRole('combobox', { name: 'From' }).selectOption('production')
    await expect.poll(() => page.getByRole('combobox', { name: 'To' }).inputValue()).toBe(String(development.project))
    await scenario.post(`/api/projects/${development.project}/feature_flags/`, { key: 'only-here' })
    await page
      .getByRole('row', { name: /only-here/ })
      .getByText('Missing in production')
      .waitFor()
    const phone = await visit.signedIn(organizationPath(`/environments/${sets.results[0].id}`), {
      width: 390,
      dark: true,
      locale: 'de-DE',
    })
    await phone.getByRole('button', { name: /^Anzeigen ?: pay-later/ }).click()
    await phone.getByRole('row').nth(3).getByText('production').first().waitFor()
    await expectSound(phone)

    await page.getByRole('button', { name: /Switch project/ }).click()
    await page.getByRole('menuitem', { name: 'New project' }).click()
    await page.getByLabel('Project name').fill('Kiosk')
    await page.getByRole('checkbox', { name: 'Create development and production environments' }).check()
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: /Switch project: ?Kiosk development/ }).waitFor()
    const { body: all } = await scenario.get(`${scenario.organization}/environment_sets/`)
    expect(all.results.map(({ name }: { name: string }) => name)).toEqual(['Kiosk', 'Shop'])
  })

  it('lets a role that a policy names break the glass, for a reason that others review', async () => {
    const p = await projectWith('Emergency', 'outage')
    const { scenario } = visit
    const role = await roleNamed('Night shift')
    await scenario.post(`${scenario.organization}/roles/${role}/role_memberships/`, { user_uuid: ann.uuid })
    const policy = { action_key: '*', approver_config: { users: [], roles: [role] }, emergency_roles: [role] }
    expect((await scenario.post(`${p.api}/approval_policies/`, policy)).status).toBe(201)
    const page = await visit.open()
    await visit.signIn(page, `${p.path}/flags/${p.flagId}`, { email: ann.email, password: 'correct horse battery' })
    await setRollout(page, '80')
    await page.getByRole('button', { name: 'Request approval' }).click()
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByRole('button', { name: 'Break glass' }).click()
    await review.getByText('Another admin has to review it afterwards.').waitFor()
    const save = review.getByRole('button', { name: 'Save without approval' })
    expect(await save.isDisabled()).toBe(true)
    await review.getByRole('textbox', { name: 'Reason for the emergency' }).fill('Checkout is down')
    await expectSound(page)
    await save.click()
    await review.waitFor({ state: 'hidden' })
    expect(await p.read()).toMatchObject({ filters: rollout(80), version: 2 })
    await page.goto(`${p.path}/flags/${p.flagId}?tab=history`)
    await page.getByText('Checkout is down').first().waitFor()
    const { body: open } = await scenario.get(`${p.api}/change_requests/?review=open`)
    expect(open.results).toMatchObject([{ emergency_reason: 'Checkout is down', created_by: { email: ann.email } }])
  })

  it('freezes a project: the banner and the button say until when, and switching off works', async () => {
    const p = await projectWith('Frozen', 'sale')
    await roleNamed('Release managers')
    const page = await visit.signedIn(organizationPath('/freezes'))
    await page.getByRole('button', { name: 'New freeze' }).click()
    const dialog = page.getByRole('dialog', { name: 'New freeze' })
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Black Friday')
    await dialog.getByLabel('Ends').fill('2099-11-27T10:00')
    await dialog.getByRole('combobox', { name: 'What is frozen' }).selectOption(`project ${p.id}`)
    await dialog.getByRole('combobox', { name: 'Roles that are not held up (optional)' }).click()
    await page.getByRole('option', { name: 'Release managers' }).click()
    await page.keyboard.press('Tab')
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Except Release managers').waitFor()
    await page
      .getByText(/^In force until/)
      .first()
      .waitFor()
    await expectSound(page)
    await page.goto(`${p.path}/flags/${p.flagId}`)
    await page.getByText('Changes are frozen until Nov 27, 2099, 10:00 AM: Black Friday').waitFor()
    await setRollout(page, '60')
    await page.getByRole('button', { name: 'Frozen until Nov 27, 2099, 10:00 AM' }).click()
    const review = page.getByRole('dialog', { name: 'Review changes' })
    await review.getByText('You can still turn the flag off.').waitFor()
    expect(await review.getByRole('button', { name: /^Frozen until/ }).isDisabled()).toBe(true)
    await expectSound(page)
    await review.getByRole('button', { name: 'Keep editing' }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('switch', { name: 'On' }).click({ force: true })
    const toggle = page.getByRole('dialog', { name: 'Turn sale off?' })
    await toggle.getByRole('textbox', { name: 'Note (optional)' }).fill('Checkout fails.')
    await toggle.getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('switch', { name: 'Off' }).waitFor()
    // The switch moves before the server has answered.
    await expect.poll(() => p.read()).toMatchObject({ active: false, version: 2 })
    await page.goto(`${p.path}/flags/${p.flagId}?tab=history`)
    await page.getByText('Checkout fails.').waitFor()
  })

  it('reports a freeze that begins on an open page beside it, and moves no button', async () => {
    const p = await projectWith('Surprised', 'spring-sale')
    const path = `${p.path}/flags/${p.flagId}`
    const [page, phone] = [await visit.signedIn(path), await visit.signedIn(path, { width: 390, dark: true })]
    for (const each of [page, phone]) {
      await each.getByText('On for').first().waitFor()
      await each.evaluate(watchButtons('main button, nav a, nav button'))
    }
    const freeze = { project: p.id, reason: 'Data center move', ends_at: '2099-01-01T00:00:00Z' }
    const { status, text } = await visit.scenario.post(`${visit.scenario.organization}/freezes/`, freeze)
    expect(status, text).toBe(201)
    await page.getByText('Changes are frozen until Jan 1, 2099, 12:00 AM: Data center move').waitFor()
    await expectSound(page)
    await phone.getByRole('button', { name: 'Frozen', exact: true }).waitFor()
    await expectSound(phone)
    for (const each of [page, phone]) expect(await each.evaluate('window.moves')).toEqual([])
    await phone.getByRole('button', { name: 'Frozen', exact: true }).click()
    await phone.getByText('Changes are frozen until Jan 1, 2099, 12:00 AM: Data center move').waitFor()
    await expectSound(phone)
  })

  it('shows where code names a flag, and archives one in use only with a reason', async () => {
    const p = await projectWith('Archive', 'base')
    const dependency = { key: String(p.flagId), type: 'flag', value: true, operator: 'flag_evaluates_to' }
    const filters = { groups: [{ properties: [dependency] }] }
    await visit.scenario.post(`${p.api}/feature_flags/`, { key: 'dependent', filters })
    const reference = { flag_key: 'base', path: 'src/cart.ts', line: 12, excerpt: "if (on('base')) {" }
    const scan = { repository: 'acme/shop', branch: 'main', references: [reference] }
    await visit.scenario.put(`${p.api}/code_references/`, scan)
    const page = await visit.signedIn(`${p.path}/flags/${p.flagId}?tab=code`)
    const references = page.getByRole('region', { name: 'Code references' })
    await references.getByText('src/cart.ts:12').waitFor()
    await references.getByText("if (on('base')) {").waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Archive' }).click()
    const dialog = page.getByRole('dialog', { name: 'Archive base?' })
    await dialog.getByText('1 line of code in acme/shop').waitFor()
    await dialog.getByRole('button', { name: 'Archive' }).click()
    await dialog.getByText('Other flags depend on this one: dependent.').waitFor()
    await dialog.getByRole('textbox', { name: 'Reason for archiving it anyway' }).fill('Replaced.')
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Archive anyway' }).click()
    await page.getByText('This flag is archived: it is not evaluated.').waitFor()
    await expectSound(page)
    await page.goto(`${p.path}/flags?state=archived`)
    await page.getByRole('link', { name: 'base' }).first().waitFor()
  })
})
