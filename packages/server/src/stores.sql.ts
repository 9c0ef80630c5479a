import type { Kysely } from 'kysely'
import { sqlResourceAccessStore } from './features/access/resource-access-store.sql.ts'
import { sqlRoleAccessStore } from './features/access/role-access-store.sql.ts'
import { sqlRoleStore } from './features/access/role-store.sql.ts'
import { type ActivityCounts, createActivityCounts } from './features/activity/activity-counts.ts'
import { sqlActivityStore } from './features/activity/activity-store.sql.ts'
import { sqlCohortStore } from './features/cohorts/cohort-store.sql.ts'
import { sqlCohortJobStore } from './features/cohorts/members/cohort-job-store.sql.ts'
import { sqlCohortMemberStore } from './features/cohorts/members/cohort-member-store.sql.ts'
import { sqlDashboardStore } from './features/dashboards/dashboard-store.sql.ts'
import { sqlReceivedBatchStore } from './features/events/ingest/received-batch-store.sql.ts'
import { sqlEventCounts } from './features/events/usage/event-counts.sql.ts'
import { sqlUsageStore } from './features/events/usage/usage-store.sql.ts'
import { type CommittedFlags, createCommittedFlags } from './features/flags/committed-flags.ts'
import { createFlagCounts, type FlagCounts } from './features/flags/flag-counts.ts'
import { sqlFlagStore } from './features/flags/flag-store.sql.ts'
import type { FlagLimits } from './features/flags/flag-store.ts'
import { sqlIdentityStore } from './features/identity/identity-store.sql.ts'
import { sqlSignInFailureStore } from './features/identity/sign-in/sign-in-failure-store.sql.ts'
import { sqlOrganizationStore } from './features/organizations/organization-store.sql.ts'
import { sqlGroupStore } from './features/persons/group-store.sql.ts'
import { sqlPersonStore } from './features/persons/person-store.sql.ts'
import { sqlPluginConfigStore } from './features/plugins/configs/plugin-config-store.sql.ts'
import { sqlPluginStore } from './features/plugins/plugin-store.sql.ts'
import { sqlPluginReleaseStore } from './features/plugins/releases/plugin-release-store.sql.ts'
import { sqlPluginWorkStore } from './features/plugins/runtime/plugin-work-store.sql.ts'
import { sqlProjectStore } from './features/projects/project-store.sql.ts'
import { sqlMetricStore } from './features/rollback/metric-store.sql.ts'
import { sqlScheduleStore } from './features/schedules/schedule-store.sql.ts'
import { sqlLeaseStore } from './jobs/lease-store.sql.ts'
import { sqlChangeLog } from './storage/changes/change-log.sql.ts'
import type { TransactionNotes } from './storage/sql-database.ts'
import type { Tables } from './storage/tables.ts'
import type { NamedStores, Stores } from './stores.ts'

/** What is remembered from one transaction to the next. */
export interface StoreMemory {
  readonly activity: ActivityCounts
  readonly flagCounts: FlagCounts
  readonly committedFlags: CommittedFlags
}

export const createStoreMemory = (): StoreMemory => ({
  activity: createActivityCounts(),
  flagCounts: createFlagCounts(),
  committedFlags: createCommittedFlags(),
})

/** What stores are made of. */
interface Ground {
  readonly db: Kysely<Tables>
  readonly notes: TransactionNotes
  readonly memory: StoreMemory
  readonly limits: FlagLimits | undefined
}

const makers: { readonly [Name in keyof NamedStores]: (ground: Ground) => NamedStores[Name] } = {
  roles: ({ db }) => sqlRoleStore(db),
  roleAccess: ({ db }) => sqlRoleAccessStore(db),
  resourceAccess: ({ db }) => sqlResourceAccessStore(db),
  activity: ({ db, memory }) => sqlActivityStore(db, memory.activity),
  changes: ({ db, notes }) => sqlChangeLog(db, notes.changed),
  cohortJobs: ({ db }) => sqlCohortJobStore(db),
  cohortMembers: ({ db }) => sqlCohortMemberStore(db),
  cohorts: ({ db }) => sqlCohortStore(db),
  dashboards: ({ db }) => sqlDashboardStore(db),
  eventCounts: ({ db }) => sqlEventCounts(db),
  flags: ground => sqlFlagStore(ground.db, ground),
  groups: ({ db }) => sqlGroupStore(db),
  identity: ({ db }) => sqlIdentityStore(db),
  leases: ({ db }) => sqlLeaseStore(db),
  metrics: ({ db }) => sqlMetricStore(db),
  organizations: ({ db }) => sqlOrganizationStore(db),
  persons: ({ db }) => sqlPersonStore(db),
  pluginConfigs: ({ db }) => sqlPluginConfigStore(db),
  pluginReleases: ({ db }) => sqlPluginReleaseStore(db),
  plugins: ({ db }) => sqlPluginStore(db),
  pluginWork: ({ db }) => sqlPluginWorkStore(db),
  projects: ({ db }) => sqlProjectStore(db),
  receivedBatches: ({ db }) => sqlReceivedBatchStore(db),
  schedules: ({ db }) => sqlScheduleStore(db),
  signInFailures: ({ db }) => sqlSignInFailureStore(db),
  usage: ({ db }) => sqlUsageStore(db),
}

/** A transaction needs a few of the many stores: each is made when it is first asked for. */
class StoresWhenNeeded {
  readonly ground: Ground
  readonly made: Partial<Record<string, unknown>>

  constructor(ground: Ground, made: Partial<NamedStores>) {
    this.ground = ground
    this.made = { ...made }
  }

  with(parts: Partial<NamedStores>): StoresWhenNeeded {
    return new StoresWhenNeeded(this.ground, { ...this.made, ...parts })
  }
}

for (const [name, make] of Object.entries(makers)) {
  Object.defineProperty(StoresWhenNeeded.prototype, name, {
    get(this: StoresWhenNeeded) {
      this.made[name] ??= make(this.ground)
      return this.made[name]
    },
  })
}

export const sqlStores = (
  db: Kysely<Tables>,
  notes: TransactionNotes,
  memory: StoreMemory = createStoreMemory(),
  limits?: FlagLimits,
): Stores => new StoresWhenNeeded({ db, notes, memory, limits }, {}) as unknown as Stores
