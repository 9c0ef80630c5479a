import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { de } from '../../packages/web/src/i18n/de.ts'
import { en } from '../../packages/web/src/i18n/en.ts'
import { expectSound, sendEventsOfAda, suiteVisit } from './browser.ts'
import { confirmations, dialogTitles, expectOpenedIn, patternOf, placeholder, textsOf } from './dialog-titles.ts'

const visit = suiteVisit()
let paths: Record<
  'project' | 'flag' | 'person' | 'cohort' | 'plugin' | 'sharedPlugin' | 'organization' | 'environments',
  string
>
let annEmail: string
let requests: { project: string; rejectable: string; own: string }

/** Fails with the response when something that a dialog needs could not be created. */
async function created(reply: Promise<{ status: number; text: string; body: { id: number } }>): Promise<number> {
  const { status, text, body } = await reply
  expect(status, text).toBeLessThan(300)
  return body.id
}

beforeAll(async () => {
  const { scenario } = visit
  const { project: api, organization } = scenario
  const flagId = await created(
    scenario.post(`${api}/feature_flags/`, {
      key: 'search-v2',
      tags: ['web'],
      filters: { groups: [{ properties: [], rollout_percentage: 25 }] },
    }),
  )
  await sendEventsOfAda(scenario)
  const cohortId = await created(scenario.post(`${api}/cohorts/`, { name: 'Beta', is_static: true }))
  const pluginId = await created(scenario.post(`${organization}/plugins/`, { name: 'Greeter' }))
  await scenario.patch(`${organization}/plugins/${pluginId}/update_source/`, {
    'plugin.json': JSON.stringify({ name: 'Greeter' }),
    'index.ts': 'export const processEvent = event => event\n',
    'words.ts': 'export const words = []\n',
  })
  const ann = await scenario.join('ann')
  annEmail = ann.email
  // A second sign-in of the owner.
  const { email, password } = scenario.owner
  await created(scenario.as(undefined).post('/api/login/', { email, password }))
  await created(scenario.post(`${organization}/invites/`, { target_email: 'eve@example.com' }))
  const roleId = await created(scenario.post(`${organization}/roles/`, { name: 'Release managers' }))
  await created(scenario.post(`${organization}/roles/${roleId}/role_memberships/`, { user_uuid: ann.uuid }))
  await created(scenario.post(`${api}/feature_flags/${flagId}/comments/`, { text: 'Remove after the sale.' }))
  await created(
    scenario.post(`${api}/scheduled_changes/`, {
      record_id: flagId,
      payload: { operation: 'update_status', value: false },
      scheduled_at: '2099-01-01T00:00:00Z',
    }),
  )
  await created(scenario.post(`${api}/secret_keys/`, { label: 'backend' }))
  await created(scenario.post(`${api}/webhooks/`, { name: 'Releases', url: 'https://hooks.example.com/x' }))
  const { body: environmentSet } = await scenario.post(`${organization}/environment_sets/`, { name: 'Shop' })
  // A promoted flag cannot be promoted a second time: one for each device.
  for (const key of ['for-desktop', 'for-phone']) {
    await created(scenario.post(`/api/projects/${environmentSet.environments[0].project}/feature_flags/`, { key }))
  }
  const sharedPlugin = await newReleaseOfSharedPlugin()
  const gated = (await scenario.post('/api/projects/', { name: 'Gated' })).body.id
  const gatedApi = `/api/projects/${gated}`
  const gatedFlag = await created(scenario.post(`${gatedApi}/feature_flags/`, { key: 'pay-later', active: false }))
  const me = (await scenario.get('/api/users/@me/')).body.id
  const approvers = { users: [me, ann.id], quorum: 1 }
  await created(scenario.post(`${gatedApi}/approval_policies/`, { action_key: '*', approver_config: approvers }))
  const propose = (by: typeof ann | typeof scenario) =>
    created(by.post(`${gatedApi}/change_requests/`, { flag_id: gatedFlag, patch: { active: true }, title: 'Launch' }))
  requests = {
    project: `/project/${gated}`,
    rejectable: `/project/${gated}/requests/${await propose(ann)}`,
    own: `/project/${gated}/requests/${await propose(scenario)}`,
  }
  await created(
    scenario.post(`${organization}/freezes/`, { project: gated, reason: 'Sale', ends_at: '2099-11-27T10:00:00Z' }),
  )
  const person = await vi.waitUntil(async () => (await scenario.get(`${api}/persons/`)).body.results[0], {
    timeout: 60_000,
  })
  const project = `/project/${scenario.projectId}`
  paths = {
    project,
    flag: `${project}/flags/${flagId}`,
    person: `${project}/persons/${person.uuid}`,
    cohort: `${project}/cohorts/${cohortId}`,
    plugin: `/organization/${organization.split('/').at(-1)}/plugins/${pluginId}`,
    sharedPlugin,
    organization: organization.replace('/api/organizations', '/organization'),
    environments: `/organization/${organization.split('/').at(-1)}/environments/${environmentSet.id}`,
  }
}, 120_000)

