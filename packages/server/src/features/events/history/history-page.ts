import { behaviorDaysMax, dayNumber } from '@halyard/engine'
import { epochOf } from '../../../domain/counted-event.ts'
import { distinctIdsPerPersonMax } from '../../../domain/person.ts'
import { plusMilliseconds } from '../../../instant.ts'
import type { JobContext } from '../../../jobs/job-runner.ts'
import { inParts } from '../../../storage/in-batches.ts'
import type { EventHistoryReading, PersonHistory } from '../../cohorts/behavior/event-history.ts'
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts'
import { countStatements } from '../clickhouse/count-statements.ts'
import { dayOf } from '../usage/usage.ts'
import { userHash } from '../usage/user-sample.ts'

/** Long lists would exceed the length that ClickHouse accepts of a statement. */
const usersPerQueryMax = 2000
/** What a transaction writes: other writers wait for it only briefly. */
const partLimits = { persons: 500, days: 2000 }
const dayMilliseconds = 24 * 60 * 60 * 1000

export interface HistoryPage {
  /** The last distinct id of the page. */
  readonly last: string
  readonly ids: number
  /** The histories of those who have one, in parts that a transaction writes. */
  readonly parts: readonly (readonly PersonHistory[])[]
}

/** The histories of the persons who have the next distinct ids. Undefined after the last one. Raises ClickHouseError. */
export async function readHistoryPage(
  { people, now }: Pick<JobContext, 'people' | 'now'>,
  client: ClickHouseClient,
  { projectId, event, after }: EventHistoryReading,
  { idsPerPage, readMillisecondsMax }: { readonly idsPerPage: number; readonly readMillisecondsMax: number },
): Promise<HistoryPage | undefined> {
  const { ids, distinctIds } = await people.read(async tx => {
    const ids = await tx.persons.scanDistinctIds(projectId, after, idsPerPage)
    const personIds = [...new Set(ids.map(({ personId }) => personId))]
    return { ids, distinctIds: await tx.persons.listDistinctIds(projectId, personIds, distinctIdsPerPersonMax) }
  })
  const last = ids.at(-1)?.distinctId
  if (last === undefined) return undefined
  const from = dayOf(plusMilliseconds(now, -(behaviorDaysMax - 1) * dayMilliseconds))
  const wanted = { event: event.name, epoch: epochOf(event), from }
  const daysOf = new Map<number, Map<number, number>>()
  const pairs = [...distinctIds].flatMap(([personId, own]) => own.map(id => ({ personId, id })))
  for (const part of inParts(pairs, usersPerQueryMax)) {
    const persons = new Map(part.map(({ personId, id }) => [userHash(projectId, id), personId]))
    const statement = countStatements(client.url.database).personEvents(projectId, wanted, [...persons.keys()])
    for (const [user, date, events] of await client.query(statement, readMillisecondsMax)) {
      const personId = persons.get(Number(user))
      if (personId === undefined) continue
      const days = daysOf.get(personId) ?? new Map<number, number>()
      daysOf.set(personId, days)
      const day = dayNumber(Date.parse(String(date)))
      days.set(day, (days.get(day) ?? 0) + Number(events))
    }
  }
  const histories = [...daysOf].map(([personId, days]) => ({ personId, days, distinctIds: distinctIds.get(personId)! }))
  return { last, ids: ids.length, parts: partsOf(histories) }
}

function partsOf(histories: readonly PersonHistory[]): readonly (readonly PersonHistory[])[] {
  const parts: PersonHistory[][] = []
  let days = 0
  for (const history of histories) {
    const part = parts.at(-1)
    days += history.days.size
    if (part && part.length < partLimits.persons && days <= partLimits.days) part.push(history)
    else {
      parts.push([history])
      days = history.days.size
    }
  }
  return parts
}
