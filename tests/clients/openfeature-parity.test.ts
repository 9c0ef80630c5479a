import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  bucketingAlgorithmNames,
  type Definitions,
  type FlagDefinition,
  type Subject,
} from '../../packages/engine/src/index.ts'
import { type Random, randomFrom } from '../../packages/engine/src/testing/random.ts'
import {
  propertyNames,
  randomDefinitions,
  randomProperty,
  randomSubject,
} from '../../packages/engine/src/testing/random-project.ts'
import { type ComparedSubject, type Comparison, canonicalJson, compareWithServer } from './parity/compare.ts'
import { type DefinitionsServer, startDefinitionsServer } from './parity/definitions-server.ts'

/**
 * The client, the provider for servers and the provider for browsers equal the server byte for byte: the whole corpus, and random projects.
 * `PARITY_COMPARISONS` and `PARITY_SEED` extend the random part.
 */
const comparisonsMin = Number(process.env.PARITY_COMPARISONS ?? 1_500)
/** A long run reports how far it is. */
const progressComparisons = 50_000
const seed = Number(process.env.PARITY_SEED ?? 19)
const now = Date.parse('2024-06-15T12:00:00Z')

let server: DefinitionsServer
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now })
  server = await startDefinitionsServer()
})
afterAll(async () => {
  await server.close()
  vi.useRealTimers()
})

const project = (flags: readonly FlagDefinition[], more: Partial<Definitions> = {}): Definitions => ({
  flags,
  cohorts: [],
  groupTypes: {},
  propertyMatchingVersion: 2,
  ...more,
})
const flagOf = (id: number, key: string, filters: unknown): FlagDefinition => ({
  id,
  key,
  active: true,
  version: 1,
  filters,
})

async function compare(
  definitions: Definitions,
  subjects: readonly ComparedSubject[],
  keys?: readonly string[],
): Promise<Comparison> {
  const comparison = await compareWithServer(server, definitions, subjects, keys)
  const { differences } = comparison
  if (process.env.PARITY_COMPARISONS && differences.length > 0) {
    console.log(`seed ${seed}: ${canonicalJson({ definitions, subjects })}`)
  }
  expect(differences.slice(0, 5)).toEqual([])
  return comparison
}

const corpus = new URL('../../spec/evaluation/', import.meta.url)
const read = (name: string) => JSON.parse(readFileSync(new URL(name, corpus), 'utf8'))

interface Case {
  readonly id: string
  readonly flags: readonly Record<string, unknown>[]
  readonly cohorts?: readonly Record<string, unknown>[]
  readonly group_types?: Record<string, string>
  readonly property_matching_version?: 1 | 2
  readonly subject: Record<string, never>
  readonly now?: string
  readonly keys?: readonly string[]
  readonly expected: Record<string, unknown[] | null>
}

describe('the corpus', () => {
  const files = readdirSync(corpus).filter(name => name.endsWith('.json') && !/buckets|operators/.test(name))

  it.each(files)('%s', async name => {
    for (const item of read(name).cases as Case[]) {
      vi.setSystemTime(item.now === undefined ? now : Date.parse(item.now))
      const { responses } = await compare(definitionsOf(item), [subjectOf(item)], item.keys)
      for (const [key, wanted] of Object.entries(item.expected)) {
        const seen = responses[0]![key] && outcomeIn(responses[0]![key])
        // `/flags/` leaves disabled flags out.
        const isLeftOut = wanted === null || wanted[1] === 'flag_disabled'
        expect(seen?.slice(0, wanted?.length), `${item.id}, ${key}`).toEqual(isLeftOut ? undefined : wanted)
      }
    }
    vi.setSystemTime(now)
  })

  it('buckets.json, each number by a rollout just above and just below it', async () => {
    const { variants, buckets, holdouts } = read('buckets.json') as {
      variants: object[]
      buckets: { flag_key: string; identifier: string; rollout: number; variant_key: string }[]
      holdouts: { identifier: string; bucket: number }[]
    }
    const epsilon = 1e-12
    const valuesFor = async (key: string, distinctId: string, filters: readonly object[]) => {
      const values: unknown[] = []
      for (const one of filters) {
        const { responses } = await compare(project([flagOf(1, key, one)]), [{ subject: { distinctId } }])
        values.push(responses[0]![key]!.variant ?? responses[0]![key]!.enabled)
      }
      return values
    }
    for (const { flag_key, identifier, rollout, variant_key } of buckets) {
      const upTo = (share: number) => ({ groups: [{ rollout_percentage: share * 100 }] })
      const filters = [{ groups: [{}], multivariate: { variants } }, upTo(rollout + epsilon), upTo(rollout - epsilon)]
      expect(await valuesFor(flag_key, identifier, filters), identifier).toEqual([variant_key, true, false])
    }
    for (const { identifier, bucket } of holdouts) {
      const upTo = (share: number) => ({ groups: [{}], holdout: { id: 7, exclusion_percentage: share * 100 } })
      const filters = [upTo(bucket + epsilon), upTo(bucket - epsilon)]
      expect(await valuesFor('held-out', identifier, filters), identifier).toEqual(['holdout-7', true])
    }
  })

  it.each([1, 2] as const)('operators.json, property_matching_version %i', async propertyMatchingVersion => {
    const { now: at, filters } = read('operators.json') as {
      now: string
      filters: {
        id: string
        operator: string
        value: unknown
        property?: unknown
        versions: number[]
        matches: boolean
      }[]
    }
    vi.setSystemTime(Date.parse(at))
    const cases = filters.filter(({ versions }) => versions.includes(propertyMatchingVersion))
    const flags = cases.map(({ id, operator, value }, index) =>
      flagOf(index + 1, id, { groups: [{ properties: [{ key: id, type: 'person', operator, value }] }] }),
    )
    const given = cases.filter(({ property }) => property !== undefined).map(({ id, property }) => [id, property])
    const subject = { distinctId: 'user-1', personProperties: Object.fromEntries(given) }
    const { responses, local } = await compare(project(flags, { propertyMatchingVersion }), [{ subject }])
    const seen = cases.map(({ id }) => [id, responses[0]![id]!.enabled])
    expect(seen).toEqual(cases.map(({ id, matches }) => [id, matches]))
    expect(local).toBe(given.length)
    vi.setSystemTime(now)
  })
})

