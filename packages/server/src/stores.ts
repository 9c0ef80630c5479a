import type { Kysely } from 'kysely'
import type { FlagLimits } from './domain/flag.ts'
import { everyPerson, groupEntity } from './evaluation/subjects/cached-subjects.ts'
import { sqlResourceAccessStore } from './features/access/resource-access-store.sql.ts'
import { sqlRoleAccessStore } from './features/access/role-access-store.sql.ts'
import { sqlRoleStore } from './features/access/role-store.sql.ts'
import { type ActivityCounts, createActivityCounts } from './features/activity/activity-counts.ts'
import { sqlActivityStore } from './features/activity/activity-store.sql.ts'
import { type AuditHeadGuesses, sqlAuditStore } from './features/audit/audit-store.sql.ts'
import { sqlEnvironmentStore } from './features/change-control/environments/environment-store.sql.ts'
import { sqlFreezeStore } from './features/change-control/freezes/freeze-store.sql.ts'
import { sqlInboxStore } from './features/change-control/inbox/inbox-store.sql.ts'
import { sqlPolicyStore } from './features/change-control/policies/policy-store.sql.ts'
import { sqlChangeRequestStore } from './features/change-control/requests/change-request-store.sql.ts'
import { sqlRequestCommentStore } from './features/change-control/requests/request-comment-store.sql.ts'
import { sqlScheduleStore } from './features/change-control/schedules/schedule-store.sql.ts'
import { sqlCodeReferenceStore } from './features/code-references/code-reference-store.sql.ts'
import { sqlCountedEventStore } from './features/cohorts/behavior/counted-event-store.sql.ts'
import { sqlEventDayStore } from './features/cohorts/behavior/event-day-store.sql.ts'
import { sqlEventHistoryStore } from './features/cohorts/behavior/event-history-store.sql.ts'
import { sqlCohortStore } from './features/cohorts/cohort-store.sql.ts'
import { sqlCohortJobStore } from './features/cohorts/members/cohort-job-store.sql.ts'
import { sqlCohortMemberStore } from './features/cohorts/members/cohort-member-store.sql.ts'
import { sqlDashboardStore } from './features/dashboards/dashboard-store.sql.ts'
import { sqlDefinitionStore } from './features/definitions/definition-store.sql.ts'
import { sqlEmailStore } from './features/emails/email-store.sql.ts'
import {
  clickHouseEventCounts,
  clickHouseUsageStore,
  type EventsDatabase,
} from './features/events/clickhouse/clickhouse-stores.ts'
import { type EventBacklogStore, sqlEventBacklogStore } from './features/events/clickhouse/event-backlog-store.sql.ts'
import { personEventStore } from './features/events/history/person-event-store.ts'
import { sqlReceivedBatchStore } from './features/events/ingest/received-batch-store.sql.ts'
import { sqlEventCounts } from './features/events/usage/event-counts.sql.ts'
import type { EventCountStore } from './features/events/usage/event-counts.ts'
import type { UsageStore } from './features/events/usage/usage.ts'
import { sqlUsageHistoryStore } from './features/events/usage/usage-history-store.sql.ts'
import { sqlUsageStore } from './features/events/usage/usage-store.sql.ts'
import { sqlFlagDetailsStore } from './features/flags/details/flag-details-store.sql.ts'
import { sqlFlagStore } from './features/flags/flag-store.sql.ts'
import { sqlPayloadSchemaStore } from './features/flags/schemas/payload-schema-store.sql.ts'
import { sqlAccountTieStore } from './features/identity/account-tie-store.sql.ts'
import { sqlAccountTokenStore } from './features/identity/account-token-store.sql.ts'
import { sqlIdentityStore } from './features/identity/identity-store.sql.ts'
import { sqlSignInFailureStore } from './features/identity/sign-in/sign-in-failure-store.sql.ts'
import { sqlSignInStore } from './features/identity/sign-in/sign-in-store.sql.ts'
import { sqlCertificateStore } from './features/imports/certificate-store.sql.ts'
import { sqlImportStore } from './features/imports/import-store.sql.ts'
import { sqlOrganizationStore } from './features/organizations/organization-store.sql.ts'
import type { GroupRef } from './features/persons/group.ts'
import { sqlGroupStore } from './features/persons/group-store.sql.ts'
import { sqlGroupTypeStore } from './features/persons/group-type-store.sql.ts'
import { sqlPersonStore } from './features/persons/person-store.sql.ts'
import { sqlPersonRetentionStore } from './features/persons/retention/person-retention-store.sql.ts'
import { sqlProjectRemainsStore } from './features/persons/retention/project-remains-store.sql.ts'
import { sqlPluginConfigStore } from './features/plugins/configs/plugin-config-store.sql.ts'
import { sqlPluginStore } from './features/plugins/plugin-store.sql.ts'
import { sqlPluginReleaseStore } from './features/plugins/releases/plugin-release-store.sql.ts'
import { sqlFlagCursorStore } from './features/plugins/runtime/delivery/flag-cursor-store.sql.ts'
import { sqlPluginJobStore } from './features/plugins/runtime/plugin-job-store.sql.ts'
import { sqlPluginMetricsStore } from './features/plugins/runtime/plugin-metrics-store.sql.ts'
import { sqlPluginLogStore } from './features/plugins/runtime/services/plugin-log-store.sql.ts'
import { sqlPluginStorageStore } from './features/plugins/runtime/services/plugin-storage-store.sql.ts'
import { sqlProjectStore } from './features/projects/project-store.sql.ts'
import { sqlScimGroupStore } from './features/provisioning/scim-group-store.sql.ts'
import { sqlScimTokenStore } from './features/provisioning/scim-token-store.sql.ts'
import { sqlScimUserStore } from './features/provisioning/scim-user-store.sql.ts'
import { sqlMetricStore } from './features/rollback/metric-store.sql.ts'
import { sqlSavedViewStore } from './features/saved-views/saved-view-store.sql.ts'
import { sqlSdkUsageStore } from './features/sdk-usage/sdk-usage-store.sql.ts'
import { sqlSecondFactorStore } from './features/second-factor/second-factor-store.sql.ts'
import { sqlShadowStore } from './features/shadow/shadow-store.sql.ts'
import { sqlIdentityProviderStore } from './features/single-sign-on/identity-provider-store.sql.ts'
import { sqlTrustRelationshipStore } from './features/token-exchange/trust-relationship-store.sql.ts'
import { sqlWebhookStore } from './features/webhooks/webhook-store.sql.ts'
import { instantOf } from './instant.ts'
import { sqlLeaseStore } from './jobs/lease-store.sql.ts'
import { sqlChangeLog } from './storage/changes/change-log.sql.ts'
import type { ChangeTopic } from './storage/changes/changes.ts'
import { sqlInstanceStore } from './storage/instance-store.sql.ts'
import { transactionOnBoth } from './storage/joint-transaction.ts'
import type { SecretBox } from './storage/secret-box.ts'
import type { ReadLimits, SqlDatabase, TransactionEnd, TransactionHints } from './storage/sql-database.ts'
import type { Tables } from './storage/tables.generated.ts'

