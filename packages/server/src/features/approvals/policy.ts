import { isDeepStrictEqual } from 'node:util'
import type { Instant } from '../../instant.ts'
import type { User } from '../../tenancy.ts'
import type { FlagContent, FreeObject } from '../flags/flag.ts'
import { contentToWire } from '../flags/flag-resource.ts'

/** What a policy can require approval for. `*` is every action except switching a flag off. */
export const actionKeys = [
  'feature_flag.create',
  'feature_flag.update',
  'feature_flag.rollout',
  'feature_flag.enable',
  'feature_flag.disable',
  'feature_flag.delete',
  'cohort.update',
  '*',
] as const
export type ActionKey = (typeof actionKeys)[number]
export type Action = Exclude<ActionKey, '*'>

export interface ApprovalPolicy {
  readonly id: number
  readonly projectId: number
  readonly actionKey: ActionKey
  readonly conditions: PolicyCondition
  readonly approvers: Approvers
  readonly quorum: number
  readonly allowSelfApprove: boolean
  readonly expiresAfterHours: number
  /** Approval is asked for again when the impact has grown by more than either since; null is no limit. */
  readonly reapprovePercent: number | null
  readonly reapprovePeople: number | null
  /** Roles whose members can break the glass, besides owners. */
  readonly emergencyRoles: readonly string[]
  readonly enabled: boolean
  readonly createdBy: User
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly version: number
}

/** Empty lists mean every admin of the organization. */
export interface Approvers {
  readonly users: readonly number[]
  readonly roles: readonly string[]
}

export const comparisons = ['>', '>=', '<', '<=', '==', '!='] as const
export type Comparison = (typeof comparisons)[number]

/** PostHog's `any_change`, `before_after` and `change_amount`; the others are Halyard's. An empty object is any change. */
export type PolicyCondition =
  | { readonly type?: undefined }
  | { readonly type: 'any_change'; readonly field?: string }
  | {
      readonly type: 'before_after' | 'change_amount'
      readonly field: string
      readonly operator: Comparison
      readonly value: number | string | boolean
    }
  | { readonly type: 'people_affected' | 'losses'; readonly value: number }
  | { readonly type: 'tag'; readonly value: string }
  | { readonly type: 'author_is_key' }
  | { readonly type: 'all'; readonly conditions: readonly PolicyCondition[] }

/** How many people a change affects. */
export interface Impact {
  readonly affected: number
  readonly gains: number
  readonly losses: number
}

/** What a policy is matched against. */
export interface ProposedChange {
  readonly actions: ReadonlySet<Action>
  /** Field of the API → values by their path, before and after; a field with one value has the path ``. */
  readonly before: FieldValues
  readonly after: FieldValues
  readonly tags: readonly unknown[]
  readonly isByKey: boolean
  /** Undefined when it was not measured: then a limit on it counts as exceeded. */
  readonly impact: Impact | undefined
}
type FieldValues = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** True when only the switch is turned off: that always passes unless a policy names it. */
export const isOnlyDisabling = ({ actions }: ProposedChange): boolean =>
  actions.size === 1 && actions.has('feature_flag.disable')

export function matchesPolicy(
  { actionKey, conditions, enabled }: Pick<ApprovalPolicy, 'actionKey' | 'conditions' | 'enabled'>,
  change: ProposedChange,
): boolean {
  if (!enabled) return false
  const isNamed =
    actionKey === '*' ? change.actions.size > 0 && !isOnlyDisabling(change) : change.actions.has(actionKey)
  return isNamed && holds(conditions, change)
}

/** Whether deciding about the policy takes a count of people. */
export const needsImpact = (condition: PolicyCondition): boolean =>
  condition.type === 'people_affected' ||
  condition.type === 'losses' ||
  (condition.type === 'all' && condition.conditions.some(needsImpact))

function holds(condition: PolicyCondition, change: ProposedChange): boolean {
  switch (condition.type) {
    case undefined:
      return true
    case 'any_change':
      return condition.field === undefined || changedPaths(condition.field, change).length > 0
    case 'before_after':
      return changedPaths(condition.field, change).some(([, after]) =>
        compare(after, condition.operator, condition.value),
      )
    case 'change_amount':
      return changedPaths(condition.field, change).some(
        ([before, after]) =>
          typeof before === 'number' &&
          typeof after === 'number' &&
          compare(after - before, condition.operator, condition.value),
      )
    case 'people_affected':
      return change.impact === undefined || change.impact.affected > condition.value
    case 'losses':
      return change.impact === undefined || change.impact.losses > condition.value
    case 'tag':
      return change.tags.includes(condition.value)
    case 'author_is_key':
      return change.isByKey
    case 'all':
      return condition.conditions.every(one => holds(one, change))
  }
}

