import { apiKeyRoutes } from './api-keys.ts'
import { approvalPolicyRoutes, changeRequestRoutes } from './approvals.ts'
import { changeRoutes } from './changes.ts'
import { cohortRoutes } from './cohorts.ts'
import { dashboardRoutes } from './dashboards.ts'
import { edgeRoutes } from './edge.ts'
import { environmentRoutes } from './environments.ts'
import { flagBulkRoutes } from './flag-bulk.ts'
import { flagEvaluationRoutes } from './flag-evaluation.ts'
import { flagIntentRoutes } from './flag-intents.ts'
import { flagReachRoutes } from './flag-reach.ts'
import { flagVersionRoutes } from './flag-versions.ts'
import { flagRoutes } from './flags.ts'
import { freezeRoutes } from './freezes.ts'
import { organizationFlagRoutes } from './organization-flags.ts'
import { organizationRoutes } from './organizations.ts'
import { groupRoutes, personRoutes } from './persons.ts'
import { pluginConfigRoutes } from './plugin-configs.ts'
import { pluginRoutes } from './plugins.ts'
import { organizationProjectRoutes, projectRoutes } from './projects.ts'
import { roleAccessRoutes } from './role-access.ts'
import { roleRoutes } from './roles.ts'
import { rollbackRoutes } from './rollback.ts'
import type { Route } from './route.ts'
import { scheduledChangeRoutes } from './scheduled-changes.ts'
import { sessionRoutes } from './session.ts'
import { userRoutes } from './users.ts'

export type { ActivityEntry } from './activity.ts'
export type { ApiKey } from './api-keys.ts'
export type { ApprovalPolicy, ApprovalPolicyWrite, ChangeRequest, ChangeRequestDetail } from './approvals.ts'
export { type Cohort, type CohortWrite, cohortDescriptionCharactersMax, cohortNameCharactersMax } from './cohorts.ts'
export {
  type Dashboard,
  type DashboardBasic,
  type DashboardTile,
  type DashboardWrite,
  dashboardTilesMax,
} from './dashboards.ts'
export {
  EdgeBatch,
  EdgeEvent,
  EdgeSubject,
  type EdgeSubjectQuestion,
  edgeBatchEventsMax,
  edgeBatchesMax,
  edgeProjectsMax,
} from './edge.ts'
export {
  type EnvironmentSet,
  environmentsMax,
  type FlagAcrossEnvironments,
  type PromotionPlan,
} from './environments.ts'
export { type BulkError, bulkFlagsMax } from './flag-bulk.ts'
export { propertyOperators } from './flag-definition.ts'
export type { EvaluationReason } from './flag-evaluation.ts'
export type { BlastRadius } from './flag-reach.ts'
export type { FlagVersion } from './flag-versions.ts'
export { type Flag, FlagWrite, flagKeyCharactersMax } from './flags.ts'
export type { Freeze } from './freezes.ts'
export { copyTargetsMax } from './organization-flags.ts'
export type { Invite, Member, NewInvite, Organization } from './organizations.ts'
export type { Group, GroupType, ListedPerson, Person } from './persons.ts'
export type { PluginConfig, PluginConfigWrite, PluginJob, PluginLogEntry, PluginMetrics } from './plugin-configs.ts'
export { type CatalogueEntry, type Plugin, PluginWrite, pluginNameCharactersMax } from './plugins.ts'
export { ProblemBody } from './problem.ts'
export { type Project, type ProjectBasic, type ProjectSecretKey, tokenOverlapHoursMax } from './projects.ts'
export type { RoleAccess } from './role-access.ts'
export type { ResourceAccess, Role, RoleMembership } from './roles.ts'
export { type MetricSample, metricSamplesMax, type RollbackReport } from './rollback.ts'
export {
  type Access,
  type AnswerOf,
  type BodyOf,
  type Credential,
  type Method,
  type ParamsOf,
  type QueryOf,
  type Route,
  type Scope,
  type ScopeObject,
  scopeObjects,
} from './route.ts'
export type { ScheduledChange } from './scheduled-changes.ts'
export { bytesMaxKeyword, shapeKeyword } from './schema.ts'
export type { User, UserBasic } from './users.ts'

/** The route table: all JSON endpoints except the SDK paths. */
export const routes = {
  flags: flagRoutes,
  flagReach: flagReachRoutes,
  apiKeys: apiKeyRoutes,
  approvalPolicies: approvalPolicyRoutes,
  changeRequests: changeRequestRoutes,
  changes: changeRoutes,
  cohorts: cohortRoutes,
  dashboards: dashboardRoutes,
  edge: edgeRoutes,
  environments: environmentRoutes,
  flagBulk: flagBulkRoutes,
  flagEvaluation: flagEvaluationRoutes,
  flagIntents: flagIntentRoutes,
  flagVersions: flagVersionRoutes,
  freezes: freezeRoutes,
  groups: groupRoutes,
  organizationFlags: organizationFlagRoutes,
  organizationProjects: organizationProjectRoutes,
  organizations: organizationRoutes,
  persons: personRoutes,
  pluginConfigs: pluginConfigRoutes,
  plugins: pluginRoutes,
  projects: projectRoutes,
  roleAccess: roleAccessRoutes,
  roles: roleRoutes,
  rollback: rollbackRoutes,
  scheduledChanges: scheduledChangeRoutes,
  session: sessionRoutes,
  users: userRoutes,
}

export { sdkRoutes } from './sdk.ts'

export const allRoutes: readonly Route[] = Object.values(routes).flatMap(group => Object.values(group) as Route[])
