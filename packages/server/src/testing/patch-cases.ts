import type { Client, Scenario } from './scenario.ts'

/** One PATCH route: how to make what it changes, and two valid values for each field that it writes. */
export interface PatchCase {
  readonly path: string
  setUp(s: Scenario): Promise<{ readonly path: string; readonly client?: Client }>
  /** Field of the body → two values, both of which the route accepts at any time. */
  readonly values: Readonly<Record<string, readonly [unknown, unknown]>>
  /** Field → other fields that are sent together with it, such as a password that confirms it. */
  readonly sentAlong?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Where a field is shown, if not under its own name. */
  readonly shown?: Readonly<Record<string, (body: Record<string, unknown>) => unknown>>
  /** Fields that have no two values in advance, and why. Each has a test of its own that sends it beside another field. */
  readonly apart?: Readonly<Record<string, string>>
  /** Fields that are not stored as such, and why. */
  readonly without?: Readonly<Record<string, string>>
  /** Pairs that a domain rule ties together: the first also writes the second. */
  readonly tied?: readonly (readonly [string, string, why: string])[]
}

const condition = (percentage: number) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })
const people = (email: string) => ({
  properties: {
    type: 'AND',
    values: [{ type: 'AND', values: [{ key: 'email', type: 'person', value: email, operator: 'exact' }] }],
  },
})
const hours = (n: number) => new Date(Math.ceil(Date.now() / 60_000) * 60_000 + n * 3_600_000)

const project = '/api/projects/:project_id'
const organization = '/api/organizations/:parent_lookup_organization_id'

const pluginFields = {
  name: ['first', 'second'],
  description: ['first', 'second'],
  icon: ['first', 'second'],
  config_schema: [{ a: { type: 'string' } }, { b: { type: 'string' } }],
  tag: ['1.0.0', '2.0.0'],
  is_global: [true, false],
  capabilities: [{ jobs: ['first'] }, { jobs: ['second'] }],
  metrics: [{ first: 'sum' }, { second: 'sum' }],
  public_jobs: [{ first: {} }, { second: {} }],
} as const

