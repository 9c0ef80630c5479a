import { dayNumber } from '@halyard/engine'
import type { CountedEvent } from '../../domain/counted-event.ts'
import type { IncomingEvent } from '../../domain/event.ts'
import { dateOf, type Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { EventDay } from '../cohorts/behavior/counted-event.ts'
import { performedIn } from './history/performed-in.ts'
import { distinctIdsIn } from './update-profiles.ts'

/** The id of the person that a distinct id belongs to after all events. */
type PersonIdOf = (distinctId: string) => number | undefined

/**
 * Counts the events that behavioral cohorts name, in the caller's transaction. Which ones is read within it, so that every event counts that
 * is received after the cohort was saved, on whichever node. All events are recorded with what is counted live: `events` leaves out those
 * that the persons have already.
 */
export async function countBehavior(
  tx: Stores,
  projectId: number,
  { all, events }: { readonly all: readonly IncomingEvent[]; readonly events: readonly IncomingEvent[] },
  personIdOf: PersonIdOf,
  now: Instant,
): Promise<void> {
  const counted = await tx.countedEvents.listLive(projectId)
  if (tx.personEvents.isRecorded) tx.personEvents.add(projectId, performedIn(projectId, all, counted, now))
  if (counted.size === 0) return
  const days = eventDaysIn(events, counted, personIdOf, now)
  if (days.length > 0) await tx.people.eventDays.add(projectId, days)
}

/** A late event counts for its own day, and one in the future for today. */
export function eventDaysIn(
  events: readonly IncomingEvent[],
  counted: ReadonlyMap<string, CountedEvent>,
  personIdOf: PersonIdOf,
  now: Instant,
): readonly EventDay[] {
  const today = dayOf(now)
  const days = new Map<string, EventDay>()
  for (const event of events) {
    const eventId = counted.get(event.name)?.id
    if (eventId === undefined || distinctIdsIn(event).length === 0) continue
    const personId = personIdOf(event.distinctId)
    if (personId === undefined) continue
    const day = Math.min(dayOf(event.at), today)
    const key = `${personId} ${eventId} ${day}`
    days.set(key, { personId, eventId, day, count: (days.get(key)?.count ?? 0) + 1 })
  }
  return [...days.values()]
}

const dayOf = (instant: Instant): number => dayNumber(dateOf(instant).getTime())
