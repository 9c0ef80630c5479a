import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { instantOf } from '../packages/server/src/instant.ts'
import type { DialectName } from '../packages/server/src/storage/migrations/migration.ts'
import { openStorage } from '../packages/server/src/storage/open-storage.ts'
import { tableShapes } from '../packages/server/src/storage/transfer/table-shapes.ts'
import { createPersons } from '../packages/server/src/testing/persons.ts'
import { type Scenario, startScenario } from '../packages/server/src/testing/scenario.ts'
import { seededRandom } from './faults/random.ts'

export interface StagedProject {
  readonly id: number
  readonly token: string
  readonly secretKey: string
  readonly people: readonly string[]
}

const fields = { email: ['a@x.test', 'b@y.test'], plan: ['free', 'pro'], age: ['20', '40', '60'] } as const

/** Ids that occur nowhere else, so that an unmapped id is detected. */
async function startNumbersHigh(databaseUrl: string, dialect: DialectName): Promise<void> {
  const storage = openStorage(databaseUrl)
  const numbered = (await tableShapes()).filter(shape => shape.isNumbered)
  for (const [index, { name }] of numbered.entries()) {
    const start = 730_000_001 + index * 1_000_000
    if (dialect === 'postgres')
      await sql`select setval(pg_get_serial_sequence(${name}, 'id'), ${start})`.execute(storage.kysely)
    else {
      await sql`delete from sqlite_sequence where name = ${name}`.execute(storage.kysely)
      await sql`insert into sqlite_sequence (name, seq) values (${name}, ${start})`.execute(storage.kysely)
    }
  }
  await storage.close()
}

