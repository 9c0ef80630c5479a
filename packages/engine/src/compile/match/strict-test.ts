import type { EngineOptions } from '../../definition/definition.ts'
import type { IssueCode } from '../../definition/issue.ts'
import type { StrictOperator } from '../../definition/operator.ts'
import type { StrictMode } from '../../definition/parse-property.ts'
import { FALSE, hasFailed, isTrue, TRUE } from '../../evaluate/ternary.ts'
import { cidrTest } from './ip-range.ts'
import { canonicalJson } from './json-equality.ts'
import { regexTest } from './regex.ts'
import { comparePrecedence, parsePartialSemver, parseSemver } from './semver-precedence.ts'
import type { CompiledTest, Test } from './value-test.ts'

/** The strict operators. Their tests also get missing values, as undefined, and are certain. */
export function strictTest(
  operator: StrictOperator,
  target: unknown,
  options: EngineOptions,
  mode?: StrictMode,
): CompiledTest {
  const compiled = testOf(operator, target, options, mode)
  let { test } = compiled
  if (mode?.isSameType) test = ofType(operator.startsWith('number_') ? 'number' : 'string', test)
  if (mode?.isAnyItem) test = anyItem(test)
  return test === compiled.test ? compiled : { ...compiled, test }
}

const ofType =
  (type: 'string' | 'number', test: Test): Test =>
  (value, context) =>
    typeof value === type ? test(value, context) : FALSE

const anyItem =
  (test: Test): Test =>
  (value, context) => {
    if (!Array.isArray(value)) return test(value, context)
    for (const item of value as unknown[]) {
      const result = test(item, context)
      if (isTrue(result) || hasFailed(result)) return result
    }
    return FALSE
  }

function testOf(
  operator: StrictOperator,
  target: unknown,
  options: EngineOptions,
  mode: StrictMode | undefined,
): CompiledTest {
  const ignoresCase = mode?.ignoresCase === true
  switch (operator) {
    case 'text_equals':
      return equalsTest(target, ignoresCase)
    case 'text_contains':
      return textTest(target, ignoresCase, (text, part) => text.includes(part))
    case 'text_starts_with':
      return textTest(target, ignoresCase, (text, part) => text.startsWith(part))
    case 'text_ends_with':
      return textTest(target, ignoresCase, (text, part) => text.endsWith(part))
    case 'text_matches':
      return patternTest(target, options, ignoresCase)
    case 'number_eq':
    case 'number_gt':
    case 'number_gte':
    case 'number_lt':
    case 'number_lte':
      return numberTest(operator, target)
    case 'number_modulo':
      return moduloTest(target)
    case 'version_eq':
    case 'version_gt':
    case 'version_gte':
    case 'version_lt':
    case 'version_lte':
      return versionTest(operator, target, mode?.takesPartialVersions === true ? parsePartialSemver : parseSemver)
    case 'date_or_now_after':
    case 'date_or_now_before':
      return dateOrNowTest(operator, target)
    case 'date_after':
    case 'date_before':
      return dateTest(operator, target)
    case 'json_one_of':
      return oneOfTest(target)
    case 'list_contains_any':
    case 'list_contains_all':
      return listTest(operator, target, ignoresCase)
    case 'list_length':
      return lengthTest(target)
    case 'type_is':
      return typeTest(target)
    case 'ip_in_cidr':
      return cidrTest(target)
  }
}

const boolean = (holds: boolean) => (holds ? TRUE : FALSE)

function invalid(message: string, code: IssueCode = 'invalid_value'): CompiledTest {
  return { test: () => FALSE, valueIssue: { code, message } }
}

/** Numbers and booleans count as the text that they are written as. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

function textsOf(target: unknown): string[] | undefined {
  const texts = (Array.isArray(target) ? (target as unknown[]) : [target]).map(textOf)
  return texts.every(text => text !== undefined) ? texts : undefined
}

const requiresTexts = 'Use a string or a list of strings.'

function equalsTest(target: unknown, ignoresCase: boolean): CompiledTest {
  const texts = textsOf(target)
  if (texts === undefined) return invalid(requiresTexts)
  const wanted = new Set(ignoresCase ? texts.map(text => text.toLowerCase()) : texts)
  return {
    test: value => {
      const text = textOf(value)
      return boolean(text !== undefined && wanted.has(ignoresCase ? text.toLowerCase() : text))
    },
  }
}

function textTest(target: unknown, ignoresCase: boolean, holds: (text: string, part: string) => boolean): CompiledTest {
  const texts = textsOf(target)
  if (texts === undefined) return invalid(requiresTexts)
  const parts = ignoresCase ? texts.map(text => text.toLowerCase()) : texts
  return {
    test: value => {
      const valueText = textOf(value)
      if (valueText === undefined) return FALSE
      const text = ignoresCase ? valueText.toLowerCase() : valueText
      return boolean(parts.some(part => holds(text, part)))
    },
  }
}

function patternTest(target: unknown, options: EngineOptions, ignoresCase: boolean): CompiledTest {
  if (typeof target !== 'string') return invalid('A regular expression must be a string.')
  const compiled = regexTest(ignoresCase ? `(?i)${target}` : target, options, true)
  const test: Test = (value, context) => {
    const text = textOf(value)
    if (text === undefined) return FALSE
    const result = compiled.test(text, context)
    return hasFailed(result) ? result : boolean(isTrue(result))
  }
  return { ...compiled, test }
}

/** Text counts as the number that JavaScript's `Number` reads from it. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? Number(value) : Number.NaN
}

type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte'

const comparisonOf = (operator: StrictOperator): Comparison => operator.slice(operator.indexOf('_') + 1) as Comparison

/** For NaN nothing holds. */
function holdsFor(comparison: Comparison, left: number, right: number): boolean {
  switch (comparison) {
    case 'eq':
      return left === right
    case 'gt':
      return left > right
    case 'gte':
      return left >= right
    case 'lt':
      return left < right
    case 'lte':
      return left <= right
  }
}

