import { isRecord, listOf, textOr } from '../document.ts'
import { javascriptPattern } from '../javascript-pattern.ts'
import { inCohort, type Property } from '../model.ts'
import type { Verdict } from '../verdict.ts'

/** What clauses need to know about the rest of the document. */
export interface ClauseContext {
  readonly verdict: Verdict
  /** The source id of a cohort that has the members of any of these segments; undefined when one cannot be used. */
  readonly cohortOf: (segments: readonly string[]) => string | undefined
  /** The group type of a context kind; undefined when the project has none. */
  readonly groupType: (kind: string) => number | undefined
  /** Within a cohort, another cohort is excluded by `negation`. */
  readonly within: 'flag' | 'cohort'
}

/** All filters must hold, as all clauses of a rule must. */
export function convertClauses(clauses: unknown, path: string, context: ClauseContext): Property[] {
  return listOf(clauses).flatMap((clause, index) => convertClause(clause, `${path}[${index}]`, context))
}

function convertClause(value: unknown, path: string, context: ClauseContext): Property[] {
  const { verdict } = context
  if (!isRecord(value)) return verdict.refuse('A clause must be an object.', path)
  const { op, negate } = value
  const values = listOf(value.values)
  if (values.length === 0) return verdict.refuse('The clause has no values.', `${path}.values`)
  if (op === 'segmentMatch') return convertSegmentMatch(values, negate === true, path, context)
  const target = subjectOf(value, path, context)
  const { any_item, ...test } = testOf(op, values, path, verdict)
  // A key is never a list.
  const isKey = target.key === 'distinct_id' || target.key === '$group_key'
  const property = { ...target, ...test, ...(any_item === true && !isKey && { any_item }) }
  // Without the attribute, or with null, a clause never matches, negated or not.
  const isPresent = { ...target, operator: 'type_is', value: ['string', 'number', 'boolean', 'list', 'object'] }
  if (negate === true) return [isPresent, { ...property, inverted: true }]
  return values.includes(null) ? [isPresent, property] : [property]
}

function convertSegmentMatch(
  values: readonly unknown[],
  isNegated: boolean,
  path: string,
  { cohortOf, verdict, within }: ClauseContext,
): Property[] {
  const segments = values.map(String)
  const groups = isNegated ? segments.map(segment => [segment]) : [segments]
  return groups.map(group => {
    const cohort = cohortOf(group)
    if (cohort === undefined) {
      return verdict.refuse(
        `The segment ${group.join(', ')} is not in the file or was refused, or its rules form a cycle.`,
        `${path}.values`,
      )
    }
    if (within === 'flag') return inCohort(cohort, isNegated ? 'not_in' : 'in')
    return { ...inCohort(cohort), ...(isNegated && { negation: true }) }
  })
}

const userKinds: ReadonlySet<unknown> = new Set([undefined, null, '', 'user'])

/** Whose attribute it is, and how Halyard names it. */
function subjectOf(
  clause: Readonly<Record<string, unknown>>,
  path: string,
  { groupType, verdict }: ClauseContext,
): Pick<Property, 'key' | 'type'> & { readonly group_type_index?: number } {
  const { contextKind } = clause
  const isUser = userKinds.has(contextKind)
  const attribute = attributeName(clause.attribute, `${path}.attribute`, verdict)
  if (attribute === 'kind') return verdict.refuse('Conditions on the kind of a context have no equivalent.', path)
  if (isUser) return { key: attribute === 'key' ? 'distinct_id' : attribute, type: 'person' }
  const index = groupType(String(contextKind))
  if (index === undefined) {
    return verdict.refuse(
      `The context kind "${String(contextKind)}" needs a group type of the same name in the project.`,
      `${path}.contextKind`,
    )
  }
  return { key: attribute === 'key' ? '$group_key' : attribute, type: 'group', group_type_index: index }
}

