import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import type { Client } from '../../packages/server/src/testing/scenario.ts'
import { type Program, startProgram } from '../program/start-program.ts'

/** The calls by which PostHog's Terraform provider and MCP server manage projects and roles. */
onEachDatabase('management clients of PostHog', dialect => {
  let s: Program
  let stranger: Client & { project: string; organization: string }
  beforeAll(async () => {
    s = await startProgram(dialect)
    stranger = await s.stranger('other')
  })
  afterAll(() => s.close())

  it('manage projects below their organization', async () => {
    const path = `${s.organization}/projects/`
    const created = await s.post(path, { name: 'Terraformed', timezone: 'Europe/Berlin' })
    expect([created.status, created.body.name, created.body.timezone]).toEqual([201, 'Terraformed', 'Europe/Berlin'])
    const own = `${path}${created.body.id}/`
    expect((await s.get(own)).body).toEqual((await s.get(`/api/projects/${created.body.id}/`)).body)
    expect((await s.get('/api/organizations/@current/projects/')).body.count).toBe(2)
    expect((await s.patch(own, { name: 'Renamed' })).body.name).toBe('Renamed')
    expect((await s.patch(own, { timezone: 'nowhere' })).body).toMatchObject({ attr: 'timezone' })

    const listed = (await s.get(path)).body.results.map(({ name }: { name: string }) => name)
    expect(listed.sort()).toEqual(['Default project', 'Renamed'])
    const elsewhere = `${stranger.organization}/projects/`
    expect((await s.get(elsewhere)).status).toBe(404)
    expect((await stranger.get(`${elsewhere}${created.body.id}/`)).status).toBe(404)
    expect((await stranger.patch(own, { name: 'stolen' })).status).toBe(404)
    expect((await stranger.delete(own)).status).toBe(404)

    const member = await s.join('member')
    expect((await member.post(path, { name: 'no' })).status).toBe(403)
    expect((await member.delete(own)).status).toBe(403)
    expect((await s.delete(own)).status).toBe(204)
    expect((await s.get(own)).status).toBe(404)
  })

  it('do not find a project of another organization below this one', async () => {
    const { body: second } = await s.post('/api/organizations/', { name: 'Second' })
    const path = `/api/organizations/${second.id}/projects/`
    expect((await s.get(path)).body.count).toBe(1)
    expect((await s.get(`${path}${s.projectId}/`)).status).toBe(404)
    expect((await s.patch(`${path}${s.projectId}/`, { name: 'moved' })).status).toBe(404)
    expect((await s.delete(`${path}${s.projectId}/`)).status).toBe(404)
    expect((await s.get(s.project)).status).toBe(200)
  })

  it('read and change a project as an environment', async () => {
    const environment = `/api/environments/${s.projectId}/`
    expect((await s.get(environment)).body).toEqual((await s.get(`${s.project}/`)).body)
    expect((await s.get('/api/environments/@current/')).status).toBe(200)
    expect((await s.patch(environment, { name: 'Production' })).body.name).toBe('Production')
    expect((await stranger.get(environment)).status).toBe(404)
  })

  it('read one membership of a role', async () => {
    const member = await s.join('role-member')
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: 'Team' })
    const path = `${s.organization}/roles/${role.id}/role_memberships/`
    const { body: membership } = await s.post(path, { user_uuid: member.uuid })
    expect((await s.get(`${path}${membership.id}/`)).body).toEqual(membership)
    expect((await s.get(`${path}${role.id}/`)).status).toBe(404)
    expect((await stranger.get(`${path}${membership.id}/`)).status).toBe(404)
  })

  it('grant a role access to one flag and take it back', async () => {
    const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'controlled' })
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: 'Editors', feature_flags_access_level: 21 })
    const path = `${s.project}/feature_flags/${flag.id}/access_controls/`
    const sent = { resource: 'feature_flag', resource_id: String(flag.id), role: role.id }
    const granted = await s.put(path, { ...sent, access_level: 'editor' })
    expect([granted.status, granted.body]).toEqual([
      200,
      expect.objectContaining({ ...sent, access_level: 'editor', organization_member: null }),
    ])
    // Terraform sends the same again when it applies a plan twice.
    expect((await s.put(path, { ...sent, access_level: 'editor' })).body).toEqual(granted.body)
    expect((await s.get(path)).body).toEqual({
      access_controls: [granted.body],
      available_access_levels: ['editor'],
      default_access_level: 'editor',
      user_access_level: 'editor',
      user_can_edit_access_levels: true,
    })
    expect((await s.get(`${s.project}/feature_flags/${flag.id}/role_access/`)).body.results[0].role_id).toBe(role.id)

    const attr = async (body: object) => (await s.put(path, { ...sent, access_level: 'editor', ...body })).body.attr
    expect(await attr({ access_level: 'viewer' })).toBe('access_level')
    expect(await attr({ access_level: 'manager' })).toBe('access_level')
    expect(await attr({ role: null })).toBe('role')
    expect(await attr({ role: flag.created_by.uuid })).toBe('role')
    expect(await attr({ resource: 'dashboard' })).toBe('resource')
    expect(await attr({ organization_member: role.id })).toBe('organization_member')
    expect((await stranger.put(path, { ...sent, access_level: 'editor' })).status).toBe(404)

    expect((await s.put(path, { ...sent, access_level: null })).status).toBe(204)
    expect((await s.put(path, { ...sent, access_level: null })).status).toBe(204)
    expect((await s.get(path)).body.access_controls).toEqual([])
  })

  it('set what roles and members can do with all flags', async () => {
    const path = `${s.project}/resource_access_controls/`
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: 'Readers' })
    const set = (body: object, as: Client = s) => as.put(path, { resource: 'feature_flag', ...body })
    const own = async () => {
      const { access_controls } = (await s.get(path)).body
      return access_controls.find((control: { role: string }) => control.role === role.id).access_level
    }
    expect((await set({ role: role.id, access_level: 'viewer' })).body).toMatchObject({
      role: role.id,
      resource_id: null,
    })
    expect(await own()).toBe('viewer')
    expect((await s.get(`${s.organization}/roles/${role.id}/`)).body.feature_flags_access_level).toBe(21)
    expect((await set({ role: role.id, access_level: null })).status).toBe(204)
    expect(await own()).toBe('editor')

    expect((await set({ access_level: 'viewer' })).body).toMatchObject({ role: null, access_level: 'viewer' })
    expect((await s.get(path)).body).toMatchObject({ default_access_level: 'viewer', user_access_level: 'editor' })
    const member = await s.join('reader')
    const theirs = (await member.get(path)).body
    expect(theirs).toMatchObject({ user_access_level: 'viewer', user_can_edit_access_levels: false })
    expect((await set({ access_level: 'editor' }, member)).status).toBe(403)
    expect((await set({ access_level: 'editor' }, stranger)).status).toBe(404)
    const limited = { label: 'one project', scopes: ['*'], scoped_teams: [s.projectId] }
    const { body: key } = await s.post('/api/personal_api_keys/', limited)
    expect((await set({ access_level: 'editor' }, s.as(key.value))).status).toBe(403)
    expect((await set({ access_level: null })).status).toBe(204)
    expect((await s.get(path)).body.default_access_level).toBe('editor')
    expect((await s.get(`${s.project}/access_controls/`)).body).toMatchObject({
      access_controls: [],
      default_access_level: 'member',
      user_access_level: 'admin',
    })
  })
})
