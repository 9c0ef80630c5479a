import type { CohortDefinition, Definitions, FlagDefinition, Subject } from '../definition/definition.ts'
import { operators } from '../definition/operator.ts'
import type { Random } from './random.ts'

/**
 * Random projects and persons, from few names and many edge-case values, so that filters match often and for every
 * reason. A third of the persons lack any given property.
 */
export function randomDefinitions(random: Random, flagCount: number): Definitions {
  const cohorts = Array.from({ length: 6 }, (_, index) => randomCohort(random, index + 1))
  const flags: FlagDefinition[] = []
  for (let id = 1; id <= flagCount; id++) flags.push(randomFlag(random, id))
  const propertyMatchingVersion = random.chance(0.5) ? 1 : 2
  return { flags, cohorts, groupTypes: { '0': 'company', '1': 'project' }, propertyMatchingVersion }
}

export function randomSubject(random: Random): Subject {
  const groups: Record<string, string | number> = {}
  const groupProperties: Record<string, Record<string, unknown>> = {}
  for (const type of ['company', 'project']) {
    if (random.chance(0.6)) groups[type] = random.pick(['acme', 'globex', '42', 'ключ', 7])
    if (random.chance(0.6)) groupProperties[type] = randomProperties(random)
  }
  const members = new Set(random.list(3, () => random.below(7)))
  return {
    distinctId: random.pick([
      uuid(random),
      `user-${random.below(1000)}`,
      'пользователь',
      '🦔',
      `${'x'.repeat(60)}${random.below(99)}`,
    ]),
    personProperties: {
      ...randomProperties(random),
      ...(random.chance(0.5) ? { $device_id: random.pick(['device-1', 'device-2', '', null, 99]) } : {}),
    },
    groups,
    groupProperties,
    inStaticCohort: id => members.has(id),
    events: randomEvents(random),
  }
}

/** Around the day at which the random projects are evaluated. */
function randomEvents(random: Random): NonNullable<Subject['events']> {
  const today = Math.floor(Date.parse('2024-07-31T12:34:00Z') / 86_400_000)
  const events: [string, { firstDay: number; days: (readonly [number, number])[] }][] = []
  for (const name of ['paid', 'seen']) {
    const days = random.list(4, index => [today - 5 * index - random.below(5), 1 + random.below(3)] as const)
    const firstDay = Math.min(...days.map(([day]) => day)) - (random.chance(0.3) ? 100 : 0)
    if (days.length > 0) events.push([name, { firstDay, days }])
  }
  return Object.fromEntries(events)
}

