import { beforeAll, describe, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { expectAtomic, savedFlags } from '../../testing/atomicity.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('dashboards', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let flags: string
  let dashboards: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
    dashboards = `${s.project}/dashboards/`
  })

  const today = instantOf(new Date()).slice(0, 10)
  const use = (
    flagKey: string,
    kind: 'called' | 'viewed' | 'interacted',
    variant: string,
    day: string,
    users: number[],
  ) =>
    s.halyard.database.transaction(tx =>
      tx.usage.add(s.projectId, [
        { flagKey, kind, variant, day, calls: users.length * 2, userHashes: users, lastAt: `${day}T12:00:00.000000Z` },
      ]),
    )

  it('creates a usage dashboard with every flag and returns its tiles with their series', async () => {
    const { body: flag } = await s.post(flags, { key: 'used' })
    await use('used', 'called', 'red', '2026-02-01', [1, 2])
    await use('used', 'called', 'red', '2026-02-03', [2])
    await use('used', 'called', 'false', '2026-02-03', [3])
    const { body } = await s.get(`${dashboards}${flag.usage_dashboard}/?date_from=2026-02-01&date_to=2026-02-03`)
    expect(body).toMatchObject({
      feature_flag: flag.id,
      is_enriched: false,
      filters: { date_from: '2026-02-01', date_to: '2026-02-03' },
    })
    expect(body.tiles.map((tile: { insight: { metric: string } }) => tile.insight.metric)).toEqual(['calls', 'people'])
    expect(body.tiles[0].insight).toMatchObject({
      days: ['2026-02-01', '2026-02-02', '2026-02-03'],
      series: [
        { label: 'false', data: [0, 0, 2], total: 2 },
        { label: 'red', data: [4, 0, 2], total: 6 },
      ],
    })
    expect(body.tiles[1].insight.series).toEqual([
      { label: 'false', data: [0, 0, 1], total: 1 },
      { label: 'red', data: [2, 0, 1], total: 2 },
    ])
    const recent = await s.get(`${dashboards}${flag.usage_dashboard}/`)
    expect(recent.body.tiles[0].insight.days).toHaveLength(31)
    expect(recent.body.tiles[0].insight.days.at(-1)).toBe(today)
    expect(
      (await s.get(`${dashboards}${flag.usage_dashboard}/?date_from=-2w`)).body.tiles[0].insight.days,
    ).toHaveLength(15)
  })

  it.each(['date_from=yesterday', 'date_to=x', 'date_from=2026-02-02&date_to=2026-02-01', 'date_from=2020-01-01'])(
    'rejects the range %s',
    async range => {
      const { body: flag } = await s.post(flags, { key: `range-${range.length}` })
      expect((await s.get(`${dashboards}${flag.usage_dashboard}/?${range}`)).status).toBe(400)
    },
  )

  describe('4.2 dashboard and enrich_usage_dashboard', () => {
    it('return the flag with its dashboard, and change nothing the second time', async () => {
      const { body: flag } = await s.post(flags, { key: 'actions' })
      const first = await s.post(`${flags}${flag.id}/dashboard/`)
      expect(first.status).toBe(200)
      expect(first.body).toMatchObject({ ...flag, success: true, dashboard: { id: flag.usage_dashboard } })
      expect(first.body.dashboard.tiles).toHaveLength(2)
      const enriched = await s.post(`${flags}${flag.id}/enrich_usage_dashboard/`, {})
      expect(enriched.body.dashboard).toMatchObject({ id: flag.usage_dashboard, is_enriched: true })
      expect(enriched.body.dashboard.tiles).toHaveLength(4)
      const before = (await s.get(`${flags}${flag.id}/activity/`)).body.count
      const again = await s.post(`${flags}${flag.id}/enrich_usage_dashboard/`, { name: 'ignored' })
      expect(again.body).toMatchObject({ name: '', version: 1, success: true })
      expect((await s.get(`${flags}${flag.id}/activity/`)).body.count).toBe(before)
      await use('actions', 'viewed', 'true', today, [1, 2])
      const { body } = await s.get(`${dashboards}${flag.usage_dashboard}/`)
      expect(body.tiles[2].insight.series).toMatchObject([
        { label: 'total', total: 4 },
        { label: 'people', total: 2 },
      ])
    })

    it('replace a deleted dashboard and set it on the flag', async () => {
      const { body: flag } = await s.post(flags, { key: 'renewed', has_enriched_analytics: true })
      await s.patch(`${dashboards}${flag.usage_dashboard}/`, { deleted: true })
      expect((await s.get(`${dashboards}${flag.usage_dashboard}/`)).status).toBe(404)
      const { body } = await s.post(`${flags}${flag.id}/dashboard/`)
      expect(body.usage_dashboard).not.toBe(flag.usage_dashboard)
      expect(body).toMatchObject({ version: 2, dashboard: { id: body.usage_dashboard, is_enriched: true } })
      expect((await s.get(`${flags}${flag.id}/`)).body.usage_dashboard).toBe(body.usage_dashboard)
    })

    it('reject wrong types, unknown flags and callers who cannot edit the flag', async () => {
      const { body: flag } = await s.post(flags, { key: 'guarded' })
      expect((await s.post(`${flags}${flag.id}/dashboard/`, { active: 'yes' })).status).toBe(400)
      for (const action of ['dashboard', 'enrich_usage_dashboard', 'create_static_cohort_for_flag']) {
        const { status, body } = await s.post(`${flags}${flag.id}/${action}/`, { created_at: 'yesterday' })
        expect([status, body.attr]).toEqual([400, 'created_at'])
      }
      expect((await s.post(`${flags}999999/dashboard/`)).status).toBe(404)
      expect((await s.post(`${flags}999999/enrich_usage_dashboard/`)).status).toBe(404)
      const member = await s.join(`dashboards-${dialect}`)
      await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
      expect((await member.post(`${flags}${flag.id}/dashboard/`)).status).toBe(403)
      expect((await member.post(`${flags}${flag.id}/enrich_usage_dashboard/`)).status).toBe(403)
    })

    it('are atomic', async () => {
      const { body: flag } = await s.post(flags, { key: 'torn' })
      await s.patch(`${dashboards}${flag.usage_dashboard}/`, { deleted: true })
      const enrich = () => s.post(`${flags}${flag.id}/enrich_usage_dashboard/`)
      const reply = await expectAtomic(s, injector, { ...savedFlags(1), activity: 2, dashboards: 1 }, enrich)
      expect(reply.body.dashboard.tiles).toHaveLength(4)
    })
  })

  it('can be created, listed by name, changed, deleted and restored', async () => {
    const { body: flag } = await s.post(flags, { key: 'tiled' })
    const made = await s.post(dashboards, {
      name: 'AAA mine',
      tags: [1],
      tiles: [{ feature_flag: flag.id, metric: 'interactions' }],
    })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ name: 'AAA mine', pinned: false, tags: [1], feature_flag: null })
    expect(made.body.tiles[0].insight).toMatchObject({ feature_flag: flag.id, metric: 'interactions' })
    const at = `${dashboards}${made.body.id}/`
    expect((await s.get(dashboards)).body.results[0].id).toBe(made.body.id)
    expect((await s.get(`${dashboards}?search=aaa`)).body.count).toBe(1)
    const changed = await s.patch(at, { pinned: true, description: 'd', tiles: [] })
    expect(changed.body).toMatchObject({ name: 'AAA mine', pinned: true, description: 'd', tiles: [] })
    const refused = await s.delete(at)
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      405,
      'method_not_allowed',
      'Dashboards are deleted by PATCH with `deleted: true`.',
    ])
    await s.patch(at, { deleted: true })
    expect((await s.get(at)).status).toBe(404)
    expect((await s.patch(at, { name: 'x' })).status).toBe(404)
    expect((await s.get(`${dashboards}?search=aaa`)).body.count).toBe(0)
    expect((await s.patch(at, { deleted: false })).body.deleted).toBe(false)
  })

  it('rejects invalid tiles, and hides dashboards of other projects', async () => {
    expect((await s.post(dashboards, { name: '' })).status).toBe(400)
    const unknown = await s.post(dashboards, { tiles: [{ feature_flag: 999999, metric: 'calls' }] })
    expect([unknown.status, unknown.body.attr]).toEqual([400, 'tiles'])
    expect((await s.post(dashboards, { tiles: [{ feature_flag: 1, metric: 'moods' }] })).status).toBe(400)
    expect((await s.get(`${dashboards}?search=a%00`)).body).toMatchObject({ code: 'invalid_input', attr: 'search' })
    const { body } = await s.post(dashboards, {})
    const stranger = await s.stranger(`dashboards-${dialect}`)
    expect((await stranger.get(`${dashboards}${body.id}/`)).status).toBe(404)
    expect((await stranger.get(`${stranger.project}/dashboards/${body.id}/`)).status).toBe(404)
  })

  it('a deleted analytics dashboard is removed from its flags and does not block other changes', async () => {
    const { body: dashboard } = await s.post(dashboards, { name: 'linked' })
    const { body: other } = await s.post(dashboards, { name: 'other' })
    const linked = [dashboard.id, other.id]
    const { body: flag } = await s.post(flags, { key: 'linked', analytics_dashboards: linked })
    await s.patch(`${dashboards}${dashboard.id}/`, { deleted: true })
    const unlinked = (await s.get(`${flags}${flag.id}/`)).body
    expect([unlinked.analytics_dashboards, unlinked.version]).toEqual([[other.id], flag.version + 1])
    const [entry] = (await s.get(`${flags}${flag.id}/activity/`)).body.results
    expect(entry.detail.changes).toMatchObject([{ field: 'analytics_dashboards', before: linked, after: [other.id] }])
    expect((await s.patch(`${flags}${flag.id}/`, { name: 'still fine' })).status).toBe(200)
    expect((await s.post(flags, { key: 'late', analytics_dashboards: [dashboard.id] })).status).toBe(400)
  })
})
