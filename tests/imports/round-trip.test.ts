import { compile, type Snapshot } from '@halyard/engine'
import { convertersBySource, type ExportedProject, exporters, type ImportedProject } from '@halyard/migrate'
import { compileImported, evaluateImported, OFF, type ProofContext } from '@halyard/migrate/prove/evaluate-imported'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { linearRegex } from '../../packages/server/src/evaluation/linear-regex.ts'

/** The payload of a variant is its value, as in the formats that are compared. */
const valuesFor = (snapshot: Snapshot, person: ProofContext) =>
  evaluateImported({ source: 'flagd' }, snapshot, person, 0)

type Json = Record<string, unknown>

const texts = ['pro', 'Pro', 'free', 'a@x.com', '17', '18', '']
const text = fc.constantFrom(...texts)
const oneOrMore = fc.oneof(text, fc.array(text, { minLength: 1, maxLength: 3 }))
const presence = fc.record({ operator: fc.constantFrom('is_set', 'is_not_set'), value: fc.constant('is_set') })

/** Each property has one type: Halyard compares a number as text where an operator asks for it, and flagd does not. */
const textTest = fc.oneof(
  fc.record({ operator: fc.constantFrom('exact', 'is_not', 'text_equals', 'json_one_of'), value: oneOrMore }),
  fc.record({
    operator: fc.constantFrom('icontains', 'not_icontains', 'text_contains', 'text_starts_with', 'text_ends_with'),
    value: text,
  }),
  presence,
)
const numberTest = fc.oneof(
  fc.record({
    operator: fc.constantFrom('gt', 'lte', 'number_eq', 'number_gt', 'number_lte'),
    value: fc.constantFrom(17, 18, 30),
  }),
  presence,
)
const personProperty: fc.Arbitrary<Json> = fc
  .tuple(
    fc.oneof(fc.tuple(fc.constantFrom('plan', 'email'), textTest), fc.tuple(fc.constant('age'), numberTest)),
    fc.constantFrom(undefined, undefined, true),
  )
  .map(([[key, test], inverted]) => ({ key, type: 'person', ...test, ...(inverted && { inverted }) }))
const cohortProperty = fc.record({
  key: fc.constant('id'),
  type: fc.constant('cohort'),
  operator: fc.constantFrom('in', 'not_in'),
  value: fc.integer({ min: 1, max: 3 }),
})
/** On an earlier flag only, so that there is no cycle. */
const flagProperty = (id: number): fc.Arbitrary<Json> =>
  fc.record({
    key: fc.integer({ min: 1, max: id - 1 }).map(String),
    type: fc.constant('flag'),
    operator: fc.constant('flag_evaluates_to'),
    value: fc.boolean(),
  })

const variantKeys = ['a', 'b', 'c']
const bucketing = fc.constantFrom(
  { algorithm: 'unleash', seed: 'group' },
  { algorithm: 'flagd', seed: 'x', encoding: 'utf-16' },
)
const split = (isMultivariate: boolean): fc.Arbitrary<Json> =>
  fc.record({
    bucketing,
    variants: fc.constant(
      isMultivariate
        ? [
            { variant: 'a', weight: 30 },
            { variant: 'b', weight: 70 },
          ]
        : [
            { value: true, weight: 30 },
            { value: false, weight: 70 },
          ],
    ),
  })

const condition = (id: number, isMultivariate: boolean): fc.Arbitrary<Json> =>
  fc
    .record(
      {
        properties: fc.array(
          fc.oneof(
            { weight: 5, arbitrary: personProperty },
            { weight: 1, arbitrary: cohortProperty },
            ...(id > 1 ? [{ weight: 1, arbitrary: flagProperty(id) }] : []),
          ),
          { maxLength: 2 },
        ),
        rollout_percentage: fc.constantFrom(0, 30, 100, 100, 100),
        variant: isMultivariate ? fc.constantFrom(null, ...variantKeys) : fc.constant(null),
        value: fc.constantFrom(undefined, undefined, undefined, false),
        split: fc.oneof(
          { weight: 4, arbitrary: fc.constant(undefined) },
          { weight: 1, arbitrary: split(isMultivariate) },
        ),
      },
      { requiredKeys: ['properties'] },
    )
    .map(withoutUndefined)

const withoutUndefined = (value: Json): Json =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined))

