import { beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Client } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()

onEachDatabase('what policies and freezes protect', dialect => {
  const s = suiteScenario(dialect)
  let admin: Client & { id: number; uuid: string }
  beforeAll(async () => {
    admin = await s.join('admin', 8)
  })

  const create = async (path: string, body: object, client: Client = s) => {
    const reply = await client.post(path, body)
    expect(reply.status, reply.text).toBe(201)
    return reply.body
  }
  const newProject = async (name: string) => {
    const { id } = await create('/api/projects/', { name })
    return { id: id as number, path: `/api/projects/${id}` }
  }
  const newRole = async (name: string) => {
    const { id } = await create(`${s.organization}/roles/`, { name })
    return { id: id as string, path: `${s.organization}/roles/${id}/` }
  }
  const freeze = async (body: object) => {
    const { id } = await create(`${s.organization}/freezes/`, { reason: 'Sale', ends_at: inHours(1), ...body })
    return `${s.organization}/freezes/${id}/`
  }

  describe('a role', () => {
    it('stays while a policy names it for approvals, so that other admins cannot approve', async () => {
      const role = await newRole('SRE')
      const member = await s.join('sre')
      await s.post(`${role.path}role_memberships/`, { user_uuid: member.uuid })
      const project = await newProject('approved by SRE')
      const flag = await create(`${project.path}/feature_flags/`, { key: 'gated' })
      const policy = await create(`${project.path}/approval_policies/`, {
        action_key: 'feature_flag.update',
        approver_config: { roles: [role.id] },
      })
      const change = await s.patch(`${project.path}/feature_flags/${flag.id}/`, { name: 'changed' })
      const approve = () => admin.post(`${project.path}/change_requests/${change.body.change_request_id}/approve/`)
      expect((await approve()).status).toBe(403)
      const refused = await admin.delete(role.path)
      expect(refused).toMatchObject({ status: 409, body: { code: 'role_in_use' } })
      expect(refused.body.detail).toContain(`policy ${policy.id} (feature_flag.update) of approved by SRE`)
      expect((await approve()).status).toBe(403)
      // A disabled policy can be enabled again, so it counts as well.
      const path = `${project.path}/approval_policies/${policy.id}/`
      expect((await s.patch(path, { enabled: false })).status).toBe(200)
      expect((await admin.delete(role.path)).status).toBe(409)
      expect((await s.delete(path)).status).toBe(204)
      expect((await admin.delete(role.path)).status).toBe(204)
    })

    it('stays while a policy names it for emergencies', async () => {
      const role = await newRole('On call')
      const project = await newProject('emergencies')
      const policy = { action_key: '*', approver_config: { users: [admin.id] }, emergency_roles: [role.id] }
      const { id } = await create(`${project.path}/approval_policies/`, policy)
      expect((await admin.delete(role.path)).body).toMatchObject({ code: 'role_in_use' })
      await s.patch(`${project.path}/approval_policies/${id}/`, { emergency_roles: [] })
      expect((await admin.delete(role.path)).status).toBe(204)
    })

    it('stays while a freeze excepts it, also one that starts later', async () => {
      const role = await newRole('Release managers')
      const project = await newProject('frozen later')
      const path = await freeze({
        project: project.id,
        except_roles: [role.id],
        starts_at: inHours(2),
        ends_at: inHours(3),
      })
      expect((await admin.delete(role.path)).body).toMatchObject({ code: 'role_in_use' })
      await s.delete(path)
      expect((await admin.delete(role.path)).status).toBe(204)
    })
  })

  describe('a project', () => {
    it('is not deleted while a policy is enabled', async () => {
      const project = await newProject('gated')
      const { id } = await create(`${project.path}/approval_policies/`, { action_key: 'feature_flag.update' })
      for (const path of [`${project.path}/`, `${s.organization}/projects/${project.id}/`]) {
        expect(await admin.delete(path)).toMatchObject({ status: 409, body: { code: 'project_protected' } })
      }
      await s.patch(`${project.path}/approval_policies/${id}/`, { enabled: false })
      expect((await admin.delete(`${project.path}/`)).status).toBeLessThan(300)
    })

    it('keeps its rules of evaluation while a policy is enabled or a freeze holds', async () => {
      const project = await newProject('evaluated')
      const path = `${project.path}/`
      const refused = { status: 409, body: { code: 'project_protected' } }
      const { id } = await create(`${path}approval_policies/`, { action_key: 'feature_flag.update' })
      expect(await admin.patch(path, { property_matching_version: 1 })).toMatchObject(refused)
      expect(await admin.patch(path, { name: 'renamed', property_matching_version: 2 })).toMatchObject({ status: 200 })
      await s.delete(`${path}approval_policies/${id}/`)
      const frozen = await freeze({ project: project.id })
      expect(await admin.patch(path, { property_matching_version: 1 })).toMatchObject(refused)
      await s.delete(frozen)
      expect((await admin.patch(path, { property_matching_version: 1 })).body.property_matching_version).toBe(1)
    })

    it('is not deleted while a freeze holds for it, its set or a tag of its flags', async () => {
      const project = await newProject('frozen')
      await create(`${project.path}/feature_flags/`, { key: 'tagged', tags: ['checkout'] })
      const environments = [{ name: 'frozen', project: project.id }, { name: 'other' }]
      const set = await create(`${s.organization}/environment_sets/`, { name: 'Frozen', environments })
      for (const scope of [
        { project: project.id },
        { project: project.id, starts_at: inHours(2), ends_at: inHours(3) },
        { environment_set: set.id },
        { tag: 'checkout' },
        {},
      ]) {
        const path = await freeze(scope)
        expect((await admin.delete(`${project.path}/`)).status, JSON.stringify(scope)).toBe(409)
        expect((await s.get(`${project.path}/`)).status).toBe(200)
        expect((await s.delete(path)).status).toBe(204)
      }
      const elsewhere = await freeze({ tag: 'search' })
      expect((await admin.delete(`${project.path}/`)).status).toBeLessThan(300)
      await s.delete(elsewhere)
    })
  })

  it('an environment set keeps its projects, and stays, while a freeze holds for it', async () => {
    const set = await create(`${s.organization}/environment_sets/`, { name: 'Shop' })
    const path = `${s.organization}/environment_sets/${set.id}/`
    const frozen = await freeze({ environment_set: set.id })
    const [, production] = set.environments as { project: number; name: string }[]
    const addFlag = () => s.post(`/api/projects/${production!.project}/feature_flags/`, { key: 'new' })
    expect((await addFlag()).status).toBe(409)
    const development = { name: 'development', project: set.environments[0].project }
    const others = [development, { name: 'another' }]
    expect((await admin.patch(path, { environments: others })).status).toBe(409)
    expect((await admin.delete(path)).status).toBe(409)
    expect((await addFlag()).status).toBe(409)
    expect((await admin.patch(path, { name: 'Store' })).status).toBe(200)
    await s.delete(frozen)
    expect((await admin.delete(path)).status).toBe(204)
  })

  describe('limits', () => {
    it('a member has at most 100 open change requests in a project', async () => {
      const member = await s.join('busy')
      const project = await newProject('requests')
      const flag = await create(`${project.path}/feature_flags/`, { key: 'gated' })
      const policy = { action_key: 'feature_flag.update', approver_config: { users: [admin.id] } }
      await create(`${project.path}/approval_policies/`, policy)
      const change = (name: string, client: Client = member) =>
        client.patch(`${project.path}/feature_flags/${flag.id}/`, { name })
      const opened: string[] = []
      for (let n = 0; n < 100; n++) {
        const reply = await change(`name ${n}`)
        expect(reply.status, reply.text).toBe(409)
        opened.push(reply.body.change_request_id)
      }
      expect(await change('one more')).toMatchObject({ status: 400, body: { code: 'limit_reached' } })
      // The same change again is the same request.
      expect((await change('name 7')).body.change_request_id).toBe(opened[7])
      expect((await change('by another', s)).status).toBe(409)
      await member.post(`${project.path}/change_requests/${opened[0]}/cancel/`, { reason: 'x' })
      expect((await change('one more')).status).toBe(409)
    })

    it('a member has at most 100 open invitations', async () => {
      const inviter = await s.join('inviter', 8)
      const invite = (name: string, client: Client = inviter) =>
        client.post(`${s.organization}/invites/`, { target_email: `${name}@example.com` })
      const ids: string[] = []
      for (let n = 0; n < 100; n++) ids.push((await invite(`guest-${n}`)).body.id)
      expect(await invite('guest-100')).toMatchObject({ status: 400, body: { code: 'limit_reached' } })
      expect((await invite('other-guest', s)).status).toBe(201)
      expect((await inviter.delete(`${s.organization}/invites/${ids[0]}/`)).status).toBe(204)
      expect((await invite('guest-100')).status).toBe(201)
    })

    it('an organization has at most 500 open invitations', async () => {
      const owner = await s.stranger('crowd')
      const invites = `${owner.organization}/invites/`
      const inviters: Client[] = [owner]
      for (let n = 0; n < 5; n++) {
        const { body } = await owner.post(invites, { target_email: `inviter-${n}@elsewhere.example`, level: 8 })
        const signedUp = await s.post(`/api/signup/${body.token}/`, {
          first_name: 'I',
          password: 'correct horse battery',
        })
        inviters.push(s.as(signedUp.body.api_key))
      }
      const fill = async (client: Client, from: number, count: number) => {
        for (let n = from; n < from + count; n++) {
          const reply = await client.post(invites, { target_email: `guest-${n}@elsewhere.example` })
          expect(reply.status, reply.text).toBe(201)
        }
      }
      await Promise.all(inviters.slice(0, 5).map((client, index) => fill(client, index * 100, 100)))
      const refused = await inviters[5]!.post(invites, { target_email: 'one-more@elsewhere.example' })
      expect(refused).toMatchObject({ status: 400, body: { code: 'limit_reached' } })
      expect(refused.body.detail).toContain('The organization has 500 open invitations')
    })
  })

  describe('what policies do not cover', () => {
    it('signed overrides and payload schemas are recorded with the flag', async () => {
      const project = await newProject('recorded')
      const flag = await create(`${project.path}/feature_flags/`, { key: 'gated' })
      await create(`${project.path}/approval_policies/`, { action_key: '*' })
      const path = `${project.path}/feature_flags/${flag.id}/`
      const signed = await s.post(`${project.path}/flag_overrides/`, { overrides: { gated: false } })
      expect(signed.status, signed.text).toBeLessThan(300)
      const schema = await s.put(`${path}payload_schema/`, { schema: { type: 'object' } })
      expect(schema.status, schema.text).toBeLessThan(300)
      const { body } = await s.get(`${path}activity/`)
      const entries = body.results.map((entry: { activity: string }) => entry.activity)
      expect(entries).toContain('override_signed')
      expect(entries.length).toBeGreaterThanOrEqual(3)
      const entry = body.results.find((one: { activity: string }) => one.activity === 'override_signed')
      expect(entry.detail.trigger).toMatchObject({ value: false, expires_at: signed.body.expires_at })
    })

    it('deleting a person is recorded in each static cohort that loses them', async () => {
      await s.post('/capture/', { api_key: s.projectToken, event: '$identify', distinct_id: 'leaving' })
      const cohort = await create(`${s.project}/cohorts/`, {
        name: 'static',
        is_static: true,
        distinct_ids: ['leaving'],
      })
      const { body: persons } = await s.get(`${s.project}/persons/?distinct_id=leaving`)
      const person = persons.results[0]
      expect((await s.delete(`${s.project}/persons/${person.id}/`)).status).toBe(202)
      const { body } = await s.get(`${s.project}/cohorts/${cohort.id}/activity/`)
      expect(body.results[0]).toMatchObject({
        activity: 'updated',
        detail: {
          changes: [{ field: 'members', after: { removed: 1 } }],
          trigger: { deleted_person: person.uuid ?? person.id },
        },
      })
    })
  })
})
