import type { ResourceAccessStore } from './features/access/resource-access-store.ts'
import type { RoleAccessStore } from './features/access/role-access-store.ts'
import type { RoleStore } from './features/access/role-store.ts'
import type { ActivityStore } from './features/activity/activity-store.ts'
import type { EnvironmentStore } from './features/change-control/environments/environment-store.ts'
import type { FreezeStore } from './features/change-control/freezes/freeze-store.ts'
import type { PolicyStore } from './features/change-control/policies/policy-store.ts'
import type { ChangeRequestStore } from './features/change-control/requests/change-request-store.ts'
import type { ScheduleStore } from './features/change-control/schedules/schedule-store.ts'
import type { CodeReferenceStore } from './features/code-references/code-reference-store.ts'
import type { CohortStore } from './features/cohorts/cohort-store.ts'
import type { CohortJobStore } from './features/cohorts/members/cohort-job-store.ts'
import type { CohortMemberStore } from './features/cohorts/members/cohort-member-store.ts'
import type { DashboardStore } from './features/dashboards/dashboard-store.ts'
import type { DefinitionStore } from './features/definitions/definition-store.ts'
import type { EmailStore } from './features/emails/email-store.ts'
import type { ReceivedBatchStore } from './features/events/ingest/received-batch-store.ts'
import type { EventCountStore } from './features/events/usage/event-counts.ts'
import type { UsageStore } from './features/events/usage/usage-store.ts'
import type { FlagDetailsStore } from './features/flags/details/flag-details-store.ts'
import type { FlagStore } from './features/flags/flag-store.ts'
import type { PayloadSchemaStore } from './features/flags/schemas/payload-schema-store.ts'
import type { IdentityStore } from './features/identity/identity-store.ts'
import type { SignInFailureStore } from './features/identity/sign-in/sign-in-failure-store.ts'
import type { SignInStore } from './features/identity/sign-in/sign-in-store.ts'
import type { CertificateStore } from './features/imports/certificate-store.ts'
import type { ImportStore } from './features/imports/import-store.ts'
import type { OrganizationStore } from './features/organizations/organization-store.ts'
import type { GroupStore } from './features/persons/group-store.ts'
import type { PersonStore } from './features/persons/person-store.ts'
import type { PersonRetentionStore } from './features/persons/retention/person-retention-store.ts'
import type { PluginConfigStore } from './features/plugins/configs/plugin-config-store.ts'
import type { PluginStore } from './features/plugins/plugin-store.ts'
import type { PluginReleaseStore } from './features/plugins/releases/plugin-release-store.ts'
import type { PluginWorkStore } from './features/plugins/runtime/plugin-work-store.ts'
import type { ProjectStore } from './features/projects/project-store.ts'
import type { MetricStore } from './features/rollback/metric-store.ts'
import type { SavedViewStore } from './features/saved-views/saved-view-store.ts'
import type { SdkUsageStore } from './features/sdk-usage/sdk-usage-store.ts'
import type { ShadowStore } from './features/shadow/shadow-store.ts'
import type { WebhookStore } from './features/webhooks/webhook-store.ts'
import type { InstanceStore } from './instance-store.ts'
import type { LeaseStore } from './jobs/lease-store.ts'
import type { ChangeLog } from './storage/changes/changes.ts'

/** Everything that is stored, as seen from inside one transaction. */
export interface Stores {
  readonly roles: RoleStore
  readonly roleAccess: RoleAccessStore
  readonly resourceAccess: ResourceAccessStore
  readonly activity: ActivityStore
  readonly changeRequests: ChangeRequestStore
  readonly changes: ChangeLog
  readonly codeReferences: CodeReferenceStore
  readonly cohortJobs: CohortJobStore
  readonly cohortMembers: CohortMemberStore
  readonly cohorts: CohortStore
  readonly dashboards: DashboardStore
  readonly emails: EmailStore
  readonly definitions: DefinitionStore
  readonly environments: EnvironmentStore
  readonly eventCounts: EventCountStore
  readonly flagDetails: FlagDetailsStore
  readonly flags: FlagStore
  readonly freezes: FreezeStore
  readonly groups: GroupStore
  readonly identity: IdentityStore
  readonly imports: ImportStore
  readonly shadow: ShadowStore
  readonly certificates: CertificateStore
  readonly instance: InstanceStore
  readonly leases: LeaseStore
  readonly metrics: MetricStore
  readonly organizations: OrganizationStore
  readonly payloadSchemas: PayloadSchemaStore
  readonly persons: PersonStore
  readonly personRetention: PersonRetentionStore
  readonly pluginConfigs: PluginConfigStore
  readonly pluginReleases: PluginReleaseStore
  readonly plugins: PluginStore
  readonly pluginWork: PluginWorkStore
  readonly policies: PolicyStore
  readonly projects: ProjectStore
  readonly receivedBatches: ReceivedBatchStore
  readonly savedViews: SavedViewStore
  readonly sdkUsage: SdkUsageStore
  readonly signInFailures: SignInFailureStore
  readonly signIns: SignInStore
  readonly schedules: ScheduleStore
  readonly usage: UsageStore
  readonly webhooks: WebhookStore
}

export interface ReadLimits {
  /** PostgreSQL cancels a statement that takes longer. SQLite reads in this process and cannot. */
  readonly statementMillisecondsMax?: number
}

export interface TransactionHints {
  /** It writes thousands of rows: on SQLite it shares its commit with no other. */
  readonly isLarge?: boolean
}

export interface Database {
  /**
   * All of the work or none of it. The work may run several times (a race was lost, see `StaleWrite`), so it must have no effects
   * outside its stores. When the promise resolves, the work is durable and this node has applied its changes; only when the database
   * fails right after the commit are they applied by the next poll. Raises `unavailable` when the database is. Must not be awaited by a
   * listener of the change feed.
   */
  transaction<T>(work: (tx: Stores) => Promise<T>, hints?: TransactionHints): Promise<T>
  /** Several reads of one snapshot. */
  read<T>(work: (tx: Stores) => Promise<T>, limits?: ReadLimits): Promise<T>
  /** Reads that need no common snapshot: without a transaction, and so with a third of the round trips. */
  query<T>(work: (tx: Stores) => Promise<T>): Promise<T>
}

/** Another transaction saved first; this one is run again on what is stored now. */
export class StaleWrite extends Error {
  constructor() {
    super('The row was changed by another transaction.')
    this.name = 'StaleWrite'
  }
}