/** A name, or a reference such as `/address/city`. */
export function attributeName(value: unknown, path: string, verdict: Verdict): string {
  const name = textOr(value, '')
  if (name === '') return verdict.refuse('The attribute has no name.', path)
  if (!name.startsWith('/')) return name
  const parts = name.slice(1).split('/')
  if (parts.length > 1) return verdict.refuse(`Properties are not nested, so "${name}" has no equivalent.`, path)
  return parts[0]!.replaceAll('~1', '/').replaceAll('~0', '~')
}

const textOperators: Readonly<Record<string, string>> = {
  startsWith: 'text_starts_with',
  endsWith: 'text_ends_with',
  contains: 'text_contains',
}

const orderOperators: Readonly<Record<string, readonly [operator: string, extreme: 'max' | 'min']>> = {
  lessThan: ['number_lt', 'max'],
  lessThanOrEqual: ['number_lte', 'max'],
  greaterThan: ['number_gt', 'min'],
  greaterThanOrEqual: ['number_gte', 'min'],
}

const versionOperators: Readonly<Record<string, string>> = {
  semVerEqual: 'version_eq',
  semVerLessThan: 'version_lt',
  semVerGreaterThan: 'version_gt',
}

interface ClauseTest {
  readonly operator: string
  readonly value: unknown
  readonly same_type?: boolean
  readonly any_item?: boolean
}

/** No type is converted, and one item of a list suffices. */
const typed = { same_type: true, any_item: true } as const

/** A clause matches when any of its values does. */
function testOf(op: unknown, values: readonly unknown[], path: string, verdict: Verdict): ClauseTest {
  const name = String(op)
  // Objects and lists are never equal there.
  if (name === 'in') return { operator: 'json_one_of', value: values.filter(isNoObject), any_item: true }
  if (Object.hasOwn(textOperators, name)) {
    return { operator: textOperators[name]!, value: values.filter(isText), ...typed }
  }
  if (name === 'matches') {
    return { operator: 'text_matches', value: patternOf(values.filter(isText), path, verdict), ...typed }
  }
  if (Object.hasOwn(orderOperators, name)) {
    const [operator, extreme] = orderOperators[name]!
    const numbers = values.filter(value => typeof value === 'number')
    if (numbers.length === 0) return verdict.refuse(`${name} needs a number.`, `${path}.values`)
    return { operator, value: Math[extreme](...numbers), ...typed }
  }
  if (name === 'before' || name === 'after') {
    const times = values.map(timeOf).filter(time => !Number.isNaN(time))
    if (times.length === 0) return verdict.refuse(`${name} needs a date.`, `${path}.values`)
    verdict.differs('Text that is no date of RFC 3339 never matches in LaunchDarkly; here other dates do.', path)
    const time = name === 'before' ? Math.max(...times) : Math.min(...times)
    return { operator: `is_date_${name}`, value: new Date(time).toISOString() }
  }
  if (Object.hasOwn(versionOperators, name)) {
    if (values.length > 1) return verdict.refuse(`${name} with several versions has no equivalent.`, `${path}.values`)
    verdict.differs('LaunchDarkly reads "2" as the version 2.0.0; here a version has three numbers.', path)
    return { operator: versionOperators[name]!, value: values[0], any_item: true }
  }
  return verdict.refuse(`The operator "${name.slice(0, 40)}" is not known.`, `${path}.op`)
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isNoObject = (value: unknown): boolean => typeof value !== 'object' || value === null

function patternOf(patterns: readonly string[], path: string, verdict: Verdict): string {
  const converted = patterns.map(pattern => {
    const found = javascriptPattern(pattern)
    return found ?? verdict.refuse('The regular expression has no equivalent in RE2.', `${path}.values`)
  })
  if (converted.length === 0) return verdict.refuse('matches needs a regular expression.', `${path}.values`)
  return converted.length === 1 ? converted[0]! : converted.map(pattern => `(?:${pattern})`).join('|')
}

const timeOf = (value: unknown): number =>
  typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
