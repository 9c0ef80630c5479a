import type { Instant } from '../../../instant.ts'
import type { Origin } from '../../../origin.ts'
import type { Stores } from '../../../stores.ts'
import type { User } from '../../../tenancy.ts'
import { recordAudit } from '../../audit/record-audit.ts'

interface SignInRecord {
  readonly activity: 'signed_in' | 'resumed' | 'signed_out' | 'refused'
  /** The id of the sign-in; empty when it was refused. */
  readonly signInId: string
  readonly method?: string
  readonly reason?: string
  readonly origin: Origin | undefined
}

/** In the audit log of each organization that the user belongs to. */
export async function recordSignIn(
  tx: Stores,
  user: User,
  { activity, signInId, method, reason, origin }: SignInRecord,
  now: Instant,
): Promise<void> {
  const author = { user, key: { label: 'Sign-in' }, origin }
  const organizationIds = await tx.identity.listOrganizationIds(user.id)
  const record = {
    scope: 'SignIn',
    itemId: signInId,
    name: user.email,
    activity,
    ...(method !== undefined && { after: { method } }),
    ...(reason !== undefined && { reason }),
  } as const
  recordAudit(tx, author, organizationIds, record, now)
}
