import { sql } from 'kysely'
import type { Request } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { expectFocus, expectSound, suiteVisit } from './browser.ts'
import { countLoaded } from './count-loaded.ts'
import { writeDirectly } from './write-directly.ts'

const visit = suiteVisit()
beforeAll(async () => {
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

const flagsPath = () => `/project/${visit.scenario.projectId}/flags`

const flagNamed = async (key: string) =>
  (await visit.scenario.get(`${visit.scenario.project}/feature_flags/?search=${key}&limit=1`)).body.results[0]

const personCount = async (): Promise<number> =>
  (await visit.scenario.get(`${visit.scenario.project}/persons/`)).body.count

describe('the flag list', { timeout: 120_000 }, () => {
  it('summarizes each flag, searches and filters', async () => {
    const page = await visit.signedIn(flagsPath())
    await page.getByText('On for all people').waitFor()
    await page.getByText('2 conditions, 25% rollout to people · 2 variants').waitFor()
    await page.getByText('Off for everyone').waitFor()
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
    await page.getByText('No matching flags').waitFor()
    // A filter keeps its name when it is set.
    const chosen = page.getByRole('combobox', { name: 'State' }).locator('option:checked')
    await expect.poll(() => chosen.textContent()).toBe('State: Off')
  })

  it('saves filters as a view, which others open and its author deletes', async () => {
    const { scenario } = visit
    const page = await visit.signedIn(flagsPath())
    await page.getByRole('combobox', { name: 'Type' }).selectOption('variants')
    await page.getByText('1 of 3 flags').waitFor()
    const views = page.getByRole('button', { name: 'Saved views' })
    await views.click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save this view' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Experiments')
    await dialog.getByRole('checkbox', { name: 'Share with everyone in the project' }).check()
    await expectSound(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('View Experiments saved').waitFor()
    const member = await scenario.join('viewing')
    expect((await member.get(`${scenario.project}/saved_views/`)).body).toMatchObject([
      { name: 'Experiments', is_shared: true, is_own: false },
    ])

    await page.goto(flagsPath())
    await page.getByText('3 flags', { exact: true }).waitFor()
    await views.click()
    await page.getByRole('menuitem', { name: /^Experiments/ }).click()
    await page.getByText('1 of 3 flags').waitFor()
    await page.getByRole('link', { name: 'pricing-test' }).waitFor()
    await views.click()
    await page.getByRole('menuitem', { name: 'Delete view Experiments' }).click()
    await page.getByText('View Experiments deleted').waitFor()
    expect((await member.get(`${scenario.project}/saved_views/`)).body).toEqual([])
  })

  it('marks favorites, each user their own', async () => {
    const { scenario } = visit
    const { id } = await flagNamed('dark-mode')
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags/${id}`)
    const star = page.getByRole('button', { name: 'Favorite', exact: true })
    await star.click()
    await page.getByRole('button', { name: 'Favorite', exact: true, pressed: true }).waitFor()
    await page.goto(flagsPath())
    await page.getByText('3 flags', { exact: true }).waitFor()
    await page.getByRole('img', { name: 'Favorite' }).waitFor()
    await page.getByRole('button', { name: 'Favorites only' }).click()
    await page.getByText('1 of 3 flags').waitFor()
    await page.getByRole('link', { name: 'dark-mode' }).waitFor()
    await expectSound(page)
    const other = await scenario.join('with-other-favorites')
    expect((await other.get(`${scenario.project}/feature_flags/favorites/`)).body).toEqual([])
    await page.goto(`/project/${scenario.projectId}/flags/${id}`)
    await page.getByRole('button', { name: 'Favorite', exact: true, pressed: true }).click()
    await page.getByRole('button', { name: 'Favorite', exact: true, pressed: false }).waitFor()
  })

  it('shows the chosen columns and sorts by their headers', async () => {
    const page = await visit.signedIn(flagsPath())
    await page.getByText('3 flags', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Updated' }).click()
    await page.keyboard.press('Escape')
    const header = page.getByRole('columnheader', { name: 'Updated' })
    await header.getByRole('button').click()
    await header.and(page.locator('[aria-sort]:not([aria-sort=none])')).waitFor()
    await page.reload()
    await header.and(page.locator('[aria-sort]:not([aria-sort=none])')).waitFor()
    await expectSound(page)
  })

  it('reviews a toggle with its impact and undoes it', async () => {
    const page = await visit.signedIn(flagsPath())
    // The row is complete and no longer moves.
    await page.getByText('Off for everyone').waitFor()
    await page.getByRole('switch', { name: 'dark-mode is on' }).click({ force: true })
    const review = page.getByRole('dialog', { name: 'Turn dark-mode on?' })
    await review.getByText('Turned on').waitFor()
    await review.getByRole('heading', { name: 'Impact' }).waitFor()
    await expectSound(page)
    expect((await flagNamed('dark-mode')).active).toBe(false)
    await review.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('dark-mode turned on').waitFor()
    await expect.poll(async () => (await flagNamed('dark-mode')).active).toBe(true)
    await expectSound(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Off for everyone').waitFor()
    await expect.poll(async () => (await flagNamed('dark-mode')).active).toBe(false)
  })

  it('works by keyboard alone', async () => {
    const page = await visit.signedIn(flagsPath())
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
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('pricing-test')
    await page.keyboard.press('Enter')
    const heading = page.getByRole('heading', { name: 'pricing-test', level: 1 })
    await heading.waitFor()
    await expectFocus(heading)
  })

  it('shows changes of other users immediately', async () => {
    const { scenario } = visit
    const page = await visit.signedIn(flagsPath())
    await page.getByRole('link', { name: 'new-checkout' }).waitFor()
    const flag = await flagNamed('new-checkout')
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, {
      filters: { groups: [{ properties: [], rollout_percentage: 37 }] },
    })
    await page.getByText('On for 37% of people').waitFor()
  })

  it('updates many flags with one request and undoes it with another', async () => {
    const page = await visit.signedIn(flagsPath())
    const posted: string[] = []
    page.on('request', request => request.method() !== 'GET' && posted.push(new URL(request.url()).pathname))
    const flags = `${visit.scenario.project}/feature_flags`
    await page.getByRole('checkbox', { name: 'Select all listed flags' }).check()
    await page.getByRole('button', { name: 'Add tag' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Tag' }).fill('q3')
    await expectSound(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
    await page.getByText('3 flags updated').waitFor()
    expect((await flagNamed('new-checkout')).tags).toEqual(['web', 'q3'])
    expect(posted).toEqual([`${flags}/bulk_update/`])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(async () => (await flagNamed('new-checkout')).tags).toEqual(['web'])
    await expect.poll(() => posted.length).toBe(2)

    await page.getByRole('checkbox', { name: 'Select dark-mode' }).check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await expectSound(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 flags', { exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'State' }).selectOption('deleted')
    await page.getByRole('checkbox', { name: 'Select dark-mode' }).check()
    await page.getByRole('button', { name: 'Restore' }).click()
    // A restored flag is evaluated again: what that means is shown first.
    const restoring = page.getByRole('dialog', { name: 'Restore 1 flag?' })
    await restoring.getByRole('row', { name: /dark-mode Deleted Off for everyone No one/ }).waitFor()
    await expectSound(page)
    expect((await flagNamed('dark-mode'))?.deleted ?? true).toBe(true)
    await restoring.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('No matching flags').waitFor()
    await expect.poll(async () => (await flagNamed('dark-mode')).deleted).toBe(false)
  })

  it('lists the flags that failed, and copies many to another project', async () => {
    const { scenario } = visit
    const flags = `${scenario.project}/feature_flags`
    const { id } = await flagNamed('new-checkout')
    const batch = Array.from({ length: 40 }, (_, n) => ({
      event: '$identify',
      distinct_id: `person-${n}`,
      properties: {},
    }))
    await scenario.post('/batch/', { api_key: scenario.projectToken, batch })
    await expect.poll(personCount, { timeout: 60_000 }).toBeGreaterThanOrEqual(batch.length)
    const needing = { properties: [{ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value: true }] }
    const { body: dependent } = await scenario.post(`${flags}/`, {
      key: 'needs-checkout',
      filters: { groups: [needing] },
    })
    const page = await visit.signedIn(flagsPath(), { dark: true })
    await page.getByRole('checkbox', { name: 'Select new-checkout' }).check()
    await page.getByRole('checkbox', { name: 'Select pricing-test' }).check()
    await page.getByRole('button', { name: 'Delete' }).click()
    // Who loses it and what uses it, before it happens.
    const deleting = page.getByRole('dialog', { name: 'Delete 2 flags?' })
    const losing = deleting.getByRole('row', { name: /new-checkout/ })
    await losing.getByText('Flags with a condition on it: needs-checkout').waitFor()
    await losing.getByText(/would lose access/).waitFor()
    await deleting.getByRole('row', { name: /pricing-test .*Nothing depends on it/ }).waitFor()
    await expectSound(page)
    await page.setViewportSize({ width: 390, height: 800 })
    await expectSound(page)
    await page.setViewportSize({ width: 1280, height: 800 })
    expect((await flagNamed('new-checkout')).deleted).toBe(false)
    await deleting.getByRole('button', { name: 'Cancel' }).click()
    // A flag that is deleted too does not count.
    await page.getByRole('checkbox', { name: 'Select needs-checkout' }).check()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('row', { name: /new-checkout .*Nothing depends on it/ }).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('checkbox', { name: 'Select needs-checkout' }).uncheck()
    await page.getByRole('button', { name: 'Delete' }).click()
    await deleting.getByRole('button', { name: 'Delete' }).click()
    const failed = page.getByRole('dialog', { name: 'Couldn’t update 1 flag' })
    await failed.getByRole('row', { name: /new-checkout .*needs-checkout/ }).waitFor()
    await expectSound(page)
    await failed.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('region', { name: '1 selected' }).waitFor()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    // The toast leaves every button of the bar free, which is at the bottom of a small window.
    await page.setViewportSize({ width: 1280, height: 480 })
    const isFree = async () => {
      const bar = await page.getByRole('region', { name: '1 selected' }).boundingBox()
      const toast = await page.locator('.mantine-Notification-root').last().boundingBox()
      return toast!.y + toast!.height <= bar!.y || toast!.y >= bar!.y + bar!.height
    }
    await expect.poll(isFree).toBe(true)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 flag restored').waitFor()
    await scenario.patch(`${flags}/${dependent.id}/`, { deleted: true })

    const { body: target } = await scenario.post('/api/projects/', { name: 'Mobile' })
    await page.reload()
    await page.getByRole('checkbox', { name: 'Select all listed flags' }).check()
    await page.getByRole('button', { name: 'Copy to projects' }).click()
    await page.getByRole('checkbox', { name: 'Mobile' }).check()
    await expectSound(page)
    const copiesOf = async () => (await scenario.get(`/api/projects/${target.id}/feature_flags/`)).body.results
    // One of them exists there and is on for someone.
    await scenario.post('/batch/', {
      api_key: target.api_token,
      batch: [{ event: '$identify', distinct_id: 'ada', properties: { $set: { plan: 'pro' } } }],
    })
    await expect
      .poll(async () => (await scenario.get(`/api/projects/${target.id}/persons/`)).body.count, { timeout: 60_000 })
      .toBe(1)
    await scenario.post(`/api/projects/${target.id}/feature_flags/`, { key: 'dark-mode', name: 'Older' })
    await page.getByRole('dialog').getByRole('button', { name: 'Review and copy' }).click()
    const review = page.getByRole('dialog', { name: 'Copy to projects' })
    await review
      .getByRole('row', {
        name: /dark-mode Mobile On for all people Off for everyone ?State, Description, Release conditions 1 would lose/,
      })
      .waitFor()
    await review.getByRole('row', { name: /new-checkout Mobile Missing Off for everyone ?Will be created/ }).waitFor()
    await expectSound(page)
    expect(await copiesOf()).toHaveLength(1)
    await review.getByRole('button', { name: 'Copy 3 flags' }).click()
    await page.getByText('3 flags copied to 1 project').waitFor()
    expect((await copiesOf()).map((flag: { active: boolean }) => flag.active)).toEqual([false, false, false])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Copy in 1 project undone').waitFor()
    expect(await copiesOf()).toMatchObject([{ key: 'dark-mode', name: 'Older', active: true }])
  })

  it('pages through the review of many flags, with the impact of each', async () => {
    const { scenario } = visit
    const flags = `${scenario.project}/feature_flags`
    await scenario.post('/batch/', {
      api_key: scenario.projectToken,
      batch: [{ event: 'seen', distinct_id: 'person-1' }],
    })
    await expect.poll(personCount, { timeout: 60_000 }).toBeGreaterThan(0)
    const ids: number[] = []
    for (let number = 1; number <= 11; number += 1) {
      ids.push((await scenario.post(`${flags}/`, { key: `paged-${number}` })).body.id)
    }
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags?q=paged`)
    await page.getByText('11 of 14 flags').waitFor()
    await page.getByRole('checkbox', { name: 'Select all listed flags' }).check()
    await page.getByRole('button', { name: 'Turn off' }).click()
    const review = page.getByRole('dialog', { name: 'Turn off 11 flags?' })
    await review.getByText('1–10 of 11').waitFor()
    await review.getByRole('button', { name: 'Next' }).click()
    await review.getByRole('row', { name: /paged-\d+ On for all people Off for everyone \d+ would lose/ }).waitFor()
    await expectSound(page)
    await page.keyboard.press('Escape')
    for (const id of ids) await scenario.patch(`${flags}/${id}/`, { deleted: true })
  })

  it('shows the whole name of who created a flag', async () => {
    const { scenario } = visit
    const author = await scenario.join('wilhelmina-charlotte-von-hohenfels')
    await author.post(`${scenario.project}/feature_flags/`, { key: 'long-author' })
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags?q=long-author`)
    const cell = page.getByRole('row', { name: /long-author/ }).locator('[data-column=owner]')
    expect(await cell.textContent()).toContain('wilhelmina-charlotte-von-hohenfels')
    expect(await cell.getAttribute('title')).toBe(await cell.textContent())
    // As text: it runs in the browser, whose types are not known here.
    const cut = `[...document.querySelectorAll('[data-column=owner], [data-column=owner] *')].filter(
      ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) => scrollWidth > clientWidth || scrollHeight > clientHeight,
    ).length`
    expect(await page.evaluate(cut)).toBe(0)
    const { id } = await flagNamed('long-author')
    await scenario.patch(`${scenario.project}/feature_flags/${id}/`, { deleted: true })
  })

  it('pages through the review of many copies, and undo removes what came along unless it is used by then', async () => {
    const { scenario } = visit
    const { body: cohort } = await scenario.post(`${scenario.project}/cohorts/`, { name: 'Testers', is_static: true })
    const { body: shared } = await scenario.post(`${scenario.project}/cohorts/`, { name: 'Staff', is_static: true })
    const usesOf = (...ids: number[]) => ({
      filters: {
        groups: ids.map(value => ({ properties: [{ key: 'id', type: 'cohort', value }], rollout_percentage: 100 })),
        payloads: { true: '5' },
      },
    })
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'with-cohorts',
      ...usesOf(cohort.id, shared.id),
    })
    const schemaOf = (project: string, id: number) => `${project}/feature_flags/${id}/payload_schema/`
    await scenario.put(schemaOf(scenario.project, flag.id), { schema: { type: 'number' } })
    const targets: { id: number; name: string }[] = []
    for (let number = 1; number <= 21; number += 1) {
      const { body } = await scenario.post('/api/projects/', { name: `Target ${number}` })
      targets.push(body)
    }
    const first = `/api/projects/${targets[0]!.id}`
    const { body: replaced } = await scenario.post(`${first}/feature_flags/`, {
      key: 'with-cohorts',
      filters: { groups: [{ properties: [], rollout_percentage: 5 }], payloads: { true: '"five"' } },
    })
    await scenario.put(schemaOf(first, replaced.id), { schema: { type: 'string' } })

    const page = await visit.signedIn(`/project/${scenario.projectId}/flags?q=with-cohorts`)
    await page.getByRole('checkbox', { name: 'Select with-cohorts' }).check()
    await page.getByRole('button', { name: 'Copy to projects' }).click()
    for (const { name } of targets) await page.getByRole('checkbox', { name, exact: true }).check()
    await page.getByRole('dialog').getByRole('button', { name: 'Review and copy' }).click()
    const review = page.getByRole('dialog', { name: 'Copy to projects' })
    await review.getByRole('status').getByText('1–20 of 21').waitFor()
    await review.getByRole('button', { name: 'Next' }).click()
    await review.getByRole('row', { name: /Target 21 Missing/ }).waitFor()
    await expectSound(page)
    await review.getByRole('button', { name: 'Copy 1 flag' }).click()
    await page.getByText('1 flag copied to 21 projects').waitFor()
    const cohortsIn = async (project: string) =>
      (await scenario.get(`${project}/cohorts/`)).body.results.map(({ name }: { name: string }) => name).sort()
    expect(await cohortsIn(first)).toEqual(['Staff', 'Testers'])

    // Someone starts to use one of the new cohorts.
    const { body: copies } = await scenario.get(`${first}/cohorts/`)
    const staff = copies.results.find(({ name }: { name: string }) => name === 'Staff')
    await scenario.post(`${first}/feature_flags/`, { key: 'for-staff', ...usesOf(staff.id) })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Copies in 21 projects undone. 1 copied cohort stays').waitFor()
    expect(await cohortsIn(first)).toEqual(['Staff'])
    expect(await cohortsIn(`/api/projects/${targets[20]!.id}`)).toEqual([])
    const { body: restored } = await scenario.get(`${first}/feature_flags/${replaced.id}/`)
    expect(restored.filters).toEqual(replaced.filters)
    expect((await scenario.get(schemaOf(first, replaced.id))).body.schema).toEqual({ type: 'string' })
  })

  it('marks a flag with a scheduled change', async () => {
    const { scenario } = visit
    const { id } = await flagNamed('dark-mode')
    await scenario.post(`${scenario.project}/scheduled_changes/`, {
      record_id: id,
      payload: { operation: 'update_status', value: true },
      scheduled_at: '2099-01-01T00:00:00Z',
    })
    const page = await visit.signedIn(flagsPath())
    await page.getByRole('row', { name: /dark-mode Scheduled/ }).waitFor()
    await expectSound(page)
  })

  it('shows a viewer text and no controls', async () => {
    const { scenario } = visit
    await scenario.post(`${scenario.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    const viewer = await scenario.join('viewer')
    const page = await visit.open({ dark: true })
    await page.goto(`/login?next=${flagsPath()}`)
    await page.getByLabel('Email').fill(viewer.email)
    await page.locator('input[type=password]').fill('correct horse battery')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'pricing-test' }).waitFor()
    expect(await page.getByRole('switch').count()).toBe(0)
    await expectSound(page)
    // Readable text instead of disabled fields.
    await page.getByRole('link', { name: 'pricing-test' }).click()
    await page.getByText('You can view this flag but not edit it.').waitFor()
    await page.getByRole('listitem').filter({ hasText: '25% of people' }).first().waitFor()
    const fields = 'input, textarea, select'
    const preview = page.getByRole('region', { name: 'Try it' })
    await preview.getByRole('combobox').waitFor()
    await page.getByRole('heading', { name: 'Impact' }).waitFor()
    expect(await page.locator('#content').locator(fields).count()).toBe(await preview.locator(fields).count())
    await expectSound(page)
  })

  it('names the value of a payload for a viewer', async () => {
    const { scenario } = visit
    await scenario.post(`${scenario.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, {
      key: 'payload-to-view',
      filters: {
        groups: [{ properties: [], rollout_percentage: 100 }],
        multivariate: {
          variants: [
            { key: 'control', rollout_percentage: 50 },
            { key: 'test', rollout_percentage: 50 },
          ],
        },
        payloads: { test: '{"color":"red"}' },
      },
    })
    const viewer = await scenario.join('payload-viewer')
    const page = await visit.open({ locale: 'de-DE', width: 390 })
    const path = `/project/${scenario.projectId}/flags/${flag.id}`
    await visit.signIn(page, path, { email: viewer.email, password: 'correct horse battery' })
    await page.getByText('Payload von test').waitFor()
    await page.getByRole('region', { name: 'Ausprobieren' }).waitFor()
    await expectSound(page)
  })

  it('offers a viewer only what works, and explains the rest', async () => {
    const { scenario } = visit
    // The setting of the test before may exist already.
    await scenario.post(`${scenario.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    await scenario.post('/api/projects/', { name: 'Elsewhere' })
    const viewer = await scenario.join('onlooker')
    const page = await visit.open()
    const credentials = { email: viewer.email, password: 'correct horse battery' }
    await visit.signIn(page, `/project/${scenario.projectId}/flags`, credentials)
    await page.getByRole('checkbox', { name: 'Select pricing-test' }).check()
    const bar = page.getByRole('region', { name: '1 selected' })
    await bar.getByText('You can view these flags but not edit them.').waitFor()
    expect(await bar.getByRole('button').allTextContents()).toEqual(['Clear selection'])
    await expectSound(page)
    await bar.getByRole('button').click()

    // Everyone can create flags, and edit their own.
    await page.getByRole('button', { name: 'New flag' }).click()
    await page.getByRole('textbox', { name: 'Key' }).fill('own-flag')
    await page.getByRole('button', { name: 'Create flag' }).click()
    await page.getByRole('heading', { name: 'own-flag', level: 1 }).waitFor()
    await page.getByRole('switch', { name: 'Off' }).waitFor()
    await page.getByRole('link', { name: 'Flags' }).first().click()
    await page.getByRole('checkbox', { name: 'Select pricing-test' }).check()
    await page.getByRole('checkbox', { name: 'Select own-flag' }).check()
    await page.getByText('You can’t edit 1 of them; it stays as it is.').waitFor()
    await page.getByRole('button', { name: 'Add tag' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Tag' }).fill('mine')
    await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click()
    await page.getByText('1 flag updated').waitFor()
    expect((await flagNamed('own-flag')).tags).toEqual(['mine'])
    expect((await flagNamed('pricing-test')).tags).not.toContain('mine')

    const { id } = await flagNamed('pricing-test')
    await page.goto(`/project/${scenario.projectId}/flags/${id}?tab=copies`)
    await page.getByText('You can view this flag but not copy it').waitFor()
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await expectSound(page)
    await page.goto(`/project/${scenario.projectId}/health`)
    await page.getByRole('row', { name: /pricing-test/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Archive: pricing-test' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Archive: own-flag' }).waitFor()
    await page.goto(`/project/${scenario.projectId}/tags`)
    await page.getByRole('button', { name: 'Rename: mine' }).waitFor()
    await page.getByRole('row', { name: /web/ }).waitFor()
    expect(await page.getByRole('button', { name: 'Rename: web' }).count()).toBe(0)
    await expectSound(page)
    await page.keyboard.press('ControlOrMeta+k')
    const palette = page.getByRole('dialog')
    await palette.getByRole('option', { name: 'New flag' }).waitFor()
    expect(await palette.getByRole('option', { name: /Invite|Webhooks/ }).count()).toBe(0)
  })

  it('keeps the focus when the focused row is removed', async () => {
    const { scenario } = visit
    await scenario.post(`${scenario.project}/feature_flags/`, { key: 'short-lived' })
    const page = await visit.signedIn(flagsPath())
    const focused = () => page.evaluate<string>('document.activeElement.tagName')
    await page.getByRole('link', { name: 'short-lived' }).waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('short-lived')
    await page.keyboard.press('t')
    await page.getByRole('dialog', { name: 'Turn short-lived off?' }).waitFor()
    await expectFocus(page.getByRole('button', { name: 'Turn off' }))
    await page.keyboard.press('Enter')
    await page.getByText('short-lived turned off').waitFor()
    await page.keyboard.press('u')
    await page.getByText('short-lived turned on').waitFor()
    await page.keyboard.press('x')
    const remove = page.getByRole('button', { name: 'Delete', exact: true })
    await remove.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Delete' }).waitFor()
    // Escape closes the dialog alone: the selection and the focus stay.
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('region', { name: '1 selected' }).waitFor()
    await expectFocus(remove)
    await page.keyboard.press('Enter')
    await expectFocus(page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }))
    await page.keyboard.press('Enter')
    await page.getByText('1 flag deleted').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expect.poll(focused).not.toBe('BODY')
  })
})

describe('what is loaded', { timeout: 120_000 }, () => {
  it('is at most 550 KB of script and 250 KB of data for sign-in and one flag', async () => {
    const { id } = await flagNamed('pricing-test')
    const page = await visit.open()
    const loaded = countLoaded(page)
    await page.goto(`/login?next=/project/${visit.scenario.project.split('/').at(-1)}/flags/${id}`)
    await page.locator('input[type=email]').waitFor()
    const { email, password } = visit.scenario.owner
    await page.locator('input[type=email]').fill(email)
    await page.locator('input[type=password]').fill(password)
    await page.locator('button[type=submit]').click()
    await page.getByRole('heading', { name: 'pricing-test', level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'Impact' }).waitFor()
    expect(await loaded.bytes('script')).toBeLessThan(550_000)
    expect(await loaded.bytes('fetch')).toBeLessThan(250_000)
  })

  it('is each thing once for the list, and only the changed flag after a change', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'counted' })
    const page = await visit.signedIn('/account')
    const requested: string[] = []
    page.on('request', request => {
      const { pathname, search } = new URL(request.url())
      if (request.isNavigationRequest()) requested.length = 0
      if (pathname.startsWith('/api/')) requested.push(pathname + search)
    })
    const times = (path: string) => requested.filter(each => each.startsWith(path)).length
    await page.goto(`/project/${scenario.projectId}/flags`)
    await page.getByRole('link', { name: 'counted' }).waitFor()
    // What arrives with this change has passed everything that the stream sent before.
    await scenario.patch(`${scenario.project}/feature_flags/${flag.id}/`, { name: 'Changed after loading' })
    await page.getByText('Changed after loading').waitFor()
    for (const path of ['/api/users/@me/', '/api/projects/?', '/api/organizations/?']) expect(times(path)).toBe(1)
    expect(times(`${scenario.project}/feature_flags/summaries/`)).toBe(1)
    expect(times(`${scenario.project}/feature_flags/activity/`)).toBe(0)
    expect(requested.filter(path => /feature_flags\/\d+\//.test(path))).toEqual([
      `${scenario.project}/feature_flags/${flag.id}/`,
    ])
    expect(requested.length).toBeLessThanOrEqual(16)
  })
})