/** Shares a plugin with another organization, which has not accepted its last release. Returns its page there. */
async function newReleaseOfSharedPlugin(): Promise<string> {
  const { scenario } = visit
  const api = `${scenario.organization}/plugins`
  const id = await created(scenario.post(`${api}/`, { name: 'Tagger' }))
  const release = (code: string) =>
    scenario.patch(`${api}/${id}/update_source/`, {
      'plugin.json': JSON.stringify({ name: 'Tagger' }),
      'index.ts': `export const processEvent = ${code}\n`,
    })
  await release('event => event')
  await scenario.patch(`${api}/${id}/`, { is_global: true })
  const tenant = await scenario.stranger('tenant')
  await created(tenant.post(`${tenant.project}/plugin_configs/`, { plugin: id, enabled: true }))
  await release('() => null')
  return `${tenant.organization.replace('/api/organizations', '/organization')}/plugins/${id}`
}

interface Opened {
  /** The message that is the title of the dialog. */
  readonly title?: string
  readonly path: string
  readonly open: () => Promise<unknown>
}

const openedTitles = new Set<string>()

/** Dialogs that appear only in the middle of a longer journey, which checks them too. */
const openedElsewhere = {
  'cohorts.test.ts': ['cohorts.chooseColumn'],
  'change-control.test.ts': ['requests.claimQuestion', 'requests.conflictTitle'],
  'drafts.test.ts': ['signIn.againTitle'],
  'editor.test.ts': ['editor.conflictTitle', 'editor.leaveQuestion', 'editor.reviewTitle'],
  'flags.test.ts': ['bulk.copy', 'bulk.failed', 'bulk.restore', 'flags.turnOn', 'views.save'],
  'identity-pages.test.ts': [
    'singleSignOn.editTitle',
    'singleSignOn.removeDomainQuestion',
    'singleSignOn.removeQuestion',
    'trust.editTitle',
    'trust.removeQuestion',
  ],
  'pages.test.ts': [
    'archive.unarchiveTitle',
    'flags.restoreTitle',
    'project.revokePreviousQuestion',
    'schedule.cancelPairQuestion',
    'schedule.review',
    'tagsPage.renameTitle',
    'versions.reviewRestore',
  ],
  'provisioning.test.ts': ['provisioning.revokeQuestion'],
  'second-factor.test.ts': ['secondFactor.removeQuestion', 'secondFactor.renewQuestion', 'secondFactor.resetQuestion'],
}

/** Opens each after the page was loaded again, and checks it. */
async function checkOpened(page: Page, role: 'dialog' | 'menu', all: Record<string, Opened>): Promise<void> {
  for (const [name, { title, path, open }] of Object.entries(all)) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await open()
    await page.getByRole(role, title === undefined ? {} : { name: patternOf(title) }).waitFor()
    if (title !== undefined) openedTitles.add(title)
    await expectSound(page).catch(error => {
      throw new Error(`The ${role} "${name}" is not sound`, { cause: error })
    })
  }
}

