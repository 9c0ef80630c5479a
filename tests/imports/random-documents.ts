import type { ImportSource } from '@halyard/migrate'
import type { Random } from '@halyard/migrate/prove/random'
import { launchdarkly } from './random-launchdarkly.ts'
import {
  dates,
  type Json,
  keys,
  numbers,
  patterns,
  properties,
  ranges,
  texts,
  versions,
  weights,
} from './random-values.ts'

/** Documents of each service with all that the converters claim to convert. */

const documents: Readonly<Partial<Record<ImportSource, (random: Random) => unknown>>> = {
  launchdarkly,
  unleash,
  growthbook,
  flagsmith,
  flagd,
  configcat,
  posthog,
  flipt,
}

export const randomDocument = (source: ImportSource, random: Random): unknown => documents[source]!(random)

// Unleash

function unleash(random: Random): unknown {
  const constraint = (): Json => {
    const contextName = random.pick([...properties, 'userId', 'sessionId'])
    const shared = { contextName, inverted: random.chance(0.3) }
    const operator = random.pick([
      'IN',
      'NOT_IN',
      'STR_CONTAINS',
      'STR_STARTS_WITH',
      'STR_ENDS_WITH',
      'NUM_EQ',
      'NUM_GT',
      'NUM_GTE',
      'NUM_LT',
      'NUM_LTE',
      'DATE_AFTER',
      'DATE_BEFORE',
      'SEMVER_EQ',
      'SEMVER_GT',
      'SEMVER_LT',
      'SEMVER_GTE',
      'SEMVER_LTE',
      'REGEX',
      'IN_CIDR',
    ])
    if (operator.startsWith('NUM_')) return { ...shared, operator, value: String(random.pick([...numbers, 'x'])) }
    if (operator.startsWith('DATE_'))
      return { ...shared, operator, contextName: 'currentTime', value: random.pick(dates) }
    if (operator.startsWith('SEMVER_')) return { ...shared, operator, value: random.pick(versions) }
    if (operator === 'REGEX')
      return { ...shared, operator, value: random.pick(patterns), caseInsensitive: random.chance(0.5) }
    if (operator === 'IN_CIDR') return { ...shared, operator, values: random.some(ranges, 2) }
    return { ...shared, operator, values: random.some([...texts, ' pad ', ''], 3), caseInsensitive: random.chance(0.4) }
  }
  const variants = (): Json[] => {
    const count = 1 + random.below(3)
    const parts = weights(random, count, 1000)
    return parts.map((weight, index) => ({
      name: `v${index}`,
      weight,
      stickiness: 'default',
      ...(random.chance(0.2) && {
        overrides: [{ contextName: random.pick(['plan', 'userId']), values: random.some([...texts, 'alice'], 2) }],
      }),
    }))
  }
  const payloads = random.chance(0.5)
  const withPayload = (list: Json[]): Json[] =>
    list.map(variant => ({
      ...variant,
      ...(payloads && { payload: { type: 'json', value: JSON.stringify({ of: variant.name }) } }),
    }))
  const strategy = (): Json => {
    const groupId = random.pick(['g', 'group-1', 'ß'])
    const name = random.pick([
      'default',
      'flexibleRollout',
      'flexibleRollout',
      'flexibleRollout',
      'userWithId',
      'remoteAddress',
      'gradualRolloutUserId',
      'gradualRolloutSessionId',
    ])
    const parameters: Json = {
      groupId,
      rollout: String(random.below(101)),
      percentage: String(random.below(101)),
      stickiness: random.pick(['default', 'userId', 'sessionId', 'plan']),
      userIds: 'alice, bob',
      IPs: '10.0.0.0/8, 1.2.3.4,::1',
    }
    return {
      name,
      parameters,
      constraints: random.chance(0.6) ? random.list(1 + random.below(2), constraint) : [],
      ...(random.chance(0.2) && { segments: random.some([1, 2], 2) }),
      ...(name === 'flexibleRollout' &&
        random.chance(0.3) && {
          variants: withPayload(variants()).map(variant => ({ ...variant, stickiness: undefined })),
          parameters: { ...parameters, stickiness: 'default' },
        }),
    }
  }
  const features = keys.map(
    (name, index): Json => ({
      name,
      enabled: random.chance(0.95),
      strategies: random.list(random.below(4), strategy),
      ...(random.chance(0.4) && { variants: withPayload(variants()) }),
      ...(index > 6 &&
        random.chance(0.5) && {
          dependencies: [
            random.pick([
              { feature: keys[0] },
              { feature: keys[1], enabled: false },
              { feature: keys[2], variants: ['v0', 'v1'] },
            ]),
          ],
        }),
    }),
  )
  const segments = [1, 2].map(id => ({
    id,
    name: `segment ${id}`,
    constraints: random.list(1 + random.below(2), constraint),
  }))
  return { version: 2, features, segments }
}

