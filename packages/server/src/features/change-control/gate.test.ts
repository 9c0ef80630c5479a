import { allRoutes, type Route } from '@halyard/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

/** Every route that can write a flag or cohort, from the route table: in a project that needs approval none of them does. */
const writers = allRoutes.filter(
  ({ method, access }) =>
    method !== 'GET' &&
    access.kind === 'key' &&
    access.scopes.some(scope => scope === 'feature_flag:write' || scope === 'cohort:write'),
)

const project = '/api/projects/:project_id'
const organization = '/api/organizations/:parent_lookup_organization_id'
const flags = `${project}/feature_flags`
const cohorts = `${project}/cohorts`
const requests = `${project}/change_requests`
const condition = { groups: [{ properties: [], rollout_percentage: 99 }] }
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

const promotion = (ids: Ids) => ({
  feature_flag_keys: ['gated'],
  from: ids.source,
  to: ids.project,
  parts: ['filters', 'payloads', 'tags', 'active'],
  hash: ids.planHash,
})

interface Ids {
  readonly set: number
  /** Of the plan of `promotion`. */
  planHash: string
  readonly flag: number
  readonly cohort: number
  readonly schedule: number
  readonly request: number
  readonly project: number
  readonly source: number
}

/** What each route is sent: a body that changes the flag or cohort if nothing stops it. */
const bodies: Readonly<Record<string, (ids: Ids) => unknown>> = {
  [`POST ${flags}`]: () => ({ key: 'sneaked-in' }),
  [`PATCH ${flags}/:id`]: () => ({ filters: condition, name: 'changed' }),
  [`DELETE ${flags}/:id`]: () => undefined,
  [`POST ${flags}/:id/enable`]: () => ({}),
  [`POST ${flags}/:id/disable`]: () => ({}),
  [`POST ${flags}/:id/archive`]: () => ({}),
  [`POST ${flags}/:id/unarchive`]: () => ({}),
  [`POST ${flags}/:id/set_rollout`]: () => ({ rollout_percentage: 1 }),
  [`POST ${flags}/:id/add_condition`]: () => ({ condition: condition.groups[0] }),
  [`POST ${flags}/:id/remove_condition`]: () => ({ condition_index: 0 }),
  [`POST ${flags}/:id/set_variant_split`]: () => ({ variants: {} }),
  [`POST ${flags}/:id/set_payload`]: () => ({ payload: 1 }),
  [`POST ${flags}/:id/restore`]: () => ({ version: 1 }),
  [`POST ${flags}/bulk_delete`]: ids => ({ ids: [ids.flag] }),
  [`POST ${flags}/bulk_update`]: ids => ({ ids: [ids.flag], tags: ['changed'] }),
  [`POST ${flags}/replace_tag`]: () => ({ tag: 'gated', replacement: 'changed' }),
  ...Object.fromEntries(
    ['', project].flatMap(base => {
      const manifest = `${base}/openfeature/v0/manifest/flags`
      return Object.entries({
        [`POST ${manifest}`]: () => ({ key: 'sneaked-in', type: 'boolean', defaultValue: true }),
        [`PUT ${manifest}/:key`]: () => ({ key: 'gated', type: 'boolean', description: 'changed' }),
        [`DELETE ${manifest}/:key`]: () => undefined,
      })
    }),
  ),
  [`POST ${flags}/:id/dashboard`]: () => ({}),
  [`POST ${flags}/:id/enrich_usage_dashboard`]: () => ({}),
  [`POST ${flags}/:id/create_static_cohort_for_flag`]: () => ({}),
  [`POST ${organization}/feature_flags/copy_flags`]: ids => ({
    feature_flag_key: 'gated',
    from_project: ids.source,
    target_project_ids: [ids.project],
  }),
  [`POST ${organization}/environment_sets/:set_id/promote/plan`]: ids => promotion(ids),
  [`POST ${organization}/environment_sets/:set_id/promote`]: ids => promotion(ids),
  [`POST ${project}/scheduled_changes`]: ids => ({
    record_id: ids.flag,
    payload: { operation: 'update', value: { name: 'changed' } },
    scheduled_at: inAnHour(),
  }),
  [`PATCH ${project}/scheduled_changes/:id`]: () => ({
    payload: { operation: 'update', value: { name: 'changed' } },
    scheduled_at: inAnHour(),
  }),
  [`POST ${requests}`]: ids => ({ flag_id: ids.flag, patch: { name: 'changed' } }),
  [`POST ${requests}/:request_id/approve`]: () => ({}),
  [`POST ${requests}/:request_id/reject`]: () => ({}),
  [`POST ${requests}/:request_id/apply`]: () => ({}),
  [`POST ${requests}/:request_id/rebase`]: () => ({}),
  [`POST ${requests}/:request_id/reschedule`]: () => ({ apply_at: inAnHour() }),
  [`POST ${requests}/:request_id/review`]: () => ({ note: 'x' }),
  [`PATCH ${cohorts}/:id`]: () => ({ name: 'changed' }),
  [`POST ${cohorts}/:id/persons`]: () => ({ distinct_ids: ['someone'] }),
  [`PATCH ${cohorts}/:id/add_persons_to_static_cohort`]: () => ({ distinct_ids: ['someone'] }),
  [`PATCH ${cohorts}/:id/remove_person_from_static_cohort`]: () => ({ distinct_ids: ['member'] }),
}

