import {
  canConditionHold,
  type PolicyComparison,
  policyComparisons,
  policyComparisonsOf,
  policyFieldTypes,
} from '@halyard/contract'
import type { ActionKey, PolicyCondition } from '../../../domain/policy.ts'
import { rolloutField } from '../../../domain/policy.ts'
import { invalid, type Problem } from '../../../problem.ts'

const conditionsMax = 10

type Sent = Readonly<Record<string, unknown>>
type Compared = Extract<PolicyCondition, { readonly type: 'before_after' | 'change_amount' }>

/**
 * Raises `invalid` (`conditions`) with the path for a condition that cannot be read or that no change can meet: such a policy would let
 * everything pass.
 */
export function readCondition(sent: Sent, actionKey: ActionKey): PolicyCondition {
  const condition = readAt(sent, 'conditions', actionKey)
  if (condition.type === 'all') refuseContradiction(condition.conditions)
  return condition
}

function readAt(sent: Sent, path: string, actionKey: ActionKey): PolicyCondition {
  const { type } = sent
  if (type === undefined && Object.keys(sent).length === 0) return {}
  const allowedKeys = keysOf.get(type)
  if (allowedKeys === undefined) throw wrong(`${path}.type`, `must be one of ${[...keysOf.keys()].join(', ')}.`)
  const unknown = Object.keys(sent).find(key => key !== 'type' && !allowedKeys.includes(key))
  if (unknown !== undefined) throw wrong(`${path}.${unknown}`, `is unknown for ${type}.`)
  const condition = type === 'all' ? readAll(sent, path, actionKey) : readOne(sent, path)
  refuseWrongAction(condition, path, actionKey)
  return condition
}

const keysOf: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['any_change', ['field']],
  ['before_after', ['field', 'operator', 'value']],
  ['change_amount', ['field', 'operator', 'value']],
  ['people_affected', ['value']],
  ['losses', ['value']],
  ['tag', ['value']],
  ['author_is_key', []],
  ['all', ['conditions']],
])

function readAll({ conditions }: Sent, path: string, actionKey: ActionKey): PolicyCondition {
  const isList = Array.isArray(conditions) && conditions.length > 0 && conditions.length <= conditionsMax
  if (!isList || path !== 'conditions') {
    throw wrong(`${path}.conditions`, `must be a list of 1 to ${conditionsMax} conditions, not nested.`)
  }
  const read = conditions.map((one: unknown, index) => {
    const place = `${path}.conditions[${index}]`
    if (!isObject(one) || one.type === undefined) throw wrong(place, 'must be a condition with a `type`.')
    return readAt(one, place, actionKey)
  })
  return { type: 'all', conditions: read }
}

function readOne(sent: Sent, path: string): PolicyCondition {
  const { type, field, value } = sent
  switch (type) {
    case 'before_after':
    case 'change_amount':
      return readCompared(sent, type, path)
    case 'people_affected':
    case 'losses':
      if (!isNumber(value) || value < 0) throw wrong(`${path}.value`, 'must be a number of people.')
      return { type, value }
    case 'tag':
      if (typeof value !== 'string' || value.trim() === '') throw wrong(`${path}.value`, 'must be a tag.')
      return { type, value }
    case 'author_is_key':
      return { type }
    default:
      if (field === undefined) return { type: 'any_change' }
      return { type: 'any_change', field: readField(field, `${path}.field`) }
  }
}

function readField(field: unknown, path: string): string {
  if (typeof field !== 'string' || !Object.hasOwn(policyFieldTypes, field)) {
    throw wrong(path, `must be one of ${Object.keys(policyFieldTypes).join(', ')}.`)
  }
  return field
}

