import { beforeAll, describe, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'
import { replaceTag } from './replace-tag.ts'

onEachDatabase('the list of flags without definitions', dialect => {
  const s = suiteScenario(dialect)
  const ids: Record<string, number> = {}
  beforeAll(async () => {
    const create = async (key: string, more: object = {}) => {
      const { body } = await s.post(`${s.project}/feature_flags/`, { key, ...more })
      ids[key] = body.id
    }
    await create('alpha', { name: 'First of all', tags: ['web', 'Web'] })
    await create('beta', { active: false, tags: ['shop', 7], filters: { groups: [{ rollout_percentage: 25 }] } })
    await create('gamma', {
      name: 'With variants',
      tags: ['web', 'shop'],
      filters: {
        groups: [{ properties: [{ key: 'plan', value: 'pro', operator: 'exact', type: 'person' }] }],
        multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
        payloads: { a: 'x'.repeat(5000) },
      },
    })
    await s.post('/batch/', {
      api_key: s.projectToken,
      batch: ['alpha', 'alpha', 'gamma'].map(key => ({
        event: '$feature_flag_called',
        distinct_id: 'ada',
        properties: { $feature_flag: key, $feature_flag_response: true },
      })),
    })
  })

  const list = async (query = '') => (await s.get(`${s.project}/feature_flags/summaries/${query}`)).body
  const keys = async (query: string) => (await list(query)).results.map(({ key }: { key: string }) => key)
  const usage = (given: string) => s.get(`${s.project}/feature_flags/recent_usage/?ids=${given}`)

  it('says who gets a flag, without its payloads', async () => {
    const { count, results } = await list()
    expect(count).toBe(3)
    expect(JSON.stringify(results)).not.toContain('xxx')
    expect(results[0]).toMatchObject({
      key: 'gamma',
      coverage: { kind: 'conditions', conditions: 1, from: 100, to: 100 },
      variant_count: 1,
      group_type_index: null,
      can_edit: true,
      created_by: { id: expect.any(Number), email: expect.any(String) },
    })
    expect(results[1].coverage).toEqual({ kind: 'rollout', conditions: 1, from: 25, to: 25 })
    expect(results[2].coverage).toMatchObject({ kind: 'everyone' })
  })

  it('searches words in key, description and tags, filters, sorts and pages', async () => {
    expect(await keys('?search=WEB+variants')).toEqual(['gamma'])
    expect(await keys('?search=shop')).toEqual(['gamma', 'beta'])
    expect(await keys('?active=false')).toEqual(['beta'])
    expect(await keys('?type=multivariant')).toEqual(['gamma'])
    expect(await keys(`?tags=${encodeURIComponent('["Web"]')}`)).toEqual(['alpha'])
    expect(await keys('?order=key')).toEqual(['alpha', 'beta', 'gamma'])
    expect(await keys('?order=-key&limit=1&offset=1')).toEqual(['beta'])
    expect((await list('?limit=1')).next).toContain('offset=1')
  })

  it('finds letters in the order of the key or the description', async () => {
    expect(await keys('?letters=gM')).toEqual(['gamma'])
    expect(await keys('?letters=aa&order=key')).toEqual(['alpha', 'gamma'])
    expect(await keys('?letters=w+v+r')).toEqual(['gamma'])
    expect(await keys('?letters=ahpla')).toEqual([])
    expect(await keys('?letters=%25_%5C')).toEqual([])
    expect((await list(`?letters=${'a'.repeat(5000)}`)).count).toBe(0)
  })

  it('reports recent evaluations, and sorts by the last one', async () => {
    await expect.poll(async () => (await usage(`${ids.alpha}`)).body[0].last_called_at).not.toBeNull()
    await expect.poll(async () => (await usage(`${ids.gamma}`)).body[0].last_called_at).not.toBeNull()
    const { body } = await usage(`${ids.alpha},${ids.beta},999999`)
    const byId = new Map(body.map((each: { id: number }) => [each.id, each]))
    expect(byId.get(ids.alpha)).toMatchObject({ calls: [...Array(13).fill(0), 2] })
    expect(byId.get(ids.beta)).toMatchObject({ last_called_at: null, calls: Array(14).fill(0) })
    expect(body).toHaveLength(2)
    expect((await keys('?order=last_called_at'))[0]).toBe('beta')
    expect((await usage('1,x')).status).toBe(400)
    expect((await usage(Array(201).fill(1).join())).body).toMatchObject({ attr: 'ids', code: 'max_length' })
  })

  it('names the health checks that a flag does not pass', async () => {
    await s.patch(`${s.project}/feature_flags/${ids.beta}/details/`, { expected_end: '2020-01-01' })
    const { body } = await usage(`${ids.beta}`)
    expect(body[0].checks).toEqual(['no_owner', 'expired'])
  })

  it('counts tags and lists creators', async () => {
    const { body } = await s.get(`${s.project}/feature_flags/facets/`)
    expect(body.tags).toEqual([
      { name: 'Web', flag_count: 1, editable_count: 1 },
      { name: 'shop', flag_count: 2, editable_count: 2 },
      { name: 'web', flag_count: 2, editable_count: 2 },
    ])
    expect(body.creators).toHaveLength(1)
  })

  it('renames, merges and removes a tag on all flags, and keeps a version of each', async () => {
    const replace = (tag: string, replacement: string | null) =>
      s.post(`${s.project}/feature_flags/replace_tag/`, { tag, replacement })
    expect((await replace('Web', 'web')).body).toEqual({ updated: 1, remaining: 0, errors: [] })
    expect((await replace('shop', 'store')).body).toMatchObject({ updated: 2, remaining: 0 })
    expect((await replace('store', null)).body).toMatchObject({ updated: 2, remaining: 0 })
    const tags = (await list('?order=key')).results.map((flag: { tags: unknown[] }) => flag.tags)
    expect(tags).toEqual([['web'], [7], ['web']])
    const { body } = await s.get(`${s.project}/feature_flags/${ids.gamma}/activity/`)
    expect(body.count).toBe(3)
    expect((await replace('', null)).status).toBe(400)
  })

  it('counts the flags with a tag that a view-only member can edit', async () => {
    const flags = `${s.project}/feature_flags/`
    await s.patch(`${s.organization}/`, { default_access_level: 21 })
    const viewer = await s.join(`viewer-${dialect}`)
    const { body: other } = await s.post(flags, { key: 'other', tags: ['till'] })
    const till = async () => {
      const { body } = await viewer.get(`${flags}facets/`)
      return body.tags.find(({ name }: { name: string }) => name === 'till')
    }
    expect(await till()).toEqual({ name: 'till', flag_count: 1, editable_count: 0 })
    await viewer.post(flags, { key: 'own', tags: ['till'] })
    expect(await till()).toEqual({ name: 'till', flag_count: 2, editable_count: 1 })
    const role = { name: `Till ${dialect}`, feature_flags_access_level: 21 }
    const { body: team } = await s.post(`${s.organization}/roles/`, role)
    await s.post(`${s.organization}/roles/${team.id}/role_memberships/`, { user_uuid: viewer.uuid })
    await s.post(`${flags}${other.id}/role_access/`, { role_id: team.id })
    expect(await till()).toEqual({ name: 'till', flag_count: 2, editable_count: 2 })
  })

  it('sorts both lists by a call that came after they were requested', async () => {
    const lastCalled = async (path: string) =>
      (await s.get(`${s.project}/feature_flags/${path}?order=-last_called_at`)).body.results[0].key
    for (const path of ['', 'summaries/']) expect(await lastCalled(path), path).not.toBe('beta')
    const properties = { $feature_flag: 'beta', $feature_flag_response: false }
    const called = { event: '$feature_flag_called', distinct_id: 'ada', properties }
    await s.post('/batch/', { api_key: s.projectToken, batch: [called] })
    await expect.poll(async () => (await usage(`${ids.beta}`)).body[0].last_called_at).not.toBeNull()
    for (const path of ['', 'summaries/']) expect(await lastCalled(path), path).toBe('beta')
  })
})

describe('replacing a tag', () => {
  it('keeps the place and repeats nothing', () => {
    expect(replaceTag(['a', 'b', 'c'], 'b', 'x')).toEqual(['a', 'x', 'c'])
    expect(replaceTag(['a', 'b', 'c'], 'c', 'a')).toEqual(['a', 'b'])
    expect(replaceTag(['b', 'a'], 'b', 'a')).toEqual(['a'])
    expect(replaceTag(['a', { a: 1 }], 'a', null)).toEqual([{ a: 1 }])
  })
})
