import type { Selectable } from 'kysely'
import { type Flag, type FlagVersion, isFullyRolledOut, isMultivariant } from '../../domain/flag.ts'
import type { Tables } from '../../storage/tables.generated.ts'
import type { User } from '../../tenancy.ts'
import { type EmbeddedUser, type OptionalUser, readOptionalUser, readUser } from '../identity/embedded-user.sql.ts'

/** Flags and their versions as rows, both ways. */

type FlagJoin = Selectable<Tables['flags']> & EmbeddedUser<'creator'> & OptionalUser<'editor'>

export const toFlag = (row: FlagJoin): Flag => flagOf(row, readUser(row, 'creator'), readOptionalUser(row, 'editor'))

export const flagOf = (row: Selectable<Tables['flags']>, createdBy: User, lastModifiedBy: User | null): Flag => ({
  id: row.id,
  projectId: row.project_id,
  key: row.key,
  name: row.name,
  filters: JSON.parse(row.filters),
  deleted: row.deleted === 1,
  active: row.active === 1,
  createdBy,
  createdAt: row.created_at,
  ensureExperienceContinuity: row.ensure_experience_continuity === 1,
  rollbackConditions: JSON.parse(row.rollback_conditions),
  performedRollback: row.performed_rollback === 1,
  tags: JSON.parse(row.tags),
  usageDashboardId: row.usage_dashboard_id,
  analyticsDashboards: JSON.parse(row.analytics_dashboards),
  hasEnrichedAnalytics: row.has_enriched_analytics === 1,
  bucketingIdentifier: row.bucketing_identifier as Flag['bucketingIdentifier'],
  evaluationRuntime: row.evaluation_runtime as Flag['evaluationRuntime'],
  evaluationContexts: JSON.parse(row.evaluation_contexts),
  archived: row.archived === 1,
  version: row.version,
  updatedAt: row.updated_at,
  lastModifiedBy,
  activeSince: row.active_since,
})

export const toVersion = (row: Tables['flag_versions'] & OptionalUser<'editor'>): FlagVersion => ({
  flagId: row.flag_id,
  version: row.version,
  // Versions from before flags could be archived do not say.
  content: { archived: false, ...JSON.parse(row.snapshot) },
  user: readOptionalUser(row, 'editor'),
  createdAt: row.created_at,
})

export type NewFlagRow = Omit<Selectable<Tables['flags']>, 'id'>

export const fromFlag = (flag: Omit<Flag, 'id'>): NewFlagRow => ({
  project_id: flag.projectId,
  key: flag.key,
  name: flag.name,
  filters: JSON.stringify(flag.filters),
  is_multivariant: Number(isMultivariant(flag.filters)),
  deleted: Number(flag.deleted),
  active: Number(flag.active),
  created_by_id: flag.createdBy.id,
  created_at: flag.createdAt,
  ensure_experience_continuity: Number(flag.ensureExperienceContinuity),
  rollback_conditions: JSON.stringify(flag.rollbackConditions),
  performed_rollback: Number(flag.performedRollback),
  tags: JSON.stringify(flag.tags),
  usage_dashboard_id: flag.usageDashboardId,
  analytics_dashboards: JSON.stringify(flag.analyticsDashboards),
  has_enriched_analytics: Number(flag.hasEnrichedAnalytics),
  bucketing_identifier: flag.bucketingIdentifier,
  evaluation_runtime: flag.evaluationRuntime,
  evaluation_contexts: JSON.stringify(flag.evaluationContexts),
  archived: Number(flag.archived),
  version: flag.version,
  updated_at: flag.updatedAt,
  last_modified_by_id: flag.lastModifiedBy?.id ?? null,
  active_since: flag.activeSince,
  is_fully_rolled_out: Number(isFullyRolledOut(flag.filters)),
})

export const fromVersion = (version: FlagVersion): Tables['flag_versions'] => ({
  flag_id: version.flagId,
  version: version.version,
  snapshot: JSON.stringify(version.content),
  user_id: version.user?.id ?? null,
  created_at: version.createdAt,
})
