import type { OverrideDefinition } from '@halyard/engine'
import type { Instant } from '../instant.ts'
import type { User } from '../tenancy.ts'

export type FreeObject = Readonly<Record<string, unknown>>

export interface Flag extends FlagContent {
  readonly id: number
  readonly projectId: number
  readonly createdBy: User
  readonly usageDashboardId: number
  readonly version: number
  readonly updatedAt: Instant
  readonly lastModifiedBy: User | null
  /** When it was last enabled, or created. */
  readonly activeSince: Instant
  /** For development: the value for everyone, instead of what the filters say. Never stored. */
  readonly override?: OverrideDefinition
}

/** What a client writes; a version stores exactly this. */
export interface FlagContent {
  readonly name: string
  readonly key: string
  readonly filters: FreeObject
  readonly deleted: boolean
  readonly active: boolean
  readonly createdAt: Instant
  readonly ensureExperienceContinuity: boolean
  readonly rollbackConditions: FreeObject
  readonly performedRollback: boolean
  readonly tags: readonly unknown[]
  readonly analyticsDashboards: readonly number[]
  readonly hasEnrichedAnalytics: boolean
  readonly bucketingIdentifier: 'distinct_id' | 'device_id' | null
  readonly evaluationRuntime: 'server' | 'client' | 'all' | null
  readonly evaluationContexts: readonly string[]
  /** Retired: neither listed by default nor evaluated. */
  readonly archived: boolean
}

/** Whether there is something that a payload schema could apply to. */
export const hasPayloads = ({ payloads }: FreeObject): boolean =>
  typeof payloads === 'object' && payloads !== null && Object.keys(payloads).length > 0

export type FlagPatch = { readonly [Field in keyof FlagContent]?: FlagContent[Field] | undefined }

/** Enabled for everyone: the default. */
export const enabledForEveryone: FreeObject = { groups: [{ properties: [], rollout_percentage: null }] }

export const newFlagContent = (key: string, now: Instant): FlagContent => ({
  name: '',
  key,
  filters: enabledForEveryone,
  deleted: false,
  active: true,
  createdAt: now,
  ensureExperienceContinuity: false,
  rollbackConditions: {},
  performedRollback: false,
  tags: [],
  analyticsDashboards: [],
  hasEnrichedAnalytics: false,
  bucketingIdentifier: null,
  evaluationRuntime: null,
  evaluationContexts: [],
  archived: false,
})

export function contentOf(flag: FlagContent): FlagContent {
  return {
    name: flag.name,
    key: flag.key,
    filters: flag.filters,
    deleted: flag.deleted,
    active: flag.active,
    createdAt: flag.createdAt,
    ensureExperienceContinuity: flag.ensureExperienceContinuity,
    rollbackConditions: flag.rollbackConditions,
    performedRollback: flag.performedRollback,
    tags: flag.tags,
    analyticsDashboards: flag.analyticsDashboards,
    hasEnrichedAnalytics: flag.hasEnrichedAnalytics,
    bucketingIdentifier: flag.bucketingIdentifier,
    evaluationRuntime: flag.evaluationRuntime,
    evaluationContexts: flag.evaluationContexts,
    archived: flag.archived,
  }
}

/** Sent fields replace stored ones as a whole. Enabling a flag clears the mark of an earlier rollback. */
export function applyPatch<F extends FlagContent>(flag: F, patch: FlagPatch): F {
  const sent = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
  const isEnabled = patch.active === true && !flag.active
  const performedRollback = patch.performedRollback ?? (isEnabled ? false : flag.performedRollback)
  return { ...flag, ...sent, performedRollback }
}

const keysNamedMax = 5

/** Keys for a sentence: a few of them, and how many more there are. */
export const namedKeys = (keys: readonly string[]): string =>
  keys.slice(0, keysNamedMax).join(', ') + (keys.length > keysNamedMax ? ` and ${keys.length - keysNamedMax} more` : '')

interface Condition {
  readonly properties?: unknown
  readonly rollout_percentage?: unknown
}

/** The only condition of a flag that is nothing but a rollout; undefined when the flag is not that simple. */
function onlyCondition(filters: FreeObject): Condition | undefined {
  const { groups, aggregation_group_type_index: aggregation } = filters as {
    groups?: unknown
    aggregation_group_type_index?: unknown
  }
  if (!Array.isArray(groups) || groups.length !== 1 || (aggregation !== undefined && aggregation !== null)) {
    return undefined
  }
  const condition: unknown = groups[0]
  if (typeof condition !== 'object' || condition === null) return undefined
  const { properties, aggregation_group_type_index: own } = condition as Condition & {
    aggregation_group_type_index?: unknown
  }
  const hasProperties = Array.isArray(properties) && properties.length > 0
  return hasProperties || (own !== undefined && own !== null) ? undefined : (condition as Condition)
}

