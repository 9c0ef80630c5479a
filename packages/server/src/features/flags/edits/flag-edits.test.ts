import { expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('flag intents', dialect => {
  const s = suiteScenario(dialect)

  const group = (percentage: number) => ({ properties: [], rollout_percentage: percentage })
  const variants = (...split: number[]) => ({
    multivariate: { variants: split.map((rollout_percentage, n) => ({ key: `v${n}`, rollout_percentage })) },
  })
  async function flagWith(key: string, filters: object = { groups: [group(10)] }) {
    const { body } = await s.post(`${s.project}/feature_flags/`, { key, filters })
    const path = `${s.project}/feature_flags/${body.id}/`
    const act = (action: string, sent?: object) => s.post(`${path}${action}/`, sent)
    return { id: body.id as number, path, act, read: async () => (await s.get(path)).body }
  }
  const evaluated = async () =>
    (await s.as(undefined).post('/flags/?v=2', { api_key: s.projectToken, distinct_id: 'someone' })).body.flags

  it('switches on and off without a body, and again without a new version', async () => {
    const flag = await flagWith('switched')
    expect((await flag.act('disable')).body).toMatchObject({ active: false, version: 2 })
    expect((await flag.act('disable')).body).toMatchObject({ active: false, version: 2 })
    expect((await flag.act('enable')).body).toMatchObject({ active: true, version: 3 })
    expect((await flag.act('enable')).body).toMatchObject({ active: true, version: 3 })
  })

  it('archives what is not in use: neither listed nor evaluated, and back switched off', async () => {
    const flag = await flagWith('old', { groups: [group(100)] })
    expect(await evaluated()).toHaveProperty('old')
    expect((await flag.act('archive')).body).toMatchObject({ archived: true, active: false, version: 2 })
    expect((await flag.act('archive')).body.version).toBe(2)
    const keys = async (query: string) =>
      (await s.get(`${s.project}/feature_flags/${query}`)).body.results.map((one: { key: string }) => one.key)
    expect(await keys('')).not.toContain('old')
    expect(await keys('?archived=true')).toEqual(['old'])
    expect(await evaluated()).not.toHaveProperty('old')
    expect((await flag.act('enable')).body).toMatchObject({ attr: 'active', code: 'invalid_input' })
    expect((await flag.act('unarchive')).body).toMatchObject({ archived: false, active: false, version: 3 })
    expect((await flag.act('enable')).body).toMatchObject({ active: true, version: 4 })
  })

  it('refuses to archive a flag that others need or that is evaluated, unless forced with a reason', async () => {
    const base = await flagWith('base')
    const dependency = { key: String(base.id), type: 'flag', value: true, operator: 'flag_evaluates_to' }
    await flagWith('dependent', { groups: [{ properties: [dependency] }] })
    expect((await base.act('archive')).body).toMatchObject({
      code: 'in_use',
      detail: expect.stringContaining('dependent'),
    })
    expect((await base.act('archive', { force: true })).body).toMatchObject({ attr: 'reason' })
    expect((await base.read()).archived).toBe(false)
    expect((await base.act('archive', { force: true, reason: 'Replaced.' })).body.archived).toBe(true)
    const { body: activity } = await s.get(`${base.path}activity/`)
    expect(activity.results[0].detail.trigger).toMatchObject({ reason: 'Replaced.', forced: expect.any(String) })
  })

  it('edits conditions, variants and payloads with an expected version and as a dry run', async () => {
    const flag = await flagWith('edited', { groups: [group(10)], ...variants(50, 50) })
    const dry = await flag.act('set_rollout', { rollout_percentage: 20, dry_run: true })
    expect(dry.body).toMatchObject({
      dry_run: true,
      requires_approval: false,
      filters: { groups: [group(20)] },
      version: 2,
    })
    expect((await flag.read()).version).toBe(1)
    expect((await flag.act('set_rollout', { rollout_percentage: 20, expected_version: 9 })).status).toBe(409)
    const first = await flag.act('set_rollout', { rollout_percentage: 20, expected_version: 1 })
    expect(first.body.filters.groups).toEqual([group(20)])
    await flag.act('add_condition', { condition: group(1) })
    await flag.act('add_condition', { condition: group(2), before: 0 })
    expect((await flag.read()).filters.groups).toEqual([group(2), group(20), group(1)])
    await flag.act('remove_condition', { condition_index: 1 })
    await flag.act('set_variant_split', { variants: { v0: 30, v1: 70 } })
    await flag.act('set_payload', { variant: 'v0', payload: { a: 1 } })
    const { filters, version } = await flag.read()
    expect(filters).toMatchObject({ groups: [group(2), group(1)], ...variants(30, 70), payloads: { v0: { a: 1 } } })
    expect(version).toBe(7)
    await flag.act('set_payload', { variant: 'v0', payload: null })
    expect((await flag.read()).filters.payloads).toEqual({})
    const wrong: readonly (readonly [string, object, string])[] = [
      ['set_rollout', { rollout_percentage: 101 }, 'rollout_percentage'],
      ['set_rollout', { rollout_percentage: 5, condition_index: 7 }, 'condition_index'],
      ['add_condition', { condition: group(1), before: 9 }, 'before'],
      ['remove_condition', {}, 'condition_index'],
      ['set_variant_split', { variants: { v0: 100 } }, 'variants'],
      ['set_variant_split', { variants: { v0: 50, v1: 40 } }, 'filters'],
      ['set_payload', { variant: 'unknown', payload: 1 }, 'filters'],
    ]
    const before = await flag.read()
    for (const [action, body, attr] of wrong) {
      expect((await flag.act(action, body)).body, action).toMatchObject({ attr, type: 'validation_error' })
    }
    expect(await flag.read()).toEqual(before)
    expect((await s.post(`${s.project}/feature_flags/999999/set_rollout/`, {})).status).toBe(404)
  })

  it('says in a dry run that approval would be needed, without opening a request', async () => {
    const flag = await flagWith('gated')
    const policy = await s.post(`${s.project}/approval_policies/`, { action_key: 'feature_flag.rollout' })
    const dry = await flag.act('set_rollout', { rollout_percentage: 90, dry_run: true })
    expect(dry).toMatchObject({ status: 200, body: { requires_approval: true, filters: { groups: [group(90)] } } })
    expect((await s.get(`${s.project}/change_requests/`)).body.count).toBe(0)
    expect((await flag.act('set_rollout', { rollout_percentage: 90 })).status).toBe(409)
    await s.delete(`${s.project}/approval_policies/${policy.body.id}/`)
  })
})
