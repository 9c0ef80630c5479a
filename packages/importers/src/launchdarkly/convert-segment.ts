import { isRecord, listOf, textsIn } from '../document.ts'
import type { CohortGroup, ImportedCohort, Property } from '../model.ts'
import { type ClauseContext, convertClauses } from './clauses.ts'
import type { SourceSegment } from './read-document.ts'

/** Included people, and those of a rule who are not excluded. */
export function convertSegment(
  { key, path, name, description, state }: SourceSegment,
  context: Omit<ClauseContext, 'within'>,
): ImportedCohort {
  const { verdict } = context
  if (state.unbounded === true) {
    return verdict.refuse('A big segment is not in the file; import its members as a cohort.', `${path}.unbounded`)
  }
  for (const field of ['includedContexts', 'excludedContexts'] as const) {
    if (listOf(state[field]).some(entry => isRecord(entry) && textsIn(entry.values).length > 0)) {
      return verdict.refuse('Cohorts consist of people, not of contexts of other kinds.', `${path}.${field}`)
    }
  }
  const included = textsIn(state.included)
  const excluded = textsIn(state.excluded)
  const notExcluded: Property[] = excluded.length === 0 ? [] : [{ ...people(excluded), negation: true }]
  const rules = listOf(state.rules).map((rule, index): CohortGroup => {
    const at = `${path}.rules[${index}]`
    if (!isRecord(rule)) return verdict.refuse('A rule must be an object.', at)
    if (typeof rule.weight === 'number' && rule.weight < 100_000) {
      return verdict.refuse('A cohort cannot consist of a percentage of people.', `${at}.weight`)
    }
    const properties = convertClauses(rule.clauses, `${at}.clauses`, { ...context, within: 'cohort' })
    if (properties.length + notExcluded.length === 0) return verdict.refuse('The rule has no clauses.', `${at}.clauses`)
    if (properties.some(({ type }) => type === 'group')) {
      return verdict.refuse('Cohorts consist of people, not of contexts of other kinds.', `${at}.clauses`)
    }
    return { type: 'AND', values: [...notExcluded, ...properties.map(inCohortTree)] }
  })
  const values = [...(included.length > 0 ? [{ type: 'AND' as const, values: [people(included)] }] : []), ...rules]
  return {
    sourceId: key,
    name,
    description,
    // A segment without anything has no members.
    content: values.length === 0 ? { ids: [] } : { filters: { properties: { type: 'OR', values } } },
  }
}

const people = (keys: readonly string[]): Property => ({
  key: 'distinct_id',
  type: 'person',
  operator: 'text_equals',
  value: keys,
})

/** Within a cohort the complement is called `negation`. */
function inCohortTree({ inverted, ...property }: Property): Property {
  return inverted === true ? { ...property, negation: true } : property
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
