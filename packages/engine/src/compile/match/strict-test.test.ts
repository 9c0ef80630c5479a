import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compile, isServerOnly } from '../../index.ts'
import { trustedRegex as regex } from '../../testing/regex.ts'

/** The strict operators. Single results are in docs/reference/flag-definition.md, which a test evaluates. */

const now = Date.parse('2026-07-01T00:00:00Z')

function project(properties: readonly unknown[], cohorts: readonly unknown[] = []) {
  const filters = { groups: [{ properties }] }
  return compile(
    {
      flags: [{ id: 1, key: 'flag', active: true, filters }],
      cohorts: cohorts.map((tree, index) => ({ id: index + 1, isStatic: false, filters: { properties: tree } })),
      groupTypes: {},
      propertyMatchingVersion: 2,
    },
    { regex },
  )
}

const matches = (filter: object, personProperties: Record<string, unknown>): boolean =>
  project([{ key: 'seen', type: 'person', ...filter }])
    .evaluate({ distinctId: 'user-1', personProperties }, { now })
    .get('flag')!.enabled

const anyFilter = fc.oneof(
  fc.record({
    operator: fc.constantFrom('text_equals', 'text_contains', 'text_starts_with', 'text_ends_with'),
    value: fc.oneof(fc.string(), fc.array(fc.oneof(fc.string(), fc.integer()))),
    ignore_case: fc.boolean(),
    same_type: fc.boolean(),
    any_item: fc.boolean(),
  }),
  fc.record({
    operator: fc.constantFrom('number_eq', 'number_gt', 'number_gte', 'number_lt', 'number_lte'),
    value: fc.integer({ min: -3, max: 3 }),
  }),
  fc.record({
    operator: fc.constantFrom('json_one_of', 'list_contains_any', 'list_contains_all'),
    value: fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 }),
  }),
  fc.record({ operator: fc.constant('type_is'), value: fc.constantFrom('string', 'number', 'list', 'object', 'null') }),
  fc.record({ operator: fc.constant('ip_in_cidr'), value: fc.constantFrom('10.0.0.0/8', ['::1', '1.2.3.4']) }),
  fc.record({ operator: fc.constantFrom('version_gt', 'version_lte'), value: fc.constantFrom('1.2.3', '1.0.0-a.1') }),
)

