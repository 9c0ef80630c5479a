import type { ChangeRequest, FreeObject, PolicyStatus } from '../../../domain/change-request.ts'
import { type Cohort, contentOf as cohortContentOf } from '../../../domain/cohort.ts'
import { applyPatch, contentOf, type Flag, type FlagContent, newFlagContent } from '../../../domain/flag.ts'
import { type Impact, matchesPolicy, type ProposedChange } from '../../../domain/policy.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { proposedFlagChange } from '../flag-change.ts'
import { type FlagDependents, gainingDependents } from '../gaining-dependents.ts'
import { proposedSchedule, type ScheduledOutcome, scheduledOutcome } from '../schedules/scheduled-outcome.ts'
import { readWriteRules } from '../write-rules.ts'
import { type Merge, mergeChange } from './merge-change.ts'
import { policyStatusesOfAll } from './policy-statuses.ts'

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

export const previewRequest = async (tx: Stores, project: Project, request: ChangeRequest): Promise<Preview> =>
  (await previewRequests(tx, project, [request]))[0]!

/** In the same order, with a query for the flags of all of them. */
async function previewRequests(
  tx: Stores,
  project: Project,
  requests: readonly ChangeRequest[],
): Promise<readonly Preview[]> {
  const flagIds = [...new Set(requests.flatMap(({ flagId }) => flagId ?? []))]
  const flags = new Map((await tx.flags.findAll(project.id, flagIds)).map(flag => [flag.id, flag]))
  const previews: Preview[] = []
  for (const request of requests) {
    const { cohortId, flagId } = request
    const cohort = cohortId === null ? undefined : await tx.cohorts.find(project.id, cohortId)
    previews.push(previewOf(request, flagId === null ? undefined : flags.get(flagId), cohort))
  }
  return previews
}

function previewOf(request: ChangeRequest, flag: Flag | undefined, cohort: Cohort | undefined): Preview {
  const { kind, base, patch } = request
  if (kind === 'cohort') {
    const current = cohort ? { ...cohortContentOf(cohort) } : {}
    return {
      flag: undefined,
      cohort,
      next: undefined,
      ...mergeChange(base, patch, current),
      current: pick(current, patch),
    }
  }
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
function proposedChange(request: ChangeRequest, preview: Preview, others: FlagDependents): ProposedChange {
  const { isByKey } = request
  const impact: Impact | undefined = request.impact ?? undefined
  const { flag: stored, next } = preview
  if (request.kind === 'flag' && next) {
    const dependents = gainingDependents(others, { stored, flag: next })
    return proposedFlagChange({ stored, flag: next, isByKey, impact, dependents })
  }
  if (request.kind === 'schedule' && stored && next) {
    const outcome = { stored, flag: { ...stored, ...next }, isPair: isPaired(request.patch.pair) }
    return proposedSchedule(outcome, { isByKey, impact, dependents: gainingDependents(others, outcome) })
  }
  return {
    actions: new Set([request.actionKey]),
    before: {},
    after: {},
    releases: [],
    tags: stored?.tags ?? [],
    isByKey,
    impact,
    dependents: [],
  }
}

/** The enabled policies that a request meets now, and how far its decisions satisfy them. */
export const requiredPolicies = async (
  tx: Stores,
  project: Project,
  request: ChangeRequest,
): Promise<readonly PolicyStatus[]> => (await requiredPoliciesOfAll(tx, project, [request]))[0]!

/** In the same order. */
export async function requiredPoliciesOfAll(
  tx: Stores,
  project: Project,
  requests: readonly ChangeRequest[],
): Promise<readonly (readonly PolicyStatus[])[]> {
  const { policies, dependents } = await readWriteRules(tx, project)
  const previews = await previewRequests(tx, project, requests)
  const matched = requests.map((request, index) => {
    const change = proposedChange(request, previews[index]!, dependents)
    return { request, policies: policies.filter(policy => matchesPolicy(policy, change)) }
  })
  return policyStatusesOfAll(tx, project, matched)
}
