import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'

/** Who may be invited, is in which role, or what a role may do has changed: nothing remembers it, but somebody may be looking. */
export const announceAccess = (
  tx: Stores,
  place: { readonly organizationId: string; readonly projectId?: number },
  entityId: string,
  now: Instant,
): Promise<void> =>
  tx.changes.append({
    topic: 'access',
    organizationId: place.organizationId,
    projectId: place.projectId ?? null,
    entityId,
    at: now,
  })
