import { describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import type { Client } from '../../packages/server/src/testing/scenario.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

const keys = '/api/personal_api_keys/'
const password = 'correct horse battery'
const hour = 3_600_000
const inHours = (hours: number) => new Date(Date.now() + hours * hour).toISOString()

onEachDatabase('rights of keys', dialect => {
  const s = suiteScenario(dialect)

  describe('a sign-in', () => {
    it('cannot be read, changed or made permanent as an API key, by any key of the user', async () => {
      const ann = await s.join('ann')
      const me = (await ann.get('/api/users/@me/')).body
      const row = await s.halyard.storage.kysely
        .selectFrom('api_keys')
        .selectAll()
        .where('user_id', '=', me.id)
        .executeTakeFirstOrThrow()
      const other = s.as((await ann.post(keys, { label: 'other', scopes: ['*'] })).body.value)
      const attempts: [Client, string][] = [
        [ann, '@current'],
        [ann, row.id],
        [other, row.id],
      ]
      for (const [client, id] of attempts) {
        expect((await client.get(`${keys}${id}/`)).status).toBe(404)
        expect((await client.patch(`${keys}${id}/`, { expires_at: null })).status).toBe(404)
        expect((await client.delete(`${keys}${id}/`)).status).toBe(404)
      }
      const after = await s.halyard.storage.kysely
        .selectFrom('api_keys')
        .select('expires_at')
        .where('id', '=', row.id)
        .executeTakeFirstOrThrow()
      expect(after.expires_at).toBe(row.expires_at)
    })

    it('can create API keys that outlive it, which are listed', async () => {
      const bea = await s.join('bea')
      const made = await bea.post(keys, { label: 'lasting', scopes: ['*'], expires_at: null })
      expect([made.status, made.body.expires_at]).toEqual([201, null])
      expect((await bea.get(keys)).body.map((key: { label: string }) => key.label)).toEqual(['lasting'])
    })
  })

  it('a key that expires cannot extend itself, or create or change keys that outlive it', async () => {
    const lasting = (await s.post(keys, { label: 'lasting', scopes: ['user:read'], expires_at: null })).body
    const made = (await s.post(keys, { label: 'short', scopes: ['*'], expires_at: inHours(1) })).body
    const short = s.as(made.value)
    for (const expires_at of [null, inHours(2)]) {
      for (const reply of [
        await short.patch(`${keys}@current/`, { expires_at }),
        await short.patch(`${keys}${made.id}/`, { expires_at }),
        await short.post(keys, { label: 'longer', expires_at }),
        await short.patch(`${keys}${lasting.id}/`, { scopes: ['*'], expires_at }),
      ]) {
        expect([reply.status, reply.body.attr]).toEqual([400, 'expires_at'])
      }
    }
    expect((await short.patch(`${keys}${lasting.id}/`, { scopes: ['*'] })).body.attr).toBe('expires_at')
    expect((await s.get(`${keys}${lasting.id}/`)).body.scopes).toEqual(['user:read'])
    expect((await s.get(`${keys}${made.id}/`)).body.expires_at).toBe(made.expires_at)
    const copy = await short.post(keys, { label: 'same end' })
    expect([copy.status, copy.body.expires_at]).toEqual([201, made.expires_at])
    expect((await short.patch(`${keys}@current/`, { label: 'renamed', expires_at: inHours(0.5) })).status).toBe(200)
  })

  it('with former names of scopes have those of today, and work as before', async () => {
    const former = ['approval_policy:write', 'change_request:write', 'organization_member:read', 'policy:write']
    const today = ['policy:write', 'change_request:decide', 'member:read']
    const made = await s.post(keys, { label: 'former', scopes: former })
    expect([made.status, made.body.scopes]).toEqual([201, today])
    const stored = (await s.post(keys, { label: 'stored', scopes: ['user:read'] })).body
    await s.halyard.storage.kysely
      .updateTable('api_keys')
      .set({ scopes: JSON.stringify(former) })
      .where('id', '=', stored.id)
      .execute()
    const service = await s.post(`${s.organization}/service_keys/`, { label: 'robot', scopes: former, level: 8 })
    expect([service.status, service.body.scopes]).toEqual([201, today])
    const trust = await s.post(`${s.organization}/trust_relationships/`, {
      name: 'CI',
      issuer: 'https://ci.example.com',
      audience: 'halyard',
      rules: [{ claim: 'sub', match: 'exact', value: 'job' }],
      scopes: former,
    })
    expect([trust.status, trust.body.scopes], trust.text).toEqual([201, today])
    for (const value of [made.body.value, stored.value, service.body.value]) {
      const client = s.as(value)
      expect((await client.get(`${s.organization}/members/`)).status).toBe(200)
      expect((await client.post(`${s.organization}/invites/`, {})).status).toBe(403)
      expect((await client.post(`${s.project}/approval_policies/`, { action_key: 'nonsense' })).status).toBe(400)
      expect((await client.post(`${s.project}/change_requests/999999/approve/`, {})).status).toBe(404)
    }
    expect((await s.get(`${keys}${stored.id}/`)).body.scopes).toEqual(today)
    const changed = await s.patch(`${keys}${stored.id}/`, { scopes: ['organization_member:write'] })
    expect(changed.body.scopes).toEqual(['member:write'])
  })

  it('that are not known are refused in every list of scopes, with the field and the nearest name', async () => {
    const trust = { name: 'CI', issuer: 'https://ci.example.com', audience: 'halyard', rules: [] }
    for (const [scope, meant] of [
      ['change_requests:decide', 'change_request:decide'],
      ['feature_flag:decide', 'feature_flag:write'],
      ['policies:write', undefined],
      ['policy:decide', 'policy:write'],
      ['approval_policy', 'policy:read'],
      ['approval_policy:write:more', 'policy:write'],
      ['members:write', 'member:write'],
    ] as const) {
      for (const reply of [
        await s.post(keys, { label: 'x', scopes: [scope] }),
        await s.patch(`${keys}@current/`, { scopes: [scope] }),
        await s.post(`${s.organization}/service_keys/`, { label: 'x', scopes: [scope] }),
        await s.post(`${s.organization}/trust_relationships/`, {
          ...trust,
          rules: [{ claim: 'sub', match: 'exact', value: 'job' }],
          scopes: [scope],
        }),
      ]) {
        expect([reply.status, reply.body.attr], `${scope} ${reply.text}`).toEqual([400, 'scopes'])
        if (meant) expect(reply.body.detail).toContain(`"${meant}"`)
      }
    }
  })

  it('a restricted key cannot create a wider one, however the fields are combined', async () => {
    const second = (await s.post('/api/projects/', { name: 'Second' })).body
    const organization = s.organization.split('/').at(-1)
    const made = await s.post(keys, { label: 'one', scopes: ['user:write'], scoped_teams: [s.projectId] })
    const one = s.as(made.body.value)
    for (const [body, field] of [
      [{ scopes: ['*'] }, 'scopes'],
      [{ scopes: ['feature_flag:read'] }, 'scopes'],
      [{ scoped_teams: [] }, 'scoped_teams'],
      [{ scoped_teams: [s.projectId, second.id] }, 'scoped_teams'],
      [{ scoped_teams: [], scoped_organizations: [organization] }, 'scoped_organizations'],
      [{ scoped_organizations: [organization] }, 'scoped_organizations'],
    ] as const) {
      const created = await one.post(keys, { label: 'wider', ...body })
      const changed = await one.patch(`${keys}@current/`, body)
      expect([created.status, created.body.attr], JSON.stringify(body)).toEqual([400, field])
      expect([changed.status, changed.body.attr], JSON.stringify(body)).toEqual([400, field])
    }
  })

  it('an email address changes with the password alone, and is then unverified', async () => {
    const eve = await s.join('eve')
    const { kysely } = s.halyard.storage
    await kysely.updateTable('users').set({ is_email_verified: 1 }).where('id', '=', eve.id).execute()
    const key = (await eve.post(keys, { label: 'user', scopes: ['user:write'] })).body.value
    const limited = s.as(key)
    const change = (body: object) => limited.patch('/api/users/@me/', body)
    for (const body of [{ email: 'new@example.com' }, { password: 'another password' }]) {
      const without = await change(body)
      expect([without.status, without.body.attr, without.body.code]).toEqual([400, 'current_password', 'required'])
      const wrong = await change({ ...body, current_password: 'wrong' })
      expect([wrong.status, wrong.body.attr]).toEqual([400, 'current_password'])
    }
    expect((await change({ email: 'EVE@example.com', first_name: 'Eve' })).body).toMatchObject({
      email: 'eve@example.com',
      is_email_verified: true,
    })
    expect((await change({ email: 'new@example.com', current_password: password })).body).toMatchObject({
      email: 'new@example.com',
      is_email_verified: false,
    })
    const signIn = (email: string) => s.as(undefined).post('/api/login/', { email, password })
    expect([(await signIn('eve@example.com')).status, (await signIn('New@Example.com')).status]).toEqual([401, 200])
  })

  describe('email addresses', () => {
    const lookalikes = [
      'ow​ner@example.com',
      'ｏwner@example.com',
      'оwner@example.com',
      'owner@exаmple.com',
      'owner@example。com',
      'owner@münchen.example',
      'owner⁠@example.com',
      'owner@example.com‮',
      'own er@example.com',
      'owner@@example.com',
      'owner@-example.com',
      'owner.@example.com',
      '"owner"@example.com',
      `${'x'.repeat(65)}@example.com`,
    ]
    it.each(lookalikes)('%j is refused wherever an address is written', async email => {
      const invited = await s.post(`${s.organization}/invites/`, { target_email: email })
      expect([invited.status, invited.body.attr]).toEqual([400, 'target_email'])
      const changed = await s.patch('/api/users/@me/', { email, current_password: 'x' })
      expect([changed.status, changed.body.attr]).toEqual([400, 'email'])
    })

    it('are unique whatever their case', async () => {
      await s.join('unique')
      const again = await s.post(`${s.organization}/invites/`, { target_email: 'UNIQUE@Example.COM' })
      expect([again.status, again.body.attr, again.body.code]).toEqual([400, 'target_email', 'unique'])
      const other = await s.join('other')
      const taken = await other.patch('/api/users/@me/', { email: 'Unique@example.com', current_password: password })
      expect([taken.status, taken.body.attr, taken.body.code]).toEqual([400, 'email', 'unique'])
    })

    it.each(['a.b+c@example.com', "o'neil@xn--mnchen-3ya.example", 'root@localhost'])('%s is accepted', async email => {
      const invited = await s.post(`${s.organization}/invites/`, { target_email: email })
      expect([invited.status, invited.body.target_email]).toEqual([201, email])
    })
  })

  describe('instance administrators', () => {
    it('set what an organization may do with plugins; from others the field is ignored', async () => {
      const admin = await s.join('admin', 8)
      const stranger = await s.stranger('founder')
      expect((await stranger.get(`${stranger.organization}/`)).body.plugins_access_level).toBe(6)
      expect((await s.get(`${s.organization}/`)).body.plugins_access_level).toBe(9)
      for (const [client, path, level] of [
        [stranger, stranger.organization, 6],
        [admin, s.organization, 9],
      ] as const) {
        for (const sent of [0, 3, 6, 9]) {
          const reply = await client.patch(`${path}/`, { plugins_access_level: sent })
          expect([reply.status, reply.body.plugins_access_level]).toEqual([200, level])
        }
      }
      const shared = await stranger.post(`${stranger.organization}/plugins/`, { name: 'Official', is_global: true })
      expect(shared.status).toBe(403)
      expect((await s.get('/api/users/@me/')).body.is_staff).toBe(true)
      expect((await stranger.get('/api/users/@me/')).body.is_staff).toBe(false)
      const wrong = await s.patch(`${s.organization}/`, { plugins_access_level: 5 })
      expect([wrong.status, wrong.body.attr]).toEqual([400, 'plugins_access_level'])
      const lowered = await s.patch(`${s.organization}/`, { plugins_access_level: 6 })
      expect(lowered.body.plugins_access_level).toBe(6)
      await s.patch(`${s.organization}/`, { plugins_access_level: 9 })
    })

    it('an organization that lost the level cannot change its global plugins', async () => {
      const plugins = `${s.organization}/plugins/`
      const { id } = (await s.post(plugins, { name: 'Shared', is_global: true })).body
      await s.patch(`${s.organization}/`, { plugins_access_level: 6 })
      for (const reply of [
        await s.patch(`${plugins}${id}/`, { description: 'other' }),
        await s.patch(`${plugins}${id}/update_source/`, { 'index.js': 'export const x = 1' }),
        await s.post(`${plugins}${id}/upgrade/`),
      ]) {
        expect(reply.status, reply.text).toBe(403)
      }
      await s.patch(`${s.organization}/`, { plugins_access_level: 9 })
    })

    it('and admins create organizations; members do not', async () => {
      const member = await s.join('plain-member')
      const refused = await member.post('/api/organizations/', { name: 'Mine' })
      expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied'])
      const admin = await s.join('founding-admin', 8)
      expect((await admin.post('/api/organizations/', { name: 'Ours' })).status).toBe(201)
    })
  })
})
