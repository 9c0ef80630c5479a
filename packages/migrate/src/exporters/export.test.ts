import { compile, type Definitions } from '@halyard/engine'
import { FlagdCore } from '@openfeature/flagd-core'
import { describe, expect, it } from 'vitest'
import { convertPostHog } from '../importers/posthog/posthog.ts'
import type { Condition, FlagFilters, Property } from '../model/model.ts'
import type { ExportedCohort, ExportedFlag } from './exported.ts'
import { exportFlagd } from './flagd.ts'
import { exportManifest } from './openfeature-manifest.ts'
import { exportPostHog } from './posthog.ts'

const flag = (id: number, key: string, filters: FlagFilters, more: Partial<ExportedFlag> = {}): ExportedFlag => ({
  id,
  key,
  name: '',
  active: true,
  filters,
  tags: [],
  ensureExperienceContinuity: false,
  bucketingIdentifier: null,
  ...more,
})
const project = (flags: ExportedFlag[], cohorts: ExportedCohort[] = []) => ({ flags, cohorts, groupTypes: {} })
const one = (condition: Partial<Condition>): FlagFilters => ({ groups: [{ properties: [], ...condition }] })
const property = (key: string, operator: string, value: unknown): Property => ({ key, type: 'person', operator, value })
const variants = (...keys: string[]) => ({
  multivariate: { variants: keys.map((key, index) => ({ key, rollout_percentage: index === 0 ? 100 : 0 })) },
})

