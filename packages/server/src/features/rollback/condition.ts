import { checkFlag } from '@halyard/engine'
import type { FreeObject } from '../../domain/flag.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'

/** When a flag is rolled back automatically: a metric over a time window, compared with a threshold. */
export interface RollbackCondition {
  readonly metric: Metric
  readonly operator: Comparison
  readonly threshold: number
  readonly windowMinutes: number
  /** With fewer samples the condition does not hold. */
  readonly minimumSamples: number
}

export type Metric = EventMetric | SampleMetric

export interface EventMetric {
  readonly kind: 'events'
  readonly event: string
  /** Only events with these properties; empty means all. */
  readonly properties: readonly FreeObject[]
  /** The number of events, or a rate: per minute, or per event of another name (`per`). */
  readonly math: 'count' | 'rate'
  readonly per: string | undefined
  /** Only events that carry the flag as on. */
  readonly isOnlyFlagged: boolean
}

export interface SampleMetric {
  readonly kind: 'samples'
  readonly name: string
  readonly math: 'average' | 'sum' | 'minimum' | 'maximum' | 'count'
}

export type Comparison = 'gt' | 'gte' | 'lt' | 'lte'

/** A condition that cannot be parsed is stored unchanged and never triggers. */
export type ReadCondition =
  | { readonly condition: RollbackCondition; readonly problem?: undefined }
  | { readonly condition?: undefined; readonly problem: string }

export const windowMinutesMax = 7 * 24 * 60
const windowMinutesDefault = 60

export function readConditions(rollbackConditions: FreeObject): readonly ReadCondition[] {
  const { conditions } = rollbackConditions
  if (Object.keys(rollbackConditions).length === 0) return []
  if (!Array.isArray(conditions)) return [{ problem: '"conditions" must be a list.' }]
  return conditions.map(readCondition)
}

function readCondition(sent: unknown): ReadCondition {
  if (!isObject(sent)) return { problem: 'A condition must be an object.' }
  const { threshold, window_minutes: window = windowMinutesDefault, minimum_samples: minimum = 1 } = sent
  const operator = operators.get(sent.operator)
  if (!operator) return { problem: '"operator" must be gt, gte, lt or lte.' }
  if (typeof threshold !== 'number' || !Number.isFinite(threshold)) return { problem: '"threshold" must be a number.' }
  if (!isInteger(window, 1, windowMinutesMax)) {
    return { problem: `"window_minutes" must be an integer from 1 to ${windowMinutesMax}.` }
  }
  if (!isInteger(minimum, 0, Number.MAX_SAFE_INTEGER)) return { problem: '"minimum_samples" must be an integer.' }
  const metric = readMetric(sent.metric)
  if (typeof metric === 'string') return { problem: metric }
  return { condition: { metric, operator, threshold, windowMinutes: window, minimumSamples: minimum } }
}

const operators: ReadonlyMap<unknown, Comparison> = new Map([
  ['gt', 'gt'],
  ['>', 'gt'],
  ['gte', 'gte'],
  ['>=', 'gte'],
  ['lt', 'lt'],
  ['<', 'lt'],
  ['lte', 'lte'],
  ['<=', 'lte'],
])

const sampleMath = ['average', 'sum', 'minimum', 'maximum', 'count'] as const

/** A string is the name of a pushed metric. Returns an error message when the metric is invalid. */
function readMetric(sent: unknown): Metric | string {
  if (typeof sent === 'string' && sent !== '') return { kind: 'samples', name: sent, math: 'average' }
  if (!isObject(sent)) return '"metric" must be an object, or the name of a pushed metric.'
  if (typeof sent.event === 'string' && sent.event !== '') return readEventMetric(sent, sent.event)
  if (typeof sent.name !== 'string' || sent.name === '') return '"metric" requires an "event" or a "name".'
  const math = sampleMath.find(candidate => candidate === (sent.math ?? 'average'))
  return math
    ? { kind: 'samples', name: sent.name, math }
    : `"math" of a pushed metric must be one of ${sampleMath.join(', ')}.`
}

function readEventMetric(sent: Record<string, unknown>, event: string): Metric | string {
  const {
    properties = [],
    per,
    only_flagged: isOnlyFlagged = false,
    math = per === undefined ? 'count' : 'rate',
  } = sent
  if (math !== 'count' && math !== 'rate') return '"math" of an event metric must be count or rate.'
  if (per !== undefined && (typeof per !== 'string' || per === '')) return '"per" must be the name of an event.'
  if (typeof isOnlyFlagged !== 'boolean') return '"only_flagged" must be true or false.'
  if (!Array.isArray(properties) || !properties.every(isObject)) return '"properties" must be a list of filters.'
  // The filters always apply to event properties, whatever their `type`.
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

const isInteger = (value: unknown, min: number, max: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
