import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from '../../packages/server/src/testing/scenario.ts'
import { type Program, startProgram } from '../program/start-program.ts'

/** Requests of PostHog's libraries and tools, as they put them on the wire, and what they read from the response. */

let s: Program
const ids: Record<string, number> = {}

beforeAll(async () => {
  s = await startProgram('sqlite')
  await s.as(undefined).post('/capture/', {
    api_key: s.projectToken,
    event: '$groupidentify',
    distinct_id: 'u',
    properties: { $group_type: 'company', $group_key: 'acme' },
  })
  const property = (operator: string, value: unknown) => [{ key: 'a', type: 'person', operator, value }]
  const variants = ['first', 'second'].map(key => ({ key, rollout_percentage: 50 }))
  for (const flag of [
    { key: 'config', is_remote_configuration: true, filters: { groups: [{}], payloads: { true: '{"a":[1,2]}' } } },
    { key: 'no-payload', filters: { groups: [{}] } },
    { key: 'no-rollout', filters: { groups: [{ rollout_percentage: 0 }] } },
    { key: 'split', filters: { groups: [{}], multivariate: { variants } } },
    { key: 'by-company', filters: { aggregation_group_type_index: 0, groups: [{}] } },
    { key: 'outside', filters: { groups: [{ properties: property('not_between', [1, 10]) }] } },
    { key: 'older', filters: { groups: [{ properties: property('semver_lt', '01.02.03') }] } },
    { key: 'one-x', filters: { groups: [{ properties: property('semver_wildcard', '1.x') }] } },
    { key: 'contains', filters: { groups: [{ properties: property('icontains_multi', 'ell') }] } },
    { key: 'off', active: false },
  ]) {
    const created = await s.post(`${s.project}/feature_flags/`, flag)
    expect(created.status, created.text).toBe(201)
    ids[flag.key] = created.body.id
  }
})
afterAll(() => s.close())

/** As posthog-python sends it; the other libraries differ in `$lib` and the order of fields. */
const decide = (distinctId: string | undefined, properties: object = {}, groups: object = {}): Promise<Reply> =>
  s.as(undefined).send('/flags/?v=2', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'posthog-python/7.42.0' },
    body: JSON.stringify({
      distinct_id: distinctId,
      groups,
      person_properties: properties,
      group_properties: {},
      geoip_disable: true,
      device_id: null,
      api_key: s.projectToken,
    }),
  })

