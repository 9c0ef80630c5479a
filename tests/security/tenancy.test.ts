import { allRoutes, fullScopeOf, type Route, scopeObjects } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import type { Client, Scenario } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** In the name of everything that the victim owns: a response to a stranger that contains it has leaked. */
const mark = 'Xk7-victims-own'

/** Values for the parameters of paths. */
interface Seeds {
  readonly project_id: string
  readonly parent_lookup_organization_id: string
  readonly objects: Readonly<Record<string, string>>
}

const pathOf = (route: Route, seeds: Seeds): string =>
  `${route.path.replace(/:(\w+)/g, (_all, name: string) => {
    if (name === 'project_id' || name === 'parent_lookup_organization_id') return seeds[name]
    return seeds.objects[kindOf(route, name)] ?? seeds.objects[name] ?? '1'
  })}/`

/** Which kind of object an `:id` stands for: the noun before it. */
const kindOf = (route: Route, name: string): string => route.path.split(`/:${name}`)[0]!.split('/').at(-1)!

/** The most harmful body that fits. */
const bodyFor = (route: Route): Record<string, unknown> | undefined =>
  route.method === 'GET' || route.method === 'DELETE'
    ? undefined
    : {
        name: 'taken over',
        key: 'taken-over',
        label: 'taken over',
        scopes: ['*'],
        first_name: 'Mallory',
        password: 'a password of mine',
        active: false,
      }

