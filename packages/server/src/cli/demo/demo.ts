import { randomBytes } from 'node:crypto'
import {
  demoCohort,
  demoOrganizationName,
  demoPluginName,
  demoPluginSource,
  demoProjectName,
  demoStagingName,
  demoTeam,
} from '../../features/demo/demo-content.ts'
import { profileBatches, usageBatches } from '../../features/demo/demo-events.ts'
import { demoStory, slowAnswersMetric } from '../../features/demo/demo-story.ts'
import { printJson, progress } from '../output.ts'
import { type Api, connect, type RemoteOptions, withApi } from '../remote/api.ts'
import { dateHistory, holdsProject, removeAccounts } from './demo-database.sql.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000

/** `halyard demo [--remove]`: creates an organization with examples through the public API, or removes it again. */
export const demo = (options: RemoteOptions & { readonly remove?: boolean; readonly json?: boolean }): Promise<void> =>
  withApi(options, async (api, url) => {
    const remaining = await remove(api)
    if (options.remove) {
      for (const sentence of remaining) progress(sentence)
      return options.json ? printJson({ removed: true }) : console.log('The demo is removed.')
    }
    const project = await fill(api, key => connect(url, key), new Date())
    const address = `${url}/project/${project.id}/flags`
    if (options.json) return printJson({ url: address, project_id: project.id })
    console.log(`The demo is at ${address}\nRemove it with: halyard demo --remove`)
  })

/** Removes only what the demo created: an organization of that name with the demo's project. Returns sentences about what remains. */
async function remove(api: Api): Promise<string[]> {
  const organizations = await api('GET', '/api/organizations/?limit=1000')
  const projects = await api('GET', '/api/projects/?limit=1000')
  const remaining: string[] = []
  for (const { id, name } of organizations.results) {
    const holdsDemo = projects.results.some(
      (project: { organization: string; name: string }) =>
        project.organization === id && project.name === demoProjectName,
    )
    if (name !== demoOrganizationName || !holdsDemo) continue
    const { results } = await api('GET', `/api/organizations/${id}/members/?limit=1000`)
    const invented = results.map(({ user }: { user: Invented }) => user).filter(isInvented)
    await api('DELETE', `/api/organizations/${id}/`)
    remaining.push(...(await removeTeam(invented)))
  }
  return remaining
}

interface Invented {
  readonly uuid: string
  readonly first_name: string
  readonly email: string
}

const inventedEmail = /@shop-[0-9a-f]{6}\.example$/
const isInvented = ({ first_name, email }: Invented): boolean =>
  demoTeam.some(({ name }) => name === first_name) && inventedEmail.test(email)

/** Accounts outlive organizations, and no API removes them: the demo creates some only beside the database. */
async function removeTeam(invented: readonly Invented[]): Promise<string[]> {
  const removed = await removeAccounts(invented.map(({ uuid }) => uuid))
  return invented
    .filter(({ uuid }) => !removed.includes(uuid))
    .map(
      ({ email }) =>
        `The account ${email} remains, in no organization. Run this beside the server's database to remove it.`,
    )
}

interface Place {
  /** `/api/organizations/{id}` */
  readonly organization: string
  /** `/api/projects/{id}` */
  readonly path: string
  readonly project: { readonly id: number; readonly api_token: string }
}

async function fill(api: Api, connectAs: (key: string) => Api, now: Date): Promise<{ id: number }> {
  const place = await build(api)
  const { path, organization, project } = place
  const send = async (batches: readonly unknown[][]) => {
    for (const batch of batches) await api('POST', '/batch/', { api_key: project.api_token, batch })
  }
  progress('Installing a plugin …')
  await addPlugin(api, place)
  progress('Sending persons, companies and events …')
  await send(profileBatches())
  const cohort = await api('POST', `${path}/cohorts/`, demoCohort)
  const team = await createTeam(api, connectAs, organization, project.api_token)
  progress('Creating flags and their history …')
  const flags = await live(demoStory({ cohortId: cohort.id, companyIndex: 0 }), path, team, project.api_token, now)
  progress('Sending a month of usage …')
  await send(usageBatches(now))
  progress('Scheduling changes …')
  await plan(api, place, flags, now)
  return project
}

