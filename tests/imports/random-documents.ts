import type { ImportSource } from '@halyard/importers'
import type { ProofContext } from './halyard-evaluator.ts'
import type { Random } from './random.ts'

/** Documents of each service with all that the converters claim to convert, and contexts at the edges of their rules. */

export interface RandomDocument {
  readonly document: unknown
  /** Each flag's own part, for reports. */
  readonly definitions: ReadonlyMap<string, unknown>
}

type Json = Record<string, unknown>

const texts = ['pro', 'Pro', 'free', 'a', 'abc', 'ab', 'true', 'null', '5', '1.5', 'München', 'x y', 'team-β', '10']
const numbers = [0, 1, 5, 10, -3, 1.5, 18, 100]
const versions = ['1.2.3', '1.2.3-beta.1', '1.10.0', '2.0.0', '1.2.3-alpha', '1.0.0', '2.0.0-rc.1']
const ranges = ['10.0.0.0/8', '192.168.1.0/24', '1.2.3.4', '2001:db8::/32', '::1']
const patterns = ['^a', 'b+c?$', '[0-9]+', 'pro|team', '^.{2,3}$', '\\s', '\\w-', '^$']
const dates = ['2020-01-01T00:00:00Z', '2100-01-01T00:00:00.000Z', '2026-06-01T12:00:00.000Z']
const properties = ['plan', 'age', 'version', 'ip', 'city', 'tags']

const flagsPerDocument = 12
const keys = Array.from({ length: flagsPerDocument }, (_, index) => `flag-${index}`)

const documents: Readonly<Partial<Record<ImportSource, (random: Random) => RandomDocument>>> = {
  launchdarkly,
  unleash,
  growthbook,
  flagsmith,
  flagd,
  configcat,
}

export const randomDocument = (source: ImportSource, random: Random): RandomDocument => documents[source]!(random)

const listSources: ReadonlySet<ImportSource> = new Set(['launchdarkly', 'growthbook', 'flagd', 'configcat'])

/** Every literal of the document, itself and just beside it, and values that no rule expects. */
export function* randomContexts(
  source: ImportSource,
  document: unknown,
  random: Random,
  count: number,
): Generator<ProofContext> {
  const hasLists = listSources.has(source)
  const literals = [...new Set(literalsIn(document))]
  const values = literals.flatMap(literal => {
    if (typeof literal === 'number') return [literal, literal + 1, literal - 1, String(literal)]
    if (typeof literal !== 'string') return [literal]
    return [literal, literal.toUpperCase(), `${literal}x`, `x${literal}`, literal.slice(0, -1)]
  })
  const odd = ['', 0, -1, '0', ' ', 'n/a', '2.1.0', '10.1.2.3', '2001:db8::5', ...versions]
  const ofType = (value: unknown): unknown => (hasLists && random.chance(0.1) ? listOf(value) : value)
  const listOf = (value: unknown): unknown[] => [random.chance(0.7) ? String(value) : value, ...random.some(texts, 2)]
  for (let index = 0; index < count; index++) {
    const attributes: Json = {}
    for (const property of properties) {
      if (random.chance(0.2)) continue
      const value = random.chance(0.7) && values.length > 0 ? random.pick(values) : random.pick(odd)
      const isBoolean = source !== 'flagd' && random.chance(0.05)
      attributes[property] = ofType(isBoolean ? random.chance(0.5) : value)
    }
    if (source === 'unleash') addUnleashContext(attributes, random)
    // Identifiers with and without text that is not ASCII, and of different lengths.
    const id = `${random.pick(['user-', 'ü', '用户', ''])}${random.below(1_000_000)}`
    yield { id: random.chance(0.03) ? random.pick(['alice', 'bob', 'Bob']) : id, attributes }
  }
}

function addUnleashContext(attributes: Json, random: Random): void {
  if (random.chance(0.5)) attributes.sessionId = `session-${random.below(100_000)}`
  if (random.chance(0.5))
    attributes.remoteAddress = random.pick(['10.1.2.3', '192.168.1.77', '1.2.3.4', '8.8.8.8', '::1'])
  if (random.chance(0.3)) attributes.currentTime = random.pick([...dates, '2030-05-05T05:05:05.000Z'])
}

function* literalsIn(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) for (const item of value) yield* literalsIn(item)
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* literalsIn(item)
  else if (typeof value === 'number' || (typeof value === 'string' && value.length < 40)) yield value
}

const documentOf = (document: unknown, flags: readonly (readonly [string, unknown])[]): RandomDocument => ({
  document,
  definitions: new Map(flags),
})

