import { InconclusiveMatchError, matchFeatureFlagProperty } from '@posthog/core'
import { RE2JS } from 're2js'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { parseProperty } from '../../definition/parse-property.ts'
import { PERSON, Run } from '../../evaluate/run.ts'
import { isTrue, uncertaintyOf } from '../../evaluate/ternary.ts'
import { randomFrom } from '../../testing/random.ts'
import { randomFilter, randomProperty, randomValue } from '../../testing/random-project.ts'
import { ConditionTable } from '../condition-table.ts'
import { PredicatePool } from '../predicate-pool.ts'

/** Single filters against the matcher that all of PostHog's JavaScript libraries share, doubts included. */
const count = Number(process.env.DIFFERENTIAL_FILTERS ?? 20_000)
const seed = Number(process.env.DIFFERENTIAL_SEED ?? 1)
const now = Date.parse('2024-07-31T12:34:56.789Z')

const regex = (pattern: string) => {
  const compiled = RE2JS.compile(pattern)
  return { size: compiled.programSize(), test: (text: string) => compiled.matcher(text).find() }
}

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now })
})

afterAll(() => {
  vi.useRealTimers()
})

type Filter = ReturnType<typeof randomFilter>

function ours(
  filter: Filter,
  properties: Record<string, unknown>,
  propertyMatchingVersion: 1 | 2,
): boolean | 'declines' {
  const pool = new PredicatePool({ regex, propertyMatchingVersion, cohorts: new Map(), entityOf: () => undefined })
  const id = pool.idOf(parseProperty(filter, '', () => {})!, PERSON)
  const run = new Run({
    conditions: new ConditionTable(),
    predicates: pool.predicates,
    caches: pool,
    predicateCount: pool.predicates.length,
    flagCount: 0,
    groupTypes: [undefined],
    dependency: () => undefined,
    leftToServer: () => new Set(),
  })
  run.open({ distinctId: 'user', personProperties: properties }, now)
  const result = run.decide(id)
  return uncertaintyOf(result) === 0 ? isTrue(result) : 'declines'
}

function theirs(
  filter: Filter,
  properties: Record<string, unknown>,
  propertyMatchingVersion: 1 | 2,
): boolean | 'declines' {
  try {
    return matchFeatureFlagProperty(
      filter as never,
      { distinct_id: 'user', ...properties },
      { propertyMatchingVersion },
    )
  } catch (error) {
    if (error instanceof InconclusiveMatchError) return 'declines'
    throw error
  }
}

it(`agrees about ${count} filters from seed ${seed}, including what the SDK declines`, () => {
  const random = randomFrom(seed)
  const seen = { true: 0, false: 0, declines: 0 }
  for (let round = 0; round < count; round++) {
    const filter: Filter = { ...randomFilter(random), key: 'seen', type: 'person' }
    const name = random.pick(['plan', 'age', 'version', 'joined', 'active'])
    const property = random.chance(0.2)
      ? filter.value
      : random.chance(0.5)
        ? randomValue(random)
        : randomProperty(random, name)
    const properties = random.chance(0.05) ? {} : { seen: property }
    const version = random.pick([1, 2] as const)
    const expected = theirs(filter, properties, version)
    seen[`${expected}`]++
    const label = JSON.stringify({ filter, properties, version })
    expect(ours(filter, properties, version), label).toBe(expected)
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(count / 20)
})
