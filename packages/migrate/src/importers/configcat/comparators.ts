import { type JsonRecord, textsIn } from '../document.ts'
import { all, any, type Expression, never, not, person } from '../expression.ts'
import { isFullVersion } from '../value-checks.ts'
import type { Verdict } from '../verdict.ts'

/** A condition holds, fails, or cannot be evaluated, which ends its rule: neither of both. */
export interface Condition {
  readonly holds: Expression
  readonly fails: Expression
}

export const propertyOf = (attribute: string): string => (attribute === 'Identifier' ? 'distinct_id' : attribute)

const sensitive: ReadonlySet<number> = new Set([16, 17, 20, 21, 22, 23, 24, 25, 26, 27])

/** Where the attribute fits, the condition either holds or fails. */
function testIf(fits: Expression, test: Expression, isNegated: boolean): Condition {
  const [holds, fails] = isNegated ? [not(test), test] : [test, not(test)]
  return { holds: all([fits, holds]), fails: all([fits, fails]) }
}

export function convertUserCondition(condition: JsonRecord, path: string, verdict: Verdict): Condition {
  const key = propertyOf(String(condition.a))
  const comparator = Number(condition.c)
  if (sensitive.has(comparator)) {
    return verdict.refuse(
      'The values of this condition are hashed in the file; use a comparator that is not hashed.',
      `${path}.c`,
    )
  }
  const list = textsIn(condition.l)
  const isFilled = all([
    person(key, 'type_is', ['string', 'number', 'boolean', 'list']),
    not(person(key, 'text_equals', '')),
  ])
  const text = (operator: string, value: unknown, isNegated: boolean) => {
    if (operator !== 'text_equals') verdict.differs('ConfigCat also looks into lists, as JSON text; send text.', path)
    return testIf(isFilled, person(key, operator, value), isNegated)
  }
  switch (comparator) {
    case 0:
    case 1:
      return text('text_equals', list, comparator === 1)
    case 2:
    case 3:
      return text('text_contains', list, comparator === 3)
    case 4:
    case 5:
      return versionIsOneOf(key, list, comparator === 5, path, verdict)
    case 28:
    case 29:
      return text('text_equals', String(condition.s), comparator === 29)
    case 30:
    case 31:
      return text('text_starts_with', list, comparator === 31)
    case 32:
    case 33:
      return text('text_ends_with', list, comparator === 33)
    case 34:
    case 35:
      return listContains(key, list, comparator === 35, path, verdict)
    default:
      return orderTest(key, comparator, condition, path, verdict)
  }
}

const versionOrders: Readonly<Record<number, string>> = {
  6: 'version_lt',
  7: 'version_lte',
  8: 'version_gt',
  9: 'version_gte',
}

const numberOrders: Readonly<Record<number, readonly [operator: string, isNegated: boolean]>> = {
  10: ['number_eq', false],
  11: ['number_eq', true],
  12: ['number_lt', false],
  13: ['number_lte', false],
  14: ['number_gt', false],
  15: ['number_gte', false],
  18: ['number_lt', false],
  19: ['number_gt', false],
}

function orderTest(key: string, comparator: number, { s, d }: JsonRecord, path: string, verdict: Verdict): Condition {
  const versionOrder = versionOrders[comparator]
  if (versionOrder !== undefined) {
    const version = String(s).trim()
    if (!isFullVersion(version)) return { holds: never, fails: isVersion(key) }
    return testIf(isVersion(key), person(key, versionOrder, version), false)
  }
  const numberOrder = numberOrders[comparator]
  if (numberOrder === undefined)
    return verdict.refuse(`The comparator ${comparator} is not known; use another one.`, `${path}.c`)
  if (typeof d !== 'number') return verdict.refuse('The condition needs a number.', `${path}.d`)
  verdict.differs('ConfigCat also reads numbers with a decimal comma; send a number or a decimal point.', path)
  return testIf(isNumber(key), person(key, numberOrder[0], d), numberOrder[1])
}

/** A full version is below this one, or not. */
const isVersion = (key: string): Expression =>
  any([person(key, 'version_lt', '1.0.0'), person(key, 'version_gte', '1.0.0')])

/** Blank text and other notations than decimal are no numbers. */
const isNumber = (key: string): Expression =>
  any([
    person(key, 'type_is', 'number'),
    all([
      person(key, 'type_is', 'string'),
      any([person(key, 'number_lt', 0), person(key, 'number_gte', 0)]),
      not(person(key, 'text_matches', '^[\\t-\\r ]*$|^[\\t-\\r ]*0[^0-9.eE]')),
    ]),
  ])

/** One version that cannot be read makes the condition fail, negated or not. */
function versionIsOneOf(
  key: string,
  list: readonly string[],
  isNegated: boolean,
  path: string,
  verdict: Verdict,
): Condition {
  const versions = list.flatMap(text => (text === '' ? [] : [text.trim()]))
  if (!versions.every(isFullVersion)) return { holds: never, fails: isVersion(key) }
  if (versions.length > 8) return verdict.refuse('A condition can have at most 8 versions.', `${path}.l`)
  return testIf(isVersion(key), any(versions.map(version => person(key, 'version_eq', version))), isNegated)
}

function listContains(
  key: string,
  list: readonly string[],
  isNegated: boolean,
  path: string,
  verdict: Verdict,
): Condition {
  verdict.differs('ConfigCat also reads lists that are JSON text; send a list.', path)
  return testIf(person(key, 'type_is', 'list'), person(key, 'list_contains_any', list), isNegated)
}
