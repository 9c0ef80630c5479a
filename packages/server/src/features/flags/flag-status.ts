import { type Flag, isFullyRolledOut } from '../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'

export interface FlagStatus {
  readonly status: 'active' | 'inactive' | 'stale' | 'deleted'
  readonly reason: string
}

const staleDays = 30

/** A flag made before this moment may be stale. */
export const staleBefore = (now: Instant): Instant => plusMilliseconds(now, -staleDays * 24 * 60 * 60 * 1000)

/** Whether a flag still serves a purpose. The list's filter `active=STALE` queries the database for the same. */
export function flagStatus(flag: Flag, lastCalledAt: Instant | null, now: Instant): FlagStatus {
  if (flag.deleted) return { status: 'deleted', reason: 'The flag has been deleted.' }
  if (!flag.active) return { status: 'inactive', reason: 'The flag is switched off.' }
  const before = staleBefore(now)
  if (flag.createdAt >= before) return { status: 'active', reason: `The flag is younger than ${staleDays} days.` }
  if (lastCalledAt !== null && lastCalledAt < before) {
    return { status: 'stale', reason: `The flag was last evaluated on ${lastCalledAt.slice(0, 10)}.` }
  }
  if (isFullyRolledOut(flag.filters)) {
    return {
      status: 'stale',
      reason: `The flag has one value for everyone and is older than ${staleDays} days: remove it from the code.`,
    }
  }
  if (lastCalledAt === null) {
    return { status: 'active', reason: 'The flag was not evaluated yet, and it is not fully rolled out.' }
  }
  return { status: 'active', reason: `The flag was last evaluated on ${lastCalledAt.slice(0, 10)}.` }
}