function numberTest(operator: StrictOperator, target: unknown): CompiledTest {
  const limit = numberOf(target)
  if (!Number.isFinite(limit) || target === '') return invalid('Use a number.')
  const comparison = comparisonOf(operator)
  return { test: value => boolean(holdsFor(comparison, numberOf(value), limit)) }
}

function moduloTest(target: unknown): CompiledTest {
  const [divisor, remainder] = Array.isArray(target) && target.length === 2 ? (target as unknown[]) : []
  if (typeof divisor !== 'number' || typeof remainder !== 'number' || divisor === 0) {
    return invalid('Use a list [divisor, remainder] of two numbers; the divisor cannot be 0.')
  }
  return { test: value => boolean(numberOf(value) % divisor === remainder) }
}

function versionTest(operator: StrictOperator, target: unknown, parse: typeof parseSemver): CompiledTest {
  const limit = typeof target === 'string' ? parse(target) : undefined
  if (limit === undefined) return invalid('Use a full version such as 1.2.3 or 1.2.3-beta.1.', 'invalid_version')
  const comparison = comparisonOf(operator)
  return {
    test: value => {
      const version = typeof value === 'string' ? parse(value) : undefined
      return boolean(version !== undefined && holdsFor(comparison, comparePrecedence(version, limit), 0))
    },
  }
}

function timeOf(value: unknown): number {
  return typeof value === 'string' || typeof value === 'number' ? new Date(value).getTime() : Number.NaN
}

const invalidDate = (): CompiledTest => invalid('Use a date such as 2026-01-31T12:00:00Z.', 'invalid_date')

function dateOrNowTest(operator: 'date_or_now_after' | 'date_or_now_before', target: unknown): CompiledTest {
  const limit = timeOf(target)
  if (Number.isNaN(limit)) return invalidDate()
  return {
    test: (value, { now }) => {
      const time = value === undefined || value === null || value === '' ? now : timeOf(value)
      return boolean(operator === 'date_or_now_after' ? time > limit : time < limit)
    },
  }
}

/** The start of a date of RFC 3339, which is what LaunchDarkly requires of text. */
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d(:\d\d)?)/

/** Numbers are milliseconds. */
function timestampOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && timestamp.test(value) ? Date.parse(value) : Number.NaN
}

function dateTest(operator: 'date_after' | 'date_before', target: unknown): CompiledTest {
  const limit = timestampOf(target)
  if (Number.isNaN(limit)) return invalidDate()
  const comparison = operator === 'date_after' ? 'gt' : 'lt'
  return { test: value => boolean(holdsFor(comparison, timestampOf(value), limit)) }
}

function oneOfTest(target: unknown): CompiledTest {
  if (!Array.isArray(target)) return invalid('Use a list of values.')
  const wanted = new Set(target.map(item => canonicalJson(item)))
  return { test: value => boolean(value !== undefined && wanted.has(canonicalJson(value))) }
}

function listTest(
  operator: 'list_contains_any' | 'list_contains_all',
  target: unknown,
  ignoresCase: boolean,
): CompiledTest {
  if (!Array.isArray(target)) return invalid('Use a list of values.')
  const keyOf = (item: unknown) => canonicalJson(ignoresCase && typeof item === 'string' ? item.toLowerCase() : item)
  const wanted = target.map(keyOf)
  return {
    test: value => {
      if (!Array.isArray(value)) return FALSE
      const items = new Set(value.map(keyOf))
      const isContained = (key: string | undefined) => items.has(key)
      return boolean(operator === 'list_contains_any' ? wanted.some(isContained) : wanted.every(isContained))
    },
  }
}

function lengthTest(target: unknown): CompiledTest {
  if (!Number.isInteger(target)) return invalid('Use the number of items, an integer.')
  return { test: value => boolean(Array.isArray(value) && value.length === target) }
}

const typeNames = ['string', 'number', 'boolean', 'null', 'list', 'object']

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'list' : typeof value
}

function typeTest(target: unknown): CompiledTest {
  const types: readonly unknown[] = Array.isArray(target) ? target : [target]
  if (!types.every(type => typeof type === 'string' && typeNames.includes(type))) {
    return invalid(`Use one or more of ${typeNames.join(', ')}.`)
  }
  const wanted = new Set(types)
  return { test: value => boolean(wanted.has(typeOf(value))) }
}
