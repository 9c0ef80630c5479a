import { type JsonRecord, listOf, requireRecord, textOr } from '../document.ts'
import { all, any, type Expression, never, not, person } from '../expression.ts'
import { convertPattern } from '../javascript-pattern.ts'
import { isFullVersion } from '../value-checks.ts'
import type { Verdict } from '../verdict.ts'

export interface SegmentContext {
  readonly verdict: Verdict
  readonly segmentKey: string
  /** The start of the identity key: the key of the environment. */
  readonly identityPrefix: string
  /** What the environment's own properties are, which are the same for everyone. */
  readonly constants: Readonly<Record<string, string>>
}

const present = ['string', 'number', 'boolean', 'list', 'object']

export function convertRule(value: unknown, path: string, context: SegmentContext): Expression {
  const rule = requireRecord(value, path, 'A rule')
  const conditions = listOf(rule.conditions).map((condition, index) =>
    convertCondition(requireRecord(condition, `${path}.conditions[${index}]`, 'A condition'), path, context),
  )
  const rules = listOf(rule.rules).map((inner, index) => convertRule(inner, `${path}.rules[${index}]`, context))
  const combine = (parts: readonly Expression[]): Expression => {
    if (parts.length === 0) return all([])
    if (rule.type === 'ALL') return all(parts)
    if (rule.type === 'ANY') return any(parts)
    return rule.type === 'NONE' ? not(any(parts)) : never
  }
  return all([combine(conditions), combine(rules)])
}

/** The trait or the identifier that a condition reads. */
function keyOf(property: string, path: string, verdict: Verdict): string {
  if (property === '$.identity.identifier') return 'distinct_id'
  const trait = /^\$\.identity\.traits\.(.+)$/.exec(property) ?? /^\$\.identity\.traits\['(.+)'\]$/.exec(property)
  if (trait !== null) return trait[1]!
  if (!property.startsWith('$.')) return property
  return verdict.refuse(
    `"${property.slice(0, 60)}" of the context is not known here; send it as a trait.`,
    `${path}.property_`,
  )
}

function convertCondition(condition: JsonRecord, path: string, context: SegmentContext): Expression {
  const { verdict } = context
  const operator = String(condition.operator)
  const property = textOr(condition.property_ ?? condition.property, '')
  if (operator === 'PERCENTAGE_SPLIT') return percentageSplit(property, condition.value, path, context)
  if (property === '') return never
  const constant = Object.hasOwn(context.constants, property) ? context.constants[property] : undefined
  if (constant !== undefined && (operator === 'EQUAL' || operator === 'NOT_EQUAL')) {
    return (constant === String(condition.value)) === (operator === 'EQUAL') ? all([]) : never
  }
  const key = keyOf(property, path, verdict)
  if (operator === 'IS_SET') return person(key, 'type_is', present)
  if (operator === 'IS_NOT_SET') return not(person(key, 'type_is', present))
  const { value } = condition
  if (operator === 'IN') return inTest(key, value, path, verdict)
  const text = value === undefined || value === null ? '' : String(value)
  if (operator === 'REGEX') return regexTest(key, text, path, verdict)
  if (operator === 'MODULO') return moduloTest(key, text, path, verdict)
  if (text.endsWith(':semver')) return versionTest(key, operator, text.replace(':semver', ''), path, verdict)
  const isText = person(key, 'type_is', 'string')
  switch (operator) {
    case 'EQUAL':
      return equals(key, value)
    case 'NOT_EQUAL':
      return all([person(key, 'type_is', present), not(equals(key, value))])
    case 'CONTAINS':
      return all([isText, person(key, 'text_contains', text), not(person(key, 'text_equals', ''))])
    case 'NOT_CONTAINS':
      return text === '' ? never : all([isText, not(person(key, 'text_contains', text))])
    default:
      return orderTest(key, operator, text, path, verdict)
  }
}

const booleanIn = (text: string): boolean => text !== 'False' && text !== 'false'

/** The value is converted to the type of the trait. */
function equals(key: string, value: unknown): Expression {
  const text = String(value)
  const number = Number.parseFloat(text)
  return person(key, 'json_one_of', [text, ...(Number.isNaN(number) ? [] : [number]), booleanIn(text)])
}

