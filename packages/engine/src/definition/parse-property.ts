import type { Report } from './issue.ts'
import { isRecord, type JsonRecord, own } from './json.ts'
import { hasAnyItem, hasIgnoreCase, hasPartialVersions, hasSameType, type Operator, parseOperator } from './operator.ts'
import type { BehaviorProperty } from './parse-behavior.ts'

/** One filter of a condition or of a cohort. */
export type ParsedProperty = ValueProperty | CohortProperty | FlagProperty | BehaviorProperty

/** How a strict operator compares. */
export interface StrictMode {
  /** Only for the operators on text and lists. */
  readonly ignoresCase: boolean
  /** Text operators take only text, and number operators only numbers. */
  readonly isSameType: boolean
  /** A list matches when any of its items does. */
  readonly isAnyItem: boolean
  /** A version may lack its last numbers, and starts with none but a number. */
  readonly takesPartialVersions: boolean
}

export interface ValueProperty {
  readonly kind: 'value'
  readonly path: string
  readonly key: string
  /** Undefined for an unknown operator; such a filter never matches. */
  readonly operator: Operator | undefined
  readonly value: unknown
  /** Whether it is about a group, also when no group type is named: then it is that of the condition. */
  readonly isOfGroup: boolean
  /** The group type index whose property it is, as text; null for the person. */
  readonly group: string | null
  readonly negated: boolean
  readonly inverted: boolean
  readonly mode: StrictMode
}

export interface CohortProperty {
  readonly kind: 'cohort'
  readonly path: string
  /** As text, since stored ids may be numbers or strings. */
  readonly id: string
  /** The operator `not_in`, which only flag conditions support. */
  readonly excluded: boolean
  readonly negated: boolean
  readonly inverted: boolean
}

export interface FlagProperty {
  readonly kind: 'flag'
  readonly path: string
  /** The id of the other flag as text. */
  readonly reference: string
  readonly expected: boolean | string | undefined
  readonly negated: boolean
  readonly inverted: boolean
}

export function parseProperty(value: unknown, path: string, report: Report): ParsedProperty | undefined {
  if (!isRecord(value)) {
    report('wrong_type', path, 'A property filter must be an object.')
    return undefined
  }
  const type = own(value, 'type') ?? 'person'
  if (type === 'cohort') return parseCohortProperty(value, path, report)
  if (type === 'flag') return parseFlagProperty(value, path, report)
  return parseValueProperty(value, type, path, report)
}

/** `negation` applies within cohorts, where PostHog has it; `inverted` in conditions, where PostHog ignores `negation`. */
function negationOf(value: JsonRecord, path: string, report: Report): { negated: boolean; inverted: boolean } {
  return { negated: Boolean(own(value, 'negation')), inverted: parseSwitch(value, 'inverted', path, report) }
}

function parseSwitch(value: JsonRecord, key: string, path: string, report: Report): boolean {
  const setting = own(value, key) ?? false
  if (typeof setting !== 'boolean') report('wrong_type', `${path}.${key}`, `\`${key}\` must be true or false.`)
  return setting === true
}

const describedTypes: ReadonlySet<unknown> = new Set(['person', 'group', 'person_metadata'])

/** The person property that holds when the person was created, for filters of the type `person_metadata`. */
export const personCreatedAt = '$person_metadata.created_at'