// GrowthBook

function growthbook(random: Random): unknown {
  const scalar = (): unknown => random.pick<unknown>([...texts, ...numbers, true, false, null])
  const operator = (): Json =>
    random.pick<() => Json>([
      () => ({ $eq: scalar() }),
      () => ({ $ne: scalar() }),
      () => ({ $in: random.some<unknown>([...texts, 1, 5, null], 3) }),
      () => ({ $nin: random.some<unknown>([...texts, 1, 5], 3) }),
      () => ({ $ini: random.some(texts, 3) }),
      () => ({ $nini: random.some(texts, 3) }),
      () => ({ [random.pick(['$gt', '$gte', '$lt', '$lte'])]: random.pick(numbers) }),
      () => ({ $exists: random.chance(0.5) }),
      () => ({ $type: random.pick(['string', 'number', 'boolean', 'array', 'null']) }),
      () => ({ $size: random.below(3) }),
      () => ({ $all: random.some(texts, 2) }),
      () => ({ $alli: random.some(texts, 2) }),
      () => ({ $elemMatch: { $eq: random.pick(texts) } }),
      () => ({ $regex: random.pick(patterns) }),
      () => ({ $regexi: random.pick(patterns) }),
      () => ({ $not: { $in: random.some(texts, 2) } }),
      () => ({ $inGroup: random.pick(['g1', 'missing']) }),
      () => ({ $notInGroup: 'g1' }),
    ])()
  const condition = (depth = 0): Json => {
    const shape = depth < 2 ? random.below(8) : 7
    if (shape === 0) return { $or: random.list(1 + random.below(2), () => condition(depth + 1)) }
    if (shape === 1) return { $not: condition(depth + 1) }
    if (shape === 2) return { $nor: [condition(depth + 1)] }
    if (shape === 3) return { $and: [condition(depth + 1), condition(depth + 1)] }
    return { [random.pick([...properties, 'id'])]: random.chance(0.4) ? scalar() : operator() }
  }
  const features = keys.map((key, index): readonly [string, Json] => {
    const kind = random.below(3)
    const value = (): unknown => [random.chance(0.5), random.pick(texts), { n: random.below(3) }][kind]
    const bucket = () => ({
      ...(random.chance(0.3) && { hashAttribute: random.pick(['id', 'plan']) }),
      ...(random.chance(0.5) && { hashVersion: random.pick([1, 2]) }),
      ...(random.chance(0.3) && { seed: 'seed-é' }),
    })
    const rule = (): Json => ({
      ...(random.chance(0.6) && { condition: condition() }),
      ...(index > 6 &&
        random.chance(0.2) && {
          parentConditions: [
            {
              id: keys[random.below(3)],
              condition: { value: random.pick<unknown>([true, 'pro', { $exists: true }]) },
              gate: random.chance(0.5),
            },
          ],
        }),
      ...(random.chance(0.5)
        ? {
            force: value(),
            ...(random.chance(0.6) && {
              coverage: random.pick([0, 0.07, 0.1, 0.29, 0.333, 0.5, 0.57, 1]),
              ...bucket(),
            }),
            ...(random.chance(0.1) && { range: [0.2, 0.6], ...bucket() }),
          }
        : {
            variations: random.list(2 + random.below(2), value),
            ...(random.chance(0.4) && { coverage: random.pick([0.1, 0.5, 0.8, 1]) }),
            ...(random.chance(0.2) && {
              filters: [{ seed: 'ns', ranges: [[0, random.pick([0.3, 0.55, 1])]], attribute: 'id' }],
            }),
            ...bucket(),
          }),
    })
    return [key, { defaultValue: random.chance(0.1) ? null : value(), rules: random.list(random.below(4), rule) }]
  })
  const document = {
    features: Object.fromEntries(features),
    savedGroups: { g1: random.some<unknown>([...texts, 5], 3) },
  }
  return document
}

// Flagsmith

