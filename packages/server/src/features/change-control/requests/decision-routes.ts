import { routes } from '@halyard/contract'
import type { ChangeRequest } from '../../../domain/change-request.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { applyRequest } from './apply-request.ts'
import {
  cancelRequest,
  claimRequest,
  decideRequest,
  getRequest,
  requireCanEditTarget,
  reviewRequest,
} from './decide-request.ts'
import type { RequestDetails } from './request-details.ts'

interface Deps extends RouteDeps {
  readonly writes: GatedWrites
  readonly details: RequestDetails
}

/** Serves decisions about change requests, and applies those that are approved. */
export function serveDecisions(serve: ServeRoute, { database, writes, details, now }: Deps): void {
  const r = routes.changeRequests
  const { impactOf, outcomeOf } = details

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
}
