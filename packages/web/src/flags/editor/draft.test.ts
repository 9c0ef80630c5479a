import { describe, expect, it } from 'vitest'
import { sampleFlag } from '../../testing/sample-flag.ts'
import { readFilters, withValueType, writeFilters } from '../filters.ts'
import { changesOf, draftOf, draftToWire, emptyDraft } from './draft.ts'

const stored = {
  groups: [
    {
      properties: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro'], custom: 1 }],
      rollout_percentage: 25,
      variant: 'test',
      note: 'kept',
    },
  ],
  multivariate: { variants: [{ key: 'test', rollout_percentage: 100, name: 'Test' }], salt: 'x' },
  payloads: { test: '{"a":1}' },
  aggregation_group_type_index: 2,
  holdout: { id: 4 },
}

describe('filters', () => {
  it('have a value type for OpenFeature only when one is chosen', () => {
    const typed = withValueType(readFilters(stored), 'object')
    expect(writeFilters(typed)).toEqual({ ...stored, return_type: 'object' })
    expect(writeFilters(withValueType(typed, ''))).toEqual(stored)
  })

  it.each([
    ['everything, unknown keys included', stored],
    ['conditions alone', { groups: [{ properties: [], rollout_percentage: null }] }],
    ['explicit nulls', { groups: [], multivariate: null, aggregation_group_type_index: null }],
    ['empty payloads', { groups: [], payloads: {} }],
  ])('round-trip: %s', (_name, raw) => {
    expect(writeFilters(readFilters(raw))).toEqual(raw)
  })

  it('of an unknown shape are read as absent', () => {
    const filters = readFilters({ groups: 'x', multivariate: [], payloads: 3, aggregation_group_type_index: '1' })
    expect(filters).toMatchObject({ groups: [], variants: [], payloads: {}, groupTypeIndex: null })
    const [condition] = readFilters({ groups: [{ properties: [7, { key: 1 }], rollout_percentage: '5' }] }).groups
    expect(condition).toMatchObject({
      properties: [{ key: '1', type: 'person', operator: 'exact' }],
      rollout_percentage: null,
    })
  })

  it('get the default operator of the property type', () => {
    const [condition] = readFilters({
      groups: [
        {
          properties: [
            { type: 'cohort', value: 1 },
            { type: 'flag', key: '2' },
            { type: 'group', key: 'a' },
          ],
        },
      ],
    }).groups
    expect(condition?.properties.map(({ operator }) => operator)).toEqual(['in', 'flag_evaluates_to', 'exact'])
  })

  it('lose multivariate and group when those are removed', () => {
    const filters = readFilters(stored)
    const written = writeFilters({ ...filters, variants: [], groupTypeIndex: null, payloads: {} })
    expect(written).not.toHaveProperty('multivariate')
    expect(written).not.toHaveProperty('aggregation_group_type_index')
    expect(written).toMatchObject({ payloads: {}, holdout: { id: 4 } })
  })
})

describe('a draft', () => {
  const flag = sampleFlag({ filters: stored, tags: ['web', 7], name: 'About' })

  it('of an unchanged flag has no changes', () => {
    expect(changesOf(draftOf(flag), draftOf(flag))).toEqual({})
  })

  it('sends only the changed fields', () => {
    const original = draftOf(flag)
    expect(changesOf({ ...original, name: 'New' }, original)).toEqual({ name: 'New' })
    expect(changesOf({ ...original, active: false, tags: [] }, original)).toEqual({ active: false, tags: [] })
  })

  it('sends whole filters when a condition changed', () => {
    const original = draftOf(flag)
    const [condition] = original.filters.groups
    const filters = { ...original.filters, groups: [{ ...condition!, rollout_percentage: 50 }] }
    expect(changesOf({ ...original, filters }, original)).toEqual({
      filters: { ...stored, groups: [{ ...stored.groups[0], rollout_percentage: 50 }] },
    })
  })

  it('sends nothing when an edit is taken back', () => {
    const original = draftOf(flag)
    const edited = { ...original, filters: readFilters(writeFilters(original.filters)), tags: [...flag.tags] }
    expect(changesOf(edited, original)).toEqual({})
  })

  it('reads bucketing and runtime', () => {
    expect(draftOf(sampleFlag({ bucketing_identifier: 'device_id' })).bucketing_identifier).toBe('device_id')
    expect(draftOf(sampleFlag({ bucketing_identifier: 'other' })).bucketing_identifier).toBe('distinct_id')
    expect(draftOf(sampleFlag({ bucketing_identifier: null })).bucketing_identifier).toBeNull()
  })

  it('of a new flag matches everyone', () => {
    expect(draftToWire({ ...emptyDraft, key: 'new' })).toMatchObject({
      key: 'new',
      filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
    })
  })
})
