import { checkFlag } from '@halyard/engine'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import type { FreeObject } from '../flags/flag.ts'

/** When a flag is to be switched off by itself: a metric, compared to a threshold, over the last minutes. */
export interface RollbackCondition {
  readonly metric: Metric
  readonly operator: Comparison
  readonly threshold: number
  readonly windowMinutes: number
  /** Fewer than this say nothing. */
  readonly minimumSamples: number
}

export type Metric = EventMetric | SampleMetric

export interface EventMetric {
  readonly kind: 'events'
  readonly event: string
  /** Only events with these properties; empty means all. */
  readonly properties: readonly FreeObject[]
  /** Events as they are, a minute, or for each event of another name. */
  readonly math: 'count' | 'rate'
  readonly per: string | undefined
  /** Only events of people who had the flag on. */
  readonly isOnlyFlagged: boolean
}

export interface SampleMetric {
  readonly kind: 'samples'
  readonly name: string
  readonly math: 'average' | 'sum' | 'minimum' | 'maximum' | 'count'
}

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte'

/** What is not understood is kept as it is, and never acts. */
export type ReadCondition =
  | { readonly condition: RollbackCondition; readonly problem?: undefined }
  | { readonly condition?: undefined; readonly problem: string }

export const windowMinutesMax = 7 * 24 * 60
const windowMinutesDefault = 60

export function readConditions(rollbackConditions: FreeObject): readonly ReadCondition[] {
  const { conditions } = rollbackConditions
  if (Object.keys(rollbackConditions).length === 0) return []
  if (!Array.isArray(conditions)) return [{ problem: 'There is no list "conditions".' }]
  return conditions.map(readCondition)
}

function readCondition(given: unknown): ReadCondition {
  if (!isObject(given)) return { problem: 'A condition must be an object.' }
  const { threshold, window_minutes: window = windowMinutesDefault, minimum_samples: minimum = 1 } = given
  const operator = operators[String(given.operator)]
  if (!operator) return { problem: 'The operator must be gt, gte, lt or lte.' }
  if (typeof threshold !== 'number' || !Number.isFinite(threshold))
    return { problem: 'The threshold must be a number.' }
  if (!isWhole(window, 1, windowMinutesMax)) {
    return { problem: `window_minutes must be a whole number from 1 to ${windowMinutesMax}.` }
  }
  if (!isWhole(minimum, 0, Number.MAX_SAFE_INTEGER)) return { problem: 'minimum_samples must be a whole number.' }
  const metric = readMetric(given.metric)
  if (typeof metric === 'string') return { problem: metric }
  return { condition: { metric, operator, threshold, windowMinutes: window, minimumSamples: minimum } }
}

const operators: Readonly<Record<string, Comparison>> = {
  gt: 'gt',
  '>': 'gt',
  gte: 'gte',
  '>=': 'gte',
  lt: 'lt',
  '<': 'lt',
  lte: 'lte',
  '<=': 'lte',
}

const sampleMath = ['average', 'sum', 'minimum', 'maximum', 'count'] as const

/** A text is the name of a pushed metric. Answers a sentence when it is no metric. */
function readMetric(given: unknown): Metric | string {
  if (typeof given === 'string' && given !== '') return { kind: 'samples', name: given, math: 'average' }
  if (!isObject(given)) return 'The metric must be an object, or the name of a pushed metric.'
  if (typeof given.event === 'string' && given.event !== '') return readEventMetric(given, given.event)
  if (typeof given.name !== 'string' || given.name === '') return 'The metric must have an "event" or a "name".'
  const math = sampleMath.find(known => known === (given.math ?? 'average'))
  return math ? { kind: 'samples', name: given.name, math } : `The math of samples is one of ${sampleMath.join(', ')}.`
}

function readEventMetric(given: Record<string, unknown>, event: string): Metric | string {
  const {
    properties = [],
    per,
    only_flagged: isOnlyFlagged = false,
    math = per === undefined ? 'count' : 'rate',
  } = given
  if (math !== 'count' && math !== 'rate') return 'The math of events is count or rate.'
  if (per !== undefined && (typeof per !== 'string' || per === '')) return '"per" must be the name of an event.'
  if (typeof isOnlyFlagged !== 'boolean') return '"only_flagged" must be true or false.'
  if (!Array.isArray(properties) || !properties.every(isObject)) return '"properties" must be a list of filters.'
  // They are about the event, whatever they say.
  const filters = properties.map(({ type: _, ...filter }) => filter)
  const [issue] = checkFlag(
    { id: 0, key: 'metric', active: true, filters: { groups: [{ properties: filters }] } },
    { flags: [], cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 },
    { regex: linearRegex },
  )
  if (issue) return `"properties" cannot be evaluated: ${issue.message}`
  return { kind: 'events', event, properties: filters, math, per, isOnlyFlagged }
}

export const holds = (operator: Comparison, value: number, threshold: number): boolean =>
  ({ gt: value > threshold, gte: value >= threshold, lt: value < threshold, lte: value <= threshold })[operator]

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWhole = (value: unknown, min: number, max: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