export const isSimpleFlag = (filters: FreeObject): boolean => onlyCondition(filters) !== undefined

export function rolloutPercentage(filters: FreeObject): number | null {
  const condition = onlyCondition(filters)
  if (!condition) return null
  const percentage = condition.rollout_percentage
  return typeof percentage === 'number' ? Math.round(percentage) : 100
}

export function isMultivariant(filters: FreeObject): boolean {
  const { multivariate } = filters as { multivariate?: { variants?: unknown } | null }
  const variants = multivariate?.variants
  return Array.isArray(variants) && variants.length > 0
}

/** Everyone gets the same value: a condition without properties includes all, and with variants one of them has 100 %. */
export function isFullyRolledOut(filters: FreeObject): boolean {
  const open = openCondition(filters)
  if (!open || !isMultivariant(filters)) return open !== undefined
  const { multivariate } = filters as { multivariate: { variants: { rollout_percentage?: unknown }[] } }
  return typeof open.variant === 'string' || multivariate.variants.some(variant => variant.rollout_percentage === 100)
}

/** The first condition that has no properties and includes everyone. */
function openCondition(filters: FreeObject): (Condition & { readonly variant?: unknown }) | undefined {
  const { groups } = filters as { groups?: unknown }
  if (!Array.isArray(groups)) return undefined
  return groups.find(
    (condition: Condition | null) =>
      condition !== null && isEmptyList(condition.properties) && includesEveryone(condition.rollout_percentage),
  )
}

const isEmptyList = (value: unknown): boolean => value === undefined || (Array.isArray(value) && value.length === 0)
const includesEveryone = (percentage: unknown): boolean =>
  percentage === undefined || percentage === null || percentage === 100

interface Served {
  readonly active: boolean
  readonly filters: FreeObject
}

/** The state of the rollout, in PostHog's terms. */
export function rolloutState({ active, filters }: Served): 'fully_rolled_out' | 'not_rolled_out' | 'partial' {
  const groups = (filters as { groups?: unknown }).groups
  const conditions: Condition[] = Array.isArray(groups) ? groups : []
  if (!active || conditions.every(condition => condition?.rollout_percentage === 0)) return 'not_rolled_out'
  return isFullyRolledOut(filters) ? 'fully_rolled_out' : 'partial'
}

/** The variant that everyone gets; null when there is none. */
export function activeVariant(flag: Served): string | null {
  if (rolloutState(flag) !== 'fully_rolled_out' || !isMultivariant(flag.filters)) return null
  const { multivariate } = flag.filters as {
    multivariate: { variants: { key: string; rollout_percentage?: unknown }[] }
  }
  const override = openCondition(flag.filters)?.variant
  if (typeof override === 'string') return override
  return multivariate.variants.find(variant => variant.rollout_percentage === 100)?.key ?? null
}

export interface FlagFilter {
  readonly deleted: boolean
  /** The archived flags instead of the others; among deleted ones it makes no difference. */
  readonly archived: boolean
  readonly search?: string
  /** Each of these must occur in the key, the name or the tags. */
  readonly words?: readonly string[]
  /** All of these must occur in the key or in the name, in this order. */
  readonly letters?: readonly string[]
  readonly active?: boolean
  /** Only active flags that are older than this and serve no purpose: fully rolled out, or not evaluated since. */
  readonly staleSince?: Instant
  readonly isMultivariant?: boolean
  readonly createdById?: number
  /** Only favorites of this user. */
  readonly favoriteOf?: number
  /** Any of these is enough. */
  readonly tags?: readonly unknown[]
  /** Any of these, in this spelling; `tags` ignores case. */
  readonly exactTags?: readonly unknown[]
  readonly order?: { readonly field: FlagOrder; readonly descending: boolean }
}

export const flagOrders = [
  'created_at',
  'updated_at',
  'key',
  'name',
  'active',
  'id',
  'version',
  'last_called_at',
] as const
export type FlagOrder = (typeof flagOrders)[number]

export interface FlagFacets {
  /** Number of flags by tag, and how many of these the user can edit. */
  readonly tags: ReadonlyMap<string, { readonly flags: number; readonly editable: number }>
  readonly creators: readonly User[]
}

export interface FlagVersion {
  readonly flagId: number
  readonly version: number
  readonly content: FlagContent
  /** Null when Halyard itself acted. */
  readonly user: User | null
  readonly createdAt: Instant
}

/** What one project may hold, so that it cannot take the others' memory and time. */
export interface FlagLimits {
  readonly flagsPerProjectMax: number
  readonly definitionBytesPerProjectMax: number
}
