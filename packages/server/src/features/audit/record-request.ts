import type { RecordRequest } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import type { Database } from '../../stores.ts'
import { organizationsOf } from './record-audit.ts'

/**
 * Requests that change nothing that is recorded as activity (a favorite, a patch without a change), and reads that are audited. What belongs
 * to no organization goes to the log of each that the user belongs to.
 */
export const createRecordRequest =
  ({ database, now }: { readonly database: Database; readonly now: () => Instant }): RecordRequest =>
  async (actor, { project, organization }) => {
    const { user, origin } = actor
    if (!origin) return
    const organizationId = organization?.id ?? project?.organizationId
    const organizationIds = organizationId === undefined ? organizationsOf(actor) : [organizationId]
    if (organizationIds.length === 0) return
    await database.transaction(async tx => {
      for (const id of organizationIds) {
        tx.audit.add({ organizationId: id, at: now(), user, origin, activities: [] })
      }
    })
  }