async function build(api: Api): Promise<Place> {
  progress('Creating the organization …')
  const before = await api('GET', '/api/users/@me/')
  const made = await api('POST', '/api/organizations/', { name: demoOrganizationName })
  // Creating an organization makes it the caller's current one; the demo is not what `@current` should mean.
  if (before.organization && before.team) {
    const { organization, team } = before
    await api('PATCH', '/api/users/@me/', { set_current_organization: organization.id, set_current_team: team.id })
  }
  const path = `/api/projects/${made.teams[0].id}`
  const project = await api('PATCH', `${path}/`, { name: demoProjectName })
  await api('POST', '/api/projects/', { name: demoStagingName, organization: made.id })
  return { organization: `/api/organizations/${made.id}`, path, project }
}

async function addPlugin(api: Api, { organization, path }: Place): Promise<void> {
  const plugin = await api('POST', `${organization}/plugins/`, { plugin_type: 'source', name: demoPluginName })
  await api('PATCH', `${organization}/plugins/${plugin.id}/update_source/`, demoPluginSource)
  await api('POST', `${path}/plugin_configs/`, { plugin: plugin.id, enabled: true, config: { limit: '20' } })
}

/**
 * Colleagues with random passwords and addresses that no earlier demo used. Away from the database the owner acts for all of them, because
 * their accounts could not be removed again.
 */
async function createTeam(
  api: Api,
  connectAs: (key: string) => Api,
  organization: string,
  projectToken: string,
): Promise<Readonly<Record<string, Api>>> {
  const domain = `shop-${randomBytes(3).toString('hex')}.example`
  const role = await api('POST', `${organization}/roles/`, { name: 'Checkout', feature_flags_access_level: 37 })
  const team: Record<string, Api> = { owner: api }
  const hasAccounts = await holdsProject(projectToken)
  if (hasAccounts) progress('Inviting a team …')
  for (const { name, level } of demoTeam) {
    team[name] = api
    if (!hasAccounts) continue
    const target_email = `${name.toLowerCase()}@${domain}`
    const { token } = await api('POST', `${organization}/invites/`, { target_email, first_name: name, level })
    const password = randomBytes(24).toString('base64url')
    const { user, api_key } = await api('POST', `/api/signup/${token}/`, { first_name: name, password })
    await api('POST', `${organization}/roles/${role.id}/role_memberships/`, { user_uuid: user.uuid })
    team[name] = connectAs(api_key)
  }
  return team
}

/** Performs the story as the team, and backdates it where possible. Returns the ids of the flags by key. */
async function live(
  story: ReturnType<typeof demoStory>,
  path: string,
  team: Readonly<Record<string, Api>>,
  token: string,
  now: Date,
): Promise<Readonly<Record<string, number>>> {
  const ids: Record<string, number> = {}
  const times = story.map(({ daysAgo }) => new Date(now.getTime() - daysAgo * dayMilliseconds))
  for (const [index, { who, create, change }] of story.entries()) {
    const as = team[who] as Api
    if (create) {
      const flag = await as('POST', `${path}/feature_flags/`, { ...create, created_at: times[index]?.toISOString() })
      ids[create.key] = flag.id
    }
    if (change) await as('PATCH', `${path}/feature_flags/${ids[change.key]}/`, change.patch)
  }
  await dateHistory(token, times)
  return ids
}

/** A scheduled ramp and change, a rollback that is about to happen, and outdated copies in staging. */
async function plan(
  api: Api,
  { organization, path, project }: Place,
  flags: Readonly<Record<string, number>>,
  now: Date,
) {
  const inDays = (days: number) => new Date(now.getTime() + days * dayMilliseconds).toISOString()
  await api('POST', `${path}/scheduled_changes/`, {
    record_id: flags['new-checkout'],
    payload: {
      operation: 'ramp',
      value: {
        condition_index: 2,
        steps: [25, 50, 100].map((rollout_percentage, index) => ({ at: inDays(1 + index * 2), rollout_percentage })),
      },
    },
  })
  await api('POST', `${path}/scheduled_changes/`, {
    record_id: flags['shipping-banner'],
    scheduled_at: inDays(12),
    payload: { operation: 'update_status', value: true },
  })
  const others = (await api('GET', '/api/projects/?limit=1000')).results
  const staging = others.find(({ name, organization: of }: { name: string; organization: string }) => {
    return name === demoStagingName && organization.endsWith(of)
  })
  for (const feature_flag_key of ['new-checkout', 'search-v2', 'dark-mode']) {
    await api('POST', `${organization}/feature_flags/copy_flags/`, {
      feature_flag_key,
      from_project: project.id,
      target_project_ids: [staging.id],
    })
  }
  await api('POST', `${path}/feature_flags/${flags['smart-recommendations']}/metrics/`, {
    samples: [slowAnswersMetric, slowAnswersMetric],
  })
}