describe('with ten thousand flags', { timeout: 180_000 }, () => {
  it('renders only visible rows, searches all flags and fetches only changed ones', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Ten thousand' })
    const flags = `/api/projects/${project.id}/feature_flags`
    const { body: first } = await scenario.post(`${flags}/`, { key: 'flag-00000' })
    await multiply(first.id, flagsMany - 1)
    const page = await visit.signedIn('/account')
    const loaded = countLoaded(page)
    await page.goto(`/project/${project.id}/flags`)
    const count = flagsMany.toLocaleString('en-US')
    await page.getByText(`${count} flags`, { exact: true }).waitFor()
    await page.getByRole('link', { name: 'flag-09999' }).waitFor()
    expect((await loaded.bytes('fetch')) + (await loaded.bytes('script'))).toBeLessThan(500_000)
    const table = page.getByRole('table', { name: 'Flags' })
    expect(await table.getAttribute('aria-rowcount')).toBe(String(flagsMany + 1))
    expect(await page.getByRole('row').count()).toBeLessThan(60)
    const last = page.getByRole('row', { name: /flag-00000/ })
    const scrollToEnd = async () => {
      await page.locator('[role=rowgroup] [role=presentation]').evaluate(rows => {
        const scroller = (rows as unknown as { parentElement: { scrollTop: number; scrollHeight: number } })
          .parentElement
        scroller.scrollTop = scroller.scrollHeight
      })
      return last.count()
    }
    await expect.poll(scrollToEnd).toBe(1)
    expect(await last.getAttribute('aria-rowindex')).toBe(String(flagsMany + 1))
    await page.getByRole('button', { name: 'Flag', exact: true }).click()
    await page
      .getByRole('columnheader', { name: 'Flag', exact: true })
      .and(page.locator('[aria-sort=ascending]'))
      .waitFor()
    await expect.poll(() => last.getAttribute('aria-rowindex')).toBe('2')
    // The selection follows when all matches have been read.
    await page.getByRole('checkbox', { name: 'Select all listed flags' }).click()
    await page.getByRole('region', { name: `${count} selected` }).waitFor()
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await page.getByRole('textbox', { name: 'Search flags' }).fill('flag-09999')
    await page.getByText(`1 of ${count} flags`).waitFor()
    await page.getByRole('link', { name: 'flag-09999' }).waitFor()
    await expectSound(page)

    // The palette finds flags that the browser has not loaded, by keyboard alone.
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search' })
    await palette.getByRole('combobox').fill('05432')
    await palette.getByRole('option', { name: /flag-05432/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'flag-05432', level: 1 }).waitFor()
    await page.goBack()
    await page.getByText(`1 of ${count} flags`).waitFor()

    const requested: string[] = []
    page.on('request', request => requested.push(new URL(request.url()).pathname))
    const { body: changed } = await scenario.get(`${flags}/?search=flag-09999`)
    await scenario.patch(`${flags}/${changed.results[0].id}/`, { tags: ['seen'], name: 'Changed by another user' })
    await page.getByText('Changed by another user').waitFor()
    expect(requested).toContain(`${flags}/${changed.results[0].id}/`)
    expect(requested).not.toContain(`${flags}/`)

    // One flag is opened without the other 9,999.
    const finished: Request[] = []
    page.on('requestfinished', request => {
      if (new URL(request.url()).pathname.startsWith('/api/')) finished.push(request)
    })
    await page.goto(`/project/${project.id}/flags/${changed.results[0].id}`)
    await page.getByRole('heading', { name: 'flag-09999', level: 1 }).waitFor()
    await page.getByRole('heading', { name: 'Impact' }).waitFor()
    expect(requested).not.toContain(`${flags}/`)
    const sizes = await Promise.all(finished.map(request => request.sizes()))
    const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
    expect(bytes).toBeLessThan(250_000)
  })
})

const flagsMany = 10_000

/** Inserts many flags with one statement: through the API it would take minutes. */
async function multiply(flagId: number, copies: number): Promise<void> {
  await writeDirectly(visit.scenario.databaseUrl, async db => {
    const { rows } = await sql<{ name: string }>`select name from pragma_table_info('flags')`.execute(db)
    const columns = rows.map(({ name }) => name).filter(name => name !== 'id')
    const value = (name: string) => (name === 'key' ? "printf('flag-%05d', n)" : name)
    await sql
      .raw(`with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${copies})
      insert into flags (${columns.join()}) select ${columns.map(value).join()} from flags, numbers where id = ${flagId}`)
      .execute(db)
  })
}
