import { isDeepStrictEqual } from 'node:util'
import type { ApprovalNeeded } from '../../domain/approval.ts'
import type { FreeObject, RequestedContent } from '../../domain/change-request.ts'
import { contentOf as cohortContentOf } from '../../domain/cohort.ts'
import { contentOf, type Flag, type FlagContent } from '../../domain/flag.ts'
import type { Requester } from '../../domain/permit.ts'
import { type Action, type ApprovalPolicy, type Impact, matchesPolicy } from '../../domain/policy.ts'
import type { Project } from '../../tenancy.ts'
import { isEmpty } from '../cohorts/members/members.ts'
import type { PlannedCohort } from '../cohorts/plan-cohort.ts'
import { type DependentGain, proposedFlagChange } from './flag-change.ts'

interface RequestedFlag {
  readonly stored: Flag | undefined
  readonly flag: FlagContent
  readonly requester: Requester
  readonly impact: Impact | undefined
  readonly gaining: readonly DependentGain[]
}

export function flagApproval(
  project: Project,
  { stored, flag, requester, impact, gaining }: RequestedFlag,
  policies: readonly ApprovalPolicy[],
): ApprovalNeeded {
  const change = proposedFlagChange({ stored, flag, isByKey: requester.isByKey, impact, dependents: gaining })
  return {
    kind: 'flag',
    projectId: project.id,
    flagId: stored?.id ?? null,
    cohortId: null,
    actionKey: mainAction(change.actions),
    baseVersion: stored?.version ?? null,
    ...flagFields(stored, flag),
    applyAt: null,
    name: stored?.key ?? flag.key,
    requester,
    policies: policies.filter(policy => matchesPolicy(policy, change)),
    impact: impact ?? null,
    gaining: gaining.map(({ key }) => key),
  }
}

export function cohortApproval(
  { project, stored, cohort, added, removed }: PlannedCohort,
  requester: Requester,
  policies: readonly ApprovalPolicy[],
): ApprovalNeeded {
  const [before, after] = [cohortContentOf(stored), cohortContentOf(cohort)]
  const { base, patch } = changedFields({ ...before }, { ...after })
  const members = { ...(!isEmpty(added) && { added: { ...added } }), ...(removed && { removed: { ...removed } }) }
  return {
    kind: 'cohort',
    projectId: project.id,
    flagId: null,
    cohortId: stored.id,
    actionKey: 'cohort.update',
    baseVersion: stored.version,
    base,
    patch: { ...patch, ...members },
    applyAt: null,
    name: stored.name,
    requester,
    policies,
    impact: null,
  }
}

/** The most specific action that the change consists of. */
export const mainAction = (actions: ReadonlySet<Action>): Action => precedence.find(action => actions.has(action))!

const precedence: readonly Action[] = [
  'feature_flag.create',
  'feature_flag.delete',
  'feature_flag.enable',
  'feature_flag.update',
  'feature_flag.rollout',
  'feature_flag.disable',
  'cohort.update',
]

function flagFields(stored: Flag | undefined, flag: FlagContent): Pick<RequestedContent, 'base' | 'patch'> {
  const { createdAt, ...content } = contentOf(flag)
  // A new flag is created when the request is applied, not when it was opened.
  return stored
    ? changedFields({ ...contentOf(stored) }, { ...content, createdAt })
    : { base: {}, patch: { ...content } }
}

/** The fields that differ, before and after. */
export function changedFields(before: FreeObject, after: FreeObject): Pick<RequestedContent, 'base' | 'patch'> {
  const fields = Object.keys(after).filter(field => !isDeepStrictEqual(before[field], after[field]))
  const pick = (from: FreeObject) => Object.fromEntries(fields.map(field => [field, from[field]]))
  return { base: pick(before), patch: pick(after) }
}
