import { beforeAll, expect, it } from 'vitest'
import { expectAtomic, savedFlags } from '../../../testing/atomicity.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { createFaultInjector } from '../../../testing/failing-statement.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

const half = { groups: [{ properties: [], rollout_percentage: 50 }] }

onEachDatabase('flag versions', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let flags: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
  })

  const threeVersions = async (key: string) => {
    const { body: flag } = await s.post(flags, { key, name: 'one' })
    await s.patch(`${flags}${flag.id}/`, { name: 'two', tags: ['x'] })
    await s.patch(`${flags}${flag.id}/`, { filters: half, active: false })
    return flag
  }

  it('lists every state, newest first, each compared to the one before', async () => {
    const flag = await threeVersions('listed')
    const { body } = await s.get(`${flags}${flag.id}/versions/`)
    expect(body).toMatchObject({ count: 3, next: null, previous: null })
    const summary = body.results.map(
      (entry: { version: number; compared_to: number; changes: { field: string }[] }) => [
        entry.version,
        entry.compared_to,
        entry.changes.map(change => change.field),
      ],
    )
    expect(summary).toEqual([
      [3, 2, ['filters', 'active']],
      [2, 1, ['name', 'tags']],
      [1, null, []],
    ])
    expect(body.results[0]).toMatchObject({ is_current: true, created_by: { email: 'owner@halyard.local' } })
    const page = await s.get(`${flags}${flag.id}/versions/?limit=1&offset=1`)
    expect(page.body.results).toEqual([body.results[1]])
    expect(page.body.next).toContain('offset=2')
  })

  it('reads one state and compares it to any other', async () => {
    const flag = await threeVersions('compared')
    const { body: first } = await s.get(`${flags}${flag.id}/versions/1/`)
    expect(first).toMatchObject({
      version: 1,
      is_current: false,
      compared_to: null,
      content: { name: 'one', tags: [] },
    })
    const { body: third } = await s.get(`${flags}${flag.id}/versions/3/?compare_to=1`)
    expect(third.compared_to).toBe(1)
    expect(third.changes).toContainEqual({
      type: 'FeatureFlag',
      action: 'changed',
      field: 'name',
      before: 'one',
      after: 'two',
    })
    const backwards = await s.get(`${flags}${flag.id}/versions/1/?compare_to=3`)
    expect(backwards.body.changes).toContainEqual(
      expect.objectContaining({ field: 'active', before: false, after: true }),
    )
    expect((await s.get(`${flags}${flag.id}/versions/1/?compare_to=1`)).body.changes).toEqual([])
  })

  it('restores any state as a new version with an activity entry that says so', async () => {
    const flag = await threeVersions('restored')
    const reply = await s.post(`${flags}${flag.id}/restore/`, { version: 1 })
    expect(reply.status).toBe(200)
    expect(reply.body).toEqual({ ...flag, version: 4 })
    const { body } = await s.get(`${flags}${flag.id}/activity/`)
    expect(body.results[0]).toMatchObject({ activity: 'updated', detail: { trigger: { restored_version: 1 } } })
    expect(body.results[0].detail.changes.map((change: { field: string }) => change.field).sort()).toEqual(
      ['active', 'filters', 'name', 'tags'].sort(),
    )
    expect((await s.get(`${flags}${flag.id}/versions/`)).body.count).toBe(4)
    expect((await s.post(`${flags}${flag.id}/restore/`, { version: 1 })).body.version).toBe(4)
  })

  it('restores a deleted flag only while its key is free', async () => {
    const flag = await threeVersions('gone')
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    const { body: other } = await s.post(flags, { key: 'gone' })
    const refused = await s.post(`${flags}${flag.id}/restore/`, { version: 3 })
    expect([refused.status, refused.body.code, refused.body.attr]).toEqual([400, 'unique', 'key'])
    await s.patch(`${flags}${other.id}/`, { deleted: true })
    expect((await s.post(`${flags}${flag.id}/restore/`, { version: 3 })).body).toMatchObject({
      deleted: false,
      name: 'two',
    })
  })

  it('answers 404 and 400 for what is not there, and 403 for who may not', async () => {
    const flag = await threeVersions('guarded')
    expect((await s.get(`${flags}999999/versions/`)).status).toBe(404)
    expect((await s.get(`${flags}${flag.id}/versions/9/`)).status).toBe(404)
    expect((await s.get(`${flags}${flag.id}/versions/zero/`)).status).toBe(404)
    expect((await s.get(`${flags}${flag.id}/versions/1/?compare_to=9`)).body).toMatchObject({ attr: 'compare_to' })
    expect((await s.get(`${flags}${flag.id}/versions/1/?compare_to=x`)).status).toBe(400)
    expect((await s.post(`${flags}${flag.id}/restore/`, { version: 9 })).body).toMatchObject({ attr: 'version' })
    expect((await s.post(`${flags}${flag.id}/restore/`, {})).body).toMatchObject({ code: 'required', attr: 'version' })
    expect((await s.post(`${flags}999999/restore/`, {})).status).toBe(404)
    const member = await s.join(`viewer-${dialect}`)
    await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    expect((await member.get(`${flags}${flag.id}/versions/1/`)).status).toBe(200)
    expect((await member.post(`${flags}${flag.id}/restore/`, { version: 1 })).status).toBe(403)
    const stranger = await s.stranger(`versions-${dialect}`)
    expect((await stranger.get(`${flags}${flag.id}/versions/1/`)).status).toBe(404)
    expect((await stranger.get(`${stranger.project}/feature_flags/${flag.id}/versions/1/`)).status).toBe(404)
  })

  it('leaves nothing torn when a restore fails half way', async () => {
    const flag = await threeVersions('torn')
    const reply = await expectAtomic(s, injector, savedFlags(1), () =>
      s.post(`${flags}${flag.id}/restore/`, { version: 2 }),
    )
    expect(reply.body).toMatchObject({ version: 4, active: true, name: 'two' })
  })
})
