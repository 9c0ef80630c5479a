import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import {
  bodies,
  cohorts,
  flags,
  flagWriters,
  type Ids,
  nameOf,
  organization,
  pathOf,
  project,
  requests,
  stageWrites,
  storedContent,
} from '../../testing/flag-writes.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

/** Routes that change no stored flag or cohort, and why. */
const others: Readonly<Record<string, string>> = {
  [`POST ${cohorts}`]: 'a new cohort changes no flag until a flag names it',
  [`POST ${cohorts}/:id/duplicate_as_static_cohort`]: 'creates a cohort',
  [`POST ${cohorts}/:id/calculate`]: 'counts members again',
  [`DELETE ${cohorts}/:id`]: 'always 405',
  [`DELETE ${project}/scheduled_changes/:id`]: 'cancels a change',
  [`POST ${requests}/:request_id/cancel`]: 'ends a request',
  [`POST ${requests}/:request_id/claim`]: 'changes who requests',
  [`POST ${project}/approval_policies`]: 'adds a policy',
  [`POST ${organization}/freezes`]: 'freezes changes',
  [`DELETE ${organization}/freezes/:freeze_id`]: 'an admin ends a freeze; recorded',
  [`PATCH ${project}/approval_policies/:policy_id`]: 'an admin changes what needs approval; recorded',
  [`DELETE ${project}/approval_policies/:policy_id`]: 'an admin changes what needs approval; recorded',
  [`POST ${flags}/:parent_lookup_feature_flag_id/role_access`]: 'who can edit',
  [`DELETE ${flags}/:parent_lookup_feature_flag_id/role_access/:id`]: 'who can edit',
  [`PUT ${flags}/:id/access_controls`]: 'who can edit',
  [`PATCH ${flags}/:id/details`]: 'owner and links, which no evaluation reads',
  [`PUT ${flags}/:id/payload_schema`]: 'what later payloads must match; no evaluation reads it',
  [`DELETE ${flags}/:id/payload_schema`]: 'what later payloads must match; no evaluation reads it',
  [`POST ${project}/flag_overrides`]: 'signs values for one browser, which is recorded; others evaluate as before',
  [`POST ${project}/import_certificates`]: 'what a comparison has shown; no evaluation reads it',
  [`DELETE ${project}/import_certificates/:certificate_id`]: 'what a comparison has shown; no evaluation reads it',
  [`PUT ${project}/code_references`]: 'where code names flags; no evaluation reads it',
  [`DELETE ${project}/code_repositories/:repository_id`]: 'where code names flags; no evaluation reads it',
  [`PUT ${flags}/:id/favorite`]: 'a mark of one user',
  [`DELETE ${flags}/:id/favorite`]: 'a mark of one user',
  [`POST ${project}/saved_views`]: 'a search that is kept',
  [`DELETE ${project}/saved_views/:id`]: 'a search that is kept',
  [`POST ${flags}/:id/comments`]: 'adds a comment',
  [`DELETE ${flags}/:id/comments/:comment_id`]: 'removes a comment',
  [`POST ${project}/change_requests/:request_id/comments`]: 'adds a comment',
  [`PATCH ${project}/change_requests/:request_id/comments/:comment_id`]: 'edits a comment',
  [`DELETE ${project}/change_requests/:request_id/comments/:comment_id`]: 'removes a comment',
  [`POST ${organization}/imports`]: 'plans an import',
  [`POST ${organization}/imports/:import_id/apply`]: 'refused as a whole where approval is needed: imports.test.ts',
  [`DELETE ${organization}/imports/:import_id`]: 'deletes a plan',
  [`POST ${flags}/:id/metrics`]: 'numbers that rollback conditions are compared with',
}

it('knows every route that writes flags or cohorts', () => {
  const names = new Set(flagWriters.map(nameOf))
  expect([...names].filter(name => !(name in bodies) && !(name in others))).toEqual([])
  expect(Object.keys({ ...bodies, ...others }).filter(name => !names.has(name))).toEqual([])
})

onEachDatabase('a project that needs approval', dialect => {
  const s = suiteScenario(dialect)
  let ids: Ids
  beforeAll(async () => {
    const approver = await s.join('approver')
    const approver_config = { users: [approver.id] }
    ids = await stageWrites(s, async () => {
      await s.post(`${s.project}/approval_policies/`, { action_key: '*', approver_config })
      await s.post(`${s.project}/approval_policies/`, { action_key: 'feature_flag.disable', approver_config })
    })
  })

  const stored = () => storedContent(s, ids)

  it('is changed by none of them, nor by a schedule that was made before', async () => {
    const before = await stored()
    for (const route of flagWriters.filter(one => nameOf(one) in bodies)) {
      const body = bodies[nameOf(route)]!(ids)
      const reply = await s.send(pathOf(route, s, ids), {
        method: route.method,
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      expect(reply.status, `${nameOf(route)}: ${reply.text}`).toBeLessThan(500)
      expect(reply.status, `${nameOf(route)}: ${reply.text}`).not.toBe(404)
      expect(await stored(), nameOf(route)).toEqual(before)
    }
    await s.halyard.jobs.runDue(`${new Date(Date.now() + 2 * 3_600_000).toISOString().slice(0, 19)}.000000Z`)
    expect(await stored()).toEqual(before)
    const { body: schedule } = await s.get(`${s.project}/scheduled_changes/${ids.schedule}/`)
    expect(schedule).toMatchObject({ status: 'failed', failure_reason: expect.stringContaining('needs approval') })
  })
})
