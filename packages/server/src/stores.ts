import type { ResourceAccessStore } from './access/resource-access-store.ts'
import type { RoleAccessStore } from './access/role-access-store.ts'
import type { RoleStore } from './access/role-store.ts'
import type { ActivityStore } from './activity/activity-store.ts'
import type { ChangeLog } from './changes.ts'
import type { CohortJobStore } from './cohorts/cohort-job-store.ts'
import type { CohortMemberStore } from './cohorts/cohort-member-store.ts'
import type { CohortStore } from './cohorts/cohort-store.ts'
import type { DashboardStore } from './dashboards/dashboard-store.ts'
import type { EventCountStore } from './events/event-counts.ts'
import type { ReceivedBatchStore } from './events/received-batch-store.ts'
import type { UsageStore } from './events/usage-store.ts'
import type { FlagStore } from './flags/flag-store.ts'
import type { IdentityStore } from './identity/identity-store.ts'
import type { SignInFailureStore } from './identity/sign-in-failure-store.ts'
import type { LeaseStore } from './jobs/lease-store.ts'
import type { OrganizationStore } from './organizations/organization-store.ts'
import type { GroupStore } from './persons/group-store.ts'
import type { PersonStore } from './persons/person-store.ts'
import type { PluginConfigStore } from './plugins/configs/plugin-config-store.ts'
import type { PluginStore } from './plugins/plugin-store.ts'
import type { PluginWorkStore } from './plugins/runtime/plugin-work-store.ts'
import type { ProjectStore } from './projects/project-store.ts'
import type { MetricStore } from './rollback/metric-store.ts'
import type { ScheduleStore } from './schedules/schedule-store.ts'

/** Everything that is kept, as seen from inside one transaction. */
export interface Stores extends NamedStores {
  /** The same with some stores replaced. */
  with(parts: Partial<NamedStores>): Stores
}

export interface NamedStores {
  readonly roles: RoleStore
  readonly roleAccess: RoleAccessStore
  readonly resourceAccess: ResourceAccessStore
  readonly activity: ActivityStore
  readonly changes: ChangeLog
  readonly cohortJobs: CohortJobStore
  readonly cohortMembers: CohortMemberStore
  readonly cohorts: CohortStore
  readonly dashboards: DashboardStore
  readonly eventCounts: EventCountStore
  readonly flags: FlagStore
  readonly groups: GroupStore
  readonly identity: IdentityStore
  readonly leases: LeaseStore
  readonly metrics: MetricStore
  readonly organizations: OrganizationStore
  readonly persons: PersonStore
  readonly pluginConfigs: PluginConfigStore
  readonly plugins: PluginStore
  readonly pluginWork: PluginWorkStore
  readonly projects: ProjectStore
  readonly receivedBatches: ReceivedBatchStore
  readonly signInFailures: SignInFailureStore
  readonly schedules: ScheduleStore
  readonly usage: UsageStore
}

export interface Database {
  /**
   * All of the work or none of it. The work may run several times (a race was lost, see `StaleWrite`), so it must do nothing
   * but talk to its stores. When the promise resolves, the work is durable and this node has applied its changes.
   * Raises `unavailable` when the database is away. Must not be awaited by a listener of the change feed.
   */
  transaction<T>(work: (tx: Stores) => Promise<T>): Promise<T>
  /** Several reads that see one moment. */
  read<T>(work: (tx: Stores) => Promise<T>): Promise<T>
  /** A read of one thing, or of several that need not be of one moment: without a transaction, and so with a third of the round trips. */
  glance<T>(work: (tx: Stores) => Promise<T>): Promise<T>
}

/** Somebody else saved in between; the transaction is run again on what is there now. */
export class StaleWrite extends Error {
  constructor() {
    super('The row was changed by another transaction.')
    this.name = 'StaleWrite'
  }
}
