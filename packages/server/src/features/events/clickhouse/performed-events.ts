import { createHash } from 'node:crypto'

/** Event, day, epoch, how often, and the hashes of the users who performed it that often. Epoch 0: not counted live. */
export type PerformedEvents = readonly [
  event: string,
  day: string,
  epoch: number,
  events: number,
  users: readonly number[],
]

/** A row of `person_events_input`. */
export interface PerformedRow {
  readonly project: number
  readonly event: string
  readonly day: string
  readonly epoch: number
  readonly block: number
  readonly events: number
  readonly users: readonly number[]
}

/** How often users performed one event on one day. */
interface Series {
  readonly name: readonly [event: string, day: string, epoch: number]
  readonly users: Map<number, number>
}

/** Counts by user, in the order in which they come. */
export function createPerformedCounts() {
  const all = new Map<string, Series>()
  return {
    add(event: string, day: string, epoch: number, user: number, events: number): void {
      const key = `${event}\u0001${day}\u0001${epoch}`
      const series = all.get(key) ?? { name: [event, day, epoch], users: new Map<number, number>() }
      all.set(key, series)
      series.users.set(user, (series.users.get(user) ?? 0) + events)
    },
    /** Users with the same number share an entry: most have performed an event once. */
    list: (): PerformedEvents[] => [...all.values()].flatMap(entriesOf),
  }
}

function entriesOf({ name, users }: Series): PerformedEvents[] {
  const byCount = new Map<number, number[]>()
  for (const [user, events] of users) {
    const same = byCount.get(events)
    if (same) same.push(user)
    else byCount.set(events, [user])
  }
  return [...byCount].map(([events, same]) => [...name, events, same])
}

/** The rows of a block: the same batches give the same rows, and each user, event, day and epoch is in one of them. */
export function rowsOfPerformed(
  block: string,
  batches: readonly { readonly project: number; readonly performed?: readonly PerformedEvents[] }[],
): readonly PerformedRow[] {
  const byProject = new Map<number, ReturnType<typeof createPerformedCounts>>()
  for (const { project, performed = [] } of batches) {
    const counts = byProject.get(project) ?? createPerformedCounts()
    byProject.set(project, counts)
    for (const [event, day, epoch, events, users] of performed) {
      for (const user of users) counts.add(event, day, epoch, user, events)
    }
  }
  const number = numberOf(block)
  return [...byProject].flatMap(([project, counts]) =>
    counts.list().map(([event, day, epoch, events, users]) => ({
      ...{ project, event, day, epoch, block: number, events, users },
    })),
  )
}

const numberBits = 53

/** There are almost as many rows as events: a number takes a fifth of the space of the id. */
function numberOf(block: string): number {
  const digest = createHash('sha256').update(block).digest()
  return Number(digest.readBigUInt64BE(0) >> BigInt(64 - numberBits))
}
