import { compile, type FlagDefinition } from '@halyard/engine'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRequestIds } from '../api/sdk/request-ids.ts'
import { serializeFlagsResponse } from '../api/sdk/serialize-flags-response.ts'
import { linearRegex } from '../evaluation/linear-regex.ts'
import type { ServedProject } from '../evaluation/projects/served-project.ts'
import { createFlagsResponseTemplates } from './flags-response-template.ts'
import { firstBytes, inJavaScript, openFragmentCopier } from './fragment-copier.ts'
import { createResponseBuffer } from './response-buffer.ts'
import { createResponseFragments, pieceInLineBytesMax, type ResponseFragments } from './response-fragments.ts'

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
  // Malformed: told as failed.
  fc.constant({ groups: 'nonsense' }),
)
const definitions = fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), filters, fc.boolean()), {
  selector: ([key]) => key,
  maxLength: 40,
})

const ways: Record<string, () => ResponseFragments> = {
  'in WebAssembly': () => createResponseFragments(),
  'in JavaScript': () => createResponseFragments(inJavaScript()),
  'when hardly anything can be kept': () => createResponseFragments(openFragmentCopier(), firstBytes),
}

it.each(Object.entries(ways))('copies the very answer that the plain way writes, %s', (_, createPieces) => {
  const fastAnswers = createFlagsResponseTemplates(createPieces)
  const room = createResponseBuffer()
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
        const envelope = { requestId: createRequestIds()(), evaluatedAt: 7, hasErrors: false }
        const plain = serializeFlagsResponse(snapshot.flags, results, eligible, 'details', envelope)
        const { bytes, from, to } = fastAnswers(served)(results, eligible, envelope, room)
        expect(JSON.parse(bytes.toString('utf8', from, to))).toEqual(JSON.parse(JSON.stringify(plain)))
      }
    }),
  )
})

it.each(Object.entries(ways))('copies answers of many flags and of large payloads, %s', (_, createPieces) => {
  const fastAnswers = createFlagsResponseTemplates(createPieces)
  const room = createResponseBuffer()
  const list = Array.from({ length: 300 }, (_, index): FlagDefinition => {
    const payload = JSON.stringify('ä'.repeat(index % 97 === 5 ? pieceInLineBytesMax * (index % 3) * 100 : index % 41))
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
  const envelope = { requestId: createRequestIds()(), evaluatedAt: 7, hasErrors: false }
  for (const snapshot of [before, after, before]) {
    const served = { snapshot } as ServedProject
    for (const distinctId of ['a', 'b', 'c', 'a']) {
      const results = snapshot.evaluate({ distinctId }, { now: 0 })
      const eligible = snapshot.flags.map((_, index) => index)
      const plain = serializeFlagsResponse(snapshot.flags, results, eligible, 'details', envelope)
      const { bytes, from, to } = fastAnswers(served)(results, eligible, envelope, room)
      expect(JSON.parse(bytes.toString('utf8', from, to))).toEqual(JSON.parse(JSON.stringify(plain)))
    }
  }
})
