import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'

/** Publishes that the rights of a user changed: nodes drop their cached keys. With the organization joined or left. */
export const announceIdentity = (
  tx: Stores,
  userId: number,
  now: Instant,
  organizationId: string | null = null,
): Promise<void> =>
  tx.changes.append({ topic: 'identity', organizationId, projectId: null, entityId: String(userId), at: now })
