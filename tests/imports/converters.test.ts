import { convertersBySource, ImportFileError, type ImportOptions, type ImportSource } from '@halyard/migrate'
import { compileImported, evaluateImported, OFF } from '@halyard/migrate/prove/evaluate-imported'
import { describe, expect, it } from 'vitest'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'

/** Small documents of each service: the values that people get, and what is refused. */

const now = Date.parse('2026-07-01T00:00:00Z')

interface Case {
  readonly name: string
  readonly source: ImportSource
  readonly document: unknown
  readonly options?: ImportOptions
  /** By flag: the id and properties of a person, and the value. */
  readonly values?: Readonly<Record<string, readonly (readonly [id: string, properties: object, value: unknown])[]>>
  /** By key of the item: a part of the first reason, and its path. */
  readonly refused?: Readonly<Record<string, readonly [message: string, path: string]>>
  readonly approximate?: readonly string[]
  readonly exact?: readonly string[]
  /** By key of the item: a part of the first reason of an exact one, or none. */
  readonly notes?: Readonly<Record<string, string | undefined>>
  readonly archived?: number
}

const unleashFeature = (more: object) => ({ features: [{ name: 'f', enabled: true, strategies: [], ...more }] })
const constraint = (more: object) => ({ contextName: 'plan', operator: 'IN', values: ['pro'], ...more })
const growthbookFeature = (rules: unknown[], defaultValue: unknown = false) => ({
  features: { f: { defaultValue, rules } },
})
const flagdFlag = (targeting: unknown) => ({
  flags: { f: { state: 'ENABLED', variants: { on: true, off: false }, defaultVariant: 'off', targeting } },
})
const halves = {
  fractional: [
    ['on', 50],
    ['off', 50],
  ],
}
const flagsmithState = (more: object) => ({ feature: { id: 1, name: 'f' }, django_id: 1, enabled: true, ...more })

