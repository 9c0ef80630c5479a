import { beforeAll, expect, it } from 'vitest'
import { expectAtomic, savedFlags } from '../../../testing/atomicity.ts'
import { onEachDatabase } from '../../../testing/databases.ts'
import { createFaultInjector } from '../../../testing/failing-statement.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

onEachDatabase('many flags at once', dialect => {
  const injector = createFaultInjector()
  const s = suiteScenario(dialect, { storage: injector })
  let flags: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
  })

  const make = async (key: string, more = {}) => (await s.post(flags, { key, ...more })).body
  const dependingOn = (id: number) => ({
    filters: {
      groups: [{ properties: [{ type: 'flag', key: String(id), operator: 'flag_evaluates_to', value: true }] }],
    },
  })

  it('lists the active flags that depend on one', async () => {
    const needed = await make('needed')
    const dependent = await make('dependent', { name: 'needs it', ...dependingOn(needed.id) })
    await make('off', { active: false, ...dependingOn(needed.id) })
    const { body } = await s.get(`${flags}${needed.id}/dependent_flags/`)
    expect(body).toEqual([{ id: dependent.id, key: 'dependent', name: 'needs it' }])
    expect((await s.get(`${flags}${dependent.id}/dependent_flags/`)).body).toEqual([])
    expect((await s.get(`${flags}999999/dependent_flags/`)).status).toBe(404)
  })

  it('gives keys for ids', async () => {
    const a = await make('key-a')
    const b = await make('key-b')
    const reply = await s.post(`${flags}bulk_keys/`, { ids: [a.id, String(b.id), 'x', 999999] })
    expect(reply.body).toEqual({ keys: { [a.id]: 'key-a', [b.id]: 'key-b' }, warning: expect.any(String) })
    expect((await s.post(`${flags}bulk_keys/`)).body).toEqual({ keys: {} })
    expect((await s.post(`${flags}bulk_keys/`, { ids: ['x'] })).status).toBe(400)
  })

  it('deletes what may go, dependents first, and names what must stay', async () => {
    const a = await make('del-a')
    const b = await make('del-b', dependingOn(a.id))
    const kept = await make('del-kept')
    await make('del-outside', dependingOn(kept.id))
    const reply = await s.post(`${flags}bulk_delete/`, { ids: [a.id, b.id, kept.id, 999999] })
    expect(reply.status).toBe(200)
    expect(reply.body.deleted).toEqual([
      { id: b.id, key: 'del-b', rollout_state: 'partial', active_variant: null },
      { id: a.id, key: 'del-a', rollout_state: 'fully_rolled_out', active_variant: null },
    ])
    expect(reply.body.errors).toEqual([
      { id: 999999, reason: 'Flag not found.' },
      { id: kept.id, key: 'del-kept', reason: expect.stringContaining('del-outside') },
    ])
    expect((await s.get(`${flags}${kept.id}/`)).body.deleted).toBe(false)
    expect((await s.get(`${flags}${a.id}/activity/`)).body.results[0].detail.changes).toHaveLength(1)
  })

  it('deletes by the filters of the list, and never by a filter that means nothing', async () => {
    await make('by-filter-1', { tags: ['bulk'] })
    await make('by-filter-2', { tags: ['bulk'] })
    for (const filters of [{}, { nonsense: 1 }, { type: 'nonsense' }, { tags: 'nonsense' }]) {
      expect((await s.post(`${flags}bulk_delete/`, { filters })).status).toBe(400)
    }
    expect((await s.post(`${flags}bulk_delete/`, {})).status).toBe(400)
    expect((await s.post(`${flags}bulk_delete/`, { ids: [], filters: { search: 'x' } })).status).toBe(400)
    expect((await s.post(`${flags}bulk_delete/`, { ids: Array(501).fill(1) })).status).toBe(400)
    const reply = await s.post(`${flags}bulk_delete/`, { filters: { tags: ['bulk'], search: 'by-filter' } })
    expect(reply.body.deleted).toHaveLength(2)
  })

  it('switches flags and changes their tags together', async () => {
    const a = await make('upd-a', { tags: ['x', 'y'] })
    const b = await make('upd-b', { active: false })
    const added = await s.post(`${flags}bulk_update/`, {
      ids: [a.id, b.id],
      active: false,
      tags: ['y', 'z', 'z'],
      tags_action: 'add',
    })
    expect(added.body).toEqual({
      updated: [
        { id: a.id, key: 'upd-a', active: false, tags: ['x', 'y', 'z'], version: 2 },
        { id: b.id, key: 'upd-b', active: false, tags: ['y', 'z'], version: 2 },
      ],
      errors: [],
    })
    const removed = await s.post(`${flags}bulk_update/`, { ids: [a.id], tags: ['x'], tags_action: 'remove' })
    expect(removed.body.updated[0].tags).toEqual(['y', 'z'])
    const set = await s.post(`${flags}bulk_update/`, { ids: [a.id], tags: [] })
    expect(set.body.updated[0].tags).toEqual([])
    expect((await s.post(`${flags}bulk_update/`, { ids: [a.id], tags_action: 'burn' })).status).toBe(400)
  })

  it('names flags that the caller may not edit', async () => {
    const flag = await make('guarded')
    const member = await s.join(`bulk-viewer-${dialect}`)
    await s.post(`${s.organization}/resource_access/`, { resource: 'feature flags', access_level: 21 })
    const reply = await member.post(`${flags}bulk_update/`, { ids: [flag.id], active: false })
    expect(reply.body).toEqual({ updated: [], errors: [{ id: flag.id, key: 'guarded', reason: expect.any(String) }] })
    const stranger = await s.stranger(`bulk-${dialect}`)
    const foreign = await stranger.post(`${stranger.project}/feature_flags/bulk_delete/`, { ids: [flag.id] })
    expect(foreign.body).toEqual({ deleted: [], errors: [{ id: flag.id, reason: 'Flag not found.' }] })
  })

  it('leaves nothing torn when it fails half way', async () => {
    const ids = [(await make('torn-a')).id, (await make('torn-b')).id]
    const reply = await expectAtomic(s, injector, savedFlags(2), () => s.post(`${flags}bulk_delete/`, { ids }))
    expect(reply.body.deleted).toHaveLength(2)
  })
})