const flag = (id: number): fc.Arbitrary<Json> =>
  fc.boolean().chain(isMultivariate =>
    fc.record({
      id: fc.constant(id),
      key: fc.constant(`flag-${id}`),
      name: fc.constant(''),
      active: fc.constantFrom(true, true, true, false),
      tags: fc.constant([]),
      ensureExperienceContinuity: fc.constant(false),
      bucketingIdentifier: fc.constant(null),
      filters: fc
        .record({
          groups: fc.array(condition(id, isMultivariate), { minLength: 1, maxLength: 3 }),
          multivariate: fc.constant(
            isMultivariate
              ? { variants: variantKeys.map((key, index) => ({ key, rollout_percentage: [50, 30, 20][index]! })) }
              : undefined,
          ),
          payloads: fc.constantFrom(undefined, isMultivariate ? { a: '1', b: '2', c: '3' } : undefined),
          bucketing: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: bucketing }),
        })
        .map(withoutUndefined),
    }),
  )

const cohort = (id: number): fc.Arbitrary<Json> =>
  fc.record({
    id: fc.constant(id),
    name: fc.constant(`Cohort ${id}`),
    isStatic: fc.constantFrom(false, false, false, true),
    filters: fc
      .array(
        fc.oneof(
          {
            weight: 4,
            arbitrary: personProperty.map(({ inverted, ...rest }) => ({ ...rest, negation: inverted === true })),
          },
          ...(id > 1 ? [{ weight: 1, arbitrary: fc.constant({ key: 'id', type: 'cohort', value: id - 1 }) }] : []),
        ),
        { minLength: 1, maxLength: 2 },
      )
      .map(values => ({ properties: { type: 'OR', values: [{ type: 'AND', values }] } })),
  })

const project = fc
  .record({
    flags: fc.tuple(flag(1), flag(2), flag(3), flag(4)),
    cohorts: fc.tuple(cohort(1), cohort(2), cohort(3)),
    groupTypes: fc.constant({}),
  })
  .map(value => value as unknown as ExportedProject)

const people = Array.from({ length: 40 }, (_, index) => ({
  id: `user-${index}`,
  attributes: withoutUndefined({
    plan: [undefined, 'pro', 'Pro', 'free', '18'][index % 5],
    age: [17, 18, 30, undefined][index % 4],
    email: ['a@x.com', '', undefined][index % 3],
  }),
}))

const compiled = ({ flags, cohorts }: ExportedProject): Snapshot =>
  compile({ flags, cohorts, groupTypes: {}, propertyMatchingVersion: 2 }, { regex: linearRegex })

function expectSameValues(project: ExportedProject, exact: readonly string[], imported: ImportedProject): void {
  const [before, after] = [compiled(project), compileImported(imported, linearRegex)]
  for (const person of people) {
    const [wanted, found] = [valuesFor(before, person), valuesFor(after, person)]
    for (const key of exact) expect([key, person, found.get(key)]).toEqual([key, person, wanted.get(key)])
  }
}

it.each([
  ['posthog', 'posthog', {}],
  ['flagd', 'flagd', { flagdVersion: '0.15.0' }],
] as const)('flags that are exported to %s and imported exactly have the same values', (format, source, options) => {
  let compared = 0
  fc.assert(
    fc.property(project, exported => {
      const { document, items } = exporters[format](exported)
      const written = items.filter(({ status }) => status === 'exact').map(({ key }) => key)
      // As it is in a file.
      const imported = convertersBySource[source]!(JSON.parse(JSON.stringify(document)), options)
      const statuses = new Map(imported.items.map(item => [item.sourceKey, item.status]))
      const exact = written.filter(key => statuses.get(key) === 'exact')
      // flagd fails where a type does not fit, so its importer calls most comparisons approximate.
      if (source === 'posthog') expect(exact).toEqual(written)
      compared += exact.length
      expectSameValues(exported, exact, imported)
    }),
    { numRuns: 150 },
  )
  expect(compared).toBeGreaterThan(20)
})

it('a manifest has each flag with the type of its values, or refuses it', () => {
  const isOf = (type: string | undefined, value: unknown): boolean => {
    if (type === 'boolean') return value === true
    return typeof value === (type === 'integer' || type === 'float' ? 'number' : type)
  }
  fc.assert(
    fc.property(project, exported => {
      const { document, items } = exporters['openfeature-manifest'](exported)
      const written = document.flags as Record<string, { flagType: string }>
      for (const { key, status } of items) expect(key in written, key).toBe(status !== 'refused')
      const snapshot = compiled(exported)
      for (const person of people) {
        for (const [key, value] of valuesFor(snapshot, person)) {
          const isServed = key in written && value !== OFF && value !== 'failed'
          if (isServed) expect([key, value, isOf(written[key]?.flagType, value)]).toEqual([key, value, true])
        }
      }
    }),
    { numRuns: 30 },
  )
})