const cases: readonly Case[] = [
  {
    name: 'compares with case, and inverts constraints for people without the property',
    source: 'unleash',
    document: unleashFeature({ strategies: [{ name: 'default', constraints: [constraint({ inverted: true })] }] }),
    values: {
      f: [
        ['a', { plan: 'pro' }, OFF],
        ['a', { plan: 'Pro' }, true],
        ['a', {}, true],
      ],
    },
  },
  {
    name: 'imports segments as cohorts and parents as dependencies',
    source: 'unleash',
    document: {
      features: [
        { name: 'parent', enabled: true, strategies: [{ name: 'userWithId', parameters: { userIds: 'ada, bob' } }] },
        {
          name: 'child',
          enabled: true,
          strategies: [{ name: 'default', segments: [7] }],
          dependencies: [{ feature: 'parent' }],
        },
      ],
      segments: [{ id: 7, name: 'Payers', constraints: [constraint({})] }],
    },
    values: {
      child: [
        ['ada', { plan: 'pro' }, true],
        ['eve', { plan: 'pro' }, OFF],
        ['ada', {}, OFF],
      ],
    },
  },
  {
    name: 'takes the environment of an export',
    source: 'unleash',
    options: { environment: 'production' },
    document: {
      features: [{ name: 'f' }],
      featureStrategies: [{ featureName: 'f', name: 'default', parameters: {}, constraints: [] }],
      featureEnvironments: [
        { featureName: 'f', environment: 'development', enabled: false },
        { featureName: 'f', environment: 'production', enabled: true },
      ],
    },
    values: { f: [['a', {}, true]] },
  },
  {
    name: 'refuses strategies that only the application knows',
    source: 'unleash',
    document: unleashFeature({ strategies: [{ name: 'ourOwn' }] }),
    refused: { f: ['The custom strategy "ourOwn"', 'features[0].strategies[0].name'] },
  },
  {
    name: 'says that random stickiness is not random any more',
    source: 'unleash',
    document: unleashFeature({
      strategies: [{ name: 'flexibleRollout', parameters: { rollout: '50', stickiness: 'random', groupId: 'g' } }],
    }),
    approximate: ['f'],
  },
  {
    name: 'forces false before true',
    source: 'growthbook',
    document: growthbookFeature([{ condition: { beta: false }, force: false }, { force: true }]),
    values: {
      f: [
        ['a', { beta: 0 }, OFF],
        ['a', { beta: 'yes' }, true],
        ['a', {}, true],
      ],
    },
  },
  {
    name: 'keeps JSON values and converts types as GrowthBook does',
    source: 'growthbook',
    document: growthbookFeature([{ condition: { age: 0 }, force: { size: 1 } }], { size: 2 }),
    values: {
      f: [
        ['a', {}, { size: 1 }],
        ['a', { age: '0' }, { size: 1 }],
        ['a', { age: 3 }, { size: 2 }],
      ],
    },
  },
  {
    name: 'refuses nested attributes and namespaces that start later',
    source: 'growthbook',
    document: {
      features: {
        nested: { defaultValue: 1, rules: [{ condition: { 'a.b': 1 }, force: 2 }] },
        later: { defaultValue: 1, rules: [{ variations: [1, 2], namespace: ['n', 0.5, 1] }] },
      },
    },
    refused: {
      nested: ['Properties are not nested', 'features.nested.rules[0].condition.a.b'],
      later: ['A namespace must start at 0 here', 'features.later.rules[0].namespace'],
    },
  },
  {
    name: 'lets the segment with the lowest priority decide, and identities before segments',
    source: 'flagsmith',
    document: {
      api_key: 'env',
      project: {
        segments: [2, 1].map(id => ({
          id,
          name: `segment ${id}`,
          rules: [{ type: 'ALL', conditions: [{ operator: 'EQUAL', property_: 'plan', value: 'pro' }], rules: [] }],
          feature_states: [
            flagsmithState({ feature_state_value: `s${id}`, feature_segment: { priority: id === 2 ? 0 : 1 } }),
          ],
        })),
      },
      feature_states: [flagsmithState({ feature_state_value: 'usual' })],
      identity_overrides: [{ identifier: 'ada', identity_features: [flagsmithState({ feature_state_value: 'hers' })] }],
    },
    values: {
      f: [
        ['eve', { plan: 'pro' }, 's2'],
        ['eve', {}, 'usual'],
        ['ada', { plan: 'pro' }, 'hers'],
      ],
    },
  },
  {
    name: 'refuses paths of the context that people do not have',
    source: 'flagsmith',
    document: {
      api_key: 'env',
      project: {
        segments: [
          {
            id: 1,
            name: 's',
            rules: [{ type: 'ALL', conditions: [{ operator: 'EQUAL', property_: '$.identity.key', value: 'x' }] }],
            feature_states: [flagsmithState({})],
          },
        ],
      },
      feature_states: [flagsmithState({})],
    },
    refused: {
      s: ['"$.identity.key" of the context', 'project.segments[0].rules[0].property_'],
      f: ['The segment "segment:1" that it depends on', 'f'],
    },
  },
  {
    name: 'converts targeting with nested conditions',
    source: 'flagd',
    document: flagdFlag({
      if: [{ and: [{ '===': [{ var: 'plan' }, 'pro'] }, { '!': [{ in: ['x', { var: 'tags' }] }] }] }, 'on'],
    }),
    values: {
      f: [
        ['a', { plan: 'pro' }, true],
        ['a', { plan: 'pro', tags: ['x'] }, OFF],
        ['a', {}, OFF],
      ],
    },
  },
  {
    name: 'does not guess the version of flagd',
    source: 'flagd',
    document: flagdFlag({
      fractional: [
        ['on', 50],
        ['off', 50],
      ],
    }),
    refused: { f: ['`fractional` differs between versions of flagd', 'flags.f.targeting.fractional'] },
  },
  {
    name: 'refuses the older hash of flagd',
    source: 'flagd',
    options: { flagdVersion: '0.11.4' },
    document: flagdFlag({
      fractional: [
        ['on', 50],
        ['off', 50],
      ],
    }),
    refused: { f: ['`fractional` of flagd before 0.15.0', 'flags.f.targeting.fractional'] },
  },
  ...['0.15.0', '0.16.1'].map(flagdVersion => ({
    name: `has the hash of flagd ${flagdVersion}`,
    source: 'flagd' as const,
    options: { flagdVersion },
    document: flagdFlag(halves),
    exact: ['f'],
  })),
  {
    name: 'does not claim the hash of versions that were not compared',
    source: 'flagd',
    options: { flagdVersion: '0.17.0' },
    document: flagdFlag(halves),
    approximate: ['f'],
  },
  {
    name: 'declares that flagd hashes lists, too',
    source: 'flagd',
    options: { flagdVersion: '0.15.0' },
    document: flagdFlag({ fractional: [{ var: 'team' }, ...halves.fractional] }),
    approximate: ['f'],
  },
  {
    name: 'declares texts that OpenFeature does not get, and notes other names of variants',
    source: 'flagd',
    document: {
      flags: {
        text: { state: 'ENABLED', variants: { full: 'x', short: 'y' }, defaultVariant: 'full' },
        empty: { state: 'ENABLED', variants: { full: 'x', none: '' }, defaultVariant: 'none' },
        same: { state: 'ENABLED', variants: { x: 'x', y: 'y' }, defaultVariant: 'x' },
      },
    },
    values: { text: [['a', {}, 'x']], empty: [['a', {}, '']], same: [['a', {}, 'x']] },
    exact: ['text', 'same'],
    approximate: ['empty'],
    notes: { text: 'OpenFeature reports "x", not "full"', same: undefined },
  },
  {
    name: 'notes that the schedule of a rule is not imported',
    source: 'growthbook',
    document: growthbookFeature([{ force: true, scheduleRules: [{ timestamp: null, enabled: true }] }]),
    exact: ['f'],
    notes: { f: 'without its schedule' },
  },
  {
    name: 'counts archived features that are left out',
    source: 'unleash',
    document: { features: [{ name: 'f', enabled: true, strategies: [], archived: true }] },
    archived: 1,
  },
  {
    name: 'declares patterns that count characters',
    source: 'flagsmith',
    document: {
      feature_states: [flagsmithState({ enabled: false })],
      project: {
        segments: [
          {
            id: 1,
            name: 's',
            rules: [{ type: 'ALL', conditions: [{ property_: 'city', operator: 'REGEX', value: '^.{2,3}$' }] }],
            feature_states: [flagsmithState({ enabled: true })],
          },
        ],
      },
    },
    values: {
      f: [
        ['a', { city: 'ab' }, true],
        ['a', { city: 'a' }, OFF],
      ],
    },
    approximate: ['s', 'f'],
  },
  {
    name: 'converts queries and percentages in the reverse order of names',
    source: 'go-feature-flag',
    document: {
      f: {
        variations: { A: 'first', B: 'second' },
        targeting: [{ query: '(plan eq "PRO" or age ge 18) and country in ["DE", "FR"]', variation: 'B' }],
        defaultRule: { percentage: { A: 100, B: 0 } },
      },
    },
    values: {
      f: [
        ['a', { plan: 'pro', country: 'DE' }, 'second'],
        ['a', { age: 18, country: 'FR' }, 'second'],
        ['a', { age: '18', country: 'FR' }, 'first'],
        ['a', { plan: 'pro', country: 'de' }, 'first'],
      ],
    },
  },
  {
    name: 'refuses rollouts over time',
    source: 'go-feature-flag',
    document: { f: { variations: { A: true }, defaultRule: { progressiveRollout: {} } } },
    refused: { f: ['A progressive rollout', 'f.defaultRule.progressiveRollout'] },
  },
  {
    name: 'converts boolean flags with segments and a default',
    source: 'flipt',
    document: {
      flags: [
        {
          key: 'f',
          type: 'BOOLEAN_FLAG_TYPE',
          enabled: true,
          rollouts: [{ segment: { key: 's', value: false } }, { threshold: { percentage: 0, value: false } }],
        },
      ],
      segments: [
        {
          key: 's',
          match_type: 'ALL_MATCH_TYPE',
          constraints: [{ type: 'STRING_COMPARISON_TYPE', property: 'plan', operator: 'prefix', value: 'pro' }],
        },
      ],
    },
    values: {
      f: [
        ['a', { plan: ' pro-1' }, OFF],
        ['a', { plan: 'free' }, true],
        ['a', {}, true],
      ],
    },
  },
  {
    name: 'takes the text 0 for true, in ids too',
    source: 'growthbook',
    document: growthbookFeature([{ condition: { id: true, plan: true }, force: true }]),
    values: {
      f: [
        ['0', { plan: '0' }, true],
        ['0', { plan: 0 }, OFF],
        ['a', { plan: '' }, OFF],
      ],
    },
  },
  {
    name: 'declares that numbers in a saved group of ids become text',
    source: 'growthbook',
    document: {
      ...growthbookFeature([{ condition: { $savedGroup: { id: 'g', attributeKey: 'id' } }, force: true }]),
      savedGroups: { g: { type: 'list', values: [0, 'a'] } },
    },
    values: {
      f: [
        ['a', {}, true],
        ['b', {}, OFF],
      ],
    },
    approximate: ['f'],
  },
  {
    name: 'refuses constraints on dates',
    source: 'flipt',
    document: {
      flags: [],
      segments: [
        { key: 's', constraints: [{ type: 'DATETIME_COMPARISON_TYPE', property: 'd', operator: 'lt', value: 'x' }] },
      ],
    },
    refused: { s: ['"lt" of DATETIME', 'segments[0].constraints[0].operator'] },
  },
  {
    name: 'skips a rule when an attribute is missing, also a negated one',
    source: 'configcat',
    document: {
      f: {
        f: {
          t: 1,
          v: { s: 'usual' },
          r: [{ c: [{ u: { a: 'Email', c: 29, s: 'a@b.c' } }], s: { v: { s: 'other' } } }],
        },
      },
    },
    values: {
      f: [
        ['a', { Email: 'x' }, 'other'],
        ['a', { Email: 'a@b.c' }, 'usual'],
        ['a', {}, 'usual'],
      ],
    },
  },
  {
    name: 'refuses values that are hashed in the file',
    source: 'configcat',
    document: {
      f: { f: { t: 0, v: { b: false }, r: [{ c: [{ u: { a: 'Email', c: 16, l: ['ab'] } }], s: { v: { b: true } } }] } },
    },
    refused: { f: ['The values of this condition are hashed', 'f.f.r[0].c[0].u.c'] },
  },
]

