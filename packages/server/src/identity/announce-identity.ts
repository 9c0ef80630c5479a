import type { Instant } from '../instant.ts'
import type { Stores } from '../stores.ts'

/** Who may do what has changed for a person: what nodes remember about their keys ends. */
export const announceIdentity = (tx: Stores, userId: number, now: Instant): Promise<void> =>
  tx.changes.append({ topic: 'identity', organizationId: null, projectId: null, entityId: String(userId), at: now })
