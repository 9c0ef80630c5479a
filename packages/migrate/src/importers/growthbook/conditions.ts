import { isRecord, type JsonRecord, listOf } from '../document.ts'
import { all, any, type Expression, never, not, person } from '../expression.ts'
import { convertPattern } from '../javascript-pattern.ts'
import { isFullVersion } from '../value-checks.ts'
import type { Verdict } from '../verdict.ts'

export interface ConditionContext {
  readonly verdict: Verdict
  readonly savedGroups: JsonRecord
  /** The saved groups whose conditions are open, to find cycles. */
  readonly open?: readonly string[]
}

/** A condition in MongoDB's syntax, with GrowthBook's conversions between types. */
export function convertCondition(value: unknown, path: string, context: ConditionContext): Expression {
  const { verdict } = context
  if (!isRecord(value)) return verdict.refuse('A condition must be an object.', path)
  return all(
    Object.entries(value).map(([key, inner]) => {
      const at = `${path}.${key}`
      const each = () => listOf(inner).map((part, index) => convertCondition(part, `${at}[${index}]`, context))
      if (key === '$or') return listOf(inner).length === 0 ? all([]) : any(each())
      if (key === '$nor') return listOf(inner).length === 0 ? never : not(any(each()))
      if (key === '$and') return all(each())
      if (key === '$not') return not(convertCondition(inner, at, context))
      if (key === '$savedGroup') return savedGroup(inner, context)
      if (key.includes('.'))
        return verdict.refuse(`Properties are not nested; send "${key}" as a property of its own.`, at)
      if (key === 'id' && /[[:,]\s*-?\d/.test(JSON.stringify([inner]))) {
        verdict.differs(numericIds, at)
      }
      return valueTest(propertyOf(key), inner, at, context)
    }),
  )
}

/** GrowthBook's `id` is Halyard's distinct id. */
export const propertyOf = (attribute: string): string => (attribute === 'id' ? 'distinct_id' : attribute)

const presentTypes = ['string', 'number', 'boolean', 'list', 'object']
const present = (key: string): Expression => person(key, 'type_is', presentTypes)
const missing = (key: string): Expression => not(present(key))
/** Distinct ids are text, so that numbers that they are compared with become text. */
const oneOf = (key: string, values: readonly unknown[]): Expression =>
  person(key, 'json_one_of', key === 'distinct_id' ? values.map(idText) : values)

const idText = (value: unknown): unknown => (typeof value === 'number' ? String(value) : value)

const numericIds = 'GrowthBook distinguishes numbers and text in ids, which are text here; compare with text.'

function noteNumericIds(key: string, values: readonly unknown[], path: string, verdict: Verdict): void {
  if (key === 'distinct_id' && values.some(value => typeof value === 'number')) verdict.differs(numericIds, path)
}

function savedGroup(value: unknown, context: ConditionContext): Expression {
  if (!isRecord(value) || typeof value.id !== 'string') return never
  const group = context.savedGroups[value.id]
  if (!isRecord(group) || context.open?.includes(value.id)) return never
  if (group.type === 'list') {
    const attribute = value.attributeKey ?? group.attributeKey
    if (typeof attribute !== 'string' || !Array.isArray(group.values)) return never
    noteNumericIds(propertyOf(attribute), group.values, `savedGroups.${value.id}.values`, context.verdict)
    return isIn(propertyOf(attribute), group.values)
  }
  if (group.type !== 'condition' || !isRecord(group.condition)) return never
  const open = [...(context.open ?? []), value.id]
  return convertCondition(group.condition, `savedGroups.${value.id}.condition`, { ...context, open })
}

function valueTest(key: string, value: unknown, path: string, context: ConditionContext): Expression {
  if (typeof value === 'string') return textTest(key, value)
  if (typeof value === 'number') return numberTest(key, value)
  if (typeof value === 'boolean') {
    // Not `oneOf`: the text "0" is truthy, in an id too.
    const falsy = person(key, 'json_one_of', [false, 0, ''])
    return value ? all([present(key), not(falsy)]) : falsy
  }
  if (value === null) return missing(key)
  if (!isRecord(value) || !isOperators(value)) {
    if (hasOrderedKeys(value)) {
      context.verdict.differs(
        'GrowthBook compares the order of keys in objects, which does not matter here; compare single attributes.',
        path,
      )
    }
    return oneOf(key, [value])
  }
  return all(
    Object.entries(value).map(([name, operand]) => operatorTest(key, name, operand, `${path}.${name}`, context)),
  )
}

const isOperators = (value: JsonRecord): boolean => {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every(name => name.startsWith('$'))
}

const hasOrderedKeys = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasOrderedKeys)
    : isRecord(value) && (Object.keys(value).length > 1 || Object.values(value).some(hasOrderedKeys))