function outcomeIn(flag: Record<string, unknown>): unknown[] {
  const { code, condition_index } = flag.reason as Record<string, unknown>
  return [flag.variant ?? flag.enabled, code, condition_index, (flag.metadata as Record<string, unknown>).payload]
}

function definitionsOf(item: Case): Definitions {
  const flags = item.flags.map(flag => ({
    ...flagOf(flag.id as number, flag.key as string, flag.filters),
    active: (flag.active as boolean) ?? true,
    ensureExperienceContinuity: flag.ensure_experience_continuity === true,
    bucketingIdentifier: (flag.bucketing_identifier as 'device_id') ?? null,
  }))
  const cohorts = (item.cohorts ?? []).map(({ id, is_static, filters }) => ({
    id: id as number,
    isStatic: is_static === true,
    filters: filters ?? { properties: {} },
  }))
  const groupTypes = item.group_types ?? { '0': 'company', '1': 'project' }
  return project(flags, { cohorts, groupTypes, propertyMatchingVersion: item.property_matching_version ?? 2 })
}

function subjectOf({ subject: given }: Case): ComparedSubject {
  const { distinct_id, person_properties = {}, groups = {}, group_properties = {}, device_id, anon_distinct_id } = given
  const { static_cohorts = [], hash_key_overrides } = given
  const subject = {
    distinctId: distinct_id,
    personProperties: person_properties,
    groups,
    groupProperties: group_properties,
    ...(device_id !== undefined && { deviceId: device_id }),
    ...(anon_distinct_id !== undefined && { anonDistinctId: anon_distinct_id }),
  } as unknown as Subject
  const stored = { staticCohorts: new Set<number>(static_cohorts), hashKeyOverrides: hash_key_overrides ?? {} }
  return { subject, stored }
}

it('devices and long ids, which requests and the server have stored differently', async () => {
  const person = (key: string, operator: string, value: unknown) => ({
    groups: [{ properties: [{ key, type: 'person', operator, value }] }],
  })
  const long = 'x'.repeat(250)
  const flags = [
    { ...flagOf(1, 'by-device', { groups: [{ rollout_percentage: 50 }] }), bucketingIdentifier: 'device_id' as const },
    flagOf(2, 'device', person('$device_id', 'exact', ['given'])),
    flagOf(3, 'any-device', person('$device_id', 'is_set', 'is_set')),
    flagOf(4, 'half', { groups: [{ rollout_percentage: 50 }] }),
    flagOf(5, 'long', person('distinct_id', 'exact', [`y${long.slice(51)}`])),
    // Whether a lookup is caused by another flag makes no difference.
    flagOf(6, 'plan', person('plan', 'exact', ['pro'])),
  ]
  const stored = { personProperties: { $device_id: 'stored', plan: 'pro' } }
  const subjects = [
    { subject: { distinctId: 'a', deviceId: 'given' }, stored },
    { subject: { distinctId: 'b', deviceId: 'given', personProperties: { plan: 'pro' } }, stored },
    { subject: { distinctId: 'c', personProperties: { $device_id: 'given' } }, stored },
    { subject: { distinctId: 'd' }, stored },
    { subject: { distinctId: 'e', deviceId: 'given' } },
    { subject: { distinctId: `y${long}`, deviceId: `z${long}` }, stored },
  ]
  for (const keys of [undefined, ['device'], ['by-device', 'any-device']]) {
    const { responses } = await compare(project(flags), subjects, keys)
    const values = (key: string) => responses.map(flags => flags[key]?.enabled)
    if (keys?.includes('device') ?? true) expect(values('device')).toEqual([true, true, true, false, true, false])
    if (keys?.includes('any-device') ?? true) expect(values('any-device')).toEqual(Array(6).fill(true))
    if (keys === undefined) expect(values('long')).toEqual([false, false, false, false, false, true])
  }
})