/** What is cached from one transaction to the next. */
export interface StoreMemory {
  readonly activity: ActivityCounts
  readonly auditHeads: AuditHeadGuesses
}

export const createStoreMemory = (): StoreMemory => ({
  activity: createActivityCounts(),
  auditHeads: new Map(),
})

/** To be called when the change feed resets: another database may have taken over. */
export function clearStoreMemory({ activity, auditHeads }: StoreMemory): void {
  activity.clear()
  auditHeads.clear()
}

/** As in the settings. */
type StoreLimits = FlagLimits & { readonly personDays?: number | undefined; readonly fourEyesDays?: number }

/** What stores are created from. */
interface StoreContext {
  readonly db: Kysely<Tables>
  readonly end: TransactionEnd
  readonly memory: StoreMemory
  readonly limits: StoreLimits | undefined
  /** Seals queued emails; undefined when none are sent. */
  readonly emailBox: SecretBox | undefined
  /** One for the transaction. */
  readonly audit: () => ReturnType<typeof sqlAuditStore>
  /** One for the transaction. */
  readonly backlog: () => EventBacklogStore
  /** Undefined when the database stores what is counted. */
  readonly events: EventsDatabase | undefined
}

/** Larger changes are announced as one of every person. */
const announcedPersonsMax = 1000

const announcePersons = (end: TransactionEnd) => (personIds: readonly number[]) => {
  if (personIds.length > 0)
    announce(end, 'person', personIds.length > announcedPersonsMax ? everyPerson : personIds.join())
}

const announceGroup =
  (end: TransactionEnd) =>
  (projectId: number, { typeIndex, key }: GroupRef) =>
    announce(end, 'group', groupEntity(projectId, typeIndex, key))

/** Without a project: the change streams of dashboards do not show them. */
const announce = (end: TransactionEnd, topic: ChangeTopic, entityId: string): void =>
  end.append?.({ topic, organizationId: null, projectId: null, entityId, at: instantOf(new Date()) })

const fourEyesDaysDefault = 30

