import type { MetricSample } from '@halyard/contract'
import type { Flag } from '../../domain/flag.ts'
import { type Instant, parseInstant, plusMilliseconds } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { windowMinutesMax } from './condition.ts'
import { minuteTextOf, type Samples } from './samples.ts'

const namesPerFlagMax = 50
const aheadMillisecondsMax = 5 * 60_000

/** Aggregates samples by name and minute. Throws `invalid` for an invalid or future time, and for too many names. */
export async function pushSamples(
  tx: Stores,
  flag: Flag,
  samples: readonly MetricSample[],
  now: Instant,
): Promise<{ readonly accepted: number; readonly ignored: number }> {
  const watched = { flagId: flag.id, activeSince: flag.activeSince }
  const oldest = plusMilliseconds(now, -windowMinutesMax * 60_000)
  const timed = samples.map(sample => ({ ...sample, at: readTime(sample.at, now) }))
  const counted = timed.filter(({ at }) => at >= flag.activeSince && at >= oldest)
  await tx.metrics.add(watched, aggregate(counted))
  if ((await tx.metrics.countNames(watched)) > namesPerFlagMax) {
    throw invalid('samples', 'max_length', `A flag can have at most ${namesPerFlagMax} pushed metrics.`)
  }
  return { accepted: counted.length, ignored: samples.length - counted.length }
}

function readTime(text: string | undefined, now: Instant): Instant {
  const at = text === undefined ? now : parseInstant(text)
  if (at === undefined)
    throw invalid('at', 'invalid_input', 'at must be an ISO 8601 date-time such as 2026-01-31T12:00:00Z.')
  if (at > plusMilliseconds(now, aheadMillisecondsMax)) {
    throw invalid('at', 'invalid_input', 'at must not be in the future.')
  }
  return at
}

function aggregate(
  samples: readonly { readonly name: string; readonly value: number; readonly at: Instant }[],
): Samples[] {
  const sums = new Map<string, Samples>()
  for (const { name, value, at } of samples) {
    const minute = minuteTextOf(at)
    const key = `${minute} ${name}`
    const sum = sums.get(key) ?? { name, minute, samples: 0, total: 0, lowest: value, highest: value }
    sums.set(key, {
      ...sum,
      samples: sum.samples + 1,
      total: sum.total + value,
      lowest: Math.min(sum.lowest, value),
      highest: Math.max(sum.highest, value),
    })
  }
  // A fixed lock order, so that two nodes cannot deadlock.
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
}
