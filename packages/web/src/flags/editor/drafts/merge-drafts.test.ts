import { describe, expect, it } from 'vitest'
import { readFilters, writeFilters } from '../../filters.ts'
import { type Draft, emptyDraft } from '../draft.ts'
import { mergeDrafts } from './merge-drafts.ts'

const condition = (rollout_percentage: number, key?: string) => ({
  properties: key === undefined ? [] : [{ key, type: 'person', operator: 'exact', value: ['x'] }],
  rollout_percentage,
})
const draft = (change: Partial<Draft> = {}, filters: Record<string, unknown> = {}): Draft => ({
  ...emptyDraft,
  key: 'flag',
  ...change,
  filters: readFilters({ groups: [condition(10), condition(20)], ...filters }),
})
const groupsOf = ({ filters }: Draft) => filters.groups.map(group => group.rollout_percentage)

describe('merging two edits of a flag', () => {
  it('takes each change that only one side made', () => {
    const theirs = draft({ name: 'theirs', active: true }, { groups: [condition(50), condition(20)] })
    const mine = draft({ key: 'mine' }, { groups: [condition(10), condition(90)], payloads: { true: '1' } })
    const { draft: merged, collisions } = mergeDrafts(draft(), theirs, mine)
    expect(collisions).toEqual([])
    expect(merged).toMatchObject({ name: 'theirs', active: true, key: 'mine' })
    expect(groupsOf(merged)).toEqual([50, 90])
    expect(merged.filters.payloads).toEqual({ true: '1' })
  })

  it('reports what both changed, and keeps mine until decided', () => {
    const theirs = draft({ name: 'theirs' }, { groups: [condition(50), condition(20)] })
    const mine = draft({ name: 'mine' }, { groups: [condition(60), condition(20)] })
    const { draft: merged, collisions } = mergeDrafts(draft(), theirs, mine)
    expect(collisions.map(({ path }) => path)).toEqual(['name', 'filters.groups[0]'])
    expect(collisions[0]).toMatchObject({ base: '', theirs: 'theirs', mine: 'mine' })
    expect(merged.name).toBe('mine')
    expect(groupsOf(merged)).toEqual([60, 20])
  })

  it('follows the choices', () => {
    const theirs = draft({ name: 'theirs' }, { groups: [condition(50), condition(20)] })
    const mine = draft({ name: 'mine' }, { groups: [condition(60), condition(20)] })
    const { draft: merged, collisions } = mergeDrafts(draft(), theirs, mine, {
      name: 'theirs',
      'filters.groups[0]': 'mine',
    })
    expect(collisions).toEqual([])
    expect(merged.name).toBe('theirs')
    expect(groupsOf(merged)).toEqual([60, 20])
  })

  it('merges lists of conditions as a whole when one was added or removed', () => {
    const theirs = draft({}, { groups: [condition(10), condition(20), condition(30)] })
    const mine = draft({ name: 'mine' })
    const alone = mergeDrafts(draft(), theirs, mine)
    expect([groupsOf(alone.draft), alone.collisions]).toEqual([[10, 20, 30], []])
    const both = mergeDrafts(draft(), theirs, draft({}, { groups: [condition(10), condition(25)] }))
    expect(both.collisions.map(({ path }) => path)).toEqual(['filters.groups'])
  })

  it('merges tags as a set and does not collide over equal edits', () => {
    const base = draft({ tags: ['a', 'b'] })
    const { draft: merged, collisions } = mergeDrafts(
      base,
      draft({ tags: ['b', 'theirs'], name: 'same' }),
      draft({ tags: ['a', 'b', 'mine'], name: 'same' }),
    )
    expect(collisions).toEqual([])
    expect(merged.tags).toEqual(['b', 'theirs', 'mine'])
    expect(merged.name).toBe('same')
  })

  it('does not take a built-in property for a payload', () => {
    const before = draft({}, { payloads: { constructor: '1' } })
    const merged = mergeDrafts(before, before, draft({}, { payloads: { toString: '2' } })).draft
    expect(merged.filters.payloads).toEqual({ toString: '2' })
  })

  it('keeps unknown keys of the filters', () => {
    const base = draft({}, { custom: 1 })
    const merged = mergeDrafts(base, draft({}, { custom: 2 }), draft({ name: 'mine' }, { custom: 1 })).draft
    expect(writeFilters(merged.filters)).toMatchObject({ custom: 2 })
  })
})