export const patchCases: readonly PatchCase[] = [
  {
    path: `${project}/feature_flags/:id`,
    setUp: async s => ({ path: await made(s, `${s.project}/feature_flags/`, { key: 'flag' }) }),
    values: {
      name: ['first', 'second'],
      key: ['first-key', 'second-key'],
      filters: [condition(10), condition(20)],
      deleted: [true, false],
      active: [false, true],
      created_at: ['2021-01-01T00:00:00.000000Z', '2022-02-02T00:00:00.000000Z'],
      ensure_experience_continuity: [true, false],
      rollback_conditions: [{ a: 1 }, { b: 2 }],
      performed_rollback: [true, false],
      tags: [['first'], ['second']],
      analytics_dashboards: [[], [1]],
      has_enriched_analytics: [true, false],
      bucketing_identifier: ['device_id', 'distinct_id'],
      evaluation_runtime: ['server', 'client'],
      evaluation_contexts: [['first'], ['second']],
    },
    without: { version: 'a precondition of the change, not a field' },
    tied: [['active', 'performed_rollback', 'Enabling a flag clears the mark of an earlier rollback.']],
  },
  {
    path: `${project}/feature_flags/:id/details`,
    setUp: async s => ({ path: `${await made(s, `${s.project}/feature_flags/`, { key: 'detailed' })}details/` }),
    values: {
      expected_end: ['2030-01-31', '2031-01-31'],
      links: [[{ title: 'first', url: 'https://example.com/1' }], [{ title: 'second', url: 'https://example.com/2' }]],
    },
    without: { owner: 'names a member; has a test of its own' },
  },
  {
    path: `${project}/change_requests/:request_id/comments/:comment_id`,
    setUp: async s => {
      const flag = await s.post(`${s.project}/feature_flags/`, { key: 'discussed' })
      const request = await s.post(`${s.project}/change_requests/`, {
        flag_id: flag.body.id,
        patch: { name: 'discussed' },
        apply_at: hours(1).toISOString(),
      })
      return { path: await made(s, `${s.project}/change_requests/${request.body.id}/comments/`, { text: 'first' }) }
    },
    values: { text: ['first', 'second'] },
  },
  ...[
    { path: project, own: (_s: Scenario, id: number) => `/api/projects/${id}/` },
    { path: '/api/environments/:project_id', own: (_s: Scenario, id: number) => `/api/environments/${id}/` },
    {
      path: `${organization}/projects/:project_id`,
      own: (s: Scenario, id: number) => `${s.organization}/projects/${id}/`,
    },
  ].map(({ path, own }) => ({
    path,
    setUp: async (s: Scenario) => ({ path: own(s, (await s.post('/api/projects/', { name: 'patched' })).body.id) }),
    values: {
      name: ['first', 'second'],
      timezone: ['Europe/Berlin', 'Asia/Tokyo'],
      property_matching_version: [1, 2],
    } as const,
  })),
  {
    path: organization,
    setUp: async s => ({ path: s.organization }),
    values: { name: ['first', 'second'], default_access_level: [21, 37], plugins_access_level: [6, 9] },
    without: { requires_second_factor: 'needs a second factor of the caller; has a test of its own' },
  },
  {
    path: `${organization}/identity_providers/:provider_id`,
    setUp: async s => ({
      path: await made(s, `${s.organization}/identity_providers/`, {
        name: 'patched',
        issuer: 'https://provider.example',
        client_id: 'halyard',
      }),
    }),
    values: {
      name: ['first', 'second'],
      issuer: ['https://first.example', 'https://second.example'],
      client_id: ['first', 'second'],
      client_secret: ['first secret', ''],
      scopes: [
        ['openid', 'email'],
        ['openid', 'groups'],
      ],
      group_claim: ['first', 'second'],
      group_mappings: [[{ group: 'first', level: 1, role_id: null }], [{ group: 'second', level: 8, role_id: null }]],
      default_level: [0, 1],
      session_hours: [1, 2],
      enabled: [false, true],
    },
    shown: { client_secret: body => (body.has_client_secret ? 'first secret' : '') },
  },
  {
    path: `${organization}/trust_relationships/:relationship_id`,
    setUp: async s => ({
      path: await made(s, `${s.organization}/trust_relationships/`, {
        name: 'patched',
        issuer: 'https://issuer.example',
        audience: 'halyard',
        rules: [{ claim: 'sub', match: 'exact', value: 'job' }],
        scopes: ['feature_flag:read'],
      }),
    }),
    values: {
      name: ['first', 'second'],
      issuer: ['https://first.example', 'https://second.example'],
      audience: ['first', 'second'],
      rules: [[{ claim: 'sub', match: 'exact', value: 'first' }], [{ claim: 'sub', match: 'exact', value: 'second' }]],
      scopes: [['feature_flag:read'], ['cohort:read']],
      projects: [[], [1]],
      ttl_seconds: [60, 120],
    },
  },
  {
    path: `${organization}/roles/:role_id`,
    setUp: async s => ({ path: await made(s, `${s.organization}/roles/`, { name: 'patched' }) }),
    values: { name: ['first', 'second'], feature_flags_access_level: [21, 37] },
  },
  {
    path: `${organization}/resource_access/:id`,
    setUp: async s => ({
      path: await made(s, `${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 37 }),
    }),
    values: { access_level: [21, 37] },
  },
  {
    path: `${organization}/members/:user_uuid`,
    setUp: async s => ({ path: `${s.organization}/members/${(await s.join('patched-member')).uuid}/` }),
    values: { level: [8, 1] },
    shown: { level: () => undefined },
  },
  {
    path: '/api/users/@me',
    async setUp(s) {
      const client = await s.join('patched-user')
      return { path: '/api/users/@me/', client }
    },
    sentAlong: { email: { current_password: 'correct horse battery' } },
    values: {
      first_name: ['first', 'second'],
      email: ['first@example.com', 'second@example.com'],
      change_request_emails: [false, true],
      language: ['de', 'en'],
    },
    apart: {
      password: 'never shown',
      set_current_organization: 'needs two organizations',
      set_current_team: 'needs two projects',
    },
    without: { current_password: 'confirms a change' },
  },
  {
    path: '/api/personal_api_keys/:key_id',
    setUp: async s => ({
      path: await made(s, '/api/personal_api_keys/', { label: 'patched', scopes: ['feature_flag:read'] }),
    }),
    values: {
      label: ['first', 'second'],
      scopes: [['feature_flag:read'], ['cohort:read']],
      scoped_teams: [[1], []],
      expires_at: [hours(24).toISOString(), hours(48).toISOString()],
    },
    shown: { expires_at: body => new Date(String(body.expires_at)).toISOString() },
    apart: { scoped_organizations: 'the id of the organization is not known in advance' },
  },
  {
    path: `${project}/dashboards/:id`,
    setUp: async s => ({ path: await made(s, `${s.project}/dashboards/`, { name: 'patched' }) }),
    values: {
      name: ['first', 'second'],
      description: ['first', 'second'],
      pinned: [true, false],
      tags: [['first'], ['second']],
      tiles: [[], []],
    },
    apart: { deleted: 'a deleted dashboard accepts nothing but its restoration' },
  },
  {
    path: `${project}/cohorts/:id`,
    setUp: async s => ({ path: await made(s, `${s.project}/cohorts/`, { name: 'patched', filters: people('a@b.c') }) }),
    values: {
      name: ['first', 'second'],
      description: ['first', 'second'],
      filters: [people('first@example.com'), people('second@example.com')],
      deleted: [true, false],
    },
    apart: {
      distinct_ids: 'adds members of a static cohort',
      person_ids: 'adds members of a static cohort',
    },
    without: {
      groups: 'another spelling of filters',
      query: 'another spelling of filters',
      is_static: 'a cohort stays dynamic or static',
      version: 'a precondition of the change, not a field',
    },
  },
  {
    path: `${project}/scheduled_changes/:id`,
    async setUp(s) {
      const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'scheduled' })
      const change = { operation: 'update_status', value: false }
      const recurrence = { is_recurring: true, recurrence_interval: 'monthly' }
      const plan = { record_id: flag.id, payload: change, scheduled_at: hours(1).toISOString(), ...recurrence }
      return { path: await made(s, `${s.project}/scheduled_changes/`, plan) }
    },
    values: {
      payload: [
        { operation: 'update_status', value: true },
        { operation: 'update_status', value: false },
      ],
      scheduled_at: [hours(24).toISOString(), hours(48).toISOString()],
      is_recurring: [false, true],
      recurrence_interval: ['daily', 'weekly'],
      timezone: ['Europe/Berlin', 'Asia/Tokyo'],
      end_date: [hours(9000).toISOString(), hours(9001).toISOString()],
    },
    apart: { cron_expression: 'excludes recurrence_interval' },
    shown: {
      scheduled_at: body => new Date(String(body.scheduled_at)).toISOString(),
      end_date: body => new Date(String(body.end_date)).toISOString(),
    },
  },
  {
    path: `${project}/approval_policies/:policy_id`,
    setUp: async s => ({
      path: await made(s, `${s.project}/approval_policies/`, { action_key: 'feature_flag.create', enabled: false }),
    }),
    values: {
      action_key: ['feature_flag.create', 'feature_flag.delete'],
      conditions: [{ type: 'author_is_key' }, { type: 'tag', value: 'first' }],
      allow_self_approve: [true, false],
      allow_keys: [true, false],
      expires_after_hours: [1, 2],
      reapprove_percent: [1, 2],
      reapprove_people: [1, 2],
    },
    without: {
      approver_config: 'needs users and roles; has a test of its own',
      emergency_roles: 'needs roles; has a test of its own',
      enabled: 'would gate the other cases',
    },
  },
  {
    path: `${project}/webhooks/:webhook_id`,
    setUp: async s => ({
      path: await made(s, `${s.project}/webhooks/`, { name: 'patched', url: 'https://example.com/' }),
    }),
    values: {
      name: ['first', 'second'],
      url: ['https://example.com/first', 'https://example.com/second'],
      format: ['slack', 'discord'],
      events: [['flag.created'], ['flag.deleted']],
      tag: ['first', 'second'],
      enabled: [false, true],
    },
  },
  {
    path: `${organization}/environment_sets/:set_id`,
    setUp: async s => ({ path: await made(s, `${s.organization}/environment_sets/`, { name: 'patched' }) }),
    values: { name: ['first', 'second'] },
    without: { environments: 'names projects; has a test of its own' },
  },
  {
    path: `${organization}/plugins/:id`,
    setUp: async s => ({ path: await made(s, `${s.organization}/plugins/`, { name: 'patched' }) }),
    values: pluginFields,
    // What ran is measured: the stored value is shown only where nothing is.
    shown: { metrics: () => undefined },
    apart: { plugin_type: 'also decides the url' },
  },
  {
    path: `${project}/plugin_configs/:id`,
    async setUp(s) {
      const schema = { a: { type: 'string' }, file: { type: 'attachment' } }
      const { body } = await s.post(`${s.organization}/plugins/`, { name: 'configured', config_schema: schema })
      return { path: await made(s, `${s.project}/plugin_configs/`, { plugin: body.id }) }
    },
    values: {
      enabled: [true, false],
      order: [1, 2],
      config: [{ a: 'first' }, { a: 'second' }],
      name: ['first', 'second'],
      description: ['first', 'second'],
    },
    apart: {
      deleted: 'also disables the configuration',
      allowed_hosts: 'limited to the hosts that the plugin declares',
      attachments: 'rows of their own, one for each key',
    },
  },
]

/** PATCH routes that are actions: they have no two fields that could meet. */
export const patchActions: Readonly<Record<string, string>> = {
  [`${organization}/single_sign_on`]: 'writes one field',
  '/scim/v2/:organization_id/Users/:id': 'sends operations; tried on two nodes in scim.test.ts',
  '/scim/v2/:organization_id/Groups/:id': 'sends operations; tried on two nodes in scim.test.ts',
  [`${project}/reset_token`]: 'writes the token alone; tried beside a rename',
  [`${project}/cohorts/:id/add_persons_to_static_cohort`]: 'adds rows; tried beside itself',
  [`${project}/cohorts/:id/remove_person_from_static_cohort`]: 'removes rows; tried beside itself',
  [`${project}/plugin_configs/rearrange`]: 'writes the places alone; tried beside a rename of a configuration',
  [`${organization}/plugins/:id/update_source`]: 'writes files; tried with two files',
}

/** The path of a new object, from the collection that it is posted to. */
async function made(client: Client, collection: string, body: object): Promise<string> {
  const reply = await client.post(collection, body)
  if (reply.status !== 201) throw new Error(`POST ${collection} responded ${reply.status}: ${reply.text}`)
  return `${collection}${reply.body.id}/`
}
