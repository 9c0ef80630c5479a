import fc from 'fast-check'
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

/** Every key that a definition can have, and one that is not known. */
const textKey = fc.constantFrom('a', 'plan', 'x.y')
const bucketing = fc.record(
  {
    algorithm: fc.constantFrom('launchdarkly', 'unleash', 'flagd'),
    seed: fc.string(),
    by: fc.string(),
    identifier_prefix: fc.string(),
    encoding: fc.constantFrom('utf-8', 'utf-16', 'latin-1'),
  },
  { requiredKeys: ['algorithm'] },
)
const property = fc.record(
  {
    key: textKey,
    type: fc.constantFrom('person', 'group', 'cohort', 'flag'),
    operator: fc.constantFrom('exact', 'text_equals', 'json_one_of', 'in_network', 'in', 'flag_evaluates_to'),
    value: fc.jsonValue(),
    inverted: fc.constant(true),
    negation: fc.boolean(),
    ignore_case: fc.boolean(),
    group_type_index: fc.nat(4),
    unknown: fc.jsonValue(),
  },
  { requiredKeys: ['key', 'type', 'operator', 'value'] },
)
const condition = fc.record(
  {
    properties: fc.array(property, { maxLength: 3 }),
    rollout_percentage: fc.oneof(fc.constant(null), fc.double({ min: 0, max: 100, noNaN: true })),
    variant: fc.oneof(fc.constant(null), fc.constant('a')),
    value: fc.constant(false),
    bucketing,
    split: fc.record({
      bucketing,
      variants: fc.array(fc.record({ variant: textKey, weight: fc.nat(100) }), { maxLength: 3 }),
    }),
    description: fc.string(),
    aggregation_group_type_index: fc.oneof(fc.constant(null), fc.nat(4)),
    sort_key: fc.string(),
    unknown: fc.jsonValue(),
  },
  { requiredKeys: ['properties', 'rollout_percentage'] },
)
const anyFilters = fc.record(
  {
    groups: fc.array(condition, { minLength: 1, maxLength: 3 }),
    multivariate: fc.record({
      variants: fc.array(fc.record({ key: textKey, name: fc.string(), rollout_percentage: fc.nat(100) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    payloads: fc.dictionary(textKey, fc.json()),
    bucketing,
    aggregation_group_type_index: fc.nat(4),
    super_groups: fc.array(condition, { maxLength: 1 }),
    holdout: fc.record({ id: fc.nat() }),
    early_exit: fc.boolean(),
    feature_enrollment: fc.boolean(),
    unknown: fc.jsonValue(),
  },
  { requiredKeys: ['groups'] },
)

describe('any definition', () => {
  it('is written as it was read, and an edit changes only what was edited', () => {
    fc.assert(
      fc.property(anyFilters, filters => {
        // As it comes over the wire.
        const raw = JSON.parse(JSON.stringify(filters)) as typeof filters
        const original = draftOf(sampleFlag({ filters: raw }))
        expect(JSON.parse(JSON.stringify(draftToWire(original).filters))).toEqual(raw)
        const [first, ...others] = original.filters.groups
        const edited = { ...original.filters, groups: [{ ...first!, rollout_percentage: 12 }, ...others] }
        const expected = { ...raw, groups: [{ ...raw.groups[0], rollout_percentage: 12 }, ...raw.groups.slice(1)] }
        expect(writeFilters(edited)).toEqual(expected)
      }),
      { numRuns: 200 },
    )
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