const send = (client: Client, route: Route, path: string) => {
  const body = bodyFor(route)
  return client.send(path, {
    method: route.method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
}

const guarded = allRoutes.filter(route => route.access.kind === 'key')

onEachDatabase('every route of the contract', dialect => {
  const s = suiteScenario(dialect)
  let victim: Seeds
  let stranger: Awaited<ReturnType<Scenario['stranger']>>

  beforeAll(async () => {
    stranger = await s.stranger('mallory')
    const member = await s.join('victim')
    await s.patch(`${s.project}/`, { name: `${mark} project` })
    await s.patch(`${s.organization}/`, { name: `${mark} organization` })
    const flag = (await s.post(`${s.project}/feature_flags/`, { key: mark, name: mark })).body
    const role = (await s.post(`${s.organization}/roles/`, { name: mark })).body
    const membership = await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: member.uuid })
    const grant = await s.post(`${s.project}/feature_flags/${flag.id}/role_access/`, { role_id: role.id })
    const key = await s.post('/api/personal_api_keys/', { label: mark, scopes: ['*'] })
    const secret = await s.post(`${s.project}/secret_keys/`, { label: mark })
    const invite = await s.post(`${s.organization}/invites/`, { target_email: `${mark}@example.com` })
    const access = await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags' })
    const plugin = await s.post(`${s.organization}/plugins/`, { name: mark })
    for (const reply of [membership, grant, key, secret, invite, access, plugin])
      expect(reply.status, reply.text).toBe(201)
    victim = {
      project_id: String(s.projectId),
      parent_lookup_organization_id: s.organization.split('/').at(-1)!,
      objects: {
        feature_flags: String(flag.id),
        dashboards: String(flag.usage_dashboard),
        roles: role.id,
        role_memberships: membership.body.id,
        role_access: String(grant.body.id),
        personal_api_keys: key.body.id,
        secret_keys: secret.body.id,
        invites: invite.body.id,
        members: member.uuid,
        resource_access: String(access.body.id),
        plugins: String(plugin.body.id),
        feature_flag_key: mark,
        versions: '1',
        signup: 'c0ffee00-0000-4000-8000-000000000000',
      },
    }
  }, 120_000)

  it('with a key of another organization: 404, and no data of the victim in the response', async () => {
    for (const route of guarded) {
      if (route.access.kind !== 'key' || route.access.within === 'user') continue
      // Without a project in the path, a route is about a project of the caller.
      if (route.access.within === 'project' && !route.path.includes(':project_id')) continue
      const reply = await send(stranger, route, pathOf(route, victim))
      const expected = Object.keys(route.responses)[0] === '405' ? [404, 405] : [404]
      expect(expected, `${route.method} ${route.path} returned ${reply.status} ${reply.text}`).toContain(reply.status)
      expect(reply.text, `${route.method} ${route.path}`).not.toContain(mark)
    }
  }, 120_000)

  it('with the own project and organization, but ids of others: nothing is disclosed or changed', async () => {
    const own: Seeds = {
      project_id: stranger.project.split('/').at(-1)!,
      parent_lookup_organization_id: stranger.organization.split('/').at(-1)!,
      objects: victim.objects,
    }
    const before = await contentOf(s.databaseUrl)
    for (const route of guarded) {
      if (!/:(?!project_id|parent_lookup_organization_id)\w+/.test(route.path)) continue
      const reply = await send(stranger, route, pathOf(route, own))
      const ownVersionOf = `${route.method} ${route.path} returned ${reply.status} ${reply.text}`
      expect([400, 403, 404, 405], ownVersionOf).toContain(reply.status)
      expect(reply.text, `${route.method} ${route.path}`).not.toContain(`"${mark}`)
    }
    expect(await contentOf(s.databaseUrl)).toEqual(before)
  }, 120_000)

  it('lists only objects of the caller', async () => {
    for (const path of ['/api/projects/', '/api/organizations/', '/api/personal_api_keys/', '/api/users/@me/']) {
      const reply = await stranger.get(path)
      expect(reply.status).toBe(200)
      expect(reply.text, path).not.toContain(mark)
    }
  })

  it('without a key, or with one that does not exist: 401', async () => {
    for (const route of guarded) {
      for (const client of [s.as(undefined), s.as('phx_nosuchkeynosuchkeynosuchkey')]) {
        const reply = await send(client, route, pathOf(route, victim))
        expect(reply.status, `${route.method} ${route.path}`).toBe(401)
        expect(reply.headers.get('www-authenticate')).toBe('Bearer')
        expect(reply.text).not.toContain(mark)
      }
    }
  }, 120_000)

  it('with a key that lacks the scope: 403', async () => {
    const keys = new Map<string, Client>()
    for (const object of scopeObjects) {
      const reply = await s.post('/api/personal_api_keys/', { label: `only ${object}`, scopes: [fullScopeOf(object)] })
      keys.set(object, s.as(reply.body.value))
    }
    for (const route of guarded) {
      if (route.access.kind !== 'key' || route.access.scopes.length === 0) continue
      const needed = route.access.scopes.map(scope => scope.split(':')[0])
      const [, other] = [...keys].find(([object]) => !needed.includes(object))!
      const reply = await send(other, route, pathOf(route, victim))
      expect(reply.status, `${route.method} ${route.path} returned ${reply.text}`).toBe(403)
      expect(reply.text).not.toContain(mark)
    }
    // A read scope does not include writing.
    const reader = (await s.post('/api/personal_api_keys/', { label: 'reader', scopes: ['feature_flag:read'] })).body
      .value
    for (const route of guarded) {
      if (route.access.kind !== 'key' || !route.access.scopes.every(scope => scope === 'feature_flag:write')) continue
      if (route.access.scopes.length === 0) continue
      expect((await send(s.as(reader), route, pathOf(route, victim))).status, `${route.method} ${route.path}`).toBe(403)
    }
  }, 120_000)
})

/** Every row that carries the victim's mark, in every table, as text. */
async function contentOf(url: string): Promise<Record<string, string[]>> {
  const storage = openStorage(url)
  try {
    const found: Record<string, string[]> = {}
    for (const { name } of await storage.kysely.introspection.getTables()) {
      if (/^sqlite_/.test(name)) continue
      const rows = await storage.kysely
        .selectFrom(name as 'flags')
        .selectAll()
        .execute()
      const marked = rows.map(row => JSON.stringify(row)).filter(text => text.includes(mark))
      if (marked.length > 0) found[name] = marked.sort()
    }
    return found
  } finally {
    await storage.close()
  }
}