const mainFactories = {
  accountTies: ({ db, limits }) => sqlAccountTieStore(db, limits?.fourEyesDays ?? fourEyesDaysDefault),
  accountTokens: ({ db }) => sqlAccountTokenStore(db),
  roles: ({ db }) => sqlRoleStore(db),
  roleAccess: ({ db }) => sqlRoleAccessStore(db),
  resourceAccess: ({ db }) => sqlResourceAccessStore(db),
  activity: ({ db, memory, audit }) => sqlActivityStore(db, memory.activity, audit().record),
  audit: ({ audit }) => audit(),
  changeRequests: ({ db }) => sqlChangeRequestStore(db),
  requestComments: ({ db }) => sqlRequestCommentStore(db),
  changes: ({ db, end }) => sqlChangeLog(db, end.append),
  codeReferences: ({ db }) => sqlCodeReferenceStore(db),
  cohortJobs: ({ db }) => sqlCohortJobStore(db),
  cohorts: ({ db }) => sqlCohortStore(db),
  countedEvents: ({ db }) => sqlCountedEventStore(db),
  eventHistories: ({ db }) => sqlEventHistoryStore(db),
  personEvents: ({ events, backlog }) => personEventStore(events, backlog),
  dashboards: ({ db }) => sqlDashboardStore(db),
  emails: ({ db, emailBox }) => sqlEmailStore(db, emailBox),
  definitions: ({ db }) => sqlDefinitionStore(db),
  environments: ({ db }) => sqlEnvironmentStore(db),
  eventBacklog: ({ backlog }) => backlog(),
  eventCounts: ({ db, events, backlog }): EventCountStore =>
    events ? clickHouseEventCounts(sqlEventCounts(db), events, backlog()) : sqlEventCounts(db),
  flagDetails: ({ db }) => sqlFlagDetailsStore(db),
  flags: ({ db, limits }) => sqlFlagStore(db, limits),
  freezes: ({ db }) => sqlFreezeStore(db),
  groupTypes: ({ db }) => sqlGroupTypeStore(db),
  identity: ({ db }) => sqlIdentityStore(db),
  identityProviders: ({ db }) => sqlIdentityProviderStore(db),
  inbox: ({ db }) => sqlInboxStore(db),
  imports: ({ db }) => sqlImportStore(db),
  shadow: ({ db }) => sqlShadowStore(db),
  certificates: ({ db }) => sqlCertificateStore(db),
  instance: ({ db }) => sqlInstanceStore(db),
  leases: ({ db }) => sqlLeaseStore(db),
  metrics: ({ db }) => sqlMetricStore(db),
  organizations: ({ db }) => sqlOrganizationStore(db),
  payloadSchemas: ({ db }) => sqlPayloadSchemaStore(db),
  pluginConfigs: ({ db }) => sqlPluginConfigStore(db),
  pluginFlagCursors: ({ db }) => sqlFlagCursorStore(db),
  pluginJobs: ({ db }) => sqlPluginJobStore(db),
  pluginLogs: ({ db }) => sqlPluginLogStore(db),
  pluginMetrics: ({ db }) => sqlPluginMetricsStore(db),
  pluginReleases: ({ db }) => sqlPluginReleaseStore(db),
  pluginStorage: ({ db }) => sqlPluginStorageStore(db),
  plugins: ({ db }) => sqlPluginStore(db),
  policies: ({ db }) => sqlPolicyStore(db),
  projects: ({ db }) => sqlProjectStore(db),
  receivedBatches: ({ db }) => sqlReceivedBatchStore(db),
  schedules: ({ db }) => sqlScheduleStore(db),
  savedViews: ({ db }) => sqlSavedViewStore(db),
  scimGroups: ({ db }) => sqlScimGroupStore(db),
  scimTokens: ({ db }) => sqlScimTokenStore(db),
  scimUsers: ({ db }) => sqlScimUserStore(db),
  sdkUsage: ({ db }) => sqlSdkUsageStore(db),
  secondFactors: ({ db }) => sqlSecondFactorStore(db),
  signInFailures: ({ db }) => sqlSignInFailureStore(db),
  signIns: ({ db }) => sqlSignInStore(db),
  trustRelationships: ({ db }) => sqlTrustRelationshipStore(db),
  usage: ({ db, events, backlog }): UsageStore =>
    events ? clickHouseUsageStore(sqlUsageStore(db), events, backlog()) : sqlUsageStore(db),
  usageHistory: ({ db }) => sqlUsageHistoryStore(db),
  webhooks: ({ db }) => sqlWebhookStore(db),
} satisfies Factories

/** What may lie in a database of its own: statements on it name no other table, and it names the rows of others by id only. */
const personFactories = {
  changes: mainFactories.changes,
  cohortMembers: ({ db, end }) => sqlCohortMemberStore(db, announcePersons(end)),
  eventDays: ({ db, end }) => sqlEventDayStore(db, announcePersons(end)),
  groups: ({ db, end }) => sqlGroupStore(db, announceGroup(end)),
  persons: ({ db, end }) => sqlPersonStore(db, announcePersons(end)),
  personRetention: ({ db, end, limits }) =>
    sqlPersonRetentionStore(db, limits?.personDays !== undefined, announcePersons(end)),
  projectRemains: ({ db }) => sqlProjectRemainsStore(db),
  receivedBatches: mainFactories.receivedBatches,
} satisfies Factories

