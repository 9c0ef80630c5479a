import { beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Client } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('access', dialect => {
  const s = suiteScenario(dialect)
  let member: Client & { uuid: string; email: string }
  let admin: Client & { uuid: string }
  let flags: string
  let counter = 0
  const newFlag = async (client: Client = s) => (await client.post(flags, { key: `f${counter++}` })).body
  const newRole = async (name: string, level?: number) => {
    const role = (await s.post(`${s.organization}/roles/`, { name })).body
    return level
      ? (await s.patch(`${s.organization}/roles/${role.id}/`, { feature_flags_access_level: level })).body
      : role
  }

  beforeAll(async () => {
    flags = `${s.project}/feature_flags/`
    member = await s.join('member')
    admin = await s.join('admin', 8)
  })

  describe('4.3 role access', () => {
    it('is granted, listed, read and revoked', async () => {
      const flag = await newFlag()
      const role = await newRole('Testers')
      const path = `${flags}${flag.id}/role_access/`
      const made = await s.post(path, { role_id: role.id })
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({
        role_id: role.id,
        role: { id: role.id, name: 'Testers', members: '', associated_flags: flag.key },
        feature_flag: { id: flag.id, key: flag.key },
      })
      const twice = await s.post(path, { role_id: role.id })
      expect([twice.status, twice.body.code, twice.body.attr]).toEqual([400, 'unique', 'role_id'])
      const list = await s.get(`${path}?limit=1`)
      expect(list.body).toMatchObject({ count: 1, next: null, previous: null, results: [made.body] })
      expect((await s.get(`${path}${made.body.id}/`)).body).toEqual(made.body)
      const gone = await s.delete(`${path}${made.body.id}/`)
      expect([gone.status, gone.text]).toEqual([204, ''])
      expect((await s.delete(`${path}${made.body.id}/`)).status).toBe(404)
      expect((await s.get(path)).body.count).toBe(0)
      const { results } = (await s.get(`${flags}${flag.id}/activity/`)).body
      expect(results.map((entry: { activity: string }) => entry.activity)).toEqual([
        'role_access_revoked',
        'role_access_granted',
        'created',
      ])
    })

    it.each([
      [{}, 'required'],
      [{ role_id: null }, 'null'],
      [{ role_id: 5 }, 'invalid_input'],
      [{ role_id: 'nope' }, 'invalid_input'],
      [{ role_id: '018f0000-0000-7000-8000-000000000000' }, 'does_not_exist'],
    ])('refuses %j', async (body, code) => {
      const flag = await newFlag()
      const reply = await s.post(`${flags}${flag.id}/role_access/`, body)
      expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, 'role_id', code])
    })

    it('responds 404 for unknown flags and records, and 405 for PATCH', async () => {
      const flag = await newFlag()
      for (const id of ['999999', '12abc']) {
        expect((await s.get(`${flags}${id}/role_access/`)).status).toBe(404)
        expect((await s.get(`${flags}${flag.id}/role_access/${id}/`)).status).toBe(404)
        expect((await s.delete(`${flags}${flag.id}/role_access/${id}/`)).status).toBe(404)
      }
      expect((await s.patch(`${flags}${flag.id}/role_access/1/`, {})).status).toBe(405)
    })

    it("refuses another organization's role", async () => {
      const stranger = await s.stranger('rolf')
      const role = await stranger.post(`${stranger.organization}/roles/`, { name: 'Foreign' })
      const flag = await newFlag()
      const reply = await s.post(`${flags}${flag.id}/role_access/`, { role_id: role.body.id })
      expect([reply.status, reply.body.code]).toEqual([400, 'does_not_exist'])
    })
  })

  describe('can_edit', () => {
    const canEdit = async (client: Client, id: number) => (await client.get(`${flags}${id}/`)).body.can_edit
    const tryPatch = async (client: Client, id: number) =>
      (await client.patch(`${flags}${id}/`, { name: `n${counter++}` })).status

    it('is true for every member without roles or settings', async () => {
      const flag = await newFlag()
      expect(await canEdit(member, flag.id)).toBe(true)
      expect(await tryPatch(member, flag.id)).toBe(200)
    })

    it('follows the organization, roles, role access and authorship', async () => {
      const flag = await newFlag()
      const setting = await s.post(`${s.organization}/resource_access/`, {
        resource: 'feature flags',
        access_level: 21,
      })
      expect(setting.status).toBe(201)
      expect(await canEdit(member, flag.id)).toBe(false)
      const refused = await member.patch(`${flags}${flag.id}/`, { name: 5 })
      expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied'])
      expect((await member.patch(`${flags}999999/`, {})).status).toBe(404)
      expect(await tryPatch(admin, flag.id)).toBe(200)
      const own = await newFlag(member)
      expect([own.can_edit, await tryPatch(member, own.id)]).toEqual([true, 200])
      expect((await member.post(`${flags}${flag.id}/role_access/`, {})).status).toBe(403)

      const viewers = await newRole('Viewers', 21)
      const join = await s.post(`${s.organization}/roles/${viewers.id}/role_memberships/`, { user_uuid: member.uuid })
      expect(join.status).toBe(201)
      expect(await canEdit(member, flag.id)).toBe(false)
      const access = await s.post(`${flags}${flag.id}/role_access/`, { role_id: viewers.id })
      expect(access.body.role.members).toBe(member.email)
      expect([await canEdit(member, flag.id), await tryPatch(member, flag.id)]).toEqual([true, 200])
      await s.delete(`${flags}${flag.id}/role_access/${access.body.id}/`)
      expect(await tryPatch(member, flag.id)).toBe(403)

      const editors = await newRole('Editors', 37)
      const membership = await s.post(`${s.organization}/roles/${editors.id}/role_memberships/`, {
        user_uuid: member.uuid,
      })
      expect(await tryPatch(member, flag.id)).toBe(200)
      await s.delete(`${s.organization}/roles/${editors.id}/role_memberships/${membership.body.id}/`)
      await s.patch(`${s.organization}/resource_access/${setting.body.id}/`, { access_level: 37 })
      expect(await canEdit(member, flag.id)).toBe(true)
      await s.delete(`${s.organization}/resource_access/${setting.body.id}/`)
      // Only a view-level role and no setting: restricted, as in PostHog.
      expect(await canEdit(member, flag.id)).toBe(false)
      await s.delete(`${s.organization}/roles/${viewers.id}/`)
      expect(await canEdit(member, flag.id)).toBe(true)
    })
  })

  describe('granting role access', () => {
    const canEdit = async (client: Client, id: number) => (await client.get(`${flags}${id}/`)).body.can_edit
    const join = (roleId: string, user: { uuid: string }) =>
      s.post(`${s.organization}/roles/${roleId}/role_memberships/`, { user_uuid: user.uuid })

    it('takes edit access without the grant in question', async () => {
      const flag = await newFlag()
      const grants = `${flags}${flag.id}/role_access/`
      const [viewer, editor] = [await s.join('granting-viewer'), await s.join('granting-editor')]
      const [first, second] = [await newRole('First viewers', 21), await newRole('Second viewers', 21)]
      const editors = await newRole('Granting editors', 37)
      for (const role of [first, second]) await join(role.id, viewer)
      await join(editors.id, editor)

      // No edit access: neither for the own roles nor for others.
      for (const role of [first, second, editors]) {
        expect((await viewer.post(grants, { role_id: role.id })).status).toBe(403)
      }
      expect(await canEdit(viewer, flag.id)).toBe(false)

      const granted = await editor.post(grants, { role_id: first.id })
      expect(granted.status).toBe(201)
      expect(await canEdit(viewer, flag.id)).toBe(true)
      // The only grant cannot remove itself, but a second one is another reason to edit.
      expect((await viewer.delete(`${grants}${granted.body.id}/`)).status).toBe(403)
      const other = await viewer.post(grants, { role_id: second.id })
      expect(other.status).toBe(201)
      expect((await viewer.delete(`${grants}${granted.body.id}/`)).status).toBe(204)
      expect((await viewer.delete(`${grants}${other.body.id}/`)).status).toBe(403)
      expect((await editor.delete(`${grants}${other.body.id}/`)).status).toBe(204)
      expect((await viewer.post(grants, { role_id: second.id })).status).toBe(403)
    })

    it('is no way to other ways of writing either', async () => {
      const flag = await newFlag()
      const viewer = await s.join('writing-viewer')
      const role = await newRole('Writing viewers', 21)
      await join(role.id, viewer)
      await viewer.post(`${flags}${flag.id}/role_access/`, { role_id: role.id })
      expect((await viewer.patch(`${flags}${flag.id}/`, { active: false })).status).toBe(403)
      const bulk = await viewer.post(`${flags}bulk_update/`, { ids: [flag.id], active: false })
      expect(bulk.body.updated).toEqual([])
      const removed = await viewer.post(`${flags}bulk_delete/`, { ids: [flag.id] })
      expect(removed.body.deleted).toEqual([])
      const at = new Date(Date.now() + 3_600_000).toISOString()
      const scheduled = await viewer.post(`${s.project}/scheduled_changes/`, {
        record_id: flag.id,
        payload: { operation: 'update_status', value: false },
        scheduled_at: at,
      })
      expect(scheduled.status).toBe(403)
    })
  })

  describe('the default access level of an organization', () => {
    const set = (default_access_level: unknown, client: Client = s) =>
      client.patch(`${s.organization}/`, { default_access_level })

    it('decides for members without a role, and is shown wherever access is shown', async () => {
      const flag = await newFlag()
      const user = await s.join('defaulted')
      const canEdit = async () => {
        const { can_edit } = (await user.get(`${flags}${flag.id}/`)).body
        expect((await user.patch(`${flags}${flag.id}/`, { name: `n${counter++}` })).status).toBe(can_edit ? 200 : 403)
        return can_edit
      }
      expect((await user.get(`${s.organization}/`)).body.default_access_level).toBe(37)
      expect(await canEdit()).toBe(true)
      expect((await set(21)).body.default_access_level).toBe(21)
      expect(await canEdit()).toBe(false)
      expect(
        (await user.get(`${flags}`)).body.results.find((each: { id: number }) => each.id === flag.id).can_edit,
      ).toBe(false)
      const me = (await user.get('/api/users/@me/')).body
      expect([me.organization.default_access_level, me.organizations[0].default_access_level]).toEqual([21, 21])
      expect((await newRole('By default')).feature_flags_access_level).toBe(21)

      // A role, and the setting for flags, are more specific.
      const editors = await newRole('Default editors', 37)
      const membership = await s.post(`${s.organization}/roles/${editors.id}/role_memberships/`, {
        user_uuid: user.uuid,
      })
      expect(await canEdit()).toBe(true)
      await s.delete(`${s.organization}/roles/${editors.id}/role_memberships/${membership.body.id}/`)
      const setting = await s.post(`${s.organization}/resource_access/`, {
        resource: 'feature flags',
        access_level: 37,
      })
      expect(await canEdit()).toBe(true)
      await s.delete(`${s.organization}/resource_access/${setting.body.id}/`)
      expect(await canEdit()).toBe(false)
      await set(37)
      expect(await canEdit()).toBe(true)
    })

    it('is written by admins, and is 21 or 37', async () => {
      expect((await set(21, member)).status).toBe(403)
      for (const wrong of [0, 15, 38, -1]) {
        const reply = await set(wrong)
        expect([reply.status, reply.body.attr, reply.body.code]).toEqual([
          400,
          'default_access_level',
          'invalid_choice',
        ])
      }
      expect((await set(37, admin)).status).toBe(200)
    })
  })

  describe('effective access', () => {
    interface Effective {
      readonly user: { readonly email: string }
      readonly access_level: string
      readonly source: string
      readonly role: { readonly name: string } | null
    }
    const effectiveOf = async (flagId: number, query = '?limit=1000') =>
      (await s.get(`${flags}${flagId}/effective_access/${query}`)).body
    const canReallyEdit = async (client: Client, flagId: number) =>
      (await client.patch(`${flags}${flagId}/`, { name: `by ${counter++}` })).status === 200
    const defaultTo = (level: number) => s.patch(`${s.organization}/`, { default_access_level: level })

    it('is what requests of each member can do, with the rule that decides', async () => {
      const [viewers, editors, granted] = [
        await newRole(`Viewers ${dialect}`, 21),
        await newRole(`Editors ${dialect}`, 37),
        await newRole(`Granted ${dialect}`, 21),
      ]
      const people = {
        plain: await s.join('eff-plain'),
        viewer: await s.join('eff-viewer'),
        editor: await s.join('eff-editor'),
        granted: await s.join('eff-granted'),
        creator: await s.join('eff-creator'),
        boss: await s.join('eff-boss', 8),
      }
      const flag = await newFlag(people.creator)
      const join = (role: { id: string }, { uuid }: { uuid: string }) =>
        s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: uuid })
      await join(viewers, people.viewer)
      await join(viewers, people.editor)
      await join(editors, people.editor)
      await join(granted, people.granted)
      await s.post(`${flags}${flag.id}/role_access/`, { role_id: granted.id })

      const expectAccess = async (expected: Record<keyof typeof people, readonly (string | null)[]>) => {
        const { results } = (await effectiveOf(flag.id)) as { results: readonly Effective[] }
        for (const [name, person] of Object.entries(people)) {
          const found = results.find(({ user }) => user.email === person.email)!
          expect([found.access_level, found.source, found.role?.name ?? null], name).toEqual(
            expected[name as keyof typeof people],
          )
          expect(await canReallyEdit(person, flag.id), name).toBe(found.access_level === 'editor')
        }
      }
      const byRoles = {
        viewer: ['viewer', 'role', viewers.name],
        editor: ['editor', 'role', editors.name],
        granted: ['editor', 'role_access', granted.name],
        creator: ['editor', 'creator', null],
        boss: ['editor', 'admin', null],
      }
      await expectAccess({ ...byRoles, plain: ['editor', 'default', null] })
      await defaultTo(21)
      await expectAccess({ ...byRoles, plain: ['viewer', 'default', null] })
      const { body: setting } = await s.post(`${s.organization}/resource_access/`, {
        resource: 'feature flags',
        access_level: 21,
      })
      await expectAccess({ ...byRoles, plain: ['viewer', 'organization', null] })
      await s.patch(`${s.organization}/resource_access/${setting.id}/`, { access_level: 37 })
      const byOrganization = ['editor', 'organization', null]
      await expectAccess({
        plain: byOrganization,
        viewer: byOrganization,
        editor: byOrganization,
        granted: byOrganization,
        creator: byRoles.creator,
        boss: byRoles.boss,
      })
      await s.delete(`${s.organization}/resource_access/${setting.id}/`)
      await defaultTo(37)
    })

    it('is listed without a flag too, with the flags that a role adds', async () => {
      const [writers, readers] = [await newRole(`Writers ${dialect}`, 37), await newRole(`Readers ${dialect}`, 21)]
      const people = { writer: await s.join('all-writer'), reader: await s.join('all-reader') }
      const join = (role: { id: string }, { uuid }: { uuid: string }) =>
        s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: uuid })
      await join(writers, people.writer)
      await join(readers, people.writer)
      await join(readers, people.reader)
      const flag = await newFlag()
      await s.post(`${flags}${flag.id}/role_access/`, { role_id: readers.id })
      const { results, count } = (await s.get(`${s.organization}/flag_access/?limit=1000`)).body
      expect(results).toHaveLength(count)
      const accessOf = ({ email }: { email: string }) => {
        const { user: _user, ...access } = results.find(({ user }: Effective) => user.email === email)
        return access
      }
      const named = ({ id, name }: { id: string; name: string }) => ({ id, name })
      expect(accessOf(people.writer)).toEqual({
        access_level: 'editor',
        source: 'role',
        role: named(writers),
        editable_flags: [],
        editable_flag_count: 0,
      })
      expect(accessOf(people.reader)).toEqual({
        access_level: 'viewer',
        source: 'role',
        role: named(readers),
        editable_flags: [flag.key],
        editable_flag_count: 1,
      })
      const { body: first } = await s.get(`${s.organization}/flag_access/?limit=1`)
      expect([first.count, first.results.length]).toEqual([count, 1])
      const stranger = await s.stranger(`flag-access-${dialect}`)
      expect((await stranger.get(`${s.organization}/flag_access/`)).status).toBe(404)
    })

    it('comes in pages', async () => {
      const flag = await newFlag()
      const { count } = await effectiveOf(flag.id)
      const first = await effectiveOf(flag.id, '?limit=2')
      expect([first.count, first.results.length]).toEqual([count, 2])
      const last = await effectiveOf(flag.id, `?limit=2&offset=${count - 1}`)
      expect([last.results.length, last.next]).toEqual([1, null])
      expect((await effectiveOf(flag.id, `?limit=2&offset=${count}`)).results).toEqual([])
    })

    it('is shown to those who can read the flag and the members', async () => {
      const flag = await newFlag()
      const path = `${flags}${flag.id}/effective_access/`
      expect((await member.get(path)).status).toBe(200)
      const withKey = async (body: object) => {
        const { value } = (await s.post('/api/personal_api_keys/', { label: 'some', ...body })).body
        return (await s.as(value).get(path)).status
      }
      const both = ['feature_flag:read', 'member:read']
      expect(await withKey({ scopes: both })).toBe(200)
      expect(await withKey({ scopes: ['feature_flag:read'] })).toBe(403)
      expect(await withKey({ scopes: ['member:read'] })).toBe(403)
      expect(await withKey({ scopes: both, scoped_teams: [s.projectId] })).toBe(403)
      expect((await s.get(`${flags}999999/effective_access/`)).status).toBe(404)
      const stranger = await s.stranger(`effective-${dialect}`)
      expect((await stranger.get(path)).status).toBe(404)
    })
  })

  it('roles have unique names, levels of two kinds, and are written by admins', async () => {
    const path = `${s.organization}/roles/`
    expect((await member.post(path, { name: 'Mine' })).status).toBe(403)
    expect((await member.get(path)).status).toBe(200)
    const role = await admin.post(path, { name: 'Ops' })
    expect(role.body).toMatchObject({ name: 'Ops', feature_flags_access_level: 37, members: '', associated_flags: '' })
    const same = await s.post(path, { name: 'oPS' })
    expect([same.status, same.body.code, same.body.attr]).toEqual([400, 'unique', 'name'])
    expect((await s.patch(`${path}${role.body.id}/`, { name: 'Ops' })).status).toBe(200)
    const level = await s.patch(`${path}${role.body.id}/`, { feature_flags_access_level: 20 })
    expect([level.status, level.body.code]).toEqual([400, 'invalid_choice'])
    const person = await s.post(`${path}${role.body.id}/role_memberships/`, { user_uuid: 'unknown' })
    expect([person.status, person.body.attr]).toEqual([400, 'user_uuid'])
    await s.post(`${path}${role.body.id}/role_memberships/`, { user_uuid: member.uuid })
    const twice = await s.post(`${path}${role.body.id}/role_memberships/`, { user_uuid: member.uuid })
    expect([twice.status, twice.body.code]).toEqual([400, 'unique'])
    expect((await s.get(`${path}${role.body.id}/`)).body.members).toBe('member@example.com')
    expect((await s.delete(`${path}${role.body.id}/`)).status).toBe(204)
    expect((await s.get(`${path}${role.body.id}/`)).status).toBe(404)
  })

  describe('members', () => {
    it('are raised and lowered by those above them', async () => {
      const person = await s.join('riser')
      const path = `${s.organization}/members/${person.uuid}/`
      expect((await member.patch(path, { level: 8 })).status).toBe(403)
      expect((await admin.patch(path, { level: 15 })).status).toBe(403)
      expect((await admin.patch(path, { level: 8 })).body.level).toBe(8)
      expect((await admin.patch(`${s.organization}/members/${admin.uuid}/`, { level: 1 })).status).toBe(403)
      expect((await s.patch(path, { level: 7 })).body.code).toBe('invalid_choice')
      expect((await s.delete(path)).status).toBe(204)
      expect((await person.get(`${s.project}/feature_flags/`)).status).toBe(404)
    })

    it('can leave, but the owner cannot', async () => {
      const person = await s.join('leaver')
      expect((await person.delete(`${s.organization}/members/${person.uuid}/`)).status).toBe(204)
      const owner = (await s.get('/api/users/@me/')).body
      const stays = await s.delete(`${s.organization}/members/${owner.uuid}/`)
      expect(stays.status).toBe(400)
    })
  })

  it('a user of another organization sees nothing', async () => {
    const flag = await newFlag()
    const stranger = await s.stranger('mallory')
    const foreign = [
      s.project,
      flags,
      `${flags}${flag.id}/`,
      `${flags}${flag.id}/activity/`,
      `${flags}activity/`,
      `${flags}${flag.id}/role_access/`,
      s.organization,
      `${s.organization}/members/`,
      `${s.organization}/invites/`,
      `${s.organization}/roles/`,
    ]
    for (const path of foreign) expect([path, (await stranger.get(path)).status]).toEqual([path, 404])
    // The right project, another organization's flag.
    const mixed = `${stranger.project}/feature_flags/${flag.id}/`
    expect((await stranger.get(mixed)).status).toBe(404)
    expect((await stranger.patch(mixed, { active: false })).status).toBe(404)
    expect((await s.get(`${flags}${flag.id}/`)).body).toEqual(flag)
  })
})
