import { type CompiledFlag, compile, type FlagDefinition, type Outcome, type Snapshot } from '@halyard/engine'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import type { Outcomes } from '../../evaluation/outcomes.ts'
import { createFlagsSerializer, type Envelope, type ResponseShape, responseHead } from './serialize-flags-response.ts'

const condition = fc.record({
  properties: fc.array(
    fc.record({ key: fc.constantFrom('a', 'b'), value: fc.constantFrom('x', 'y'), type: fc.constant('person') }),
    { maxLength: 2 },
  ),
  rollout_percentage: fc.constantFrom(null, 0, 30, 100),
})
const filters = fc.oneof(
  fc.record({ groups: fc.array(condition, { maxLength: 3 }), payloads: fc.record({ true: fc.string() }) }),
  fc.record({
    groups: fc.array(condition, { minLength: 1, maxLength: 3 }),
    multivariate: fc.constant({
      variants: [
        { key: 'ü "quoted"', rollout_percentage: 40 },
        { key: 'b', rollout_percentage: 60 },
      ],
    }),
    payloads: fc.record({ b: fc.json() }),
  }),
  // Malformed: evaluates to a failure.
  fc.constant({ groups: 'nonsense' }),
)
const key = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('__proto__', '7', ',', '日本'))
const flagLists = fc.uniqueArray(fc.tuple(key, filters, fc.boolean()), { selector: ([key]) => key, maxLength: 40 })
const shapes: readonly ResponseShape[] = ['details', 'values', 'enabled_values', 'enabled_keys']
const configFields = { supportedCompression: ['gzip'], siteApps: [] }
const envelopes = fc.record({
  head: fc.tuple(fc.uuid(), fc.nat()).map(([id, at]) => responseHead(id, at)),
  hasErrors: fc.boolean(),
  hasPayloadMap: fc.boolean(),
  config: fc.constantFrom(undefined, Buffer.from(`,${JSON.stringify(configFields).slice(1, -1)}`)),
})

const snapshotOf = (flags: readonly FlagDefinition[]): Snapshot =>
  compile({ flags, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 }, { regex: linearRegex })

/** By the size of the fragment cache. */
it.each([
  ['usual', undefined],
  ['too small', 0],
])('writes the JSON of the response in every shape, with a cache that is %s', (_, cachedBytesMax) => {
  const serialize = createFlagsSerializer(undefined, cachedBytesMax)
  fc.assert(
    fc.property(
      flagLists,
      fc.array(fc.string(), { minLength: 1, maxLength: 4 }),
      envelopes,
      (list, people, envelope) => {
        const snapshot = snapshotOf(
          list.map(([key, filters, active], index) => ({ id: index + 1, key, active, version: 3, filters })),
        )
        const eligible = snapshot.flags.flatMap((flag, index) => (flag.active ? [index] : []))
        for (const distinctId of people) {
          const outcomes = snapshot.evaluate({ distinctId, personProperties: { a: 'x', b: distinctId } }, { now: 0 })
          for (const shape of shapes) {
            const bytes = serialize(snapshot.flags, outcomes, eligible, shape, envelope)
            const json = JSON.stringify(asObject(snapshot.flags, outcomes, eligible, shape, envelope))
            // The keys of a JavaScript object that look like numbers are sorted.
            expect(JSON.parse(bytes.toString())).toEqual(JSON.parse(json))
            expect(bytes.length).toBe(Buffer.byteLength(json))
          }
        }
      },
    ),
  )
})

it('writes many flags and large payloads byte for byte, also after a change of one flag', () => {
  const serialize = createFlagsSerializer()
  const list = Array.from({ length: 300 }, (_, index): FlagDefinition => {
    const payload = JSON.stringify('ä'.repeat(index % 97 === 5 ? 2048 * (index % 3) * 100 : index % 41))
    const filters = { groups: [{ properties: [], rollout_percentage: 50 }], payloads: { true: payload } }
    return { id: index + 1, key: `flag-${index}`, active: true, filters }
  })
  const before = snapshotOf(list)
  const after = before.update({ flags: [{ ...list[3]!, filters: { groups: [{ properties: [] }] } }] })
  const envelope = { head: responseHead('id', 7), hasErrors: false }
  for (const snapshot of [before, after, before]) {
    for (const distinctId of ['a', 'b', 'a']) {
      const outcomes = snapshot.evaluate({ distinctId }, { now: 0 })
      const eligible = snapshot.flags.map((_, index) => index)
      const bytes = serialize(snapshot.flags, outcomes, eligible, 'details', envelope)
      const json = JSON.stringify(asObject(snapshot.flags, outcomes, eligible, 'details', envelope))
      expect(bytes.toString() === json).toBe(true)
    }
  }
})

type Results = readonly (readonly [CompiledFlag, Outcome])[]

/** The response as an object: what the serializer has to write, without its cache. */
function asObject(
  flags: readonly CompiledFlag[],
  outcomes: Outcomes,
  eligible: readonly number[],
  shape: ResponseShape,
  envelope: Envelope,
) {
  const results: Results = eligible.flatMap(index => {
    const outcome = flags[index]!.outcomes[outcomes.outcomeIndex(index)]
    return outcome === undefined ? [] : [[flags[index]!, outcome] as const]
  })
  return {
    ...JSON.parse(`${envelope.head}"":0}`, (key, value) => (key === '' && value === 0 ? undefined : value)),
    errorsWhileComputingFlags: envelope.hasErrors || results.some(([, outcome]) => outcome.failed),
    ...flagsIn[shape](results),
    ...(shape === 'details' && envelope.hasPayloadMap && { featureFlagPayloads: payloads(results) }),
    ...(envelope.config && configFields),
  }
}

const enabled = (results: Results): Results => results.filter(([, outcome]) => outcome.enabled)
const values = (results: Results) => Object.fromEntries(results.map(([flag, outcome]) => [flag.key, outcome.value]))
const payloads = (results: Results) =>
  Object.fromEntries(results.flatMap(([flag, { payload }]) => (payload === null ? [] : [[flag.key, payload]])))

const flagsIn: Record<ResponseShape, (results: Results) => object> = {
  details: results => ({
    flags: Object.fromEntries(results.map(([flag, outcome]) => [flag.key, detail(flag, outcome)])),
  }),
  values: results => ({ featureFlags: values(results), featureFlagPayloads: payloads(results) }),
  enabled_values: results => ({ featureFlags: values(enabled(results)) }),
  enabled_keys: results => ({ featureFlags: enabled(results).map(([flag]) => flag.key) }),
}

const detail = (flag: CompiledFlag, { enabled, variant, reason, payload, failed }: Outcome) => ({
  key: flag.key,
  enabled,
  variant,
  reason: { code: reason.code, condition_index: reason.conditionIndex, description: reason.description },
  metadata: { id: flag.id, version: flag.version ?? 1, description: null, payload, has_experiment: false },
  ...(failed && { failed: true }),
})
