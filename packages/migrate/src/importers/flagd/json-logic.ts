import { isRecord } from '../document.ts'
import { all, always, any, type Expression, never, not, person } from '../expression.ts'
import { isFullVersion } from '../value-checks.ts'
import type { Verdict } from '../verdict.ts'

/** Conditions of flagd's targeting, which is written in JsonLogic. */

export interface LogicContext {
  readonly verdict: Verdict
}

const presentTypes = ['string', 'number', 'boolean', 'list', 'object']
const present = (key: string): Expression => person(key, 'type_is', presentTypes)
const oneOf = (key: string, values: readonly unknown[]): Expression => person(key, 'json_one_of', values)

/** The only key of an operation and its arguments; undefined for literals. */
export function operationOf(value: unknown): readonly [name: string, operands: unknown] | undefined {
  if (!isRecord(value)) return undefined
  const entries = Object.entries(value)
  return entries.length === 1 ? entries[0] : undefined
}

/** The property that `var` reads; undefined for anything else. */
export function variableOf(value: unknown, path: string, { verdict }: LogicContext): string | undefined {
  const operation = operationOf(value)
  if (operation?.[0] !== 'var') return undefined
  const names = Array.isArray(operation[1]) ? operation[1] : [operation[1]]
  if (names.length !== 1 || typeof names[0] !== 'string' || names[0] === '') {
    return verdict.refuse('A variable cannot have a default; send the property always.', path)
  }
  const name = names[0]
  if (name === 'targetingKey') return 'distinct_id'
  if (name === '$flagd.timestamp' || !name.includes('.')) return name
  return verdict.refuse(`Properties are not nested; send "${name}" as a property of its own.`, path)
}

export const loose =
  'Where a property has another type, flagd leaves the value to the code; send the type that is compared.'

/** The operations whose result is always true or false. */
export const booleanOperations: ReadonlySet<string> = new Set([
  '==',
  '===',
  '!=',
  '!==',
  '<',
  '<=',
  '>',
  '>=',
  'in',
  '!',
  '!!',
])

export function convertLogic(value: unknown, path: string, context: LogicContext): Expression {
  const { verdict } = context
  if (typeof value === 'boolean') return value ? always : never
  const variable = variableOf(value, path, context)
  if (variable !== undefined) return all([present(variable), not(oneOf(variable, [false, 0, '', []]))])
  const operation = operationOf(value)
  if (operation === undefined) return verdict.refuse('This value is not a condition; compare a variable.', path)
  const [name, operands] = operation
  const list = Array.isArray(operands) ? operands : [operands]
  const at = `${path}.${name}`
  const each = () => list.map((part, index) => convertLogic(part, `${at}[${index}]`, context))
  switch (name) {
    case 'and':
      return all(each())
    case 'or':
      return any(each())
    case '!':
      return not(convertLogic(list[0], at, context))
    case '!!':
      return convertLogic(list[0], at, context)
    case '==':
    case '===':
    case '!=':
    case '!==':
      return equalityTest(name, list, at, context)
    case '<':
    case '<=':
    case '>':
    case '>=':
      return orderTest(name, list, at, context)
    case 'in':
      return inTest(list, at, context)
    case 'starts_with':
    case 'ends_with': {
      const key = variableOf(list[0], at, context)
      if (key === undefined || typeof list[1] !== 'string' || list.length !== 2) return unsupported(name, at, verdict)
      return all([person(key, 'type_is', 'string'), person(key, `text_${name}`, list[1])])
    }
    case 'sem_ver':
      return versionTest(list, at, context)
    default:
      return unsupported(name, at, verdict)
  }
}

const unsupported = (name: string, path: string, verdict: Verdict): never =>
  verdict.refuse(
    `"${name.slice(0, 40)}" with these operands cannot be written; compare one variable with values.`,
    path,
  )

/** A variable and a literal, in the order of the operands. */
function pairOf(name: string, operands: readonly unknown[], path: string, context: LogicContext) {
  const [left, right] = operands.map(operand => variableOf(operand, path, context))
  const literal = left === undefined ? operands[0] : operands[1]
  const key = left ?? right
  const isPlain = typeof literal !== 'object' || literal === null
  if (operands.length !== 2 || key === undefined || (left !== undefined && right !== undefined) || !isPlain) {
    return unsupported(name, path, context.verdict)
  }
  return { key, literal, isSwapped: left === undefined }
}

function equalityTest(name: string, operands: readonly unknown[], path: string, context: LogicContext): Expression {
  const { key, literal } = pairOf(name, operands, path, context)
  const isStrict = name.endsWith('===') || name === '!=='
  const equal = isStrict ? strictlyEqual(key, literal) : looselyEqual(key, literal, path, context)
  return name.startsWith('!') ? not(equal) : equal
}

