import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { type Cohort, contentOf as cohortContentOf } from '../../cohorts/cohort.ts'
import { applyPatch, contentOf, type Flag, type FlagContent, newFlagContent } from '../../flags/flag.ts'
import { proposedSchedule, type ScheduledOutcome, scheduledOutcome } from '../../schedules/scheduled-outcome.ts'
import { type ApprovalPolicy, type Impact, matchesPolicy, type ProposedChange, proposedFlagChange } from '../policy.ts'
import type { ChangeRequest, FreeObject, PolicyStatus } from './change-request.ts'
import { type Merge, mergeChange } from './merge-change.ts'
import { policyStatuses } from './policy-statuses.ts'

/** What applying a request now would do. */
export interface Preview extends Merge {
  /** The flag or cohort as it is; undefined when it does not exist (any more). */
  readonly flag: Flag | undefined
  readonly cohort: Cohort | undefined
  /** The flag as it would be; undefined for a cohort. */
  readonly next: FlagContent | undefined
  /** The fields of the patch as they are now. */
  readonly current: FreeObject
}

export async function previewRequest(tx: Stores, project: Project, request: ChangeRequest): Promise<Preview> {
  const { kind, flagId, cohortId, base, patch } = request
  if (kind === 'cohort') {
    const cohort = cohortId === null ? undefined : await tx.cohorts.find(project.id, cohortId)
    const current = cohort ? { ...cohortContentOf(cohort) } : {}
    return {
      flag: undefined,
      cohort,
      next: undefined,
      ...mergeChange(base, patch, current),
      current: pick(current, patch),
    }
  }
  const flag = flagId === null ? undefined : await tx.flags.find(project.id, flagId)
  if (kind === 'schedule') return previewSchedule(request, flag)
  const content = flag ? contentOf(flag) : newFlagContent(String(patch.key ?? ''), request.createdAt)
  const current: FreeObject = flag ? { ...content } : {}
  const merge = mergeChange(base, patch, current)
  return { flag, cohort: undefined, next: applyPatch(content, merge.fields), ...merge, current: pick(current, patch) }
}

/** A scheduled change has nothing to merge: it is applied to the flag of its time. */
function previewSchedule(request: ChangeRequest, flag: Flag | undefined): Preview {
  const none = { cohort: undefined, fields: {}, conflicts: [], current: {} }
  const outcome = flag && outcomeOf(request, flag)
  return { flag: outcome?.stored ?? flag, next: outcome?.flag, ...none }
}

/** Undefined when the change can no longer be applied to the flag. */
function outcomeOf({ patch, createdAt }: ChangeRequest, flag: Flag): ScheduledOutcome | undefined {
  const { payload, pair } = patch as { readonly payload: FreeObject; readonly pair?: unknown }
  try {
    return scheduledOutcome(flag, { payload, isPair: isPaired(pair), at: createdAt })
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const isPaired = (pair: unknown): boolean => pair !== null && pair !== undefined

const pick = (from: FreeObject, fields: FreeObject): FreeObject =>
  Object.fromEntries(Object.keys(fields).flatMap(field => (field in from ? [[field, from[field]]] : [])))

/** The parts of a request that policies are matched against. */
export function proposedChange(request: ChangeRequest, preview: Preview, impact?: Impact): ProposedChange {
  const { isByKey } = request
  const known = impact ?? request.impact ?? undefined
  if (request.kind === 'flag' && preview.next) {
    return proposedFlagChange({ stored: preview.flag, flag: preview.next, isByKey, impact: known })
  }
  if (request.kind === 'schedule' && preview.flag && preview.next) {
    const outcome = {
      stored: preview.flag,
      flag: { ...preview.flag, ...preview.next },
      isPair: isPaired(request.patch.pair),
    }
    return proposedSchedule(outcome, { isByKey, impact: known })
  }
  return {
    actions: new Set([request.actionKey]),
    before: {},
    after: {},
    tags: preview.flag?.tags ?? [],
    isByKey,
    impact: known,
  }
}

/** The enabled policies that a request meets now, and how far its decisions satisfy them. */
export async function requiredPolicies(
  tx: Stores,
  project: Project,
  request: ChangeRequest,
  preview: Preview,
): Promise<readonly PolicyStatus[]> {
  const change = proposedChange(request, preview)
  const policies: readonly ApprovalPolicy[] = await tx.policies.listEnabled(project.id)
  return policyStatuses(
    tx,
    project,
    request,
    policies.filter(policy => matchesPolicy(policy, change)),
  )
}
