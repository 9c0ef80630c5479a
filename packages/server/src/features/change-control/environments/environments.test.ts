import { expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

const group = (percentage: number, properties: object[] = []) => ({ properties, rollout_percentage: percentage })

onEachDatabase('environments', dialect => {
  const s = suiteScenario(dialect)

  /** A set of development and production with projects of its own. */
  async function shop(name: string) {
    const { body: set, status } = await s.post(`${s.organization}/environment_sets/`, { name })
    expect(status).toBe(201)
    const [development, production] = set.environments.map(({ project }: { project: number }) => project)
    const path = `${s.organization}/environment_sets/${set.id}/`
    const flagsOf = (project: number) => `/api/projects/${project}/feature_flags/`
    const make = async (project: number, body: object) => (await s.post(flagsOf(project), body)).body
    const find = async (project: number, key: string) =>
      (await s.get(`${flagsOf(project)}?search=${key}`)).body.results[0]
    const promotion = (keys: string[], more: object = {}) => ({
      feature_flag_keys: keys,
      from: development,
      to: production,
      ...more,
    })
    const plan = async (keys: string[], more: object = {}) =>
      (await s.post(`${path}promote/plan/`, promotion(keys, more))).body
    const promote = (keys: string[], hash: string, more: object = {}) =>
      s.post(`${path}promote/`, promotion(keys, { ...more, hash }))
    return { set, path, development, production, flagsOf, make, find, plan, promote }
  }

  it('are created with their projects, and show flags side by side', async () => {
    const e = await shop('Shop')
    expect(e.set.environments).toMatchObject([
      { name: 'development', is_production: false },
      { name: 'production', is_production: true },
    ])
    const cohort = async (project: number) =>
      (await s.post(`/api/projects/${project}/cohorts/`, { name: 'Beta', is_static: true })).body.id
    const inCohort = async (project: number) => ({
      groups: [group(100, [{ type: 'cohort', key: 'id', value: await cohort(project) }])],
    })
    for (const project of [e.development, e.production]) {
      await e.make(project, { key: 'same', filters: await inCohort(project) })
      await e.make(project, { key: 'other', filters: { groups: [group(project)] } })
    }
    await e.make(e.development, { key: 'only-there' })
    const { body: table } = await s.get(`${e.path}flags/`)
    expect(table.results.map(({ key, differs }: { key: string; differs: boolean }) => [key, differs])).toEqual([
      ['only-there', true],
      ['other', true],
      ['same', false],
    ])
    expect(table.results[0].environments[1]).toMatchObject({ project: e.production, flag_id: null })
    expect((await s.get(`${e.path}flags/?differs=1`)).body.count).toBe(2)

    // Where a flag exists, and the caller can edit it.
    type Row = { environments: { flag_id: number | null; can_edit: boolean }[] }
    const editable = (body: { results: Row[] }) =>
      body.results.flatMap(({ environments }) =>
        environments.map(({ flag_id, can_edit }) => [flag_id !== null, can_edit]),
      )
    for (const [isThere, canEdit] of editable(table)) expect(canEdit).toBe(isThere)
    await s.patch(`${s.organization}/`, { default_access_level: 21 })
    const viewer = await s.join(`environments-viewer-${dialect}`)
    for (const [, canEdit] of editable((await viewer.get(`${e.path}flags/`)).body)) expect(canEdit).toBe(false)
    await s.patch(`${s.organization}/`, { default_access_level: 37 })
  })

  it('receive exactly the plan, with cohorts and dependencies, or nothing', async () => {
    const e = await shop('Planned')
    const cohort = await s.post(`/api/projects/${e.development}/cohorts/`, { name: 'Beta', is_static: true })
    const base = await e.make(e.development, { key: 'base' })
    const properties = [
      { type: 'cohort', key: 'id', value: cohort.body.id },
      { type: 'flag', key: String(base.id), value: true, operator: 'flag_evaluates_to' },
    ]
    const flag = await e.make(e.development, { key: 'new', filters: { groups: [group(50, properties)] }, tags: ['x'] })
    const plan = await e.plan(['new', 'base'])
    expect(plan.items).toMatchObject([
      {
        key: 'base',
        action: 'create',
        changes: [
          { field: 'filters', action: 'created' },
          { field: 'active', after: false },
        ],
      },
      { key: 'new', action: 'create', needs: { cohorts: ['Beta'], flags: ['base'] }, requires: [] },
    ])
    expect((await s.get(e.flagsOf(e.production))).body.count).toBe(0)
    expect((await s.get(`/api/projects/${e.production}/cohorts/`)).body.count).toBe(0)

    await s.patch(`${e.flagsOf(e.development)}${flag.id}/`, { name: 'moved' })
    const stale = await e.promote(['new', 'base'], plan.hash)
    expect(stale).toMatchObject({ status: 409, body: { code: 'plan_is_stale' } })
    expect((await s.get(e.flagsOf(e.production))).body.count).toBe(0)

    const again = await e.plan(['new', 'base'])
    expect((await e.promote(['new', 'base'], again.hash)).status).toBe(200)
    // New flags arrive in production switched off.
    expect(await e.find(e.production, 'new')).toMatchObject({ active: false, tags: ['x'], name: 'moved' })
    expect((await s.get(`/api/projects/${e.production}/cohorts/`)).body.count).toBe(1)
    expect((await e.plan(['new'])).items).toMatchObject([{ action: 'none', changes: [] }])
  })

  it('receive the value type and the payload schema with the payloads', async () => {
    const e = await shop('Typed')
    const variants = [{ key: 'low', rollout_percentage: 100 }]
    const filters = { groups: [group(100)], multivariate: { variants }, payloads: { low: '5' }, return_type: 'number' }
    const flag = await e.make(e.development, { key: 'limit', filters })
    const schema = { type: 'number', minimum: 1 }
    await s.put(`${e.flagsOf(e.development)}${flag.id}/payload_schema/`, { schema })
    await e.promote(['limit'], (await e.plan(['limit'])).hash)
    const promoted = await e.find(e.production, 'limit')
    expect(promoted.filters).toMatchObject({ payloads: { low: '5' }, return_type: 'number' })
    const { body } = await s.get(`${e.flagsOf(e.production)}${promoted.id}/payload_schema/`)
    expect(body.schema).toEqual(schema)
  })

  it('take the chosen parts only', async () => {
    const e = await shop('Parts')
    const payloads = { true: { color: 'blue' } }
    await e.make(e.development, { key: 'parts', filters: { groups: [group(80)], payloads }, tags: ['new'] })
    await e.make(e.production, { key: 'parts', filters: { groups: [group(10)] }, tags: ['old'], active: false })
    const only = { parts: ['payloads'] }
    const plan = await e.plan(['parts'], only)
    expect(plan.items[0]).toMatchObject({ action: 'update', changes: [{ field: 'filters' }] })
    await e.promote(['parts'], plan.hash, only)
    expect(await e.find(e.production, 'parts')).toMatchObject({
      filters: { groups: [group(10)], payloads },
      tags: ['old'],
      active: false,
    })
    expect((await e.promote(['parts'], plan.hash, { parts: ['filters'] })).status).toBe(409)
    const rest = { parts: ['filters', 'tags', 'active'] }
    await e.promote(['parts'], (await e.plan(['parts'], rest)).hash, rest)
    expect(await e.find(e.production, 'parts')).toMatchObject({
      filters: { groups: [group(80)], payloads },
      tags: ['new'],
      active: true,
    })
  })

  it('receive many flags or none, and show how many people each concerns', async () => {
    const e = await shop('Many')
    const { api_token: token } = (await s.get(`/api/projects/${e.production}/`)).body
    for (const id of ['first', 'second']) {
      await s.post('/capture/', { api_key: token, event: '$identify', distinct_id: id, properties: { $set: { id } } })
    }
    const base = await e.make(e.development, { key: 'base' })
    const properties = [{ type: 'flag', key: String(base.id), value: true, operator: 'flag_evaluates_to' }]
    await e.make(e.development, { key: 'dependent', filters: { groups: [group(100, properties)] } })
    await e.make(e.development, { key: 'simple', filters: { groups: [group(100)] } })
    const { id } = await e.make(e.production, { key: 'simple', filters: { groups: [group(0)] } })
    const body = { feature_flag_keys: ['simple', 'dependent'], from: e.development, to: e.production }
    const refused = await s.post(`${e.path}promote/plan/`, body)
    expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('"base"') } })
    expect((await s.post(`${e.path}promote/`, { ...body, hash: 'x' })).status).toBe(400)
    expect((await s.get(e.flagsOf(e.production))).body).toMatchObject({ count: 1, results: [{ version: 1 }] })

    const keys = ['simple', 'dependent', 'base']
    const plan = await e.plan(keys)
    expect(plan.items).toMatchObject([
      { key: 'simple', action: 'update', people_affected: 2 },
      { key: 'base', action: 'create' },
      { key: 'dependent', action: 'create', needs: { flags: ['base'] } },
    ])
    // The target moved: nothing is applied, not even the flags that stayed.
    await s.patch(`${e.flagsOf(e.production)}${id}/`, { name: 'moved' })
    expect((await e.promote(keys, plan.hash)).status).toBe(409)
    expect((await s.get(e.flagsOf(e.production))).body.count).toBe(1)
    const again = await e.plan(keys)
    expect((await e.promote(keys, again.hash)).status).toBe(200)
    expect(await e.find(e.production, 'simple')).toMatchObject({ filters: { groups: [group(100)] }, name: 'moved' })
    expect((await s.get(e.flagsOf(e.production))).body.count).toBe(3)
    const { body: activity } = await s.get(`${e.flagsOf(e.production)}${id}/activity/`)
    expect(activity.results[0]).toMatchObject({
      user: { email: 'owner@halyard.local' },
      detail: { trigger: { copied_from_project: e.development } },
    })
  })

  it('open change requests where the target needs approval', async () => {
    const e = await shop('Gated')
    const approver = await s.join('promotion-approver')
    await e.make(e.development, { key: 'gated', filters: { groups: [group(80)] } })
    const { id } = await e.make(e.production, { key: 'gated', filters: { groups: [group(10)] } })
    const requests = `/api/projects/${e.production}/change_requests/`
    const policy = { action_key: '*', approver_config: { users: [approver.id] } }
    const { body: made } = await s.post(`/api/projects/${e.production}/approval_policies/`, policy)
    const plan = await e.plan(['gated'])
    expect(plan.items).toMatchObject([{ action: 'update', requires: [made.id] }])
    expect((await s.get(requests)).body.count).toBe(0)
    const reply = await e.promote(['gated'], plan.hash)
    expect(reply).toMatchObject({
      status: 409,
      body: { type: 'approval_required', change_requests: [expect.any(Number)] },
    })
    expect((await e.find(e.production, 'gated')).version).toBe(1)
    await approver.post(`${requests}${reply.body.change_requests[0]}/approve/`)
    const { body: promoted } = await s.get(`${e.flagsOf(e.production)}${id}/`)
    expect(promoted).toMatchObject({ filters: { groups: [group(80)] }, version: 2 })
  })

  it('are changed by admins, hold a project once, and are unknown elsewhere', async () => {
    const e = await shop('Rules')
    const member = await s.join('env-member')
    const stranger = await s.stranger('env-stranger')
    expect((await member.post(`${s.organization}/environment_sets/`, { name: 'x' })).status).toBe(403)
    const none = await s.post(`${s.organization}/environment_sets/`, { name: 'x', environments: [] })
    expect([none.status, none.body.attr, none.body.detail]).toEqual([400, 'environments', 'Use at least 1 element.'])
    expect((await stranger.get(e.path)).status).toBe(404)
    const { body: theirs } = await stranger.get('/api/projects/')
    const sets = `${s.organization}/environment_sets/`
    const wrong = [
      [{ name: 'a', project: e.development }],
      [{ name: 'a', project: theirs.results[0].id }],
      [{ name: 'a' }, { name: 'a' }],
      [],
    ]
    const before = (await s.get('/api/projects/?limit=1000')).body.count
    for (const environments of wrong) {
      const reply = await s.post(sets, { name: 'wrong', environments })
      expect(reply, reply.text).toMatchObject({ status: 400, body: { type: 'validation_error' } })
    }
    expect((await s.get('/api/projects/?limit=1000')).body.count).toBe(before)
    const swapped = [...e.set.environments].reverse()
    expect((await s.patch(e.path, { name: 'Renamed', environments: swapped })).body).toMatchObject({
      name: 'Renamed',
      environments: swapped,
    })
    const outside = { feature_flag_keys: ['x'], from: e.development, to: s.projectId }
    expect((await s.post(`${e.path}promote/plan/`, outside)).body).toMatchObject({ attr: 'to' })
    const { body: freeze } = await s.post(`${s.organization}/freezes/`, {
      environment_set: e.set.id,
      ends_at: new Date(Date.now() + 3_600_000).toISOString(),
      reason: 'release',
    })
    expect((await s.post(e.flagsOf(e.production), { key: 'frozen' })).status).toBe(409)
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'elsewhere' })).status).toBe(201)
    await s.delete(`${s.organization}/freezes/${freeze.id}/`)
    expect((await s.delete(e.path)).status).toBe(204)
    expect((await s.get(`/api/projects/${e.production}/`)).status).toBe(200)
  })
})
