import { allRoutes, isAudited } from '@halyard/contract'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Client, type Reply, type Scenario, startTwoNodes, type TwoNodes } from '../../testing/scenario.ts'
import { clientId, signInWith } from '../../testing/single-sign-on.ts'
import { startTokenIssuer, type TokenIssuer } from '../../testing/token-issuer.ts'
import { hashSecret } from '../identity/secret.ts'

const soon = () => new Date(Date.now() + 3_600_000).toISOString()

/** Routes whose writes other tests make, with what they record. */
const elsewhere: Readonly<Record<string, string>> = {
  installPlugin: 'needs a registry',
  upgradePlugin: 'needs a registry',
  acceptPluginRelease: 'needs a second organization with a global plugin',
  applyChangeRequest: 'approving applies; approvals.test.ts applies later',
  startPluginJob: 'needs a plugin with jobs',
  addPasskey: 'needs an authenticator; records as an authenticator app does',
  loginWithPasskey: 'needs an authenticator; records as the other sign-ins do',
}

/** Routes that are no GET and record nothing. */
const unrecorded: Readonly<Record<string, string>> = {
  deleteFeatureFlag: 'always 405',
  deleteCohort: 'always 405',
  deleteDashboard: 'always 405',
  requestPasswordReset: 'by a stranger; following the link is recorded',
  beginPasskeyLogin: 'by a stranger; the sign-in is recorded',
}

/** What is secret in bodies and cookies that are sent and received. */
const secretNames = new Set(
  'password current_password value token api_key api_token secret client_secret access_token recovery_code subject_token logout_token'.split(
    ' ',
  ),
)

/** The value of a claim rule is none. */
function* secretsIn(value: unknown, name = ''): Generator<string> {
  if (Array.isArray(value))
    for (const item of value) yield* secretsIn(item, name === 'recovery_codes' ? 'secret' : name)
  else if (typeof value === 'object' && value !== null && !('claim' in value))
    for (const [key, member] of Object.entries(value)) yield* secretsIn(member, key)
  else if (typeof value === 'string' && secretNames.has(name) && value.length >= 8) yield value
}

interface Call {
  readonly operation: string
  readonly reply: Reply
}

