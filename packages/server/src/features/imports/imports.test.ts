import { describe, expect, it } from 'vitest'
import { expectAtomic, savedFlags } from '../../testing/atomicity.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { createFaultInjector } from '../../testing/failing-statement.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const flag = (more: object = {}) => ({
  on: true,
  salt: 'salt',
  variations: [true, false],
  offVariation: 1,
  fallthrough: { variation: 1 },
  ...more,
})
const inSegment = (key: string) => ({ clauses: [{ op: 'segmentMatch', values: [key] }], variation: 0 })
const segments = {
  beta: { key: 'beta', included: ['ann'], excluded: [], rules: [] },
}
const flags = (more: object = {}) => ({
  basic: flag({
    rules: [inSegment('beta')],
    fallthrough: {
      rollout: {
        variations: [
          { variation: 0, weight: 30_000 },
          { variation: 1, weight: 70_000 },
        ],
      },
    },
  }),
  price: flag({
    variations: [9.5, 12],
    prerequisites: [{ key: 'basic', variation: 0 }],
    fallthrough: { variation: 0 },
  }),
  odd: flag({ rules: [{ clauses: [{ attribute: 'a', op: 'near', values: [1] }], variation: 0 }] }),
  ...more,
})

const certificate = {
  source: 'launchdarkly',
  environment: null,
  file_sha256: 'ab'.repeat(32),
  sdk: '@launchdarkly/node-server-sdk',
  sdk_version: '9.13.7',
  halyard_version: '0.1.0',
  node_version: '24.1.0',
  seed: 7,
  contexts: 10,
  pairs: 20,
  equal: 19,
  differing: 1,
  declared: 0,
  sdk_errors: 0,
  exact: 1,
  approximate: 0,
  refused: 0,
  flags: [{ key: 'basic', status: 'exact', reasons: [], pairs: 20, equal: 19 }],
  differences: [
    {
      flag: 'basic',
      status: 'exact',
      context: { id: 'ann', attributes: { plan: 'pro' } },
      there: true,
      here: 'off: no value',
      there_trace: { kind: 'FALLTHROUGH' },
      here_trace: { conditions: [] },
    },
  ],
}

