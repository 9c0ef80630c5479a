import type { EngineOptions } from '../../definition/definition.ts'
import type { IssueCode } from '../../definition/issue.ts'
import { toText } from '../../definition/json.ts'
import { isStrict, type Operator } from '../../definition/operator.ts'
import type { StrictMode } from '../../definition/parse-property.ts'
import { FALSE, negate, TRUE, ternaryOf, UNKNOWN_FALSE } from '../../evaluate/ternary.ts'
import { parseDateFilter, parseInstant } from './dates.ts'
import { exactTest } from './equality.ts'
import { memoizeLast } from './memoize-last.ts'
import { regexTest } from './regex.ts'
import {
  caretRange,
  compareSuffixes,
  compareVersions,
  parseVersion,
  tildeRange,
  type Version,
  type VersionRange,
  wildcardRange,
} from './semver.ts'
import { strictTest } from './strict-test.ts'
import type { CompiledTest, Test, ValueIssue } from './value-test.ts'

export interface MatchOptions extends EngineOptions {
  readonly propertyMatchingVersion: 1 | 2
  /** Only for strict operators. */
  readonly mode?: StrictMode
}

/** Compiles a filter. An invalid value never matches and is reported in `valueIssue`. */
export function compileTest(operator: Operator, target: unknown, options: MatchOptions): CompiledTest {
  if (isStrict(operator)) return strictTest(operator, target, options, options.mode)
  switch (operator) {
    case 'exact':
      return { test: exactTest(target, options.propertyMatchingVersion), ...requireValue(target) }
    case 'is_not':
      return negated({ test: exactTest(target, options.propertyMatchingVersion), ...requireValue(target) })
    case 'is_set':
      return { test: () => TRUE }
    case 'is_not_set':
      return { test: () => FALSE }
    case 'icontains':
    case 'not_icontains':
      return textTest(operator, target, (text, part) => text.includes(part))
    case 'starts_with':
    case 'not_starts_with':
      return textTest(operator, target, (text, part) => text.startsWith(part))
    case 'ends_with':
    case 'not_ends_with':
      return textTest(operator, target, (text, part) => text.endsWith(part))
    case 'icontains_multi':
      return containsAnyTest(target)
    case 'not_icontains_multi':
      return negated(containsAnyTest(target))
    case 'regex':
      return regexTest(target, options, true)
    case 'not_regex':
      return regexTest(target, options, false)
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return orderTest(operator, target)
    case 'between':
      return betweenTest(target, true)
    case 'not_between':
      return betweenTest(target, false)
    case 'is_date_before':
    case 'is_date_after':
    case 'is_date_exact':
      return dateTest(operator, target)
    case 'semver_tilde':
      return rangeTest(tildeRange(toText(target)), target)
    case 'semver_caret':
      return rangeTest(caretRange(toText(target)), target)
    case 'semver_wildcard':
      return rangeTest(wildcardRange(toText(target)), target)
    default:
      return versionTest(operator, target)
  }
}

const never: Test = () => UNKNOWN_FALSE

function valueIssue(code: IssueCode, message: string, test: Test = never): CompiledTest {
  return { test, valueIssue: { code, message } }
}

function negated(compiled: CompiledTest): CompiledTest {
  if (compiled.test === never) return compiled
  const { test } = compiled
  return { ...compiled, test: (value, context) => negate(test(value, context)) }
}

function requireValue(target: unknown): { valueIssue?: ValueIssue } {
  return target === undefined ? { valueIssue: { code: 'invalid_value', message: '`value` is required.' } } : {}
}

function isScalar(target: unknown): boolean {
  return typeof target === 'string' || typeof target === 'number' || typeof target === 'boolean'
}

/** Lowercases ASCII letters only, as PostHog does: É and é stay different. */
const asciiLowerCase = memoizeLast((text: string) =>
  isAscii(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, letters => letters.toLowerCase()),
)

/** Faster than a regular expression for short strings. */
function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}

function textTest(operator: Operator, target: unknown, holds: (text: string, part: string) => boolean): CompiledTest {
  const part = asciiLowerCase(toText(target))
  const wanted = !operator.startsWith('not_')
  const test: Test = value => (holds(asciiLowerCase(toText(value)), part) === wanted ? TRUE : FALSE)
  return isScalar(target) ? { test } : valueIssue('invalid_value', `${operator} requires a string.`, test)
}

/** A single string counts as an array of one, as in PostHog. */
function containsAnyTest(target: unknown): CompiledTest {
  const items: readonly unknown[] = Array.isArray(target) ? target : [target]
  if (items.length === 0 || !items.every(isScalar)) {
    return valueIssue('invalid_value', '`value` must be an array with at least one string.')
  }
  const parts = items.map(item => asciiLowerCase(toText(item)))
  return {
    test: value => {
      const text = asciiLowerCase(toText(value))
      return ternaryOf(
        parts.some(part => text.includes(part)),
        false,
      )
    },
  }
}

