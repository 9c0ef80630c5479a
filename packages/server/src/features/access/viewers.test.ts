import { allRoutes, type Route } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import {
  bodies,
  cohorts,
  flags,
  flagWriters,
  type Ids,
  nameOf,
  organization,
  pathOf,
  project,
  requests,
  stageWrites,
  storedContent,
} from '../../testing/flag-writes.ts'
import type { Client } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const dashboards = `${project}/dashboards`
const certificate = {
  source: 'launchdarkly',
  environment: null,
  file_sha256: 'ab'.repeat(32),
  sdk: 'sdk',
  sdk_version: '1.0.0',
  halyard_version: '0.1.0',
  node_version: '20.1.0',
  ...Object.fromEntries(
    [
      'seed',
      'contexts',
      'pairs',
      'equal',
      'differing',
      'declared',
      'sdk_errors',
      'exact',
      'approximate',
      'refused',
    ].map(name => [name, 0]),
  ),
  flags: [],
  differences: [],
}

interface ViewerIds extends Ids {
  /** The role of the viewer. */
  readonly role: string
}

/** Writes besides those of flags and cohorts that members can make. */
const writers = [
  ...flagWriters,
  ...allRoutes.filter(
    ({ method, access }) =>
      method !== 'GET' &&
      access.kind === 'key' &&
      access.scopes.some(scope => ['dashboard:write', 'person:write', 'group:write'].includes(scope)),
  ),
]

/** What else each route is sent. */
const otherBodies: Readonly<Record<string, (ids: ViewerIds) => unknown>> = {
  [`POST ${cohorts}`]: () => ({ name: 'sneaked-in', is_static: true }),
  [`POST ${cohorts}/:id/duplicate_as_static_cohort`]: () => ({}),
  [`POST ${cohorts}/:id/calculate`]: () => ({}),
  [`POST ${dashboards}`]: () => ({ name: 'sneaked-in' }),
  [`PATCH ${dashboards}/:id`]: () => ({ name: 'changed' }),
  [`DELETE ${project}/persons/:id`]: () => undefined,
  [`DELETE ${project}/groups`]: () => undefined,
  [`DELETE ${project}/scheduled_changes/:id`]: () => undefined,
  [`POST ${requests}/:request_id/cancel`]: () => ({ reason: 'x' }),
  [`POST ${requests}/:request_id/claim`]: () => ({}),
  [`POST ${project}/approval_policies`]: () => ({ action_key: '*' }),
  [`POST ${organization}/freezes`]: () => ({ reason: 'x', ends_at: new Date(Date.now() + 3_600_000).toISOString() }),
  [`POST ${flags}/:parent_lookup_feature_flag_id/role_access`]: ids => ({ role_id: ids.role }),
  [`PUT ${flags}/:id/access_controls`]: ids => ({ access_level: 'editor', role: ids.role }),
  [`PATCH ${flags}/:id/details`]: () => ({ owner: null }),
  [`PUT ${flags}/:id/payload_schema`]: () => ({ schema: { type: 'object' } }),
  [`DELETE ${flags}/:id/payload_schema`]: () => undefined,
  [`POST ${project}/flag_overrides`]: () => ({ overrides: { gated: true } }),
  [`POST ${project}/import_certificates`]: () => ({ certificate }),
  [`PUT ${project}/code_references`]: () => ({ repository: 'shop', references: [] }),
  [`POST ${organization}/imports`]: ids => ({
    source: 'launchdarkly',
    content: { flags: {} },
    mapping: [{ project: ids.project }],
  }),
  [`POST ${flags}/:id/metrics`]: () => ({ metric: 'errors', value: 1 }),
}