function uuid(random: Random): string {
  const hex = Array.from({ length: 32 }, () => random.below(16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export const propertyNames = [
  'plan',
  'email',
  'age',
  'version',
  'joined',
  'active',
  'distinct_id',
  'constructor',
  '__proto__',
]

const texts = [
  '',
  'pro',
  'PRO',
  'Pro',
  'free',
  'true',
  'True',
  'false',
  'null',
  '5',
  '5.5',
  '10abc',
  '-3',
  'é',
  'É',
  'ß',
  'İstanbul',
  'user@example.com',
  'USER@EXAMPLE.COM',
  '@example',
  'a,b',
  '["a"]',
  '[object Object]',
  '🦔',
  '\ud800',
  'line\nbreak',
  'line\rbreak',
  ' spaced ',
  'K',
  '1e3',
  'Infinity',
  'NaN',
  '0x10',
  '00',
  '1.50',
]
const versions = [
  '1.2.3',
  'v1.2.3',
  '1.2',
  '1',
  '1.10.0',
  '0.2.3',
  '0.0.3',
  '2.0.0-beta.1',
  '1.2.3+build',
  '01.2.3',
  '1.2.3.4',
  'abc',
  '1..3',
  '.1',
  ' V3.4 ',
  '1.2.x',
  '999999999999999999999.0.0',
]
const wildcards = ['1.*', '1.2.*', '*', '1.*.*', 'v1.*', '1*', '1.2.3.*', '1.', '1.2', 'x.*', '01.*']
const dates = [
  '2024-01-01',
  '2024-07-24T12:34:00Z',
  '2024-07-24T12:35:00Z',
  '2024-07-17T12:00:00Z',
  '2024-07-17T13:00:00Z',
  '2024-07-31T00:34:00Z',
  '2024-07-31T00:35:00Z',
  '2024-07-01T12:00:00Z',
  '2024-07-01T13:00:00Z',
  '2021-07-31T12:00:00Z',
  '2021-07-31T13:00:00Z',
  '2023-12-31T23:59:59Z',
  '2024-01-01T01:00:00+02:00',
  '2024-06-15 12:00',
  '1700000000',
  'garbage',
  '2024',
  '5',
  'March 7, 2024',
  '-7d',
  '7d',
  '-1m',
  '3y',
  '2w',
  '12h',
  '-10000d',
  '-5x',
  '1d ',
]
const patterns = [
  '^pro$',
  'pro',
  '',
  '[',
  '(',
  '\\d+',
  '^\\d{1,3}$',
  'a|b',
  '@example\\.com$',
  '.*',
  '(a|b)*c?',
  '[a-z]+@',
  '^.$',
  'e{2}',
  '\\w+\\.\\w+',
  '[^a-z]',
  'x*?y',
  '(?:ab)+',
  '\\s',
  '\\x41',
  'true',
  'null',
  ',',
  '\\.',
  '^$',
  '[\\d.]+',
  '(pro|free)',
]
const oddPatterns = ['(?i)PRO', '\\bpro', 'é', '(?=a)a', 'a++', '(?<name>a)', '^*']
const numbers = [0, 1, 5, -3, 10, 5.5, 1.5, -0.25, 1e21, 1e-7, 1700000000000, 18.0]

const patternPieces = [
  'a',
  'pro',
  '.',
  '\\d',
  '\\w',
  '\\.',
  '\\-',
  '\\_',
  '\\<',
  '[a-z]',
  '[^a-z]',
  '[\\d.]',
  '[]',
  '[a-',
  '[\\s-9]',
  '[--a]',
  '(a|b)',
  '(?:x)',
  '()',
  '(',
  ')',
  '|',
  '^',
  '$',
  '*',
  '+',
  '?',
  '{2}',
  '{1,3}',
  '{',
  '}',
  '\\x41',
  '\\xg',
  '\\1',
  '\\b',
  '5',
  '@',
  'e',
]

function randomPattern(random: Random): string {
  if (random.chance(0.1)) return random.pick(oddPatterns)
  return random.chance(0.6) ? random.pick(patterns) : random.list(5, () => random.pick(patternPieces)).join('')
}

export function randomValue(random: Random, depth = 0): unknown {
  switch (random.below(depth > 2 ? 6 : 9)) {
    case 0:
      return random.pick(numbers)
    case 1:
      return random.chance(0.5)
    case 2:
      return random.chance(0.3) ? null : random.pick(texts)
    case 3:
      return random.pick(versions)
    case 4:
      return random.pick(dates)
    case 6:
      return random.list(3, () => randomValue(random, depth + 1))
    case 7:
      return Object.fromEntries(
        random.list(3, index => [random.pick(['b', 'a', 'é', 'Z', `k${index}`]), randomValue(random, depth + 1)]),
      )
    default:
      return random.pick(texts)
  }
}

function randomProperties(random: Random): Record<string, unknown> {
  const properties: Record<string, unknown> = {}
  for (const name of propertyNames) {
    if (name === 'distinct_id' ? random.chance(0.9) : random.chance(0.35)) continue
    const value = randomProperty(random, name)
    Object.defineProperty(properties, name, { value, enumerable: true, writable: true, configurable: true })
  }
  return properties
}

export function randomProperty(random: Random, name: string): unknown {
  if (random.chance(0.25)) return randomValue(random)
  if (name === 'age') return random.chance(0.5) ? random.pick(numbers) : random.pick(['5', '5.5', '17', '18', '10abc'])
  if (name === 'version') return random.pick(versions)
  if (name === 'joined') return random.chance(0.1) ? random.pick(numbers) : random.pick(dates)
  if (name === 'active') return random.pick([true, false, 'true', 'false', 'True', 0, 1, null])
  return random.pick(texts)
}

function randomFilterValue(random: Random, operator: string): unknown {
  if (operator.startsWith('semver_wildcard')) return random.pick(wildcards)
  if (operator.startsWith('semver')) return random.chance(0.1) ? random.pick(numbers) : random.pick(versions)
  if (operator.startsWith('is_date')) return random.chance(0.1) ? randomValue(random) : random.pick(dates)
  if (operator.endsWith('regex')) return randomPattern(random)
  if (operator.endsWith('between')) return [random.pick(numbers), random.pick(numbers)].sort((a, b) => a - b)
  if (operator.endsWith('_multi')) return random.list(3, () => random.pick(texts))
  if (/^[gl]te?$/.test(operator)) return random.chance(0.6) ? random.pick(numbers) : random.pick(texts)
  if (operator === 'exact' || operator === 'is_not') return randomEqualityValue(random)
  return random.chance(0.1) ? randomValue(random) : random.pick(texts)
}

function randomEqualityValue(random: Random): unknown {
  if (random.chance(0.3)) return random.list(4, () => (random.chance(0.2) ? randomValue(random) : random.pick(texts)))
  if (random.chance(0.25))
    return random.pick([true, false, 'true', 'FALSE', ['true'], ['false', 'True'], [], [[]], [true, 'x']])
  return random.chance(0.3) ? randomValue(random) : random.pick(texts)
}

/** Half of the filters use the most common operators. */
function randomOperator(random: Random): string {
  if (random.chance(0.5))
    return random.pick(['exact', 'is_not', 'icontains', 'is_set', 'is_not_set', 'gt', 'lt', 'regex'])
  return random.pick(operators)
}

export function randomFilter(random: Random): Record<string, unknown> {
  const operator = randomOperator(random)
  const key = random.chance(0.15) ? random.pick(['missing', '$group_key']) : random.pick(propertyNames)
  const type = random.chance(0.8) ? 'person' : 'group'
  return {
    key,
    type,
    ...(type === 'group' && { group_type_index: random.below(3) }),
    ...(operator === 'exact' && random.chance(0.3) ? {} : { operator }),
    value: randomFilterValue(random, operator),
  }
}

/** Cohorts 1 to 4 may contain those before them; 5 is static, 6 is empty, and 7 does not exist. */
function randomCohort(random: Random, id: number): CohortDefinition {
  if (id === 5) return { id, isStatic: true, filters: {} }
  const tree = id === 6 ? { type: 'OR', values: [] } : randomTree(random, id, 0)
  return { id, isStatic: false, filters: { properties: tree } }
}

function randomTree(random: Random, cohortId: number, depth: number): unknown {
  const type = random.pick(['AND', 'OR'])
  const ofGroups = depth < 3 && random.chance(depth === 0 ? 0.7 : 0.3)
  const values = random.list(3, () =>
    ofGroups ? randomTree(random, cohortId, depth + 1) : randomLeaf(random, cohortId),
  )
  return { type, values }
}

function randomLeaf(random: Random, cohortId: number): Record<string, unknown> {
  const negation = random.chance(0.3) ? { negation: true } : {}
  if (cohortId > 1 && random.chance(0.2)) {
    const value = random.chance(0.15) ? random.pick([5, 7]) : 1 + random.below(cohortId - 1)
    return { key: 'id', type: 'cohort', value, ...negation }
  }
  if (random.chance(0.08)) return { ...randomDependency(random, 4), ...negation }
  if (cohortId === 3 && random.chance(0.4)) return { ...randomBehavior(random), ...negation }
  return { ...randomFilter(random), ...negation }
}

function randomBehavior(random: Random): Record<string, unknown> {
  return {
    type: 'behavioral',
    event_type: 'events',
    key: random.pick(['paid', 'seen', 'constructor']),
    value: random.pick(['performed_event', 'performed_event_multiple', 'performed_event_first_time', 'unknown']),
    operator: random.pick(['gte', 'lte', 'gt', 'lt', 'exact']),
    operator_value: random.below(4),
    time_value: 1 + random.below(3),
    time_interval: random.pick(['day', 'week']),
  }
}

/** Flags up to 3 use no cohorts, so that cohorts can refer to them without a cycle. */
function randomDependency(random: Random, below: number): Record<string, unknown> {
  const value = random.pick([true, false, 'control', 'test', true, false])
  return { key: String(1 + random.below(below - 1)), type: 'flag', operator: 'flag_evaluates_to', value }
}

function randomCondition(
  random: Random,
  flagId: number,
  variants: readonly { key: string }[],
): Record<string, unknown> {
  const properties = random.list(3, () => {
    if (flagId > 3 && random.chance(0.12)) {
      const operator = random.pick(['in', 'not_in', 'exact', undefined])
      const value = random.chance(0.1) ? random.pick([5, 7]) : random.pick([1, 2, 3, 4, 6])
      return {
        key: 'id',
        type: 'cohort',
        value: random.chance(0.2) ? String(value) : value,
        ...(operator && { operator }),
      }
    }
    if (flagId > 1 && random.chance(0.1)) return randomDependency(random, flagId)
    return randomFilter(random)
  })
  return {
    properties: random.chance(0.05) ? null : properties,
    ...(random.chance(0.2) ? {} : { rollout_percentage: random.pick([null, 0, 100, 50, 50, 33.3, 12.5, 75, 99]) }),
    ...(variants.length > 0 &&
      random.chance(0.4) && { variant: random.pick([...variants.map(({ key }) => key), 'gone', '', null]) }),
    ...(random.chance(0.15) && { aggregation_group_type_index: random.pick([0, 1, 2, null]) }),
  }
}

function randomVariants(random: Random): { key: string; rollout_percentage: number }[] {
  const shapes = [[100], [50, 50], [34, 33, 33], [33.33, 33.33, 33.34], [0, 100], [10, 20], [25, 25, 25, 25]]
  const keys = ['control', 'test', 'c', 'variant-four']
  return random.pick(shapes).map((rollout_percentage, index) => ({ key: keys[index]!, rollout_percentage }))
}

/** One condition, and another value for everyone else: shows whether an SDK is certain about the first. */
function doubtfulFilters(random: Random, id: number): Record<string, unknown> {
  const variants = [
    { key: 'control', rollout_percentage: 50 },
    { key: 'test', rollout_percentage: 50 },
  ]
  const { properties } = randomCondition(random, id, [])
  return { groups: [{ properties, variant: 'control' }, { variant: 'test' }], multivariate: { variants } }
}

function randomFlag(random: Random, id: number): FlagDefinition {
  const variants = random.chance(0.45) ? randomVariants(random) : []
  const payload = () =>
    random.pick(['{"a":1}', '"x"', 'not json', '', 'null', '0', 0, 1, false, true, { deep: [1] }, [1, 2], null])
  const payloads = Object.fromEntries(
    ['true', ...variants.map(({ key }) => key), 'holdout-7']
      .filter(() => random.chance(0.5))
      .map(key => [key, payload()]),
  )
  const filters = {
    groups: random.list(4, () => randomCondition(random, id, variants)),
    ...(variants.length > 0 ? { multivariate: { variants } } : random.chance(0.3) && { multivariate: null }),
    ...(random.chance(0.6) && { payloads }),
    ...(random.chance(0.2) && { aggregation_group_type_index: random.pick([0, 1, null, 3]) }),
    ...(random.chance(0.2) && { early_exit: random.chance(0.8) }),
    ...(random.chance(0.15) && {
      holdout: random.pick([
        null,
        { id: 7, exclusion_percentage: random.pick([0, 10, 50, 100, 250, -1, null]) },
        { id: null, exclusion_percentage: 50 },
      ]),
    }),
    ...(random.chance(0.1) && { feature_enrollment: true }),
  }
  return {
    id,
    key: random.pick(['flag', 'long-flag-key-for-two-blocks', 'ключ', 'checkout']) + id,
    active: random.chance(0.95),
    filters: random.chance(0.01) ? null : random.chance(0.3) ? doubtfulFilters(random, id) : filters,
    ensureExperienceContinuity: random.chance(0.05),
    bucketingIdentifier: random.chance(0.15) ? 'device_id' : null,
  }
}
