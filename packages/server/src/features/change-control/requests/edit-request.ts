import { type ChangeRequest, contentHashOf, moved, type RequestedContent } from '../../../domain/change-request.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Project } from '../../../tenancy.ts'
import { getRequest, notInState, stateAfterApproval } from './decide-request.ts'
import { mergeChange } from './merge-change.ts'
import { previewRequest } from './preview-request.ts'
import { recordRequest } from './record-request.ts'

/** Rebases the request onto the current flag. That is new content, so all decisions are void. */
export async function rebaseRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  { requestId, resolve }: { readonly requestId: number; readonly resolve: 'mine' | 'theirs' | undefined },
  now: Instant,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (!['pending', 'approved', 'conflicted'].includes(request.state)) throw notInState(request, 'rebased')
  const preview = await previewRequest(tx, project, request)
  const target = preview.flag ?? preview.cohort
  if (!target || request.kind === 'schedule') throw invalid(null, 'invalid_input', 'There is nothing to rebase onto.')
  if (preview.conflicts.length > 0 && resolve === undefined) {
    throw new Problem('conflict', `Both sides changed ${preview.conflicts.join(', ')}. Send resolve: mine or theirs.`)
  }
  const patch =
    resolve === 'theirs' ? mergeChange(request.base, request.patch, preview.current, 'theirs').fields : preview.fields
  const next = await edited(tx, project, request, { base: preview.current, patch, baseVersion: target.version }, now)
  await recordRequest(tx, actor, project, next, 'change_rebased', { resolve: resolve ?? null }, now)
  return next
}

/** Changes when the request is applied; null for at once. That is new content, so all decisions are void. */
export async function rescheduleRequest(
  tx: Stores,
  actor: Actor,
  project: Project,
  { requestId, applyAt, reason }: Rescheduling,
  now: Instant,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (request.state !== 'pending' && request.state !== 'approved') throw notInState(request, 'rescheduled')
  if (request.kind === 'schedule') {
    throw invalid(
      'apply_at',
      'invalid_input',
      'The request contains a schedule. Cancel it and schedule the change again.',
    )
  }
  if (applyAt === request.applyAt) return request
  const next = await edited(tx, project, request, { applyAt }, now)
  const detail = { apply_at: applyAt, ...(reason !== '' && { reason }) }
  await recordRequest(tx, actor, project, next, 'change_rescheduled', detail, now)
  return next
}

interface Rescheduling {
  readonly requestId: number
  readonly applyAt: Instant | null
  readonly reason: string
}

/** Saves other content, which no one has approved yet: it waits for approval if a policy asks for it. */
async function edited(
  tx: Stores,
  project: Project,
  request: ChangeRequest,
  changes: Partial<RequestedContent>,
  now: Instant,
): Promise<ChangeRequest> {
  const content = { ...request, ...changes }
  const pending = {
    ...content,
    contentHash: contentHashOf(content),
    state: 'pending',
    failure: null,
    impact: null,
  } as const
  const next = moved(pending, { state: await stateAfterApproval(tx, project, pending) }, now)
  await tx.changeRequests.save(next)
  return next
}
