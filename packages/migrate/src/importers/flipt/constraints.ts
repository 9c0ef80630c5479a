import { isRecord, type JsonRecord } from '../document.ts'
import { all, any, type Expression, never, not, person } from '../expression.ts'
import type { Verdict } from '../verdict.ts'

const space = '\\t-\\r \\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}'

/** Flipt's contexts are texts; a missing one is empty. */
const isFilled = (key: string): Expression =>
  all([person(key, 'type_is', ['string', 'number', 'boolean']), not(person(key, 'text_equals', ''))])

/** It has a character that is not white space. */
const isNotBlank = (key: string): Expression => person(key, 'text_matches', `[^${space}]`)

const decimal = '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?$'

const ignoresSpace: ReadonlySet<string> = new Set(['empty', 'notempty', 'present', 'notpresent', 'prefix', 'suffix'])

export function convertConstraint(value: unknown, path: string, verdict: Verdict): Expression {
  if (!isRecord(value)) return verdict.refuse('A constraint must be an object.', path)
  const type = String(value.type).replace(/_COMPARISON_TYPE$/, '')
  const key = type === 'ENTITY_ID' ? 'distinct_id' : String(value.property)
  const operator = String(value.operator)
  if (ignoresSpace.has(operator)) {
    verdict.differs(
      "Flipt's server ignores white space around text here, as Halyard does; its client SDKs do not.",
      path,
    )
  }
  if (operator === 'empty' || operator === 'notpresent') return not(isNotBlank(key))
  if (operator === 'notempty' || operator === 'present') return isNotBlank(key)
  const test = testOf(type, key, operator, value, path, verdict)
  return test ?? verdict.refuse(`"${operator}" of ${type} is not known; use another operator.`, `${path}.operator`)
}

function testOf(
  type: string,
  key: string,
  operator: string,
  constraint: JsonRecord,
  path: string,
  verdict: Verdict,
): Expression | undefined {
  if (type === 'STRING' || type === 'ENTITY_ID') return textTest(key, operator, String(constraint.value ?? ''))
  if (type === 'NUMBER') return numberTest(key, operator, constraint.value, path, verdict)
  if (type !== 'BOOLEAN') return undefined
  verdict.differs("Flipt's server reads texts such as 1 and T as booleans, as here; its client SDKs do not.", path)
  if (operator === 'true') return person(key, 'text_equals', ['1', 't', 'T', 'TRUE', 'true', 'True'])
  return operator === 'false' ? person(key, 'text_equals', ['0', 'f', 'F', 'FALSE', 'false', 'False']) : undefined
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

function textTest(key: string, operator: string, value: string): Expression | undefined {
  const filled = isFilled(key)
  switch (operator) {
    case 'eq':
      return all([filled, person(key, 'text_equals', value)])
    case 'neq':
      return all([filled, not(person(key, 'text_equals', value))])
    case 'contains':
      return all([filled, person(key, 'text_contains', value)])
    case 'notcontains':
      return all([filled, not(person(key, 'text_contains', value))])
    case 'prefix':
      if (value !== value.trimStart()) return never
      return all([filled, person(key, 'text_matches', `^[${space}]*${escaped(value)}`)])
    case 'suffix':
      if (value !== value.trimEnd()) return never
      return all([filled, person(key, 'text_matches', `${escaped(value)}[${space}]*$`)])
    case 'isoneof':
    case 'isnotoneof': {
      const list = listIn(value, item => typeof item === 'string')
      if (list === undefined) return never
      const isListed = person(key, 'text_equals', list)
      return all([filled, operator === 'isoneof' ? isListed : not(isListed)])
    }
    default:
      return undefined
  }
}

function listIn(text: string, fits: (item: unknown) => boolean): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every(fits) ? list : undefined
  } catch {
    return undefined
  }
}

function numberTest(
  key: string,
  operator: string,
  value: unknown,
  path: string,
  verdict: Verdict,
): Expression | undefined {
  verdict.differs("Flipt's server compares all numbers, as here; its client SDKs only integers.", path)
  const isNumber = any([
    person(key, 'type_is', 'number'),
    all([person(key, 'type_is', 'string'), person(key, 'text_matches', decimal)]),
  ])
  if (operator === 'isoneof' || operator === 'isnotoneof') {
    const numbers = listIn(String(value), item => typeof item === 'number')
    if (numbers === undefined) return never
    if (numbers.length > 8) return verdict.refuse('A constraint can have at most 8 numbers.', `${path}.value`)
    const isListed = any(numbers.map(number => person(key, 'number_eq', number)))
    return all([isNumber, operator === 'isoneof' ? isListed : not(isListed)])
  }
  const limit = Number(value)
  if (!Number.isFinite(limit) || String(value).trim() === '') return never
  if (operator === 'neq') return all([isNumber, not(person(key, 'number_eq', limit))])
  if (!['eq', 'lt', 'lte', 'gt', 'gte'].includes(operator)) return undefined
  return all([isNumber, person(key, `number_${operator}`, limit)])
}
