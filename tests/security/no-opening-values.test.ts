import { allRoutes, type Route } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import type { Client, Reply, Scenario } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

/** Fields whose value opens something by contract: the project token is public and opens the SDK paths only. */
const publicFields = new Set(['api_token'])

/** What a value could open. Each must refuse every value found in a response. */
const doors: Readonly<Record<string, (s: Scenario, value: string) => Promise<Reply>>> = {
  'a personal API key': (s, value) => s.as(value).get('/api/users/@me/'),
  'a sign-up token': (s, value) => s.as(undefined).get(`/api/signup/${encodeURIComponent(value)}/`),
  'a token to join with': (s, value) => s.post(`/api/signup/${encodeURIComponent(value)}/join/`),
  'a project token': (s, value) => s.as(undefined).post('/flags/?v=2', { token: value, distinct_id: 'someone' }),
  'a project secret key': (s, value) => s.as(value).get('/flags/definitions?send_cohorts'),
  'an OFREP key': (s, value) => s.as(value).post('/ofrep/v1/evaluate/flags', { context: { targetingKey: 'someone' } }),
}

onEachDatabase('values in responses', dialect => {
  const s = suiteScenario(dialect)
  let readers: Readonly<Record<string, Client>>
  let seeds: Readonly<Record<string, string>>

  beforeAll(async () => {
    const member = await s.join('member')
    const flag = (await s.post(`${s.project}/feature_flags/`, { key: 'seen' })).body
    const role = (await s.post(`${s.organization}/roles/`, { name: 'Role' })).body
    const membership = await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: member.uuid })
    const grant = await s.post(`${s.project}/feature_flags/${flag.id}/role_access/`, { role_id: role.id })
    const key = await s.post('/api/personal_api_keys/', { label: 'listed', scopes: ['*'] })
    const secret = await s.post(`${s.project}/secret_keys/`, { label: 'listed' })
    const invite = await s.post(`${s.organization}/invites/`, { target_email: 'invited@example.com', level: 8 })
    const access = await s.post(`${s.organization}/resource_access/`, { resource: 'cohorts' })
    const plugin = await s.post(`${s.organization}/plugins/`, { name: 'Plugin' })
    const config = await s.post(`${s.project}/plugin_configs/`, { plugin: plugin.body.id, enabled: false })
    const cohort = await s.post(`${s.project}/cohorts/`, { name: 'Cohort', is_static: true })
    for (const reply of [membership, grant, key, secret, invite, access, plugin, config, cohort]) {
      expect(reply.status, reply.text).toBe(201)
    }
    readers = { member, admin: await s.join('admin', 8), owner: s }
    seeds = {
      project_id: String(s.projectId),
      parent_lookup_organization_id: s.organization.split('/').at(-1)!,
      feature_flags: String(flag.id),
      dashboards: String(flag.usage_dashboard),
      roles: role.id,
      role_memberships: membership.body.id,
      role_access: String(grant.body.id),
      personal_api_keys: key.body.id,
      resource_access: String(access.body.id),
      plugins: String(plugin.body.id),
      plugin_configs: String(config.body.id),
      cohorts: String(cohort.body.id),
      feature_flag_key: flag.key,
      versions: '1',
    }
  }, 120_000)

  const pathOf = (route: Route): string =>
    `${route.path.replace(/:(\w+)/g, (_all, name: string) => {
      const noun = route.path.split(`/:${name}`)[0]!.split('/').at(-1)!
      return seeds[name] ?? seeds[noun] ?? '1'
    })}/`

  it('open nothing when they are used as a key or token', async () => {
    const found = new Map<string, string>()
    let read = 0
    for (const [reader, client] of Object.entries(readers)) {
      for (const route of allRoutes) {
        if (route.method !== 'GET' || route.mediaType === 'text/event-stream') continue
        const reply = await client.get(pathOf(route))
        if (reply.status === 200) read += 1
        collect(reply.body, `${reader}: GET ${route.path}`, found)
      }
    }
    expect(read).toBeGreaterThan(100)
    expect([...found.keys()].length).toBeGreaterThan(20)
    for (const [value, where] of found) {
      for (const [door, open] of Object.entries(doors)) {
        const reply = await open(s, value)
        expect(reply.status, `${value} in ${where} is ${door}: ${reply.text}`).toBeGreaterThanOrEqual(400)
      }
    }
  }, 240_000)

  it('has doors that do open for the values that are shown once', async () => {
    const shownOnce = {
      'a personal API key': (await s.post('/api/personal_api_keys/', { label: 'opens', scopes: ['*'] })).body.value,
      'a sign-up token': (await s.post(`${s.organization}/invites/`, { target_email: 'opens@example.com' })).body.token,
      'a project token': s.projectToken,
      'a project secret key': (await s.post(`${s.project}/secret_keys/`, { label: 'opens' })).body.value,
      'an OFREP key': (await s.post(`${s.project}/secret_keys/`, { label: 'opens too' })).body.value,
    }
    for (const [door, value] of Object.entries(shownOnce)) {
      expect((await doors[door]!(s, value)).status, door).toBe(200)
    }
  })

  it('list invitations for admins only, without what redeems them', async () => {
    const path = `${s.organization}/invites/`
    const created = await s.post(path, { target_email: 'listed@example.com', level: 8 })
    expect(created.body.signup_path).toBe(`/signup/${created.body.token}`)
    expect((await readers.member!.get(path)).status).toBe(403)
    const listed = await readers.admin!.get(path)
    expect(listed.status).toBe(200)
    expect(listed.text).not.toContain(created.body.token)
    const rows = await s.halyard.storage.kysely.selectFrom('invites').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(created.body.token)
    for (const id of [created.body.id, rows.find(row => row.id === created.body.id)!.token_hash!]) {
      const reply = await s
        .as(undefined)
        .post(`/api/signup/${id}/`, { first_name: 'Mallory', password: 'a long password' })
      expect(reply.status).toBe(404)
    }
    // A key that can only read cannot turn an invitation into an account either.
    const reader = await s.post('/api/personal_api_keys/', { label: 'reader', scopes: ['organization:read'] })
    expect((await s.as(reader.body.value).get(path)).text).not.toContain(created.body.token)
  })
})

/** Every string that could be an id, a hash or a token, with the first place where it was found. */
function collect(value: unknown, where: string, found: Map<string, string>, field = ''): void {
  if (typeof value === 'string') {
    const isCandidate = /^[\w.-]{8,}$/.test(value) && !/^\d{4}-\d\d-\d\d/.test(value)
    if (isCandidate && !publicFields.has(field) && !found.has(value)) found.set(value, `${where} (${field})`)
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) collect(each, where, found, Array.isArray(value) ? field : name)
  }
}
