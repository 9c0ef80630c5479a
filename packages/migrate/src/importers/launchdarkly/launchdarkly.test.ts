import { describe, expect, it } from 'vitest'
import { ImportFileError, type ImportOptions } from '../../model/model.ts'
import { convertLaunchDarkly } from './launchdarkly.ts'

const flag = (more: object) => ({
  on: true,
  salt: 'salt',
  variations: [true, false],
  offVariation: 1,
  fallthrough: { variation: 1 },
  ...more,
})
const convert = (flags: Record<string, object>, segments: object = {}, options: ImportOptions = {}) =>
  convertLaunchDarkly({ flags, segments }, options)
const converted = (more: object, segments: object = {}, options: ImportOptions = {}) => {
  const { flags, items } = convert({ f: flag(more) }, segments, options)
  return { filters: flags[0]?.filters, active: flags[0]?.active, item: items.at(-1)! }
}
const clause = (more: object) => ({ attribute: 'plan', op: 'in', values: ['pro'], ...more })
const rule = (more: object) => ({ clauses: [clause({})], variation: 0, ...more })

describe('flags of LaunchDarkly', () => {
  it('become conditions in the order of targets, rules and fallthrough', () => {
    const { filters, item } = converted({
      targets: [{ variation: 1, values: ['ann', 'bob'] }],
      rules: [rule({ description: 'Paying' }), rule({ clauses: [clause({ values: ['free'] })], variation: 1 })],
      fallthrough: { variation: 0 },
    })
    expect(item).toMatchObject({ status: 'exact', reasons: [] })
    expect(filters?.groups).toEqual([
      {
        properties: [{ key: 'distinct_id', type: 'person', operator: 'text_equals', value: ['ann', 'bob'] }],
        rollout_percentage: 100,
        description: 'Targets',
        value: false,
      },
      {
        properties: [{ key: 'plan', type: 'person', operator: 'json_one_of', value: ['pro'], any_item: true }],
        rollout_percentage: 100,
        description: 'Paying',
      },
      {
        properties: [{ key: 'plan', type: 'person', operator: 'json_one_of', value: ['free'], any_item: true }],
        rollout_percentage: 100,
        value: false,
      },
      { properties: [], rollout_percentage: 100 },
    ])
  })

  it('keep the buckets of a rollout: shares are sums over the same bucket', () => {
    const weights = [
      { variation: 2, weight: 20_000 },
      { variation: 0, weight: 30_000 },
      { variation: 1, weight: 50_000 },
    ]
    const { filters } = converted({
      variations: ['a', 'b', 'c'],
      fallthrough: { rollout: { variations: weights, bucketBy: 'company' } },
    })
    const bucketing = { algorithm: 'launchdarkly', seed: 'f.salt', by: 'company' }
    expect(filters?.groups).toEqual([
      { properties: [], rollout_percentage: 20, bucketing, variant: 'c' },
      { properties: [], rollout_percentage: 50, bucketing, variant: 'a' },
      { properties: [], rollout_percentage: 100, variant: 'b' },
    ])
    const seeded = converted({ fallthrough: { rollout: { seed: 61, variations: [weights[1], weights[2]] } } })
    expect(seeded.filters?.groups).toEqual([
      { properties: [], rollout_percentage: 30, bucketing: { algorithm: 'launchdarkly', seed: '61' } },
    ])
  })

  it('have numbers and JSON as payloads', () => {
    const { filters } = converted({ variations: [1.5, { a: [1] }, 'text', 'text'], fallthrough: { variation: 3 } })
    expect(filters).toMatchObject({
      groups: [{ variant: 'text' }],
      multivariate: {
        variants: [
          { key: '1.5', rollout_percentage: 0 },
          { key: 'variation-2', rollout_percentage: 0 },
          { key: 'text', rollout_percentage: 100 },
        ],
      },
      payloads: { '1.5': '1.5', 'variation-2': '{"a":[1]}' },
    })
  })

  it('serve their off variation while off, and keep their rules', () => {
    expect(converted({ on: false, rules: [rule({})] })).toMatchObject({
      active: false,
      filters: { groups: [{ properties: [{ key: 'plan' }] }] },
    })
    const served = converted({ on: false, variations: ['a', 'b'], rules: [rule({})] })
    expect(served.active).toBe(true)
    expect(served.filters?.groups).toMatchObject([
      { properties: [], variant: 'b', description: 'Off' },
      { variant: 'a' },
      { variant: 'b' },
    ])
    expect(converted({ offVariation: null }).item.status).toBe('approximate')
  })

  it('depend on their prerequisites, which come first', () => {
    const { flags } = convert({
      f: flag({ prerequisites: [{ key: 'p', variation: 1 }], fallthrough: { variation: 0 } }),
      p: flag({ variations: ['x', 'y'] }),
      off: flag({ prerequisites: [{ key: 'q', variation: 1 }], fallthrough: { variation: 0 } }),
      q: flag({ on: false }),
    })
    expect(flags.map(({ key, active }) => [key, active])).toEqual([
      ['p', true],
      ['f', true],
      ['off', false],
      ['q', false],
    ])
    expect(flags[1]?.filters.groups[0]?.properties).toEqual([
      { key: 'source:p', type: 'flag', operator: 'flag_evaluates_to', value: 'y' },
    ])
  })

  it.each<[string, object, string, string]>([
    [
      'an unknown operator',
      { rules: [rule({ clauses: [clause({ op: 'near' })] })] },
      '.rules[0].clauses[0].op',
      'near',
    ],
    [
      'a nested attribute',
      { rules: [rule({ clauses: [clause({ attribute: '/a/b', contextKind: 'user' })] })] },
      '.rules[0].clauses[0].attribute',
      'nested',
    ],
    ['a missing variation', { fallthrough: { variation: 7 } }, '.fallthrough.variation', 'variation 7'],
    ['a missing prerequisite', { prerequisites: [{ key: 'no', variation: 0 }] }, '.prerequisites[0].key', '"no"'],
    [
      'a missing segment',
      { rules: [rule({ clauses: [{ op: 'segmentMatch', values: ['s'] }] })] },
      '.rules[0].clauses[0].values',
      'There is no segment "s" in the file',
    ],
  ])('are refused for %s', (_name, more, path, message) => {
    const { item } = converted(more)
    expect(item).toMatchObject({ status: 'refused', reasons: [{ path: `flags.f${path}` }] })
    expect(item.reasons[0]?.message).toContain(message)
  })

  it('are refused with the flags that they depend on, and in cycles', () => {
    const { flags, items } = convert({
      a: flag({ prerequisites: [{ key: 'b', variation: 0 }], fallthrough: { variation: 0 } }),
      b: flag({ rules: [rule({ clauses: [clause({ op: 'near' })] })] }),
      c: flag({ prerequisites: [{ key: 'd', variation: 0 }], fallthrough: { variation: 0 } }),
      d: flag({ prerequisites: [{ key: 'c', variation: 0 }], fallthrough: { variation: 0 } }),
    })
    expect(flags).toEqual([])
    expect(items.map(({ status }) => status)).toEqual(['refused', 'refused', 'refused', 'refused'])
  })
})

