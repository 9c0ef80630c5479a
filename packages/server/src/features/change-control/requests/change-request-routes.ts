import { type ChangeRequestDetail, FlagWrite, routes } from '@halyard/contract'
import { usesFlags } from '@halyard/engine'
import { diffFields } from '../../../domain/activity.ts'
import {
  type ChangeRequest,
  canDecide,
  isOpen,
  type PolicyStatus,
  type RequestFilter,
  requestStates,
} from '../../../domain/change-request.ts'
import { contentOf, type FlagContent } from '../../../domain/flag.ts'
import type { Impact } from '../../../domain/policy.ts'
import { bodyChecker } from '../../../http/routes/check-body.ts'
import { pageBody, readWindow } from '../../../http/routes/page-links.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { type Instant, parseInstant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { requireCanEdit, requireNoViewer } from '../../access/grants.ts'
import { contentToWire as cohortToWire } from '../../cohorts/cohort-resource.ts'
import type { FlagSave } from '../../flags/flag-guard.ts'
import { contentToWire } from '../../flags/flag-resource.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { frozenBy, frozenFlag } from '../frozen-by.ts'
import { gainingDependents } from '../gaining-dependents.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { readWriteRules } from '../write-rules.ts'
import { applyRequest } from './apply-request.ts'
import { fieldsToWire, requestToWire } from './change-request-resource.ts'
import {
  canCancel,
  cancelRequest,
  claimRequest,
  decideRequest,
  getRequest,
  hasLeft,
  reviewRequest,
} from './decide-request.ts'
import { rebaseRequest, rescheduleRequest } from './edit-request.ts'
import { type Preview, previewRequest, requiredPolicies, requiredPoliciesOfAll } from './preview-request.ts'
import { proposeRequest } from './propose-request.ts'

interface Deps {
  readonly database: Database
  readonly writes: GatedWrites
  readonly measure: (save: FlagSave) => Promise<Impact | undefined>
  readonly now: () => Instant
}

const checkFields = bodyChecker(FlagWrite)

/** Serves change requests at PostHog's paths. */
export function serveChangeRequests(serve: ServeRoute, { database, writes, measure, now }: Deps): void {
  const r = routes.changeRequests

  serve(r.list, ({ actor, project, query, url }) =>
    database.read(async tx => {
      const window = readWindow(query)
      const filter = readFilter(query, actor)
      const page =
        query.mine === '1'
          ? await waitingFor(tx, actor, project, filter, window)
          : await tx.changeRequests.list(project.id, filter, window)
      const decisions = await tx.changeRequests.listDecisions(page.items.map(({ id }) => id))
      return pageBody(page, window, url, request => requestToWire(request, decisions, actor.user))
    }),
  )

  serve(r.get, async ({ actor, project, params }) => {
    const request = await database.read(tx => getRequest(tx, project, Number(params.request_id)))
    return detailOf(actor, project, request)
  })

  serve(r.create, async request => {
    const { actor, project, body } = request
    checkFields(body.patch)
    const proposal = { ...body, patch: body.patch as FlagWrite, applyAt: readApplyAt(body.apply_at, now()) }
    const proposed = await writes.withEvidence(async (tx, evidence) => {
      const flag = body.flag_id === undefined ? undefined : await tx.flags.find(project.id, body.flag_id)
      if (body.flag_id !== undefined && !flag) {
        throw invalid('flag_id', 'does_not_exist', `This project has no flag with id ${body.flag_id}.`)
      }
      if (flag) await requireCanEdit(tx, actor, project, flag)
      else await requireNoViewer(tx, actor, project)
      return proposeRequest(tx, actor, project, flag, proposal, now(), evidence)
    })
    const status = body.dry_run ? 200 : 201
    return answer({ status, body: requestToWire(proposed!, [], actor.user) })
  })

  serve(r.approve, async request => {
    const { actor, project, params } = request
    const stored = await database.read(tx => getRequest(tx, project, Number(params.request_id)))
    const { reason = '', content_hash: contentHash } = request.body
    // The content that the approver has seen is measured: an edit meanwhile creates different content.
    const impact = (await impactOf(project, stored)) ?? null
    const decision = { requestId: stored.id, decision: 'approved', reason, contentHash, impact } as const
    const decided = await database.transaction(tx => decideRequest(tx, actor, project, decision, now()))
    const isDue = decided.state === 'approved' && (decided.applyAt === null || decided.applyAt <= now())
    return outcomeOf(actor, project, isDue ? await applyApproved(actor, project, decided) : decided)
  })

  serve(r.reject, async request => {
    const { actor, project, params } = request
    const requestId = (await database.read(tx => getRequest(tx, project, Number(params.request_id)))).id
    const reason = request.body.reason?.trim() ?? ''
    if (reason === '') throw invalid('reason', 'required', 'reason is required to reject a change request.')
    const decision = { requestId, decision: 'rejected', reason, contentHash: undefined, impact: null } as const
    return outcomeOf(
      actor,
      project,
      await database.transaction(tx => decideRequest(tx, actor, project, decision, now())),
    )
  })

  serve(r.cancel, async request => {
    const { actor, project, params } = request
    const cancel = { requestId: Number(params.request_id), reason: request.body.reason ?? '' }
    return outcomeOf(actor, project, await database.transaction(tx => cancelRequest(tx, actor, project, cancel, now())))
  })

  serve(r.claim, async request => {
    const { actor, project, params } = request
    const claim = { requestId: Number(params.request_id), reason: request.body.reason ?? '' }
    const claimed = await database.transaction(async tx => {
      await requireCanEditTarget(tx, actor, project, await getRequest(tx, project, claim.requestId))
      return claimRequest(tx, actor, project, claim, now())
    })
    return outcomeOf(actor, project, claimed)
  })

  serve(r.apply, async ({ actor, project, params }) => {
    const request = await database.read(async tx => {
      const stored = await getRequest(tx, project, Number(params.request_id))
      await requireCanEditTarget(tx, actor, project, stored)
      return stored
    })
    return outcomeOf(actor, project, await apply(actor, project, request))
  })

  serve(r.rebase, async request => {
    const { actor, project, params } = request
    const rebased = await database.transaction(async tx => {
      const stored = await getRequest(tx, project, Number(params.request_id))
      await requireCanEditTarget(tx, actor, project, stored)
      return rebaseRequest(tx, actor, project, { requestId: stored.id, resolve: request.body.resolve }, now())
    })
    return outcomeOf(actor, project, rebased)
  })

  serve(r.reschedule, async request => {
    const { actor, project, params, body } = request
    if (body.apply_at === undefined) {
      throw invalid('apply_at', 'required', 'apply_at is required: a date-time, or null for at once.')
    }
    const applyAt = body.apply_at === null ? null : readApplyAt(body.apply_at, now())
    const change = { requestId: Number(params.request_id), applyAt, reason: body.reason ?? '' }
    const rescheduled = await database.transaction(async tx => {
      await requireCanEditTarget(tx, actor, project, await getRequest(tx, project, change.requestId))
      return rescheduleRequest(tx, actor, project, change, now())
    })
    return outcomeOf(actor, project, rescheduled)
  })

  serve(r.review, async request => {
    const { actor, project, params } = request
    const review = { requestId: Number(params.request_id), note: request.body.note?.trim() ?? '' }
    return outcomeOf(actor, project, await database.transaction(tx => reviewRequest(tx, actor, project, review, now())))
  })

  const apply = (actor: Actor, project: Project, request: ChangeRequest) =>
    applyRequest({ writes, transaction: database.transaction, project, appliedBy: actor, now: now() }, request)

  /** The approval is stored. Another node may apply the request at the same moment, and the job tries again. */
  const applyApproved = (actor: Actor, project: Project, request: ChangeRequest) =>
    apply(actor, project, request).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.kind !== 'conflict') throw error
      return database.read(tx => getRequest(tx, project, request.id))
    })

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
      const others = flag ? await tx.flags.listDependents(project.id) : []
      const schedules = flag
        ? await tx.schedules.list(project.id, { flagId: flag.id, status: 'pending' }, { limit: 100, offset: 0 })
        : undefined
      return {
        ...requestToWire(request, decisions, actor.user),
        can_approve:
          request.state === 'pending' &&
          statuses.some(
            status => canDecide(request, status, actor.user.id) && (actor.key.isSession || status.policy.allowKeys),
          ),
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
}

