import { compile, type FlagDefinition } from '@halyard/engine'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { serializeFlagsResponse } from '../api/sdk/serialize-flags-response.ts'
import { linearRegex } from '../evaluation/linear-regex.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import { createFlagsResponseTemplates } from './flags-response-template.ts'
import { createResponseBatch } from './response-batch.ts'

const condition = fc.record({
  properties: fc.array(
    fc.record({ key: fc.constantFrom('a', 'b'), value: fc.constantFrom('x', 'y'), type: fc.constant('person') }),
    {
      maxLength: 2,
    },
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
const definitions = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), filters, fc.boolean()), {
  selector: ([key]) => key,
  maxLength: 40,
})

/** By the size of the fragment cache. */
const caches: readonly [string, number | undefined][] = [
  ['with the usual cache', undefined],
  ['with a cache that overflows with every response', 0],
]

const requestId = '0b9c9c3e-5d3f-4b1e-8a43-2f2b9d5c7f10'

it.each(caches)('writes the bytes that the ordinary path writes, %s', (_, bytesMax) => {
  const templateOf = createFlagsResponseTemplates(bytesMax)
  const memory = createResponseBatch()
  fc.assert(
    fc.property(definitions, fc.array(fc.string(), { minLength: 1, maxLength: 5 }), (flags, people) => {
      const list = flags.map(
        ([key, filters, active], index): FlagDefinition => ({ id: index + 1, key, active, version: 3, filters }),
      )
      const snapshot = compile(
        { flags: list, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 },
        { regex: linearRegex },
      )
      const served = { snapshot } as ServedProject
      const eligible = snapshot.flags.flatMap((flag, index) => (flag.active ? [index] : []))
      for (const distinctId of people) {
        const results = snapshot.evaluate({ distinctId, personProperties: { a: 'x', b: distinctId } }, { now: 0 })
        const envelope = { requestId, evaluatedAt: 7, hasErrors: false }
        const generic = serializeFlagsResponse(snapshot.flags, results, eligible, 'details', envelope)
        const { bytes, from, to } = templateOf(served)(results, eligible, envelope, memory)!
        // A JavaScript object sorts keys that look like numbers.
        const json = JSON.stringify(generic)
        expect(JSON.parse(bytes.toString('utf8', from, to))).toEqual(JSON.parse(json))
        expect(to - from).toBe(Buffer.byteLength(json))
      }
    }),
  )
})

it.each(caches)('writes responses with many flags and large payloads, %s', (_, bytesMax) => {
  const templateOf = createFlagsResponseTemplates(bytesMax)
  const memory = createResponseBatch()
  const list = Array.from({ length: 300 }, (_, index): FlagDefinition => {
    const payload = JSON.stringify('ä'.repeat(index % 97 === 5 ? 2048 * (index % 3) * 100 : index % 41))
    return {
      id: index + 1,
      key: `flag-${index}`,
      active: true,
      filters: { groups: [{ properties: [], rollout_percentage: 50 }], payloads: { true: payload } },
    }
  })
  const definitions = { cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 } as const
  const before = compile({ ...definitions, flags: list }, { regex: linearRegex })
  const after = before.update({ flags: [{ ...list[3]!, filters: { groups: [{ properties: [] }] } }] })
  const envelope = { requestId, evaluatedAt: 7, hasErrors: false }
  for (const snapshot of [before, after, before]) {
    const served = { snapshot } as ServedProject
    for (const distinctId of ['a', 'b', 'c', 'a']) {
      const results = snapshot.evaluate({ distinctId }, { now: 0 })
      const eligible = snapshot.flags.map((_, index) => index)
      const generic = serializeFlagsResponse(snapshot.flags, results, eligible, 'details', envelope)
      const { bytes, from, to } = templateOf(served)(results, eligible, envelope, memory)!
      expect(bytes.toString('utf8', from, to)).toBe(JSON.stringify(generic))
    }
  }
})

it.each([
  ['a result that is too large to be stored', 1, 1024 * 1024],
  ['a response that is too large to be assembled', 10, 900 * 1024],
])('leaves %s to the serializer', (_, flagCount, payloadLength) => {
  const payloads = { true: JSON.stringify('x'.repeat(payloadLength)) }
  const filters = { groups: [{ properties: [] }], payloads }
  const flags = Array.from({ length: flagCount }, (_, index) => ({
    id: index + 1,
    key: `large-${index}`,
    active: true,
    filters,
  }))
  const definitions = { flags, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 } as const
  const snapshot = compile(definitions, { regex: linearRegex })
  const template = createFlagsResponseTemplates()({ snapshot } as ServedProject)
  const results = snapshot.evaluate({ distinctId: 'user' }, { now: 0 })
  const all = snapshot.flags.map((_, index) => index)
  const assemble = (eligible: number[]) =>
    template(results, eligible, { requestId, evaluatedAt: 7, hasErrors: false }, createResponseBatch())
  expect(assemble(all)).toBeUndefined()
  expect(assemble(all.slice(1))).toBeDefined()
})