describe('clauses', () => {
  const properties = (more: object, options: ImportOptions = {}) =>
    converted({ rules: [rule({ clauses: [clause(more)] })] }, {}, options).filters?.groups[0]?.properties

  const typed = { same_type: true, any_item: true }
  it.each<[string, unknown[], string, unknown, object]>([
    ['in', ['a', 5, true, {}], 'json_one_of', ['a', 5, true], { any_item: true }],
    ['startsWith', ['a', 'b'], 'text_starts_with', ['a', 'b'], typed],
    ['endsWith', ['a'], 'text_ends_with', ['a'], typed],
    ['contains', ['a'], 'text_contains', ['a'], typed],
    ['matches', ['^a', 'b$'], 'text_matches', '(?:^a)|(?:b$)', typed],
    ['lessThan', [3, 5], 'number_lt', 5, typed],
    ['greaterThanOrEqual', [3, 5], 'number_gte', 3, typed],
    ['before', [0, '2026-06-01'], 'date_before', '1970-01-01T00:00:00.000Z', { any_item: true }],
    ['semVerGreaterThan', ['2.0.0'], 'version_gt', '2.0.0', { any_item: true, partial_versions: true }],
    ['semVerEqual', ['2', 'v1', 'x'], 'version_eq', '2.0.0', { any_item: true, partial_versions: true }],
  ])('%s', (op, values, operator, value, mode) => {
    expect(properties({ op, values })).toEqual([{ key: 'plan', type: 'person', operator, value, ...mode }])
  })

  it('never match without the attribute, also when they are negated', () => {
    expect(properties({ negate: true })).toEqual([
      {
        key: 'plan',
        type: 'person',
        operator: 'type_is',
        value: ['string', 'number', 'boolean', 'list', 'object'],
      },
      { key: 'plan', type: 'person', operator: 'json_one_of', value: ['pro'], any_item: true, inverted: true },
    ])
  })

  it('read the attribute as it is written, where no kind is named', () => {
    expect(properties({ attribute: '/a/b' })).toMatchObject([{ key: '/a/b' }])
    expect(properties({ attribute: '/a~1b', contextKind: 'user' })).toMatchObject([{ key: 'a/b' }])
  })

  it('with several versions are alternatives', () => {
    const { filters, item } = converted({
      rules: [rule({ clauses: [clause({ op: 'semVerEqual', values: ['1.2', '2.0.0'] })] })],
    })
    expect(item).toMatchObject({ status: 'exact', reasons: [] })
    expect(filters?.groups.map(({ properties: [test] }) => test?.value)).toEqual(['1.2.0', '2.0.0'])
  })

  it('never match when none of their values can', () => {
    for (const more of [{ values: [] }, { op: 'lessThan', values: ['5'] }, { op: 'matches', values: ['['] }]) {
      expect(converted({ rules: [rule({ clauses: [clause(more)] })] })).toMatchObject({
        item: { status: 'exact' },
        filters: { groups: [] },
      })
    }
  })

  it('about other kinds of contexts are about groups, whose types are named', () => {
    expect(properties({ contextKind: 'org', attribute: 'key' })).toEqual([
      { key: '$group_key', type: 'group', group_type_index: 'source:org', operator: 'json_one_of', value: ['pro'] },
    ])
    expect(properties({ attribute: 'kind', values: ['org'] })).toMatchObject([
      { key: '$group_key', type: 'group', group_type_index: 'source:org', operator: 'type_is' },
    ])
  })

  it('about a sixth kind of contexts are refused', () => {
    const { item } = converted(
      { rules: [rule({ clauses: [clause({ contextKind: 'org' })] })] },
      {},
      { groupTypes: ['a', 'b', 'c', 'd', 'e'] },
    )
    expect(item).toMatchObject({ status: 'refused', reasons: [{ path: 'flags.f' }] })
    expect(item.reasons[0]?.message).toContain('Import into another project')
  })
})

