import type { Random } from '@halyard/migrate/prove/random'
import { dates, type Json, keys, numbers, patterns, properties, texts, versions, weights } from './random-values.ts'

const shortVersions = ['1.2', '2', '1.2-rc.1', 'v1.2.3', '1.10.0+build', 'x']
const kinds = ['user', 'org', 'device']
const segmentKeys = ['beta', 'staff', 'orgs', 'part']

/** Contexts of several kinds, whose attributes have the same names. */
export function launchdarkly(random: Random): unknown {
  const flags = keys.map((key, index): [string, Json] => [key, flagOf(key, index, random)])
  const segments = segmentKeys.map((key, index): [string, Json] => [key, segmentOf(key, index, random)])
  return { flags: Object.fromEntries(flags), segments: Object.fromEntries(segments) }
}

const kindOf = (random: Random): Json => (random.chance(0.5) ? {} : { contextKind: random.pick(kinds) })

const operators = [
  ...['in', 'in', 'startsWith', 'endsWith', 'contains', 'matches', 'segmentMatch', 'segmentMatch'],
  ...['lessThan', 'lessThanOrEqual', 'greaterThan', 'greaterThanOrEqual'],
  ...['before', 'after', 'semVerEqual', 'semVerLessThan', 'semVerGreaterThan'],
]

function clauseOf(random: Random, segments: readonly string[]): Json {
  const negate = random.chance(0.25)
  const attribute = random.pick([...properties, ...properties, 'key', 'anonymous', 'kind', 'name'])
  const op = attribute === 'kind' || attribute === 'anonymous' ? 'in' : random.pick(operators)
  const shared = { attribute, op, negate, ...kindOf(random) }
  if (random.chance(0.02)) return { ...shared, values: [] }
  if (random.chance(0.01)) return { ...shared, op: 'near', values: ['x'] }
  if (attribute === 'kind') return { ...shared, values: random.some(kinds, 2) }
  if (attribute === 'anonymous') return { ...shared, values: random.some<unknown>([true, false, 'true'], 2) }
  if (op === 'segmentMatch') return { op, values: random.some(segments, 2), negate }
  return { ...shared, values: valuesFor(op, random) }
}

function valuesFor(op: string, random: Random): unknown[] {
  if (op === 'in') return random.some<unknown>([...texts, ...numbers, true, null, ''], 3)
  if (op === 'matches') return random.some([...patterns, '['], 2)
  if (op.startsWith('less') || op.startsWith('greater')) return random.some<unknown>([...numbers, '5'], 2)
  if (op === 'before' || op === 'after') {
    return random.some<unknown>([...dates, '2026-06-01T12:00:00+02:00', 1_893_456_000_000, '2026-06-01'], 2)
  }
  if (op.startsWith('semVer')) return random.some([...versions, ...shortVersions], 3)
  return random.some<unknown>([...texts, ''], 2)
}

function servedBy(variations: number, random: Random): Json {
  if (random.chance(0.5)) return { variation: random.below(variations) }
  const shares = weights(random, variations, 100_000).map((weight, variation) => ({ variation, weight }))
  return {
    rollout: {
      variations: random.chance(0.5) ? shares : shares.reverse(),
      ...(random.chance(0.3) && { kind: 'experiment' }),
      ...(random.chance(0.4) && { bucketBy: random.pick(['plan', 'city', 'age', 'key']) }),
      ...(random.chance(0.3) && { seed: 1 + random.below(100) }),
      ...(random.chance(0.4) && { contextKind: random.pick(kinds) }),
    },
  }
}

const valueKinds: unknown[][] = [
  [true, false],
  [false, true],
  ['a', 'b', 'c'],
  [1, 2.5, 30],
  [{ a: 1 }, { a: 2 }, 'text'],
]

function flagOf(key: string, index: number, random: Random): Json {
  const variations = random.pick(valueKinds)
  const variation = () => random.below(variations.length)
  const prerequisite = random.pick(keys)
  const targets = random.chance(0.3) ? [{ variation: variation(), values: ['alice', 'Bob'] }] : []
  return {
    key,
    version: 1,
    on: random.chance(0.85),
    salt: `salt-${random.below(1000)}`,
    variations,
    offVariation: random.chance(0.03) ? null : variation(),
    targets,
    ...(random.chance(0.3) && {
      contextTargets: [
        { contextKind: 'org', variation: variation(), values: ['acme', 'ACME'] },
        ...targets.map(target => ({ contextKind: 'user', variation: target.variation, values: [] })),
      ],
    }),
    rules: random.list(random.below(3), number => ({
      id: `rule-${number}`,
      clauses: random.list(random.below(3), () => clauseOf(random, segmentKeys)),
      ...servedBy(variations.length, random),
    })),
    fallthrough: servedBy(variations.length, random),
    prerequisites:
      index > 0 && random.chance(0.2)
        ? [{ key: prerequisite === key ? keys[0] : prerequisite, variation: random.below(2) }]
        : [],
  }
}

/** Only those before it are referred to, so that there are no cycles. */
function segmentOf(key: string, index: number, random: Random): Json {
  const earlier = segmentKeys.slice(0, index)
  const named = (keysOf: readonly string[]) => (random.chance(0.4) ? random.some(keysOf, 2) : [])
  const contexts = (keysOf: readonly string[]) =>
    random.chance(key === 'orgs' ? 0.7 : 0.1) ? [{ contextKind: 'org', values: random.some(keysOf, 2) }] : []
  const clause = (): Json => {
    const made = clauseOf(random, earlier.length > 0 ? earlier : ['missing'])
    return made.op === 'segmentMatch' && earlier.length === 0 ? { attribute: 'plan', op: 'in', values: ['pro'] } : made
  }
  return {
    key,
    version: 1,
    salt: 'salt',
    included: named(['alice', 'zoë']),
    excluded: named(['bob', 'Bob']),
    includedContexts: contexts(['acme', 'globex']),
    excludedContexts: contexts(['initech', 'globex']),
    rules: random.list(random.below(3), number => ({
      id: `rule-${number}`,
      clauses: random.list(random.below(3), clause),
      ...(random.chance(key === 'part' ? 0.8 : 0.1) && {
        weight: random.pick([0, 1, 25_000, 50_001, 99_999, 100_000]),
        ...(random.chance(0.3) && { bucketBy: random.pick(['plan', 'age']) }),
        ...(random.chance(0.3) && { rolloutContextKind: random.pick(kinds) }),
      }),
    })),
  }
}