describe.each([
  { device: 'a desktop in light mode', options: { width: 1280, height: 800 } },
  { device: 'a phone in dark mode', options: { width: 390, height: 740, dark: true } },
])('on $device', { timeout: 600_000 }, ({ options }) => {
  const isPhone = options.width < 768
  const opening = (page: Page) => {
    const button = (name: string | RegExp) => page.getByRole('button', { name }).first()
    const press = (name: string | RegExp) => button(name).click()
    const choose = (name: string) => page.getByRole('menuitem', { name, exact: true }).click()
    /** The project and the account are in the navigation, which is closed on a phone. */
    const inNavigation = async (name: RegExp) => {
      if (isPhone) await press(/menu$/)
      await press(name)
    }
    return { press, choose, inNavigation }
  }

  it('every menu is accessible', async () => {
    const page = await visit.signedIn('/', options)
    const { press, inNavigation } = opening(page)
    const flags = `${paths.project}/flags`
    await checkOpened(page, 'menu', {
      projects: { path: flags, open: () => inNavigation(/Switch project/) },
      account: { path: flags, open: () => inNavigation(/Account/) },
      // A phone shows flags as cards.
      ...(!isPhone && { columns: { path: flags, open: () => press('Columns') } }),
      'saved views': {
        path: flags,
        open: async () => {
          if (isPhone) await press('Filters')
          await press('Saved views')
        },
      },
      'actions of a flag': { path: paths.flag, open: () => press('More actions') },
      'kinds of filters': { path: `${flags}/new`, open: () => press('Add filter') },
      'actions of a file': { path: `${paths.plugin}?tab=source`, open: () => press('Actions for words.ts') },
    })
  })

  it('every dialog is accessible', async () => {
    const page = await visit.signedIn('/', options)
    const { press, choose, inNavigation } = opening(page)
    const { project, flag, person, cohort, plugin, organization, environments } = paths
    const flags = `${project}/flags`
    const select = () => page.getByRole('checkbox', { name: 'Select search-v2' }).check()
    const inMenuOf = async (name: string, item: string) => {
      await press(name)
      await choose(item)
    }
    const inNavigationMenu = async (name: RegExp, item: string) => {
      await inNavigation(name)
      await choose(item)
    }
    const ofRole = async (name: RegExp) => {
      await press(/^Release managers/)
      await press(name)
    }
    const ofWebhook = async (name: string) => {
      await press(/^Releases/)
      await press(name)
    }
    const promoted = isPhone ? 'for-phone' : 'for-desktop'
    const reviewPromotion = async () => {
      await page.getByRole('checkbox', { name: `Select ${promoted}` }).check()
      await press('Promote 1 flag')
      await page.getByRole('dialog').getByText('Will be created').waitFor()
    }
    await checkOpened(page, 'dialog', {
      'new project': {
        title: 'shell.newProject',
        path: flags,
        open: () => inNavigationMenu(/Switch project/, 'New project'),
      },
      'new organization': {
        title: 'shell.newOrganization',
        path: flags,
        open: () => inNavigationMenu(/Switch project/, 'New organization'),
      },
      'turn off a flag': {
        title: 'flags.turnOff',
        path: flags,
        open: () => page.getByRole('switch').first().press('Space'),
      },
      // First: it needs a sign-in whose user has just proved who they are.
      'add an authenticator app': {
        title: 'secondFactor.addApp',
        path: '/account',
        open: () => press('Add authenticator app'),
      },
      'prove who you are': {
        title: 'secondFactor.proofTitle',
        path: '/account',
        open: async () => {
          const tooOld = {
            type: 'authentication_error',
            code: 'proof_required',
            detail: 'Prove who you are.',
            attr: null,
          }
          await page.route(/second_factors\/code/, route => route.fulfill({ status: 403, json: tooOld }), {
            times: 1,
          })
          await press('Add authenticator app')
        },
      },
      'end a sign-in': { title: 'account.endSignInQuestion', path: '/account', open: () => press(/^Sign out ?: /) },
      'turn on many flags': {
        title: 'bulk.turnOn',
        path: `${requests.project}/flags`,
        open: () =>
          page
            .getByRole('checkbox', { name: 'Select pay-later' })
            .check()
            .then(() => press('Turn on')),
      },
      'add a tag to many flags': {
        title: 'flags.bulkTag',
        path: flags,
        open: () => select().then(() => press('Add tag')),
      },
      'turn off many flags': { title: 'bulk.turnOff', path: flags, open: () => select().then(() => press('Turn off')) },
      'remove a tag from many flags': {
        title: 'bulk.untag',
        path: flags,
        open: () => select().then(() => press('Remove tag')),
      },
      'delete many flags': { title: 'bulk.delete', path: flags, open: () => select().then(() => press('Delete')) },
      'delete a flag': { title: 'flags.deleteQuestion', path: flag, open: () => inMenuOf('More actions', 'Delete') },
      'archive a flag': { title: 'archive.title', path: flag, open: () => inMenuOf('More actions', 'Archive') },
      'rename a key': { title: 'editor.renameKeyQuestion', path: flag, open: () => press('Rename key') },
      'cancel a scheduled change': {
        title: 'schedule.cancelQuestion',
        path: `${flag}?tab=schedule`,
        open: () => press(/^Cancel change/),
      },
      'delete a comment': {
        title: 'flagDetails.deleteCommentQuestion',
        path: `${flag}?tab=details`,
        open: () => press(/^Delete comment|^Delete/),
      },
      'delete a person': { title: 'persons.removeQuestion', path: person, open: () => press('Delete person') },
      'delete a cohort': { title: 'cohorts.deleteQuestion', path: cohort, open: () => press('Delete') },
      'remove a tag': { title: 'tagsPage.removeQuestion', path: `${project}/tags`, open: () => press('Remove: web') },
      'revoke a secret key': {
        title: 'account.revokeQuestion',
        path: `${project}/settings/keys`,
        open: () => press(/^Revoke ?: backend/),
      },
      'rotate a token': {
        title: 'project.rotateTokenQuestion',
        path: `${project}/settings/keys`,
        open: () => press('Rotate'),
      },
      'delete a project': {
        title: 'project.removeQuestion',
        path: `${project}/settings`,
        open: () => press('Delete project'),
      },
      'add a policy': {
        title: 'policies.newTitle',
        path: `${project}/settings/policies`,
        open: () => press('Add policy'),
      },
      'rotate the secret of a webhook': {
        title: 'webhooks.rotateQuestion',
        path: `${project}/settings/webhooks`,
        open: () => ofWebhook('Rotate secret'),
      },
      'delete a webhook': {
        title: 'webhooks.removeQuestion',
        path: `${project}/settings/webhooks`,
        open: () => ofWebhook('Delete webhook'),
      },
      'reject a request': { title: 'requests.rejectQuestion', path: requests.rejectable, open: () => press('Reject') },
      'change the time of a request': {
        title: 'requests.rescheduleTitle',
        path: requests.own,
        open: () => press('Change time'),
      },
      'delete a policy': {
        title: 'policies.removeQuestion',
        path: `${requests.project}/settings/policies`,
        open: () => press(/^Delete/),
      },
      'cancel a request': { title: 'requests.cancelQuestion', path: requests.own, open: () => press('Cancel request') },
      'remove a member': {
        title: 'members.removeQuestion',
        path: `${organization}/settings/members`,
        open: () => press(/^Remove ?: ann/),
      },
      'revoke an invitation': {
        title: 'members.withdrawQuestion',
        path: `${organization}/settings/members`,
        open: () => press(/: eve@example.com/),
      },
      'remove a member from a role': {
        title: 'roles.removeMemberQuestion',
        path: `${organization}/settings/roles`,
        open: () => ofRole(/^Remove ?: ann/),
      },
      'delete a role': {
        title: 'roles.removeQuestion',
        path: `${organization}/settings/roles`,
        open: () => ofRole(/^Delete role/),
      },
      'end a freeze': { title: 'freezes.endQuestion', path: `${organization}/freezes`, open: () => press(/: Sale$/) },
      'edit environments': {
        title: 'environments.editTitle',
        path: `${organization}/environments`,
        open: () => press(/^Edit ?: Shop/),
      },
      'delete environments': {
        title: 'environments.removeQuestion',
        path: `${organization}/environments`,
        open: () => press(/^Delete ?: Shop/),
      },
      'review a promotion': { title: 'promotion.title', path: environments, open: () => reviewPromotion() },
      'result of a promotion': {
        title: 'promotion.title',
        path: environments,
        open: async () => {
          await reviewPromotion()
          await page.getByRole('dialog').getByRole('button', { name: 'Promote', exact: true }).click()
          await page.getByRole('link', { name: `Open ${promoted}` }).waitFor()
        },
      },
      'new plugin': { title: 'plugins.write', path: `${organization}/plugins`, open: () => press('New plugin') },
      'add a file': { title: 'plugins.addFile', path: `${plugin}?tab=source`, open: () => press('Add file') },
      'rename a file': {
        title: 'plugins.renameFile',
        path: `${plugin}?tab=source`,
        open: () => inMenuOf('Actions for words.ts', 'Rename'),
      },
      'delete a file': {
        title: 'plugins.removeFileQuestion',
        path: `${plugin}?tab=source`,
        open: () => inMenuOf('Actions for words.ts', 'Delete'),
      },
      'command palette': { title: 'palette.title', path: flags, open: () => page.keyboard.press('ControlOrMeta+k') },
      shortcuts: { title: 'shortcuts.title', path: flags, open: () => page.keyboard.press('?') },
      'help beside a field': {
        path: `${flags}/new`,
        open: async () => {
          await page.getByText('Advanced', { exact: true }).click()
          await press(/^Help/)
        },
      },
      'edit a policy': {
        title: 'policies.editTitle',
        path: `${requests.project}/settings/policies`,
        open: () => press(/^Edit/),
      },
      'new freeze': { title: 'freezes.createTitle', path: `${organization}/freezes`, open: () => press('New freeze') },
      'new environments': {
        title: 'environments.createTitle',
        path: `${organization}/environments`,
        open: () => press('New set'),
      },
      'add a provider': {
        title: 'singleSignOn.addProvider',
        path: `${organization}/settings/sign-in`,
        open: () => press('Add provider'),
      },
      'new service key': {
        title: 'serviceKeys.newTitle',
        path: `${organization}/settings/service-keys`,
        open: () => press('Create key'),
      },
      'new trust relationship': {
        title: 'trust.newTitle',
        path: `${organization}/settings/trust-relationships`,
        open: () => press('New trust relationship'),
      },
      'uninstall a plugin': {
        title: 'plugins.uninstallQuestion',
        path: `${plugin}?tab=about`,
        open: () => press('Uninstall'),
      },
      'revoke a key': { title: 'account.revokeQuestion', path: '/account', open: () => press(/^Revoke ?: First key/) },
      // Last: its unsaved edit would ask before any other page is opened.
      'sign out with an unsaved edit': {
        title: 'editor.signOutQuestion',
        path: flag,
        open: async () => {
          await page.getByRole('textbox', { name: 'Description' }).fill('not saved')
          await page.getByText('Unsaved changes', { exact: true }).waitFor()
          await page.reload()
          await inNavigationMenu(/Account/, 'Sign out')
        },
      },
    })
  })

  it('the dialog that discards an unsaved file of a plugin is accessible', async () => {
    const page = await visit.signedIn('/', options)
    const { press } = opening(page)
    const path = `${paths.plugin}?tab=source`
    const open = async () => {
      await press('Add file')
      await page.getByRole('dialog').getByRole('textbox').fill('more.ts')
      await press('Apply')
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      await page.getByRole('tab', { name: 'Jobs' }).click()
    }
    await checkOpened(page, 'dialog', { 'discard an unsaved file': { title: 'plugins.leaveQuestion', path, open } })
  })

  it('the dialog that leaves an organization is accessible', async () => {
    const page = await visit.open(options)
    const { press } = opening(page)
    const path = `${paths.organization}/settings/members`
    await visit.signIn(page, path, { email: annEmail, password: 'correct horse battery' })
    await checkOpened(page, 'dialog', { leave: { title: 'members.leaveQuestion', path, open: () => press(/^Leave/) } })
  })

  it('the dialog that accepts a release of a shared plugin is accessible', async () => {
    const page = await visit.open(options)
    const { press } = opening(page)
    const path = paths.sharedPlugin
    await visit.signIn(page, path, { email: 'tenant@elsewhere.example', password: 'correct horse battery' })
    await checkOpened(page, 'dialog', {
      'accept a release': { title: 'plugins.releaseTitle', path, open: () => press('Review and accept') },
    })
  })
})

it('every dialog of the sources was opened', () => {
  for (const [file, titles] of Object.entries(openedElsewhere)) {
    for (const title of titles) expectOpenedIn(file, title)
  }
  const known = new Set([...openedTitles, ...Object.values(openedElsewhere).flat()])
  expect(dialogTitles().filter(title => !known.has(title))).toEqual([])
  expect(dialogTitles().length).toBeGreaterThan(70)
})

it('every confirmation is titled with a question that names its subject', () => {
  const isQuestion = (key: string) => [en, de].every(all => textsOf(key, all).every(text => text.endsWith('?')))
  expect(confirmations().filter(key => !isQuestion(key))).toEqual([])
  const isAboutOne = (key: string) => [en, de].every(all => textsOf(key, all)[0]!.includes(placeholder))
  expect(confirmations().filter(key => !isAboutOne(key))).toEqual([
    'editor.leaveQuestion',
    'editor.signOutQuestion',
    'plugins.leaveQuestion',
    'project.revokePreviousQuestion',
    'secondFactor.renewQuestion',
  ])
  expect(confirmations().length).toBeGreaterThan(30)
  expect(dialogTitles().filter(key => !textsOf(key, en)[0]!.includes(' '))).toEqual(['palette.title'])
})
