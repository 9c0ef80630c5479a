import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../testing/databases.ts'
import { createFaultInjector } from '../testing/failing-statement.ts'
import { type Scenario, startScenario } from '../testing/scenario.ts'

/** Every writing request, with its first, second, third … statement failing: it answers 5xx and leaves nothing behind. */

const statementsMax = 60

onEachDatabase('anomalies', dialect => {
  const injector = createFaultInjector()
  let s: Scenario
  let flagId: number
  let roleId: string
  let otherRoleId: string
  let roleAccessId: number
  let memberUuid: string
  beforeAll(async () => {
    s = await startScenario(dialect, { storage: injector })
    flagId = (await s.post(`${s.project}/feature_flags/`, { key: 'steady' })).body.id
    roleId = (await s.post(`${s.organization}/roles/`, { name: 'Steady' })).body.id
    otherRoleId = (await s.post(`${s.organization}/roles/`, { name: 'Other' })).body.id
    roleAccessId = (await s.post(`${s.project}/feature_flags/${flagId}/role_access/`, { role_id: roleId })).body.id
    memberUuid = (await s.join('steady')).uuid
  })
  afterAll(() => s.close())

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
  tables.push('roles', 'role_memberships', 'flag_role_access', 'resource_access', 'invites', 'secret_keys')

  async function everything(): Promise<string> {
    const parts = await Promise.all(
      tables.map(async name => {
        const { rows } = await sql.raw(`select * from ${name} order by 1, 2`).execute(s.halyard.storage.kysely)
        return `${name} ${JSON.stringify(rows)}`
      }),
    )
    return parts.join('\n')
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
    ['remove a member', () => s.delete(`${s.organization}/members/${memberUuid}/`)],
  ]

  it.each(writes)('%s: all or nothing', async (_title, write) => {
    const before = await everything()
    for (let n = 1; n <= statementsMax; n++) {
      injector.failAt(n)
      const { status } = await write()
      if (!injector.disarm()) {
        expect(status).toBeLessThan(300)
        expect(await everything()).not.toBe(before)
        return
      }
      // A note of a key's use may fail without harm; the request then simply succeeds.
      if (status < 300) return
      expect(status).toBeGreaterThanOrEqual(500)
      expect(await everything(), `after statement ${n} failed`).toBe(before)
    }
    throw new Error(`still failing after ${statementsMax} statements`)
  })
})