function parseValueProperty(
  value: JsonRecord,
  type: unknown,
  path: string,
  report: Report,
): ParsedProperty | undefined {
  const key = own(value, 'key')
  if (typeof key !== 'string' && typeof key !== 'number') {
    report('wrong_type', `${path}.key`, '`key` must be the name of a property.')
    return undefined
  }
  if (!describedTypes.has(type)) {
    const behavioral = type === 'behavioral'
    const typeMessage = '`type` must be person, person_metadata, group, cohort or flag.'
    report(
      behavioral ? 'behavioral_cohort' : 'wrong_type',
      `${path}.type`,
      behavioral ? 'Behavioral filters can be used in cohorts only; use a cohort here.' : typeMessage,
    )
  }
  const operator = parseOperator(own(value, 'operator'))
  if (operator === undefined) reportOperator(own(value, 'operator'), path, report)
  const group = type === 'group' ? parseGroup(own(value, 'group_type_index'), path, report) : null
  if (type === 'person_metadata' && key !== 'created_at') {
    report('invalid_value', `${path}.key`, '`key` must be created_at for the type person_metadata.')
  }
  return {
    kind: 'value',
    path,
    key: type === 'person_metadata' && key === 'created_at' ? personCreatedAt : String(key),
    operator,
    value: own(value, 'value'),
    isOfGroup: type === 'group',
    group,
    mode: parseMode(value, operator, path, report),
    ...negationOf(value, path, report),
  }
}

function parseMode(value: JsonRecord, operator: Operator | undefined, path: string, report: Report): StrictMode {
  const switchOf = (key: string, isAllowed: (operator: Operator) => boolean): boolean => {
    const isOn = parseSwitch(value, key, path, report)
    if (isOn && operator !== undefined && !isAllowed(operator)) {
      report('invalid_value', `${path}.${key}`, `\`${key}\` cannot be used with ${operator}.`)
    }
    return isOn
  }
  return {
    ignoresCase: switchOf('ignore_case', hasIgnoreCase),
    isSameType: switchOf('same_type', hasSameType),
    isAnyItem: switchOf('any_item', hasAnyItem),
    takesPartialVersions: switchOf('partial_versions', hasPartialVersions),
  }
}

function reportOperator(operator: unknown, path: string, report: Report): void {
  const name = typeof operator === 'string' ? `"${operator.slice(0, 40)}"` : 'This'
  if (operator === 'in' || operator === 'not_in') {
    report('wrong_operator', `${path}.operator`, `${name} can be used with cohorts only.`)
  } else if (operator === 'flag_evaluates_to') {
    report('wrong_operator', `${path}.operator`, `${name} can be used with flags only.`)
  } else {
    report('unknown_operator', `${path}.operator`, `${name} is not a supported operator.`)
  }
}

function parseGroup(index: unknown, path: string, report: Report): string | null {
  if (index === null || index === undefined) return null
  const text = String(index)
  if (!/^[0-4]$/.test(text)) {
    report('out_of_range', `${path}.group_type_index`, 'The group type index must be a number from 0 to 4.')
  }
  return text
}

function parseCohortProperty(value: JsonRecord, path: string, report: Report): CohortProperty {
  const id = own(value, 'value')
  const isId = Number.isInteger(id) || (typeof id === 'string' && /^\d+$/.test(id))
  if (!isId) report('invalid_value', `${path}.value`, '`value` must be the id of a cohort, an integer.')
  const operator = own(value, 'operator') ?? 'in'
  if (operator !== 'in' && operator !== 'not_in' && operator !== 'exact') {
    report('wrong_operator', `${path}.operator`, '`operator` must be in or not_in for a cohort.')
  }
  return {
    kind: 'cohort',
    path,
    id: isId ? String(id) : '',
    excluded: operator === 'not_in',
    ...negationOf(value, path, report),
  }
}

function parseFlagProperty(value: JsonRecord, path: string, report: Report): FlagProperty {
  const key = own(value, 'key')
  const reference = typeof key === 'string' || typeof key === 'number' ? String(key) : ''
  if (reference === '') report('invalid_value', `${path}.key`, '`key` must be the id of a flag.')
  if ((own(value, 'operator') ?? 'flag_evaluates_to') !== 'flag_evaluates_to') {
    report('wrong_operator', `${path}.operator`, '`operator` must be flag_evaluates_to for a flag.')
  }
  const expected = own(value, 'value')
  const fits = typeof expected === 'boolean' || typeof expected === 'string'
  if (!fits) report('invalid_value', `${path}.value`, '`value` must be true, false or the key of a variant.')
  return { kind: 'flag', path, reference, expected: fits ? expected : undefined, ...negationOf(value, path, report) }
}
