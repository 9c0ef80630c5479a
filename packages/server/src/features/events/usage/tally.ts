import type { IncomingEvent } from '../../../domain/event.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { CountedFlags } from './counted-flags.ts'
import { type EventCount, eventCountDaysMax, minuteOf, startOfHour } from './event-counts.ts'
import { dayOf, type UsageIncrement, type UsageKind } from './usage.ts'
import { userHash } from './user-sample.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
/** Late events of offline clients still count for their day, up to this age. */
export const usageDaysLateMax = 30
const eventNamesMax = 1000
const otherName = '(other)'

export type UncountedReason = 'unknown_flag' | 'too_old' | 'too_many_event_names'

export interface Tally {
  readonly usage: readonly UsageIncrement[]
  readonly counts: readonly EventCount[]
  readonly uncounted: ReadonlyMap<UncountedReason, number>
}

export interface TallyInput {
  readonly projectId: number
  readonly flags: CountedFlags
  readonly events: readonly IncomingEvent[]
  /** Further names under which an event is counted. */
  readonly labelsOf: (event: IncomingEvent) => readonly string[]
  /** Event names counted recently. `tally` adds to it, up to a limit. */
  readonly names: Set<string>
  readonly now: Instant
}

/** Aggregates events in memory, so that the cost of a write depends on the number of series, not of events. */
export function tally({ projectId, flags, events, labelsOf, names, now }: TallyInput): Tally {
  const usage = new Map<string, { increment: UsageIncrement; calls: number; users: Set<number>; lastAt: Instant }>()
  const counts = new Map<string, { count: EventCount; n: number }>()
  const uncounted = new Map<UncountedReason, number>()
  const skip = (reason: UncountedReason) => uncounted.set(reason, (uncounted.get(reason) ?? 0) + 1)
  const [oldestUse, oldestCount] = [usageDaysLateMax, eventCountDaysMax].map(days =>
    plusMilliseconds(now, -days * dayMilliseconds),
  ) as [Instant, Instant]

  function use(event: IncomingEvent): void {
    const flagUse = useIn(event)
    if (!flagUse) return
    const variant = flags.valueOf(flagUse.flagKey, flagUse.value)
    if (variant === undefined) return void skip('unknown_flag')
    if (event.at < oldestUse) return void skip('too_old')
    const day = dayOf(event.at)
    const name = [flagUse.flagKey, flagUse.kind, variant, day].join('\u0001')
    const entry = usage.get(name) ?? {
      increment: {
        flagKey: flagUse.flagKey,
        kind: flagUse.kind,
        variant,
        day,
        calls: 0,
        userHashes: [],
        lastAt: event.at,
      },
      calls: 0,
      users: new Set<number>(),
      lastAt: event.at,
    }
    usage.set(name, entry)
    entry.calls += 1
    entry.users.add(userHash(projectId, event.distinctId))
    if (event.at > entry.lastAt) entry.lastAt = event.at
  }

  function count(event: string, flagKey: string, flagValue: string, minute: number): void {
    const name = [event, flagKey, flagValue, minute].join('\u0001')
    const entry = counts.get(name) ?? { count: { event, flagKey, flagValue, minute, count: 0 }, n: 0 }
    counts.set(name, entry)
    entry.n += 1
  }

  function countEvent(event: IncomingEvent): void {
    if (event.at < oldestCount) return void skip('too_old')
    const minute = minuteOf(event.at)
    for (const label of [boundedName(event.name), ...labelsOf(event)]) {
      count(label, '', '', minute)
      for (const key of flags.watched) {
        const value = event.properties[`$feature/${key}`]
        if (value !== undefined) count(label, key, flags.valueOf(key, value) ?? '', minute)
      }
      for (const key of flags.rollingOut) {
        const value = event.properties[`$feature/${key}`]
        if (value !== undefined) count(label, key, flags.valueOf(key, value) ?? '', startOfHour(minute))
      }
    }
  }

  function boundedName(name: string): string {
    if (names.has(name)) return name
    if (names.size >= eventNamesMax) {
      skip('too_many_event_names')
      return otherName
    }
    names.add(name)
    return name
  }

  for (const event of events) {
    use(event)
    countEvent(event)
  }
  return {
    usage: [...usage.values()].map(({ increment, calls, users, lastAt }) => ({
      ...increment,
      calls,
      userHashes: [...users],
      lastAt,
    })),
    counts: [...counts.values()].map(({ count, n }) => ({ ...count, count: n })),
    uncounted,
  }
}

const kinds: Readonly<Record<string, UsageKind>> = {
  $feature_flag_called: 'called',
  $feature_view: 'viewed',
  $feature_interaction: 'interacted',
}

/** The description of the reason that SDKs report for a value that a developer has overridden. */
const overridden = 'Overridden'

function useIn({ name, properties }: IncomingEvent): { kind: UsageKind; flagKey: string; value: unknown } | undefined {
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
  const flagKey = kind === 'called' ? properties.$feature_flag : (properties.feature_flag ?? properties.$feature_flag)
  if (kind === undefined || typeof flagKey !== 'string' || properties.$feature_flag_reason === overridden)
    return undefined
  const value =
    kind === 'called'
      ? properties.$feature_flag_response
      : (properties.feature_flag_variant ?? properties[`$feature/${flagKey}`])
  return { kind, flagKey, value }
}
