import type { HealthCheck } from '@halyard/contract'
import type { FlagValue } from '@halyard/engine'
import { type Flag, isFullyRolledOut } from '../../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { flagStatus, staleBefore } from '../flag-status.ts'
import type { FlagDetails } from './flag-details.ts'

/** A younger flag may not be in the released code yet. */
const unusedDays = 7

export interface ExaminedFlag {
  readonly flag: Flag
  readonly lastCalledAt: Instant | null
  /** Every value that the flag can have. */
  readonly reachable: ReadonlySet<FlagValue>
  readonly details: FlagDetails | undefined
}

/** The only value that an active flag can have; null when there are several, or the flag is off. */
export function constantValue({ flag, reachable }: ExaminedFlag): FlagValue | null {
  const [only] = reachable
  return flag.active && reachable.size === 1 && only !== undefined ? only : null
}

/** The checks that a flag does not pass. */
export function failedChecks(examined: ExaminedFlag, now: Instant): HealthCheck[] {
  const { flag, lastCalledAt, details } = examined
  const unusedBefore = plusMilliseconds(now, -unusedDays * 24 * 3_600_000)
  const failed: Readonly<Record<HealthCheck, boolean>> = {
    stale: flagStatus(flag, lastCalledAt, now).status === 'stale',
    never_evaluated: lastCalledAt === null && flag.createdAt < unusedBefore,
    constant: constantValue(examined) !== null,
    fully_rolled_out: flag.active && isFullyRolledOut(flag.filters) && flag.updatedAt < staleBefore(now),
    no_owner: !details?.owner,
    expired: details?.expectedEnd != null && details.expectedEnd < now.slice(0, 10),
  }
  return (Object.keys(failed) as HealthCheck[]).filter(check => failed[check])
}