/** Values of other types that JavaScript writes as this text. */
function sameText(text: string): unknown[] {
  const number = Number(text)
  const isNumber = text.trim() !== '' && String(number) === text
  return [text, ...(isNumber ? [number] : []), ...(text === 'true' || text === 'false' ? [text === 'true'] : [])]
}

function textTest(key: string, text: string): Expression {
  const equal = oneOf(key, [...sameText(text), text === '' ? [] : text.split(',')])
  return text === 'null' ? any([equal, missing(key)]) : equal
}

function numberTest(key: string, number: number): Expression {
  const booleans = [true, false].filter(value => Number(value) === number)
  return any([
    person(key, 'number_eq', number),
    ...(booleans.length > 0 ? [oneOf(key, booleans)] : []),
    ...(number === 0 ? [missing(key)] : []),
  ])
}

function isIn(key: string, values: readonly unknown[]): Expression {
  const plain = values.filter(value => typeof value !== 'object')
  return any([
    oneOf(key, plain),
    person(
      key,
      'list_contains_any',
      values.filter(value => typeof value !== 'object' || value === null),
    ),
    ...(values.includes(null) ? [missing(key)] : []),
  ])
}

function isInIgnoringCase(key: string, values: readonly unknown[]): Expression {
  const texts = values.filter(value => typeof value === 'string')
  const others = values.filter(value => typeof value !== 'string' && typeof value !== 'object')
  return any([
    all([person(key, 'type_is', 'string'), person(key, 'text_equals', texts, { ignore_case: true })]),
    ...(others.length > 0 ? [oneOf(key, others)] : []),
    person(key, 'list_contains_any', [...texts, ...others], { ignore_case: true }),
    ...(values.includes(null) ? [missing(key)] : []),
  ])
}

const orders: Readonly<Record<string, readonly [string, (left: number, right: number) => boolean]>> = {
  $lt: ['number_lt', (left, right) => left < right],
  $lte: ['number_lte', (left, right) => left <= right],
  $gt: ['number_gt', (left, right) => left > right],
  $gte: ['number_gte', (left, right) => left >= right],
}

const versionOrders: Readonly<Record<string, readonly [string, (left: string, right: string) => boolean]>> = {
  $veq: ['version_eq', (left, right) => left === right],
  $vgt: ['version_gt', (left, right) => left > right],
  $vgte: ['version_gte', (left, right) => left >= right],
  $vlt: ['version_lt', (left, right) => left < right],
  $vlte: ['version_lte', (left, right) => left <= right],
}

function operatorTest(
  key: string,
  name: string,
  operand: unknown,
  path: string,
  context: ConditionContext,
): Expression {
  const { verdict, savedGroups } = context
  const list = listOf(operand)
  if (Object.hasOwn(orders, name)) return orderTest(key, name, operand, path, verdict)
  if (Object.hasOwn(versionOrders, name)) return versionTest(key, name, operand, path, verdict)
  switch (name) {
    case '$eq':
      return strictEquality(key, operand)
    case '$ne':
      return not(strictEquality(key, operand))
    case '$vne':
      return not(versionTest(key, '$veq', operand, path, verdict))
    case '$exists':
      return operand ? present(key) : missing(key)
    case '$in':
      return Array.isArray(operand) ? isIn(key, list) : never
    case '$nin':
      return Array.isArray(operand) ? not(isIn(key, list)) : never
    case '$ini':
      return Array.isArray(operand) ? isInIgnoringCase(key, list) : never
    case '$nini':
      return Array.isArray(operand) ? not(isInIgnoringCase(key, list)) : never
    case '$inGroup':
    case '$notInGroup': {
      const values = groupValues(savedGroups[String(operand)])
      if (values === null) return never
      noteNumericIds(key, values, path, verdict)
      return name === '$inGroup' ? isIn(key, values) : not(isIn(key, values))
    }
    case '$not':
      return not(valueTest(key, operand, path, context))
    case '$size':
      if (!Number.isInteger(operand)) return verdict.refuse('$size needs a whole number.', path)
      return person(key, 'list_length', operand)
    case '$all':
    case '$alli':
      if (!Array.isArray(operand)) return never
      return all([
        person(key, 'type_is', 'list'),
        ...list.map(item => containsTest(key, item, name === '$alli', path, verdict)),
      ])
    case '$elemMatch':
      return elementTest(key, operand, path, verdict)
    case '$regex':
    case '$regexi':
      return patternTest(key, operand, name === '$regexi', path, verdict)
    case '$type':
      return typeTest(key, operand)
    default:
      return verdict.refuse(`The operator "${name.slice(0, 40)}" is not known; use another one.`, path)
  }
}

