import type { Request } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { expectFocus, expectSound, suiteVisit } from './browser.ts'
import { smallTargets } from './touch-targets.ts'

const visit = suiteVisit()

describe('sign-in', { timeout: 120_000 }, () => {
  it('signs in and out, rejects a wrong password and returns to the requested page', async () => {
    const page = await visit.open()
    const { email, password } = visit.scenario.owner
    await page.goto(`/project/${visit.scenario.projectId}/flags?q=abc`)
    await page.waitForURL(url => url.pathname === '/login')
    await expectSound(page)
    await page.getByLabel('Email').fill(email)
    await page.locator('input[type=password]').fill('not the password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').getByText('Wrong email or password').waitFor()
    await page.locator('input[type=password]').fill(password)
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname.endsWith('/flags') && url.search.includes('abc'))

    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL(url => url.pathname === '/login')
    await page.goto('/')
    await page.waitForURL(url => url.pathname === '/login')
  })

  it('explains an expired session', async () => {
    const page = await visit.signedIn(`/project/${visit.scenario.projectId}/flags`)
    await page.getByRole('heading', { level: 1, name: 'Flags' }).waitFor()
    const key = await page.evaluate<string>("JSON.parse(sessionStorage.getItem('halyard.session')).key")
    await visit.scenario.as(key).post('/api/logout/')
    await page.reload()
    await page.getByText('Session expired').waitFor()
    await expectSound(page)
  })

  it('accepts an invitation', async () => {
    const invite = await visit.scenario.post(`${visit.scenario.organization}/invites/`, {
      target_email: 'grace@example.com',
    })
    const page = await visit.open({ width: 360, height: 740 })
    await page.goto(invite.body.signup_path)
    await page.getByRole('heading', { name: 'Join My organization' }).waitFor()
    await expectSound(page)
    await page.getByLabel('Name').fill('Grace')
    await page.locator('input[type=password]').pressSequentially('short')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('alert').getByText('Enter at least 8 characters').waitFor()
    await expectFocus(page.locator('input[type=password]'))
    await expectSound(page)
    await page.locator('input[type=password]').fill('a long enough password')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await page.goto(invite.body.signup_path)
    await page.getByText('This invitation doesn’t exist or has expired').waitFor()
  })
})

describe('a browser that stays signed in', { timeout: 120_000 }, () => {
  it('signs in again without a password until it is signed out from another browser', async () => {
    const { email } = await visit.scenario.join('hopper')
    const signIn = async (isStaying: boolean) => {
      const page = await visit.open()
      await page.goto('/login?next=/account')
      await page.getByLabel('Email').fill(email)
      await page.locator('input[type=password]').fill('correct horse battery')
      const stay = page.getByRole('checkbox', { name: 'Stay signed in for 30 days' })
      if (isStaying) await stay.check()
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
      return page
    }
    const staying = await signIn(true)
    const context = staying.context()
    // Without a tab, nothing but the cookie is left.
    await staying.close()
    const reopened = await context.newPage()
    await reopened.goto('/account')
    await reopened.getByRole('heading', { name: 'Account', level: 1 }).waitFor()
    expect(await reopened.evaluate('document.cookie')).toBe('')
    await reopened.close()

    const other = await signIn(false)
    const signIns = other.getByRole('table', { name: 'Active sign-ins' })
    await signIns.getByText('This browser').waitFor()
    await expectSound(other)
    await signIns.getByRole('button', { name: /^Sign out ?: Chrome/ }).click()
    await other.getByRole('dialog').getByRole('button', { name: 'Sign out', exact: true }).click()
    await other.getByText('Browser signed out').waitFor()
    await signIns.getByRole('button', { name: /^Sign out ?: Chrome/ }).waitFor({ state: 'detached' })
    const revoked = await context.newPage()
    await revoked.goto('/account')
    await revoked.getByLabel('Email').waitFor()
  })
})

