import { auditRoutes } from './audit/audit.ts'
import { approvalPolicyRoutes, changeRequestRoutes } from './change-control/approvals.ts'
import { environmentRoutes } from './change-control/environments.ts'
import { freezeRoutes } from './change-control/freezes.ts'
import { importCertificateRoutes } from './change-control/import-certificates.ts'
import { importRoutes } from './change-control/imports.ts'
import { inboxRoutes } from './change-control/inbox.ts'
import { requestCommentRoutes } from './change-control/request-comments.ts'
import { webhookRoutes } from './change-control/webhooks.ts'
import { codeReferenceRoutes } from './code-references/code-references.ts'
import { definitionRoutes } from './events/definitions.ts'
import { eventCountRoutes } from './events/event-counts.ts'
import { sdkUsageRoutes } from './events/sdk-usage.ts'
import { shadowRoutes } from './events/shadow.ts'
import { flagListRoutes } from './flag-list/flag-list.ts'
import { homeRoutes } from './flag-list/home.ts'
import { savedViewRoutes } from './flag-list/saved-views.ts'
import { cohortRoutes } from './flags/cohorts.ts'
import { dashboardRoutes } from './flags/dashboards.ts'
import { flagBulkRoutes } from './flags/flag-bulk.ts'
import { flagDetailRoutes } from './flags/flag-details.ts'
import { flagEditRoutes } from './flags/flag-edits.ts'
import { flagEvaluationRoutes } from './flags/flag-evaluation.ts'
import { flagPresenceRoutes } from './flags/flag-presence.ts'
import { flagVersionRoutes } from './flags/flag-versions.ts'
import { flagRoutes } from './flags/flags.ts'
import { flagReachRoutes } from './flags/impact.ts'
import { groupRoutes, personRoutes } from './flags/persons.ts'
import { playgroundRoutes } from './flags/playground.ts'
import { rollbackRoutes } from './flags/rollback.ts'
import { scheduledChangeRoutes } from './flags/scheduled-changes.ts'
import { accessControlRoutes } from './organizations/access-controls.ts'
import { apiKeyRoutes } from './organizations/api-keys.ts'
import { identityProviderRoutes, singleSignOnRoutes } from './organizations/identity-providers.ts'
import { organizationFlagRoutes } from './organizations/organization-flags.ts'
import { organizationRoutes } from './organizations/organizations.ts'
import { passwordResetRoutes } from './organizations/password-reset.ts'
import { organizationProjectRoutes, projectRoutes } from './organizations/projects.ts'
import { roleAccessRoutes } from './organizations/role-access.ts'
import { roleRoutes } from './organizations/roles.ts'
import { secondFactorRoutes } from './organizations/second-factors.ts'
import { serviceKeyRoutes } from './organizations/service-keys.ts'
import { sessionRoutes } from './organizations/session.ts'
import { tokenExchangeRoutes, trustRelationshipRoutes } from './organizations/trust-relationships.ts'
import { userRoutes } from './organizations/users.ts'
import { pluginConfigRoutes } from './plugins/plugin-configs.ts'
import { pluginRoutes } from './plugins/plugins.ts'
import type { Route } from './route.ts'
import { scimRoutes } from './scim/scim.ts'
import { scimTokenRoutes } from './scim/scim-tokens.ts'
import { changeRoutes } from './sdk/changes.ts'
import { edgeRoutes } from './sdk/edge.ts'
import { flagOverrideRoutes } from './sdk/flag-overrides.ts'
import { manifestRoutes } from './typed-flags/manifest.ts'
import { payloadSchemaRoutes } from './typed-flags/payload-schemas.ts'

