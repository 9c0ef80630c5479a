import { isRecord, textsIn } from '../document.ts'
import { all, type Expression, never, not, person } from '../expression.ts'
import { isCidr, isFullVersion } from '../value-checks.ts'
import type { Verdict } from '../verdict.ts'

/** The name that Halyard gives a field of Unleash's context. */
export const propertyOf = (field: string): string => (field === 'userId' ? 'distinct_id' : field)

const fieldsOfTheSdk: ReadonlySet<string> = new Set(['appName', 'environment'])

/** All constraints must hold. */
export const convertConstraints = (constraints: readonly unknown[], path: string, verdict: Verdict): Expression =>
  all(constraints.map((constraint, index) => convertConstraint(constraint, `${path}[${index}]`, verdict)))

function convertConstraint(value: unknown, path: string, verdict: Verdict): Expression {
  if (!isRecord(value)) return never
  const test = testOf(value, path, verdict)
  if (test === undefined)
    return verdict.refuse(`The operator "${String(value.operator)}" is not known; use another one.`, path)
  return value.inverted === true ? not(test) : test
}

const textOperators: Readonly<Record<string, string>> = {
  STR_STARTS_WITH: 'text_starts_with',
  STR_ENDS_WITH: 'text_ends_with',
  STR_CONTAINS: 'text_contains',
}

function testOf(constraint: Readonly<Record<string, unknown>>, path: string, verdict: Verdict): Expression | undefined {
  const operator = String(constraint.operator)
  const field = String(constraint.contextName)
  if (fieldsOfTheSdk.has(field)) {
    verdict.differs(`Unleash's SDKs set "${field}" themselves; send it as a property.`, path)
  }
  const key = propertyOf(field)
  const values = textsIn(constraint.values).flatMap(text => (text === '' ? [] : [text.trim()]))
  const ignoresCase = constraint.caseInsensitive === true ? { ignore_case: true } : {}
  if (operator === 'IN') return person(key, 'text_equals', values)
  if (operator === 'NOT_IN') return not(person(key, 'text_equals', values))
  const textOperator = textOperators[operator]
  if (textOperator !== undefined) return person(key, textOperator, values, ignoresCase)
  if (operator === 'REGEX') return person(key, 'text_matches', String(constraint.value ?? ''), ignoresCase)
  if (operator.startsWith('NUM_')) return numberTest(key, operator, constraint.value, path, verdict)
  if (operator === 'DATE_AFTER' || operator === 'DATE_BEFORE') return dateTest(operator, constraint.value)
  if (operator.startsWith('SEMVER_')) return versionTest(key, operator, constraint.value, path, verdict)
  return operator === 'IN_CIDR' ? cidrTest(key, values, path, verdict) : undefined
}

function numberTest(key: string, operator: string, value: unknown, path: string, verdict: Verdict) {
  const comparison = /^NUM_(EQ|GTE?|LTE?)$/.exec(operator)?.[1]
  if (comparison === undefined) return undefined
  const limit = Number(value)
  if (Number.isNaN(limit)) return never
  if (!Number.isFinite(limit)) return verdict.refuse('The number must be finite.', `${path}.value`)
  return person(key, `number_${comparison.toLowerCase()}`, limit)
}

/** Dates are compared with the current time, unless the context has one. */
function dateTest(operator: string, value: unknown): Expression {
  const time = new Date(String(value)).getTime()
  if (Number.isNaN(time)) return never
  const name = operator === 'DATE_AFTER' ? 'date_or_now_after' : 'date_or_now_before'
  return person('currentTime', name, new Date(time).toISOString())
}

/** Versions that start with `v` never match. */
function versionTest(key: string, operator: string, value: unknown, path: string, verdict: Verdict) {
  const comparison = /^SEMVER_(EQ|GTE?|LTE?)$/.exec(operator)?.[1]
  if (comparison === undefined) return undefined
  if (!isFullVersion(value))
    return verdict.refuse('The version must be a full one, such as 1.2.3; complete it.', `${path}.value`)
  return all([person(key, `version_${comparison.toLowerCase()}`, value), not(person(key, 'text_starts_with', 'v'))])
}

function cidrTest(key: string, ranges: readonly string[], path: string, verdict: Verdict): Expression {
  const invalid = ranges.find(range => !isCidr(range))
  if (invalid !== undefined)
    return verdict.refuse(
      `"${invalid.slice(0, 60)}" is not a range of addresses; correct it, for example 10.0.0.0/8.`,
      `${path}.values`,
    )
  return ranges.length === 0 ? never : person(key, 'ip_in_cidr', ranges)
}
