import { type Property, reference } from '../../model/model.ts'
import { isRecord, type JsonRecord, listOf, textOr } from '../document.ts'
import { always, any, type Expression, filter, never, not } from '../expression.ts'
import { convertPattern, isJavascriptPattern } from '../javascript-pattern.ts'
import type { Verdict } from '../verdict.ts'
import { partialVersion } from './partial-version.ts'

/** What clauses need to know about the rest of the document. */
export interface ClauseContext {
  readonly verdict: Verdict
  /** The members of any of these segments. */
  readonly inSegments: (keys: readonly string[], path: string) => Expression
}

/** All must hold. */
export const convertClauses = (clauses: unknown, path: string, context: ClauseContext): Expression[] =>
  listOf(clauses).flatMap((clause, index) => convertClause(clause, `${path}[${index}]`, context))

function convertClause(value: unknown, path: string, context: ClauseContext): readonly Expression[] {
  const { verdict } = context
  if (!isRecord(value)) return verdict.refuse('A clause must be an object.', path)
  const values = listOf(value.values)
  const isNegated = value.negate === true
  const alone = (test: Expression): readonly Expression[] => [isNegated ? not(test) : test]
  if (value.op === 'segmentMatch') {
    if (values.length === 0) return alone(never)
    if (!isNegated) return [context.inSegments(values.map(String), `${path}.values`)]
    return values.map(key => not(context.inSegments([String(key)], `${path}.values`)))
  }
  const attribute = attributeName(value.attribute, value.contextKind, `${path}.attribute`, verdict)
  if (attribute === 'kind') return alone(kindTest(value, values, path, context))
  const target = targetOf(attribute, value.contextKind)
  if (attribute === 'anonymous') {
    const [test] = alone(anonymousTest(value.op, values, target))
    return target.group_type_index === undefined ? [test!] : [hasGroup(target.group_type_index), test!]
  }
  const test = testOf(value.op, values, target, path, verdict)
  // Without the attribute, or with null, a clause never matches, negated or not.
  if (isNegated) return [presentIn(target), not(test)]
  return values.includes(null) ? [presentIn(target), test] : [test]
}

export const isUserKind = (kind: unknown): boolean =>
  kind === undefined || kind === null || kind === '' || kind === 'user'

/** The property of a person or group that a filter is about. */
export type Target = Pick<Property, 'key' | 'type'> & { readonly group_type_index?: string }

export function targetOf(attribute: string, kind: unknown): Target {
  if (isUserKind(kind)) return { key: attribute === 'key' ? 'distinct_id' : attribute, type: 'person' }
  const key = attribute === 'key' ? '$group_key' : attribute
  return { key, type: 'group', group_type_index: groupTypeOf(kind)! }
}

const presentIn = (target: Target): Expression =>
  filter({ ...target, operator: 'type_is', value: ['string', 'number', 'boolean', 'list', 'object'] })

/** The group type with the name of a context kind; undefined for users. */
export const groupTypeOf = (kind: unknown): string | undefined =>
  isUserKind(kind) ? undefined : reference(String(kind))

/** Whether there is a context of this kind. */
export const hasGroup = (index: string): Expression =>
  presentIn({ key: '$group_key', type: 'group', group_type_index: index })

/** The kinds of the context: there is always a user here. */
function kindTest({ op }: JsonRecord, values: readonly unknown[], path: string, context: ClauseContext): Expression {
  if (op !== 'in') {
    return context.verdict.refuse('A condition on `kind` can only be "in"; write the kinds as a list.', `${path}.op`)
  }
  return any(
    values.flatMap(kind => {
      if (typeof kind !== 'string' || kind === '') return []
      return kind === 'user' ? always : hasGroup(reference(kind))
    }),
  )
}

/** A context without it is not anonymous. */
function anonymousTest(op: unknown, values: readonly unknown[], target: Target): Expression {
  const isAnonymous = filter({ ...target, operator: 'json_one_of', value: [true] })
  if (op !== 'in') return never
  return any([...(values.includes(true) ? [isAnonymous] : []), ...(values.includes(false) ? [not(isAnonymous)] : [])])
}