export { bucketingAlgorithmNames as bucketingAlgorithms } from '@halyard/engine'
export { importSources as importSourceNames } from '@halyard/migrate/model'
export {
  type Api,
  ApiError,
  type ApiFetch,
  type ApiOptions,
  createApi,
  type ItemOf,
  type RequestOf,
  urlOf,
} from './api-client.ts'
export type { AuditEntry } from './audit/audit.ts'
export type {
  ApprovalPolicy,
  ApprovalPolicyWrite,
  ChangeRequest,
  ChangeRequestDetail,
} from './change-control/approvals.ts'
export {
  type EnvironmentSet,
  environmentNameCharactersMax,
  environmentsMax,
  type FlagAcrossEnvironments,
  type PromotionPlan,
} from './change-control/environments.ts'
export type { Freeze } from './change-control/freezes.ts'
export {
  type CertificateSummary,
  certificateDifferencesMax,
  certificateFlagsMax,
  certificatesMax,
  type ImportCertificate,
  type StoredCertificate,
} from './change-control/import-certificates.ts'
export {
  type ImportItem,
  type ImportPlan,
  importItemsMax,
  importTargetsMax,
} from './change-control/imports.ts'
export type { Inbox, InboxItem } from './change-control/inbox.ts'
export {
  canConditionHold,
  type PolicyComparison,
  type PolicyFieldType,
  policyComparisons,
  policyComparisonsOf,
  policyFieldTypes,
} from './change-control/policy-fields.ts'
export {
  commentsPerRequestMax,
  type RequestComment,
  requestCommentCharactersMax,
} from './change-control/request-comments.ts'
export { type Webhook, type WebhookDelivery, type WebhookEvent, webhookEvents } from './change-control/webhooks.ts'
export {
  type CodeReference,
  type CodeReferencesWrite,
  type CodeRepository,
  codeExcerptCharactersMax,
  codePathCharactersMax,
  codeReferencesMax,
} from './code-references/code-references.ts'
export {
  type EventDefinition,
  type PropertyDefinition,
  type PropertyKind,
  type PropertyValue,
  propertyKinds,
} from './events/definitions.ts'
export {
  countedEventsMax,
  countIntervalsMax,
  type EventCounts,
  type EventCountsByValue,
  eventCountByValueHoursMax,
  eventCountHoursMax,
} from './events/event-counts.ts'
export type { ConnectedSdk } from './events/sdk-usage.ts'
export type { ShadowReport, ShadowSummary } from './events/shadow.ts'
export { type FlagSummary, flagUsageDays, flagUsageIdsMax, tagCharactersMax } from './flag-list/flag-list.ts'
export {
  type HomeChange,
  type HomeRequest,
  type HomeSchedule,
  homeChangesMax,
  homeEntriesMax,
  type ProjectHome,
} from './flag-list/home.ts'
export { type SavedView, savedViewNameCharactersMax } from './flag-list/saved-views.ts'
export type { ActivityEntry } from './flags/activity.ts'
export {
  type Cohort,
  type CohortWrite,
  cohortDescriptionCharactersMax,
  cohortNameCharactersMax,
} from './flags/cohorts.ts'
export {
  type Dashboard,
  type DashboardBasic,
  type DashboardTile,
  type DashboardWrite,
  dashboardTilesMax,
} from './flags/dashboards.ts'
export { type BulkError, bulkFlagsMax } from './flags/flag-bulk.ts'
export { propertyOperators } from './flags/flag-definition.ts'
export {
  type DependencyNode,
  dependencyNodesMax,
  type FlagComment,
  type FlagDependencies,
  type FlagDetails,
  type FlagHealth,
  flagCommentCharactersMax,
  flagLinksMax,
  type HealthCheck,
  healthChecks,
  type UsedBy,
} from './flags/flag-details.ts'
export type { EvaluationReason } from './flags/flag-evaluation.ts'
export { type FlagPresence, presenceSeconds, presentPeopleMax } from './flags/flag-presence.ts'
export type { FlagVersion } from './flags/flag-versions.ts'
export { type Flag, FlagWrite, flagKeyCharactersMax } from './flags/flags.ts'
export type { BlastRadius } from './flags/impact.ts'
export type { Group, GroupType, ListedPerson, Person } from './flags/persons.ts'
export {
  type PlaygroundRow,
  type PlaygroundValue,
  playgroundFlagsMax,
  playgroundPeopleMax,
} from './flags/playground.ts'
export { type MetricSample, metricSamplesMax, type RollbackReport } from './flags/rollback.ts'
export type { ScheduledChange } from './flags/scheduled-changes.ts'
export {
  adminLevel,
  auditorLevel,
  type Level,
  levels,
  memberLevel,
  ownerLevel,
  viewOnlyLevel,
} from './levels.ts'
export { codeRepositoriesMax, edgeProjectsMax, shadowDaysMax } from './limits.ts'
export type { AccessControl } from './organizations/access-controls.ts'
export type { ApiKey } from './organizations/api-keys.ts'
export {
  groupMappingsMax,
  type IdentityProvider,
  type OrganizationDomain,
} from './organizations/identity-providers.ts'
export { type CopiedFlag, copyTargetsMax, type FlagCopies } from './organizations/organization-flags.ts'
export type { Invite, Member, NewInvite, Organization } from './organizations/organizations.ts'
export {
  type Project,
  type ProjectBasic,
  type ProjectSecretKey,
  tokenOverlapHoursMax,
} from './organizations/projects.ts'
export {
  type EffectiveAccess,
  editableFlagsMax,
  type FlagAccess,
  type RoleAccess,
} from './organizations/role-access.ts'
export type { ResourceAccess, Role, RoleMembership } from './organizations/roles.ts'
export type { NewSecondFactor, SecondFactor, SecondFactors } from './organizations/second-factors.ts'
export type { ServiceKey } from './organizations/service-keys.ts'
export type { PendingSignIn, SignIn } from './organizations/session.ts'
export {
  claimRulesMax,
  exchangedKeySecondsMax,
  type TrustRelationship,
} from './organizations/trust-relationships.ts'
export type { User, UserBasic } from './organizations/users.ts'
export type {
  PluginConfig,
  PluginConfigWrite,
  PluginJob,
  PluginLogEntry,
  PluginMetrics,
} from './plugins/plugin-configs.ts'
export { type CatalogEntry, type Plugin, PluginWrite, pluginNameCharactersMax } from './plugins/plugins.ts'
export { ProblemBody } from './problem.ts'
export {
  type Access,
  type AnswerOf,
  type BodyOf,
  type Credential,
  isAudited,
  levelFor,
  type Method,
  type ParamsOf,
  type QueryOf,
  type Route,
} from './route.ts'
export { bytesMaxKeyword, shapeKeyword } from './schema.ts'
export {
  type ScimError,
  type ScimPatch,
  scimEnterpriseSchema,
  scimErrorSchema,
  scimGroupSchema,
  scimListSchema,
  scimMembersMax,
  scimOperationsMax,
  scimPageMax,
  scimPatchSchema,
  scimRoles,
  scimUserBytesMax,
  scimUserSchema,
} from './scim/scim.ts'
export type { ScimToken } from './scim/scim-tokens.ts'
export { allScopes, fullScopeOf, type Scope, type ScopeObject, scopeObjects } from './scopes.ts'
export {
  EdgeBatch,
  EdgeEvent,
  EdgeSubject,
  type EdgeSubjectQuestion,
  edgeBatchEventsMax,
  edgeBatchesMax,
} from './sdk/edge.ts'
export { overriddenFlagsMax, overridesSecondsDefault, type SignedFlagOverrides } from './sdk/flag-overrides.ts'
export type { ManifestFlag } from './typed-flags/manifest.ts'
export { type PayloadSchema, payloadSchemaBytesMax } from './typed-flags/payload-schemas.ts'

