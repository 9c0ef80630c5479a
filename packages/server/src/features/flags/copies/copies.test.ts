import { beforeAll, expect, it } from 'vitest'
import { expectAtomic, savedFlags } from '../../../testing/atomicity.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { createFaultInjector } from '../../../testing/failing-statement.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

const representation = { prefer: 'return=representation' }

onEachDatabase('organization flags', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let flags: string
  let copy: string
  const targets: { id: number; flags: string }[] = []
  beforeAll(async () => {
    flags = `${s.project}/feature_flags/`
    copy = `${s.organization}/feature_flags/copy_flags/`
    for (const name of ['second', 'third']) {
      const { body } = await s.post('/api/projects/', { name })
      targets.push({ id: body.id, flags: `/api/projects/${body.id}/feature_flags/` })
    }
  })

  const make = async (key: string, more = {}, at = flags) => (await s.post(at, { key, ...more })).body
  const body = (key: string, more = {}) => ({
    feature_flag_key: key,
    from_project: s.projectId,
    target_project_ids: targets.map(target => target.id),
    ...more,
  })
  const byKey = (key: string) => `${s.organization}/feature_flags/${encodeURIComponent(key)}/`
  const flagIn = async (target: { flags: string } | undefined, key: string) =>
    (await s.get(`${target?.flags}?search=${key}`)).body.results[0]

  it('4.1 GET by key: returns a status only, and PostHog’s JSON on request', async () => {
    const flag = await make('by/key ü', { active: false })
    const reply = await s.get(byKey('by/key ü'))
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect(reply.headers.get('preference-applied')).toBeNull()
    const wanted = await s.get(byKey('by/key ü'), representation)
    expect(wanted.headers.get('preference-applied')).toBe('return=representation')
    expect(wanted.body).toEqual([
      {
        flag_id: flag.id,
        team_id: s.projectId,
        created_by: flag.created_by,
        filters: flag.filters,
        created_at: flag.created_at,
        active: false,
      },
    ])
    expect((await s.get(byKey('nothing'))).status).toBe(404)
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    expect((await s.get(byKey('by/key ü'))).status).toBe(404)
  })

  it('4.1 copies into every target with an empty response, and records the source', async () => {
    const filters = {
      groups: [{ properties: [], rollout_percentage: 30 }],
      payloads: { true: '{"type":"cohort","value":1}' },
    }
    const flag = await make('plain', {
      name: 'described',
      filters,
      tags: ['stays'],
      ensure_experience_continuity: true,
    })
    const reply = await s.post(copy, body('plain'))
    expect([reply.status, reply.text]).toEqual([200, ''])
    for (const target of targets) {
      const made = await flagIn(target, 'plain')
      expect(made).toMatchObject({ key: 'plain', name: 'described', filters, active: true, tags: [], version: 1 })
      expect(made.ensure_experience_continuity).toBe(true)
      expect(made.usage_dashboard).not.toBe(flag.usage_dashboard)
      const { body: activity } = await s.get(`${target.flags}${made.id}/activity/`)
      expect(activity.results[0]).toMatchObject({
        activity: 'created',
        detail: { trigger: { copied_from_project: s.projectId, copied_from_flag: flag.id } },
      })
    }
  })

  it('updates a live flag in place and leaves a deleted one alone', async () => {
    const [first, second] = targets
    const live = await make('again', { name: 'old', tags: ['kept'] }, first?.flags)
    const deleted = await make('again', {}, second?.flags)
    await s.patch(`${second?.flags}${deleted.id}/`, { deleted: true })
    await make('again', { name: 'new', active: false })
    const reply = await s.post(copy, body('again'), representation)
    expect(reply.body.failed).toEqual([])
    expect(reply.body.success).toHaveLength(2)
    expect(reply.body.success[0]).toEqual({ ...live, name: 'new', active: false, version: 2 })
    expect(reply.body.success[1].id).not.toBe(deleted.id)
    expect((await s.post(copy, body('again'))).status).toBe(200)
    expect((await flagIn(first, 'again')).version).toBe(2)
  })

  it('carries the payload schema over with the payloads', async () => {
    const payloads = (value: string) => ({ filters: { groups: [{}], payloads: { true: value } } })
    const flag = await make('schema', payloads('5'))
    const schemaAt = (at: string, id: number) => `${at}${id}/payload_schema/`
    await s.put(schemaAt(flags, flag.id), { schema: { type: 'number' } })
    expect((await s.post(copy, body('schema'))).status).toBe(200)
    const copied = await flagIn(targets[0], 'schema')
    const theirs = schemaAt(targets[0]!.flags, copied.id)
    expect((await s.get(theirs)).body.schema).toEqual({ type: 'number' })

    // A copy in place replaces the payloads, and with them what they must match.
    await s.delete(schemaAt(flags, flag.id))
    await s.patch(`${flags}${flag.id}/`, payloads('"five"'))
    const refused = await s.post(copy, body('schema'))
    expect([refused.status, refused.body.attr]).toEqual([400, 'target_project_ids'])
    expect(refused.body.detail).toContain('payload schema')
    await s.put(schemaAt(flags, flag.id), { schema: { type: 'string' } })
    expect((await s.post(copy, body('schema'))).status).toBe(200)
    expect((await s.get(theirs)).body.schema).toEqual({ type: 'string' })
  })

  it('reports per project what it created and replaced, so that it can be undone', async () => {
    const [first, second] = targets
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'reported', is_static: true })
    const filtersWith = (payload: string, properties: object[] = []) => ({
      filters: { groups: [{ properties, rollout_percentage: 100 }], payloads: { true: payload } },
    })
    const flag = await make('reported', filtersWith('5', [{ key: 'id', type: 'cohort', value: cohort.id }]))
    await s.put(`${flags}${flag.id}/payload_schema/`, { schema: { type: 'number' } })
    const theirs = await make('reported', filtersWith('"five"'), second!.flags)
    const theirSchema = `${second!.flags}${theirs.id}/payload_schema/`
    await s.put(theirSchema, { schema: { type: 'string' } })

    // Named in another order than that of the ids.
    const targetIds = [second!.id, first!.id]
    const { body: done } = await s.post(copy, body('reported', { target_project_ids: targetIds }), representation)
    const made = await flagIn(first, 'reported')
    expect(done.success.map(({ id }: { id: number }) => id)).toEqual([made.id, theirs.id])
    expect(done.copies).toEqual([
      {
        project_id: first!.id,
        flag_id: made.id,
        version: 1,
        replaced_version: null,
        replaced_payload_schema: null,
        created_cohort_ids: [made.filters.groups[0].properties[0].value],
      },
      {
        project_id: second!.id,
        flag_id: theirs.id,
        version: 2,
        replaced_version: 1,
        replaced_payload_schema: { type: 'string' },
        created_cohort_ids: [expect.any(Number)],
      },
    ])
    const { body: again } = await s.post(copy, body('reported'), representation)
    expect(again.copies[1]).toEqual({
      project_id: second!.id,
      flag_id: theirs.id,
      version: 2,
      replaced_version: 2,
      created_cohort_ids: [],
    })

    // Neither do the old payloads match the new schema, nor the new ones the old schema.
    const restore = `${second!.flags}${theirs.id}/restore/`
    expect((await s.post(restore, { version: 1 })).status).toBe(400)
    const mismatch = await s.post(restore, { version: 1, payload_schema: { type: 'boolean' } })
    expect([mismatch.status, mismatch.body.code, mismatch.body.attr]).toEqual([
      400,
      'payload_mismatch',
      'payload_schema',
    ])
    const unreadable = await s.post(restore, { version: 1, payload_schema: { type: 5 } })
    expect([unreadable.status, unreadable.body.attr]).toEqual([400, 'payload_schema'])
    expect((await s.get(theirSchema)).body.schema).toEqual({ type: 'number' })
    const restored = await s.post(restore, { version: 1, payload_schema: { type: 'string' } })
    expect([restored.status, restored.body.filters]).toEqual([200, theirs.filters])
    expect((await s.get(theirSchema)).body.schema).toEqual({ type: 'string' })
    expect((await s.post(restore, { version: 2, payload_schema: null })).status).toBe(200)
    expect((await s.get(theirSchema)).body.schema).toBeNull()
  })

  it('creates disabled copies on request', async () => {
    await make('quiet')
    await s.post(copy, body('quiet', { disable_copied_flag: true }))
    expect((await flagIn(targets[0], 'quiet')).active).toBe(false)
  })

  it('carries cohorts over by name, children first, and flags it depends on by key', async () => {
    const { halyard } = s
    const cohort = (projectId: number, name: string, filters: object, isStatic = false) =>
      halyard.database.transaction(async tx => {
        const createdBy = (await tx.identity.findAccountByEmail('owner@halyard.local'))!
        const at = '2026-01-01T00:00:00.000000Z'
        return tx.cohorts.create({
          projectId,
          name,
          description: 'd',
          filters: filters as Record<string, unknown>,
          isStatic,
          deleted: false,
          createdBy,
          createdAt: at,
          updatedAt: at,
          version: 1,
        })
      })
    const tree = (values: object[]) => ({ properties: { type: 'AND', values } })
    const child = await cohort(s.projectId, 'child', {}, true)
    const email = { key: 'email', value: '@', operator: 'icontains', type: 'person' }
    const parent = await cohort(s.projectId, 'parent', tree([{ key: 'id', type: 'cohort', value: child.id }, email]))
    const already = await cohort(targets[0]?.id ?? 0, 'child', tree([email]))
    const base = await make('base')
    const bases = await Promise.all(targets.map(target => make('base', {}, target.flags)))
    const properties = [
      { key: 'id', type: 'cohort', value: parent.id },
      { key: String(base.id), type: 'flag', operator: 'flag_evaluates_to', value: true },
    ]
    await make('needy', { filters: { groups: [{ properties, rollout_percentage: 10 }] } })
    expect((await s.post(copy, body('needy'))).status).toBe(200)
    for (const [n, target] of targets.entries()) {
      const made = await flagIn(target, 'needy')
      const [ofCohort, ofFlag] = made.filters.groups[0].properties
      expect(ofFlag.key).toBe(String(bases[n].id))
      const found = await halyard.database.read(tx => tx.cohorts.find(target.id, ofCohort.value))
      expect(found).toMatchObject({ name: 'parent', projectId: target.id, isStatic: false })
      const inner = JSON.parse(JSON.stringify(found?.filters)).properties.values[0].value
      const innerCohort = await halyard.database.read(tx => tx.cohorts.find(target.id, inner))
      expect(innerCohort).toMatchObject({ name: 'child', isStatic: n === 1 })
      if (n === 0) expect(inner).toBe(already.id)
    }
    const count = () =>
      halyard.database.read(async tx => (await tx.cohorts.listDefinitions(targets[1]?.id ?? 0)).length)
    const before = await count()
    await s.post(copy, body('needy'))
    expect(await count()).toBe(before)
  })

  it('copies nothing when one target cannot take it, and names every such target', async () => {
    const base = await make('only-here')
    const properties = [{ key: String(base.id), type: 'flag', operator: 'flag_evaluates_to', value: true }]
    await make('stuck', { filters: { groups: [{ properties }] } })
    const [first, second] = targets
    await make('only-here', {}, first?.flags)
    const reply = await s.post(
      copy,
      body('stuck', { target_project_ids: [first?.id, second?.id, 999999, s.projectId] }),
    )
    expect(reply.status).toBe(400)
    expect(reply.body).toMatchObject({ type: 'validation_error', attr: 'target_project_ids' })
    expect(reply.body.detail).toContain(`Project ${second?.id}: The flag depends on "only-here"`)
    expect(reply.body.detail).toContain('Project 999999')
    expect(reply.body.detail).toContain(`Project ${s.projectId}`)
    expect(reply.body.detail).not.toContain(`Project ${first?.id}:`)
    expect(await flagIn(first, 'stuck')).toBeUndefined()
  })

  it.each([
    [{ feature_flag_key: undefined }, 'feature_flag_key', 'required'],
    [{ feature_flag_key: 'nothing' }, 'feature_flag_key', 'does_not_exist'],
    [{ from_project: 'x' }, 'from_project', 'invalid_input'],
    [{ from_project: 999999 }, 'from_project', 'does_not_exist'],
    [{ target_project_ids: Array.from({ length: 51 }, (_, n) => n) }, 'target_project_ids', 'max_length'],
  ])('refuses %j', async (more, attr, code) => {
    await s.post(flags, { key: 'refused' })
    const reply = await s.post(copy, body('refused', more))
    expect([reply.status, reply.body.attr, reply.body.code]).toEqual([400, attr, code])
  })

  it('refuses an empty list of targets', async () => {
    expect((await s.post(copy, body('refused', { target_project_ids: [] }))).status).toBe(400)
  })

  it('reaches nothing of another organization', async () => {
    const stranger = await s.stranger(`copier-${dialect}`)
    const theirs = Number(stranger.project.split('/').at(-1))
    await make('mine')
    expect((await stranger.get(byKey('mine'))).status).toBe(404)
    expect((await stranger.post(copy, body('mine'))).status).toBe(404)
    const out = await s.post(copy, body('mine', { target_project_ids: [theirs] }))
    expect([out.status, out.body.detail]).toEqual([400, expect.stringContaining(`Project ${theirs}`)])
    const own = `${stranger.organization}/feature_flags/`
    expect((await stranger.get(`${own}mine/`)).status).toBe(404)
    const into = await stranger.post(`${own}copy_flags/`, {
      feature_flag_key: 'mine',
      from_project: s.projectId,
      target_project_ids: [theirs],
    })
    expect([into.status, into.body.attr]).toEqual([400, 'from_project'])
  })

  it('requires edit access in source and target', async () => {
    const member = await s.join(`copy-viewer-${dialect}`)
    await make('guarded')
    await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    expect((await member.get(byKey('guarded'))).status).toBe(200)
    expect((await member.post(copy, body('guarded'))).status).toBe(403)
    const own = (await member.post(flags, { key: 'member-made' })).body
    await make('member-made', {}, targets[0]?.flags)
    const reply = await member.post(copy, body(own.key))
    expect([reply.status, reply.body.detail]).toEqual([400, expect.stringContaining('cannot edit')])
  })

  it('leaves nothing torn when it fails half way', async () => {
    await make('torn', { filters: { groups: [{ properties: [], rollout_percentage: 1 }] } })
    await make('torn', {}, targets[0]?.flags)
    const effects = { ...savedFlags(2), dashboards: 1, cohorts: 0 }
    const reply = await expectAtomic(s, injector, effects, () => s.post(copy, body('torn')))
    expect(reply.text).toBe('')
    expect((await flagIn(targets[1], 'torn')).rollout_percentage).toBe(1)
  })
})
