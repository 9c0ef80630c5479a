import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'

/** Publishes that invitations, roles or grants changed. No node caches them; open dashboards show them. */
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