/** The route table: all JSON endpoints except the SDK paths. */
export const routes = {
  audit: auditRoutes,
  flags: flagRoutes,
  flagReach: flagReachRoutes,
  apiKeys: apiKeyRoutes,
  approvalPolicies: approvalPolicyRoutes,
  changeRequests: changeRequestRoutes,
  inbox: inboxRoutes,
  home: homeRoutes,
  requestComments: requestCommentRoutes,
  changes: changeRoutes,
  codeReferences: codeReferenceRoutes,
  cohorts: cohortRoutes,
  dashboards: dashboardRoutes,
  definitions: definitionRoutes,
  edge: edgeRoutes,
  environments: environmentRoutes,
  flagBulk: flagBulkRoutes,
  flagDetails: flagDetailRoutes,
  flagList: flagListRoutes,
  flagEvaluation: flagEvaluationRoutes,
  flagEdits: flagEditRoutes,
  flagPresence: flagPresenceRoutes,
  flagVersions: flagVersionRoutes,
  freezes: freezeRoutes,
  webhooks: webhookRoutes,
  groups: groupRoutes,
  flagOverrides: flagOverrideRoutes,
  manifest: manifestRoutes,
  payloadSchemas: payloadSchemaRoutes,
  identityProviders: identityProviderRoutes,
  imports: importRoutes,
  importCertificates: importCertificateRoutes,
  organizationFlags: organizationFlagRoutes,
  organizationProjects: organizationProjectRoutes,
  organizations: organizationRoutes,
  passwordReset: passwordResetRoutes,
  persons: personRoutes,
  playground: playgroundRoutes,
  pluginConfigs: pluginConfigRoutes,
  plugins: pluginRoutes,
  projects: projectRoutes,
  accessControls: accessControlRoutes,
  roleAccess: roleAccessRoutes,
  roles: roleRoutes,
  rollback: rollbackRoutes,
  savedViews: savedViewRoutes,
  scheduledChanges: scheduledChangeRoutes,
  scim: scimRoutes,
  scimTokens: scimTokenRoutes,
  sdkUsage: sdkUsageRoutes,
  eventCounts: eventCountRoutes,
  shadow: shadowRoutes,
  secondFactors: secondFactorRoutes,
  serviceKeys: serviceKeyRoutes,
  session: sessionRoutes,
  singleSignOn: singleSignOnRoutes,
  tokenExchange: tokenExchangeRoutes,
  trustRelationships: trustRelationshipRoutes,
  users: userRoutes,
}

export { sdkRoutes } from './sdk/sdk.ts'

export const allRoutes: readonly Route[] = Object.values(routes).flatMap(group => Object.values(group) as Route[])