/** A reference such as `/address` where the kind is named; otherwise the name as it is. */
export function attributeName(value: unknown, kind: unknown, path: string, verdict: Verdict): string {
  const name = textOr(value, '')
  if (name === '') return verdict.refuse('The attribute has no name; add it to the file.', path)
  const isLiteral = kind === undefined || kind === null || kind === ''
  if (isLiteral || !name.startsWith('/')) return name
  const parts = name.slice(1).split('/')
  if (parts.length > 1) {
    return verdict.refuse(`Properties are not nested; send "${name}" as a property of its own.`, path)
  }
  if (!/^([^~]|~[01])+$/.test(parts[0]!)) return verdict.refuse('The attribute reference is not valid.', path)
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

const dateOperators: Readonly<Record<string, readonly [operator: string, extreme: 'max' | 'min']>> = {
  before: ['date_before', 'max'],
  after: ['date_after', 'min'],
}

const versionOperators: Readonly<Record<string, string>> = {
  semVerEqual: 'version_eq',
  semVerLessThan: 'version_lt',
  semVerGreaterThan: 'version_gt',
}

/** A clause matches when any of its values does. Values of other types than the operator's never match. */
function testOf(op: unknown, values: readonly unknown[], target: Target, path: string, verdict: Verdict): Expression {
  const name = String(op)
  // A key is never a list.
  const isKey = target.key === 'distinct_id' || target.key === '$group_key'
  const test = (operator: string, value: unknown, mode: Partial<Property> = {}): Expression =>
    filter({ ...target, operator, value, ...mode, ...(!isKey && { any_item: true }) })
  const typed = { same_type: true }
  // Objects and lists are never equal there.
  const comparable = values.filter(isNoObject)
  if (name === 'in') return comparable.length === 0 ? never : test('json_one_of', comparable)
  const texts = values.filter(isText)
  if (Object.hasOwn(textOperators, name)) {
    return texts.length === 0 ? never : test(textOperators[name]!, texts, typed)
  }
  if (name === 'matches') {
    const pattern = patternOf(texts, path, verdict)
    return pattern === undefined ? never : test('text_matches', pattern, typed)
  }
  if (Object.hasOwn(orderOperators, name)) {
    const [operator, extreme] = orderOperators[name]!
    const numbers = values.filter(value => typeof value === 'number')
    return numbers.length === 0 ? never : test(operator, Math[extreme](...numbers), typed)
  }
  if (Object.hasOwn(dateOperators, name)) {
    const [operator, extreme] = dateOperators[name]!
    const times = values.map(timeOf).filter(time => !Number.isNaN(time))
    return times.length === 0 ? never : test(operator, dateOf(Math[extreme](...times)))
  }
  if (Object.hasOwn(versionOperators, name)) {
    const versions = texts.flatMap(text => partialVersion(text) ?? [])
    return any(versions.map(version => test(versionOperators[name]!, version, { partial_versions: true })))
  }
  return verdict.refuse(
    `The operator "${name.slice(0, 40)}" is not known; express the clause with another one.`,
    `${path}.op`,
  )
}

const isText = (value: unknown): value is string => typeof value === 'string'

const isNoObject = (value: unknown): boolean => typeof value !== 'object' || value === null

/** Undefined when none can match: LaunchDarkly ignores what is not a regular expression. */
function patternOf(patterns: readonly string[], path: string, verdict: Verdict): string | undefined {
  const converted = patterns
    .filter(isJavascriptPattern)
    .map(pattern => convertPattern(pattern, `${path}.values`, verdict))
  return converted.length <= 1 ? converted[0] : converted.map(pattern => `(?:${pattern})`).join('|')
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d(:\d\d)?)/

function timeOf(value: unknown): number {
  if (typeof value === 'number') return value
  return isText(value) && timestamp.test(value) ? Date.parse(value) : Number.NaN
}

/** As text where the year has four digits. */
function dateOf(time: number): string | number {
  const isUsual = Number.isInteger(time) && time >= 0 && time < Date.UTC(9999, 11, 31)
  return isUsual ? new Date(time).toISOString() : time
}
