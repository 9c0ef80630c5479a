import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { monotonicNow } from '../../../concurrency/monotonic-clock.ts'
import { retryDelay } from '../../../concurrency/retry-delay.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Job, JobContext } from '../../../jobs/job-runner.ts'
import type { EventHistoryReading } from '../../cohorts/behavior/event-history.ts'
import { recountCohortsNaming } from '../../cohorts/recount-cohorts.ts'
import { type ClickHouseClient, ClickHouseError } from '../clickhouse/clickhouse-client.ts'
import { readHistoryPage } from './history-page.ts'

/** A run ends well before its lease expires. */
const runMilliseconds = 20_000
/** No transaction that counts events takes longer: each statement is limited to a quarter of it. */
export const inFlightMilliseconds = 60_000
const readingsAtOnceMax = 100
const pauseMilliseconds = { first: 5000, max: 10 * 60_000 }
const withPersons = { withPersons: true }

interface Deps {
  readonly client: ClickHouseClient
  readonly readMillisecondsMax: number
  readonly log: Record<'info' | 'warn', (details: object, message: string) => void>
  readonly idsPerPage?: number
}

const idsPerPageDefault = 1000

/**
 * Reads what persons did before their events were counted, page by page over the distinct ids of the project. By distinct id and not by
 * person: who absorbs another after their own turn has the turns of the other's ids still to come. Each turn replaces the history of the
 * person that has the id then, by that of all ids of the person, so that a page may be repeated.
 */
export function readHistories({ client, readMillisecondsMax, log, idsPerPage = idsPerPageDefault }: Deps): Job {
  let failures = 0
  let pausedUntil = Number.NEGATIVE_INFINITY

  async function readAll(context: JobContext): Promise<void> {
    const end = monotonicNow() + runMilliseconds
    const mayGoOn = () => monotonicNow() < end && !context.isStopping()
    for (let afterId = 0; mayGoOn(); ) {
      const readings = await context.read(tx => tx.eventHistories.listUnread(afterId, readingsAtOnceMax))
      const ready = await context.read(async tx => {
        const forwardedUntil = await tx.eventBacklog.countedUntil(context.now)
        return readings.filter(({ event }) => isForwarded(event.countedSince, forwardedUntil))
      })
      for (const reading of ready) if (mayGoOn()) await readNext(context, reading)
      // A page of each, so that a large project does not delay the others; then the next page of each.
      afterId = readings.length < readingsAtOnceMax ? 0 : readings.at(-1)!.historyId
      if (afterId === 0 && ready.length === 0) return
      await yieldToEventLoop()
    }
  }

  async function readNext(context: JobContext, reading: EventHistoryReading): Promise<void> {
    if (reading.totalIds === null) {
      const totalIds = await context.people.read(tx => tx.persons.countDistinctIds(reading.projectId))
      return context.transaction(tx => tx.eventHistories.advance({ ...reading, totalIds }))
    }
    const page = await readHistoryPage(context, client, reading, { idsPerPage, readMillisecondsMax })
    if (page === undefined) return finish(context, reading)
    for (const histories of page.parts) {
      const isDone = await context.transaction(
        tx => tx.people.eventDays.replaceHistories(reading.projectId, reading.historyId, histories),
        withPersons,
      )
      // Someone was merged or deleted meanwhile: the page is read again.
      if (!isDone) return
    }
    await context.transaction(tx =>
      tx.eventHistories.advance({ ...reading, after: page.last, ids: reading.ids + page.ids }),
    )
  }

  return {
    name: 'read-histories',
    async run(context) {
      if (monotonicNow() < pausedUntil) return
      try {
        await readAll(context)
        failures = 0
      } catch (error) {
        if (!(error instanceof ClickHouseError)) throw error
        failures += 1
        pausedUntil = monotonicNow() + retryDelay(failures, pauseMilliseconds)
        log.warn(
          { event: 'history_read_failed', err: error },
          'ClickHouse does not return the histories of events; they are read later',
        )
      }
    },
  }
}

/** Everything that was recorded in transactions that could not know of the event. */
const isForwarded = (countedSince: Instant, forwardedUntil: Instant): boolean =>
  plusMilliseconds(countedSince, inFlightMilliseconds) < forwardedUntil

const finish = (context: JobContext, { historyId, projectId, event }: EventHistoryReading): Promise<void> =>
  context.transaction(async tx => {
    await tx.eventHistories.finish(historyId, context.now)
    await recountCohortsNaming(tx, projectId, event.name, context.now)
  })
