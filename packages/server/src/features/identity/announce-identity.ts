import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'

/** Who may do what has changed for a person: what nodes remember about their keys ends. With the organization that they joined or left. */
export const announceIdentity = (
  tx: Stores,
  userId: number,
  now: Instant,
  organizationId: string | null = null,
): Promise<void> =>
  tx.changes.append({ topic: 'identity', organizationId, projectId: null, entityId: String(userId), at: now })