/** A small generator, so that a failure can be repeated. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

const silent = { error() {}, warn() {}, info() {}, debug() {} }

describe('flagd', () => {
  const flags = [
    flag(1, 'equals', one({ properties: [property('plan', 'text_equals', ['pro', 'team'])] })),
    flag(2, 'not', one({ properties: [{ ...property('plan', 'json_one_of', ['pro']), inverted: true }] })),
    flag(3, 'numbers', one({ properties: [property('age', 'number_gte', 18), property('age', 'number_lt', 60)] })),
    flag(4, 'texts', one({ properties: [property('email', 'text_ends_with', ['@a.com', '.org'])] })),
    flag(5, 'versions', one({ properties: [property('app', 'version_gte', '2.1.0')] })),
    flag(6, 'excluded', {
      groups: [
        { properties: [property('plan', 'text_equals', 'free')], value: false },
        { properties: [property('age', 'is_set', 'is_set')] },
      ],
    }),
    flag(7, 'sizes', {
      ...variants('s', 'm', 'l'),
      payloads: { s: '1', m: '2.5', l: '30' },
      groups: [
        { properties: [property('plan', 'text_equals', 'pro')], variant: 'l' },
        { properties: [property('age', 'number_gt', 30)], variant: 'm' },
        { properties: [property('distinct_id', 'text_starts_with', 'user-1')] },
      ],
    }),
    flag(8, 'split', {
      ...variants('a', 'b'),
      groups: [
        {
          properties: [],
          split: {
            bucketing: { algorithm: 'flagd', seed: 'split', encoding: 'latin-1' },
            variants: [
              { variant: 'a', weight: 30 },
              { variant: 'b', weight: 70 },
            ],
          },
        },
      ],
    }),
    flag(9, 'cohort', one({ properties: [{ key: 'id', type: 'cohort', operator: 'in', value: 1 }] })),
    flag(10, 'everyone', one({})),
    flag(11, 'no-one', one({ rollout_percentage: 0 })),
  ]
  const cohorts: ExportedCohort[] = [
    {
      id: 1,
      name: 'Adults on a plan',
      isStatic: false,
      filters: {
        properties: {
          type: 'OR',
          values: [
            { type: 'AND', values: [property('age', 'number_gt', 50)] },
            {
              type: 'AND',
              values: [
                property('plan', 'text_equals', 'team'),
                { ...property('age', 'number_lt', 18), negation: true },
              ],
            },
          ],
        },
      },
    },
  ]

  it('evaluates an export like Halyard, for random contexts', () => {
    const { document, items } = exportFlagd(project(flags, cohorts))
    expect(items.filter(({ status }) => status !== 'exact')).toEqual([])
    const core = new FlagdCore(undefined, silent)
    core.setConfigurations(JSON.stringify(document))
    const definitions: Definitions = { flags, cohorts, groupTypes: {}, propertyMatchingVersion: 2 }
    const snapshot = compile(definitions, { regex: () => ({ size: 1, test: () => false }) })
    const seed = Date.now() % 1_000_000
    const random = randomOf(seed)
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!
    for (let round = 0; round < 500; round++) {
      const properties = Object.fromEntries(
        [
          ['plan', pick(['pro', 'team', 'free', 'Pro', undefined])],
          ['age', pick([17, 18, 30, 31, 59, 60, 61, undefined])],
          ['email', pick(['x@a.com', 'x@A.com', 'y.org', undefined])],
          ['app', pick(['2.1.0', '2.0.9', '2.1.0-beta', '10.0.0', undefined])],
        ].filter(([, value]) => value !== undefined),
      )
      const distinctId = `user-${Math.floor(random() * 1000)}`
      const results = snapshot.evaluate({ distinctId, personProperties: properties }, { now: 0 })
      for (const { key, filters } of flags) {
        const { enabled, variant, payload } = results.get(key)!
        const ours = variant === null ? enabled : payload === null ? variant : JSON.parse(payload)
        const context = { targetingKey: distinctId, ...properties }
        const isVariant = filters.multivariate !== undefined
        const theirs = isVariant
          ? key === 'sizes'
            ? core.resolveNumberEvaluation(key, -1, context, silent).value
            : core.resolveStringEvaluation(key, 'none', context, silent).value
          : core.resolveBooleanEvaluation(key, false, context, silent).value
        // Where no condition matches, both serve the default of the caller.
        const expected = isVariant && !enabled ? (key === 'sizes' ? -1 : 'none') : ours
        expect([seed, key, context, theirs]).toEqual([seed, key, context, expected])
      }
    }
  })

  it.each<[string, FlagFilters, string]>([
    ['partial rollouts', one({ rollout_percentage: 30 }), 'partial rollout'],
    ['dependencies', one({ properties: [{ key: '2', type: 'flag', value: true }] }), 'dependencies'],
    ['regular expressions', one({ properties: [property('a', 'regex', 'x')] }), 'regex'],
    ['groups', { ...one({}), aggregation_group_type_index: 0 }, 'groups'],
    ['variants of several types', { ...one({}), ...variants('a', 'b'), payloads: { a: '1' } }, 'types'],
  ])('refuses %s', (_name, filters, reason) => {
    const { document, items } = exportFlagd(project([flag(1, 'f', filters)]))
    expect(document.flags).toEqual({})
    expect(items).toMatchObject([{ key: 'f', status: 'refused', reasons: [expect.stringContaining(reason)] }])
  })

  it('says that text is compared with regard to case', () => {
    const { items } = exportFlagd(project([flag(1, 'f', one({ properties: [property('a', 'exact', ['x'])] }))]))
    expect(items).toMatchObject([{ status: 'approximate', reasons: [expect.stringContaining('case')] }])
  })
})

describe('an OpenFeature manifest', () => {
  it('has types and defaults', () => {
    const { document, items } = exportManifest(
      project([
        flag(1, 'on', one({}), { name: 'A switch' }),
        flag(2, 'text', { ...one({}), ...variants('a', 'b') }),
        flag(3, 'float', { ...one({}), ...variants('a', 'b'), payloads: { a: '1', b: '2.5' } }),
        flag(4, 'mixed', { ...one({}), ...variants('a', 'b'), payloads: { a: '1' } }),
      ]),
    )
    expect(document.flags).toEqual({
      on: { flagType: 'boolean', defaultValue: false, description: 'A switch' },
      text: { flagType: 'string', defaultValue: 'a' },
      float: { flagType: 'float', defaultValue: 1 },
    })
    expect(items.map(({ status }) => status)).toEqual(['exact', 'exact', 'exact', 'refused'])
  })
})

describe('PostHog', () => {
  it('can be imported again, without what PostHog lacks', () => {
    const cohort: ExportedCohort = {
      id: 3,
      name: 'Beta',
      isStatic: false,
      filters: { properties: { type: 'OR', values: [{ type: 'AND', values: [property('beta', 'exact', 'true')] }] } },
    }
    const kept = flag(7, 'kept', one({ properties: [{ key: 'id', type: 'cohort', operator: 'in', value: 3 }] }))
    const { document, items } = exportPostHog(
      project(
        [
          kept,
          flag(8, 'strict', one({ properties: [property('a', 'text_equals', 'x')] })),
          flag(9, 'bucketed', { ...one({}), bucketing: { algorithm: 'unleash', seed: 'x' } }),
        ],
        [cohort],
      ),
    )
    expect(items.map(({ status }) => status)).toEqual(['exact', 'refused', 'refused'])
    const { flags, cohorts } = convertPostHog(document, {})
    expect(flags).toMatchObject([{ sourceId: '7', key: 'kept' }])
    expect(cohorts).toMatchObject([{ sourceId: '3', content: { filters: cohort.filters } }])
  })

  it('refuses flags of cohorts about what people did, as flagd does', () => {
    const did = {
      type: 'behavioral',
      key: 'paid',
      value: 'performed_event',
      time_value: 7,
      time_interval: 'day',
    } as const
    const filters = { properties: { type: 'AND' as const, values: [did] } }
    const cohort: ExportedCohort = { id: 3, name: 'Payers', isStatic: false, filters }
    const payer = flag(7, 'payer', one({ properties: [{ key: 'id', type: 'cohort', operator: 'in', value: 3 }] }))
    for (const { items } of [exportPostHog(project([payer], [cohort])), exportFlagd(project([payer], [cohort]))]) {
      expect(items.map(({ status }) => status)).toEqual(['refused'])
    }
  })
})
