import { expect, it } from 'vitest'
import { instantOf } from '../../../instant.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('freezes', dialect => {
  const s = suiteScenario(dialect)

  const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  const freeze = async (body: object) => {
    const reply = await s.post(`${s.organization}/freezes/`, { reason: 'Black Friday', ends_at: inHours(1), ...body })
    expect(reply.status, reply.text).toBe(201)
    return { ...reply.body, end: () => s.delete(`${s.organization}/freezes/${reply.body.id}/`) }
  }
  const flagPath = async (key: string, more = {}) =>
    `${s.project}/feature_flags/${(await s.post(`${s.project}/feature_flags/`, { key, ...more })).body.id}/`

  it('refuse every change but switching off, until they end', async () => {
    const path = await flagPath('frozen')
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'frozen', is_static: true })
    const { end, is_active, current_end } = await freeze({})
    expect({ is_active, current_end }).toMatchObject({ is_active: true, current_end: expect.any(String) })
    const refused = await s.patch(path, { name: 'changed' })
    expect(refused).toMatchObject({ status: 409, body: { code: 'frozen', frozen_until: current_end } })
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'new' })).status).toBe(409)
    expect((await s.patch(`${s.project}/cohorts/${cohort.id}/`, { name: 'changed' })).status).toBe(409)
    expect((await s.post(`${path}disable/`)).body.active).toBe(false)
    expect((await s.post(`${path}enable/`)).status).toBe(409)
    const emergency = await s.patch(path, { name: 'fixed' }, { 'x-halyard-emergency': 'Outage' })
    expect(emergency.body.name).toBe('fixed')
    const { body: reviews } = await s.get(`${s.project}/change_requests/?review=open`)
    expect(reviews.results).toMatchObject([{ emergency_reason: 'Outage' }])
    expect((await end()).status).toBe(204)
    expect((await s.patch(path, { name: 'changed' })).status).toBe(200)
    expect((await end()).status).toBe(404)
  })

  it('hold for a project, for a tag, or while their rule says so', async () => {
    const path = await flagPath('tagged', { tags: ['checkout'] })
    const other = await flagPath('untagged')
    const { body: elsewhere } = await s.post('/api/projects/', { name: 'elsewhere' })
    const ofProject = await freeze({ project: elsewhere.id })
    const ofTag = await freeze({ tag: 'checkout' })
    expect((await s.patch(path, { tags: [] })).status).toBe(409)
    expect((await s.patch(other, { name: 'x' })).status).toBe(200)
    expect((await s.post(`/api/projects/${elsewhere.id}/feature_flags/`, { key: 'x' })).status).toBe(409)
    expect((await s.get(`${s.organization}/freezes/?project=${s.projectId}`)).body.count).toBe(1)
    await ofProject.end()
    await ofTag.end()
    const rule = { ends_at: undefined, rrule: 'FREQ=DAILY', duration_minutes: 24 * 60, time_zone: 'Asia/Tokyo' }
    const recurring = await freeze(rule)
    expect((await s.patch(other, { name: 'y' })).status).toBe(409)
    await recurring.end()
    const later = await freeze({ starts_at: inHours(2), ends_at: inHours(3) })
    expect(later).toMatchObject({ is_active: false, next_start: expect.any(String) })
    expect((await s.patch(other, { name: 'z' })).status).toBe(200)
    await later.end()
  })

  it('hold for every project of an environment set, and for no other', async () => {
    const path = await flagPath('outside')
    const { body: set } = await s.post(`${s.organization}/environment_sets/`, { name: 'Frozen' })
    const projects: number[] = set.environments.map(({ project }: { project: number }) => project)
    const create = (project: number) => s.post(`/api/projects/${project}/feature_flags/`, { key: 'inside' })
    const { end } = await freeze({ environment_set: set.id })
    for (const project of projects) {
      expect(await create(project)).toMatchObject({ status: 409, body: { code: 'frozen' } })
    }
    expect((await s.patch(path, { name: 'changed' })).status).toBe(200)
    await end()
    for (const project of projects) expect((await create(project)).status).toBe(201)
  })

  it('do not hold up the roles that they except', async () => {
    const { body: role } = await s.post(`${s.organization}/roles/`, { name: 'Release managers' })
    const manager = await s.join('manager')
    const other = await s.join('other')
    await s.post(`${s.organization}/roles/${role.id}/role_memberships/`, { user_uuid: manager.uuid })
    const path = await flagPath('excepted')
    const { end, except_roles } = await freeze({ except_roles: [role.id] })
    expect(except_roles).toEqual([role.id])
    expect((await other.patch(path, { name: 'no' })).status).toBe(409)
    expect((await manager.patch(path, { name: 'yes' })).body.name).toBe('yes')
    const stricter = await freeze({})
    expect((await manager.patch(path, { name: 'no' })).status).toBe(409)
    await stricter.end()
    await end()
    const unknown = await s.post(`${s.organization}/freezes/`, {
      reason: 'x',
      ends_at: inHours(1),
      except_roles: ['nope'],
    })
    expect(unknown.body).toMatchObject({ attr: 'except_roles' })
  })

  it('make schedules and approved requests wait and say so', async () => {
    const path = await flagPath('waiting')
    const { body: flag } = await s.get(path)
    const plan = {
      record_id: flag.id,
      payload: { operation: 'update', value: { tags: ['scheduled'] } },
      scheduled_at: inHours(0.5),
    }
    const { body: schedule } = await s.post(`${s.project}/scheduled_changes/`, plan)
    const { body: request } = await s.post(`${s.project}/change_requests/`, {
      flag_id: flag.id,
      patch: { name: 'requested' },
    })
    const { end, current_end } = await freeze({})
    const at = (hours: number) => instantOf(new Date(Date.now() + hours * 3_600_000))
    await s.halyard.jobs.runDue(at(0.6))
    expect((await s.get(path)).body).toMatchObject({ name: '', tags: [] })
    expect((await s.get(`${s.project}/scheduled_changes/${schedule.id}/`)).body).toMatchObject({
      status: 'pending',
      attempts: 0,
      next_attempt_at: current_end,
      failure_reason: expect.stringContaining('frozen until'),
    })
    expect((await s.get(`${s.project}/change_requests/${request.id}/`)).body).toMatchObject({
      state: 'approved',
      next_attempt_at: current_end,
      frozen_until: current_end,
      apply_error: expect.stringContaining('frozen until'),
    })
    await s.halyard.jobs.runDue(at(1.1))
    expect((await s.get(path)).body).toMatchObject({ name: 'requested', tags: ['scheduled'] })
    await end()
  })

  it('are made by admins, from valid times, inside their organization', async () => {
    const member = await s.join('member')
    const stranger = await s.stranger('stranger')
    const body = { reason: 'x', ends_at: inHours(1) }
    expect((await member.post(`${s.organization}/freezes/`, body)).status).toBe(403)
    expect((await stranger.get(`${s.organization}/freezes/`)).status).toBe(404)
    const { body: theirs } = await stranger.get('/api/projects/')
    const wrong: readonly (readonly [object, string])[] = [
      [{ ends_at: undefined }, 'ends_at'],
      [{ ends_at: inHours(-1) }, 'ends_at'],
      [{ reason: '' }, 'reason'],
      [{ project: theirs.results[0].id }, 'project'],
      [{ environment_set: 999 }, 'environment_set'],
      [{ ends_at: undefined, rrule: 'FREQ=SECONDLY', duration_minutes: 1 }, 'rrule'],
      [{ ends_at: undefined, rrule: 'FREQ=DAILY' }, 'duration_minutes'],
      [{ ends_at: undefined, rrule: 'FREQ=DAILY', duration_minutes: 5, time_zone: 'Mars' }, 'time_zone'],
      [{ time_zone: 'Europe/Berlin' }, 'time_zone'],
      [{ starts_at: inHours(0.5), duration_minutes: 5 }, 'duration_minutes'],
    ]
    for (const [fields, attr] of wrong) {
      expect((await s.post(`${s.organization}/freezes/`, { ...body, ...fields })).body).toMatchObject({ attr })
    }
    expect((await s.get(`${s.organization}/freezes/`)).body.count).toBe(0)
  })
})
