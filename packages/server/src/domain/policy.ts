import { isDeepStrictEqual } from 'node:util'
import type { PolicyComparison } from '@halyard/contract'
import type { Release } from '@halyard/engine'
import type { Instant } from '../instant.ts'
import type { User } from '../tenancy.ts'

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
  /** Whether decisions may be made with an API key, not only by a signed-in person. */
  readonly allowKeys: boolean
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

/** PostHog's `any_change`, `before_after` and `change_amount`; the others are Halyard's. An empty object is any change. */
export type PolicyCondition =
  | { readonly type?: undefined }
  | { readonly type: 'any_change'; readonly field?: string }
  | {
      readonly type: 'before_after' | 'change_amount'
      readonly field: string
      readonly operator: PolicyComparison
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
  /** To how many more people it releases the flag, or a value of it. */
  readonly releases: readonly Release[]
  readonly tags: readonly unknown[]
  readonly isByKey: boolean
  /** Undefined when it was not measured: then a limit on it counts as exceeded. */
  readonly impact: Impact | undefined
  /** The flags that depend on the changed one and release to more people because of it. */
  readonly dependents: readonly ProposedChange[]
}
export type FieldValues = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** True when only the switch is turned off: that always passes unless a policy names it. */
export const isOnlyDisabling = ({ actions }: ProposedChange): boolean =>
  actions.size === 1 && actions.has('feature_flag.disable')

export const matchesPolicy = (
  policy: Pick<ApprovalPolicy, 'actionKey' | 'conditions' | 'enabled'>,
  change: ProposedChange,
): boolean =>
  policy.enabled && [change, ...change.dependents].some(one => isNamed(policy, one) && holds(policy.conditions, one))

const isNamed = ({ actionKey }: Pick<ApprovalPolicy, 'actionKey'>, change: ProposedChange): boolean =>
  actionKey === '*' ? change.actions.size > 0 && !isOnlyDisabling(change) : change.actions.has(actionKey)

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
      return condition.field === undefined || valueChanges(condition.field, change).length > 0
    case 'before_after':
      return valueChanges(condition.field, change).some(({ after }) =>
        compare(after, condition.operator, condition.value),
      )
    case 'change_amount':
      return valueChanges(condition.field, change).some(({ amount }) =>
        compare(amount, condition.operator, condition.value),
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

/** The field that covers the percentages of all conditions and variants, and every other way to release a flag. */
export const rolloutField = 'rollout_percentage'

interface ValueChange {
  readonly after: unknown
  /** Undefined for what is no number. */
  readonly amount: number | undefined
}

/** How a field changes at each of its paths; of the rollout, also how the people change who get a value. */
function valueChanges(field: string, { before, after, releases }: ProposedChange): readonly ValueChange[] {
  const [old, next] = [before[field] ?? {}, after[field] ?? {}]
  const changes = [...new Set([...Object.keys(old), ...Object.keys(next)])]
    .filter(path => !isDeepStrictEqual(old[path], next[path]))
    .map(path => (field === rolloutField ? rolloutChange(old[path], next[path]) : fieldChange(old[path], next[path])))
  if (field !== rolloutField) return changes
  return [...changes, ...releases.map(({ reach, gain }) => ({ after: reach, amount: gain }))]
}

const fieldChange = (before: unknown, after: unknown): ValueChange => ({
  after,
  amount: typeof before === 'number' && typeof after === 'number' ? after - before : undefined,
})

/** A condition or variant that does not exist includes no one. */
function rolloutChange(before: unknown, after: unknown): ValueChange {
  const [old, next] = [before ?? 0, after ?? 0]
  return { ...fieldChange(old, next), after: next }
}

function compare(a: unknown, operator: PolicyComparison, b: number | string | boolean): boolean {
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  if (typeof a !== typeof b || typeof a === 'boolean') return false
  const [left, right] = [a as number | string, b as number | string]
  if (operator === '>') return left > right
  if (operator === '>=') return left >= right
  return operator === '<' ? left < right : left <= right
}

export interface PolicyFilter {
  readonly actionKey?: string
  readonly enabled?: boolean
}

export interface NamingPolicy extends Pick<ApprovalPolicy, 'id' | 'actionKey'> {
  readonly projectName: string
}