async function uncountedApprovers(tx: Stores, statuses: readonly PolicyStatus[]) {
  const ids = new Set(statuses.flatMap(({ uncounted }) => [...uncounted]))
  const accounts = await Promise.all([...ids].slice(0, uncountedMax).map(id => tx.identity.findAccount(id)))
  return accounts.flatMap(account => (account ? [userToWire(account)] : []))
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

async function requireCanEditTarget(tx: Stores, actor: Actor, project: Project, request: ChangeRequest): Promise<void> {
  const flag = request.flagId === null ? undefined : await tx.flags.find(project.id, request.flagId)
  if (flag) await requireCanEdit(tx, actor, project, flag)
  else await requireNoViewer(tx, actor, project)
}

const waitingMax = 1000

/** Pending requests that the caller can decide about. Who can depends on policies and roles, so they are filtered here. */
async function waitingFor(
  tx: Stores,
  actor: Actor,
  project: Project,
  filter: RequestFilter,
  window: { readonly limit: number; readonly offset: number },
) {
  const wanted = { ...filter, states: ['pending'] as const, undecidedBy: actor.user.id }
  const { items } = await tx.changeRequests.list(project.id, wanted, { limit: waitingMax, offset: 0 })
  const statuses = await requiredPoliciesOfAll(tx, project, items)
  const waiting = items.filter((request, index) =>
    statuses[index]!.some(status => canDecide(request, status, actor.user.id)),
  )
  return { count: waiting.length, items: waiting.slice(window.offset, window.offset + window.limit) }
}

interface Query {
  readonly state?: string
  readonly action_key?: string
  readonly resource_type?: string
  readonly resource_id?: string
  readonly requester?: string
  readonly review?: string
}

/** Lenient, like PostHog, except that an unknown state or id finds nothing. */
function readFilter(query: Query, actor: Actor): RequestFilter {
  const states = query.state?.split(',').flatMap(state => requestStates.find(known => known === state) ?? [])
  const id = readId(query.resource_id)
  return {
    ...(states && { states: states.length > 0 ? states : (['none'] as never) }),
    ...(query.action_key && { actionKey: query.action_key }),
    ...(query.requester && { requesterId: query.requester === '@me' ? actor.user.id : readId(query.requester) }),
    ...(query.resource_id !== undefined && (query.resource_type === 'cohort' ? { cohortId: id } : { flagId: id })),
    ...(query.review === 'open' && { isReviewOpen: true }),
  }
}

const noId = -1
const readId = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : noId)

function readApplyAt(text: string | undefined, now: Instant): Instant | null {
  if (text === undefined) return null
  const instant = parseInstant(text)
  if (instant === undefined || instant <= now) {
    throw invalid('apply_at', 'invalid_input', 'apply_at must be an ISO 8601 date-time in the future.')
  }
  return instant
}