/** Creates a random project with rows in every table that can refer to another. Stops the server afterwards. */
export async function stageProject(
  dialect: DialectName,
  databaseUrl: string,
  seed: number,
  environment: Record<string, string>,
): Promise<StagedProject> {
  const random = seededRandom(seed)
  const below = (n: number) => Math.floor(random() * n)
  const oneOf = <T>(items: readonly T[]): T => items[below(items.length)]!
  const first = await startScenario(dialect, { databaseUrl, environment })
  await first.close()
  await startNumbersHigh(databaseUrl, dialect)
  const s = await startScenario(dialect, { databaseUrl, environment })
  const colleague = await s.join('colleague')
  const ghost = await s.join('ghost')
  const created = (await s.post('/api/projects/', { name: 'Staging' })).body
  const project = `/api/projects/${created.id}`
  const flags = `${project}/feature_flags/`
  const writers = [s, colleague, ghost]
  const secretKey = (await s.post(`${project}/secret_keys/`, { label: 'server' })).body.value

  const people = Array.from({ length: 40 }, (_, n) => `person-${n}`)
  await createPersons(
    s,
    created.id,
    Object.fromEntries(
      people.map(name => [name, { email: oneOf(fields.email), plan: oneOf(fields.plan), age: oneOf(fields.age) }]),
    ),
  )
  await s.as(undefined).post('/batch/', {
    api_key: created.api_token,
    batch: [
      ...['acme', 'globex'].map($group_key => ({
        event: '$groupidentify',
        distinct_id: 'person-0',
        properties: { $group_type: 'company', $group_key, $group_set: { plan: oneOf(fields.plan) } },
      })),
      {
        event: '$feature_flag_called',
        distinct_id: 'person-1',
        properties: { $feature_flag: 'flag-0', $feature_flag_response: true },
      },
    ],
  })

  const personProperty = () => {
    const key = oneOf(Object.keys(fields) as (keyof typeof fields)[])
    return { type: 'person', key, operator: oneOf(['exact', 'is_not']), value: [oneOf(fields[key])] }
  }
  const spelled = (id: number) => (random() < 0.3 ? String(id) : id)
  const cohorts: number[] = []
  for (let n = 0; n < 8; n += 1) {
    const isStatic = n % 4 === 3
    const member = () =>
      cohorts.length > 0 && random() < 0.5
        ? { type: 'cohort', key: 'id', value: spelled(oneOf(cohorts)) }
        : personProperty()
    const values = [{ type: oneOf(['AND', 'OR']), values: [member(), member()] }]
    const { body } = await oneOf(writers).post(`${project}/cohorts/`, {
      name: `cohort ${n}`,
      is_static: isStatic,
      ...(!isStatic && { filters: { properties: { type: 'OR', values } } }),
    })
    if (isStatic)
      await s.patch(`${project}/cohorts/${body.id}/add_persons_to_static_cohort/`, {
        distinct_ids: people.filter(() => random() < 0.4),
      })
    cohorts.push(body.id)
  }

  const dashboard = (await s.post(`${project}/dashboards/`, { name: 'Ours' })).body.id
  const flagIds: number[] = []
  const property = () => {
    const kind = random()
    if (kind < 0.35)
      return { type: 'cohort', key: 'id', value: spelled(oneOf(cohorts)), operator: oneOf(['in', 'not_in']) }
    if (kind < 0.6 && flagIds.length > 0)
      return { type: 'flag', key: String(oneOf(flagIds)), operator: 'flag_evaluates_to', value: random() < 0.5 }
    return personProperty()
  }
  const condition = () => ({
    properties: Array.from({ length: below(3) }, property),
    rollout_percentage: oneOf([null, 30, 60, 100]),
  })
  const filters = () => ({
    groups: Array.from({ length: 1 + below(3) }, condition),
    ...(random() < 0.3 && { aggregation_group_type_index: 0, groups: [{ properties: [], rollout_percentage: 50 }] }),
    ...(random() < 0.4 && {
      multivariate: {
        variants: [
          { key: 'a', rollout_percentage: 40 },
          { key: 'b', rollout_percentage: 60 },
        ],
      },
      payloads: { a: { type: 'cohort', value: 7, note: 'the user’s own' } },
    }),
    ...(random() < 0.2 && { super_groups: [{ properties: [property()], rollout_percentage: 100 }] }),
    ...(random() < 0.2 && { holdout: { id: 7, exclusion_percentage: 20 } }),
  })
  for (let n = 0; n < 16; n += 1) {
    const { body, status } = await oneOf(writers).post(flags, {
      key: `flag-${n}`,
      filters: filters(),
      tags: [n, 'x'],
      ensure_experience_continuity: random() < 0.3,
      ...(random() < 0.2 && { analytics_dashboards: [dashboard] }),
      ...(random() < 0.2 && {
        rollback_conditions: {
          conditions: [{ metric: { event: 'oops', properties: [property()] }, operator: 'gt', threshold: 5 }],
        },
      }),
    })
    if (status !== 201) throw new Error(JSON.stringify(body))
    flagIds.push(body.id)
    if (random() < 0.5) await oneOf(writers).patch(`${flags}${body.id}/`, { filters: filters(), name: 'changed' })
  }
  await s.patch(`${project}/dashboards/${dashboard}/`, { tiles: [{ feature_flag: flagIds[0], metric: 'calls' }] })
  await s.patch(`${flags}${flagIds[15]}/`, { deleted: true })

  await s.put(`${flags}${flagIds[0]}/payload_schema/`, { schema: { description: 'Any payload.' } })
  await s.patch(`${flags}${flagIds[0]}/details/`, { owner: colleague.uuid, expected_end: '2999-01-01' })
  await colleague.post(`${flags}${flagIds[0]}/comments/`, { text: 'Remove it one day.' })

  const roles: string[] = []
  for (const name of ['Crew', 'Only there']) {
    const role = (await s.post(`${s.organization}/roles/`, { name })).body
    await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: ghost.uuid })
    await s.post(`${flags}${oneOf(flagIds)}/role_access/`, { role_id: role.id })
    roles.push(role.id)
  }
  for (const at of ['2999-01-01T00:00:00Z', new Date().toISOString()]) {
    const value = { filters: { groups: [{ properties: [property()] }] } }
    await colleague.post(`${project}/scheduled_changes/`, {
      record_id: flagIds[1],
      model_name: 'FeatureFlag',
      payload: { operation: 'update', value },
      scheduled_at: at,
    })
  }
  await s.halyard.jobs.runDue(instantOf(new Date(Date.now() + 1000)))
  await stagePlugin(s, project)
  await s.post(`${project}/feature_flags/${flagIds[2]}/create_static_cohort_for_flag/`, {})
  // Experience continuity: an anonymous visitor signs in and retains the same values.
  for (const name of people.slice(0, 10))
    await s
      .as(undefined)
      .post('/flags/?v=2', { token: created.api_token, distinct_id: name, $anon_distinct_id: `anon-${name}` })
  await stageRequest(s, colleague, project, { flagId: flagIds[3]!, roles, filters: { groups: [condition()] } })
  await s.close()
  await addRareRows(databaseUrl, created.id, flagIds[0]!)
  return { id: created.id, token: created.api_token, secretKey, people }
}

