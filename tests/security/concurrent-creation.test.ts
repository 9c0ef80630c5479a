import { allRoutes } from '@halyard/contract'
import { Secret, TOTP } from 'otpauth'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Client, clientOf } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** The same thing created several times at once: some are created, the others are refused or renamed, and none fails with a 500. */

const atOnce = 8

onEachDatabase('at the same time', dialect => {
  const s = suiteScenario(dialect)
  let flagId: number
  let pluginId: number
  let roleId: string
  let otherProjectId: number
  let requestId: number
  let person: Client & { uuid: string }
  let signUp: string
  let scimToken: string
  let app: { token: string; secret: string }
  beforeAll(async () => {
    flagId = (await s.post(`${s.project}/feature_flags/`, { key: 'first' })).body.id
    pluginId = (await s.post(`${s.organization}/plugins/`, {})).body.id
    roleId = (await s.post(`${s.organization}/roles/`, { name: 'Testers' })).body.id
    otherProjectId = (await s.post('/api/projects/', { name: 'Other' })).body.id
    const request = { flag_id: flagId, patch: { name: 'Discussed' }, apply_at: '2099-01-01T00:00:00Z' }
    requestId = (await s.post(`${s.project}/change_requests/`, request)).body.id
    person = await s.join('colleague')
    const invite = await s.post(`${s.organization}/invites/`, { target_email: 'late@example.com' })
    signUp = invite.body.token
    scimToken = (await s.post(`${s.organization}/scim_tokens/`, { label: 'first' })).body.value
    app = (await person.post('/api/users/@me/second_factors/code/')).body
  })

  /** The body for each route that creates something. A new route has to be added here. */
  const bodies: Readonly<Record<string, () => object>> = {
    '/api/projects/:project_id/feature_flags': () => ({ key: 'twin' }),
    '/api/personal_api_keys': () => ({ label: 'twin', scopes: ['feature_flag:read'] }),
    '/api/projects/:project_id/approval_policies': () => ({ action_key: 'cohort.update' }),
    '/api/projects/:project_id/change_requests': () => ({ flag_id: flagId, patch: { active: false } }),
    '/api/projects/:project_id/change_requests/:request_id/comments': () => ({ text: 'Twin' }),
    '/api/projects/:project_id/cohorts': () => ({ name: 'Twin', is_static: true }),
    '/api/projects/:project_id/dashboards': () => ({ name: 'Twin' }),
    '/api/organizations/:parent_lookup_organization_id/environment_sets': () => ({
      name: 'Twin',
      environments: [
        { name: 'staging', project: s.projectId },
        { name: 'production', project: otherProjectId },
      ],
    }),
    '/api/projects/:project_id/feature_flags/:id/comments': () => ({ text: 'Twin' }),
    '/api/organizations/:parent_lookup_organization_id/freezes': () => ({
      reason: 'Twin',
      project: otherProjectId,
      starts_at: '2099-01-01T00:00:00Z',
      ends_at: '2099-01-02T00:00:00Z',
    }),
    '/api/projects/:project_id/webhooks': () => ({ name: 'Twin', url: 'https://hooks.example/x' }),
    '/api/projects/:project_id/flag_overrides': () => ({ overrides: { first: true } }),
    '/openfeature/v0/manifest/flags': () => ({ key: 'twin-manifest', type: 'boolean', defaultValue: false }),
    '/api/projects/:project_id/openfeature/v0/manifest/flags': () => ({
      key: 'twin-manifest-2',
      type: 'boolean',
      defaultValue: false,
    }),
    '/api/organizations/:parent_lookup_organization_id/imports': () => ({
      source: 'flagd',
      content: { flags: { imported: { state: 'ENABLED', variants: { on: true }, defaultVariant: 'on' } } },
      mapping: { default: s.projectId },
    }),
    '/api/projects/:project_id/import_certificates': () => ({ certificate: {} }),
    '/api/organizations/:parent_lookup_organization_id/projects': () => ({ name: 'Twin' }),
    '/api/organizations': () => ({ name: 'Twin' }),
    '/api/organizations/:parent_lookup_organization_id/invites': () => ({ target_email: 'twin@example.com' }),
    '/api/organizations/:parent_lookup_organization_id/service_keys': () => ({
      label: 'twin',
      scopes: ['feature_flag:read'],
    }),
    '/api/organizations/:parent_lookup_organization_id/scim_tokens': () => ({ label: 'twin' }),
    '/scim/v2/:organization_id/Users': () => ({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: 'twin@example.com',
    }),
    '/scim/v2/:organization_id/Groups': () => ({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'],
      displayName: 'Twins',
    }),
    '/api/organizations/:parent_lookup_organization_id/identity_providers': () => ({
      name: 'Twin',
      issuer: 'https://provider.example',
      client_id: 'halyard',
      client_secret: 'secret of the client',
    }),
    '/api/organizations/:parent_lookup_organization_id/domains': () => ({ domain: 'twin.example' }),
    '/api/organizations/:parent_lookup_organization_id/trust_relationships': () => ({
      name: 'Twin',
      issuer: 'https://issuer.example',
      audience: 'halyard',
      rules: [{ claim: 'sub', match: 'exact', value: 'job' }],
      scopes: ['feature_flag:read'],
    }),
    '/api/projects/:project_id/plugin_configs': () => ({ plugin: pluginId, enabled: false }),
    '/api/organizations/:parent_lookup_organization_id/plugins': () => ({ plugin_type: 'custom', name: 'twin' }),
    '/api/organizations/:parent_lookup_organization_id/plugins/install': () => ({ url: 'file:twin' }),
    '/api/projects': () => ({ name: 'Twin' }),
    '/api/projects/:project_id/secret_keys': () => ({ label: 'twin' }),
    '/api/projects/:project_id/feature_flags/:parent_lookup_feature_flag_id/role_access': () => ({ role_id: roleId }),
    '/api/organizations/:parent_lookup_organization_id/roles': () => ({ name: 'Twin' }),
    '/api/organizations/:parent_lookup_organization_id/roles/:role_id/role_memberships': () => ({
      user_uuid: person.uuid,
    }),
    '/api/organizations/:parent_lookup_organization_id/resource_access': () => ({
      resource: 'feature flags',
      access_level: 37,
    }),
    '/api/projects/:project_id/saved_views': () => ({ name: 'Twin', query: 'active=true' }),
    '/api/projects/:project_id/scheduled_changes': () => ({
      record_id: flagId,
      payload: { operation: 'update_status', value: false },
      scheduled_at: '2099-01-01T00:00:00Z',
    }),
    '/api/users/@me/second_factors/code/confirm': () => ({
      token: app.token,
      code: new TOTP({ secret: Secret.fromBase32(app.secret) }).generate(),
    }),
    '/api/users/@me/second_factors/passkey/confirm': () => ({ token: app.token, passkey: { id: 'twin' } }),
    '/api/users/@me/recovery_codes': () => ({}),
    '/api/signup/:token': () => ({ first_name: 'Twin', password: 'correct horse battery' }),
  }

  const creating = allRoutes.filter(({ method, responses }) => method === 'POST' && 201 in responses)
  const pathOf = (path: string): string =>
    `${path
      .replace(':project_id', String(s.projectId))
      .replace(/:(parent_lookup_)?organization_id/, s.organization.split('/')[3]!)
      .replace(/:(id|parent_lookup_feature_flag_id)\b/, String(flagId))
      .replace(':role_id', roleId)
      .replace(':request_id', String(requestId))
      .replace(':token', signUp)}/`

  const clientFor = (path: string): Client => {
    if (path.startsWith('/api/signup')) return clientOf(s.url, undefined)
    if (path.startsWith('/scim/')) return clientOf(s.url, scimToken)
    return path.includes('@me') ? person : s
  }

  it('has a body for every route that creates', () => {
    expect(creating.map(({ path }) => path).filter(path => !Object.hasOwn(bodies, path))).toEqual([])
  })

  it.each(creating.map(({ path }) => path))('POST %s never fails', async path => {
    const body = bodies[path]!()
    const client = clientFor(path)
    const replies = await Promise.all(Array.from({ length: atOnce }, () => client.post(pathOf(path), body)))
    const wrong = replies.filter(({ status }) => status >= 500).map(({ status, text }) => `${status} ${text}`)
    expect(wrong).toEqual([])
  })

  it('one authenticator app is added by one of several confirmations, and one set of recovery codes is left', async () => {
    const { body } = await person.get('/api/users/@me/second_factors/')
    expect([body.factors.length, body.recovery_codes_left]).toEqual([1, 10])
  })
})
