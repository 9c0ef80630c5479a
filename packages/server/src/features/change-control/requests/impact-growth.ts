import { type Instant, plusMilliseconds } from '../../../instant.ts'
import type { Stores } from '../../../stores.ts'
import type { ApprovalPolicy, Impact } from '../policies/policy.ts'
import type { ChangeRequest, PolicyStatus } from './change-request.ts'

/** A change concerns more people than those who approved it knew. */
export class ImpactGrown extends Error {
  readonly impact: Impact

  constructor(before: number, impact: Impact) {
    super(
      `The people affected have grown from ${before} to ${impact.affected} since it was approved. Approve it again.`,
    )
    this.name = 'ImpactGrown'
    this.impact = impact
  }
}

/** What was approved just now was measured just now. */
const freshMilliseconds = 60_000

/** Raises `ImpactGrown`. People are only counted when an approval knows a number to compare with. */
export async function requireSimilarImpact(
  tx: Stores,
  request: ChangeRequest,
  statuses: readonly PolicyStatus[],
  measure: () => Impact | undefined,
  now: Instant,
): Promise<void> {
  const decisions = await tx.changeRequests.listDecisions([request.id])
  const fresh = plusMilliseconds(now, -freshMilliseconds)
  const known = decisions.flatMap(({ decision, contentHash, impact, decidedAt }) =>
    decision === 'approved' && contentHash === request.contentHash && impact && decidedAt < fresh
      ? [impact.affected]
      : [],
  )
  if (known.length === 0 || statuses.every(({ policy }) => !hasLimit(policy))) return
  const impact = measure()
  const before = Math.min(...known)
  if (impact && statuses.some(({ policy }) => exceeds(policy, before, impact.affected))) {
    throw new ImpactGrown(before, impact)
  }
}

const hasLimit = ({ reapprovePercent, reapprovePeople }: ApprovalPolicy): boolean =>
  reapprovePercent !== null || reapprovePeople !== null

const exceeds = ({ reapprovePercent, reapprovePeople }: ApprovalPolicy, before: number, after: number): boolean =>
  (reapprovePeople !== null && after - before > reapprovePeople) ||
  (reapprovePercent !== null && after - before > (before * reapprovePercent) / 100)