/** A change request that has one of the two approvals it needs. */
async function stageRequest(
  s: Scenario,
  colleague: Awaited<ReturnType<Scenario['join']>>,
  project: string,
  { flagId, roles, filters }: { flagId: number; roles: string[]; filters: object },
): Promise<void> {
  const approver_config = { quorum: 2, users: [colleague.id], roles }
  await s.post(`${project}/approval_policies/`, { action_key: 'feature_flag.update', approver_config })
  const { body } = await s.patch(`${project}/feature_flags/${flagId}/`, { name: 'requested', filters })
  const request = `${project}/change_requests/${body.change_request_id}`
  await colleague.post(`${request}/approve/`)
  const comment = (await colleague.post(`${request}/comments/`, { text: 'Why now?' })).body
  const reply = await s.post(`${request}/comments/`, { text: 'The sale begins.', parent_id: comment.id })
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.body))
  await s.post(`${project}/inbox/seen/`, { until: new Date().toISOString() })
  const [starts_at, ends_at] = ['2999-01-01T00:00:00Z', '2999-01-02T00:00:00Z']
  await s.post(`${s.organization}/freezes/`, {
    project: Number(project.split('/').at(-1)),
    starts_at,
    ends_at,
    reason: 'x',
  })
}

async function stagePlugin(s: Scenario, project: string): Promise<void> {
  const manifest = {
    name: 'Teller',
    config: [{ key: 'token', type: 'string', secret: true }],
    publicJobs: { Send: { payload: {} } },
  }
  const { id } = (await s.post(`${s.organization}/plugins/`, { name: 'Teller' })).body
  await s.patch(`${s.organization}/plugins/${id}/update_source/`, {
    'plugin.json': JSON.stringify(manifest),
    'index.ts': 'export const jobs = { Send() {} }; export function onFlagChange() {}',
  })
  const config = { plugin: id, enabled: true, config: { token: 'quiet' } }
  const created = (await s.post(`${project}/plugin_configs/`, config)).body
  await s.post(`${project}/plugin_configs/${created.id}/job/`, { job: { type: 'Send', payload: {} } })
  // An enabled plugin would run after the import and change the data.
  await s.patch(`${project}/plugin_configs/${created.id}/`, { enabled: false })
}