/** The values before and after, at each path where the field changes. */
function changedPaths(field: string, { before, after }: ProposedChange): readonly (readonly [unknown, unknown])[] {
  const [old, next] = [before[field] ?? {}, after[field] ?? {}]
  return [...new Set([...Object.keys(old), ...Object.keys(next)])]
    .map(path => [old[path], next[path]] as const)
    .filter(([a, b]) => !isDeepStrictEqual(a, b))
}

function compare(a: unknown, operator: Comparison, b: number | string | boolean): boolean {
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  if (typeof a !== typeof b || typeof a === 'boolean') return false
  const [left, right] = [a as number | string, b as number | string]
  if (operator === '>') return left > right
  if (operator === '>=') return left >= right
  return operator === '<' ? left < right : left <= right
}

export interface FlagChange {
  /** Undefined for a flag that is being created. */
  readonly stored: FlagContent | undefined
  readonly flag: FlagContent
  readonly isByKey: boolean
  readonly impact: Impact | undefined
}

export function proposedFlagChange({ stored, flag, isByKey, impact }: FlagChange): ProposedChange {
  return {
    actions: flagActions(stored, flag),
    before: stored ? flagValues(stored) : {},
    after: flagValues(flag),
    // A tag that is being removed still counts: otherwise removing it would lift the policy.
    tags: [...(stored?.tags ?? []), ...flag.tags],
    isByKey,
    impact,
  }
}

function flagActions(stored: FlagContent | undefined, flag: FlagContent): ReadonlySet<Action> {
  if (!stored) return new Set(['feature_flag.create'])
  const actions = new Set<Action>()
  if (flag.deleted && !stored.deleted) actions.add('feature_flag.delete')
  if (flag.active && (!stored.active || stored.deleted) && !flag.deleted) actions.add('feature_flag.enable')
  if (!flag.active && stored.active) actions.add('feature_flag.disable')
  if (!isDeepStrictEqual(rollouts(stored.filters), rollouts(flag.filters))) actions.add('feature_flag.rollout')
  const { active: _a, deleted: _d, performedRollback: _p, ...before } = stored
  const { active: _b, deleted: _e, performedRollback: _q, ...after } = flag
  const isUpdate = (Object.keys(after) as (keyof typeof after)[]).some(
    field => contentFields.has(field) && !isDeepStrictEqual(before[field], after[field]),
  )
  if (isUpdate) actions.add('feature_flag.update')
  // The mark of a rollback alone, or a flag that comes back switched off.
  if (actions.size === 0) actions.add('feature_flag.update')
  return actions
}

const contentFields: ReadonlySet<string> = new Set([
  'name',
  'key',
  'filters',
  'createdAt',
  'ensureExperienceContinuity',
  'rollbackConditions',
  'tags',
  'analyticsDashboards',
  'hasEnrichedAnalytics',
  'bucketingIdentifier',
  'evaluationRuntime',
  'evaluationContexts',
  'archived',
])

const flagValues = (flag: FlagContent): FieldValues => ({
  ...Object.fromEntries(Object.entries(contentToWire(flag)).map(([field, value]) => [field, { '': value }])),
  rollout_percentage: rollouts(flag.filters),
})

/** The percentage of each condition and variant, by its path. */
export function rollouts(filters: FreeObject): Readonly<Record<string, unknown>> {
  const { groups, multivariate } = filters as { groups?: unknown; multivariate?: { variants?: unknown } | null }
  const values: Record<string, unknown> = {}
  for (const [index, group] of listOf(groups).entries()) {
    values[`groups.${index}`] = (group as { rollout_percentage?: unknown } | null)?.rollout_percentage ?? 100
  }
  for (const variant of listOf(multivariate?.variants)) {
    const { key, rollout_percentage } = (variant ?? {}) as { key?: unknown; rollout_percentage?: unknown }
    values[`variants.${String(key)}`] = rollout_percentage
  }
  return values
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
