import type { EventCount } from '../usage/event-counts.ts'
import type { UsageIncrement, UsageKind } from '../usage/usage.ts'
import { dayOfMinute } from './count-statements.ts'
import { type PerformedEvents, type PerformedRow, rowsOfPerformed } from './performed-events.ts'

/** What one transaction counted in a project, as it waits for ClickHouse: arrays, since there are many. */
export interface CountBatch {
  readonly project: number
  /** flag, kind, variant, day, calls, hashes of users */
  readonly usage: readonly (readonly [string, UsageKind, string, string, number, readonly number[]])[]
  /** event, minute, events */
  readonly minutes: readonly (readonly [string, number, number])[]
  /** Undefined in batches of earlier versions. */
  readonly performed?: readonly PerformedEvents[]
}

export const usageBatch = (project: number, increments: readonly UsageIncrement[]): CountBatch => ({
  project,
  usage: increments.map(({ flagKey, kind, variant, day, calls, userHashes }) => [
    ...([flagKey, kind, variant, day, calls] as const),
    userHashes,
  ]),
  minutes: [],
})

/** Without the counts by flag value: only rollback conditions need them, and those read the database. */
export const minuteBatch = (project: number, counts: readonly EventCount[]): CountBatch => ({
  project,
  usage: [],
  minutes: counts.filter(({ flagKey }) => flagKey === '').map(({ event, minute, count }) => [event, minute, count]),
})

/** How many things a batch counts, for metrics. */
export const countedIn = ({ usage, minutes, performed = [] }: CountBatch): number =>
  usage.reduce((sum, [, , , , calls]) => sum + calls, 0) +
  minutes.reduce((sum, [, , count]) => sum + count, 0) +
  performed.reduce((sum, [, , , count, users]) => sum + count * users.length, 0)

interface SeriesColumns {
  readonly project: number
  readonly flag: string
  readonly kind: UsageKind
  readonly day: string
  readonly variant: string
}

/** The rows of a block, by table. */
export interface BlockRows {
  readonly usage: readonly (SeriesColumns & {
    readonly block: string
    calls: number
    readonly migrated_users: number
  })[]
  readonly users: readonly (SeriesColumns & { readonly users: readonly number[] })[]
  readonly minutes: readonly {
    readonly project: number
    readonly event: string
    readonly day: string
    readonly minute: number
    readonly block: string
    events: number
  }[]
  readonly performed: readonly PerformedRow[]
}

/** Merges batches into one row per series. The same batches give the same rows in the same order. */
export function rowsOfBlock(block: string, batches: readonly CountBatch[]): BlockRows {
  const usage = new Map<string, BlockRows['usage'][number] & { readonly users: Set<number> }>()
  const minutes = new Map<string, BlockRows['minutes'][number]>()
  for (const batch of batches) {
    const { project } = batch
    for (const [flag, kind, variant, day, calls, hashes] of batch.usage) {
      const name = [project, flag, kind, day, variant].join('\u0001')
      const row = usage.get(name) ?? {
        ...{ project, flag, kind, day, variant, block, calls: 0, migrated_users: 0 },
        users: new Set<number>(),
      }
      usage.set(name, row)
      row.calls += calls
      for (const hash of hashes) row.users.add(hash)
    }
    for (const [event, minute, count] of batch.minutes) {
      const name = [project, event, minute].join('\u0001')
      const row = minutes.get(name) ?? { project, event, day: dayOfMinute(minute), minute, block, events: 0 }
      minutes.set(name, row)
      row.events += count
    }
  }
  const all = [...usage.values()]
  return {
    usage: all.map(({ users: _, ...row }) => row),
    users: all
      .filter(({ users }) => users.size > 0)
      .map(({ users, project, flag, kind, day, variant }) => ({
        ...{ project, flag, kind, day, variant },
        users: [...users],
      })),
    minutes: [...minutes.values()],
    performed: rowsOfPerformed(block, batches),
  }
}
