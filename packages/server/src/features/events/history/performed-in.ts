import { behaviorDaysMax } from '@halyard/engine'
import { type CountedEvent, epochOf } from '../../../domain/counted-event.ts'
import type { IncomingEvent } from '../../../domain/event.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { createPerformedCounts, type PerformedEvents } from '../clickhouse/performed-events.ts'
import { distinctIdsIn } from '../update-profiles.ts'
import { dayOf } from '../usage/usage.ts'
import { userHash } from '../usage/user-sample.ts'

/** The largest part of the events, and counted by flag already. */
const leftOut = '$feature_flag_called'
const dayMilliseconds = 24 * 60 * 60 * 1000

/** What users have performed, under the epochs in which it is counted live. As there, the future is today. */
export function performedIn(
  projectId: number,
  events: readonly IncomingEvent[],
  counted: ReadonlyMap<string, CountedEvent>,
  now: Instant,
): readonly PerformedEvents[] {
  const today = dayOf(now)
  const oldest = dayOf(plusMilliseconds(now, -(behaviorDaysMax - 1) * dayMilliseconds))
  const hashes = new Map<string, number>()
  const counts = createPerformedCounts()
  for (const event of events) {
    if (event.name === leftOut || distinctIdsIn(event).length === 0) continue
    const ownDay = dayOf(event.at)
    if (ownDay < oldest) continue
    const live = counted.get(event.name)
    const hash = hashes.get(event.distinctId) ?? userHash(projectId, event.distinctId)
    hashes.set(event.distinctId, hash)
    counts.add(event.name, ownDay < today ? ownDay : today, live ? epochOf(live) : 0, hash, 1)
  }
  return counts.list()
}
