import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'

const day = 86_400_000

onEachDatabase('a service key', dialect => {
  const s = suiteScenario(dialect)
  let keys: string
  beforeAll(() => {
    keys = `${s.organization}/service_keys/`
  })

  it('acts without a person, survives its creator, is listed to admins and stops when it is revoked', async () => {
    const admin = await s.join('leaver', 8)
    const made = await admin.post(keys, {
      label: 'Deploy',
      scopes: ['feature_flag:write'],
      scoped_teams: [s.projectId],
    })
    expect(made.status, made.text).toBe(201)
    expect(Math.round((Date.parse(made.body.expires_at) - Date.now()) / day)).toBe(90)
    const service = s.as(made.body.value)
    const flag = await service.post(`${s.project}/feature_flags/`, { key: 'by-machine' })
    expect([flag.status, flag.body.created_by.first_name]).toEqual([201, 'Deploy'])
    await s.delete(`${s.organization}/members/${admin.uuid}/`)
    expect((await service.get(`${s.project}/feature_flags/`)).status).toBe(200)

    const [listed] = (await s.get(keys)).body
    expect(listed).toMatchObject({ label: 'Deploy', level: 1, created_by: { email: 'leaver@example.com' } })
    expect(JSON.stringify(listed)).not.toContain(made.body.value)
    const emails = (await s.get(`${s.organization}/members/`)).body.results.map(
      (member: { user: { email: string } }) => member.user.email,
    )
    expect(emails).not.toContain(made.body.user.email)
    expect((await s.delete(`${keys}${made.body.id}/`)).status).toBe(204)
    expect((await service.get(`${s.project}/feature_flags/`)).status).toBe(401)
    expect((await s.get(`${s.project}/feature_flags/${flag.body.id}/`)).body.created_by.first_name).toBe('Deploy')
  })

  it('has at most the rights of the key that creates it, and no account of a person', async () => {
    const member = await s.join('member')
    expect((await member.post(keys, { label: 'x', scopes: ['*'] })).status).toBe(403)
    const limited = await s.post('/api/personal_api_keys/', { label: 'l', scopes: ['organization:write'] })
    const refused = await s.as(limited.body.value).post(keys, { label: 'x', scopes: ['*'] })
    expect([refused.status, refused.body.attr]).toEqual([400, 'scopes'])
    for (const [field, value] of [
      ['level', 15],
      ['level', -1],
      ['scoped_teams', [999_999]],
      ['scopes', []],
    ] as const) {
      const reply = await s.post(keys, { label: 'x', scopes: ['*'], [field]: value })
      expect([reply.status, reply.body.attr], `${field} ${value}`).toEqual([400, field])
    }
    const stranger = await s.stranger('foreign')
    const foreign = Number(stranger.project.split('/').at(-1))
    expect((await s.post(keys, { label: 'x', scopes: ['*'], scoped_teams: [foreign] })).body.attr).toBe('scoped_teams')

    const made = await s.post(keys, { label: 'All', scopes: ['*'], level: 8 })
    const service = s.as(made.body.value)
    for (const path of ['/api/users/@me/', '/api/personal_api_keys/'])
      expect((await service.get(path)).status).toBe(403)
    expect((await service.post('/api/personal_api_keys/', { label: 'more', scopes: ['*'] })).status).toBe(403)
    expect((await service.post('/api/organizations/', { name: 'Own' })).status).not.toBe(201)
    expect((await stranger.delete(`${stranger.organization}/service_keys/${made.body.id}/`)).status).toBe(404)
    expect((await service.get(`${stranger.project}/feature_flags/`)).status).toBe(404)
  })

  it('has the level of its key alone: it becomes no owner, and is no member that can be changed or removed', async () => {
    const made = await s.post(keys, { label: 'Robot', scopes: ['*'], level: 8 })
    const member = `${s.organization}/members/${made.body.user.uuid}/`
    for (const level of [15, 1]) expect((await s.patch(member, { level })).status).toBe(404)
    expect((await s.delete(member)).status).toBe(404)
    expect((await s.get('/api/users/@me/')).body.organization.membership_level).toBe(15)
    expect((await s.get(keys)).body[0]).toMatchObject({ label: 'Robot', level: 8 })
  })

  it('and every new personal key expire after 90 days unless the request says otherwise', async () => {
    const usual = await s.post('/api/personal_api_keys/', { label: 'usual', scopes: ['*'] })
    expect(Math.round((Date.parse(usual.body.expires_at) - Date.now()) / day)).toBe(90)
    const lasting = await s.post('/api/personal_api_keys/', { label: 'lasting', scopes: ['*'], expires_at: null })
    expect(lasting.body.expires_at).toBeNull()
  })
})
