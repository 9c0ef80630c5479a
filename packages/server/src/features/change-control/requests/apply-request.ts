import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Actor, Project, User } from '../../../tenancy.ts'
import { type NamedPeople, noPeople } from '../../cohorts/members/members.ts'
import { removeFromCohort, updateCohort } from '../../cohorts/update-cohort.ts'
import { createFlag } from '../../flags/create-flag.ts'
import type { FlagPatch } from '../../flags/flag.ts'
import { updateFlag } from '../../flags/update-flag.ts'
import { ApprovalWithdrawn } from '../authorize-write.ts'
import { Frozen } from '../freezes/freeze.ts'
import type { GatedWrites } from '../gated-writes.ts'
import type { Permit } from '../permit.ts'
import { planApproved } from '../schedules/plan-change.ts'
import { type ChangeRequest, hashWithImpact, moved } from './change-request.ts'
import { getRequest, notInState } from './decide-request.ts'
import { ImpactGrown } from './impact-growth.ts'
import { type Preview, previewRequest } from './preview-request.ts'
import { recordRequest } from './record-request.ts'

interface Applying {
  readonly writes: GatedWrites
  readonly transaction: Database['transaction']
  readonly project: Project
  /** Null when the job applies it. */
  readonly appliedBy: Actor | null
  readonly now: Instant
}

/**
 * Applies an approved request exactly once: the flag and the state of the request are saved in one transaction. A request that cannot be
 * applied becomes `conflicted`, `failed` or, when its approval no longer suffices, `pending`.
 */
export async function applyRequest(applying: Applying, request: ChangeRequest): Promise<ChangeRequest> {
  const { writes, transaction, project, now } = applying
  if (request.state !== 'approved') throw notInState(request, 'applied')
  if (request.applyAt !== null && request.applyAt > now) {
    throw new Problem('conflict', `The change request is applied at ${request.applyAt}.`)
  }
  const approved = { changeRequest: request.id, contentHash: request.contentHash }
  try {
    return await writes.apply(transaction, approved, (tx, permit) => applyApproved(tx, applying, request.id, permit))
  } catch (error) {
    const setback = setbackOf(error, request)
    if (!setback) throw error
    return transaction(async tx => {
      const stored = await getRequest(tx, project, request.id)
      // It was edited, or applied by another node, meanwhile: the failure concerns the earlier content.
      if (stored.version !== request.version) return stored
      const next = moved(stored, setback, now)
      await tx.changeRequests.save(next)
      await recordRequest(
        tx,
        applying.appliedBy,
        project,
        next,
        setback.dueAt ? 'change_frozen' : `change_${setback.state}`,
        { reason: setback.failure },
        now,
      )
      return next
    })
  }
}

function setbackOf(error: unknown, request: ChangeRequest): Setback | undefined {
  if (error instanceof Frozen) return { state: 'approved', failure: error.message, dueAt: error.until }
  if (error instanceof ApprovalWithdrawn) {
    return { state: 'pending', failure: 'The approval no longer suffices: a policy or an approver has changed.' }
  }
  if (error instanceof ImpactGrown) {
    const contentHash = hashWithImpact(request.contentHash, error.impact)
    return { state: 'pending', failure: error.message, impact: error.impact, contentHash }
  }
  if (error instanceof MergeConflict) return { state: 'conflicted', failure: error.message }
  if (error instanceof Problem && (error.kind === 'invalid' || error.kind === 'missing')) {
    return { state: 'failed', failure: error.message }
  }
  return undefined
}

type Setback = Pick<ChangeRequest, 'state' | 'failure'> &
  Partial<Pick<ChangeRequest, 'dueAt' | 'impact' | 'contentHash'>>

class MergeConflict extends Error {
  constructor(paths: readonly string[]) {
    super(`Another change touched the same: ${paths.slice(0, pathsNamedMax).join(', ')}. Rebase the request.`)
    this.name = 'MergeConflict'
  }
}
const pathsNamedMax = 5

async function applyApproved(
  tx: Stores,
  { project, appliedBy, now }: Applying,
  requestId: number,
  permit: Permit,
): Promise<ChangeRequest> {
  const request = await getRequest(tx, project, requestId)
  if (request.state !== 'approved') throw notInState(request, 'applied')
  const preview = await previewRequest(tx, project, request)
  if (preview.conflicts.length > 0) throw new MergeConflict(preview.conflicts)
  const applied = await writeContent(tx, project, request, preview, now, permit)
  const next = moved(
    request,
    {
      state: 'applied',
      flagId: applied.flagId,
      appliedAt: now,
      appliedVersion: applied.version,
      appliedBy: appliedBy?.user ?? null,
      failure: null,
    },
    now,
  )
  await tx.changeRequests.save(next)
  await recordRequest(tx, appliedBy, project, next, 'change_applied', {}, now)
  return next
}

/** On behalf of the requester. */
async function writeContent(
  tx: Stores,
  project: Project,
  request: ChangeRequest,
  { flag, cohort, fields }: Preview,
  now: Instant,
  permit: Permit,
): Promise<{ readonly flagId: number | null; readonly version: number }> {
  const author = authorFor(request.requester, request.keyLabel)
  if (request.kind === 'cohort') {
    if (!cohort) throw invalid(null, 'does_not_exist', 'The cohort was deleted.')
    const { added, removed, ...patch } = fields as { added?: NamedPeople; removed?: NamedPeople }
    if (removed) {
      const change = await removeFromCohort(tx, author, project, cohort.id, removed, now, permit)
      return { flagId: null, version: change.cohort.version }
    }
    const update = { cohortId: cohort.id, patch, people: added ?? noPeople }
    const change = await updateCohort(tx, author, project, update, now, permit)
    return { flagId: null, version: change.cohort.version }
  }
  if (request.kind === 'schedule') {
    if (!flag || flag.deleted) throw invalid(null, 'does_not_exist', 'The flag was deleted.')
    const plan = { flagId: flag.id, content: request.patch }
    await planApproved(tx, author, project, plan, now, permit)
    return { flagId: flag.id, version: flag.version }
  }
  const patch = fields as FlagPatch
  if (request.flagId === null) {
    const created = await createFlag(
      tx,
      author,
      project,
      { patch: { ...patch, key: String(patch.key) }, trigger: { change_request: request.id } },
      now,
      permit,
    )
    return { flagId: created.id, version: created.version }
  }
  if (!flag || (flag.deleted && patch.deleted !== false)) {
    throw invalid(null, 'does_not_exist', 'The flag was deleted.')
  }
  const update = { stored: flag, patch, trigger: { change_request: request.id } }
  return { flagId: flag.id, version: (await updateFlag(tx, author, project, update, now, permit)).version }
}

const authorFor = (user: User, keyLabel: string | null) => ({ user, key: { label: keyLabel ?? '' } })