onEachDatabase('imports', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })

  const imports = () => `${s.organization}/imports/`
  async function newProject(name: string): Promise<number> {
    return (await s.post('/api/projects/', { name })).body.id
  }
  const plan = async (project: number, content: unknown = { flags: flags(), segments }, more: object = {}) => {
    const reply = await s.post(imports(), { source: 'launchdarkly', content, mapping: [{ project }], ...more })
    expect(reply).toMatchObject({ status: 201 })
    return reply.body
  }
  const itemsOf = async ({ id }: { id: number }, query = '') => (await s.get(`${imports()}${id}/items/${query}`)).body
  const apply = ({ id }: { id: number }, body?: object) => s.post(`${imports()}${id}/apply/`, body)
  const flagsOf = async (project: number) =>
    (await s.get(`/api/projects/${project}/feature_flags/?limit=100`)).body.results as {
      id: number
      key: string
      filters: { groups: { properties: object[] }[] }
      version: number
    }[]
  const find = async (project: number, key: string) => (await flagsOf(project)).find(item => item.key === key)!

  it('are planned without effect, then applied: segments become cohorts, prerequisites dependencies', async () => {
    const project = await newProject('First')
    const made = await plan(project)
    expect(made.targets).toMatchObject([{ project, environment: null, exact: 3, refused: 1, created: 0 }])
    expect(await flagsOf(project)).toEqual([])
    const { results, count } = await itemsOf(made)
    expect(count).toBe(4)
    expect(results).toMatchObject([
      { kind: 'segment', source_key: 'beta', status: 'exact', drift: 'new', outcome: null },
      { kind: 'flag', source_key: 'basic', status: 'exact' },
      { kind: 'flag', source_key: 'price', status: 'exact' },
      { source_key: 'odd', status: 'refused', reasons: [{ path: 'flags.odd.rules[0].clauses[0].op' }], flag: null },
    ])
    expect((await itemsOf(made, '?status=refused&search=OD')).count).toBe(1)

    const applied = await apply(made)
    expect(applied.body.targets).toMatchObject([{ created: 3, updated: 0, skipped: 0, refused: 1 }])
    const basic = await find(project, 'basic')
    const price = await find(project, 'price')
    const after = await itemsOf(made)
    expect(after.results).toMatchObject([
      { outcome: 'created', cohort: expect.any(Number) },
      { outcome: 'created', flag: basic.id },
      { outcome: 'created', flag: price.id },
      { outcome: 'skipped', flag: null },
    ])
    const cohort = String(after.results[0].cohort)
    expect(basic.filters.groups[0]?.properties).toEqual([{ key: 'id', type: 'cohort', operator: 'in', value: cohort }])
    expect(price.filters.groups[0]?.properties).toMatchObject([{ type: 'flag', key: String(basic.id), value: true }])
    const { body: activity } = await s.get(`/api/projects/${project}/feature_flags/${price.id}/activity/`)
    expect(activity.results[0].detail.trigger).toMatchObject({ imported_from: 'launchdarkly', source_id: 'price' })

    const token = (await s.get(`/api/projects/${project}/`)).body.api_token
    const evaluated = await s.post('/flags/?v=2', { token, distinct_id: 'ann' })
    expect(evaluated.body.flags).toMatchObject({
      basic: { enabled: true },
      price: { variant: '9.5', metadata: { payload: '9.5' } },
    })
  })

  it('change nothing when repeated, and show on which side something changed', async () => {
    const project = await newProject('Again')
    await apply(await plan(project))
    const again = await plan(project)
    expect((await itemsOf(again, '?status=exact')).results.map(({ drift }: { drift: string }) => drift)).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ])
    expect((await apply(again)).body.targets).toMatchObject([{ created: 0, updated: 0, unchanged: 3 }])

    const price = await find(project, 'price')
    await s.patch(`/api/projects/${project}/feature_flags/${price.id}/`, { active: false })
    const changed = { ...flags(), basic: flag({ fallthrough: { variation: 0 } }) }
    const third = await plan(project, { flags: changed, segments })
    expect((await itemsOf(third)).results).toMatchObject([
      { source_key: 'beta', drift: 'unchanged' },
      { source_key: 'basic', drift: 'changed_at_source' },
      { source_key: 'price', drift: 'changed_here' },
      {},
    ])
    expect((await apply(third)).body.targets).toMatchObject([{ updated: 1, unchanged: 1, skipped: 1 }])
    expect(await find(project, 'price')).toMatchObject({ active: false, version: 2 })
    expect((await find(project, 'basic')).version).toBe(2)
    const fourth = await plan(project, { flags: changed, segments })
    await apply(fourth, { overwrite: true })
    expect(await find(project, 'price')).toMatchObject({ active: true, version: 3 })
  })

  it('leave flags that were made here, unless they are to be replaced', async () => {
    const project = await newProject('Taken')
    await s.post(`/api/projects/${project}/feature_flags/`, { key: 'basic' })
    const first = await plan(project)
    expect((await itemsOf(first, '?search=basic')).results).toMatchObject([{ drift: 'exists_here' }])
    expect((await apply(first)).body.targets).toMatchObject([{ created: 2, skipped: 1 }])
    await apply(await plan(project), { overwrite: true })
    expect((await find(project, 'basic')).filters.groups).toHaveLength(2)
  })

  it('are all or nothing: a plan that is out of date or needs approval changes nothing', async () => {
    const project = await newProject('Stale')
    const stale = await plan(project)
    await s.post(`/api/projects/${project}/feature_flags/`, { key: 'price' })
    expect(await apply(stale)).toMatchObject({ status: 409, body: { code: 'plan_is_stale' } })
    expect(await flagsOf(project)).toHaveLength(1)
    expect((await s.get(`/api/projects/${project}/cohorts/`)).body.count).toBe(0)

    const approver = await s.join('import-approver')
    const policy = { action_key: '*', approver_config: { users: [approver.id] } }
    await s.post(`/api/projects/${project}/approval_policies/`, policy)
    const gated = await plan(project)
    const reply = await apply(gated)
    expect(reply).toMatchObject({ status: 409, body: { type: 'approval_required' } })
    expect(reply.body.detail).toContain('nothing was imported')
    expect(await flagsOf(project)).toHaveLength(1)
    expect((await s.get(`/api/projects/${project}/cohorts/`)).body.count).toBe(0)
  })

  /** As LaunchDarkly's REST API lists it. */
  const inEnvironments = (environments: readonly string[]) => {
    const state = (name: string) => ({
      on: name !== 'prod',
      salt: name,
      offVariation: 1,
      fallthrough: { variation: 0 },
    })
    const variations = [{ value: true }, { value: false }]
    const byName = Object.fromEntries(environments.map(name => [name, state(name)]))
    return { items: [{ key: 'both', name: 'Both', variations, environments: byName }] }
  }
  const setNamed = async (wanted: string) =>
    (
      (await s.get(`${s.organization}/environment_sets/?limit=100`)).body.results as { id: number; name: string }[]
    ).filter(({ name }) => name === wanted)

  it('take several environments into the projects of a set, by name or as mapped', async () => {
    const { body: set } = await s.post(`${s.organization}/environment_sets/`, { name: 'Imported' })
    const [development, production] = (set.environments as { project: number }[]).map(({ project }) => project)
    const content = JSON.stringify(inEnvironments(['Development', 'prod', 'other']))
    const body = { source: 'launchdarkly', content, environment_set: set.id }
    const byName = await s.post(imports(), body)
    expect(byName.body.targets).toMatchObject([
      { project: development, environment: 'Development', name: 'development' },
    ])
    const mapping = [
      { environment: 'other', name: 'Development' },
      { environment: 'prod', project: production },
    ]
    const made = await s.post(imports(), { ...body, mapping })
    expect(made.body.targets).toMatchObject([
      { project: development, environment: 'other', name: 'development', exact: 1 },
      { project: production, environment: 'prod', name: 'production', exact: 1 },
    ])
    expect((await apply(made.body)).body.targets).toMatchObject([{ created: 1 }, { created: 1 }])
    expect(await find(development!, 'both')).toMatchObject({ active: true })
    expect(await find(production!, 'both')).toMatchObject({ active: false })
    const again = await s.post(imports(), { ...body, mapping })
    const drifts = (await itemsOf(again.body)).results.map(({ drift }: { drift: string }) => drift)
    expect(drifts).toEqual(['unchanged', 'unchanged'])
    expect((await apply(again.body)).body.targets).toMatchObject([{ unchanged: 1 }, { unchanged: 1 }])

    // A file of its own for each environment.
    const files = [
      { name: 'development', content: { flags: { own: flag() } } },
      { name: 'production', content: { flags: { own: flag({ on: false }) } } },
    ]
    const separate = await s.post(imports(), { source: 'launchdarkly', environment_set: set.id, mapping: files })
    expect((await apply(separate.body)).body.targets).toMatchObject([{ created: 1 }, { created: 1 }])
    expect(await find(production!, 'own')).toMatchObject({ active: false })
  })

  it('create an environment set with a project for each environment, once, when applied', async () => {
    const body = { source: 'launchdarkly', content: inEnvironments(['dev', 'prod']) }
    const choose = await s.post(imports(), { ...body, mapping: [{ project: s.projectId }] })
    expect(choose).toMatchObject({ status: 400, body: { attr: 'mapping', code: 'environment_required' } })
    expect(choose.body.environments).toEqual(['dev', 'prod'])

    const mapping = [{ environment: 'dev', name: 'development' }, { environment: 'prod' }]
    const before = (await s.get('/api/projects/')).body.count
    const wanted = { ...body, new_environment_set: 'From elsewhere', mapping }
    const made = await s.post(imports(), wanted)
    expect(made.body).toMatchObject({
      new_environment_set: 'From elsewhere',
      targets: [
        { project: null, name: 'development', environment: 'dev', exact: 1 },
        { project: null, name: 'prod', environment: 'prod', exact: 1 },
      ],
    })
    expect((await itemsOf(made.body, '?target=1')).results).toMatchObject([{ target: 1, project: null }])
    for (const query of ['?target=abc', '?target=1.5', '?target=1e400', '?project=1e400', '?project=99999999999']) {
      expect((await itemsOf(made.body, query)).results, query).toEqual([])
    }
    expect((await s.get('/api/projects/')).body.count).toBe(before)
    const member = await s.join('import-member')
    expect((await member.post(imports(), wanted)).status).toBe(403)
    expect((await member.get(`${imports()}${made.body.id}/`)).status).toBe(404)
    const scopes = ['feature_flag:write', 'cohort:write']
    const key = await s.post('/api/personal_api_keys/', { label: 'No projects', scopes })
    const limited = await s.as(key.body.value).post(imports(), wanted)
    expect(limited).toMatchObject({ status: 403, body: { detail: expect.stringContaining('project:write') } })
    const refused = await s.as(key.body.value).post(`${imports()}${made.body.id}/apply/`, {})
    expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining('project:write') } })
    expect((await s.get('/api/projects/')).body.count).toBe(before)

    const both = await Promise.all([apply(made.body), apply(made.body)])
    const [applied, late] = both.toSorted((a, b) => a.status - b.status)
    expect(applied!.status).toBe(200)
    expect(late).toMatchObject({ status: 409, body: { code: 'plan_is_stale' } })
    const [development, production] = applied!.body.targets as { project: number }[]
    expect(await find(development!.project, 'both')).toMatchObject({ active: true })
    expect(await find(production!.project, 'both')).toMatchObject({ active: false })
    expect(await setNamed('From elsewhere')).toMatchObject([
      {
        environments: [
          { name: 'development', project: development!.project, is_production: false },
          { name: 'prod', project: production!.project, is_production: true },
        ],
      },
    ])
    const [set] = await setNamed('From elsewhere')
    const again = await s.post(imports(), { ...body, environment_set: set!.id, mapping })
    const drifts = (await itemsOf(again.body)).results.map(({ drift }: { drift: string }) => drift)
    expect(drifts).toEqual(['unchanged', 'unchanged'])
  })

  it('leave no environment set behind, whichever statement fails', async () => {
    const body = { source: 'launchdarkly', content: inEnvironments(['dev', 'prod']) }
    const made = await s.post(imports(), { ...body, new_environment_set: 'Atomic' })
    const effects = { ...savedFlags(2), dashboards: 2, changes: 4, import_links: 2, projects: 2, environment_sets: 1 }
    const reply = await expectAtomic(s, injector, { ...effects, activity: 3 }, () => apply(made.body))
    expect(reply.body.targets).toMatchObject([{ created: 1 }, { created: 1 }])
  })

  it('leave nothing behind in any project, whichever statement fails', async () => {
    const [first, second] = [await newProject('Atomic one'), await newProject('Atomic two')]
    const mapping = [{ project: first }, { project: second }]
    const made = await plan(first, { flags: { basic: flags().basic }, segments }, { mapping })
    const effects = { ...savedFlags(2), dashboards: 2, cohorts: 2, activity: 4, changes: 4, import_links: 4 }
    const reply = await expectAtomic(s, injector, effects, () => apply(made))
    expect(reply.body.targets).toMatchObject([{ created: 2 }, { created: 2 }])
  })

  it('create cohorts after those that they use', async () => {
    const project = await newProject('Nested')
    const using = (value: object) => ({ properties: { type: 'AND', values: [{ type: 'AND', values: [value] }] } })
    const cohorts = [
      { id: 1, name: 'Outer', filters: using({ type: 'cohort', key: 'id', value: 2 }) },
      { id: 2, name: 'Inner', filters: using({ type: 'person', key: 'plan', value: 'pro', operator: 'exact' }) },
    ]
    await apply(await plan(project, { flags: [], cohorts }, { source: 'posthog' }))
    const { results } = (await s.get(`/api/projects/${project}/cohorts/`)).body
    const byName = Object.fromEntries(results.map((cohort: { name: string }) => [cohort.name, cohort]))
    expect(byName.Outer.filters.properties.values[0].values[0].value).toBe(String(byName.Inner.id))
    const again = await plan(project, { flags: [], cohorts }, { source: 'posthog' })
    expect((await itemsOf(again)).results).toMatchObject([{ drift: 'unchanged' }, { drift: 'unchanged' }])
  })

  it('carry value types and payload schemas from one Halyard to another, and refuse a schema that does not fit', async () => {
    const [from, to] = [await newProject('Typed'), await newProject('Typed again')]
    const variants = [{ key: 'low', rollout_percentage: 100 }]
    const filters = { groups: [{}], multivariate: { variants }, payloads: { low: '5' }, return_type: 'number' }
    const { body: made } = await s.post(`/api/projects/${from}/feature_flags/`, { key: 'limit', filters })
    const schemaOf = (project: number, id: number) => `/api/projects/${project}/feature_flags/${id}/payload_schema/`
    const schema = { type: 'number', minimum: 1 }
    await s.put(schemaOf(from, made.id), { schema })
    const exported = () => s.get(`/api/projects/${from}/feature_flags/export/?format=posthog`)
    const content = (await exported()).body.document
    const planned = (given = content) => plan(to, given, { source: 'posthog' })
    await apply(await planned())
    const copy = await find(to, 'limit')
    expect(copy.filters).toMatchObject({ payloads: { low: '5' }, return_type: 'number' })
    expect((await s.get(schemaOf(to, copy.id))).body.schema).toEqual(schema)
    const drift = async (given = content) => (await itemsOf(await planned(given))).results[0].drift
    expect(await drift()).toBe('unchanged')
    await s.put(schemaOf(to, copy.id), { schema: { type: 'number' } })
    expect(await drift()).toBe('changed_here')
    await apply(await planned(), { overwrite: true })
    expect((await s.get(schemaOf(to, copy.id))).body.schema).toEqual(schema)

    const flags = [{ ...content.flags[0], payload_schema: { type: 'string' } }]
    const refused = (await itemsOf(await planned({ ...content, flags }))).results
    expect(refused).toMatchObject([
      { status: 'refused', reasons: [{ path: expect.stringContaining('payload_schema') }] },
    ])
  })

  it('stream their progress', async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`flag-${index}`, flag()]))
    const project = await newProject('Many')
    const made = await plan(project, { flags: many })
    const response = await fetch(`${s.url}${imports()}${made.id}/apply/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${s.key}`, accept: 'application/x-ndjson' },
    })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines.map(({ step }) => step)).toEqual([
      'Many: 0 of 600 checked',
      'Many: 250 of 600 checked',
      'Many: 500 of 600 checked',
      'Many: 600 of 600 checked',
      'Many: 0 of 600 saved',
      'Many: 600 of 600 saved',
      undefined,
    ])
    expect(lines.at(-1)).toMatchObject({ status: 200, body: { targets: [{ created: 600 }] } })
  })

  it('let other requests be served while a large file is converted, also one with a long chain of flags', async () => {
    const count = 5000
    const chained = Array.from({ length: count }, (_, index) => [
      `flag-${index}`,
      flag({
        rules: [{ clauses: [{ attribute: 'plan', op: 'in', values: ['pro', 'team'] }], variation: 0 }],
        ...(index > 0 && { prerequisites: [{ key: `flag-${index - 1}`, variation: 0 }] }),
      }),
    ])
    const project = await newProject('Large')
    const body = { source: 'launchdarkly', content: { flags: Object.fromEntries(chained) }, mapping: [{ project }] }
    let hasSteps = false
    const planning = fetch(`${s.url}${imports()}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${s.key}`,
        accept: 'application/x-ndjson',
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    }).finally(() => {
      hasSteps = true
    })
    // The response begins with the first step, which follows the conversion.
    let served = 0
    while (!hasSteps) {
      expect((await s.get('/_livez')).status).toBe(200)
      if (!hasSteps) served++
    }
    expect(served).toBeGreaterThan(20)
    const lines = (await (await planning).text()).trim().split('\n')
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ body: { targets: [{ exact: count }] } })
  })

  it('are not planned by viewers', async () => {
    const roles = `${s.organization}/roles/`
    const { body: role } = await s.post(roles, { name: 'Viewers', feature_flags_access_level: 21 })
    const viewer = await s.join('import-viewer')
    await s.post(`${roles}${role.id}/role_memberships/`, { user_uuid: viewer.uuid })
    const body = { source: 'launchdarkly', content: { flags: flags() }, mapping: [{ project: s.projectId }] }
    const { count } = (await s.get(imports())).body
    expect((await viewer.post(imports(), body)).status).toBe(403)
    expect((await s.get(imports())).body.count).toBe(count)
  })

  it.each<[string, object, string, string]>([
    ['broken JSON', { content: '{\n  "flags": {,}' }, 'content', 'line 2, column 13'],
    ['another document', { content: { features: [] } }, 'content', 'LaunchDarkly'],
    ['a bad flag', { content: { flags: { a: 5 } } }, 'content', 'flags.a'],
    ['neither mapping nor set', { mapping: undefined }, 'mapping', 'environment_set'],
    ['both sets', { environment_set: 1, new_environment_set: 'x' }, 'new_environment_set', 'environment_set'],
    ['no file', { content: undefined }, 'content', 'content'],
    ['no environments', { mapping: undefined, new_environment_set: 'x' }, 'mapping', 'names no environments'],
    ['a new set with a project', { new_environment_set: 'x' }, 'mapping__0__project', 'new projects'],
    ['a new set without a name', { new_environment_set: 'x', mapping: [{}] }, 'mapping__0__name', 'needs a name'],
    ['no project', { mapping: [{ name: 'x' }] }, 'mapping__0__project', 'project'],
    ['a bad file', { mapping: [{ project: 1, content: '[' }] }, 'content', 'line 1, column 2'],
    ['an unknown source', { source: 'vault' }, 'source', 'launchdarkly'],
  ])('are refused for %s, with the place', async (_name, more, attr, message) => {
    const body = { source: 'launchdarkly', content: { flags: {} }, mapping: [{ project: s.projectId }], ...more }
    const reply = await s.post(imports(), body)
    expect(reply).toMatchObject({ status: 400, body: { attr } })
    expect(reply.body.detail).toContain(message)
  })

  it('name the entry of the mapping at fault; projects and sets of others are unknown', async () => {
    const { body: set } = await s.post(`${s.organization}/environment_sets/`, { name: 'Mapped' })
    const [first] = set.environments as { project: number; name: string }[]
    const stranger = await s.stranger('mapping-stranger')
    const theirs = await stranger.post(`${stranger.organization}/environment_sets/`, { name: 'Theirs' })
    const send = async (mapping: object[] | undefined, environment_set = set.id) => {
      const content = { flags: {} }
      const { status, body } = await s.post(imports(), { source: 'launchdarkly', content, environment_set, mapping })
      return [status, body.attr, body.code]
    }
    const known = { project: first!.project }
    expect(await send([known, { name: 'DEVELOPMENT' }])).toEqual([400, 'mapping__1', 'unique'])
    expect(await send([known, { name: 'qa' }])).toEqual([400, 'mapping__1__name', 'does_not_exist'])
    expect(await send([known, { project: s.projectId }])).toEqual([400, 'mapping__1__project', 'invalid_input'])
    expect(await send([known, { project: 999_999 }])).toEqual([404, 'mapping__1__project', 'not_found'])
    const foreign = theirs.body.environments[0].project
    expect(await send([known, { project: foreign }])).toEqual([404, 'mapping__1__project', 'not_found'])
    expect(await send([{ name: 'development' }], theirs.body.id)).toEqual([404, null, 'not_found'])
    expect(await send(undefined)).toEqual([400, 'environment_set', 'invalid_input'])
  })

  it('are unknown to others, need the scope for cohorts, and can be deleted', async () => {
    const made = await plan(s.projectId)
    const stranger = await s.stranger('import-stranger')
    expect((await stranger.get(`${stranger.organization}/imports/${made.id}/`)).status).toBe(404)
    expect((await stranger.post(`${stranger.organization}/imports/${made.id}/apply/`)).status).toBe(404)
    const key = await s.post('/api/personal_api_keys/', { label: 'Flags', scopes: ['feature_flag:write'] })
    const limited = await s.as(key.body.value).post(`${imports()}${made.id}/apply/`)
    expect(limited).toMatchObject({ status: 403, body: { detail: expect.stringContaining('cohort:write') } })
    expect((await s.delete(`${imports()}${made.id}/`)).status).toBe(204)
    expect((await s.get(`${imports()}${made.id}/`)).status).toBe(404)
  })

  it('have certificates, which stay in their project', async () => {
    const project = await newProject('Proved')
    const { basic } = flags()
    const made = await plan(project, { flags: { basic }, segments })
    const path = `/api/projects/${project}/import_certificates/`
    const stored = await s.post(path, { import: made.id, certificate })
    expect(stored).toMatchObject({ status: 201, body: { import: made.id, certificate } })
    const { flags: _, differences: __, ...numbers } = certificate
    expect((await s.get(path)).body.results).toEqual([
      { id: stored.body.id, import: made.id, created_at: stored.body.created_at, ...numbers },
    ])
    expect((await s.get(`${path}${stored.body.id}/`)).body).toEqual(stored.body)
    for (const other of [
      { ...certificate, exact: 2 },
      { ...certificate, flags: [{ ...certificate.flags[0], status: 'approximate' }] },
    ]) {
      const unfit = await s.post(path, { import: made.id, certificate: other })
      expect(unfit).toMatchObject({ status: 400, body: { detail: expect.stringContaining('prove this import') } })
    }
    expect((await s.get(path)).body.count).toBe(1)
    const elsewhere = `/api/projects/${s.projectId}/import_certificates/`
    expect((await s.get(`${elsewhere}${stored.body.id}/`)).status).toBe(404)
    const foreign = await s.post(elsewhere, { import: made.id, certificate })
    expect(foreign).toMatchObject({ status: 400, body: { attr: 'import' } })
    const stranger = await s.stranger('certificate-stranger')
    expect((await stranger.get(path)).status).toBe(404)
    const wrong = await s.post(path, { certificate: { ...certificate, file_sha256: 'x' } })
    expect(wrong.status).toBe(400)
    expect(JSON.stringify(wrong.body)).toContain('file_sha256')
    const many = Array.from({ length: 51 }, () => certificate.differences[0])
    expect((await s.post(path, { certificate: { ...certificate, differences: many } })).status).toBe(400)
    for (let index = 0; index < 50; index++) await s.post(path, { certificate })
    expect((await s.get(path)).body.count).toBe(50)
    expect((await s.get(`${path}${stored.body.id}/`)).status).toBe(404)
    const [newest] = (await s.get(path)).body.results
    expect((await s.delete(`${path}${newest.id}/`)).status).toBe(204)
    expect((await s.get(path)).body.count).toBe(49)
  })

  it('create the group types of other kinds of contexts, which are in the plan', async () => {
    const project = await newProject('Groups')
    const isEnterprise = { attribute: 'plan', op: 'in', values: ['enterprise'], contextKind: 'org' }
    const content = { flags: { 'org-plan': flag({ rules: [{ clauses: [isEnterprise], variation: 0 }] }) } }
    const made = await plan(project, content)
    expect(made.targets).toMatchObject([{ exact: 1, refused: 0, new_group_types: ['org'], archived: 0 }])
    const typesOf = async () => (await s.get(`/api/projects/${project}/`)).body.group_types
    expect(await typesOf()).toEqual({})
    expect((await apply(made)).body.targets).toMatchObject([{ created: 1 }])
    expect(await typesOf()).toEqual({ 0: 'org' })
    expect((await find(project, 'org-plan')).filters.groups[0]?.properties).toMatchObject([{ group_type_index: 0 }])
    expect((await plan(project, content)).targets).toMatchObject([{ new_group_types: [] }])
    expect((await itemsOf(await plan(project, content))).results).toMatchObject([{ drift: 'unchanged' }])

    const token = (await s.get(`/api/projects/${project}/`)).body.api_token
    const valueFor = async (person: string | undefined, org: string | undefined) => {
      const evaluated = await s.post('/flags/?v=2', {
        token,
        distinct_id: 'ann',
        ...(person !== undefined && { person_properties: { plan: person } }),
        ...(org !== undefined && { groups: { org: 'acme' }, group_properties: { org: { plan: org } } }),
      })
      return evaluated.body.flags['org-plan'].enabled
    }
    expect(await valueFor('free', 'enterprise')).toBe(true)
    expect(await valueFor('enterprise', 'free')).toBe(false)
    expect(await valueFor('enterprise', undefined)).toBe(false)
    expect(await valueFor(undefined, 'enterprise')).toBe(true)
  })

  describe('of numbers and JSON', () => {
    const variants = (values: object, defaultVariant: string) => ({
      state: 'ENABLED',
      variants: values,
      defaultVariant,
    })
    const content = {
      flags: {
        size: variants({ small: 10, large: 20.5 }, 'large'),
        text: variants({ full: 'x', none: 'y' }, 'full'),
        style: variants({ dark: { color: 'black' }, light: { color: 'white' } }, 'dark'),
        mixed: variants({ one: 1, list: ['a'], none: null }, 'one'),
      },
    }
    const valuesIn = async (project: number) => {
      const { body: key } = await s.post(`/api/projects/${project}/secret_keys/`, { label: 'ofrep' })
      const evaluated = await s.as(key.value).post('/ofrep/v1/evaluate/flags', { context: { targetingKey: 'ann' } })
      const flags = evaluated.body.flags as { key: string; value: unknown; variant: string }[]
      return Object.fromEntries(flags.map(({ key, value, variant }) => [key, [variant, value]]))
    }

    it('have the values of the service for OpenFeature', async () => {
      const project = await newProject('OpenFeature')
      const made = await plan(project, content, { source: 'flagd' })
      expect(made.targets).toMatchObject([{ exact: 3, approximate: 1, refused: 0 }])
      await apply(made)
      expect(await valuesIn(project)).toEqual({
        size: ['20.5', 20.5],
        text: ['x', 'x'],
        style: ['dark', { color: 'black' }],
        mixed: ['1', '1'],
      })
    })

    it('keep the values that OpenFeature gets when they were imported without a type', async () => {
      const project = await newProject('Without type')
      await apply(await plan(project, content, { source: 'flagd' }))
      const style = await find(project, 'style')
      const { return_type: _, ...filters } = style.filters as Record<string, unknown>
      await s.patch(`/api/projects/${project}/feature_flags/${style.id}/`, { filters })
      expect((await valuesIn(project)).style).toEqual(['dark', 'dark'])

      const again = await plan(project, content, { source: 'flagd' })
      await apply(again, { overwrite: true })
      expect((await valuesIn(project)).style).toEqual(['dark', 'dark'])
      const { results } = await itemsOf(again, '?search=style')
      expect(results[0].reasons.at(-1).message).toContain('set `return_type` to object')
    })
  })

  it('take the index that is free when they are applied', async () => {
    const project = await newProject('Raced')
    const inOrg = { attribute: 'key', op: 'in', values: ['acme'], contextKind: 'org' }
    const made = await plan(project, { flags: { f: flag({ rules: [{ clauses: [inOrg], variation: 0 }] }) } })
    const token = (await s.get(`/api/projects/${project}/`)).body.api_token
    await s.as(undefined).post('/batch/', {
      api_key: token,
      batch: [{ event: '$groupidentify', distinct_id: 'x', properties: { $group_type: 'team', $group_key: 't' } }],
    })
    const types = async () => (await s.get(`/api/projects/${project}/`)).body.group_types
    await expect.poll(types).toEqual({ 0: 'team' })
    expect((await apply(made)).status).toBe(200)
    expect(await types()).toEqual({ 0: 'team', 1: 'org' })
    expect((await find(project, 'f')).filters.groups[0]?.properties).toMatchObject([{ group_type_index: 1 }])
  })

  it('refuse a file that has only some of the flags, with the command that reads all', async () => {
    const part = {
      items: [],
      totalCount: 312,
      _links: { next: { href: '/api/v2/flags/shop?summary=0&limit=20&offset=20' } },
    }
    const reply = await s.post(imports(), {
      source: 'launchdarkly',
      content: part,
      mapping: [{ project: s.projectId }],
    })
    expect(reply).toMatchObject({ status: 400, body: { attr: 'content' } })
    expect(reply.body.detail).toContain(
      "0 of 312 flags; read every page with --url 'https://app.launchdarkly.com/api/v2/flags/shop?summary=0' --token-env LD_TOKEN",
    )
  })

  it('keep the newest plans only', async () => {
    for (let index = 0; index < 21; index++) await plan(s.projectId, { flags: {} })
    expect((await s.get(`${imports()}?limit=100`)).body.count).toBe(20)
  })
})