describe('segments', () => {
  const inSegments = (values: string[], negate = false) => ({
    rules: [{ clauses: [{ op: 'segmentMatch', values, negate }], variation: 0 }],
  })

  it('become cohorts: included people, and those of rules who are not excluded', () => {
    const { cohorts, flags } = convert(
      { f: flag(inSegments(['beta'])) },
      { beta: { key: 'beta', included: ['ann'], excluded: ['bob'], rules: [{ clauses: [clause({})] }] } },
    )
    expect(flags[0]?.filters.groups[0]?.properties).toEqual([
      { key: 'id', type: 'cohort', operator: 'in', value: 'source:beta' },
    ])
    const people = (value: string[]) => ({ key: 'distinct_id', type: 'person', operator: 'text_equals', value })
    expect(cohorts[0]?.content).toEqual({
      filters: {
        properties: {
          type: 'OR',
          values: [
            { type: 'AND', values: [people(['ann'])] },
            {
              type: 'AND',
              values: [
                { ...people(['bob']), negation: true },
                { key: 'plan', type: 'person', operator: 'json_one_of', value: ['pro'], any_item: true },
              ],
            },
          ],
        },
      },
    })
  })

  it('are joined where a clause names several', () => {
    const segments = { a: { key: 'a', included: ['x'] }, b: { key: 'b', included: [] } }
    expect(convert({ f: flag(inSegments(['a', 'b'])) }, segments).cohorts.map(({ sourceId }) => sourceId)).toEqual([
      'a',
      'b',
      'any:a|b',
    ])
    expect(converted(inSegments(['a', 'b'], true), segments).filters?.groups[0]?.properties).toHaveLength(2)
  })

  it('of organizations and percentages become part of the conditions', () => {
    const segments = {
      orgs: { key: 'orgs', includedContexts: [{ contextKind: 'org', values: ['acme'] }] },
      part: { key: 'part', salt: 'x', rules: [{ clauses: [clause({})], weight: 5000 }] },
    }
    const { items, cohorts, flags } = convert(
      { a: flag(inSegments(['orgs'])), b: flag(inSegments(['part'])), c: flag(inSegments(['part'], true)) },
      segments,
    )
    expect(cohorts).toEqual([])
    expect(items.map(({ status }) => status)).toEqual(['exact', 'exact', 'exact', 'exact', 'exact'])
    const bucketing = { algorithm: 'launchdarkly', seed: 'part.x' }
    expect(flags.map(({ filters }) => filters.groups)).toMatchObject([
      [{ properties: [{ key: '$group_key', group_type_index: 'source:org', value: ['acme'] }] }],
      [{ properties: [{ key: 'plan' }], rollout_percentage: 5, bucketing }],
      [
        { properties: [{ key: 'plan', inverted: true }] },
        { properties: [], split: { bucketing, variants: [{ value: true, range: [0.05, 1] }] } },
      ],
    ])
  })

  it.each<[string, object, string, string]>([
    ['that are too big', { s: { key: 's', unbounded: true } }, 'segments.s.unbounded', 'create a cohort'],
    ['that are missing', {}, 'flags.f.rules[0].clauses[0].values', 'There is no segment "s" in the file'],
    [
      'in a cycle',
      {
        s: { key: 's', rules: [{ clauses: [{ op: 'segmentMatch', values: ['t'] }] }] },
        t: { key: 't', rules: [{ clauses: [{ op: 'segmentMatch', values: ['s'] }] }] },
      },
      'segments.t.rules[0].clauses[0].values',
      'lead back to it',
    ],
  ])('%s are refused with their cause, and the flags that use them', (_name, segments, path, message) => {
    const { items, cohorts, flags } = convert({ f: flag(inSegments(['s'])) }, segments)
    expect(items.at(-1)).toMatchObject({ kind: 'flag', status: 'refused', reasons: [{ path }] })
    expect(items.at(-1)?.reasons[0]?.message).toContain(message)
    expect([cohorts, flags]).toEqual([[], []])
  })
})

