import type { ChangeRequestDetail } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
import type { CommonControl } from '../../../domain/account-tie.ts'
import { diffFields } from '../../../domain/activity.ts'
import { type ChangeRequest, canDecide, isOpen, type PolicyStatus } from '../../../domain/change-request.ts'
import { contentOf, type FlagContent } from '../../../domain/flag.ts'
import type { Impact } from '../../../domain/policy.ts'
import type { Instant } from '../../../instant.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { contentToWire as cohortToWire } from '../../cohorts/cohort-resource.ts'
import type { FlagSave } from '../../flags/flag-guard.ts'
import { contentToWire } from '../../flags/flag-resource.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { frozenBy, frozenFlag } from '../frozen-by.ts'
import { gainingDependents } from '../gaining-dependents.ts'
import { readWriteRules } from '../write-rules.ts'
import { fieldsToWire, requestToWire } from './change-request-resource.ts'
import { canCancel, hasLeft } from './decide-request.ts'
import { type Preview, previewRequest, requiredPolicies } from './preview-request.ts'

interface Deps {
  readonly database: Database
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
  readonly now: () => Instant
}

/** What an approver sees of a request: what applying it now would change, for how many, and what is missing. */
export type RequestDetails = ReturnType<typeof createRequestDetails>

export function createRequestDetails({ database, measure, now }: Deps) {
  /** How many people applying it now would affect. */
  async function impactOf(project: Project, request: ChangeRequest): Promise<Impact | undefined> {
    if (request.kind !== 'flag' || !isOpen(request)) return undefined
    const { flag: stored, next } = await database.read(tx => previewRequest(tx, project, request))
    if (!next) return undefined
    return measure({ projectId: project.id, stored, flag: { ...stored, ...next } as FlagSave['flag'] })
  }

  async function detailOf(actor: Actor, project: Project, request: ChangeRequest): Promise<ChangeRequestDetail> {
    const impact = await impactOf(project, request)
    return database.read(async tx => {
      const preview = await previewRequest(tx, project, request)
      const statuses = await requiredPolicies(tx, project, request)
      const decisions = await tx.changeRequests.listDecisions([request.id])
      const { flag } = preview
      const decidable = statuses.filter(
        status => canDecide(request, status, actor.user.id) && (actor.key.isSession || status.policy.allowKeys),
      )
      const canApprove = request.state === 'pending' && decidable.length > 0
      const others = flag ? await tx.flags.listDependents(project.id) : []
      const schedules = flag
        ? await tx.schedules.list(project.id, { flagId: flag.id, status: 'pending' }, { limit: 100, offset: 0 })
        : undefined
      return {
        ...requestToWire(request, decisions, actor.user),
        can_approve: canApprove,
        completes_approval: canApprove && statuses.every(status => isSatisfiedWith(status, actor.user.id, decidable)),
        can_cancel: isOpen(request) && canCancel(actor, project, request),
        can_claim: isOpen(request) && (await hasLeft(tx, project, request)),
        frozen_until: (isOpen(request) && (await frozenRequest(tx, project, request, preview, now()))) || null,
        policies: statuses.map(({ policy, approvedBy, isSatisfied }) => ({
          id: policy.id,
          action_key: policy.actionKey,
          quorum: policy.quorum,
          approved: approvedBy.length,
          is_satisfied: isSatisfied,
        })),
        uncounted_approvers: await uncountedApprovers(tx, statuses),
        changes: isOpen(request) ? changesOf(preview) : [],
        conflicts: isOpen(request) ? [...preview.conflicts] : [],
        current: fieldsToWire(preview.current),
        impact_now: impact ?? null,
        dependents: others
          .filter(other => flag && other.id !== flag.id && usesFlags(other.filters).includes(flag.id))
          .map(({ id, key }) => ({ id, key })),
        scheduled_changes: schedules?.items.map(({ id }) => id) ?? [],
      }
    })
  }

  async function outcomeOf(actor: Actor, project: Project, request: ChangeRequest) {
    return {
      status: request.state,
      message: messages[request.state],
      change_request: await detailOf(actor, project, request),
    }
  }

  return { impactOf, detailOf, outcomeOf }
}

/** Whether a policy needs no one else once the user has approved. */
const isSatisfiedWith = (status: PolicyStatus, userId: number, decidable: readonly PolicyStatus[]): boolean => {
  const isMore = decidable.includes(status) && !status.approvedBy.includes(userId)
  return status.approvedBy.length + Number(isMore) >= status.policy.quorum
}

async function uncountedApprovers(tx: Stores, statuses: readonly PolicyStatus[]) {
  const uncounted = new Map<number, CommonControl>(statuses.flatMap(status => [...status.uncounted]))
  const shown = [...uncounted].slice(0, uncountedMax)
  const accounts = await Promise.all(shown.map(([id]) => tx.identity.findAccount(id)))
  return shown.flatMap(([, { reason, isIndirect }], index) => {
    const account = accounts[index]
    return account ? [{ ...userToWire(account), reason, is_indirect: isIndirect }] : []
  })
}

const uncountedMax = 50

const messages: Readonly<Record<ChangeRequest['state'], string>> = {
  pending: 'The request waits for approval.',
  approved: 'The request is approved and waits to be applied.',
  applied: 'The change was applied.',
  rejected: 'The request was rejected.',
  cancelled: 'The request was cancelled.',
  expired: 'The request has expired.',
  failed: 'The change could not be applied.',
  conflicted: 'Another change touched the same fields. Rebase the request.',
}

/** Until when a freeze holds up what would be applied now. */
async function frozenRequest(
  tx: Stores,
  project: Project,
  { kind, requester }: ChangeRequest,
  { flag: stored, next }: Preview,
  now: Instant,
): Promise<Instant | undefined> {
  // A freeze holds up the runs of a schedule, not its plan.
  if (kind === 'schedule') return undefined
  const requesterId = async () => requester.id
  if (!next) return (await frozenBy(tx, { project, tags: stored?.tags ?? [] }, requesterId, now))?.until
  const { dependents } = await readWriteRules(tx, project)
  const gaining = gainingDependents(dependents, { stored, flag: next })
  return (await frozenFlag(tx, project, { stored, flag: next, gaining }, requesterId, now))?.until
}

/** Field by field, in the names of the API. */
function changesOf({ flag, cohort, next, fields }: Preview) {
  const type = cohort ? 'Cohort' : 'FeatureFlag'
  const changes = cohort
    ? diffFields(cohortToWire(cohort), { ...cohortToWire(cohort), ...fieldsToWire(fields) })
    : next
      ? diffFields(flag ? contentToWire(contentOf(flag)) : {}, contentToWire(next as FlagContent))
      : []
  return changes.map(({ before, ...change }) => ({
    type,
    ...change,
    ...(before === undefined ? { action: 'created' as const, before: null } : { before }),
  }))
}