function strictEquality(key: string, operand: unknown): Expression {
  if (operand === null) return missing(key)
  return typeof operand === 'object' ? never : oneOf(key, [operand])
}

/** An unknown group is empty; one of another kind matches no one. */
function groupValues(group: unknown): readonly unknown[] | null {
  if (group === undefined) return []
  if (Array.isArray(group)) return group
  return isRecord(group) && group.type === 'list' && Array.isArray(group.values) ? group.values : null
}

/** A missing attribute counts as 0, and so do blank text and false. */
function orderTest(key: string, name: string, operand: unknown, path: string, verdict: Verdict): Expression {
  if (typeof operand !== 'number')
    return verdict.refuse('Only numbers can be compared by order; compare dates as milliseconds.', path)
  const [operator, holds] = orders[name]!
  const booleans = [true, false].filter(value => holds(Number(value), operand))
  return any([
    person(key, operator, operand),
    ...(booleans.length > 0 ? [oneOf(key, booleans)] : []),
    ...(holds(0, operand) ? [missing(key)] : []),
  ])
}

function versionTest(key: string, name: string, operand: unknown, path: string, verdict: Verdict): Expression {
  if (!isFullVersion(operand))
    return verdict.refuse('The version must be a full one, such as 1.2.3; complete it.', path)
  verdict.differs('GrowthBook also compares texts that are not full versions; send versions such as 1.2.3.', path)
  const [operator, holds] = versionOrders[name]!
  const test = person(key, operator, operand)
  return holds(padded('0'), padded(operand)) ? any([test, missing(key)]) : test
}

/** Versions as GrowthBook compares them, for the one that stands for a missing attribute. */
function padded(version: string): string {
  const parts = version.replace(/^v/, '').split('+', 1)[0]!.split(/[-.]/)
  if (parts.length === 3) parts.push('~')
  return parts.map(part => (/^\d+$/.test(part) ? part.padStart(5, ' ') : part)).join('-')
}

function containsTest(key: string, item: unknown, ignoresCase: boolean, path: string, verdict: Verdict): Expression {
  const fold = ignoresCase ? { ignore_case: true } : {}
  if (typeof item === 'string') return person(key, 'list_contains_any', sameText(item), fold)
  if (typeof item === 'number') return person(key, 'list_contains_any', [item, String(item)])
  return verdict.refuse('Only texts and numbers can be looked for in lists; remove the other values.', path)
}

/** One item that is equal to a value, or to one of several. */
function elementTest(key: string, operand: unknown, path: string, verdict: Verdict): Expression {
  const [[name, value] = [], ...others] = isRecord(operand) ? Object.entries(operand) : []
  const isPlain = (item: unknown) => typeof item !== 'object'
  if (others.length === 0 && name === '$eq' && isPlain(value)) return person(key, 'list_contains_any', [value])
  if (others.length === 0 && name === '$in' && Array.isArray(value) && value.every(isPlain)) {
    return person(key, 'list_contains_any', value)
  }
  return verdict.refuse('Items of a list can only be compared with values; use $eq or $in within $elemMatch.', path)
}

/** A missing attribute is tested as the text `null`. */
function patternTest(key: string, operand: unknown, ignoresCase: boolean, path: string, verdict: Verdict): Expression {
  const pattern = convertPattern(operand, path, verdict)
  verdict.differs('GrowthBook also matches lists, joined by commas; send text, a number or a boolean.', path)
  const test = person(key, 'text_matches', pattern, ignoresCase ? { ignore_case: true } : {})
  if (!isQuickToTest(operand as string)) {
    verdict.differs('GrowthBook matches a missing attribute as the text "null"; send the attribute always.', path)
    return test
  }
  const matchesMissing = new RegExp(operand as string, ignoresCase ? 'i' : undefined).test('null')
  return matchesMissing ? any([test, missing(key)]) : test
}

/** Few choices even for a backtracking engine: a pattern such as `(|)(|)(|)…x` takes exponential time on four characters. */
function isQuickToTest(pattern: string): boolean {
  const repeatsGroups = /\)[*+{]/.test(pattern)
  const choices = pattern.match(/[*+?|{]/g)?.length ?? 0
  return choices <= (repeatsGroups ? 5 : 12) && !(repeatsGroups && pattern.includes('{'))
}

function typeTest(key: string, operand: unknown): Expression {
  if (operand === 'null') return missing(key)
  if (operand === 'array') return person(key, 'type_is', 'list')
  const isKnown = ['string', 'number', 'boolean', 'object'].includes(String(operand))
  return isKnown ? person(key, 'type_is', operand) : never
}
