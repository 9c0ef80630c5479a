import { isDeepStrictEqual } from 'node:util'
import { type FlagDefinition, type Release, releasesOf } from '@halyard/engine'
import type { FlagContent, FreeObject } from '../../domain/flag.ts'
import {
  type Action,
  type FieldValues,
  type Impact,
  isOnlyDisabling,
  type ProposedChange,
  rolloutField,
} from '../../domain/policy.ts'
import { flagDefinition } from '../../evaluation/projects/flag-definition.ts'
import { contentToWire } from '../flags/flag-resource.ts'

export interface FlagChange {
  /** Undefined for a flag that is being created. */
  readonly stored: FlagContent | undefined
  readonly flag: FlagContent
  readonly isByKey: boolean
  readonly impact: Impact | undefined
  readonly dependents: readonly DependentGain[]
}

/** A flag that releases to more people because another one changes. */
export interface DependentGain {
  readonly key: string
  readonly tags: readonly unknown[]
  readonly releases: readonly Release[]
}

export function proposedFlagChange({ stored, flag, isByKey, impact, dependents }: FlagChange): ProposedChange {
  const releases = releasesOfChange(stored, flag)
  return {
    actions: flagActions(stored, flag, releases),
    before: stored ? flagValues(stored) : {},
    after: flagValues(flag),
    releases,
    // A tag that is being removed still counts: otherwise removing it would lift the policy.
    tags: [...(stored?.tags ?? []), ...flag.tags],
    isByKey,
    impact,
    dependents: dependents.map(dependent => dependentChange(dependent, isByKey)),
  }
}

/** How many people that concerns is not counted, so a limit on them counts as exceeded. */
const dependentChange = ({ tags, releases }: DependentGain, isByKey: boolean): ProposedChange => ({
  actions: new Set<Action>(['feature_flag.rollout']),
  before: {},
  after: {},
  releases,
  tags,
  isByKey,
  impact: undefined,
  dependents: [],
})

/** Only the switch is turned off. What depends on the flag is another question. */
export const isSwitchedOff = ({ stored, flag }: Pick<FlagChange, 'stored' | 'flag'>): boolean =>
  stored !== undefined &&
  isOnlyDisabling(proposedFlagChange({ stored, flag, isByKey: false, impact: undefined, dependents: [] }))

/** Of a flag that is off, what it would release if both versions were on: switching it on releases the whole. */
export function releasesOfChange(stored: FlagContent | undefined, flag: FlagContent): readonly Release[] {
  const after = servedDefinition(flag)
  const before = stored && !isServedMoreWidely(stored, flag) ? servedDefinition(stored) : undefined
  const isOff = stored !== undefined && !after.active
  const [old, next] = isOff ? [before && { ...before, active: true }, { ...after, active: true }] : [before, after]
  return isDeepStrictEqual(old, next) ? [] : releasesOf(old, next)
}

/** What evaluation depends on, except where the flag is evaluated. */
export const servedDefinition = (flag: FlagContent): FlagDefinition =>
  flagDefinition({ ...flag, id: 0, version: 0, active: flag.active && !flag.archived })

/** Requests that were not given the flag before are given it: their people may all be new. */
function isServedMoreWidely(stored: FlagContent, flag: FlagContent): boolean {
  const isEverywhere = ({ evaluationRuntime }: FlagContent) => evaluationRuntime === null || evaluationRuntime === 'all'
  const isRuntimeAdded = stored.evaluationRuntime !== flag.evaluationRuntime && !isEverywhere(stored)
  const had = new Set(stored.evaluationContexts)
  const isContextAdded =
    had.size > 0 && (flag.evaluationContexts.length === 0 || flag.evaluationContexts.some(context => !had.has(context)))
  return isRuntimeAdded || isContextAdded
}

function flagActions(
  stored: FlagContent | undefined,
  flag: FlagContent,
  releases: readonly Release[],
): ReadonlySet<Action> {
  if (!stored) return new Set(['feature_flag.create'])
  const actions = new Set<Action>()
  if (flag.deleted && !stored.deleted) actions.add('feature_flag.delete')
  if (flag.active && (!stored.active || stored.deleted) && !flag.deleted) actions.add('feature_flag.enable')
  if (!flag.active && stored.active) actions.add('feature_flag.disable')
  if (releases.length > 0 || !isDeepStrictEqual(rollouts(stored.filters), rollouts(flag.filters))) {
    actions.add('feature_flag.rollout')
  }
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
  [rolloutField]: rollouts(flag.filters),
})

/** The percentage of each condition and variant, by its path. */
function rollouts(filters: FreeObject): Readonly<Record<string, unknown>> {
  const { groups, super_groups, multivariate } = filters as {
    groups?: unknown
    super_groups?: unknown
    multivariate?: { variants?: unknown } | null
  }
  const values: Record<string, unknown> = {}
  for (const [name, conditions] of Object.entries({ groups, super_groups })) {
    for (const [index, condition] of listOf(conditions).entries()) {
      values[`${name}.${index}`] = (condition as { rollout_percentage?: unknown } | null)?.rollout_percentage ?? 100
    }
  }
  for (const variant of listOf(multivariate?.variants)) {
    const { key, rollout_percentage } = (variant ?? {}) as { key?: unknown; rollout_percentage?: unknown }
    values[`variants.${String(key)}`] = rollout_percentage
  }
  return values
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
