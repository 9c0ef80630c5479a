import type { ImportedCohort, Property } from '../../model/model.ts'
import { isRecord, listOf, textsIn } from '../document.ts'
import { all, any, type Expression, filter, never, not } from '../expression.ts'
import { attributeName, type ClauseContext, convertClauses, groupTypeOf, hasGroup, targetOf } from './clauses.ts'
import type { SourceSegment } from './read-document.ts'
import { percentageOf } from './rollout.ts'

/** The members of a segment: who is included, and those of a rule who are not excluded. */
export function membersOf({ key, path, state }: SourceSegment, context: ClauseContext): Expression {
  const { verdict } = context
  if (state.unbounded === true) {
    return verdict.refuse(
      'The members of a big segment are not in the file; create a cohort from a list of them.',
      `${path}.unbounded`,
    )
  }
  const included = namedIn(state, 'included')
  const excluded = namedIn(state, 'excluded')
  const rules = listOf(state.rules).map((rule, index): Expression => {
    const at = `${path}.rules[${index}]`
    if (!isRecord(rule)) return verdict.refuse('A rule must be an object.', at)
    const clauses = convertClauses(rule.clauses, `${at}.clauses`, context)
    const { weight, bucketBy, rolloutContextKind: kind } = rule
    const part =
      typeof weight === 'number'
        ? [partOf({ weight, bucketBy, kind, at, seed: `${key}.${String(state.salt ?? '')}` }, context)]
        : []
    return all([...excluded.map(not), ...clauses, ...part])
  })
  return any([...included, ...rules])
}

/** Users and other contexts by their keys. */
function namedIn(state: SourceSegment['state'], field: 'included' | 'excluded'): Expression[] {
  const contexts = listOf(state[`${field}Contexts`]).filter(isRecord)
  const named = [
    { kind: 'user', keys: textsIn(state[field]) },
    ...contexts.map(({ contextKind: kind, values }) => ({ kind, keys: textsIn(values) })),
  ]
  return named
    .filter(({ keys }) => keys.length > 0)
    .map(({ kind, keys }) => filter({ ...targetOf('key', kind), operator: 'text_equals', value: keys }))
}

interface Part {
  readonly weight: number
  readonly bucketBy: unknown
  readonly kind: unknown
  readonly at: string
  readonly seed: string
}

/** A percentage of people or groups. People without a group of that kind have the bucket 0. */
function partOf({ weight, bucketBy, kind, at, seed }: Part, context: ClauseContext): Expression {
  if (weight <= 0) return never
  const by = bucketBy ? attributeName(bucketBy, kind, `${at}.bucketBy`, context.verdict) : 'key'
  const groupType = groupTypeOf(kind)
  const bucketing = { algorithm: 'launchdarkly', seed, ...(by !== 'key' && { by }) }
  // Up to 1 a bucket is below 1 or 1 itself.
  const percentage = weight > 100_000 ? 100 : percentageOf(weight / 100_000)
  const rollout: Expression = { kind: 'rollout', rollout: { percentage, bucketing, groupType } }
  return groupType === undefined ? rollout : any([rollout, not(hasGroup(groupType))])
}

/** Whether a cohort can have these members: cohorts consist of people, and of no percentage of them. */
export function fitsCohort(expression: Expression): boolean {
  switch (expression.kind) {
    case 'rollout':
      return false
    case 'filter':
      return expression.filter.type !== 'group'
    case 'not':
      return fitsCohort(expression.of)
    default:
      return (expression.kind === 'any' || expression.of.length > 0) && expression.of.every(fitsCohort)
  }
}

/** Members of any of these segments, for clauses that name several. */
export const anyOfSegments = (
  sourceId: string,
  segments: readonly Pick<ImportedCohort, 'name' | 'sourceId'>[],
  refer: (id: string) => Property,
): ImportedCohort => ({
  sourceId,
  name: segments
    .map(({ name }) => name)
    .join(' or ')
    .slice(0, 200),
  description: 'Members of any of these segments.',
  content: {
    filters: {
      properties: { type: 'OR', values: segments.map(segment => ({ type: 'AND', values: [refer(segment.sourceId)] })) },
    },
  },
})
