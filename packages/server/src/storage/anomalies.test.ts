import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../testing/databases.ts'
import { createFaultInjector } from '../testing/failing-statement.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'

/** Every writing request, with its first, second, third … statement failing: it responds 5xx and changes nothing. */

const statementsMax = 60

onEachDatabase('anomalies', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let flagId: number
  let roleId: string
  let otherRoleId: string
  let roleAccessId: number
  let memberUuid: string
  let inviteToken: string
  let otherProjectId: number
  beforeAll(async () => {
    flagId = (await s.post(`${s.project}/feature_flags/`, { key: 'steady' })).body.id
    roleId = (await s.post(`${s.organization}/roles/`, { name: 'Steady' })).body.id
    otherRoleId = (await s.post(`${s.organization}/roles/`, { name: 'Other' })).body.id
    roleAccessId = (await s.post(`${s.project}/feature_flags/${flagId}/role_access/`, { role_id: roleId })).body.id
    otherProjectId = (await s.post('/api/projects/', { name: 'Other' })).body.id
    inviteToken = (await s.post(`${s.organization}/invites/`, { target_email: 'new@example.com' })).body.token
    memberUuid = (await s.join('steady')).uuid
  })

  const tables = [
    'flags',
    'flag_versions',
    'activity',
    'dashboards',
    'changes',
    'projects',
    'organizations',
    'memberships',
  ]
  tables.push(
    'users',
    'api_keys',
    'roles',
    'role_memberships',
    'flag_role_access',
    'resource_access',
    'invites',
    'secret_keys',
  )

  /** A fingerprint of each table, so that a difference names its table. */
  async function everything(): Promise<Record<string, string>> {
    const prints = await Promise.all(
      tables.map(async name => {
        const { rows } = await sql.raw(`select * from ${name} order by 1, 2`).execute(s.halyard.storage.kysely)
        return [name, createHash('sha1').update(JSON.stringify(rows)).digest('hex').slice(0, 12)]
      }),
    )
    return Object.fromEntries(prints)
  }

  let counter = 0
  const writes: [string, () => Promise<{ status: number }>][] = [
    ['create a flag', () => s.post(`${s.project}/feature_flags/`, { key: `new-${counter++}` })],
    ['update a flag', () => s.patch(`${s.project}/feature_flags/${flagId}/`, { name: `n${counter++}` })],
    ['delete a flag', () => s.patch(`${s.project}/feature_flags/${flagId}/`, { deleted: true })],
    ['grant role access', () => s.post(`${s.project}/feature_flags/${flagId}/role_access/`, { role_id: otherRoleId })],
    ['revoke role access', () => s.delete(`${s.project}/feature_flags/${flagId}/role_access/${roleAccessId}/`)],
    ['create a project', () => s.post('/api/projects/', { name: 'New' })],
    ['update a project', () => s.patch(`${s.project}/`, { name: `P${counter++}` })],
    ['create a secret key', () => s.post(`${s.project}/secret_keys/`, { label: 'k' })],
    ['create an organization', () => s.post('/api/organizations/', { name: 'New' })],
    ['update an organization', () => s.patch(`${s.organization}/`, { name: `O${counter++}` })],
    ['invite', () => s.post(`${s.organization}/invites/`, { target_email: `i${counter++}@example.com` })],
    ['create a role', () => s.post(`${s.organization}/roles/`, { name: `R${counter++}` })],
    ['put into a role', () => s.post(`${s.organization}/roles/${roleId}/role_memberships/`, { user_uuid: memberUuid })],
    ['set access', () => s.post(`${s.organization}/resource_access/`, { resource: 'cohorts' })],
    ['update a role', () => s.patch(`${s.organization}/roles/${roleId}/`, { name: `S${counter++}` })],
    ['delete a role', () => s.delete(`${s.organization}/roles/${otherRoleId}/`)],
    ['change a level', () => s.patch(`${s.organization}/members/${memberUuid}/`, { level: 8 })],
    [
      'sign up',
      () => s.as(undefined).post(`/api/signup/${inviteToken}/`, { first_name: 'New', password: 'long enough' }),
    ],
    [
      'sign in',
      () => s.as(undefined).post('/api/login/', { email: 'steady@example.com', password: 'correct horse battery' }),
    ],
    ['create a key', () => s.post('/api/personal_api_keys/', { label: `k${counter++}` })],
    ['choose a project', () => s.patch('/api/users/@me/', { set_current_team: otherProjectId, first_name: 'Renamed' })],
    ['replace a token', () => s.patch(`/api/projects/${otherProjectId}/reset_token/`)],
    ['delete a project', () => s.delete(`/api/projects/${otherProjectId}/`)],
    ['remove a member', () => s.delete(`${s.organization}/members/${memberUuid}/`)],
  ]

  it.each(writes)('%s: all or nothing', async (_title, write) => {
    let before = await everything()
    for (let n = 1; n <= statementsMax; n++) {
      injector.failAt(n)
      const { status } = await write()
      const wasReached = injector.disarm()
      const after = await everything()
      if (wasReached && status >= 500) {
        expect(after, `after statement ${n} failed`).toEqual(before)
        continue
      }
      if (!wasReached) return
      // What comes after the commit (the notification) may fail without harm: the write is there and was acknowledged. Doing the
      // same again may then be refused, which ends the search.
      expect(status).toBeLessThan(500)
      if (status >= 400) return
      expect(after).not.toEqual(before)
      before = after
    }
    throw new Error(`still failing after ${statementsMax} statements`)
  })
})