describe.each(cases)(
  '$source',
  ({ name, source, document, options = {}, values = {}, refused = {}, approximate = [], exact = [], ...more }) => {
    it(name, () => {
      const project = convertersBySource[source]!(document, options)
      const snapshot = compileImported(project, linearRegex)
      expect([...snapshot.issues.values()].flat()).toEqual([])
      for (const [key, people] of Object.entries(values)) {
        for (const [id, attributes, value] of people) {
          const person = { id, attributes: attributes as Record<string, unknown> }
          const found = evaluateImported(project, snapshot, person, now).get(key)
          expect(found, `${key} for ${id} ${JSON.stringify(attributes)}`).toEqual(value)
        }
      }
      const refusals = project.items.filter(({ status }) => status === 'refused')
      expect(refusals.map(({ sourceKey }) => sourceKey).sort()).toEqual(Object.keys(refused).sort())
      for (const { sourceKey, reasons } of refusals) {
        const [message, path] = refused[sourceKey]!
        expect(reasons[0]!.message).toContain(message)
        expect(reasons[0]!.path).toBe(path)
      }
      const withStatus = (wanted: string) =>
        project.items.filter(({ status }) => status === wanted).map(({ sourceKey }) => sourceKey)
      if (approximate.length > 0) expect(withStatus('approximate')).toEqual(approximate)
      if (exact.length > 0) expect(withStatus('exact')).toEqual(exact)
      for (const [key, note] of Object.entries(more.notes ?? {})) {
        const [reason] = project.items.find(({ sourceKey }) => sourceKey === key)!.reasons
        if (note === undefined) expect(reason).toBeUndefined()
        else expect(reason?.message).toContain(note)
      }
      if (more.archived !== undefined) expect(project).toMatchObject({ archived: more.archived, flags: [] })
    })
  },
)

it.each(['unleash', 'growthbook', 'flagsmith', 'flagd', 'go-feature-flag', 'flipt', 'configcat'] as const)(
  '%s names the place in a file that is not one of the service',
  source => {
    for (const document of [null, 'text', [], { flags: 5, features: 5, feature_states: 5, f: 5 }]) {
      expect(() => convertersBySource[source]!(document, {})).toThrow(ImportFileError)
    }
  },
)