describe('strict operators', () => {
  it('match with `inverted` exactly what they do not match without it', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('10.1.2.3', '1.2.4', '1', ''),
      fc.integer({ min: -4, max: 4 }),
    )
    fc.assert(
      fc.property(anyFilter, fc.option(value, { nil: undefined }), (filter, seen) => {
        const properties = seen === undefined ? {} : { seen }
        expect(matches({ ...filter, inverted: true }, properties)).toBe(!matches(filter, properties))
      }),
    )
  })

  it('compare JSON values by structure, whatever the order of their keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const reordered = JSON.parse(JSON.stringify(value), (_key, item) =>
          typeof item === 'object' && item !== null && !Array.isArray(item)
            ? Object.fromEntries(Object.entries(item).reverse())
            : item,
        )
        expect(matches({ operator: 'json_one_of', value: [value] }, { seen: reordered })).toBe(true)
        expect(matches({ operator: 'list_contains_all', value: [value] }, { seen: [1, reordered] })).toBe(true)
      }),
    )
  })

  it('match a list with `any_item` when they match one of its items', () => {
    const items = fc.array(fc.jsonValue({ maxDepth: 0 }), { maxLength: 4 })
    fc.assert(
      fc.property(anyFilter, items, (filter, seen) => {
        fc.pre(!/^(list_|type_is)/.test(filter.operator))
        const single = seen.some(item => matches(filter, { seen: item }))
        expect(matches({ ...filter, any_item: true }, { seen })).toBe(single)
      }),
    )
    expect(matches({ operator: 'number_gt', value: 1, same_type: true }, { seen: '5' })).toBe(false)
    expect(matches({ operator: 'text_equals', value: '5', same_type: true }, { seen: 5 })).toBe(false)
  })

  it('find an address in every range that contains it, and in no other', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 1, max: 32 }), (address, prefix) => {
        const bits = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
        const flipped = (bits ^ (1 << (32 - prefix))) >>> 0
        const other = [24, 16, 8, 0].map(shift => (flipped >>> shift) & 255).join('.')
        const range = { operator: 'ip_in_cidr', value: `${address}/${prefix}` }
        expect(matches(range, { seen: address })).toBe(true)
        expect(matches(range, { seen: other })).toBe(false)
        const mapped = { operator: 'ip_in_cidr', value: `::ffff:${address}/${96 + prefix}` }
        expect(matches(mapped, { seen: `::ffff:${address}` })).toBe(true)
        expect(matches(mapped, { seen: `::ffff:${other}` })).toBe(false)
      }),
    )
  })

  it('order versions by precedence', () => {
    const ordered = ['1.0.0-1', '1.0.0-2', '1.0.0-10', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-beta', '1.0.0', '1.0.1']
    for (const [at, version] of ordered.entries()) {
      for (const [other, seen] of ordered.entries()) {
        expect(matches({ operator: 'version_lt', value: version }, { seen }), `${seen} < ${version}`).toBe(other < at)
      }
    }
  })

  it('leave flags to the server, also when only a cohort uses them', () => {
    const strict = { key: 'seen', type: 'person', operator: 'number_eq', value: 1 }
    const usual = { key: 'seen', type: 'person', operator: 'exact', value: '1' }
    const inCohort = { key: 'id', type: 'cohort', value: 1 }
    const planOf = (properties: unknown[], cohorts: unknown[]) => project(properties, cohorts).flags[0]!.plan!
    expect(planOf([strict], []).isServerOnly).toBe(true)
    expect(planOf([{ ...usual, inverted: true }], []).isServerOnly).toBe(true)
    expect(planOf([usual], []).isServerOnly).toBe(false)
    expect(planOf([inCohort], [{ type: 'AND', values: [strict] }]).isServerOnly).toBe(true)
    expect(planOf([inCohort], [{ type: 'AND', values: [usual] }]).isServerOnly).toBe(false)
    expect(isServerOnly({ groups: [{ properties: [strict] }] })).toBe(true)
    expect(isServerOnly({ groups: [{ value: false }] })).toBe(true)
  })

  it('leave flags that depend on such flags to the server, and decide them in the order of conditions', () => {
    const strict = { key: 'seen', type: 'person', operator: 'number_eq', value: 1 }
    const isOff = { key: '1', type: 'flag', operator: 'flag_evaluates_to', value: false }
    const variants = [
      { key: 'first', rollout_percentage: 100 },
      { key: 'second', rollout_percentage: 0 },
    ]
    const filters = {
      groups: [
        { properties: [isOff], variant: 'first' },
        { properties: [], variant: 'second' },
      ],
      multivariate: { variants },
    }
    const snapshot = compile(
      {
        flags: [
          { id: 1, key: 'parent', active: true, filters: { groups: [{ properties: [strict] }] } },
          { id: 2, key: 'child', active: true, filters },
        ],
        cohorts: [],
        groupTypes: {},
        propertyMatchingVersion: 2,
      },
      { regex },
    )
    const valueFor = (personProperties: Record<string, unknown>) =>
      snapshot.evaluate({ distinctId: 'a', personProperties }, { now }).get('child')!.value
    expect(valueFor({})).toBe('first')
    expect(valueFor({ seen: 1 })).toBe('second')
    expect(snapshot.isLeftToServer('child')).toBe(true)
  })

  it.each([
    ['text_equals', { a: 1 }, 'filters.groups[0].properties[0].value'],
    ['number_eq', 'many', 'filters.groups[0].properties[0].value'],
    ['number_modulo', [0, 1], 'filters.groups[0].properties[0].value'],
    ['version_gt', '1.2', 'filters.groups[0].properties[0].value'],
    ['date_or_now_after', 'soon', 'filters.groups[0].properties[0].value'],
    ['json_one_of', 'a', 'filters.groups[0].properties[0].value'],
    ['list_length', 'two', 'filters.groups[0].properties[0].value'],
    ['type_is', 'text', 'filters.groups[0].properties[0].value'],
    ['ip_in_cidr', '10.0.0.0/33', 'filters.groups[0].properties[0].value'],
    ['text_matches', '(', 'filters.groups[0].properties[0].value'],
  ])('%s rejects %j with the place of the value', (operator, value, path) => {
    const { issues } = project([{ key: 'seen', operator, value }])
    expect(issues.get(1)?.map(issue => issue.path)).toEqual([path])
  })
})

describe('conditions that turn a flag off', () => {
  const flag = (filters: unknown) =>
    compile(
      {
        flags: [{ id: 1, key: 'flag', active: true, filters }],
        cohorts: [],
        groupTypes: {},
        propertyMatchingVersion: 2,
      },
      { regex },
    )
  const beta = { key: 'beta', type: 'person', operator: 'json_one_of', value: [true] }

  it('decide before later conditions', () => {
    const snapshot = flag({ groups: [{ properties: [beta], value: false }, { properties: [] }] })
    const valueFor = (personProperties: Record<string, unknown>) =>
      snapshot.evaluate({ distinctId: 'a', personProperties }, { now }).get('flag')
    expect(valueFor({ beta: true })).toMatchObject({ value: false, reason: { code: 'condition_match' } })
    expect(valueFor({})).toMatchObject({ value: true })
    expect(snapshot.reachable[0]).toEqual(new Set([true, false]))
  })

  it('can be a part of a split', () => {
    const bucketing = { algorithm: 'growthbook_v2', seed: 'x' }
    const parts = [
      { value: false, weight: 50 },
      { value: true, weight: 50 },
    ]
    const snapshot = flag({ groups: [{ properties: [], split: { bucketing, variants: parts } }] })
    const values = Array.from(
      { length: 1000 },
      (_, index) => snapshot.evaluate({ distinctId: `user-${index}` }, { now }).get('flag')!.value,
    )
    const on = values.filter(Boolean).length
    expect(on).toBeGreaterThan(400)
    expect(on).toBeLessThan(600)
  })

  it('exclude a variant', () => {
    const { issues } = flag({
      groups: [{ properties: [], value: false, variant: 'a' }],
      multivariate: { variants: [{ key: 'a', rollout_percentage: 100 }] },
    })
    expect(issues.get(1)?.map(({ path }) => path)).toEqual(['filters.groups[0].value'])
  })
})
