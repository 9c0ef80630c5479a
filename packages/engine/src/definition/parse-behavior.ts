import type { Report } from './issue.ts'
import { isRecord, type JsonRecord, own } from './json.ts'

/** A cohort's filter on how often the person has performed an event in the last days. */
export interface BehaviorProperty {
  readonly kind: 'behavior'
  readonly path: string
  /** Undefined when the filter cannot be evaluated; it then matches no one. */
  readonly behavior: Behavior | undefined
  readonly negated: boolean
  readonly inverted: false
}

export interface Behavior {
  readonly event: string
  /** `count`: the events of the window are counted. `first_time`: the first one ever must be in the window. */
  readonly measure: 'count' | 'first_time'
  readonly operator: CountOperator
  readonly count: number
  /** The last so many calendar days in UTC, today included. */
  readonly days: number
}

export type CountOperator = 'exact' | 'gt' | 'gte' | 'lt' | 'lte'

/** Longer windows are refused: events are counted by day for this long. */
export const behaviorDaysMax = 366
export const behaviorCountMax = 1_000_000
export const behaviorEventCharactersMax = 200

const countOperators: ReadonlyMap<unknown, CountOperator> = new Map([
  ['exact', 'exact'],
  ['eq', 'exact'],
  ['gt', 'gt'],
  ['gte', 'gte'],
  ['lt', 'lt'],
  ['lte', 'lte'],
])
const daysOf: ReadonlyMap<unknown, number> = new Map([
  ['day', 1],
  ['d', 1],
  ['week', 7],
  ['w', 7],
  ['month', 30],
  ['m', 30],
  ['year', 365],
  ['y', 365],
])

/** Fields of PostHog's filters that would change who matches. */
const unsupported: ReadonlyMap<string, string> = new Map([
  ['event_filters', 'Filters on event properties are not supported in behavioral filters.'],
  ['seq_event', 'Sequences of events are not supported.'],
  ['seq_time_value', 'Sequences of events are not supported.'],
  ['total_periods', 'Regularly performed events are not supported.'],
  ['min_periods', 'Regularly performed events are not supported.'],
  ['explicit_datetime_to', 'A window must end now; omit `explicit_datetime_to`.'],
])

/** Parses a filter of the type `behavioral`, in PostHog's shape. */
export function parseBehavior(value: JsonRecord, path: string, report: Report): BehaviorProperty {
  let isValid = true
  const refuse: Report = (code, at, message) => {
    isValid = false
    report(code, at, message)
  }
  for (const [name, message] of unsupported) {
    if (isFilled(own(value, name))) refuse('invalid_value', `${path}.${name}`, message)
  }
  const event = parseEvent(value, path, refuse)
  const days = parseWindow(value, path, refuse)
  const kind = own(value, 'value')
  const behavior = { event, days, ...parseMeasure(kind, value, path, refuse) }
  const inverted = own(value, 'inverted') ?? false
  if (inverted !== false) refuse('invalid_value', `${path}.inverted`, 'Use `negation: true` within a cohort.')
  return {
    kind: 'behavior',
    path,
    behavior: isValid ? behavior : undefined,
    negated: Boolean(own(value, 'negation')),
    inverted: false,
  }
}

const isFilled = (value: unknown): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isRecord(value) && Object.keys(value).length === 0)

function parseEvent(value: JsonRecord, path: string, refuse: Report): string {
  const [event, type] = [own(value, 'key'), own(value, 'event_type') ?? 'events']
  if (type !== 'events') {
    refuse('invalid_value', `${path}.event_type`, '`event_type` must be events; actions are not supported.')
  }
  if (typeof event === 'string' && event.trim() !== '' && event.length <= behaviorEventCharactersMax) return event
  refuse(
    'invalid_value',
    `${path}.key`,
    `\`key\` must be the name of an event, 1 to ${behaviorEventCharactersMax} characters.`,
  )
  return ''
}

function parseMeasure(
  kind: unknown,
  value: JsonRecord,
  path: string,
  refuse: Report,
): Pick<Behavior, 'measure' | 'operator' | 'count'> {
  if (kind === 'performed_event') return { measure: 'count', operator: 'gte', count: 1 }
  if (kind === 'performed_event_first_time') return { measure: 'first_time', operator: 'gte', count: 1 }
  if (kind !== 'performed_event_multiple') {
    const kinds = 'performed_event, performed_event_multiple or performed_event_first_time'
    refuse('invalid_value', `${path}.value`, `\`value\` must be ${kinds}.`)
    return { measure: 'count', operator: 'gte', count: 1 }
  }
  const operator = countOperators.get(own(value, 'operator'))
  if (operator === undefined) {
    refuse('wrong_operator', `${path}.operator`, '`operator` must be gte, gt, lte, lt or exact.')
  }
  const count = integerOf(own(value, 'operator_value'))
  if (count === undefined || count < 0 || count > behaviorCountMax) {
    const message = `\`operator_value\` must be an integer from 0 to ${behaviorCountMax}.`
    refuse('out_of_range', `${path}.operator_value`, message)
  }
  return { measure: 'count', operator: operator ?? 'gte', count: count ?? 1 }
}

/** `time_value` and `time_interval`, or the newer `explicit_datetime` with both in one, such as `-30d`. */
function parseWindow(value: JsonRecord, path: string, refuse: Report): number {
  const explicit = own(value, 'explicit_datetime')
  if (isFilled(explicit)) {
    const [, amount, unit] = /^-(\d{1,4})([dwmy])$/.exec(String(explicit)) ?? []
    return checkDays(Number(amount) * (daysOf.get(unit) ?? Number.NaN), `${path}.explicit_datetime`, refuse)
  }
  const unit = daysOf.get(own(value, 'time_interval'))
  if (unit === undefined) {
    refuse('invalid_value', `${path}.time_interval`, '`time_interval` must be day, week, month or year.')
    return 1
  }
  return checkDays((integerOf(own(value, 'time_value')) ?? Number.NaN) * unit, `${path}.time_value`, refuse)
}

function checkDays(days: number, path: string, refuse: Report): number {
  if (days >= 1 && days <= behaviorDaysMax) return days
  refuse('out_of_range', path, `The window must be 1 to ${behaviorDaysMax} days, such as 30 days or \`-30d\`.`)
  return 1
}

const integerOf = (value: unknown): number | undefined => {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  return Number.isSafeInteger(number) ? (number as number) : undefined
}