onEachDatabase('every route that writes, on two nodes', dialect => {
  let nodes: TwoNodes
  let s: Scenario
  const calls: Call[] = []
  const statuses: Record<string, string> = {}
  const secrets = new Set<string>()
  let issuer: TokenIssuer
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    const environment = {
      HALYARD_TRUSTED_ORIGINS: issuer.url,
      HALYARD_OWNER_EMAIL: 'owner@example.com',
      HALYARD_OWNER_PASSWORD: 'owner-password-1',
    }
    nodes = await startTwoNodes(dialect, { environment })
    s = nodes.one
  }, 60_000)
  afterAll(async () => {
    await nodes.close()
    await issuer.close()
  })

  const routeOf = (method: string, path: string) =>
    allRoutes
      .filter(route => route.method === method)
      .sort((a, b) => (a.path.match(/:/g)?.length ?? 0) - (b.path.match(/:/g)?.length ?? 0))
      .find(route => new RegExp(`^${route.path.replace(/:\w+/g, '[^/]+')}/?$`).test(path.split('?')[0]!))

  const noteCall = (method: string, path: string, reply: Reply, sent: unknown): Reply => {
    const operation = routeOf(method, path)?.operationId ?? `no route for ${method} ${path}`
    if (reply.status >= 300) statuses[operation] = `${reply.status} ${reply.text}`
    calls.push({ operation, reply })
    const cookies = reply.headers.getSetCookie().map(cookie => cookie.split(';')[0]!.split('=')[1]!)
    const isScim = path.startsWith('/scim/')
    const found = isScim ? [] : [...secretsIn(sent), ...secretsIn(reply.body), ...cookies.filter(Boolean)]
    for (const secret of found) secrets.add(secret)
    return reply
  }
  const call = async (method: string, path: string, body?: unknown, client: Client = s): Promise<Reply['body']> => {
    const reply = await nodes.inTurn(client).send(path, {
      method,
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    return noteCall(method, path, reply, body).body
  }
  const callWithForm = async (path: string, form: Record<string, string>): Promise<Reply['body']> => {
    const reply = await nodes.inTurn(s.as(undefined)).send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
    return noteCall('POST', path, reply, form).body
  }

  async function writeFlags(): Promise<void> {
    const flags = `${s.project}/feature_flags`
    const flag = await call('POST', `${flags}/`, { key: 'audited', tags: ['old'] })
    const own = `${flags}/${flag.id}`
    await call('PATCH', `${own}/`, { name: 'n' })
    for (const step of ['disable', 'enable', 'archive', 'unarchive']) await call('POST', `${own}/${step}/`, {})
    await call('POST', `${own}/set_rollout/`, { rollout_percentage: 20 })
    await call('POST', `${own}/add_condition/`, { condition: { properties: [], rollout_percentage: 5 } })
    await call('POST', `${own}/remove_condition/`, { condition_index: 1 })
    await call('POST', `${own}/set_payload/`, { payload: 1 })
    const variants = [
      { key: 'a', rollout_percentage: 50 },
      { key: 'b', rollout_percentage: 50 },
    ]
    const split = await call('POST', `${flags}/`, {
      key: 'split',
      filters: { groups: [{}], multivariate: { variants } },
    })
    await call('POST', `${flags}/${split.id}/set_variant_split/`, { variants: { a: 10, b: 90 } })
    await call('POST', `${own}/restore/`, { version: 1 })
    await call('PATCH', `${own}/details/`, { links: [{ title: 'Plan', url: 'https://example.com/plan' }] })
    const comment = await call('POST', `${own}/comments/`, { text: 'Looks good.' })
    await call('DELETE', `${own}/comments/${comment.id}/`)
    await call('PUT', `${own}/favorite/`)
    await call('DELETE', `${own}/favorite/`)
    await call('PUT', `${own}/payload_schema/`, { schema: { type: 'number' } })
    await call('DELETE', `${own}/payload_schema/`)
    await call('POST', `${flags}/bulk_update/`, { ids: [flag.id, split.id], tags: ['old'] })
    await call('POST', `${flags}/replace_tag/`, { tag: 'old', replacement: 'new' })
    await call('POST', `${own}/dashboard/`, {})
    await call('POST', `${own}/enrich_usage_dashboard/`, {})
    await call('POST', `${own}/create_static_cohort_for_flag/`, {})
    await call('POST', `${s.project}/flag_overrides/`, { overrides: { audited: true } })
    for (const base of ['', s.project]) {
      const manifest = `${base}/openfeature/v0/manifest/flags`
      const key = `manifest${base.length}`
      await call('POST', `${manifest}/`, { key, type: 'boolean', defaultValue: true })
      await call('PUT', `${manifest}/${key}/`, { key, type: 'boolean', description: 'changed' })
      await call('DELETE', `${manifest}/${key}/`)
    }
    const plan = {
      record_id: flag.id,
      payload: { operation: 'update', value: { name: 'later' } },
      scheduled_at: soon(),
    }
    const schedule = await call('POST', `${s.project}/scheduled_changes/`, plan)
    await call('PATCH', `${s.project}/scheduled_changes/${schedule.id}/`, { scheduled_at: soon() })
    await call('DELETE', `${s.project}/scheduled_changes/${schedule.id}/`)
    await call('PUT', `${s.project}/code_references/`, { repository: 'shop', references: [] })
    const [repository] = (await s.get(`${s.project}/code_repositories/`)).body
    await call('DELETE', `${s.project}/code_repositories/${repository.id}/`)
    const view = await call('POST', `${s.project}/saved_views/`, { name: 'Mine', query: 'q=x' })
    await call('DELETE', `${s.project}/saved_views/${view.id}/`)
    const dashboard = await call('POST', `${s.project}/dashboards/`, { name: 'Numbers' })
    await call('PATCH', `${s.project}/dashboards/${dashboard.id}/`, { name: 'Figures' })
    await call('POST', `${flags}/bulk_delete/`, { ids: [split.id] })
  }

  async function writeCohorts(): Promise<void> {
    const cohorts = `${s.project}/cohorts`
    for (const distinct_id of ['ada', 'bob']) {
      await s.post('/capture/', { api_key: s.projectToken, event: '$identify', distinct_id })
    }
    const groups = { $group_type: 'company', $group_key: 'acme', $group_set: { size: 1 } }
    await s.post('/capture/', {
      api_key: s.projectToken,
      event: '$groupidentify',
      distinct_id: 'ada',
      properties: groups,
    })
    const cohort = await call('POST', `${cohorts}/`, { name: 'Static', is_static: true, distinct_ids: ['ada'] })
    await call('PATCH', `${cohorts}/${cohort.id}/`, { name: 'Renamed' })
    await call('POST', `${cohorts}/${cohort.id}/persons/`, { distinct_ids: ['bob'] })
    await call('PATCH', `${cohorts}/${cohort.id}/add_persons_to_static_cohort/`, { distinct_ids: ['bob'] })
    await call('PATCH', `${cohorts}/${cohort.id}/remove_person_from_static_cohort/`, { distinct_ids: ['bob'] })
    const values = [{ type: 'AND', values: [{ key: 'plan', operator: 'exact', value: 'b', type: 'person' }] }]
    const dynamic = await call('POST', `${cohorts}/`, { name: 'D', filters: { properties: { type: 'OR', values } } })
    await call('POST', `${cohorts}/${dynamic.id}/calculate/`, {})
    await call('POST', `${cohorts}/${dynamic.id}/duplicate_as_static_cohort/`, {})
    await call('GET', `${cohorts}/${dynamic.id}/duplicate_as_static_cohort/`)
    const { body: persons } = await s.get(`${s.project}/persons/?distinct_id=bob`)
    await call('DELETE', `${s.project}/persons/${persons.results[0].id}/`)
    await call('DELETE', `${s.project}/groups/?group_type_index=0&group_key=acme`)
  }

  async function writeControl(): Promise<void> {
    const flags = `${s.project}/feature_flags`
    const policies = `${s.project}/approval_policies`
    const second = await s.join('second', 8)
    const gated = (await s.post(`${flags}/`, { key: 'gated' })).body
    const approvers = [{ user: second.uuid }]
    const policy = await call('POST', `${policies}/`, { action_key: 'feature_flag.update', approvers })
    await call('PATCH', `${policies}/${policy.id}/`, { quorum: 1 })
    const requests = `${s.project}/change_requests`
    const open = (name: string) =>
      call('POST', `${requests}/`, { flag_id: gated.id, patch: { name }, apply_at: soon() })
    const first = await open('one')
    const comments = `${requests}/${first.id}/comments`
    const comment = await call('POST', `${comments}/`, { text: 'Why?' })
    await call('PATCH', `${comments}/${comment.id}/`, { text: 'Why now?' })
    await call('DELETE', `${comments}/${comment.id}/`)
    await call('POST', `${requests}/${first.id}/reschedule/`, { apply_at: soon() })
    await call('POST', `${requests}/${first.id}/cancel/`, { reason: 'x' })
    const other = await open('two')
    await call('POST', `${requests}/${other.id}/reject/`, { reason: 'no' }, second)
    const third = await open('three')
    await call('POST', `${requests}/${third.id}/approve/`, {}, second)
    await writeLeftRequests(gated.id, second)
    await call('DELETE', `${policies}/${policy.id}/`)
    const freeze = await call('POST', `${s.organization}/freezes/`, { reason: 'x', ends_at: soon(), tag: 'none' })
    await call('DELETE', `${s.organization}/freezes/${freeze.id}/`)
    const webhooks = `${s.project}/webhooks`
    const hook = await call('POST', `${webhooks}/`, { name: 'Hook', url: 'https://127.0.0.1:1/x' })
    await call('PATCH', `${webhooks}/${hook.id}/`, { name: 'Renamed' })
    await call('POST', `${webhooks}/${hook.id}/rotate_secret/`, {})
    const delivery = await call('POST', `${webhooks}/${hook.id}/test/`, {})
    await call('POST', `${webhooks}/${hook.id}/deliveries/${delivery.id}/resend/`, {})
    await call('DELETE', `${webhooks}/${hook.id}/`)
  }

  /** Of someone who left, and of an owner in an emergency. */
  async function writeLeftRequests(flag: number, second: Client): Promise<void> {
    const requests = `${s.project}/change_requests`
    const leaver = await s.join('leaver')
    const { body: left } = await leaver.post(`${requests}/`, { flag_id: flag, patch: { name: 'left' } })
    await s.delete(`${s.organization}/members/${leaver.uuid}/`)
    await call('POST', `${requests}/${left.id}/claim/`, { reason: 'We want it.' })
    await call('POST', `${requests}/${left.id}/rebase/`, {})
    const emergency = { 'x-halyard-emergency': 'Checkout is down' }
    expect((await s.patch(`${s.project}/feature_flags/${flag}/`, { name: 'fixed' }, emergency)).status).toBe(200)
    const [open] = (await s.get(`${requests}/?review=open`)).body.results
    await call('POST', `${requests}/${open.id}/review/`, { note: 'Justified.' }, second)
  }

  async function writeOrganization(): Promise<void> {
    const { organization } = s
    await call('PATCH', `${organization}/`, { name: 'Renamed' })
    const role = await call('POST', `${organization}/roles/`, { name: 'Editors' })
    await call('PATCH', `${organization}/roles/${role.id}/`, { name: 'Writers' })
    const member = await s.join('third')
    const memberships = `${organization}/roles/${role.id}/role_memberships`
    const membership = await call('POST', `${memberships}/`, { user_uuid: member.uuid })
    await call('DELETE', `${memberships}/${membership.id}/`)
    const flag = (await s.post(`${s.project}/feature_flags/`, { key: 'granted' })).body
    const access = await call('POST', `${s.project}/feature_flags/${flag.id}/role_access/`, { role_id: role.id })
    await call('DELETE', `${s.project}/feature_flags/${flag.id}/role_access/${access.id}/`)
    const control = { access_level: 'editor', role: role.id }
    await call('PUT', `${s.project}/feature_flags/${flag.id}/access_controls/`, control)
    await call('PUT', `${s.project}/resource_access_controls/`, { access_level: 'viewer', resource: 'feature_flag' })
    const [setting] = (await s.get(`${organization}/resource_access/`)).body.results
    await call('PATCH', `${organization}/resource_access/${setting.id}/`, { access_level: 37 })
    await call('DELETE', `${organization}/resource_access/${setting.id}/`)
    await call('POST', `${organization}/resource_access/`, { resource: 'cohorts' })
    await call('DELETE', `${organization}/roles/${role.id}/`)
    await call('PATCH', `${organization}/members/${member.uuid}/`, { level: 8 })
    await call('DELETE', `${organization}/members/${member.uuid}/`)
    const invite = await call('POST', `${organization}/invites/`, { target_email: 'x@example.com' })
    await call('DELETE', `${organization}/invites/${invite.id}/`)
    const key = await call('POST', '/api/personal_api_keys/', { label: 'CI' })
    await call('PATCH', `/api/personal_api_keys/${key.id}/`, { label: 'CD' })
    await call('DELETE', `/api/personal_api_keys/${key.id}/`)
    await call('PATCH', '/api/users/@me/', { first_name: 'Ada' })
    const plugins = `${organization}/plugins`
    const plugin = await call('POST', `${plugins}/`, { name: 'Mine' })
    await call('PATCH', `${plugins}/${plugin.id}/`, { description: 'x' })
    await call('PATCH', `${plugins}/${plugin.id}/update_source/`, { 'index.js': 'export function onEvent() {}' })
    const configs = `${s.project}/plugin_configs`
    const config = await call('POST', `${configs}/`, { plugin: plugin.id, enabled: false, order: 1 })
    await call('PATCH', `${configs}/${config.id}/`, { order: 2 })
    await call('PATCH', `${configs}/rearrange/`, { orders: { [plugin.id]: 3 } })
    await call('DELETE', `${configs}/${config.id}/`)
    await call('DELETE', `${plugins}/${plugin.id}/`)
    await call('GET', `${s.project}/feature_flags/export/`)
    await call('GET', `${organization}/audit_log/`)
    await call('GET', `${organization}/audit_log/export/`)
  }

  async function writeProjects(): Promise<void> {
    const { organization } = s
    const project = await call('POST', '/api/projects/', { name: 'Next' })
    const own = `/api/projects/${project.id}`
    await call('POST', `${own}/load_demo/`)
    await call('PATCH', `${own}/`, { name: 'Renamed' })
    await call('PATCH', `${own}/reset_token/?overlap_hours=1`)
    await call('DELETE', `${own}/previous_token/`)
    const secret = await call('POST', `${own}/secret_keys/`, { label: 'Server' })
    await call('DELETE', `${own}/secret_keys/${secret.id}/`)
    await call('PATCH', `/api/environments/${project.id}/`, { name: 'Again' })
    await s.post(`${s.project}/feature_flags/`, { key: 'copied' })
    const copy = { feature_flag_key: 'copied', from_project: s.projectId, target_project_ids: [project.id] }
    await call('POST', `${organization}/feature_flags/copy_flags/`, copy)
    const environments = [
      { name: 'one', project: s.projectId },
      { name: 'two', project: project.id },
    ]
    const sets = `${organization}/environment_sets`
    const set = await call('POST', `${sets}/`, { name: 'Set', environments })
    await call('PATCH', `${sets}/${set.id}/`, { name: 'Renamed' })
    await s.patch(
      `${s.project}/feature_flags/${(await s.get(`${s.project}/feature_flags/?search=copied`)).body.results[0].id}/`,
      { name: 'promoted' },
    )
    const promotion = { feature_flag_keys: ['copied'], from: s.projectId, to: project.id, parts: ['filters', 'tags'] }
    const planned = (await s.post(`${sets}/${set.id}/promote/plan/`, promotion)).body
    await call('POST', `${sets}/${set.id}/promote/`, { ...promotion, hash: planned.hash })
    await call('DELETE', `${sets}/${set.id}/`)
    await call('DELETE', `${own}/`)
    const within = await call('POST', `${organization}/projects/`, { name: 'Within' })
    await call('PATCH', `${organization}/projects/${within.id}/`, { name: 'Within too' })
    await call('DELETE', `${organization}/projects/${within.id}/`)
    const other = await call('POST', '/api/organizations/', { name: 'Other' })
    await call('DELETE', `/api/organizations/${other.id}/`)
  }

  async function writeAccount(): Promise<void> {
    const credentials = { email: 'fourth@example.com', password: 'correct horse battery' }
    await s.join('fourth')
    const signIn = async () => s.as((await s.as(undefined).post('/api/login/', credentials)).body.api_key)
    const one = await signIn()
    await signIn()
    const list = (await one.get('/api/users/@me/sign_ins/')).body as { id: string; is_current: boolean }[]
    await call('DELETE', `/api/users/@me/sign_ins/${list.find(signIn => !signIn.is_current)!.id}/`, undefined, one)
    await call('POST', '/api/logout/', undefined, await signIn())
    const { token: proof } = await call('POST', '/api/users/@me/proof/options/', undefined, one)
    await call('POST', '/api/users/@me/proof/', { token: proof, password: credentials.password }, one)
    const factors = '/api/users/@me/second_factors'
    const step = await call('POST', `${factors}/code/`, undefined, one)
    const code = new TOTP({ secret: Secret.fromBase32(step.secret) }).generate()
    const { factor } = await call('POST', `${factors}/code/confirm/`, { token: step.token, code }, one)
    await call('POST', '/api/users/@me/recovery_codes/', undefined, one)
    await call('POST', `${factors}/passkey/`, undefined, one)
    await call('DELETE', `${factors}/${factor.id}/`, undefined, one)
    const sixth = await s.join('sixth')
    const { body: again } = await sixth.post(`${factors}/code/`)
    const first = new TOTP({ secret: Secret.fromBase32(again.secret) }).generate()
    await sixth.post(`${factors}/code/confirm/`, { token: again.token, code: first })
    await call('DELETE', `${s.organization}/members/${sixth.uuid}/second_factors/`)
    const stranger = await s.stranger('fifth')
    const target = { target_email: 'fifth@elsewhere.example' }
    const { token } = (await s.post(`${s.organization}/invites/`, target)).body
    await call('POST', `/api/signup/${token}/join/`, {}, stranger)
  }

  async function writeProvisioning(): Promise<void> {
    const tokens = `${s.organization}/scim_tokens`
    const token = await call('POST', `${tokens}/`, { label: 'Provider' })
    const scim = s.as(token.value)
    const root = `/scim/v2/${s.organization.split('/').at(-1)}`
    const schema = (name: string) => [`urn:ietf:params:scim:schemas:core:2.0:${name}`]
    const patch = (path: string, value: unknown) => ({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', path, value }],
    })
    const user = { schemas: schema('User'), userName: 'seventh@example.com' }
    const { id } = await call('POST', `${root}/Users`, user, scim)
    await call('PUT', `${root}/Users/${id}`, { ...user, displayName: 'Seven' }, scim)
    await call('PATCH', `${root}/Users/${id}`, patch('active', false), scim)
    const group = { schemas: schema('Group'), displayName: 'Sevens', members: [{ value: id }] }
    const { id: groupId } = await call('POST', `${root}/Groups`, group, scim)
    await call('PUT', `${root}/Groups/${groupId}`, { ...group, externalId: 'g' }, scim)
    await call('PATCH', `${root}/Groups/${groupId}`, patch('displayName', 'Eights'), scim)
    await call('DELETE', `${root}/Groups/${groupId}`, undefined, scim)
    await call('DELETE', `${root}/Users/${id}`, undefined, scim)
    await call('DELETE', `${tokens}/${token.id}/`)
  }

  async function writeIdentity(): Promise<void> {
    const { organization } = s
    const domains = `${organization}/domains`
    const domain = await call('POST', `${domains}/`, { domain: 'example.com' })
    await call('POST', `${domains}/${domain.id}/verify/`, { without_record: true })
    const content = { name: 'Provider', issuer: issuer.url, client_id: clientId, client_secret: 'a client secret' }
    const provider = await call('POST', `${organization}/identity_providers/`, content)
    const own = `${organization}/identity_providers/${provider.id}`
    await call('PATCH', `${own}/`, { client_secret: 'another client secret', session_hours: 2 })
    await signInWithProvider(provider.id)
    const factors = '/api/users/@me/second_factors'
    const owner = await signInAs('owner@example.com', 'owner-password-1')
    const step = (await owner.post(`${factors}/code/`)).body
    const code = new TOTP({ secret: Secret.fromBase32(step.secret) }).generate()
    expect((await owner.post(`${factors}/code/confirm/`, { token: step.token, code })).status).toBe(201)
    await call('PATCH', `${organization}/single_sign_on/`, { is_required: true })
    await call('PATCH', `${organization}/single_sign_on/`, { is_required: false })
    await call('DELETE', `${own}/`)
    await call('DELETE', `${domains}/${domain.id}/`)
    const key = await call('POST', `${organization}/service_keys/`, { label: 'Deploy', scopes: ['*'] })
    await call('DELETE', `${organization}/service_keys/${key.id}/`)
    const rules = [{ claim: 'repository', match: 'exact', value: 'acme/shop' }]
    const trust = await call('POST', `${organization}/trust_relationships/`, {
      ...{ name: 'CI', issuer: issuer.url, audience: 'halyard', rules },
      ...{ scopes: ['feature_flag:write'], projects: [s.projectId] },
    })
    await callWithForm('/api/token/', {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: await issuer.sign({ aud: 'halyard', sub: 'job', repository: 'acme/shop' }),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      audience: trust.id,
    })
    await call('PATCH', `${organization}/trust_relationships/${trust.id}/`, { ttl_seconds: 60 })
    await call('DELETE', `${organization}/trust_relationships/${trust.id}/`)
  }

  const signInAs = async (email: string, password: string): Promise<Client> =>
    s.as((await s.as(undefined).post('/api/login/', { email, password })).body.api_key)

  async function signInWithProvider(providerId: string): Promise<void> {
    const claims = { sub: 'ada', email: 'ada@example.com', email_verified: true, sid: 'session' }
    const reply = await signInWith(s, issuer, providerId, claims)
    noteCall('POST', `/api/login/sso/${providerId}/finish/`, reply, {})
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} }
    const token = await issuer.sign({ aud: clientId, sid: 'session', jti: 'one', events })
    await callWithForm(`/api/login/sso/${providerId}/backchannel_logout/`, { logout_token: token })
  }

  async function writeSignIns(): Promise<void> {
    const open = s.as(undefined)
    const invite = await call('POST', `${s.organization}/invites/`, { target_email: 'eighth@example.com' })
    const credentials = { email: 'eighth@example.com', password: 'a password that is known' }
    const account = { first_name: 'Eight', password: credentials.password }
    await call('POST', `/api/signup/${invite.token}/`, account, open)
    const remembered = await open.post('/api/login/', { ...credentials, remember: true })
    noteCall('POST', '/api/login/', remembered, credentials)
    const cookie = remembered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const resumed = await open.post('/api/session/resume/', undefined, { cookie })
    noteCall('POST', '/api/session/resume/', resumed, {})
    const own = s.as(resumed.body.api_key)
    const step = await call('POST', '/api/users/@me/second_factors/code/', undefined, own)
    const code = new TOTP({ secret: Secret.fromBase32(step.secret) }).generate()
    const added = await call('POST', '/api/users/@me/second_factors/code/confirm/', { token: step.token, code }, own)
    const { token } = (await open.post('/api/login/', credentials)).body
    await call('POST', '/api/login/second_factor/', { token, recovery_code: added.recovery_codes[0] }, open)
    const reset = 'A'.repeat(43)
    const { id: userId, email } = (await own.get('/api/users/@me/')).body
    const data = JSON.stringify({ email })
    const stored = { hash: hashSecret(reset), userId, purpose: 'password_reset', data } as const
    const now = instantOf(new Date())
    const expiresAt = instantOf(new Date(Date.now() + 60_000))
    await s.halyard.database.transaction(tx => tx.accountTokens.create({ ...stored, expiresAt }, now))
    const chosen = { token: reset, password: 'the next password that is known' }
    await call('POST', '/api/password_reset/complete/', chosen, open)
  }

  async function writeImports(): Promise<void> {
    const imports = `${s.organization}/imports`
    const content = { flags: {} }
    const file = { source: 'launchdarkly', content, mapping: [{ project: s.projectId }] }
    const plan = await call('POST', `${imports}/`, file)
    await call('POST', `${imports}/${plan.id}/apply/`, {})
    const second = (await s.post(`${imports}/`, file)).body
    await call('DELETE', `${imports}/${second.id}/`)
    const counts = 'seed contexts pairs equal differing declared sdk_errors exact approximate refused'.split(' ')
    const certificate = {
      ...{ source: 'launchdarkly', environment: null, file_sha256: 'ab'.repeat(32), sdk: 'sdk', sdk_version: '1.0.0' },
      ...{ halyard_version: '0.1.0', node_version: '20.1.0', flags: [], differences: [] },
      ...Object.fromEntries(counts.map(name => [name, 0])),
    }
    const stored = await call('POST', `${s.project}/import_certificates/`, { certificate })
    await call('DELETE', `${s.project}/import_certificates/${stored.id}/`)
  }

  it('leaves exactly one entry in the log of an organization', async () => {
    await writeFlags()
    await writeCohorts()
    await writeOrganization()
    await writeProjects()
    await writeAccount()
    await writeProvisioning()
    await writeImports()
    await writeControl()
    await writeSignIns()
    await writeIdentity()
    expect(statuses).toEqual({})
    const rows = await s.halyard.storage.kysely
      .selectFrom('audit_entries')
      .select(['organization_id', 'content'])
      .execute()
    const counts = new Map<string, number>()
    for (const row of rows) {
      const { request_id } = JSON.parse(row.content)
      const key = `${row.organization_id} ${request_id}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    const wrong = calls.flatMap(({ operation, reply }) => {
      const id = reply.headers.get('x-request-id')
      const found = [...counts].filter(([key]) => key.endsWith(` ${id}`))
      return found.length > 0 && found.every(([, count]) => count === 1)
        ? []
        : [`${operation}: ${found.map(([, n]) => n)}`]
    })
    expect(wrong).toEqual([])
    const tried = new Set(calls.map(({ operation }) => operation))
    const left = { ...elsewhere, ...unrecorded }
    const audited = allRoutes.filter(isAudited).map(route => route.operationId)
    expect(audited.filter(operation => !tried.has(operation) && !(operation in left))).toEqual([])
    const known = new Set(audited)
    expect(Object.keys(left).filter(operation => !known.has(operation) || tried.has(operation))).toEqual([])
  }, 120_000)

  it('leaves no secret in the export, in either format, or in a column of the log', async () => {
    expect(secrets.size).toBeGreaterThan(40)
    const rows = await s.halyard.storage.kysely.selectFrom('audit_entries').selectAll().execute()
    const texts = [JSON.stringify(rows)]
    for (const format of ['jsonl', 'cef']) {
      texts.push((await s.get(`${s.organization}/audit_log/export/?format=${format}`)).text)
    }
    expect([...secrets].filter(secret => texts.some(text => text.includes(secret)))).toEqual([])
  })
})