/** Adds rows that the server writes only over time. */
async function addRareRows(databaseUrl: string, project_id: number, flag_id: number): Promise<void> {
  const { kysely: db, close } = openStorage(databaseUrl)
  const at = '2026-01-01T00:00:00.000000Z'
  const { id: config_id } = await db.selectFrom('plugin_configs').select('id').executeTakeFirstOrThrow()
  const { id: cohort_id } = await db.selectFrom('cohorts').select('id').executeTakeFirstOrThrow()
  const { id: person } = await db.selectFrom('persons').select('id').orderBy('id').executeTakeFirstOrThrow()
  const { organization_id } = await db
    .selectFrom('projects')
    .select('organization_id')
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow()
  const { created_by_id } = await db
    .selectFrom('flags')
    .select('created_by_id')
    .where('id', '=', flag_id)
    .executeTakeFirstOrThrow()
  const content = { filters: { groups: [{ properties: [{ type: 'cohort', key: 'id', value: cohort_id }] }] } }
  const change = { project_id, flag_id, key: 'flag-0', before: null, after: content, changes: [] }
  const job = { config_id, run_at: '2999-01-01T00:00:00.000000Z', attempts: 0, leased_until: null, created_at: at }
  await db.deleteFrom('plugin_jobs').execute()
  await db
    .insertInto('plugin_jobs')
    .values([
      { ...job, kind: 'flag_change', name: 'onFlagChange', payload: JSON.stringify(change) },
      { ...job, kind: 'job', name: 'Send', payload: JSON.stringify({ flag_id: 5 }) },
    ])
    .execute()
  await db.updateTable('cohort_jobs').set({ position: person, processed: 1 }).execute()
  await db.insertInto('cohort_imports').values({ cohort_id, distinct_ids: '["person-1"]' }).execute()
  await db
    .insertInto('flag_metrics')
    .values({
      flag_id,
      series: 'oops',
      active_since: at,
      minute: at,
      samples: 1,
      total: 0.5,
      lowest: 0.5,
      highest: 0.5,
    })
    .execute()
  const usage = { project_id, flag_key: 'flag-0', kind: 'called', variant: 'true', day: '2026-01-01' }
  const { id: usage_id } = await db
    .insertInto('flag_usage')
    .values({ ...usage, calls: 1, kept_users: 1, sampling_level: 0 })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db.insertInto('flag_usage_users').values({ usage_id, user_hash: 1 }).execute()
  await db.insertInto('flag_last_used').values({ project_id, flag_key: 'flag-0', kind: 'called', at }).execute()
  await db.deleteFrom('plugin_logs').execute()
  await db
    .insertInto('plugin_logs')
    .values({ config_id, logged_at: at, source: 'CONSOLE', type: 'INFO', message: 'hello', instance_id: 'x' })
    .execute()
  await db.insertInto('plugin_storage').values({ config_id, key: 'k', value: '{"flag":1}' }).execute()
  await db
    .insertInto('plugin_attachments')
    .values({ config_id, key: 'f', file_name: 'f', content_type: 'x/y', size_bytes: 1, contents_base64: 'YQ==' })
    .execute()
  await db.insertInto('plugin_schedules').values({ config_id, task: 'runEveryHour', period: 7 }).execute()
  await db
    .insertInto('person_seen')
    .values({ person_id: person, seen_on: at.slice(0, 10) })
    .execute()
  const { id: event_id } = await db
    .insertInto('counted_events')
    .values({ project_id, name: 'purchase', counted_since: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('person_event_days')
    .values({ person_id: person, event_id, day: 20_000, count: 2, is_kept: 0 })
    .execute()
  const { id: history_id } = await db
    .insertInto('counted_events')
    .values({
      ...{ project_id, name: 'purchase', counted_since: at, ended_at: '9999-12-31T23:59:59.999999Z' },
      ...{ history_of: event_id, history_from: at.slice(0, 10) },
      ...{ read_after: 'p', read_ids: 3, total_ids: 3, read_at: at },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('person_event_days')
    .values({ person_id: person, event_id: history_id, day: 19_000, count: 1, is_kept: 0 })
    .execute()
  // Disabled, so that nothing is sent after the import.
  const { id: webhook_id } = await db
    .insertInto('webhooks')
    .values({
      organization_id,
      project_id,
      name: 'Chat',
      url: 'https://chat.example.com/hook',
      format: 'slack',
      events: '["flag.updated"]',
      tag: null,
      secret: 'sealed',
      previous_secret: null,
      previous_secret_expires_at: null,
      enabled: 0,
      failures: 0,
      disabled_reason: null,
      created_by_id,
      created_at: at,
      updated_at: at,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('webhook_deliveries')
    .values({
      webhook_id,
      event_id: randomUUID(),
      kind: 'flag.updated',
      event: '{}',
      status: 'delivered',
      due_at: at,
      attempts: 1,
      response_status: 200,
      failure: null,
      created_at: at,
      attempted_at: at,
    })
    .execute()
  await db
    .insertInto('saved_views')
    .values({ project_id, user_id: created_by_id, name: 'Stale', query: 'state=stale', is_shared: 1, created_at: at })
    .execute()
  const { id: repository_id } = await db
    .insertInto('code_repositories')
    .values({ project_id, name: 'acme/shop', branch: 'main', commit_hash: null, scanned_at: at })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db
    .insertInto('code_references')
    .values({ repository_id, project_id, flag_key: 'flag-0', path: 'src/cart.ts', line: 3, excerpt: "on('flag-0')" })
    .execute()
  await db.insertInto('favorite_flags').values({ project_id, user_id: created_by_id, flag_id }).execute()
  const link = {
    source: 'unleash',
    kind: 'flag',
    source_id: 'staged',
    source_hash: 'a',
    target_hash: 'b',
    imported_at: at,
  }
  await db
    .insertInto('import_links')
    .values({ project_id, flag_id, cohort_id: null, ...link })
    .execute()
  await db
    .insertInto('shadow_days')
    .values({ project_id, flag_id, day: '2026-01-31', agree: 2, differ: 0, differed_at: null, example: null })
    .execute()
  await db
    .insertInto('import_certificates')
    .values({ project_id, import_id: null, summary: '{}', certificate: '{}', created_at: at })
    .execute()
  await db
    .insertInto('sign_ins')
    .values({
      id: 'staged',
      user_id: created_by_id,
      refresh_hash: null,
      user_agent: 'Firefox',
      address: '192.0.2.7',
      created_at: at,
      expires_at: '2999-01-01T00:00:00.000000Z',
    })
    .execute()
  const seen = { project_id, created_at: at, last_seen_at: at }
  await db
    .insertInto('definitions')
    .values({ ...seen, kind: 'person', name: 'staged', property_type: 'String' })
    .execute()
  await db
    .insertInto('definition_values')
    .values({ project_id, name: 'method', value: '"card"', last_seen_at: at })
    .execute()
  const called = { library: 'posthog-node', version: '5.6.0', calls: 3, first_seen_at: at, last_seen_at: at }
  await db
    .insertInto('sdk_usage')
    .values({ project_id, ...called })
    .execute()
  await db.deleteFrom('plugin_metrics').execute()
  const hour = { config_id, hour: at, calls: 1, failures: 0, dropped_events: 0, cpu_ms: 0.25, memory_bytes: 9 }
  await db.insertInto('plugin_metrics').values(hour).execute()
  await close()
}