/** Routes that change nothing for others, that find nothing here, or that are always refused. */
const others: Readonly<Record<string, string>> = {
  [`PUT ${flags}/:id/favorite`]: 'a mark of one user',
  [`DELETE ${flags}/:id/favorite`]: 'a mark of one user',
  [`POST ${project}/saved_views`]: 'a search of one user; sharing it is refused below',
  [`DELETE ${project}/saved_views/:id`]: 'a search of one user',
  [`POST ${flags}/:id/comments`]: 'a comment changes no flag',
  [`DELETE ${flags}/:id/comments/:comment_id`]: 'their own comment',
  [`POST ${requests}/:request_id/comments`]: 'a comment changes no flag',
  [`PATCH ${requests}/:request_id/comments/:comment_id`]: 'their own comment',
  [`DELETE ${requests}/:request_id/comments/:comment_id`]: 'their own comment',
  [`DELETE ${cohorts}/:id`]: 'always 405',
  [`DELETE ${dashboards}/:id`]: 'always 405',
  [`DELETE ${flags}/:id`]: 'always 405',
  [`POST ${requests}/:request_id/approve`]: 'the policies name who decides',
  [`POST ${requests}/:request_id/reject`]: 'the policies name who decides',
  [`POST ${requests}/:request_id/review`]: 'admins only',
  [`PATCH ${project}/approval_policies/:policy_id`]: 'admins only',
  [`DELETE ${project}/approval_policies/:policy_id`]: 'admins only',
  [`DELETE ${organization}/freezes/:freeze_id`]: 'admins only',
  [`DELETE ${flags}/:parent_lookup_feature_flag_id/role_access/:id`]: 'access.test.ts',
  [`DELETE ${project}/import_certificates/:certificate_id`]: 'as creating one',
  [`DELETE ${project}/code_repositories/:repository_id`]: 'as replacing its references',
  [`POST ${organization}/imports/:import_id/apply`]: 'as planning one',
  [`DELETE ${organization}/imports/:import_id`]: 'as planning one',
}

/** These respond 200 with what was left out. */
const partial = [`POST ${flags}/bulk_delete`, `POST ${flags}/bulk_update`, `POST ${flags}/replace_tag`]

it('is tried for every route that writes flags, cohorts, persons, groups or dashboards', () => {
  const names = new Set(writers.map(nameOf))
  expect([...names].filter(name => !(name in bodies) && !(name in otherBodies) && !(name in others))).toEqual([])
  expect(Object.keys({ ...otherBodies, ...others }).filter(name => !names.has(name))).toEqual([])
})

onEachDatabase('a member whose only role can view', dialect => {
  const s = suiteScenario(dialect)
  let viewer: Client & { uuid: string }
  let ids: ViewerIds
  let paths: Record<string, string>
  beforeAll(async () => {
    viewer = await s.join('viewer')
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: 'Viewers' })
    await s.patch(`${s.organization}/roles/${role.id}/`, { feature_flags_access_level: 21 })
    await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: viewer.uuid })
    ids = { ...(await stageWrites(s)), role: role.id }
    const { body: dashboard } = await s.post(`${s.project}/dashboards/`, { name: 'Numbers' })
    const { body: persons } = await s.get(`${s.project}/persons/?distinct_id=member`)
    paths = {
      [`PATCH ${dashboards}/:id`]: `${s.project}/dashboards/${dashboard.id}/`,
      [`DELETE ${project}/persons/:id`]: `${s.project}/persons/${persons.results[0].id}/`,
      [`DELETE ${project}/groups`]: `${s.project}/groups/?group_type_index=0&group_key=acme`,
    }
  })

  const send = (route: Route, body: unknown) =>
    viewer.send(paths[nameOf(route)] ?? pathOf(route, s, ids), {
      method: route.method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  it('writes nothing that others use', async () => {
    const before = await storedContent(s, ids)
    const statuses: Record<string, number> = {}
    for (const route of writers) {
      const name = nameOf(route)
      const bodyOf = bodies[name] ?? otherBodies[name]
      if (!bodyOf || name in others) continue
      const reply = await send(route, bodyOf(ids))
      if (reply.status !== (partial.includes(name) ? 200 : 403)) statuses[`${name}: ${reply.text}`] = reply.status
      expect(await storedContent(s, ids), name).toEqual(before)
    }
    expect(statuses).toEqual({})
  })

  it('keeps searches and marks of their own, and comments', async () => {
    const view = { name: 'Mine', query: 'q=x' }
    expect((await viewer.post(`${s.project}/saved_views/`, view)).status).toBe(201)
    expect((await viewer.post(`${s.project}/saved_views/`, { ...view, is_shared: true })).status).toBe(403)
    expect((await viewer.put(`${s.project}/feature_flags/${ids.flag}/favorite/`)).status).toBeLessThan(300)
    const comment = await viewer.post(`${s.project}/feature_flags/${ids.flag}/comments/`, { text: 'Looks good.' })
    expect(comment.status).toBe(201)
  })
})
