import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Client, type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

/** The calls by which PostHog's Terraform provider and MCP server manage projects and roles. */
onEachDatabase('management clients of PostHog', dialect => {
  let s: Scenario
  let stranger: Client & { project: string; organization: string }
  beforeAll(async () => {
    s = await startScenario(dialect)
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
})
