import { allRoutes, fullScopeOf, type Route } from '@halyard/contract'
import type { Scenario } from './scenario.ts'

const objects = ['feature_flag', 'cohort', 'change_request', 'policy', 'freeze'] as const

/** Every route that can write a flag or cohort, or what controls their changes, from the route table. */
export const flagWriters = allRoutes.filter(
  ({ method, access }) =>
    method !== 'GET' &&
    access.kind === 'key' &&
    access.scopes.some(scope => objects.some(object => scope === fullScopeOf(object))),
)

export const project = '/api/projects/:project_id'
export const organization = '/api/organizations/:parent_lookup_organization_id'
export const flags = `${project}/feature_flags`
export const cohorts = `${project}/cohorts`
export const requests = `${project}/change_requests`
const condition = { groups: [{ properties: [], rollout_percentage: 99 }] }
export const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

const promotion = (ids: Ids) => ({
  feature_flag_keys: ['gated'],
  from: ids.source,
  to: ids.project,
  parts: ['filters', 'payloads', 'tags', 'active'],
  hash: ids.planHash,
})

export interface Ids {
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
export const bodies: Readonly<Record<string, (ids: Ids) => unknown>> = {
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

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

/** What the bodies name, in the first project. `protect` runs before the request and the plan are made. */
export async function stageWrites(s: Scenario, protect: () => Promise<unknown> = async () => {}): Promise<Ids> {
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
  await protect()
  const request = await s.post(`${s.project}/change_requests/`, {
    flag_id: flag.id,
    patch: { name: 'requested' },
    apply_at: inAnHour(),
  })
  const environments = [
    { name: 'source', project: source.id },
    { name: 'gated', project: s.projectId },
  ]
  const { body: set } = await s.post(`${s.organization}/environment_sets/`, { name: 'set', environments })
  const ids = {
    set: set.id,
    planHash: '',
    flag: flag.id,
    cohort: cohort.body.id,
    schedule: schedule.id,
    request: request.body.id,
    project: s.projectId,
    source: source.id,
  }
  const planned = await s.post(`${s.organization}/environment_sets/${set.id}/promote/plan/`, promotion(ids))
  return { ...ids, planHash: planned.body.hash }
}

export const pathOf = ({ path }: Route, s: Scenario, ids: Ids): string =>
  `${path
    .replace(project, s.project)
    .replace(organization, s.organization)
    .replace(/cohorts\/:id/, `cohorts/${ids.cohort}`)
    .replace(/scheduled_changes\/:id/, `scheduled_changes/${ids.schedule}`)
    .replace(':set_id', String(ids.set))
    .replace(':request_id', String(ids.request))
    .replace(':key', 'gated')
    .replace(/:id|:parent_lookup_feature_flag_id/, String(ids.flag))}/`

/** The flags, the cohort and its members, without the usage dashboard, which is no part of what a flag does. */
export async function storedContent(s: Scenario, ids: Ids) {
  const { body: list } = await s.get(`${s.project}/feature_flags/`)
  const { body: cohort } = await s.get(`${s.project}/cohorts/${ids.cohort}/`)
  const { body: members } = await s.get(`${s.project}/cohorts/${ids.cohort}/persons/`)
  const content = list.results.map(({ usage_dashboard: _dashboard, ...flag }: Record<string, unknown>) => flag)
  return { flags: content, cohort: { name: cohort.name, version: cohort.version }, members: members.results.length }
}