describe('evaluation', () => {
  it('remote_config is a JSON string, or empty, as posthog-go decodes it', async () => {
    const read = (key: string) =>
      s.send(`/api/projects/@current/feature_flags/${key}/remote_config?token=${s.projectToken}`, {
        headers: {
          authorization: `Bearer ${s.key}`,
          'content-type': 'application/json',
          'user-agent': 'posthog-go/1.23.1',
        },
      })
    expect((await read('config')).text).toBe(JSON.stringify('{"a":[1,2]}'))
    const none = await read('no-payload')
    expect([none.status, none.text]).toEqual([200, ''])
  })

  it('an empty distinct_id is in every rollout and the first variant; a missing one is an error', async () => {
    const { flags } = (await decide('')).body
    expect(flags['no-rollout']).toMatchObject({
      enabled: true,
      reason: { code: 'condition_match', condition_index: 0 },
    })
    expect(flags.split.variant).toBe('first')
    const missing = await decide(undefined)
    expect([missing.status, missing.body.code]).toEqual([400, 'required'])
  })

  it('a group flag without its group names the first condition', async () => {
    const reason = { code: 'no_group_type', condition_index: 0 }
    expect((await decide('u')).body.flags['by-company']).toMatchObject({ enabled: false, reason })
    expect((await decide('u', {}, { company: 'acme' })).body.flags['by-company'].enabled).toBe(true)
  })

  it.each([
    ['outside', 'text', false],
    ['outside', 11, true],
    ['older', '1.2.3-alpha', true],
    ['older', '1.2.3', false],
    ['one-x', '1.9.0', true],
    ['one-x', '2.0.0', false],
    ['contains', 'hello', true],
    ['contains', 'world', false],
  ])('%s is evaluated for %j as by PostHog', async (key, a, enabled) => {
    expect((await decide('u', { a })).body.flags[key].enabled).toBe(enabled)
  })

  it.each(['', '*.*'])('the version pattern "%s" is refused', async value => {
    const properties = [{ key: 'a', type: 'person', operator: 'semver_wildcard', value }]
    const { status, body } = await s.post(`${s.project}/feature_flags/`, {
      key: 'no-pattern',
      filters: { groups: [{ properties }] },
    })
    expect([status, body.type]).toEqual([400, 'validation_error'])
  })

  it('a disabled flag has no value over OFREP, so that the default of the Python SDK applies', async () => {
    const { body } = await s.as(undefined).send('/ofrep/v1/evaluate/flags/off', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${s.projectToken}` },
      body: JSON.stringify({ context: { targetingKey: 'u', plan: 'pro' } }),
    })
    expect(body).toMatchObject({ key: 'off', reason: 'DISABLED' })
    expect(body).not.toHaveProperty('value')
    expect(body).not.toHaveProperty('variant')
  })
})

const text = expect.any(String)
const count = expect.any(Number)

describe("PostHog's Terraform provider", () => {
  it('applies a flag twice, imports and destroys it', async () => {
    const flags = `/api/projects/${s.projectId}/feature_flags/`
    const planned = {
      key: 'terraformed',
      name: 'From a plan',
      active: true,
      filters: { groups: [{ properties: [], rollout_percentage: 50 }] },
      tags: ['iac'],
      ensure_experience_continuity: false,
    }
    const { status, body } = await s.post(flags, planned)
    expect([status, body]).toEqual([201, expect.objectContaining({ id: count, ...planned })])
    expect((await s.patch(`${flags}${body.id}/`, planned)).body).toMatchObject(planned)
    expect((await s.get(`${flags}${body.id}/`)).body).toMatchObject({ ...planned, deleted: false })
    expect((await s.patch(`${flags}${body.id}/`, { key: 'terraformed', deleted: true })).status).toBe(200)
  })

  it('finds its organization by @current and by slug', async () => {
    const { body: current } = await s.get('/api/organizations/@current/')
    expect(current).toMatchObject({ id: text, slug: text, name: text })
    const listed = (await s.get('/api/organizations/')).body
    expect(listed.results).toContainEqual(expect.objectContaining({ id: current.id, slug: current.slug }))
    expect(listed.next).toBeNull()
  })

  it('manages a project and its settings', async () => {
    const projects = `${s.organization}/projects/`
    const { status, body } = await s.post(projects, { name: 'Planned', timezone: 'UTC' })
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ id: count, name: 'Planned', organization: text, api_token: text, timezone: 'UTC' }),
    ])
    expect((await s.patch(`${projects}${body.id}/`, { name: 'Applied', timezone: 'UTC' })).body.name).toBe('Applied')
    const environment = `/api/environments/${body.id}/`
    expect((await s.get(environment)).body).toMatchObject({ id: body.id })
    // Settings of other products are left alone.
    expect((await s.patch(environment, { heatmaps_opt_in: true, app_urls: [] })).status).toBe(200)
    expect((await s.delete(`${projects}${body.id}/`)).status).toBe(204)
  })

  it('manages roles, memberships, members and access', async () => {
    const roles = `${s.organization}/roles/`
    const { body: role } = await s.post(roles, { name: 'Planned' })
    expect(role).toMatchObject({ id: text, name: 'Planned', created_at: text })
    expect((await s.patch(`${roles}${role.id}/`, { name: 'Applied' })).body.name).toBe('Applied')
    expect((await s.get(`${roles}${role.id}/`)).body.name).toBe('Applied')

    const member = await s.join('planned')
    const members = `${s.organization}/members/`
    const found = (await s.get(members)).body.results.find(
      ({ user }: { user: { uuid: string } }) => user.uuid === member.uuid,
    )
    expect(found).toMatchObject({ id: text, level: 1, joined_at: text, user: { uuid: text, email: text } })
    expect((await s.patch(`${members}${member.uuid}/`, { level: 8 })).body.level).toBe(8)

    const memberships = `${roles}${role.id}/role_memberships/`
    const { body: membership } = await s.post(memberships, { user_uuid: member.uuid })
    expect((await s.get(`${memberships}${membership.id}/`)).body).toMatchObject({
      id: membership.id,
      role_id: role.id,
      user: { uuid: member.uuid },
    })
    const access = `/api/projects/${s.projectId}/resource_access_controls/`
    const grant = { access_level: 'viewer', resource: 'feature_flag', role: role.id }
    expect((await s.put(access, grant)).body).toMatchObject(grant)
    expect((await s.get(access)).body).toMatchObject({
      access_controls: expect.arrayContaining([expect.objectContaining(grant)]),
      available_access_levels: expect.arrayContaining([text]),
      default_access_level: text,
    })
    expect((await s.put(access, { ...grant, access_level: null })).status).toBe(204)
    expect((await s.get(`/api/projects/${s.projectId}/access_controls/`)).body).toMatchObject({
      access_controls: [],
      available_access_levels: expect.arrayContaining([text]),
      default_access_level: 'member',
    })

    expect((await s.delete(`${memberships}${membership.id}/`)).status).toBe(204)
    expect((await s.delete(`${members}${member.uuid}/`)).status).toBe(204)
    expect((await s.delete(`${roles}${role.id}/`)).status).toBe(204)
  })
})

describe("PostHog's MCP server", () => {
  it('chooses an organization and a project', async () => {
    const me = (await s.get('/api/users/@me/')).body
    expect(me).toMatchObject({
      distinct_id: text,
      organizations: [{ id: text }],
      organization: { id: text },
      team: { id: s.projectId, organization: text },
    })
    expect((await s.get('/api/personal_api_keys/@current')).body).toMatchObject({
      scopes: ['*'],
      scoped_teams: [],
      scoped_organizations: [],
    })
    const [organization] = (await s.get('/api/organizations/')).body.results
    expect((await s.get(`/api/organizations/${organization.id}/`)).body).toMatchObject({ id: text, name: text })
    const [project] = (await s.get(`/api/organizations/${organization.id}/projects/`)).body.results
    expect(project).toMatchObject({ id: count, name: text, organization: organization.id })
    expect((await s.get(`/api/projects/${project.id}/`)).body).toMatchObject({ id: project.id })
  })

  it('looks up properties and events', async () => {
    const query = new URLSearchParams({ limit: '100', offset: '0', type: 'person', exclude_hidden: 'true' })
    for (const path of [`property_definitions/?${query}`, 'event_definitions/', 'event_definitions/?search=paid']) {
      const { status, body } = await s.get(`/api/projects/${s.projectId}/${path}`)
      expect([path, status, body]).toEqual([path, 200, expect.objectContaining({ results: expect.any(Array) })])
    }
  })

  it('creates, finds, changes and deletes a flag', async () => {
    const flags = `/api/projects/${s.projectId}/feature_flags/`
    const filter = { key: 'email', value: 'is_set', operator: 'is_set', type: 'person' }
    const sent = {
      key: 'from-mcp',
      name: 'From MCP',
      description: 'A flag',
      active: true,
      filters: { groups: [{ properties: [filter], rollout_percentage: 100 }] },
    }
    const { status, body } = await s.post(flags, sent)
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ id: count, key: 'from-mcp', name: 'From MCP', active: true, tags: [] }),
    ])
    const listed = (await s.get(flags)).body.results
    expect(listed.find(({ key }: { key: string }) => key === 'from-mcp').id).toBe(body.id)
    expect((await s.patch(`${flags}${body.id}/`, { key: 'from-mcp', active: false })).body.active).toBe(false)
    expect((await s.patch(`${flags}${body.id}/`, { deleted: true })).status).toBe(200)
  })
})