function strictlyEqual(key: string, literal: unknown): Expression {
  return literal === null ? not(present(key)) : oneOf(key, [literal])
}

function looselyEqual(key: string, literal: unknown, path: string, { verdict }: LogicContext): Expression {
  verdict.differs(loose, path)
  if (literal === null) return not(present(key))
  const number = Number(literal)
  const booleans = [true, false].filter(value => Number(value) === number)
  if (typeof literal === 'string') {
    return oneOf(key, [literal, ...(literal.trim() === '' || Number.isNaN(number) ? [] : [number, ...booleans])])
  }
  return any([
    all([person(key, 'type_is', ['number', 'string']), person(key, 'number_eq', number)]),
    ...(booleans.length > 0 ? [oneOf(key, booleans)] : []),
    ...(number === 0 ? [not(present(key))] : []),
  ])
}

const orders: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
}
const swapped: Readonly<Record<string, string>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }
const orderNames: Readonly<Record<string, string>> = {
  '<': 'number_lt',
  '<=': 'number_lte',
  '>': 'number_gt',
  '>=': 'number_gte',
}

function orderTest(operator: string, operands: readonly unknown[], path: string, context: LogicContext): Expression {
  if (operands.length === 3) {
    return all([
      orderTest(operator, operands.slice(0, 2), path, context),
      orderTest(operator, operands.slice(1), path, context),
    ])
  }
  const { key, literal, isSwapped } = pairOf(operator, operands, path, context)
  const name = isSwapped ? swapped[operator]! : operator
  if (typeof literal !== 'number') return unsupported(operator, path, context.verdict)
  if (key === '$flagd.timestamp') return timeTest(name, literal)
  context.verdict.differs(loose, path)
  const holds = orders[name]!
  const booleans = [true, false].filter(value => holds(Number(value), literal))
  return any([
    person(key, orderNames[name]!, literal),
    ...(booleans.length > 0 ? [oneOf(key, booleans)] : []),
    ...(holds(0, literal) ? [not(present(key))] : []),
  ])
}

/** The time is in whole seconds. */
function timeTest(name: string, seconds: number): Expression {
  const at = (milliseconds: number) => new Date(milliseconds).toISOString()
  const start = Math.ceil(seconds) * 1000
  const next = (Math.floor(seconds) + 1) * 1000
  if (name === '<') return person('$flagd.timestamp', 'date_or_now_before', at(start))
  if (name === '<=') return person('$flagd.timestamp', 'date_or_now_before', at(next))
  return person('$flagd.timestamp', 'date_or_now_after', at((name === '>' ? next : start) - 1))
}

function inTest(operands: readonly unknown[], path: string, context: LogicContext): Expression {
  const [item, list] = operands
  const key = variableOf(item, path, context)
  if (key !== undefined && Array.isArray(list) && list.every(value => typeof value !== 'object' || value === null)) {
    const equal = oneOf(
      key,
      list.filter(value => value !== null),
    )
    return list.includes(null) ? any([equal, not(present(key))]) : equal
  }
  const holder = variableOf(list, path, context)
  if (holder === undefined || typeof item !== 'string') return unsupported('in', path, context.verdict)
  return any([
    all([person(holder, 'type_is', 'string'), person(holder, 'text_contains', item)]),
    person(holder, 'list_contains_any', [item]),
  ])
}

function versionTest(operands: readonly unknown[], path: string, context: LogicContext): Expression {
  const { verdict } = context
  const key = variableOf(operands[0], path, context)
  const version = fullVersion(operands[2])
  if (key === undefined || version === undefined || operands.length !== 3) return unsupported('sem_ver', path, verdict)
  verdict.differs('flagd also reads versions such as "1.2" and "V1.2.3"; send versions such as 1.2.3.', path)
  const test = (operator: string, value: string) => person(key, `version_${operator}`, value)
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  switch (operands[1]) {
    case '=':
      return test('eq', version)
    case '!=':
      return any([test('lt', version), test('gt', version)])
    case '<':
      return test('lt', version)
    case '<=':
      return test('lte', version)
    case '>':
      return test('gt', version)
    case '>=':
      return test('gte', version)
    case '^':
      return all([test('gte', `${major}.0.0-0`), test('lt', `${major + 1}.0.0-0`)])
    case '~':
      return all([test('gte', `${major}.${minor}.0-0`), test('lt', `${major}.${minor + 1}.0-0`)])
    default:
      return unsupported('sem_ver', path, verdict)
  }
}

function fullVersion(value: unknown): string | undefined {
  const text: string = String(value).replace(/^[vV]/, '')
  const parts = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (parts !== null) return `${Number(parts[1])}.${Number(parts[2] ?? 0)}.0`
  return isFullVersion(text) ? text : undefined
}