function flagsmith(random: Random): unknown {
  const condition = (): Json => {
    const operator = random.pick([
      'EQUAL',
      'NOT_EQUAL',
      'CONTAINS',
      'NOT_CONTAINS',
      'REGEX',
      'IN',
      'IS_SET',
      'IS_NOT_SET',
      'PERCENTAGE_SPLIT',
    ])
    const property = random.pick([...properties, '$.identity.identifier', '$.identity.traits.plan'])
    if (operator === 'PERCENTAGE_SPLIT') {
      return {
        operator,
        property_: random.pick(['', '$.identity.identifier', '$.identity.traits.plan']),
        value: String(random.below(101)),
      }
    }
    if (operator === 'IN') return { operator, property_: property, value: random.some([...texts, '0'], 3).join(',') }
    if (operator === 'REGEX') return { operator, property_: property, value: random.pick(patterns) }
    return { operator, property_: property, value: String(random.pick<unknown>([...texts, ...numbers, 'False'])) }
  }
  const semver = (): Json => ({
    operator: random.pick(['EQUAL', 'GREATER_THAN', 'LESS_THAN_INCLUSIVE']),
    property_: 'version',
    value: `${random.pick(versions)}:semver`,
  })
  const rule = (depth = 0): Json => ({
    type: random.pick(['ALL', 'ANY', 'NONE']),
    conditions: random.list(random.below(3), () => (random.chance(0.2) ? semver() : condition())),
    rules: depth < 1 ? random.list(random.below(2), () => rule(depth + 1)) : [],
  })
  let id = 0
  const state = (name: string): Json => {
    id++
    const shares = weights(random, 3, 100)
    return {
      django_id: id,
      featurestate_uuid: `uuid-${id}`,
      feature: { id, name, type: 'STANDARD' },
      enabled: random.chance(0.8),
      feature_state_value: random.pick<unknown>([null, 'value', 7, 'other']),
      multivariate_feature_state_values: random.chance(0.4)
        ? shares.slice(0, 2).map((share, index) => ({
            id: id * 10 + (random.chance(0.5) ? index : 5 - index),
            percentage_allocation: share,
            multivariate_feature_option: { value: `mv-${index}` },
          }))
        : [],
    }
  }
  const states = keys.map(state)
  const segments = [30, 4, 12].map(segment => ({
    id: segment,
    name: `segment ${segment}`,
    rules: random.list(1 + random.below(2), () => rule()),
    feature_states: random.some(keys, 6).map(name => ({
      ...state(name),
      feature_segment: { priority: random.below(3) },
    })),
  }))
  const document = {
    id: 1,
    api_key: 'env-key',
    name: 'Test',
    project: {
      id: 1,
      name: 'p',
      hide_disabled_flags: false,
      organisation: { id: 1, name: 'o', feature_analytics: false, stop_serving_flags: false, persist_trait_data: true },
      segments,
    },
    feature_states: states,
    identity_overrides: [
      {
        identifier: 'alice',
        identity_uuid: 'a',
        created_date: new Date(0).toISOString(),
        environment_api_key: 'env-key',
        identity_traits: [],
        identity_features: [state(keys[1]!)],
      },
    ],
  }
  return document
}

// flagd

