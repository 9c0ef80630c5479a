import type { Property } from '../filters.ts'
import { propertySentence, type Wording } from '../flag-sentences.ts'

/** An automatic rollback condition as the form holds it, with everything that the server supports. */
export interface RollbackCondition {
  readonly source: 'events' | 'samples'
  /** The event's name, or the name of the metric whose samples are pushed. */
  readonly name: string
  /** Count, count per minute, or ratio to another event. */
  readonly eventMath: 'count' | 'rate' | 'per'
  readonly per: string
  readonly properties: readonly Property[]
  readonly isOnlyFlagged: boolean
  readonly sampleMath: SampleMath
  readonly operator: string
  readonly threshold: number
  readonly windowMinutes: number
  readonly minimumSamples: number
}

export const sampleMaths = ['average', 'sum', 'minimum', 'maximum', 'count'] as const
export type SampleMath = (typeof sampleMaths)[number]
export const comparisons = ['gt', 'gte', 'lt', 'lte'] as const
export const windowMinutesMax = 7 * 24 * 60

export const defaultCondition: RollbackCondition = {
  source: 'events',
  name: '',
  eventMath: 'count',
  per: '',
  properties: [],
  isOnlyFlagged: false,
  sampleMath: 'average',
  operator: 'gt',
  threshold: 10,
  windowMinutes: 60,
  minimumSamples: 1,
}

type JsonObject = Readonly<Record<string, unknown>>
const isRecord = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const signs: Record<string, string> = { '>': 'gt', '>=': 'gte', '<': 'lt', '<=': 'lte' }

/** Lenient, like the server: omitted fields get their defaults. Undefined when the shape is unknown. */
export function readRollbackCondition(stored: unknown): RollbackCondition | undefined {
  if (!isRecord(stored)) return undefined
  const metric = typeof stored.metric === 'string' ? { name: stored.metric } : stored.metric
  if (!isRecord(metric)) return undefined
  const operator = String(stored.operator)
  const shared = {
    ...defaultCondition,
    operator: signs[operator] ?? operator,
    threshold: Number(stored.threshold),
    windowMinutes: Number(stored.window_minutes ?? defaultCondition.windowMinutes),
    minimumSamples: Number(stored.minimum_samples ?? defaultCondition.minimumSamples),
  }
  if (typeof metric.event !== 'string') {
    const sampleMath = sampleMaths.find(math => math === metric.math) ?? 'average'
    return typeof metric.name === 'string' ? { ...shared, source: 'samples', name: metric.name, sampleMath } : undefined
  }
  return {
    ...shared,
    name: metric.event,
    per: typeof metric.per === 'string' ? metric.per : '',
    eventMath: metric.math === 'count' ? 'count' : metric.per ? 'per' : metric.math === 'rate' ? 'rate' : 'count',
    properties: Array.isArray(metric.properties) ? (metric.properties as Property[]) : [],
    isOnlyFlagged: metric.only_flagged === true,
  }
}

/** Omits defaults. */
export function writeRollbackCondition(condition: RollbackCondition): Record<string, unknown> {
  const { operator, threshold, windowMinutes, minimumSamples } = condition
  return {
    metric: writeMetric(condition),
    operator,
    threshold,
    window_minutes: windowMinutes,
    ...(minimumSamples !== defaultCondition.minimumSamples && { minimum_samples: minimumSamples }),
  }
}

function writeMetric(condition: RollbackCondition): Record<string, unknown> {
  const { source, name, eventMath, per, properties, isOnlyFlagged, sampleMath } = condition
  if (source === 'samples') return { name, math: sampleMath }
  return {
    event: name,
    ...(eventMath === 'rate' && { math: 'rate' }),
    ...(eventMath === 'per' && { per }),
    ...(properties.length > 0 && { properties }),
    ...(isOnlyFlagged && { only_flagged: true }),
  }
}

/** All rollback conditions as lines of text, for diffs. */
export function rollbackLines(stored: unknown, wording: Wording): string[] {
  const conditions = isRecord(stored) && Array.isArray(stored.conditions) ? stored.conditions : []
  return conditions.map(each => {
    const condition = readRollbackCondition(each)
    return condition ? rollbackSentence(condition, wording) : JSON.stringify(each)
  })
}

export function rollbackSentence(condition: RollbackCondition, wording: Wording): string {
  const { t } = wording
  const w = t.rollback
  const operators: Record<string, string> = t.operators
  const { source, name, per, properties, isOnlyFlagged, operator, threshold, windowMinutes, minimumSamples } = condition
  const measure =
    source === 'samples'
      ? w.sampleMeasures[condition.sampleMath](name)
      : w.eventMeasures[condition.eventMath](name, per)
  const filters = properties.map(property => propertySentence({ ...property, type: 'person' }, wording))
  const where = filters.length > 0 ? ` ${t.editor.where} ${filters.join(` ${t.editor.and} `)}` : ''
  return [
    w.sentence(measure + where, operators[operator] ?? operator, String(threshold), windowMinutes),
    ...(isOnlyFlagged ? [w.onlyFlaggedNote] : []),
    ...(minimumSamples > 1 ? [w.minimumNote(minimumSamples)] : []),
  ].join('; ')
}