it('experiments keep their split, and say that events are recorded elsewhere', () => {
  const { item } = converted({
    fallthrough: { rollout: { kind: 'experiment', variations: [{ variation: 0, weight: 100_000 }] } },
  })
  expect(item).toMatchObject({ status: 'exact', reasons: [{ path: 'flags.f.fallthrough.rollout' }] })
})

describe('the response of the API', () => {
  const item = {
    key: 'checkout',
    name: 'Checkout',
    description: '',
    tags: ['shop'],
    archived: false,
    variations: [{ value: { a: 1 }, name: 'New' }, { value: { a: 2 } }],
    environments: {
      production: { on: true, salt: 's', offVariation: 1, fallthrough: { variation: 0 } },
      test: { on: false, salt: 't', offVariation: 1, fallthrough: { variation: 0 } },
    },
  }

  it('is read for one environment', () => {
    const { flags, environment } = convertLaunchDarkly({ items: [item] }, { environment: 'production' })
    expect(environment).toBe('production')
    expect(flags).toMatchObject([
      { key: 'checkout', name: 'Checkout', tags: ['shop'], filters: { payloads: { New: '{"a":1}' } } },
    ])
  })

  it('leaves archived flags out unless they are wanted', () => {
    const document = { items: [{ ...item, archived: true }] }
    expect(convertLaunchDarkly(document, { environment: 'test' })).toMatchObject({ items: [], archived: 1 })
    expect(convertLaunchDarkly(document, { environment: 'test', includeArchived: true }).flags).toMatchObject([
      { archived: true },
    ])
  })

  it.each<[string, unknown, string]>([
    ['no environment is chosen', { items: [item] }, 'items[0].environments'],
    ['it is another document', { features: {} }, ''],
    ['a flag is no object', { items: [{ ...item, environments: { test: item.environments.test } }, 5] }, 'items[1]'],
    ['only values are exported', { flagValues: {} }, 'flagValues'],
    ['it has one of several pages', { items: [item], totalCount: 2 }, 'items'],
    ['a page follows', { items: [item], _links: { next: { href: '/api/v2/flags/shop?offset=20' } } }, 'items'],
    [
      'its segments have further pages',
      { items: [{ ...item, environments: { test: item.environments.test } }], segments: { items: [], totalCount: 1 } },
      'segments.items',
    ],
  ])('is an error with its place when %s', (_name, document, path) => {
    const attempt = () => convertLaunchDarkly(document, {})
    expect(attempt).toThrow(ImportFileError)
    expect(attempt).toThrow(expect.objectContaining({ path }))
  })
})