function flagd(random: Random): unknown {
  const variable = () => ({ var: random.pick([...properties, 'targetingKey']) })
  const logic = (depth = 0): Json => {
    const shape = depth < 2 ? random.below(10) : 3 + random.below(7)
    if (shape === 0) return { and: [logic(depth + 1), logic(depth + 1)] }
    if (shape === 1) return { or: [logic(depth + 1), logic(depth + 1)] }
    if (shape === 2) return { '!': [logic(depth + 1)] }
    if (shape === 3)
      return { [random.pick(['===', '!=='])]: [variable(), random.pick<unknown>([...texts, ...numbers])] }
    if (shape === 4) return { [random.pick(['==', '!='])]: [variable(), random.pick<unknown>([...texts, ...numbers])] }
    if (shape === 5) return { [random.pick(['<', '<=', '>', '>='])]: [variable(), random.pick(numbers)] }
    if (shape === 6) return { in: [variable(), random.some<unknown>([...texts, ...numbers], 3)] }
    if (shape === 7) return { in: [random.pick(texts), variable()] }
    if (shape === 8) return { [random.pick(['starts_with', 'ends_with'])]: [variable(), random.pick(texts)] }
    return {
      sem_ver: [{ var: 'version' }, random.pick(['=', '!=', '<', '<=', '>', '>=', '^', '~']), random.pick(versions)],
    }
  }
  const flags = keys.map((key): readonly [string, Json] => {
    const variants = random.pick<Json>([
      { on: true, off: false },
      { a: 'one', b: 'two', c: 'three' },
      { x: 1, y: 2.5 },
      { o: { deep: [1] }, p: { deep: [2] } },
    ])
    const names = Object.keys(variants)
    const result = (depth = 0): unknown => {
      const shape = depth < 2 ? random.below(5) : random.below(3)
      if (shape === 4) return branch(depth + 1)
      if (shape === 3) {
        const buckets = names.map(name => [name, random.below(100)])
        return { fractional: random.chance(0.3) ? [{ var: 'plan' }, ...buckets] : buckets }
      }
      return random.chance(0.1) ? null : random.pick(names)
    }
    const branch = (depth = 0): Json => ({
      if: [logic(), result(depth), ...(random.chance(0.7) ? [result(depth)] : [])],
    })
    return [
      key,
      {
        state: random.chance(0.95) ? 'ENABLED' : 'DISABLED',
        variants,
        defaultVariant: random.pick(names),
        ...(random.chance(0.9) && { targeting: random.chance(0.3) ? (result() ?? {}) : branch() }),
      },
    ]
  })
  const valid = flags.map(([key, flag]): readonly [string, Json] => [
    key,
    typeof flag.targeting === 'string' ? { ...flag, targeting: { if: [true, flag.targeting] } } : flag,
  ])
  return { flags: Object.fromEntries(valid) }
}

// ConfigCat

function configcat(random: Random): unknown {
  const attribute = () => random.pick([...properties, 'Identifier', 'Email'])
  const user = (): Json =>
    random.pick<() => Json>([
      () => ({ a: attribute(), c: random.pick([0, 1, 2, 3, 30, 31, 32, 33]), l: random.some(texts, 3) }),
      () => ({ a: attribute(), c: random.pick([28, 29]), s: random.pick(texts) }),
      () => ({ a: 'version', c: random.pick([4, 5]), l: random.some(versions, 3) }),
      () => ({ a: 'version', c: random.pick([6, 7, 8, 9]), s: random.pick(versions) }),
      () => ({ a: attribute(), c: random.pick([10, 11, 12, 13, 14, 15, 18, 19]), d: random.pick(numbers) }),
      () => ({ a: 'tags', c: random.pick([34, 35]), l: random.some(texts, 2) }),
    ])()
  const settings = keys.map((key, index): readonly [string, Json] => {
    const type = index % 3
    const value = (): Json =>
      [{ b: random.chance(0.5) }, { s: random.pick(texts) }, { i: random.pick([1, 2, 3]) }][type]! as Json
    const options = () => weights(random, 3, 100).map(p => ({ p, v: value() }))
    const condition = (): Json => {
      if (index > 5 && random.chance(0.2))
        return { p: { f: keys[0], c: random.below(2), v: { b: random.chance(0.5) } } }
      if (random.chance(0.2)) return { s: { s: random.below(2), c: random.below(2) } }
      return { u: user() }
    }
    return [
      key,
      {
        t: type,
        ...(random.chance(0.3) && { a: 'plan' }),
        r: random.list(random.below(3), () => ({
          c: random.list(1 + random.below(2), condition),
          ...(random.chance(0.3) ? { p: options() } : { s: { v: value() } }),
        })),
        ...(random.chance(0.4) && { p: options() }),
        v: value(),
      },
    ]
  })
  const segments = [0, 1].map(index => ({ n: `segment ${index}`, r: random.list(1 + random.below(2), user) }))
  return { p: { u: 'x', r: 0, s: 'salt' }, s: segments, f: Object.fromEntries(settings) }
}

// PostHog

