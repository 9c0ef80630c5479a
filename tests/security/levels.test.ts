import { allRoutes, fullScopeOf, type Route, routes, scopeObjects } from '@halyard/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Client, type Scenario, startTwoNodes, type TwoNodes } from '../../packages/server/src/testing/scenario.ts'
import { startTokenIssuer, type TokenIssuer } from '../../packages/server/src/testing/token-issuer.ts'

const nameOf = ({ method, path }: Route): string => `${method} ${path}`
const isRead = ({ access }: Route): boolean =>
  access.kind === 'key' && access.scopes.every(scope => scope.endsWith(':read'))

/** Streams do not end. */
const guarded = allRoutes.filter(
  ({ access, mediaType }) => access.kind === 'key' && access.within !== 'user' && mediaType !== 'text/event-stream',
)

/** All that view-only members and auditors write in a project or organization: what is theirs alone. */
const ownWrites: readonly Route[] = [
  routes.savedViews.create,
  routes.savedViews.remove,
  routes.savedViews.addFavorite,
  routes.savedViews.removeFavorite,
  routes.organizations.removeMember,
]
const auditRoutes = guarded.filter(({ access }) => access.kind === 'key' && access.isForAuditors)

onEachDatabase('every route of a project or organization, on two nodes', dialect => {
  let nodes: TwoNodes
  let s: Scenario
  let flag: string
  let issuer: TokenIssuer
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    nodes = await startTwoNodes(dialect, { environment: { HALYARD_TRUSTED_ORIGINS: issuer.url } })
    s = nodes.one
    flag = String((await s.post(`${s.project}/feature_flags/`, { key: 'seen' })).body.id)
  })
  afterAll(async () => {
    await nodes.close()
    await issuer.close()
  })

  const join = async (name: string, level: number) => s.join(name, level as 1)
  const send = (client: Client, route: Route, projectId: number) => {
    const path = route.path.replace(/:(\w+)/g, (_all, name: string) => {
      if (name === 'project_id') return String(projectId)
      if (name === 'parent_lookup_organization_id') return s.organization.split('/').at(-1)!
      return name === 'id' && route.path.includes('/feature_flags/') ? flag : '1'
    })
    return nodes.inTurn(client).send(`${path}/`, {
      method: route.method,
      ...(route.body && { headers: { 'content-type': 'application/json' }, body: '{}' }),
    })
  }
  const statusesOf = async (client: Client, some: readonly Route[], projectId = s.projectId) => {
    const statuses = new Map<string, number>()
    for (const route of some) statuses.set(nameOf(route), (await send(client, route, projectId)).status)
    return statuses
  }
  const where = (statuses: ReadonlyMap<string, number>, test: (status: number) => boolean) =>
    [...statuses].filter(([, status]) => test(status)).map(([name, status]) => `${status} ${name}`)

  /** What a CI job gets for its identity token. */
  const exchangedKey = async (scopes: readonly string[]): Promise<string> => {
    const trust = await s.post(`${s.organization}/trust_relationships/`, {
      ...{ name: 'CI', issuer: issuer.url, audience: 'halyard', scopes, projects: [s.projectId] },
      rules: [{ claim: 'repository', match: 'exact', value: 'acme/shop' }],
    })
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await issuer.sign({ aud: 'halyard', sub: 'job', repository: 'acme/shop' }),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      audience: trust.body.id,
    }
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(form).toString()
    const reply = await s.as(undefined).send('/api/token/', { method: 'POST', headers, body })
    return reply.body.access_token
  }

  it('is readable for view-only members and writable only where the object is theirs', async () => {
    const viewer = await join('viewer', 0)
    const reads = guarded.filter(isRead)
    // What only admins read stays closed: lists of invitations and webhooks, and the audit log.
    const closed = where(await statusesOf(viewer, reads), status => status === 403)
    const member = await join('reader', 1)
    expect(closed).toEqual(where(await statusesOf(member, reads), status => status === 403))
    const writes = guarded.filter(route => !isRead(route) && !ownWrites.includes(route))
    expect(where(await statusesOf(viewer, writes), status => status !== 403)).toEqual([])
    expect(writes.length).toBeGreaterThan(90)

    const view = { name: 'Mine', query: 'q=x' }
    expect((await viewer.post(`${s.project}/saved_views/`, view)).status).toBe(201)
    expect((await viewer.post(`${s.project}/saved_views/`, { ...view, is_shared: true })).status).toBe(403)
    expect((await viewer.put(`${s.project}/feature_flags/${flag}/favorite/`)).status).toBe(204)
  }, 60_000)

  it('is refused to auditors, except what is for them', async () => {
    const auditor = await join('auditor', -1)
    const others = guarded.filter(route => !ownWrites.includes(route) && !auditRoutes.includes(route))
    expect(where(await statusesOf(auditor, others), status => status !== 403 && status !== 404)).toEqual([])
    expect(where(await statusesOf(auditor, auditRoutes), status => status === 403)).toEqual([])
    for (const path of ['/api/feature_flag/local_evaluation/', '/flags/definitions/', '/api/projects/']) {
      const reply = await auditor.get(path)
      expect(reply.text, path).not.toContain('seen')
      expect(reply.text, path).not.toContain(s.projectToken)
    }
  }, 60_000)

  it('leaves both their own account: name, password, keys with at most their rights, and leaving', async () => {
    for (const level of [0, -1]) {
      const person = await join(`own${level}`, level)
      expect((await person.patch('/api/users/@me/', { first_name: 'Ada' })).status).toBe(200)
      const key = await person.post('/api/personal_api_keys/', { label: 'own', scopes: ['*'] })
      expect(key.status).toBe(201)
      const flags = `${s.project}/feature_flags/`
      expect((await s.as(key.body.value).post(flags, { key: `of${level}` })).status).toBe(level === 0 ? 403 : 404)
      expect((await s.as(key.body.value).get(flags)).status).toBe(level === 0 ? 200 : 404)
      expect((await person.delete(`${s.organization}/members/${person.uuid}/`)).status).toBe(204)
      expect((await person.get(`${s.organization}/`)).status).toBe(404)
    }
  })

  it('is open to the key of a machine within its scopes, its projects and its organization, and no account is', async () => {
    const scopes = ['feature_flag:write'] as const
    const service = await s.post(`${s.organization}/service_keys/`, {
      label: 'CI',
      scopes,
      scoped_teams: [s.projectId],
    })
    const { body: second } = await s.post(`${s.organization}/projects/`, { name: 'Second' })
    const stranger = await s.stranger('foreign')
    const foreign = Number(stranger.project.split('/').at(-1))
    const keys = { service: service.body.value as string, exchanged: await exchangedKey(scopes) }
    for (const [kind, key] of Object.entries(keys)) {
      const client = s.as(key)
      const covered = (route: Route) =>
        route.access.kind === 'key' && route.access.scopes.some(scope => scope.startsWith('feature_flag:'))
      const outside = guarded.filter(route => !covered(route))
      expect(outside.length).toBeGreaterThan(90)
      expect(
        where(await statusesOf(client, outside), status => status !== 403),
        kind,
      ).toEqual([])
      const ofProjects = guarded.filter(route => covered(route) && route.path.includes('/:project_id/'))
      expect(ofProjects.length).toBeGreaterThan(30)
      for (const project of [second.id, foreign]) {
        const statuses = await statusesOf(client, ofProjects, project)
        expect(
          where(statuses, status => status !== 404),
          kind,
        ).toEqual([])
      }
      const ofAccounts = allRoutes.filter(({ access }) => access.kind === 'key' && access.within === 'user')
      const lists: readonly Route[] = [routes.organizations.list, routes.projects.list]
      const others = ofAccounts.filter(route => !lists.includes(route))
      expect(
        where(await statusesOf(client, others), status => status !== 403),
        kind,
      ).toEqual([])
      expect((await client.get(`${s.project}/feature_flags/`)).status, kind).toBe(200)
    }
  }, 120_000)

  it('takes rights at once: an editor who becomes view-only edits not even their own flags', async () => {
    const person = await join('demoted', 1)
    const own = (await person.post(`${s.project}/feature_flags/`, { key: 'own' })).body
    const role = (await s.post(`${s.organization}/roles/`, { name: 'Editors', feature_flags_access_level: 37 })).body
    await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: person.uuid })
    expect((await s.patch(`${s.organization}/members/${person.uuid}/`, { level: 0 })).body.level).toBe(0)
    expect((await person.patch(`${s.project}/feature_flags/${own.id}/`, { active: false })).status).toBe(403)
    expect((await person.get(`${s.project}/feature_flags/${own.id}/`)).body.can_edit).toBe(false)
    const access = (await s.get(`${s.organization}/flag_access/`)).body.results.find(
      ({ user }: { user: { uuid: string } }) => user.uuid === person.uuid,
    )
    expect([access.access_level, access.source]).toEqual(['viewer', 'level'])
    expect((await s.patch(`${s.organization}/members/${person.uuid}/`, { level: 7 })).body.attr).toBe('level')
  })

  it('about decisions, policies, freezes and members needs a scope of its own', async () => {
    const objects = ['change_request', 'policy', 'freeze', 'member'] as const
    const own = guarded.filter(
      ({ access }) =>
        access.kind === 'key' && access.scopes.some(scope => objects.some(object => scope === fullScopeOf(object))),
    )
    expect(own.length).toBeGreaterThanOrEqual(13)
    for (const object of scopeObjects) {
      const key = await s.post('/api/personal_api_keys/', { label: object, scopes: [fullScopeOf(object)] })
      const lacking = own.filter(
        ({ access }) => access.kind === 'key' && !access.scopes.some(scope => scope === fullScopeOf(object)),
      )
      expect(where(await statusesOf(s.as(key.body.value), lacking), status => status !== 403)).toEqual([])
    }
  }, 60_000)
})
