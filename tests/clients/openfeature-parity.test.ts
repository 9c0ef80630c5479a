import { readdirSync, readFileSync } from 'node:fs'
import { HalyardProvider } from '@halyard/openfeature-server'
import type { EvaluationContext } from '@openfeature/server-sdk'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  compile,
  type Definitions,
  openFeatureResult,
  type Snapshot,
  type Subject,
} from '../../packages/engine/src/index.ts'
import { definitionsWire } from '../../packages/engine/src/testing/definitions-wire.ts'
import { randomFrom } from '../../packages/engine/src/testing/random.ts'
import { randomDefinitions, randomSubject } from '../../packages/engine/src/testing/random-project.ts'
import { ofrepFlag } from '../../packages/server/src/api/ofrep/ofrep-response.ts'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'

/** The provider evaluates definitions as they are on the wire; the server evaluates them as they are stored. Both must agree. */

const now = Date.parse('2024-06-15T12:00:00Z')

beforeAll(() => {
  vi.useFakeTimers({ toFake: ['Date'], now })
})
afterAll(() => {
  vi.useRealTimers()
})

const providerOf = (definitions: Definitions, server = compile(definitions, { regex: linearRegex })) =>
  new HalyardProvider({
    url: 'http://127.0.0.1:9',
    key: 'phs_none',
    updates: 'none',
    storedPersons: 'local',
    exposures: false,
    bootstrap: JSON.parse(JSON.stringify(definitionsWire(definitions, server))),
  })

function contextOf({ distinctId, personProperties, groups, groupProperties, deviceId }: Subject): EvaluationContext {
  const context = { ...personProperties, targetingKey: distinctId, groups, groupProperties }
  return { ...context, ...(deviceId !== undefined && { $device_id: deviceId }) } as EvaluationContext
}

/** Compares each flag that needs no stored person, and returns how many there were. */
async function compare(
  definitions: Definitions,
  subjects: readonly Subject[],
  keys: readonly string[],
): Promise<number> {
  const server = compile(definitions, { regex: linearRegex })
  const provider = providerOf(definitions, server)
  let compared = 0
  for (const subject of subjects) compared += await compareOne(server, provider, subject, keys)
  await provider.onClose()
  return compared
}

async function compareOne(
  server: Snapshot,
  provider: HalyardProvider,
  subject: Subject,
  keys: readonly string[],
): Promise<number> {
  const context = contextOf(subject)
  let compared = 0
  for (const key of keys) {
    const index = server.indexOf(key)!
    const details = await provider.resolveBooleanEvaluation(key, true, context)
    if (details.flagMetadata?.reasonCode === 'needs_person') continue
    const outcome = server.evaluate(subject, { keys: [key], now: Date.now() }).get(key)!
    const expected = ofrepFlag(server.flags[index]!, outcome)
    compared += 1
    if ('errorCode' in expected) {
      expect(details, key).toMatchObject({ value: true, errorCode: 'GENERAL' })
      continue
    }
    const { value, variant } = expected
    const { reason } = openFeatureResult(server.flags[index]!, outcome)
    expect(expected.reason).toBe(reason === 'DEFAULT' ? 'UNKNOWN' : reason)
    if (typeof value === 'string') {
      const text = await provider.resolveStringEvaluation(key, 'default', context)
      expect([key, text.value, text.variant, text.reason]).toEqual([key, value, variant, reason])
      expect(details.errorCode).toBe('TYPE_MISMATCH')
    } else {
      expect([key, details.value, details.variant, details.reason]).toEqual([key, value ?? true, variant, reason])
      expect(details.flagMetadata).toMatchObject(expected.metadata as object)
    }
  }
  return compared
}

it('equals the server over random projects and persons', async () => {
  const random = randomFrom(Number(process.env.DIFFERENTIAL_SEED ?? 19))
  let compared = 0
  for (let run = 0; run < Number(process.env.DIFFERENTIAL_RUNS ?? 15); run++) {
    const drawn = randomDefinitions(random, 12)
    const definitions = { ...drawn, flags: drawn.flags.map(flag => ({ ...flag, version: 1 })) }
    const keys = definitions.flags.map(({ key }) => key)
    const subjects = Array.from({ length: 10 }, () => randomSubject(random))
    compared += await compare(definitions, subjects, keys)
  }
  expect(compared).toBeGreaterThan(300)
})

interface Case {
  readonly id: string
  readonly flags: readonly Record<string, unknown>[]
  readonly cohorts?: readonly Record<string, unknown>[]
  readonly group_types?: Record<string, string>
  readonly property_matching_version?: 1 | 2
  readonly subject: Record<string, never>
  readonly now?: string
  readonly expected: Record<string, unknown[] | null>
}

describe('the corpus through the provider', () => {
  const folder = new URL('../../spec/evaluation/', import.meta.url)
  const files = readdirSync(folder).filter(name => name.endsWith('.json') && !/buckets|operators/.test(name))

  it.each(files)('%s', async name => {
    const { cases } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { cases: Case[] }
    let compared = 0
    for (const item of cases) {
      vi.setSystemTime(item.now === undefined ? now : Date.parse(item.now))
      const definitions = {
        flags: item.flags.map(flag => ({
          id: flag.id as number,
          key: flag.key as string,
          version: 1,
          active: (flag.active as boolean) ?? true,
          filters: flag.filters,
          ensureExperienceContinuity: flag.ensure_experience_continuity === true,
          bucketingIdentifier: (flag.bucketing_identifier as 'device_id') ?? null,
        })),
        cohorts: (item.cohorts ?? []).map(({ id, is_static, filters }) => ({
          id: id as number,
          isStatic: is_static === true,
          filters: filters ?? { properties: {} },
        })),
        groupTypes: item.group_types ?? { '0': 'company', '1': 'project' },
        propertyMatchingVersion: item.property_matching_version ?? (2 as const),
      }
      const { distinct_id, person_properties = {}, groups = {}, group_properties = {}, device_id } = item.subject
      if (distinct_id === '') continue
      const subject = {
        distinctId: distinct_id,
        personProperties: person_properties,
        groups,
        groupProperties: group_properties,
        ...(device_id !== undefined && { deviceId: device_id }),
      } as unknown as Subject
      const keys = Object.keys(item.expected).filter(key => definitions.flags.some(flag => flag.key === key))
      compared += await compare(definitions, [subject], keys)
    }
    expect(compared).toBeGreaterThan(0)
  })
})
