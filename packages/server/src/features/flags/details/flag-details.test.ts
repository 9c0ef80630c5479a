import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('details of flags', dialect => {
  const s = suiteScenario(dialect)
  let flag: { id: number; version: number }
  let path: string
  beforeAll(async () => {
    flag = (await s.post(`${s.project}/feature_flags/`, { key: 'checkout' })).body
    path = `${s.project}/feature_flags/${flag.id}`
  })

  const other = (key: string, filters?: object) => s.post(`${s.project}/feature_flags/`, { key, filters })
  const onFlag = (id: number) => ({
    groups: [{ properties: [{ key: String(id), type: 'flag', operator: 'flag_evaluates_to', value: true }] }],
  })

  it('are set field by field, listed in bulk and recorded, without touching the flag', async () => {
    const empty = { flag_id: flag.id, owner: null, expected_end: null, links: [], comment_count: 0 }
    expect((await s.get(`${path}/details/`)).body).toEqual(empty)
    const { body: me } = await s.get('/api/users/@me/')
    expect((await s.patch(`${path}/details/`, { owner: me.uuid })).body).toMatchObject({ owner: { uuid: me.uuid } })
    const links = [{ title: 'Issue', url: 'https://issues.example.com/1' }]
    const { body } = await s.patch(`${path}/details/`, { expected_end: '2030-01-31', links })
    expect(body).toMatchObject({ owner: { uuid: me.uuid }, expected_end: '2030-01-31', links })
    expect((await s.get(`${s.project}/flag_details/`)).body).toMatchObject({ count: 1, results: [body] })
    expect((await s.get(`${path}/`)).body.version).toBe(flag.version)
    const { body: activity } = await s.get(`${path}/activity/`)
    expect(activity.results[0].detail.changes).toMatchObject([
      { field: 'expected_end', after: '2030-01-31' },
      { field: 'links', after: links },
    ])
    const only = async (query: string) => (await s.get(`${s.project}/feature_flags/activity/?${query}`)).body.results
    expect(await only('activity=created')).toMatchObject([{ activity: 'created', item_id: String(flag.id) }])
    expect(await only(`entry_id=${activity.results[0].id}`)).toEqual([activity.results[0]])
    expect((await s.patch(`${path}/details/`, { owner: null })).body).toMatchObject({ owner: null, links })
  })

  it('refuse what makes no sense, and what belongs to others', async () => {
    const stranger = await s.stranger('stranger')
    const { body: them } = await stranger.get('/api/users/@me/')
    const wrong: readonly (readonly [object, string])[] = [
      [{ owner: them.uuid }, 'owner'],
      [{ expected_end: '2030-02-31' }, 'expected_end'],
      [{ expected_end: 'soon' }, 'expected_end'],
      [{ links: [{ title: 'x', url: 'javascript:alert(1)' }] }, 'links'],
    ]
    for (const [body, attr] of wrong) {
      const reply = await s.patch(`${path}/details/`, body)
      expect(reply).toMatchObject({ status: 400, body: { attr } })
    }
    expect((await stranger.get(`${path}/details/`)).status).toBe(404)
    expect((await s.get(`${s.project}/feature_flags/999999/details/`)).status).toBe(404)
  })

  it('have comments, which their authors and admins delete', async () => {
    const member = await s.join('commenter')
    const { body: mine } = await s.post(`${path}/comments/`, { text: 'Remove in May.' })
    const { body: theirs } = await member.post(`${path}/comments/`, { text: ' Why? ' })
    expect(theirs).toMatchObject({ text: 'Why?', created_by: { email: 'commenter@example.com' } })
    expect((await s.get(`${path}/comments/`)).body).toMatchObject({ count: 2, results: [theirs, mine] })
    expect((await s.get(`${path}/details/`)).body.comment_count).toBe(2)
    expect((await member.delete(`${path}/comments/${mine.id}/`)).status).toBe(403)
    expect((await s.delete(`${path}/comments/${theirs.id}/`)).status).toBe(204)
    expect((await s.delete(`${path}/comments/${theirs.id}/`)).status).toBe(404)
    expect((await s.post(`${path}/comments/`, { text: '  ' })).body.attr).toBe('text')
  })

  it('show what depends on a flag or a cohort', async () => {
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, {
      name: 'Testers',
      filters: {
        properties: { type: 'AND', values: [{ key: 'email', type: 'person', value: 'a', operator: 'icontains' }] },
      },
    })
    const { body: dependent } = await other('dependent', onFlag(flag.id))
    const { body: targeting } = await other('targeting', {
      groups: [{ properties: [{ key: 'id', type: 'cohort', value: cohort.id, operator: 'in' }] }],
    })
    const at = new Date(Date.now() + 3_600_000).toISOString()
    await s.post(`${s.project}/scheduled_changes/`, {
      record_id: flag.id,
      payload: { operation: 'update_status', value: false },
      scheduled_at: at,
    })
    expect((await s.get(`${path}/used_by/`)).body).toMatchObject({
      flags: [{ id: dependent.id, key: 'dependent', active: true }],
      cohorts: [],
      pending_schedules: 1,
      environments: [],
    })
    expect((await s.get(`${s.project}/cohorts/${cohort.id}/used_by/`)).body.flags).toMatchObject([{ id: targeting.id }])
  })

  it('make the list of flags that need attention', async () => {
    await other('partly', { groups: [{ properties: [], rollout_percentage: 50 }] })
    await s.patch(`${path}/details/`, { expected_end: '2020-01-01' })
    const { body: all } = await s.get(`${s.project}/flag_health/`)
    const canEdit = (body: { results: { can_edit: boolean }[] }) => new Set(body.results.map(each => each.can_edit))
    expect(canEdit(all)).toEqual(new Set([true]))
    await s.patch(`${s.organization}/`, { default_access_level: 21 })
    const viewer = await s.join(`health-viewer-${dialect}`)
    expect(canEdit((await viewer.get(`${s.project}/flag_health/`)).body)).toEqual(new Set([false]))
    await s.patch(`${s.organization}/`, { default_access_level: 37 })
    const one = all.results.find((each: { key: string }) => each.key === 'checkout')
    expect(one).toMatchObject({ checks: ['constant', 'no_owner', 'expired'], constant_value: true })
    expect(all.summary).toMatchObject({ expired: 1, never_evaluated: 0 })
    const { body: expired } = await s.get(`${s.project}/flag_health/?check=expired&search=CHECK&limit=1`)
    expect(expired).toMatchObject({ count: 1, next: null, results: [{ id: flag.id }] })
    const { body: constant } = await s.get(`${s.project}/flag_health/?check=constant`)
    expect(constant.results.map(({ key }: { key: string }) => key)).not.toContain('partly')
    expect((await s.get(`${s.project}/flag_health/?check=nonsense`)).body.attr).toBe('check')
    await s.post(`${path}/archive/`, { force: true, reason: 'done' })
    expect((await s.get(`${s.project}/flag_health/?flag_id=${flag.id}`)).body.count).toBe(0)
  })
})
