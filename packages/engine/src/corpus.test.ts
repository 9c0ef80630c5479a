import { readdirSync, readFileSync } from 'node:fs'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import type { JsonRecord } from './definition/json.ts'
import { holdoutBucket, rolloutBucket, variantBucket } from './hash/bucket.ts'
import { type CohortDefinition, compile, type FlagDefinition, type Subject } from './index.ts'

const folder = new URL('../../../spec/evaluation/', import.meta.url)
const options = {
  regex: (pattern: string) => {
    const compiled = RE2JS.compile(pattern)
    return { size: compiled.programSize(), test: (text: string) => compiled.matcher(text).find() }
  },
}

function read(name: string) {
  return JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
}

interface Case {
  id: string
  title: string
  flags: JsonRecord[]
  cohorts?: JsonRecord[]
  group_types?: Record<string, string>
  property_matching_version?: 1 | 2
  subject: JsonRecord
  now?: string
  keys?: string[]
  expected: Record<string, unknown[] | null>
}

const caseFiles = readdirSync(folder).filter(
  name => name.endsWith('.json') && name !== 'buckets.json' && name !== 'operators.json',
)

describe('the corpus', () => {
  const seen = new Set<string>()
  for (const name of caseFiles) {
    describe(name, () => {
      for (const item of read(name).cases as Case[]) {
        it(`${item.id}: ${item.title}`, () => run(item))
        if (seen.has(item.id)) throw new Error(`two cases are called ${item.id}`)
        seen.add(item.id)
      }
    })
  }
})

function run(item: Case): void {
  const snapshot = compile(
    {
      flags: item.flags.map(readFlag),
      cohorts: (item.cohorts ?? []).map(readCohort),
      groupTypes: item.group_types ?? { '0': 'company', '1': 'project' },
      propertyMatchingVersion: item.property_matching_version ?? 2,
    },
    options,
  )
  const now = Date.parse(item.now ?? '2024-06-15T12:00:00Z')
  const results = snapshot.evaluate(readSubject(item.subject), { now, ...(item.keys && { keys: item.keys }) })
  for (const [key, expected] of Object.entries(item.expected)) {
    const outcome = results.get(key)
    const { code, conditionIndex } = outcome?.reason ?? {}
    const seen = outcome === undefined ? null : [outcome.value, code, conditionIndex, outcome.payload]
    expect(seen?.slice(0, expected?.length) ?? null, key).toEqual(expected)
  }
}

function readFlag(json: JsonRecord): FlagDefinition {
  return {
    id: json.id as number,
    key: json.key as string,
    active: (json.active as boolean) ?? true,
    filters: json.filters,
    ensureExperienceContinuity: json.ensure_experience_continuity === true,
    bucketingIdentifier: (json.bucketing_identifier as 'device_id') ?? null,
  }
}

function readCohort(json: JsonRecord): CohortDefinition {
  return { id: json.id as number, isStatic: json.is_static === true, filters: json.filters }
}

function readSubject(json: JsonRecord): Subject {
  const lists = (json.static_cohorts as number[]) ?? []
  return JSON.parse(
    JSON.stringify({
      distinctId: json.distinct_id,
      personProperties: json.person_properties ?? {},
      groups: json.groups ?? {},
      groupProperties: json.group_properties ?? {},
      deviceId: json.device_id,
      anonDistinctId: json.anon_distinct_id,
      hashKeyOverrides: json.hash_key_overrides,
    }),
    (key, value) => (key === '' ? { ...value, inStaticCohort: (id: number) => lists.includes(id) } : value),
  )
}

interface BucketCase {
  id: string
  flag_key: string
  identifier: string
  rollout: number
  variant: number
  variant_key: string
}

describe('buckets.json', () => {
  const { variants, buckets, holdouts } = read('buckets.json')
  for (const { id, flag_key, identifier, rollout, variant, variant_key } of buckets as BucketCase[]) {
    it(id, () => {
      expect(rolloutBucket(flag_key, identifier)).toBe(rollout)
      expect(variantBucket(flag_key, identifier)).toBe(variant)
      const flag = { id: 1, key: flag_key, active: true, filters: { groups: [{}], multivariate: { variants } } }
      const definitions = { flags: [flag], cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 as const }
      const results = compile(definitions, options).evaluate({ distinctId: identifier }, { now: 0 })
      expect(results.get(flag_key)?.value).toBe(variant_key)
    })
  }
  for (const { id, identifier, bucket } of holdouts as { id: string; identifier: string; bucket: number }[]) {
    it(id, () => expect(holdoutBucket(identifier)).toBe(bucket))
  }
})

interface FilterCase {
  id: string
  operator: string
  value: unknown
  property?: unknown
  versions: (1 | 2)[]
  matches: boolean
}

describe('operators.json', () => {
  const { now, filters } = read('operators.json')
  for (const { id, operator, value, property, versions, matches } of filters as FilterCase[]) {
    for (const propertyMatchingVersion of versions) {
      it(`${id} in version ${propertyMatchingVersion}`, () => {
        const filter = { key: 'seen', type: 'person', operator, value }
        const flag = { id: 1, key: 'flag', active: true, filters: { groups: [{ properties: [filter] }] } }
        const definitions = { flags: [flag], cohorts: [], groupTypes: {}, propertyMatchingVersion }
        const subject = { distinctId: 'user-1', personProperties: property === undefined ? {} : { seen: property } }
        const results = compile(definitions, options).evaluate(subject, { now: Date.parse(now) })
        expect(results.get('flag')?.value).toBe(matches)
      })
    }
  }
})