function numberIn(value: unknown): number {
  return typeof value === 'number' ? value : Number.parseFloat(toText(value))
}

/** Compares numbers where both sides start with one, otherwise strings. */
function orderTest(operator: 'gt' | 'gte' | 'lt' | 'lte', target: unknown): CompiledTest {
  const limit = numberIn(target)
  const limitText = toText(target)
  const limitIsNumber = Number.isFinite(limit)
  const test: Test = value => {
    const number = limitIsNumber ? numberIn(value) : Number.NaN
    const holds = Number.isFinite(number)
      ? holdsInOrder(operator, number, limit)
      : holdsInOrder(operator, toText(value), limitText)
    return holds ? TRUE : FALSE
  }
  const fits = typeof target === 'string' || typeof target === 'number'
  return fits ? { test } : valueIssue('invalid_value', `${operator} requires a number or a string.`, test)
}

function holdsInOrder<T extends number | string>(operator: 'gt' | 'gte' | 'lt' | 'lte', left: T, right: T): boolean {
  switch (operator) {
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

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i
const infinite = /^([+-]?)inf(?:inity)?$/i

/** A number, or a string that is nothing but one; otherwise NaN. */
function strictNumber(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  const sign = infinite.exec(value)
  if (sign) return sign[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  return decimal.test(value) ? Number(value) : Number.NaN
}

/** PostHog SDKs decline both operators. Its server matches neither for a value that is not a number. */
function betweenTest(target: unknown, isWithin: boolean): CompiledTest {
  if (!Array.isArray(target) || target.length !== 2)
    return valueIssue('invalid_value', '`value` must be an array [minimum, maximum].')
  const least = numberIn(target[0])
  const most = numberIn(target[1])
  if (!Number.isFinite(least) || !Number.isFinite(most))
    return valueIssue('invalid_value', 'Minimum and maximum must be numbers.')
  if (least > most) return valueIssue('invalid_value', 'The minimum cannot exceed the maximum.')
  return {
    test: value => {
      const number = strictNumber(value)
      if (Number.isNaN(number)) return UNKNOWN_FALSE
      return ternaryOf((number >= least && number <= most) === isWithin, false)
    },
  }
}

function dateTest(operator: 'is_date_before' | 'is_date_after' | 'is_date_exact', target: unknown): CompiledTest {
  const filter = parseDateFilter(target)
  if (filter === undefined) {
    return valueIssue('invalid_date', 'Use a date such as 2024-01-31 or a relative date such as -7d.')
  }
  return {
    test: (value, { now }) => {
      const instant = parseInstant(value)
      if (instant === undefined) return UNKNOWN_FALSE
      const certain = filter.certain && instant.certain && operator !== 'is_date_exact'
      return ternaryOf(holdsInTime(operator, instant.time, filter.at(now)), certain)
    },
  }
}

function holdsInTime(
  operator: 'is_date_before' | 'is_date_after' | 'is_date_exact',
  left: number,
  right: number,
): boolean {
  if (operator === 'is_date_before') return left < right
  if (operator === 'is_date_after') return left > right
  return left === right
}

const invalidVersion = (): CompiledTest => valueIssue('invalid_version', 'Use a version such as 1.2.3.')

function rangeTest(range: VersionRange | undefined, target: unknown): CompiledTest {
  if (range === undefined || target === null || target === undefined) return invalidVersion()
  return {
    test: value => {
      const version = parseVersion(toText(value))
      if (version === undefined) return UNKNOWN_FALSE
      const certain = range.certain && version.certain
      const above = orderOf(version, range.lower, certain)
      return ternaryOf(above >= 0 && compareVersions(version.numbers, range.upper) < 0, certain)
    },
  }
}

type VersionOperator = 'semver_eq' | 'semver_neq' | 'semver_gt' | 'semver_gte' | 'semver_lt' | 'semver_lte'

function versionTest(operator: VersionOperator, target: unknown): CompiledTest {
  const limit = parseVersion(toText(target))
  if (limit === undefined) return invalidVersion()
  return {
    test: value => {
      const version = parseVersion(toText(value))
      if (version === undefined) return UNKNOWN_FALSE
      const certain = limit.certain && version.certain
      return ternaryOf(holdsForVersions(operator, orderOf(version, limit, certain)), certain)
    },
  }
}

/** SDKs ignore pre-releases. Where they decline to compare, PostHog's server decides, which orders them. */
const orderOf = (left: Version, right: Version, certain: boolean): number =>
  compareVersions(left.numbers, right.numbers) || (certain ? 0 : compareSuffixes(left.suffix, right.suffix))

function holdsForVersions(operator: VersionOperator, order: number): boolean {
  switch (operator) {
    case 'semver_eq':
      return order === 0
    case 'semver_neq':
      return order !== 0
    case 'semver_gt':
      return order > 0
    case 'semver_gte':
      return order >= 0
    case 'semver_lt':
      return order < 0
    case 'semver_lte':
      return order <= 0
  }
}
