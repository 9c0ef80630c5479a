import { type Instant, instantOf } from '../instant.ts'
import { Problem } from '../problem.ts'
import type { User } from '../tenancy.ts'
import { namedKeys } from './flag.ts'
import { occurrenceAround, type Recurrence } from './freeze-recurrence.ts'

/** A time in which flags and cohorts are not changed, except to switch them off. */
export interface Freeze {
  readonly id: number
  readonly organizationId: string
  /** All that are set must match; none means the whole organization. */
  readonly environmentSetId: number | null
  readonly projectId: number | null
  readonly tag: string | null
  readonly when: { readonly startsAt: Instant; readonly endsAt: Instant } | Recurrence
  readonly reason: string
  /** Members of these roles are not held up. */
  readonly exceptRoles: readonly string[]
  readonly createdBy: User
  readonly createdAt: Instant
}

/** What a change is about, as far as freezes are concerned. */
export interface FreezeTarget {
  readonly projectId: number
  readonly environmentSetId: number | null
  readonly tags: readonly unknown[]
}

export const concerns = (freeze: Freeze, { projectId, environmentSetId, tags }: FreezeTarget): boolean =>
  (freeze.projectId === null || freeze.projectId === projectId) &&
  (freeze.environmentSetId === null || freeze.environmentSetId === environmentSetId) &&
  (freeze.tag === null || tags.includes(freeze.tag))

export interface FreezeTimes {
  /** The end of the freeze that is in force; null when none is. */
  readonly currentEnd: Instant | null
  readonly nextStart: Instant | null
}

export function timesOf({ when }: Pick<Freeze, 'when'>, now: Instant): FreezeTimes {
  if ('startsAt' in when) {
    const isActive = when.startsAt <= now && now < when.endsAt
    return { currentEnd: isActive ? when.endsAt : null, nextStart: now < when.startsAt ? when.startsAt : null }
  }
  const { current, next } = occurrenceAround(when, new Date(now))
  return { currentEnd: current ? instantOf(current.end) : null, nextStart: next ? instantOf(next) : null }
}

/** Neither in force nor ever again. */
export function isOver(freeze: Pick<Freeze, 'when'>, now: Instant): boolean {
  const { currentEnd, nextStart } = timesOf(freeze, now)
  return currentEnd === null && nextStart === null
}

/** Raised for a change during a freeze. Work in the background waits until it ends. */
export class Frozen extends Problem {
  readonly until: Instant
  readonly #reason: string

  constructor(reason: string, until: Instant, dependents: readonly string[] = []) {
    const released = dependents.length === 0 ? '' : ` (it releases ${namedKeys(dependents)} to more people)`
    super('conflict', `Changes are frozen until ${until}${released}: ${reason}`, {
      code: 'frozen',
      extra: { frozen_until: until, ...(dependents.length > 0 && { dependents }) },
    })
    this.until = until
    this.#reason = reason
  }

  /** With the flags that the change would release, which switching off alone would not need. */
  releasing(dependents: readonly string[]): Frozen {
    return new Frozen(this.#reason, this.until, dependents)
  }
}

/** The freeze that ends last among those in force. */
export function freezeInForce(freezes: readonly Freeze[], target: FreezeTarget, now: Instant): Frozen | undefined {
  let last: { readonly reason: string; readonly until: Instant } | undefined
  for (const freeze of freezes) {
    const until = concerns(freeze, target) ? timesOf(freeze, now).currentEnd : null
    if (until !== null && (!last || until > last.until)) last = { reason: freeze.reason, until }
  }
  return last && new Frozen(last.reason, last.until)
}
