import type { ChangeRequest, PolicyStatus } from '../../../domain/change-request.ts'
import type { ApprovalPolicy, Impact } from '../../../domain/policy.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'

/** What was approved just now was measured just now. */
const freshMilliseconds = 60_000

/**
 * The number of people who were affected as far as those who approved knew, when it has grown too much since. People are only counted when
 * there is a number to compare with.
 */
export async function grownImpact(
  tx: Stores,
  request: ChangeRequest,
  statuses: readonly PolicyStatus[],
  measure: () => Impact | undefined,
  now: Instant,
): Promise<{ readonly before: number; readonly impact: Impact } | undefined> {
  const decisions = await tx.changeRequests.listDecisions([request.id])
  const fresh = plusMilliseconds(now, -freshMilliseconds)
  const counts = decisions.flatMap(({ decision, contentHash, impact, decidedAt }) =>
    decision === 'approved' && contentHash === request.contentHash && impact && decidedAt < fresh
      ? [impact.affected]
      : [],
  )
  if (counts.length === 0 || statuses.every(({ policy }) => !hasLimit(policy))) return undefined
  const impact = measure()
  const before = Math.min(...counts)
  const isGrown = impact && statuses.some(({ policy }) => exceeds(policy, before, impact.affected))
  return isGrown ? { before, impact } : undefined
}

const hasLimit = ({ reapprovePercent, reapprovePeople }: ApprovalPolicy): boolean =>
  reapprovePercent !== null || reapprovePeople !== null

const exceeds = ({ reapprovePercent, reapprovePeople }: ApprovalPolicy, before: number, after: number): boolean =>
  (reapprovePeople !== null && after - before > reapprovePeople) ||
  (reapprovePercent !== null && after - before > (before * reapprovePercent) / 100)