/** Routes that change no stored flag or cohort, and why. */
const others: Readonly<Record<string, string>> = {
  [`POST ${cohorts}`]: 'a new cohort changes no flag until a flag names it',
  [`POST ${cohorts}/:id/duplicate_as_static_cohort`]: 'creates a cohort',
  [`POST ${cohorts}/:id/calculate`]: 'counts members again',
  [`DELETE ${cohorts}/:id`]: 'always 405',
  [`DELETE ${project}/scheduled_changes/:id`]: 'cancels a change',
  [`POST ${requests}/:request_id/cancel`]: 'ends a request',
  [`POST ${requests}/:request_id/claim`]: 'changes who requests',
  [`POST ${project}/approval_policies`]: 'adds a policy',
  [`POST ${organization}/freezes`]: 'freezes changes',
  [`DELETE ${organization}/freezes/:freeze_id`]: 'an admin ends a freeze; recorded',
  [`PATCH ${project}/approval_policies/:policy_id`]: 'an admin changes what needs approval; recorded',
  [`DELETE ${project}/approval_policies/:policy_id`]: 'an admin changes what needs approval; recorded',
  [`POST ${flags}/:parent_lookup_feature_flag_id/role_access`]: 'who can edit',
  [`DELETE ${flags}/:parent_lookup_feature_flag_id/role_access/:id`]: 'who can edit',
  [`PUT ${flags}/:id/access_controls`]: 'who can edit',
  [`PATCH ${flags}/:id/details`]: 'owner and links, which no evaluation reads',
  [`PUT ${flags}/:id/payload_schema`]: 'what later payloads must match; no evaluation reads it',
  [`DELETE ${flags}/:id/payload_schema`]: 'what later payloads must match; no evaluation reads it',
  [`POST ${project}/flag_overrides`]: 'signs values for one browser; stores nothing, and others evaluate as before',
  [`POST ${project}/import_certificates`]: 'what a comparison has shown; no evaluation reads it',
  [`DELETE ${project}/import_certificates/:certificate_id`]: 'what a comparison has shown; no evaluation reads it',
  [`PUT ${project}/code_references`]: 'where code names flags; no evaluation reads it',
  [`DELETE ${project}/code_repositories/:repository_id`]: 'where code names flags; no evaluation reads it',
  [`PUT ${flags}/:id/favorite`]: 'a mark of one user',
  [`DELETE ${flags}/:id/favorite`]: 'a mark of one user',
  [`POST ${project}/saved_views`]: 'a search that is kept',
  [`DELETE ${project}/saved_views/:id`]: 'a search that is kept',
  [`POST ${flags}/:id/comments`]: 'adds a comment',
  [`DELETE ${flags}/:id/comments/:comment_id`]: 'removes a comment',
  [`POST ${organization}/imports`]: 'plans an import',
  [`POST ${organization}/imports/:import_id/apply`]: 'refused as a whole where approval is needed: imports.test.ts',
  [`DELETE ${organization}/imports/:import_id`]: 'deletes a plan',
  [`POST ${flags}/:id/metrics`]: 'numbers that rollback conditions are compared with',
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`

it('knows every route that writes flags or cohorts', () => {
  const names = new Set(writers.map(nameOf))
  expect([...names].filter(name => !(name in bodies) && !(name in others))).toEqual([])
  expect(Object.keys({ ...bodies, ...others }).filter(name => !names.has(name))).toEqual([])
})

onEachDatabase('a project that needs approval', dialect => {
  let s: Scenario
  let ids: Ids
  beforeAll(async () => {
    s = await startScenario(dialect)
    const approver = await s.join('approver')
    const { body: source } = await s.post('/api/projects/', { name: 'source' })
    await s.post(`/api/projects/${source.id}/feature_flags/`, { key: 'gated', name: 'changed', tags: ['promoted'] })
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'gated', tags: ['gated'] })
    await s.patch(`${s.project}/feature_flags/${flag.id}/`, { name: 'second version' })
    await s.post('/capture/', { api_key: s.projectToken, event: '$identify', distinct_id: 'member' })
    await s.post('/capture/', { api_key: s.projectToken, event: '$identify', distinct_id: 'someone' })
    const cohort = await s.post(`${s.project}/cohorts/`, { name: 'gated', is_static: true, distinct_ids: ['member'] })
    const plan = {
      record_id: flag.id,
      payload: { operation: 'update', value: { name: 'x' } },
      scheduled_at: inAnHour(),
    }
    const { body: schedule } = await s.post(`${s.project}/scheduled_changes/`, plan)
    await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config: { users: [approver.id] } })
    await s.post(`${s.project}/approval_policies/`, {
      action_key: 'feature_flag.disable',
      approver_config: { users: [approver.id] },
    })
    const request = await s.patch(`${s.project}/feature_flags/${flag.id}/`, { name: 'requested' })
    const environments = [
      { name: 'source', project: source.id },
      { name: 'gated', project: s.projectId },
    ]
    const { body: set } = await s.post(`${s.organization}/environment_sets/`, { name: 'set', environments })
    ids = {
      set: set.id,
      planHash: '',
      flag: flag.id,
      cohort: cohort.body.id,
      schedule: schedule.id,
      request: request.body.change_request_id,
      project: s.projectId,
      source: source.id,
    }
    const planned = await s.post(`${s.organization}/environment_sets/${set.id}/promote/plan/`, promotion(ids))
    ids.planHash = planned.body.hash
  })
  afterAll(() => s.close())

  const pathOf = ({ path }: Route) =>
    `${path
      .replace(project, s.project)
      .replace(organization, s.organization)
      .replace(/cohorts\/:id/, `cohorts/${ids.cohort}`)
      .replace(/scheduled_changes\/:id/, `scheduled_changes/${ids.schedule}`)
      .replace(':set_id', String(ids.set))
      .replace(':request_id', String(ids.request))
      .replace(':key', 'gated')
      .replace(':id', String(ids.flag))}/`

  /** Without the usage dashboard, which is no part of what a flag does. */
  const stored = async () => {
    const { body: list } = await s.get(`${s.project}/feature_flags/`)
    const { body: cohort } = await s.get(`${s.project}/cohorts/${ids.cohort}/`)
    const { body: members } = await s.get(`${s.project}/cohorts/${ids.cohort}/persons/`)
    const flags = list.results.map(({ usage_dashboard: _dashboard, ...flag }: Record<string, unknown>) => flag)
    return { flags, cohort: { name: cohort.name, version: cohort.version }, members: members.results.length }
  }

  it('is changed by none of them, nor by a schedule that was made before', async () => {
    const before = await stored()
    for (const route of writers.filter(one => nameOf(one) in bodies)) {
      const body = bodies[nameOf(route)]!(ids)
      const reply = await s.send(pathOf(route), {
        method: route.method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      expect(reply.status, `${nameOf(route)}: ${reply.text}`).toBeLessThan(500)
      expect(reply.status, `${nameOf(route)}: ${reply.text}`).not.toBe(404)
      expect(await stored(), nameOf(route)).toEqual(before)
    }
    await s.halyard.jobs.runDue(`${new Date(Date.now() + 2 * 3_600_000).toISOString().slice(0, 19)}.000000Z`)
    expect(await stored()).toEqual(before)
    const { body: schedule } = await s.get(`${s.project}/scheduled_changes/${ids.schedule}/`)
    expect(schedule).toMatchObject({ status: 'failed', failure_reason: expect.stringContaining('needs approval') })
  })
})
