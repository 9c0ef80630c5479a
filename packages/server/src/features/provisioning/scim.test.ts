import { scimErrorSchema, scimGroupSchema, scimListSchema, scimPatchSchema, scimUserSchema } from '@halyard/contract'
import { beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../testing/scenario.ts'
import { addVerifiedDomain, verifyAddress } from '../../testing/single-sign-on.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const scimType = { 'content-type': 'application/scim+json' }
const password = 'correct horse battery'

onEachDatabase('provisioning by SCIM', dialect => {
  const s = suiteScenario(dialect)
  let other: Scenario
  let scim: Client
  let root: string
  let members: string
  let passwordHash: string | null
  beforeAll(async () => {
    other = await s.startAnother()
    const token = await s.post(`${s.organization}/scim_tokens/`, { label: 'Entra ID' })
    expect(token.status, token.text).toBe(201)
    scim = s.as(token.body.value)
    root = `/scim/v2/${s.organization.split('/').at(-1)}`
    members = `${s.organization}/members/`
    await addVerifiedDomain(s, 'acme.example')
    const { id } = await s.join('with-password')
    const accounts = s.halyard.storage.kysely.selectFrom('users').select('password_hash')
    passwordHash = (await accounts.where('id', '=', id).executeTakeFirstOrThrow()).password_hash
  }, 60_000)

  const person = (name: string, more: object = {}) => ({
    schemas: [scimUserSchema],
    userName: `${name}@acme.example`,
    emails: [{ value: `${name}@acme.example`, type: 'work', primary: true }],
    ...more,
  })
  const provision = async (name: string, more: object = {}) => {
    const reply = await scim.post(`${root}/Users`, person(name, more), scimType)
    expect(reply.status, reply.text).toBe(201)
    return reply.body
  }
  const patch = (path: string, ...Operations: object[]) =>
    scim.patch(`${root}/${path}`, { schemas: [scimPatchSchema], Operations }, scimType)
  const group = async (displayName: string, ...ids: string[]) => {
    const body = { schemas: [scimGroupSchema], displayName, members: ids.map(value => ({ value })) }
    const reply = await scim.post(`${root}/Groups`, body, scimType)
    expect(reply.status, reply.text).toBe(201)
    return reply.body
  }
  const idsIn = async (id: string): Promise<string[]> =>
    ((await scim.get(`${root}/Groups/${id}`)).body.members ?? []).map((member: { value: string }) => member.value)
  const memberOf = async (uuid: string) =>
    (await s.get(`${members}?limit=100`)).body.results.find(
      (member: { user: { uuid: string } }) => member.user.uuid === uuid,
    )
  /** Signs in with a password that was set as a reset link would. */
  const signIn = async (uuid: string, email: string, node: Scenario = s): Promise<Client> => {
    const { kysely } = s.halyard.storage
    await kysely.updateTable('users').set({ password_hash: passwordHash }).where('uuid', '=', uuid).execute()
    const reply = await node.as(undefined).post('/api/login/', { email, password })
    expect(reply.status, reply.text).toBe(200)
    return node.as(reply.body.api_key)
  }

  describe('users', () => {
    it('are created, read, replaced, listed and deleted as RFC 7644 shows', async () => {
      const sent = person('bjensen', {
        externalId: 'bjensen',
        name: { formatted: 'Ms. Barbara J Jensen III', familyName: 'Jensen', givenName: 'Barbara' },
      })
      const made = await scim.post(`${root}/Users`, sent, scimType)
      expect([made.status, made.headers.get('content-type')]).toEqual([201, 'application/scim+json; charset=utf-8'])
      expect(made.headers.get('location')).toBe(`${s.url}${root}/Users/${made.body.id}`)
      expect(made.body).toMatchObject({ ...sent, active: true, meta: { resourceType: 'User' } })
      expect(await memberOf(made.body.id)).toMatchObject({
        level: 1,
        is_provisioned: true,
        user: { first_name: 'Ms. Barbara J Jensen III', email: 'bjensen@acme.example', is_email_verified: true },
      })
      const own = `${root}/Users/${made.body.id}`
      expect((await scim.get(own)).body).toEqual(made.body)

      const replaced = await scim.put(own, person('bjensen', { displayName: 'Babs', title: 'Lead' }), scimType)
      expect([replaced.status, replaced.body.title, replaced.body.name]).toEqual([200, 'Lead', undefined])
      expect((await memberOf(made.body.id)).user.first_name).toBe('Babs')

      const list = (await scim.get(`${root}/Users?filter=${encodeURIComponent('userName eq "BJENSEN@acme.example"')}`))
        .body
      expect(list).toMatchObject({ schemas: [scimListSchema], totalResults: 1, startIndex: 1, itemsPerPage: 1 })
      expect(list.Resources[0].id).toBe(made.body.id)
      expect((await scim.delete(own)).status).toBe(204)
      expect([(await scim.get(own)).status, (await scim.delete(own)).status]).toEqual([404, 404])
      expect(await memberOf(made.body.id)).toBeUndefined()
      expect((await provision('bjensen')).id).toBe(made.body.id)
    })

    it('are patched as Entra ID sends it: capitalized operations, texts for booleans, paths with filters', async () => {
      const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
      const empty = await scim.get(`${root}/Users?filter=${encodeURIComponent('externalId eq "e-1"')}`)
      expect(empty.body).toMatchObject({ totalResults: 0, Resources: [] })
      const { id } = await provision('entra', {
        schemas: [scimUserSchema, enterprise],
        externalId: 'e-1',
        active: 'True',
        displayName: 'Entra Person',
        [enterprise]: { department: 'Flags' },
      })
      const changed = await patch(
        `Users/${id}`,
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'renamed@acme.example' },
        { op: 'Add', path: 'name.givenName', value: 'Entra' },
        { op: 'Replace', path: `${enterprise}:department`, value: 'Releases' },
        { op: 'Add', value: { [enterprise]: { costCenter: '42' } } },
        { op: 'Replace', value: { displayName: 'Renamed Person', 'name.familyName': 'Person' } },
      )
      expect(changed.status, changed.text).toBe(200)
      expect(changed.body).toMatchObject({
        schemas: [scimUserSchema, enterprise],
        emails: [{ value: 'renamed@acme.example', type: 'work' }],
        name: { givenName: 'Entra', familyName: 'Person' },
        [enterprise]: { department: 'Releases', costCenter: '42' },
      })
      expect((await memberOf(id)).user).toMatchObject({ email: 'renamed@acme.example', first_name: 'Renamed Person' })
      const gone = await patch(`Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })
      expect([gone.status, gone.body.active]).toEqual([200, false])
      expect(await memberOf(id)).toBeUndefined()
    })

    it('are deactivated and activated as Okta sends it, with the level and the roles from before', async () => {
      const { id } = await provision('okta', { roles: [{ value: 'admin' }], password: 'must not be stored' })
      expect((await memberOf(id)).level).toBe(8)
      const text = JSON.stringify(await s.halyard.storage.kysely.selectFrom('scim_users').selectAll().execute())
      expect(text).not.toContain('must not be stored')
      const { id: groupId } = await group('Okta group', id)
      const off = await patch(`Users/${id}`, { op: 'replace', value: { active: false } })
      expect([off.status, off.body.active]).toEqual([200, false])
      expect([await memberOf(id), await idsIn(groupId)]).toEqual([undefined, [id]])
      expect((await s.get(`${s.organization}/roles/${groupId}/`)).body.members).toBe('')
      await patch(`Users/${id}`, { op: 'replace', value: { active: true } })
      expect((await memberOf(id)).level).toBe(8)
      expect((await s.get(`${s.organization}/roles/${groupId}/`)).body.members).toBe('okta@acme.example')
    })

    it('who left a group while they were not active do not return to it', async () => {
      const { id } = await provision('suspended')
      const { id: groupId } = await group('Left meanwhile', id)
      await patch(`Users/${id}`, { op: 'replace', path: 'active', value: false })
      await patch(`Groups/${groupId}`, { op: 'remove', path: `members[value eq "${id}"]` })
      await patch(`Users/${id}`, { op: 'replace', path: 'active', value: true })
      expect((await s.get(`${s.organization}/roles/${groupId}/`)).body.members).toBe('')
    })

    it('lose sessions and keys on both nodes when they are deactivated, and what they made stays', async () => {
      const { id } = await provision('leaving')
      const email = 'leaving@acme.example'
      const here = await signIn(id, email)
      const there = await signIn(id, email, other)
      const made = await here.post('/api/personal_api_keys/', { label: 'CI', scopes: ['*'] })
      const key = made.body.value
      const flag = (await s.as(key).post(`${s.project}/feature_flags/`, { key: 'left-behind' })).body
      const clients = [here, there, s.as(key), other.as(key), s.as(there.key), other.as(here.key)]
      const statuses = () => Promise.all(clients.map(async client => (await client.get('/api/users/@me/')).status))
      expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200])
      expect((await patch(`Users/${id}`, { op: 'Replace', path: 'active', value: 'False' })).status).toBe(200)
      expect(await statuses()).toEqual([401, 401, 401, 401, 401, 401])
      expect((await s.get(`${s.project}/feature_flags/${flag.id}/`)).body.created_by.email).toBe(email)
    })

    it('keep what they have in other organizations', async () => {
      const { id } = await provision('shared')
      const session = await signIn(id, 'shared@acme.example')
      const stranger = await s.stranger('host')
      const { token } = (
        await stranger.post(`${stranger.organization}/invites/`, { target_email: 'shared@acme.example' })
      ).body
      expect((await session.post(`/api/signup/${token}/join/`, {})).status).toBe(204)
      const keyFor = async (organization: string) =>
        (
          await session.post('/api/personal_api_keys/', {
            label: 'k',
            scopes: ['*'],
            scoped_organizations: [organization.split('/').at(-1)],
          })
        ).body.value
      const [own, foreign] = [await keyFor(s.organization), await keyFor(stranger.organization)]
      expect((await scim.delete(`${root}/Users/${id}`)).status).toBe(204)
      for (const node of [s, other]) {
        expect((await node.as(own).get(`${s.organization}/`)).status).toBe(401)
        expect((await node.as(foreign).get(`${stranger.organization}/`)).status).toBe(200)
        expect((await node.as(session.key).get(`${stranger.organization}/`)).status).toBe(200)
        expect((await node.as(session.key).get(`${s.organization}/`)).status).toBe(404)
      }
    })

    it('are never taken over from another organization, unless the domain of the address is verified', async () => {
      const stranger = await s.stranger('victim')
      const { email } = (await stranger.get('/api/users/@me/')).body
      const claimed = person('x', { userName: 'victim', emails: [{ value: email }] })
      const refused = await scim.post(`${root}/Users`, claimed, scimType)
      expect([refused.status, refused.body.scimType]).toEqual([409, 'uniqueness'])
      expect(refused.body).toMatchObject({ schemas: [scimErrorSchema], status: '409' })

      await addVerifiedDomain(s, 'elsewhere.example')
      // Someone entered the address and knows the password: the account must not become a member.
      expect((await scim.post(`${root}/Users`, claimed, scimType)).status).toBe(409)
      await verifyAddress(s, (await stranger.get('/api/users/@me/')).body)
      const linked = await scim.post(`${root}/Users`, claimed, scimType)
      expect(linked.status, linked.text).toBe(201)
      const moved = await patch(`Users/${linked.body.id}`, {
        op: 'replace',
        path: 'emails',
        value: [{ value: 'evil@evil.example' }],
      })
      expect([moved.status, moved.body.scimType]).toEqual([400, 'mutability'])
      expect((await stranger.get('/api/users/@me/')).body.email).toBe(email)
      expect((await stranger.get(`${stranger.organization}/`)).status).toBe(200)
    })

    it('who were members before are linked, and the owner is neither deactivated nor renamed away', async () => {
      const member = await s.join('linked')
      const linked = await scim.post(
        `${root}/Users`,
        person('linked', { userName: member.email, emails: [] }),
        scimType,
      )
      expect([linked.status, linked.body.id]).toEqual([201, member.uuid])
      const me = (await s.get('/api/users/@me/')).body
      const owner = (
        await scim.post(
          `${root}/Users`,
          person('o', { userName: me.email, emails: [], roles: [{ value: 'member' }] }),
          scimType,
        )
      ).body
      expect((await memberOf(owner.id)).level).toBe(15)
      const off = await patch(`Users/${owner.id}`, { op: 'replace', path: 'active', value: false })
      const moved = await patch(`Users/${owner.id}`, {
        op: 'replace',
        path: 'emails',
        value: [{ value: 'o@acme.example' }],
      })
      const removed = await scim.delete(`${root}/Users/${owner.id}`)
      expect([off, moved, removed].map(({ status, body }) => [status, body.scimType])).toEqual([
        [400, 'mutability'],
        [400, 'mutability'],
        [400, 'mutability'],
      ])
      expect((await s.get('/api/users/@me/')).status).toBe(200)
      expect((await provisionRefused('boss', { roles: [{ value: 'owner' }] })).body.detail).toContain('`roles`')
    })

    it('are not changed by hand in what SCIM manages, until no token is valid', async () => {
      const { id } = await provision('managed', { roles: [{ value: 'member' }] })
      const own = await signIn(id, 'managed@acme.example')
      const { id: groupId } = await group('Managed group', id)
      const role = `${s.organization}/roles/${groupId}/`
      const [membership] = (await s.get(`${role}role_memberships/`)).body.results
      const tries = () => [
        own.patch('/api/users/@me/', { first_name: 'Other' }),
        own.patch('/api/users/@me/', { email: 'o@other.example', current_password: password }),
        s.patch(`${members}${id}/`, { level: 8 }),
        s.delete(`${members}${id}/`),
        own.delete(`${members}${id}/`),
        s.patch(role, { name: 'Other' }),
        s.delete(role),
        s.delete(`${role}role_memberships/${membership.id}/`),
      ]
      for (const reply of await Promise.all(tries())) {
        expect([reply.status, reply.body.code]).toEqual([400, 'managed_by_scim'])
        expect(reply.body.detail).toContain('SCIM')
      }
      await patch(`Users/${id}`, { op: 'replace', path: 'active', value: false })
      const invited = await s.post(`${s.organization}/invites/`, { target_email: 'managed@acme.example' })
      expect(invited.body.code).toBe('managed_by_scim')

      const separate = await startScenario(dialect)
      const token = await separate.post(`${separate.organization}/scim_tokens/`, { label: 'x' })
      const users = `/scim/v2/${separate.organization.split('/').at(-1)}/Users`
      const made = await separate.as(token.body.value).post(users, person('free'), scimType)
      const member = `${separate.organization}/members/${made.body.id}/`
      expect((await separate.delete(member)).status).toBe(400)
      await separate.delete(`${separate.organization}/scim_tokens/${token.body.id}/`)
      expect((await separate.as(token.body.value).get(users)).status).toBe(401)
      expect((await separate.delete(member)).status).toBe(204)
      await separate.close()
    })

    it('are listed in bounded pages', async () => {
      const page = await scim.get(`${root}/Users?startIndex=2&count=1`)
      expect(page.body).toMatchObject({ startIndex: 2, itemsPerPage: 1 })
      expect(page.body.totalResults).toBeGreaterThan(2)
      expect((await scim.get(`${root}/Users?count=0`)).body).toMatchObject({ itemsPerPage: 0, Resources: [] })
      expect((await scim.get(`${root}/Users?startIndex=-5&count=100000`)).body.startIndex).toBe(1)
      const [shown] = (await scim.get(`${root}/Users?count=1&attributes=userName`)).body.Resources
      expect(Object.keys(shown).sort()).toEqual(['id', 'meta', 'schemas', 'userName'])
    })

    const provisionRefused = async (name: string, more: object) => {
      const reply = await scim.post(`${root}/Users`, person(name, more), scimType)
      expect(reply.status, reply.text).toBe(400)
      return reply
    }
  })

  describe('groups', () => {
    it('are roles whose members are added and removed as Entra ID and Okta send it', async () => {
      const [one, two, three] = [await provision('one'), await provision('two'), await provision('three')]
      const { id } = await group('Release managers', one.id)
      expect((await s.get(`${s.organization}/roles/${id}/`)).body).toMatchObject({
        name: 'Release managers',
        members: 'one@acme.example',
      })
      await patch(`Groups/${id}`, {
        op: 'Add',
        path: 'members',
        value: [{ $ref: null, value: two.id }, { value: three.id }],
      })
      expect((await idsIn(id)).sort()).toEqual([one.id, two.id, three.id].sort())
      await patch(`Groups/${id}`, { op: 'Remove', path: 'members', value: [{ $ref: null, value: one.id }] })
      await patch(`Groups/${id}`, { op: 'remove', path: `members[value eq "${two.id}"]` })
      expect(await idsIn(id)).toEqual([three.id])
      const renamed = await patch(`Groups/${id}`, { op: 'replace', value: { id, displayName: 'Releasers' } })
      expect([renamed.status, renamed.body.displayName]).toEqual([200, 'Releasers'])

      const filter = encodeURIComponent('displayName eq "releasers"')
      const [short] = (await scim.get(`${root}/Groups?excludedAttributes=members&filter=${filter}`)).body.Resources
      expect([short.id, 'members' in short]).toEqual([id, false])
      const replaced = await scim.put(
        `${root}/Groups/${id}`,
        { schemas: [scimGroupSchema], displayName: 'Releasers', externalId: 'g-1', members: [{ value: one.id }] },
        scimType,
      )
      expect([replaced.status, replaced.body.externalId]).toEqual([200, 'g-1'])
      expect(await idsIn(id)).toEqual([one.id])
      await patch(`Groups/${id}`, { op: 'remove', path: 'members' })
      expect(await idsIn(id)).toEqual([])
      expect((await scim.delete(`${root}/Groups/${id}`)).status).toBe(204)
      expect((await s.get(`${s.organization}/roles/${id}/`)).status).toBe(404)
    })

    it('adopt a role of the same name, leave its other members alone, and are refused a second time', async () => {
      const byHand = await s.join('byhand')
      const role = (await s.post(`${s.organization}/roles/`, { name: 'Existing' })).body
      await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: byHand.uuid })
      const { id: userId } = await provision('adopted')
      const made = await group('existing', userId)
      expect([made.id, await idsIn(role.id)]).toEqual([role.id, [userId]])
      await scim.put(`${root}/Groups/${role.id}`, { schemas: [scimGroupSchema], displayName: 'Existing' }, scimType)
      expect((await s.get(`${s.organization}/roles/${role.id}/`)).body.members).toBe(byHand.email)
      const again = await scim.post(`${root}/Groups`, { schemas: [scimGroupSchema], displayName: 'EXISTING' }, scimType)
      expect([again.status, again.body.scimType]).toEqual([409, 'uniqueness'])
      const foreign = await patch(`Groups/${role.id}`, { op: 'add', path: 'members', value: [{ value: byHand.uuid }] })
      expect([foreign.status, foreign.body.detail]).toEqual([400, expect.stringContaining('`members`')])
    })
  })

  it('keeps every change of patches that arrive on two nodes at the same time', async () => {
    const people = await Promise.all(['first', 'second', 'third', 'fourth'].map(name => provision(`twin-${name}`)))
    const [{ id }] = people as [{ id: string }]
    const { id: groupId } = await group('Twins')
    const onNode = (n: number, path: string, operation: object) =>
      [s, other]
        [n % 2]!.as(scim.key)
        .patch(`${root}/${path}`, { schemas: [scimPatchSchema], Operations: [operation] }, scimType)
    const attributes = ['title', 'nickName', 'locale', 'timezone']
    const replies = await Promise.all([
      ...attributes.map((path, n) => onNode(n, `Users/${id}`, { op: 'add', path, value: path })),
      ...people.map((person, n) =>
        onNode(n, `Groups/${groupId}`, { op: 'add', path: 'members', value: [{ value: person.id }] }),
      ),
    ])
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect((await scim.get(`${root}/Users/${id}`)).body).toMatchObject(
      Object.fromEntries(attributes.map(path => [path, path])),
    )
    expect((await idsIn(groupId)).sort()).toEqual(people.map(person => person.id).sort())
  })

  it('describes itself: patch and filter, no bulk, no ETags', async () => {
    const config = (await scim.get(`${root}/ServiceProviderConfig`)).body
    expect([config.patch, config.bulk.supported, config.filter.supported, config.etag]).toEqual([
      { supported: true },
      false,
      true,
      { supported: false },
    ])
    const names = async (path: string) =>
      (await scim.get(`${root}/${path}`)).body.Resources.map(({ name }: { name: string }) => name)
    expect([await names('Schemas'), await names('ResourceTypes')]).toEqual([
      ['User', 'Group'],
      ['User', 'Group'],
    ])
    for (const path of ['Schemas', 'ResourceTypes']) {
      const [first] = (await scim.get(`${root}/${path}`)).body.Resources
      expect((await scim.get(first.meta.location.slice(s.url.length))).body).toEqual(first)
      expect((await scim.get(`${root}/${path}/unknown`)).status).toBe(404)
    }
  })

  it('leaves one audit entry for each write, by the token', async () => {
    const { id } = await provision('audited')
    const calls = [
      await patch(`Users/${id}`, { op: 'replace', path: 'displayName', value: 'A' }),
      await patch(`Users/${id}`, { op: 'replace', path: 'displayName', value: 'A' }),
      await patch(`Users/${id}`, { op: 'replace', path: 'active', value: false }),
      await scim.post(`${root}/Groups`, { schemas: [scimGroupSchema], displayName: 'Audited' }, scimType),
      await scim.delete(`${root}/Users/${id}`),
    ]
    const entries = (await s.get(`${s.organization}/audit_log/?limit=100`)).body.results
    for (const { headers } of calls) {
      const own = entries.filter((entry: { request_id: string }) => entry.request_id === headers.get('x-request-id'))
      expect(own).toHaveLength(1)
      expect(own[0]).toMatchObject({ credential: { kind: 'scim_token', label: 'Entra ID' } })
    }
  })
})
