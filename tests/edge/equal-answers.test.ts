import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  edgeKey,
  flagsAt,
  type RunningEdge,
  removeEdgeFolder,
  startEdge,
} from '../../packages/server/src/testing/edges.ts'
import { type Program, startProgram } from '../program/start-program.ts'

const people = Number(process.env.HALYARD_EDGE_PEOPLE ?? 150)
const flagsMax = 40

const value = fc.constantFrom<unknown>(
  'pro',
  'free',
  'a@b.example',
  7,
  '7',
  true,
  ['pro', 'x'],
  '2024-05-01',
  '1.2.3',
  'ü',
)
const property = fc.record({
  key: fc.constantFrom('plan', 'email', 'age', '$version'),
  type: fc.constant('person'),
  operator: fc.constantFrom(
    'exact',
    'is_not',
    'icontains',
    'not_icontains',
    'regex',
    'gt',
    'lt',
    'is_set',
    'is_date_before',
  ),
  value,
})
const condition = fc.record({
  properties: fc.array(property, { maxLength: 2 }),
  rollout_percentage: fc.constantFrom(null, 0, 10, 50, 99, 100),
})
const multivariate = fc.constantFrom(null, {
  variants: [
    { key: 'one', rollout_percentage: 30 },
    { key: 'two', rollout_percentage: 70 },
  ],
})
const filters = fc.record({
  groups: fc.array(condition, { minLength: 1, maxLength: 3 }),
  multivariate,
  payloads: fc.constantFrom({}, { true: '{"a":1}' }),
})
const person = fc.record({
  distinct_id: fc.string({ minLength: 1, maxLength: 20 }),
  person_properties: fc.dictionary(fc.constantFrom('plan', 'email', 'age', '$version'), value),
  $device_id: fc.constantFrom('d1', 'd2'),
})

let s: Program
let edge: RunningEdge
beforeAll(async () => {
  s = await startProgram('sqlite')
  // Flags that cannot be evaluated are rejected with 400, which does not matter here.
  for (const [n, given] of fc.sample(filters, { numRuns: flagsMax, seed: 5 }).entries()) {
    await s.post(`${s.project}/feature_flags/`, { key: `f${n}`, filters: given, active: n % 9 !== 0 })
  }
  edge = await startEdge(s.url, await edgeKey(s))
  await edge.edge.following.firstAttempt
})
afterAll(async () => {
  await edge.close()
  await removeEdgeFolder(edge.folder)
  await s.close()
})

it(
  `evaluates random flags for ${people} persons like its upstream`,
  async () => {
    const definitions = (await s.get(`/flags/definitions?token=${s.projectToken}`)).body.flags
    expect(definitions.length).toBeGreaterThan(10)
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(person, async given => {
        const body = { token: s.projectToken, ...given }
        const [here, there] = await Promise.all([flagsAt(edge, body), flagsAt(s, body)])
        expect(here).toEqual(there)
        for (const { enabled, variant } of Object.values((here as { flags: Record<string, Detail> }).flags)) {
          seen.add(`${enabled} ${variant}`)
        }
      }),
      { numRuns: people },
    )
    // The test is meaningful only if results differ between persons.
    expect([...seen].sort()).toEqual(['false null', 'true null', 'true one', 'true two'])
  },
  60_000 + people * 200,
)

interface Detail {
  readonly enabled: boolean
  readonly variant: string | null
}