const orders: Readonly<Record<string, readonly [string, (left: number, right: number) => boolean]>> = {
  GREATER_THAN: ['number_gt', (left, right) => left > right],
  GREATER_THAN_INCLUSIVE: ['number_gte', (left, right) => left >= right],
  LESS_THAN: ['number_lt', (left, right) => left < right],
  LESS_THAN_INCLUSIVE: ['number_lte', (left, right) => left <= right],
}

function orderTest(key: string, operator: string, text: string, path: string, verdict: Verdict): Expression {
  const order = orders[operator]
  if (order === undefined)
    return verdict.refuse(`The operator "${operator.slice(0, 40)}" is not known; use another one.`, path)
  const [name, holds] = order
  verdict.differs('Flagsmith also orders traits that are text; send the trait as a number.', path)
  const booleans = [true, false].filter(trait => holds(Number(trait), Number(booleanIn(text))))
  const number = Number.parseFloat(text)
  const byNumber = Number.isFinite(number) ? [person(key, 'type_is', 'number'), person(key, name, number)] : [never]
  return any([all(byNumber), person(key, 'json_one_of', booleans)])
}

function inTest(key: string, value: unknown, path: string, verdict: Verdict): Expression {
  const list = listIn(value)
  if (list === undefined) return verdict.refuse('The list is neither a text nor an array.', `${path}.value`)
  const isListed = all([person(key, 'type_is', ['string', 'number']), person(key, 'text_equals', list)])
  return list.includes('0') || list.includes('') ? all([isListed, not(person(key, 'json_one_of', [0, '']))]) : isListed
}

function listIn(value: unknown): string[] | undefined {
  const textsOf = (items: readonly unknown[]) => items.filter(item => typeof item === 'string')
  if (Array.isArray(value)) return textsOf(value)
  if (typeof value !== 'string') return undefined
  try {
    const parsed: unknown = JSON.parse(value)
    if (Array.isArray(parsed)) return textsOf(parsed)
  } catch {
    // A list of texts with commas is not JSON.
  }
  return value.split(',')
}

function regexTest(key: string, text: string, path: string, verdict: Verdict): Expression {
  if (text === '') return never
  return person(key, 'text_matches', convertPattern(text, `${path}.value`, verdict))
}

function moduloTest(key: string, text: string, path: string, verdict: Verdict): Expression {
  const parts = text.split('|').map(Number.parseFloat)
  const [divisor, remainder] = parts
  if (parts.length !== 2 || parts.some(Number.isNaN) || divisor === 0) return never
  verdict.differs('Flagsmith also divides the number at the start of a text; send the trait as a number.', path)
  return all([person(key, 'type_is', 'number'), person(key, 'number_modulo', [divisor, remainder])])
}

function versionTest(key: string, operator: string, version: string, path: string, verdict: Verdict): Expression {
  const names: Readonly<Record<string, string>> = {
    EQUAL: 'version_eq',
    GREATER_THAN: 'version_gt',
    GREATER_THAN_INCLUSIVE: 'version_gte',
    LESS_THAN: 'version_lt',
    LESS_THAN_INCLUSIVE: 'version_lte',
  }
  const name = names[operator]
  if (name === undefined)
    return verdict.refuse(`${operator} cannot compare versions; use EQUAL, GREATER_THAN or LESS_THAN.`, path)
  if (!isFullVersion(version)) return never
  return person(key, name, version)
}

function percentageSplit(property: string, value: unknown, path: string, context: SegmentContext): Expression {
  const percentage = Number.parseFloat(String(value))
  if (Number.isNaN(percentage)) return never
  if (property !== '' && !property.startsWith('$.')) return never
  const key = property === '' ? '' : keyOf(property, path, context.verdict)
  const rollout: Expression = {
    kind: 'rollout',
    rollout: {
      percentage: Math.min(Math.max(percentage, 0), 100),
      bucketing: {
        algorithm: 'flagsmith',
        seed: context.segmentKey,
        ...(key === '' && { identifier_prefix: context.identityPrefix }),
        ...(key !== '' && key !== 'distinct_id' && { by: key }),
      },
    },
  }
  // What JavaScript takes for false is not hashed.
  return key === '' ? rollout : all([rollout, not(person(key, 'json_one_of', [0, false]))])
}
