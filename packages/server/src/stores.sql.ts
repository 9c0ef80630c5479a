import type { Kysely } from 'kysely'
import { sqlResourceAccessStore } from './access/resource-access-store.sql.ts'
import { sqlRoleAccessStore } from './access/role-access-store.sql.ts'
import { sqlRoleStore } from './access/role-store.sql.ts'
import { type ActivityCounts, createActivityCounts } from './activity/activity-counts.ts'
import { sqlActivityStore } from './activity/activity-store.sql.ts'
import { sqlCohortJobStore } from './cohorts/cohort-job-store.sql.ts'
import { sqlCohortMemberStore } from './cohorts/cohort-member-store.sql.ts'
import { sqlCohortStore } from './cohorts/cohort-store.sql.ts'
import { sqlDashboardStore } from './dashboards/dashboard-store.sql.ts'
import { sqlEventCounts } from './events/event-counts.sql.ts'
import { sqlReceivedBatchStore } from './events/received-batch-store.sql.ts'
import { sqlUsageStore } from './events/usage-store.sql.ts'
import { createFlagCounts, type FlagCounts } from './flags/flag-counts.ts'
import { sqlFlagStore } from './flags/flag-store.sql.ts'
import type { FlagLimits } from './flags/flag-store.ts'
import { sqlIdentityStore } from './identity/identity-store.sql.ts'
import { sqlLeaseStore } from './jobs/lease-store.sql.ts'
import { sqlOrganizationStore } from './organizations/organization-store.sql.ts'
import { sqlGroupStore } from './persons/group-store.sql.ts'
import { sqlPersonStore } from './persons/person-store.sql.ts'
import { sqlPluginConfigStore } from './plugins/configs/plugin-config-store.sql.ts'
import { sqlPluginStore } from './plugins/plugin-store.sql.ts'
import { sqlPluginWorkStore } from './plugins/runtime/plugin-work-store.sql.ts'
import { sqlProjectStore } from './projects/project-store.sql.ts'
import { sqlMetricStore } from './rollback/metric-store.sql.ts'
import { sqlScheduleStore } from './schedules/schedule-store.sql.ts'
import { sqlChangeLog } from './storage/change-log.sql.ts'
import type { Tables } from './storage/tables.ts'
import type { Stores } from './stores.ts'

/** What is remembered from one transaction to the next. */
export interface StoreCounts {
  readonly activity: ActivityCounts
  readonly flags: FlagCounts
}

export const createStoreCounts = (): StoreCounts => ({ activity: createActivityCounts(), flags: createFlagCounts() })

export const sqlStores = (
  db: Kysely<Tables>,
  onChange: () => void,
  counts: StoreCounts = createStoreCounts(),
  limits?: FlagLimits,
): Stores => ({
  roles: sqlRoleStore(db),
  roleAccess: sqlRoleAccessStore(db),
  resourceAccess: sqlResourceAccessStore(db),
  activity: sqlActivityStore(db, counts.activity),
  changes: sqlChangeLog(db, onChange),
  cohortJobs: sqlCohortJobStore(db),
  cohortMembers: sqlCohortMemberStore(db),
  cohorts: sqlCohortStore(db),
  dashboards: sqlDashboardStore(db),
  eventCounts: sqlEventCounts(db),
  flags: sqlFlagStore(db, counts.flags, limits),
  groups: sqlGroupStore(db),
  identity: sqlIdentityStore(db),
  leases: sqlLeaseStore(db),
  metrics: sqlMetricStore(db),
  organizations: sqlOrganizationStore(db),
  persons: sqlPersonStore(db),
  pluginConfigs: sqlPluginConfigStore(db),
  plugins: sqlPluginStore(db),
  pluginWork: sqlPluginWorkStore(db),
  projects: sqlProjectStore(db),
  receivedBatches: sqlReceivedBatchStore(db),
  schedules: sqlScheduleStore(db),
  usage: sqlUsageStore(db),
})
