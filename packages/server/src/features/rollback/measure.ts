import type { Flag } from '../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { type EventMetric, holds, type RollbackCondition, type SampleMetric } from './condition.ts'
import { labelOf } from './event-labels.ts'
import { minuteTextOf, type SampleSum } from './samples.ts'

export interface Measured {
  /** Null without data. */
  readonly value: number | null
  readonly samples: number
  readonly isHolding: boolean
}

const minuteMilliseconds = 60_000

/** Evaluates a condition from stored data only, so that every node gets the same result. */
export async function measure(tx: Stores, flag: Flag, condition: RollbackCondition, now: Instant): Promise<Measured> {
  const { metric, windowMinutes, minimumSamples, operator, threshold } = condition
  const windowStart = plusMilliseconds(now, -windowMinutes * minuteMilliseconds)
  const { value, samples } =
    metric.kind === 'events'
      ? await measureEvents(tx, flag, metric, windowStart, now)
      : await measureSamples(tx, flag, metric, windowStart)
  // An upper threshold needs a complete window.
  const isTooEarly = (operator === 'lt' || operator === 'lte') && flag.activeSince > windowStart
  const isHolding = value !== null && samples >= minimumSamples && !isTooEarly && holds(operator, value, threshold)
  return { value, samples, isHolding }
}

async function measureSamples(tx: Stores, flag: Flag, { name, math }: SampleMetric, windowStart: Instant) {
  const watched = { flagId: flag.id, activeSince: flag.activeSince }
  const sum = await tx.metrics.sum(watched, name, minuteTextOf(windowStart))
  return { value: sum ? summary[math](sum) : null, samples: sum?.samples ?? 0 }
}

const summary: Record<SampleMetric['math'], (sum: SampleSum) => number> = {
  average: ({ total, samples }) => total / samples,
  sum: ({ total }) => total,
  minimum: ({ lowest }) => lowest,
  maximum: ({ highest }) => highest,
  count: ({ samples }) => samples,
}

async function measureEvents(tx: Stores, flag: Flag, metric: EventMetric, windowStart: Instant, now: Instant) {
  const from = await countedFrom(tx, flag, windowStart)
  const to = plusMilliseconds(now, minuteMilliseconds)
  const only = metric.isOnlyFlagged ? { flag: { key: flag.key } } : {}
  const count = await tx.eventCounts.sum(flag.projectId, { event: labelOf(metric), from, to, ...only })
  if (metric.math === 'count') return { value: count, samples: count }
  if (metric.per === undefined) {
    const minutes = Math.max(1, (Date.parse(now) - Date.parse(from)) / minuteMilliseconds)
    return { value: count / minutes, samples: count }
  }
  const all = await tx.eventCounts.sum(flag.projectId, { event: metric.per, from, to, ...only })
  return { value: all === 0 ? null : count / all, samples: all }
}

/**
 * Events are counted by the minute. The minute in which a flag was switched on again may contain earlier events, so counting starts with
 * the next minute and one incident does not count twice.
 */
async function countedFrom(tx: Stores, flag: Flag, windowStart: Instant): Promise<Instant> {
  if (flag.activeSince <= windowStart) return windowStart
  const isNew = (await tx.flags.findVersion(flag.id, 1))?.createdAt === flag.activeSince
  return isNew ? flag.activeSince : plusMilliseconds(`${minuteTextOf(flag.activeSince)}:00.000000Z`, minuteMilliseconds)
}