type Factories = Readonly<Record<string, (context: StoreContext) => object>>
type Created<F extends Factories> = { readonly [Name in keyof F]: ReturnType<F[Name]> }

/** Persons, groups and what is stored about each of them, as seen from inside one transaction. */
export type PersonStores = Created<typeof personFactories>

/** Everything else that is stored. */
export interface Stores extends Created<typeof mainFactories> {
  /** Those of a transaction that was started `withPersons`; in any other one, access throws. */
  readonly people: PersonStores
}

/** What one database can hold. */
export type AllStores = Stores & PersonStores

/** A transaction needs a few of the many stores: each is created on first access. */
class LazyStores {
  readonly context: StoreContext
  readonly created: Partial<Record<string, unknown>> = {}
  joined: PersonStores | undefined

  constructor(context: StoreContext) {
    this.context = context
  }

  get people(): PersonStores {
    if (!this.joined) throw new Error('This transaction was not started `withPersons`.')
    return this.joined
  }
}

for (const [name, create] of Object.entries({ ...mainFactories, ...personFactories })) {
  Object.defineProperty(LazyStores.prototype, name, {
    get(this: LazyStores) {
      this.created[name] ??= create(this.context)
      return this.created[name]
    },
  })
}

export const sqlStores = (
  db: Kysely<Tables>,
  end: TransactionEnd,
  memory: StoreMemory = createStoreMemory(),
  limits?: StoreLimits,
  emailBox?: SecretBox,
  events?: EventsDatabase,
): AllStores => {
  let audit: ReturnType<typeof sqlAuditStore> | undefined
  let backlog: EventBacklogStore | undefined
  const context: StoreContext = {
    ...{ db, end, memory, limits, emailBox, events },
    audit() {
      audit ??= sqlAuditStore(db, end, memory.auditHeads)
      return audit
    },
    backlog() {
      backlog ??= sqlEventBacklogStore(db, end)
      return backlog
    },
  }
  return new LazyStores(context) as unknown as AllStores
}

interface Reads<S> {
  /** Several reads of one snapshot. */
  read<T>(work: (tx: S) => Promise<T>, limits?: ReadLimits): Promise<T>
  /** Reads that need no common snapshot: without a transaction, and so with a third of the round trips. */
  query<T>(work: (tx: S) => Promise<T>): Promise<T>
}

/** Everything but persons. */
export interface MainDatabase extends Reads<Stores> {
  /**
   * All of the work or none of it. The work may run several times (a race was lost, see `StaleWrite`), so it must have no effects
   * outside its stores. When the promise resolves, the work is durable and this node has applied its changes; only when the database
   * fails right after the commit are they applied by the next poll. Raises `unavailable` when the database is. Must not be awaited by a
   * listener of the change feed.
   */
  transaction<T>(work: (tx: Stores) => Promise<T>, hints?: TransactionHints): Promise<T>
}

export interface Database extends MainDatabase {
  transaction<T>(work: (tx: Stores) => Promise<T>, hints?: Hints): Promise<T>
  /** Persons and groups. What needs nothing else asks here, and is independent of the rest. */
  readonly people: PersonsDatabase
}

export interface PersonsDatabase extends Reads<PersonStores> {
  /** Whether it is a database of its own: then the main one may be away without it, and it without the main one. */
  readonly isSeparate: boolean
  /** As `MainDatabase.transaction`. */
  transaction<T>(work: (tx: PersonStores) => Promise<T>, hints?: TransactionHints): Promise<T>
}

export interface Hints extends TransactionHints {
  /** It also reads or writes persons or groups, through `people`. */
  readonly withPersons?: boolean
}

/** Persons are on the main database, unless they have one of their own. */
export function databaseOn(main: SqlDatabase<AllStores>, persons?: SqlDatabase<AllStores>): Database {
  const { read, query, transaction } = persons ?? main
  return {
    read: main.read,
    query: main.query,
    transaction(work, { withPersons = false, ...hints } = {}) {
      if (!withPersons) return main.transaction(work, hints)
      if (!persons) return main.transaction(tx => work(joinStores(tx, tx)), hints)
      return transactionOnBoth(persons, main, (tx, people) => work(joinStores(tx, people)), hints)
    },
    people: { read, query, transaction, isSeparate: persons !== undefined },
  }
}

function joinStores(stores: AllStores, people: PersonStores): Stores {
  ;(stores as unknown as LazyStores).joined = people
  return stores
}