it(
  'random projects, and persons with properties that only the server has stored',
  async () => {
    const random = randomFrom(seed)
    const total = { compared: 0, local: 0, asked: 0 }
    let reported = 0
    while (total.compared < comparisonsMin) {
      const drawn = randomDefinitions(random, 40)
      const flags = drawn.flags.map(flag => ({
        ...flag,
        version: 1 + random.below(9),
        filters: random.chance(0.3) ? withOwnFeatures(random, flag.filters) : flag.filters,
      }))
      const subjects = Array.from({ length: 10 }, (_, index) => drawnSubject(random, index))
      const { compared, local, asked } = await compare({ ...drawn, flags }, subjects)
      total.compared += compared
      total.local += local
      total.asked += asked
      if (total.compared >= reported + progressComparisons) {
        reported = total.compared
        console.log(`seed ${seed}: ${canonicalJson(total)}`)
      }
    }
    expect(total.local).toBeGreaterThan(total.compared / 10)
    expect(total.asked).toBeGreaterThan(total.compared / 10)
  },
  60_000 + comparisonsMin * 20,
)

/** What PostHog does not have: other bucketing, splits, strict and inverted filters, conditions that turn off, typed values. */
function withOwnFeatures(random: Random, filters: unknown): unknown {
  const given = Object(filters) as { groups?: readonly object[]; payloads?: object }
  const algorithm = random.pick(bucketingAlgorithmNames)
  const parts = [true, false].map(value => ({ value, weight: 1 + random.below(9) }))
  const strict = random.pick([
    { key: 'age', operator: 'number_eq', value: random.pick([5, 18]) },
    { key: 'age', operator: 'number_gt', value: 1, inverted: true },
    { key: 'plan', operator: 'text_equals', value: 'pro', ignore_case: random.chance(0.5) },
    { key: 'version', operator: 'version_gte', value: '1.2.3' },
    { key: 'email', operator: 'type_is', value: 'string' },
  ])
  const groups = (given.groups ?? []).map(group => ({
    ...group,
    ...(random.chance(0.4) && { properties: [{ type: 'person', ...strict }] }),
    ...(random.chance(0.2) && { value: false }),
    ...(random.chance(0.2) && { split: { variants: parts } }),
  }))
  return {
    ...given,
    groups,
    ...(random.chance(0.5) && { bucketing: { algorithm, seed: 'seed', ...(random.chance(0.3) && { by: 'plan' }) } }),
    ...(random.chance(0.3) && { return_type: random.pick(['boolean', 'string', 'number', 'object']) }),
  }
}

/** Two of three have every property, so that flags are evaluated in process. Ids are unique: the server stores one state of a person. */
function drawnSubject(random: Random, index: number): ComparedSubject {
  const { inStaticCohort, ...subject } = randomSubject(random)
  const isComplete = random.chance(0.67)
  const person = divided(random, subject.personProperties, isComplete, 'distinct_id')
  const groups = Object.entries(subject.groupProperties ?? {}).map(
    ([type, properties]) => [type, divided(random, properties, isComplete, '$group_key')] as const,
  )
  const cohorts = [1, 2, 3, 4, 5, 6, 7].filter(id => inStaticCohort?.(id))
  return {
    subject: {
      ...subject,
      distinctId: `${subject.distinctId}${index}`,
      personProperties: person.given,
      groupProperties: Object.fromEntries(groups.map(([type, { given }]) => [type, given])),
    },
    stored: {
      personProperties: { ...person.known, ...(random.chance(0.2) && { $device_id: 'stored' }) },
      groupProperties: Object.fromEntries(groups.map(([type, { known }]) => [type, known])),
      staticCohorts: new Set(cohorts),
    },
  }
}

/** Properties in a request, and others that the server has stored, among them one that is called like the id. */
function divided(random: Random, properties: object = {}, isComplete: boolean, id: string) {
  const given: Record<string, unknown> = {}
  const known: Record<string, unknown> = {}
  const put = (side: object, name: string, value: unknown) =>
    Object.defineProperty(side, name, { value, enumerable: true, writable: true, configurable: true })
  const names = isComplete ? [...propertyNames, 'missing'] : []
  for (const name of names) if (name !== 'distinct_id') put(given, name, randomProperty(random, name))
  for (const [name, value] of Object.entries(properties)) {
    put(!isComplete && random.chance(0.2) ? known : given, name, value)
  }
  if (random.chance(0.2)) put(known, id, randomProperty(random, id))
  return { given, known }
}
