import { allRoutes, type Route, routes } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import type { Client } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** Who calls every write route, and must have no more rights afterwards. */
interface Caller {
  readonly client: Client
  /** Another key of the same user, without limits. */
  readonly unlimited: Client
  readonly userId: number
  readonly uuid: string
  readonly roleId: string
}

/** They end rights of the caller, or the project of the test, which is allowed and would end the test. */
const narrowing: ReadonlySet<Route> = new Set<Route>([
  routes.session.logout,
  routes.apiKeys.remove,
  routes.organizations.removeMember,
  routes.projects.remove,
  routes.organizationProjects.remove,
])

const writeRoutes = allRoutes
  .filter(route => route.method !== 'GET' && route.access.kind === 'key' && !narrowing.has(route))
  // A stream writes nothing and does not end.
  .filter(route => route.mediaType !== 'text/event-stream')
  .sort((a, b) => orderOf(a) - orderOf(b))

/** Last are routes that take away what others are called with: removals, and a key that narrows itself. */
function orderOf(route: Route): number {
  if (route === routes.apiKeys.update) return 2
  return route.method === 'DELETE' ? 1 : 0
}

onEachDatabase('every write route', dialect => {
  const s = suiteScenario(dialect)
  let callers: Readonly<Record<string, Caller>>
  let flagId: number
  let editorsId: string
  let seeds: Readonly<Record<string, string>>

  beforeAll(async () => {
    const roles = `${s.organization}/roles/`
    flagId = (await s.post(`${s.project}/feature_flags/`, { key: 'guarded' })).body.id
    editorsId = (await s.post(roles, { name: 'Editors', feature_flags_access_level: 37 })).body.id
    const viewersId = (await s.post(roles, { name: 'Viewers', feature_flags_access_level: 21 })).body.id
    const [member, viewer, keyed] = [await s.join('member'), await s.join('viewer'), await s.join('keyed')]
    for (const { uuid } of [viewer, keyed]) await s.post(`${roles}${viewersId}/role_memberships/`, { user_uuid: uuid })
    const plugin = (await s.post(`${s.organization}/plugins/`, { name: 'Plugin' })).body.id
    const config = (await s.post(`${s.project}/plugin_configs/`, { plugin, enabled: false })).body.id
    const access = (await s.post(`${s.organization}/resource_access/`, { resource: 'cohorts', access_level: 21 })).body
      .id
    const secret = (await s.post(`${s.project}/secret_keys/`, { label: 'secret' })).body.id
    const invite = (await s.post(`${s.organization}/invites/`, { target_email: 'other@example.com', level: 8 })).body.id
    const limited = async (client: Client, limits: object) => {
      const made = await client.post('/api/personal_api_keys/', { label: 'limited', ...limits })
      expect(made.status, made.text).toBe(201)
      return s.as(made.body.value)
    }
    const owner = (await s.get('/api/users/@me/')).body
    const soon = new Date(Date.now() + 3_600_000).toISOString()
    const of = (user: { id: number; uuid: string }, unlimited: Client, client: Client, roleId = viewersId): Caller => ({
      client,
      unlimited,
      userId: user.id,
      uuid: user.uuid,
      roleId,
    })
    callers = {
      'a member': of(member, member, member, editorsId),
      'a viewer': of(viewer, viewer, viewer),
      "a viewer's key with a few scopes": of(
        keyed,
        keyed,
        await limited(keyed, { scopes: ['user:write', 'feature_flag:write', 'organization:write'] }),
      ),
      "a viewer's key that expires": of(keyed, keyed, await limited(keyed, { scopes: ['*'], expires_at: soon })),
      "the owner's key for one project": of(owner, s, await limited(s, { scopes: ['*'], scoped_teams: [s.projectId] })),
      "the owner's key for users": of(owner, s, await limited(s, { scopes: ['user:write'], expires_at: soon })),
    }
    seeds = {
      project_id: String(s.projectId),
      parent_lookup_organization_id: s.organization.split('/').at(-1)!,
      feature_flags: String(flagId),
      resource_access: String(access),
      plugins: String(plugin),
      plugin_configs: String(config),
      secret_keys: secret,
      invites: invite,
      personal_api_keys: '@current',
      versions: '1',
    }
  }, 240_000)

  const pathOf = (route: Route, { uuid, roleId }: Caller): string =>
    `${route.path.replace(/:(\w+)/g, (_all, name: string) => {
      if (name === 'token') return 'x'.repeat(43)
      const noun = route.path.split(`/:${name}`)[0]!.split('/').at(-1)!
      const own: Record<string, string> = { members: uuid, roles: roleId, role_access: '1', role_memberships: uuid }
      return seeds[name] ?? own[noun] ?? seeds[noun] ?? '1'
    })}/`

  /** The most that each field could be set to, in the caller's favor. */
  const greedy = ({ uuid, roleId }: Caller): Readonly<Record<string, readonly unknown[]>> => ({
    level: [15, 8],
    membership_level: [15],
    plugins_access_level: [9],
    default_access_level: [37],
    feature_flags_access_level: [37],
    access_level: [37, 'editor'],
    resource: ['feature flags'],
    is_staff: [true],
    is_global: [true],
    scopes: [['*']],
    scoped_teams: [[]],
    scoped_organizations: [[], [seeds.parent_lookup_organization_id]],
    expires_at: [null, '2999-01-01T00:00:00Z'],
    email: ['owner@halyard.example'],
    password: ['a password of mine'],
    current_password: ['a wrong guess'],
    role_id: [roleId, editorsId],
    role: [roleId, editorsId],
    user_uuid: [uuid],
    target_email: ['me-again@example.com'],
    organization: [seeds.parent_lookup_organization_id],
    set_current_organization: [seeds.parent_lookup_organization_id],
    set_current_team: [s.projectId],
    ids: [[flagId]],
    name: ['Mine'],
    key: ['mine'],
    label: ['Mine'],
    record_id: [String(flagId)],
    payload: [{ operation: 'update_status', value: false }],
    feature_flag_key: ['guarded'],
    from_project: [s.projectId],
    target_project_ids: [[s.projectId]],
    plugin: [Number(seeds.plugins)],
  })

  /** Every field alone next to the required ones, and all of them together. */
  function bodiesOf(route: Route, caller: Caller): (Record<string, unknown> | undefined)[] {
    if (route.method === 'DELETE') return [undefined]
    const schema = route.body as { properties?: object; required?: readonly string[] } | undefined
    const values = greedy(caller)
    const first = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, values[name]?.[0]]))
    const required = first(schema?.required ?? [])
    const known = Object.keys(schema?.properties ?? {}).filter(name => values[name])
    const single = known.flatMap(name => values[name]!.map(value => ({ ...required, [name]: value })))
    return [{ ...first(known), is_staff: true, membership_level: 15 }, ...single]
  }

  async function rightsOf({ userId, unlimited }: Caller) {
    const db = s.halyard.storage.kysely
    const user = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow()
    const memberships = await db
      .selectFrom('memberships')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('id')
      .execute()
    const organizations = await db
      .selectFrom('organizations')
      .select(['id', 'plugins_access_level', 'default_access_level'])
      .orderBy('id')
      .execute()
    const settings = await db.selectFrom('resource_access').select(['resource', 'access_level']).orderBy('id').execute()
    const roles = await db
      .selectFrom('role_memberships')
      .innerJoin('roles', 'roles.id', 'role_memberships.role_id')
      .select(['role_id', 'access_level'])
      .where('user_id', '=', userId)
      .orderBy('role_id')
      .execute()
    const flag = await unlimited.get(`${s.project}/feature_flags/${flagId}/`)
    const { is_staff, email, password_hash } = user
    return {
      rights: {
        is_staff,
        email,
        password_hash,
        memberships,
        organizations,
        settings,
        roles,
        canEdit: flag.body.can_edit,
      },
      keys: await db.selectFrom('api_keys').selectAll().where('user_id', '=', userId).execute(),
    }
  }
  type Keys = Awaited<ReturnType<typeof rightsOf>>['keys']

  it('leaves the caller with the rights it had', async () => {
    for (const [name, caller] of Object.entries(callers)) {
      const before = await rightsOf(caller)
      const own = before.keys.find(key => key.id === callingKeyId(before.keys, caller.client.key))!
      for (const route of writeRoutes) {
        for (const body of bodiesOf(route, caller)) {
          await caller.client.send(pathOf(route, caller), {
            method: route.method,
            ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
          })
        }
        const after = await rightsOf(caller)
        const context = `${name} calls ${route.method} ${route.path}`
        expect(after.rights, context).toEqual(before.rights)
        for (const key of after.keys) {
          const stored = before.keys.find(({ id }) => id === key.id)
          const isUntouched = stored && grantOf(stored) === grantOf(key)
          expect(isUntouched || isCovered(key, own), `${context}, and gets ${grantOf(key)}`).toBe(true)
        }
      }
    }
  }, 600_000)

  const grantOf = (key: Keys[number]): string =>
    [key.scopes, key.scoped_teams, key.scoped_organizations, key.is_session, key.expires_at].join(' ')

  const callingKeyId = (keys: Keys, value: string): string => {
    const mask = `${value.slice(0, 4)}...${value.slice(-4)}`
    return keys.find(key => key.mask === mask)!.id
  }

  /** Whether the key can do no more, in no more projects, for no longer than the one that called. */
  function isCovered(key: Keys[number], caller: Keys[number]): boolean {
    const list = (text: string): readonly (string | number)[] => JSON.parse(text)
    const [held, wanted] = [list(caller.scopes), list(key.scopes)]
    const hasScopes = held.includes('*') || wanted.every(scope => held.includes(scope))
    const isRestricted = (row: Keys[number]) =>
      list(row.scoped_teams).length + list(row.scoped_organizations).length > 0
    const isWithin =
      !isRestricted(caller) ||
      (isRestricted(key) &&
        list(key.scoped_teams).every(id => list(caller.scoped_teams).includes(id)) &&
        list(key.scoped_organizations).every(id => list(caller.scoped_organizations).includes(id)))
    const endsInTime =
      caller.is_session === 1 ||
      caller.expires_at === null ||
      (key.expires_at !== null && key.expires_at <= caller.expires_at)
    return hasScopes && isWithin && endsInTime && key.is_session === 0
  }
})
