import { behaviorDaysMax, dayNumber } from '@halyard/engine'
import { dateOf, plusMilliseconds } from '../../../instant.ts'
import type { Job, JobContext } from '../../../jobs/job-runner.ts'

/** Per transaction, so that other writers wait only briefly; and the number of transactions per run. */
const daysAtOnceMax = 500
const transactionsMax = 20
const eventsPerRead = 100
/** A transaction that began before an event ended may still count it. */
const withPersons = { withPersons: true }
const endedMilliseconds = 10 * 60 * 1000

/**
 * Removes the counts of events that no cohort names any more and, once a day, those of days beyond every window. A run that is
 * interrupted is continued by the next one.
 */
export function trimEventDays(): Job {
  /** The day for which events are trimmed, and the last event that is done. */
  let trimmed = { day: 0, eventId: 0, isDone: false }

  async function trim({ now, read, people, isStopping }: JobContext): Promise<void> {
    const day = dayNumber(dateOf(now).getTime())
    if (trimmed.day !== day) trimmed = { day, eventId: 0, isDone: false }
    let left = transactionsMax
    while (!trimmed.isDone) {
      const ids = await read(tx => tx.countedEvents.listIds(trimmed.eventId, eventsPerRead))
      for (const eventId of ids) {
        do {
          if (left === 0 || isStopping()) return
          left -= 1
        } while (await people.transaction(tx => tx.eventDays.trim(eventId, day - behaviorDaysMax, daysAtOnceMax)))
        trimmed = { ...trimmed, eventId }
      }
      if (ids.length < eventsPerRead) trimmed = { ...trimmed, isDone: true }
    }
  }

  async function removeEnded({ now, transaction, isStopping }: JobContext): Promise<void> {
    const before = plusMilliseconds(now, -endedMilliseconds)
    for (let left = transactionsMax; left > 0 && !isStopping(); left--) {
      const hasMore = await transaction(async tx => {
        const eventId = await tx.countedEvents.findEnded(before)
        if (eventId === undefined) return false
        const historyId = await tx.eventHistories.findId(eventId)
        for (const id of historyId === undefined ? [eventId] : [eventId, historyId]) {
          if (await tx.people.eventDays.remove(id, daysAtOnceMax)) return true
        }
        await tx.countedEvents.remove(eventId)
        return true
      }, withPersons)
      if (!hasMore) return
    }
  }

  return {
    name: 'trim-event-days',
    async run(context) {
      await removeEnded(context)
      await trim(context)
    },
  }
}
