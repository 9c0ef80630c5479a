import type { Flag as FlagWire, FlagWrite } from '@halyard/contract'
import { type Flag, type FlagContent, type FlagPatch, isSimpleFlag, rolloutPercentage } from '../../domain/flag.ts'
import { parseInstant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { userToWire } from '../identity/user-resource.ts'

/** Wire ↔ domain, both ways. */

type ContentWire = Pick<
  FlagWire,
  | 'name'
  | 'key'
  | 'filters'
  | 'deleted'
  | 'active'
  | 'created_at'
  | 'ensure_experience_continuity'
  | 'rollback_conditions'
  | 'performed_rollback'
  | 'tags'
  | 'analytics_dashboards'
  | 'has_enriched_analytics'
  | 'bucketing_identifier'
  | 'evaluation_runtime'
  | 'evaluation_contexts'
  | 'archived'
>

export const contentToWire = (content: FlagContent): ContentWire => ({
  name: content.name,
  key: content.key,
  filters: content.filters as Record<string, unknown>,
  deleted: content.deleted,
  active: content.active,
  created_at: content.createdAt,
  ensure_experience_continuity: content.ensureExperienceContinuity,
  rollback_conditions: content.rollbackConditions as Record<string, unknown>,
  performed_rollback: content.performedRollback,
  tags: content.tags as unknown[],
  analytics_dashboards: content.analyticsDashboards as number[],
  has_enriched_analytics: content.hasEnrichedAnalytics,
  bucketing_identifier: content.bucketingIdentifier,
  evaluation_runtime: content.evaluationRuntime,
  evaluation_contexts: content.evaluationContexts as string[],
  archived: content.archived,
})

export const flagToWire = (flag: Flag, canEdit: boolean): FlagWire => ({
  id: flag.id,
  ...contentToWire(flag),
  created_by: userToWire(flag.createdBy),
  is_simple_flag: isSimpleFlag(flag.filters),
  rollout_percentage: rolloutPercentage(flag.filters),
  experiment_set: [],
  surveys: {},
  features: {},
  can_edit: canEdit,
  usage_dashboard: flag.usageDashboardId,
  version: flag.version,
})

/** The shape of a response without a flag. */
export const blankFlag = (actor: Actor, project: Project): FlagWire => ({
  id: 0,
  name: '',
  key: '',
  filters: {},
  deleted: false,
  active: false,
  created_by: userToWire(actor.user),
  created_at: project.createdAt,
  is_simple_flag: false,
  rollout_percentage: null,
  ensure_experience_continuity: false,
  experiment_set: [],
  surveys: {},
  features: {},
  rollback_conditions: {},
  performed_rollback: false,
  can_edit: false,
  tags: [],
  usage_dashboard: 0,
  analytics_dashboards: [],
  has_enriched_analytics: false,
  version: 0,
  bucketing_identifier: null,
  evaluation_runtime: null,
  evaluation_contexts: [],
  archived: false,
})

/** Raises `invalid` for a `created_at` that is no moment. */
export function patchFromWire(body: FlagWrite): FlagPatch {
  return {
    name: body.name,
    key: body.key,
    filters: body.filters,
    deleted: body.deleted,
    active: body.active,
    createdAt: body.created_at === undefined ? undefined : readCreatedAt(body.created_at),
    ensureExperienceContinuity: body.ensure_experience_continuity,
    rollbackConditions: body.rollback_conditions,
    performedRollback: body.performed_rollback,
    tags: body.tags,
    analyticsDashboards: body.analytics_dashboards && [...new Set(body.analytics_dashboards)],
    hasEnrichedAnalytics: body.has_enriched_analytics,
    bucketingIdentifier: body.bucketing_identifier,
    evaluationRuntime: body.evaluation_runtime,
    evaluationContexts: body.evaluation_contexts,
  }
}

function readCreatedAt(text: string): string {
  const instant = parseInstant(text)
  if (instant === undefined) {
    throw invalid('created_at', 'invalid_input', 'created_at must be an ISO 8601 date-time, as 2026-01-31T12:00:00Z.')
  }
  return instant
}