describe('live updates', { timeout: 120_000 }, () => {
  it('reach every tab, and a new tab is signed in', async () => {
    const { scenario } = visit
    const flags = `${scenario.project}/feature_flags`
    const { body: flag } = await scenario.post(`${flags}/`, { key: 'seen-everywhere' })
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags`)
    await page.getByRole('link', { name: 'seen-everywhere' }).waitFor()
    const tabs = [page]
    // One more than the browser's connection limit, if each tab had a stream of its own.
    while (tabs.length < 7) {
      const tab = await page.context().newPage()
      await tab.goto(`/project/${scenario.projectId}/flags`)
      await tab.getByRole('link', { name: 'seen-everywhere' }).waitFor()
      tabs.push(tab)
    }
    await scenario.patch(`${flags}/${flag.id}/`, { name: 'Seen in every tab' })
    for (const tab of tabs) await tab.getByText('Seen in every tab').waitFor()

    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    for (const tab of tabs) await tab.waitForURL(url => url.pathname === '/login')
  })

  it('send no requests while nothing changes', async () => {
    const { scenario } = visit
    const page = await visit.open()
    const requested: string[] = []
    page.on('request', request => requested.push(new URL(request.url()).pathname))
    await page.clock.install()
    await visit.signIn(page, `/project/${scenario.projectId}/flags`)
    await page.getByRole('heading', { level: 1, name: 'Flags' }).waitFor()
    for (let second = 0; second < 10; second++) await page.clock.runFor(1000)
    await scenario.post(`${scenario.project}/feature_flags/`, { key: 'after-silence' })
    await expect
      .poll(async () => {
        await page.clock.runFor(100)
        return page.getByRole('link', { name: 'after-silence' }).count()
      })
      .toBe(1)
    // Once on load, and again if the stream opened after that.
    for (const list of ['/api/projects/', '/api/organizations/', `${scenario.project}/scheduled_changes/`]) {
      expect(requested.filter(path => path === list).length, list).toBeLessThan(4)
    }
  })
})

describe('the shell', { timeout: 120_000 }, () => {
  it('switches and creates projects, and changes language and theme', async () => {
    const page = await visit.signedIn('/')
    await page.getByRole('button', { name: /Switch project/ }).click()
    await page.getByRole('menuitem', { name: 'New project' }).click()
    await page.getByLabel('Project name').fill('Mobile app')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: /Switch project: ?Mobile app/ }).waitFor()
    await page.getByText('No flags yet').waitFor()
    await expectSound(page)
    const { results } = (await visit.scenario.get('/api/projects/')).body
    const made = results.find(({ name }: { name: string }) => name === 'Mobile app')
    await visit.scenario.patch(`/api/projects/${made.id}/`, { name: 'Renamed by another user' })
    await page.getByRole('button', { name: /Switch project: ?Renamed by another user/ }).waitFor()

    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Dark' }).click()
    await page.getByRole('button', { name: /Account/ }).click()
    await page.getByRole('menuitem', { name: 'Deutsch' }).click()
    await page.getByText('Noch keine Flags').waitFor()
    await page.locator('html[lang=de][data-mantine-color-scheme=dark]').waitFor()
    await expectSound(page)
  })

  it('opens a flag from the command palette by keyboard', async () => {
    const { scenario } = visit
    await scenario.post(`${scenario.project}/feature_flags/`, { key: 'palette-target' })
    const page = await visit.signedIn(`/project/${scenario.projectId}/settings`)
    await page.getByRole('heading', { name: 'General', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search', exact: true })
    await field.fill('palette-t')
    await page.getByRole('option', { name: /palette-target/, selected: true }).waitFor()
    await expectSound(page)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'palette-target', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Search…' }).click()
    await field.fill('no such thing')
    await page.getByText('No results').waitFor()
    await expect.poll(() => page.getByRole('option').count()).toBe(0)
    await field.fill('user-17')
    await page.getByRole('option', { name: /Evaluate flags for user-17/ }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await expectSound(page)
    await page.getByRole('button', { name: 'Search…' }).click()
    await field.fill('activ')
    await page.getByRole('option', { name: /Activity/ }).click()
    await page.getByText('palette-target').waitFor()
  })

  it('finds everything in the command palette and acts, by keyboard alone', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Searched' })
    const { body: staging } = await scenario.post('/api/projects/', { name: 'Searched, staging' })
    const api = `/api/projects/${project.id}`
    for (const id of [project.id, staging.id])
      await scenario.post(`/api/projects/${id}/feature_flags/`, { key: 'checkout-v2' })
    await scenario.post(`${scenario.organization}/environment_sets/`, {
      name: 'Searched',
      environments: [
        { name: 'staging', is_production: false, project: staging.id },
        { name: 'production', is_production: true, project: project.id },
      ],
    })
    await scenario.post(`${api}/cohorts/`, { name: 'Paying teams', is_static: true })
    await scenario.post(`${scenario.organization}/plugins/`, { name: 'Zebra counter' })
    await scenario.join('wanda')
    const person = { event: '$identify', distinct_id: 'ken', properties: { $set: { email: 'ken.ito@example.com' } } }
    await scenario.post('/batch/', { api_key: project.api_token, batch: [person] })
    const people = async () => (await scenario.get(`${api}/persons/`)).body.count
    await expect.poll(people, { timeout: 60_000 }).toBe(1)

    const page = await visit.signedIn(`/project/${project.id}/settings`)
    const field = page.getByRole('combobox', { name: 'Search', exact: true })
    const search = async (text: string) => {
      await page.keyboard.press('Control+k')
      await expectFocus(field)
      await page.keyboard.type(text)
    }
    const expected: Record<string, RegExp> = {
      payte: /^Paying teams ?Cohort$/,
      'ken.ito': /^ken.ito@example.com ?Person$/,
      zebra: /^Zebra counter ?Plugin$/,
      wanda: /^wanda .*Member$/,
      webho: /^Webhooks ?Page$/,
      freez: /^Freezes ?Page$/,
      'backup exp': /^Backup, export and migration ?Documentation$/,
      'dark theme': /^Theme: Dark ?Action$/,
    }
    for (const [text, name] of Object.entries(expected)) {
      await search(text)
      await page.getByRole('option', { name }).first().waitFor()
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'hidden' })
    }

    await search('ckv2')
    await page.getByRole('option', { name: /checkout-v2/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'checkout-v2', level: 1 }).waitFor()
    await page.getByRole('region', { name: 'Environments of this flag' }).getByText('Same').waitFor()
    await search('copy key')
    await page.getByRole('option', { name: /^Copy key: checkout-v2/ }).waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('turn checkout')
    await page.getByRole('option', { name: /^Turn off checkout-v2/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    // An action that changes a flag is reviewed.
    await page.getByRole('dialog', { name: 'Turn checkout-v2 off?' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await search('in staging')
    await page.getByRole('option', { name: /^Open checkout-v2 in staging/, selected: true }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(url => url.pathname.startsWith(`/project/${staging.id}/`))
    await page.getByRole('heading', { name: 'checkout-v2', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    await page
      .getByRole('option', { name: /^checkout-v2 ?Recent · Flag/ })
      .first()
      .waitFor()
    await expectSound(page)
  })

  it('turns a flag off from any page with two keys after its name', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Incident' })
    const api = `/api/projects/${project.id}/feature_flags`
    const { body: flag } = await scenario.post(`${api}/`, { key: 'express-delivery', active: true })
    await scenario.post(`${api}/`, { key: 'express-old', active: false })
    const page = await visit.signedIn(`/project/${project.id}/settings`)
    const field = page.getByRole('combobox', { name: 'Search', exact: true })
    const command = async (text: string) => {
      await page.keyboard.press('Control+k')
      await expectFocus(field)
      await page.keyboard.type(text)
    }
    await command('express')
    await page.getByRole('option', { name: /^express-delivery ?Flag · On/ }).waitFor()
    await page.getByRole('option', { name: /^express-old ?Flag · Off/ }).waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('turn off')
    await page.getByRole('option', { name: /^Turn off express-delivery/, selected: true }).waitFor()
    await page.keyboard.type(' expr')
    await page.getByRole('option', { name: /^Turn off express-delivery/, selected: true }).waitFor()
    // What is off already cannot be turned off.
    await expect.poll(() => page.getByRole('option', { name: /^Turn off/ }).count()).toBe(1)
    await expectSound(page)
    await page.keyboard.press('Enter')
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Turn off', exact: true })
    await expectFocus(confirm)
    await page.keyboard.press('Enter')
    await page.getByText('express-delivery turned off').waitFor()
    const isActive = async () => (await scenario.get(`${api}/${flag.id}/`)).body.active
    await expect.poll(isActive).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(isActive).toBe(true)

    const german = await visit.signedIn(`/project/${project.id}/settings`, { locale: 'de-DE', width: 390 })
    await german.keyboard.press('Control+k')
    await expectFocus(german.getByRole('combobox', { name: 'Suchen', exact: true }))
    await german.keyboard.type('express aus')
    await german.getByRole('option', { name: /^express-delivery ausschalten/, selected: true }).waitFor()
    await expectSound(german)
  })

  it('shows what changed around a time beside events, and what changed lately beside "turn off"', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Outage' })
    const api = `/api/projects/${project.id}/feature_flags`
    const { body: flag } = await scenario.post(`${api}/`, { key: 'slow-search', active: true })
    await scenario.patch(`${api}/${flag.id}/`, { name: 'Index of the new search' })
    const events = ['checkout', 'checkout', '$feature_flag_called'].map(event => ({ event, distinct_id: 'ada' }))
    await scenario.post('/batch/', { api_key: project.api_token, batch: events })
    const page = await visit.signedIn(`/project/${project.id}/activity`)
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.getByRole('heading', { name: 'Changes around this time', level: 1 }).waitFor()
    const counted = async () => {
      const at = Date.now()
      const minutes = (count: number) => new Date(at + count * 60_000).toISOString()
      const query = `date_from=${minutes(-30)}&date_to=${minutes(30)}`
      return (await scenario.get(`/api/projects/${project.id}/event_counts/?${query}`)).body.events.length
    }
    await expect.poll(counted).toBe(2)
    await page.reload()
    await page.getByRole('img', { name: /^checkout: 2/ }).waitFor()
    await page.getByRole('img', { name: /^Evaluations: 1/ }).waitFor()
    await page.getByRole('heading', { name: '2 changes' }).waitFor()
    await expectSound(page)
    await page.getByRole('button', { name: 'Hour earlier' }).click()
    await page.waitForURL(url => url.searchParams.has('at'))
    await page.goBack()
    await page.getByRole('link', { name: 'Around this time' }).first().click()
    await page.waitForURL(url => url.searchParams.has('at'))
    await page.getByRole('heading', { name: '2 changes' }).waitFor()

    await page.keyboard.press('Control+k')
    await expectFocus(page.getByRole('combobox', { name: 'Search', exact: true }))
    await page.keyboard.type('turn off')
    await page.getByRole('option', { name: /^Turn off slow-search/, selected: true }).waitFor()
    await page.getByRole('option', { name: /updated slow-search/ }).waitFor()
    await expectSound(page)
    const phone = await visit.signedIn(`/project/${project.id}/changes`, { width: 390, dark: true, locale: 'de-DE' })
    await phone.getByRole('heading', { name: '2 Änderungen' }).waitFor()
    await expectSound(phone)
  })

  it('keeps addresses from before settings had tabs', async () => {
    const { scenario } = visit
    const organization = scenario.organization.replace('/api/organizations', '/organization')
    const moved: Record<string, { to: string; heading: string }> = {
      [`/project/${scenario.projectId}/import`]: { to: '/settings/import', heading: 'Import flags' },
      [`/project/${scenario.projectId}/settings/webhooks`]: { to: '/settings/webhooks', heading: 'Webhooks' },
      [`${organization}/members`]: { to: '/settings/members', heading: 'Members' },
      [`${organization}/roles`]: { to: '/settings/roles', heading: 'Roles' },
      [`${organization}/audit`]: { to: '/settings/audit', heading: 'Audit log' },
      [`${organization}/settings`]: { to: '/settings/members', heading: 'Members' },
    }
    const page = await visit.signedIn('/')
    for (const [path, { to, heading }] of Object.entries(moved)) {
      await page.goto(path)
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
      expect(new URL(page.url()).pathname.endsWith(to), path).toBe(true)
    }
  })

  it('groups the pages and has a tab with an address for each page of the settings', async () => {
    const { scenario } = visit
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags`)
    const navigation = page.getByRole('navigation', { name: 'Main' })
    for (const [group, entries] of Object.entries({
      Release: ['Flags', 'Environments', 'Freezes'],
      Audience: ['Cohorts', 'People', 'Groups'],
      Insight: ['Activity', 'Flag health'],
      Admin: ['SDK setup', 'Project settings', 'Organization settings'],
    })) {
      const list = navigation.getByRole('list', { name: group })
      for (const name of entries) await list.getByRole('link', { name }).waitFor()
    }
    await navigation.getByRole('link', { name: 'Project settings' }).click()
    const tabs = page.getByRole('navigation', { name: 'Project settings' })
    for (const name of ['Keys', 'Approval policies', 'Webhooks', 'Import', 'General']) {
      await tabs.getByRole('link', { name }).click()
      const current = page.getByRole('link', { name, exact: true })
      await expect.poll(() => current.getAttribute('aria-current')).toBe('page')
    }
    await page.goBack()
    await page.getByRole('heading', { name: 'Import flags', level: 1 }).waitFor()
    await expectSound(page)
    await navigation.getByRole('link', { name: 'Organization settings' }).click()
    await page.getByRole('navigation', { name: 'Organization settings' }).getByRole('link', { name: 'Roles' }).click()
    const heading = page.getByRole('heading', { name: 'Roles', level: 1 })
    await heading.waitFor()
    await expectFocus(heading)
  })

  it('shows every entry of the navigation on a laptop without scrolling, in German too', async () => {
    for (const locale of ['en-US', 'de-DE']) {
      const page = await visit.signedIn(`/project/${visit.scenario.projectId}/flags`, { locale })
      await page.locator('[aria-current=page]').first().waitFor()
      const heights = await page.evaluate<number[]>(
        `[...document.querySelectorAll('nav li > a')].map(each => each.getBoundingClientRect().height)`,
      )
      expect(new Set(heights).size, 'an entry of two lines').toBe(1)
      const hidden = `(list => list.scrollHeight - list.clientHeight)(document.querySelector('nav li').closest('nav > div'))`
      expect(await page.evaluate(hidden)).toBe(0)
    }
  })

  it('switches the environment and stays on the page, or on the flag with the same key', async () => {
    const { scenario } = visit
    const [staging, production] = await Promise.all(
      ['Staging', 'Production'].map(async name => (await scenario.post('/api/projects/', { name })).body),
    )
    const create = async ({ id }: { id: number }) =>
      (await scenario.post(`/api/projects/${id}/feature_flags/`, { key: 'express' })).body
    const there = await create(production)
    const flag = await create(staging)
    await scenario.post(`${scenario.organization}/environment_sets/`, {
      name: 'Shop',
      environments: [
        { name: 'staging', is_production: false, project: staging.id },
        { name: 'production', is_production: true, project: production.id },
      ],
    })
    const page = await visit.signedIn(`/project/${staging.id}/settings/keys`)
    const switchTo = async (name: string) => {
      await page.getByRole('button', { name: /^Switch environment/ }).click()
      await page.getByRole('menuitem', { name, exact: true }).click()
    }
    await switchTo('production')
    await page.waitForURL(url => url.pathname === `/project/${production.id}/settings/keys`)
    await page.goto(`/project/${staging.id}/flags/${flag.id}`)
    await switchTo('production')
    await page.waitForURL(url => url.pathname === `/project/${production.id}/flags/${there.id}`)
    await page.getByRole('button', { name: 'Switch environment: production' }).waitFor()
    await expectSound(page)
    await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link', { name: 'Flags' }).click()
    await page.waitForURL(url => url.pathname === `/project/${production.id}/flags`)
    const fresh = await visit.signedIn(`/project/${scenario.projectId}/flags`, { locale: 'de-DE', width: 390 })
    await fresh.getByRole('button', { name: 'Menü öffnen' }).click()
    await fresh.getByRole('button', { name: 'Umgebung wechseln: Keine Umgebungen' }).click()
    await fresh.getByRole('menuitem', { name: 'Umgebungen einrichten' }).waitFor()
    await expectSound(fresh)
  })

  it('shows the project used last where the address names none', async () => {
    const { body: project } = await visit.scenario.post('/api/projects/', { name: 'Used last' })
    const page = await visit.signedIn(`/project/${project.id}/flags`)
    for (const path of ['/account', `/project/${project.id}/no-such-page`]) {
      await page.goto(path)
      await page.getByRole('button', { name: /^Switch project: Used last/ }).waitFor()
    }
  })

  it('has touch targets of at least 24 pixels on a phone', async () => {
    const { scenario } = visit
    const { body: flag } = await scenario.post(`${scenario.project}/feature_flags/`, { key: 'touched' })
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags`, { width: 390, height: 800 })
    await page.getByRole('checkbox', { name: 'Select touched' }).waitFor()
    expect(await smallTargets(page)).toEqual([])
    await expectSound(page)
    await page.goto(`/project/${scenario.projectId}/flags/${flag.id}`)
    await page.getByRole('heading', { name: 'touched', level: 1 }).waitFor()
    expect(await smallTargets(page)).toEqual([])
    await expectSound(page)
  })

  it('closes only the palette with Escape when it covers a dialog', async () => {
    const { scenario } = visit
    await scenario.post(`${scenario.project}/feature_flags/`, { key: 'covered-dialog', active: true })
    const page = await visit.signedIn(`/project/${scenario.projectId}/flags?q=covered-dialog`)
    await page.getByRole('switch', { name: 'covered-dialog is on' }).press('Space')
    const dialog = page.getByRole('dialog', { name: 'Turn covered-dialog off?' })
    await dialog.waitFor()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('combobox', { name: 'Search', exact: true })
    await expectFocus(field)
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'hidden' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  })

  it('says on the setup page that flags are evaluated when only events report it', async () => {
    const { scenario } = visit
    const { body: project } = await scenario.post('/api/projects/', { name: 'Evaluated locally' })
    await scenario.post(`/api/projects/${project.id}/feature_flags/`, { key: 'evaluated', active: true })
    const page = await visit.signedIn(`/project/${project.id}/setup`)
    await page.getByText('Waiting for the first call').waitFor()
    const properties = { $feature_flag: 'evaluated', $feature_flag_response: true }
    const event = { event: '$feature_flag_called', distinct_id: 'ada', properties }
    await scenario.post('/batch/', { api_key: project.api_token, batch: [event] })
    const evaluated = page.getByText('Your app evaluates flags')
    const isShown = async () => {
      await page.reload()
      await page.getByRole('heading', { name: 'Connect' }).first().waitFor()
      return evaluated.isVisible()
    }
    await expect.poll(isShown, { timeout: 60_000, interval: 500 }).toBe(true)
    await expectSound(page)
  })

  it('has no motion for those who prefer none', async () => {
    const page = await visit.signedIn(`/project/${visit.scenario.projectId}/setup`)
    await page.getByText('Waiting for the first call').waitFor()
    // As text: it runs in the browser.
    const motions = () =>
      page.evaluate<string[]>(`[...document.querySelectorAll('*')].flatMap(element =>
        [undefined, '::before', '::after'].flatMap(part => {
          const { transitionDuration, animationName } = getComputedStyle(element, part)
          return [transitionDuration, animationName].join().split(/, */).filter(each => !/^(none|0s)$/.test(each))
        }))`)
    expect(await motions()).toEqual([])
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await expect.poll(async () => (await motions()).length).toBeGreaterThan(0)
  })

  it('works on a narrow phone in dark mode', async () => {
    const page = await visit.signedIn('/', { width: 360, height: 740, dark: true })
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
    await expectSound(page)
    // The off-screen navigation is not focusable.
    await expect.poll(() => page.getByRole('navigation').count()).toBe(0)
    const menu = page.getByRole('button', { name: /menu$/ })
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Flags' }).waitFor()
    await expectSound(page)
    await page.keyboard.press('Escape')
    await page.getByRole('navigation').waitFor({ state: 'hidden' })
    await expectFocus(menu)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Cohorts' }).focus()
    await page.keyboard.press('Enter')
    const heading = page.getByRole('heading', { name: 'Cohorts', level: 1 })
    await heading.waitFor()
    await expectFocus(heading)
  })

  it('scrolls to the current entry when the navigation is opened on a phone', async () => {
    const page = await visit.signedIn(
      `${visit.scenario.organization.replace('/api/organizations', '/organization')}/roles`,
      {
        width: 390,
        height: 500,
      },
    )
    await page.getByRole('heading', { name: 'Roles', level: 1 }).waitFor()
    await page.getByRole('button', { name: /menu$/ }).click()
    const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page]')
    await current.waitFor()
    expect(await current.textContent()).toContain('Organization settings')
    const isInView = () =>
      current.evaluate(entry => {
        const list = entry.closest('nav > div')!.getBoundingClientRect()
        const { top, bottom } = entry.getBoundingClientRect()
        return top > list.top - 1 && bottom < list.bottom + 1
      })
    await expect.poll(isInView).toBe(true)
    // It was out of view at first: the list is longer than the window.
    const [content, visible] = await current.evaluate(entry => {
      const list = entry.closest('nav > div')!
      return [list.scrollHeight, list.clientHeight]
    })
    expect(content).toBeGreaterThan(visible as number)
  })

  it('shows a page for unknown URLs, and JSON for unknown API paths', async () => {
    const page = await visit.signedIn('/project/1/nowhere')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    const reply = await visit.scenario.get('/api/nowhere/')
    expect(reply.status).toBe(404)
    expect(reply.body.code).toBe('not_found')
  })

  it('serves scripts from its own files only, hashed and cached for a year', async () => {
    const index = await fetch(visit.scenario.url)
    const policy = index.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(index.headers.get('cache-control')).toBe('no-cache')
    const html = await index.text()
    const scripts = [...html.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path]) => path)
    expect(scripts.length).toBeGreaterThan(1)
    for (const path of scripts) {
      const file = await fetch(visit.scenario.url + path, { headers: { 'accept-encoding': 'gzip' } })
      expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      // Compression makes a file of a few bytes longer.
      if ((await file.text()).length > 1000) expect(file.headers.get('content-encoding'), path).toBe('gzip')
    }
  })

  it('needs at most 300 KB of compressed script to sign in and see the first list', async () => {
    const page = await visit.open()
    const scripts: Request[] = []
    // Loaded once the page is idle: the dialog behind a switch.
    const isLater = (path: string) => /\/(?:review|toggle-dialog)-/.test(path)
    page.on('response', response => {
      const { pathname } = new URL(response.url())
      if (pathname.endsWith('.js') && !isLater(pathname)) scripts.push(response.request())
    })
    const { email, password } = visit.scenario.owner
    const bytes = async () => {
      const sizes = await Promise.all(scripts.map(request => request.sizes()))
      return sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0)
    }
    await page.goto(`/login?next=/project/${visit.scenario.projectId}/flags`)
    await page.getByLabel('Email').fill(email)
    expect(await bytes()).toBeGreaterThan(50_000)
    await page.locator('input[type=password]').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Flags' }).waitFor()
    expect(await bytes()).toBeLessThan(300_000)
  })
})