function weights(random: Random, count: number, total: number): number[] {
  const cuts = random.list(count - 1, () => random.below(total + 1)).sort((left, right) => left - right)
  return [...cuts, total].map((cut, index) => cut - (cuts[index - 1] ?? 0))
}

// LaunchDarkly

function launchdarkly(random: Random): RandomDocument {
  const clause = (): Json => {
    const shared = { attribute: random.pick([...properties, 'key']), negate: random.chance(0.2) }
    const op = random.pick([
      ...['in', 'startsWith', 'endsWith', 'contains', 'matches', 'segmentMatch'],
      ...['lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual'],
      ...['before', 'after', 'semVerEqual', 'semVerLessThan', 'semVerGreaterThan', 'near'],
    ])
    if (op === 'in') return { ...shared, op, values: random.some<unknown>([...texts, ...numbers, true], 3) }
    if (op === 'segmentMatch') return { op, values: random.some(['beta', 'staff'], 2), negate: shared.negate }
    if (op === 'matches') return { ...shared, op, values: random.some(patterns, 2) }
    if (op.startsWith('less') || op.startsWith('greater')) return { ...shared, op, values: random.some(numbers, 2) }
    if (op === 'before' || op === 'after') return { ...shared, op, values: random.some(dates, 2) }
    if (op.startsWith('semVer')) return { ...shared, op, values: [random.pick(versions)] }
    return { ...shared, op, values: random.some(texts, 2) }
  }
  const clauses = (): Json[] => random.list(1 + random.below(2), clause)
  const served = (variations: number): Json => {
    if (random.chance(0.5)) return { variation: random.below(variations) }
    const shares = weights(random, variations, 100_000).map((weight, variation) => ({ variation, weight }))
    return {
      rollout: {
        variations: random.chance(0.5) ? shares : shares.reverse(),
        ...(random.chance(0.3) && { bucketBy: random.pick(['plan', 'city', 'key']) }),
        ...(random.chance(0.3) && { seed: random.below(100) }),
      },
    }
  }
  const kinds: unknown[][] = [
    [true, false],
    [false, true],
    ['a', 'b', 'c'],
    [1, 2.5, 30],
    [{ a: 1 }, { a: 2 }, 'text'],
  ]
  const flags = keys.map((key, index): [string, Json] => {
    const variations = random.pick(kinds)
    const prerequisite = random.pick(keys)
    return [
      key,
      {
        key,
        version: 1,
        on: random.chance(0.85),
        salt: `salt-${random.below(1000)}`,
        variations,
        offVariation: random.below(variations.length),
        targets: random.chance(0.3) ? [{ variation: random.below(variations.length), values: ['alice', 'Bob'] }] : [],
        rules: random.list(random.below(3), number => ({
          id: `rule-${number}`,
          clauses: clauses(),
          ...served(variations.length),
        })),
        fallthrough: served(variations.length),
        prerequisites:
          index > 0 && random.chance(0.2)
            ? [{ key: prerequisite === key ? keys[0] : prerequisite, variation: random.below(2) }]
            : [],
      },
    ]
  })
  const segment = (key: string): Json => ({
    key,
    version: 1,
    salt: 'salt',
    included: random.chance(0.5) ? ['alice'] : [],
    excluded: random.chance(0.5) ? ['bob'] : [],
    rules: random.list(random.below(3), number => ({
      id: `rule-${number}`,
      clauses: clauses().filter(({ op }) => op !== 'segmentMatch' && op !== 'near'),
    })),
  })
  const segments = { beta: segment('beta'), staff: segment('staff') }
  const reported = flags.map(([key, flag]): [string, Json] => [key, { ...flag, segments }])
  return documentOf({ flags: Object.fromEntries(flags), segments }, reported)
}

// Unleash

function unleash(random: Random): RandomDocument {
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
  return documentOf(
    { version: 2, features, segments },
    features.map(feature => [String(feature.name), feature]),
  )
}

// GrowthBook

function growthbook(random: Random): RandomDocument {
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
  return documentOf(document, features)
}

// Flagsmith

function flagsmith(random: Random): RandomDocument {
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
  return documentOf(
    document,
    keys.map((key, index) => [key, states[index]]),
  )
}

// flagd

function flagd(random: Random): RandomDocument {
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
  return documentOf({ flags: Object.fromEntries(valid) }, valid)
}

// ConfigCat

function configcat(random: Random): RandomDocument {
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
  return documentOf({ p: { u: 'x', r: 0, s: 'salt' }, s: segments, f: Object.fromEntries(settings) }, settings)
}