function posthog(random: Random): unknown {
  const operators = ['exact', 'is_not', 'icontains', 'not_icontains', 'regex', 'gt', 'gte', 'lt', 'lte', 'is_set']
  const property = (): Json => {
    const operator = random.pick([...operators, 'is_date_before', 'is_date_after', 'semver_gt', 'semver_lte'])
    const shared = { key: random.pick(properties), type: 'person', operator }
    if (operator === 'is_set') return { ...shared, value: 'is_set' }
    if (operator === 'regex') return { ...shared, value: random.pick(patterns) }
    if (operator.startsWith('is_date')) return { ...shared, value: random.pick(dates) }
    if (operator.startsWith('semver')) return { ...shared, key: 'version', value: random.pick(['1.2.3', '2.0.0']) }
    if (operator === 'exact' || operator === 'is_not')
      return {
        ...shared,
        value: random.chance(0.5) ? random.pick(texts) : random.some<unknown>([...texts, ...numbers], 3),
      }
    return { ...shared, value: String(random.pick<unknown>([...texts, ...numbers])) }
  }
  const filters = (index: number): Json[] => {
    if (index > 6 && random.chance(0.2)) {
      return [
        { key: String(1 + random.below(3)), type: 'flag', operator: 'flag_evaluates_to', value: random.chance(0.7) },
      ]
    }
    if (random.chance(0.2)) return [{ key: 'id', type: 'cohort', value: 100 + random.below(2) }]
    return random.list(random.below(3), property)
  }
  const flags = keys.map((key, index): Json => {
    const shares = weights(random, 3, 100)
    const variants = shares.map((share, at) => ({ key: `v${at}`, rollout_percentage: share }))
    const isMultivariate = random.chance(0.4)
    const groups = random.list(1 + random.below(3), () => ({
      properties: filters(index),
      rollout_percentage: random.chance(0.5) ? random.below(101) : null,
      ...(isMultivariate && random.chance(0.3) && { variant: 'v1' }),
    }))
    return {
      id: index + 1,
      key,
      name: '',
      active: random.chance(0.95),
      filters: { groups, ...(isMultivariate && { multivariate: { variants }, payloads: { v0: '{"a":1}' } }) },
    }
  })
  const cohorts = [100, 101].map(id => ({
    id,
    name: `cohort ${id}`,
    filters: {
      properties: { type: 'OR', values: [{ type: 'AND', values: random.list(1 + random.below(2), property) }] },
    },
  }))
  return { flags, cohorts }
}

// Flipt

function flipt(random: Random): unknown {
  const constraint = (): Json => {
    const type = random.pick(['STRING', 'NUMBER', 'BOOLEAN', 'ENTITY_ID'])
    const shared = { type: `${type}_COMPARISON_TYPE`, property: random.pick(properties) }
    if (type === 'BOOLEAN') return { ...shared, operator: random.pick(['true', 'false', 'present', 'notpresent']) }
    if (type === 'NUMBER') {
      const operator = random.pick(['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'isoneof', 'isnotoneof', 'present'])
      const list = operator.endsWith('oneof')
      return {
        ...shared,
        operator,
        value: list ? JSON.stringify(random.some(numbers, 3)) : String(random.pick(numbers)),
      }
    }
    const operators = ['eq', 'neq', 'prefix', 'suffix', 'contains', 'notcontains', 'isoneof', 'isnotoneof']
    const operator = random.pick(type === 'STRING' ? [...operators, 'empty', 'notempty'] : operators)
    const list = operator.endsWith('oneof')
    return { ...shared, operator, value: list ? JSON.stringify(random.some(texts, 3)) : random.pick(texts) }
  }
  const segments = ['s1', 's2', 's3'].map(key => ({
    key,
    name: key,
    match_type: random.pick(['ALL_MATCH_TYPE', 'ANY_MATCH_TYPE']),
    constraints: random.list(random.below(3), constraint),
  }))
  const inSegments = (): Json =>
    random.chance(0.5)
      ? { key: random.pick(['s1', 's2', 's3']) }
      : { keys: ['s1', 's3'], operator: random.pick(['OR_SEGMENT_OPERATOR', 'AND_SEGMENT_OPERATOR']) }
  const flags = keys.map((key): Json => {
    const enabled = random.chance(0.8)
    if (random.chance(0.5)) {
      const rollouts = random.list(random.below(3), () =>
        random.chance(0.5)
          ? { threshold: { percentage: random.below(101), value: random.chance(0.6) } }
          : { segment: { ...inSegments(), value: random.chance(0.6) } },
      )
      return { key, name: key, type: 'BOOLEAN_FLAG_TYPE', enabled, rollouts }
    }
    const variants = ['a', 'b', 'c'].map((name, index) => ({ key: name, default: index === 0 && enabled }))
    const rules = random.list(random.below(3), () => ({
      segment: inSegments(),
      distributions: weights(random, 3, 100).map((rollout, index) => ({ variant: 'abc'[index], rollout })),
    }))
    return { key, name: key, type: 'VARIANT_FLAG_TYPE', enabled, variants, rules }
  })
  return { flags, segments }
}