function readCompared(sent: Sent, type: Compared['type'], path: string): Compared {
  const field = readField(sent.field, `${path}.field`)
  const operator = policyComparisons.find(one => one === sent.operator)
  if (operator === undefined) throw wrong(`${path}.operator`, `must be one of ${policyComparisons.join(' ')}.`)
  const { value } = sent
  const fieldType = policyFieldTypes[field] ?? null
  if (fieldType === null) throw wrong(`${path}.field`, `${field} cannot be compared; use any_change.`)
  if (type === 'change_amount' && fieldType !== 'percentage') {
    throw wrong(`${path}.field`, `must be a number such as ${rolloutField} for change_amount.`)
  }
  if (typeof fieldType === 'object') {
    if (!fieldType.includes(value as string)) throw wrong(`${path}.value`, `must be one of ${fieldType.join(', ')}.`)
  } else if (!isOfType(value, fieldType)) {
    throw wrong(`${path}.value`, `must be a ${fieldType} to compare ${field} with.`)
  }
  const operators = policyComparisonsOf(fieldType)
  if (!operators.includes(operator)) throw wrong(`${path}.operator`, `must be ${operators.join(' or ')} for ${field}.`)
  const compared: Compared = { type, field, operator, value: value as Compared['value'] }
  if (fieldType === 'percentage') refuseOutside(compared, path)
  return compared
}

/** Percentages are from 0 to 100, and change by -100 to 100, but not by 0. */
function refuseOutside(compared: Compared, path: string): void {
  if (isSatisfiable([compared])) return
  const [from, to] = boundsOf(compared)
  throw wrong(`${path}.value`, `can never hold: ${compared.field} is from ${from} to ${to} for ${compared.type}.`)
}

const boundsOf = ({ type }: Compared): readonly [number, number] => (type === 'change_amount' ? [-100, 100] : [0, 100])

/** All conditions about one field must hold for some value. */
function refuseContradiction(conditions: readonly PolicyCondition[]): void {
  const compared = conditions.flatMap(one => (one.type === 'before_after' || one.type === 'change_amount' ? [one] : []))
  for (const { type, field } of compared) {
    if (!isSatisfiable(compared.filter(one => one.type === type && one.field === field))) {
      throw wrong('conditions.conditions', `contradict each other about ${field}: ${type} can never hold.`)
    }
  }
}

/** Whether some value of the field, of those that matter, meets all of them. */
function isSatisfiable(compared: readonly Compared[]): boolean {
  const [first] = compared
  if (!first) return true
  return candidates(first, compared).some(value => compared.every(one => meets(value, one.operator, one.value)))
}

type Value = number | string | boolean

/** The named values and what lies between and around them. */
function candidates(first: Compared, compared: readonly Compared[]): readonly Value[] {
  if (typeof first.value === 'boolean') return [true, false]
  if (typeof first.value === 'string') {
    const texts = compared.map(one => String(one.value))
    return ['', ...texts, ...texts.map(text => `${text}\0`), '\u{10ffff}', ...texts.flatMap(lower)]
  }
  const [from, to] = boundsOf(first)
  const marks = [...new Set([from, to, ...compared.map(one => Number(one.value))])].sort((a, b) => a - b)
  const between = marks.slice(1).map((mark, index) => (mark + marks[index]!) / 2)
  return [...marks, ...between].filter(
    value => value >= from && value <= to && (first.type === 'before_after' || value !== 0),
  )
}

/** A text right before another one. */
const lower = (text: string): string[] =>
  text === ''
    ? []
    : [`${text.slice(0, -1)}${String.fromCharCode(Math.max(text.charCodeAt(text.length - 1) - 1, 0))}\uffff`]

function meets(value: Value, operator: PolicyComparison, limit: Value): boolean {
  switch (operator) {
    case '==':
      return value === limit
    case '!=':
      return value !== limit
    case '>':
      return value > limit
    case '>=':
      return value >= limit
    case '<':
      return value < limit
    case '<=':
      return value <= limit
  }
}

function refuseWrongAction(condition: PolicyCondition, path: string, actionKey: ActionKey): void {
  if (canConditionHold(actionKey, condition)) return
  const reason = actionKey === 'cohort.update' ? 'it is about fields of flags.' : 'a new flag has no people to lose.'
  throw wrong(`${path}.type`, `can never hold for ${actionKey}: ${reason}`)
}

const isOfType = (value: unknown, type: 'percentage' | 'text' | 'boolean'): boolean =>
  type === 'percentage' ? isNumber(value) : typeof value === (type === 'text' ? 'string' : 'boolean')
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const wrong = (path: string, what: string): Problem => invalid('conditions', 'invalid_input', `${path}: ${what}`)
