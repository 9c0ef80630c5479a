import type { Instant } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import type { User } from '../../tenancy.ts'

type NewDashboard = Parameters<Stores['dashboards']['create']>[0]

interface DashboardOwner {
  readonly projectId: number
  readonly key: string
  readonly createdBy: User
}

/** Every flag has a usage dashboard, created in the same transaction. The flag's id is set once it is known. */
export const createUsageDashboard = (tx: Stores, flag: DashboardOwner, now: Instant) =>
  tx.dashboards.create(usageDashboard(flag, now))

export const usageDashboard = (flag: DashboardOwner, now: Instant): NewDashboard => ({
  projectId: flag.projectId,
  name: `${flag.key}: usage`,
  description: `How often the flag ${flag.key} is evaluated, and for how many users.`,
  isPinned: false,
  isDeleted: false,
  flagId: null,
  isEnriched: false,
  tags: [],
  tiles: [],
  createdBy: flag.createdBy,
  createdAt: now,
})
