import type { Author } from '../../../domain/activity.ts'
import type { Saved } from '../../../domain/approval.ts'
import { type ChangeRequest, hashWithImpact, moved } from '../../../domain/change-request.ts'
import type { Flag, FlagPatch } from '../../../domain/flag.ts'
import type { Instant } from '../../../instant.ts'
import { invalid, Problem } from '../../../problem.ts'
import type { Database, Stores } from '../../../stores.ts'
import type { Actor, Project, User } from '../../../tenancy.ts'
import { type NamedPeople, noPeople } from '../../cohorts/members/members.ts'
import { planCohortRemoval, planCohortUpdate } from '../../cohorts/plan-cohort.ts'
import { type PlannedFlag, planFlagCreation, planFlagUpdate } from '../../flags/plan-flag.ts'
import type { Gate } from '../gate.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { planApproved } from '../schedules/plan-schedule.ts'
import { getRequest, notInState } from './decide-request.ts'
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
  const approved = { changeRequest: request.id, contentHash: request.contentHash, now }
  try {
    return await writes.apply(transaction, approved, gate => applyApproved(gate, applying, request.id), {
      withPersons: request.cohortId !== null,
    })
  } catch (error) {
    const isLasting = error instanceof Problem && (error.kind === 'invalid' || error.kind === 'missing')
    if (!isLasting) throw error
    return transaction(async tx => {
      const stored = await getRequest(tx, project, request.id)
      // It was edited, or applied by another node, meanwhile: the failure concerns the earlier content.
      if (stored.version !== request.version) return stored
      return setBack(tx, applying, stored, { state: 'failed', failure: error.message })
    })
  }
}

async function setBack(
  tx: Stores,
  { project, appliedBy, now }: Applying,
  request: ChangeRequest,
  setback: Setback,
): Promise<ChangeRequest> {
  const next = moved(request, setback, now)
  await tx.changeRequests.save(next)
  const activity = setback.dueAt ? 'change_frozen' : `change_${setback.state}`
  await recordRequest(tx, appliedBy, project, next, activity, { reason: setback.failure }, now)
  return next
}

function setbackOf(
  held: Exclude<Saved<unknown>, { kind: 'saved' | 'undecided' }>,
  { contentHash }: ChangeRequest,
): Setback {
  if (held.kind === 'frozen') return { state: 'approved', failure: held.frozen.message, dueAt: held.frozen.until }
  if (held.kind !== 'grown') return { state: 'pending', failure: noLongerApproved }
  const { before, impact } = held
  const failure = `The people affected have grown from ${before} to ${impact.affected} since it was approved. Approve it again.`
  return { state: 'pending', failure, impact, contentHash: hashWithImpact(contentHash, impact) }
}

const noLongerApproved = 'The approval no longer suffices: a policy or an approver has changed.'

type Setback = Pick<ChangeRequest, 'state' | 'failure'> &
  Partial<Pick<ChangeRequest, 'dueAt' | 'impact' | 'contentHash'>>

const pathsNamedMax = 5
const conflictText = (paths: readonly string[]): string =>
  `Another change touched the same: ${paths.slice(0, pathsNamedMax).join(', ')}. Rebase the request.`

/** Undefined while it is undecided. */
async function applyApproved(gate: Gate, applying: Applying, requestId: number): Promise<ChangeRequest | undefined> {
  const { tx } = gate
  const { project, appliedBy, now } = applying
  const request = await getRequest(tx, project, requestId)
  if (request.state !== 'approved') throw notInState(request, 'applied')
  const preview = await previewRequest(tx, project, request)
  if (preview.conflicts.length > 0) {
    return setBack(tx, applying, request, { state: 'conflicted', failure: conflictText(preview.conflicts) })
  }
  const saved = await saveContent(gate, project, request, preview, now)
  if (saved.kind === 'undecided') return undefined
  if (saved.kind !== 'saved') return setBack(tx, applying, request, setbackOf(saved, request))
  const next = moved(
    request,
    {
      state: 'applied',
      flagId: saved.value.flagId,
      appliedAt: now,
      appliedVersion: saved.value.version,
      appliedBy: appliedBy?.user ?? null,
      failure: null,
    },
    now,
  )
  await tx.changeRequests.save(next)
  await recordRequest(tx, appliedBy, project, next, 'change_applied', {}, now)
  return next
}

interface Applied {
  readonly flagId: number | null
  readonly version: number
}

/** On behalf of the requester. */
async function saveContent(
  gate: Gate,
  project: Project,
  request: ChangeRequest,
  { flag, cohort, fields }: Preview,
  now: Instant,
): Promise<Saved<Applied>> {
  const { tx } = gate
  const author = authorFor(request.requester, request.keyLabel)
  if (request.kind === 'cohort') {
    if (!cohort || (cohort.deleted && fields.deleted !== false)) {
      throw invalid(null, 'does_not_exist', 'The cohort was deleted.')
    }
    const { added = noPeople, removed, ...patch } = fields as { added?: NamedPeople; removed?: NamedPeople }
    const planned = removed
      ? await planCohortRemoval(tx, author, project, { cohortId: cohort.id, people: removed }, now)
      : await planCohortUpdate(tx, author, project, { cohortId: cohort.id, patch, people: added }, now)
    return mapSaved(await gate.saveCohort(planned), change => ({ flagId: null, version: change.cohort.version }))
  }
  if (request.kind === 'schedule') {
    if (!flag || flag.deleted) throw invalid(null, 'does_not_exist', 'The flag was deleted.')
    const planned = await planApproved(tx, author, project, { flagId: flag.id, content: request.patch }, now)
    return mapSaved(await gate.saveSchedule(planned), () => ({ flagId: flag.id, version: flag.version }))
  }
  const planned = await planFlag(tx, author, project, { request, flag, patch: fields as FlagPatch }, now)
  return mapSaved(await gate.saveFlag(planned), ({ id, version }) => ({ flagId: id, version }))
}

function planFlag(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  {
    request,
    flag,
    patch,
  }: { readonly request: ChangeRequest; readonly flag: Flag | undefined; readonly patch: FlagPatch },
  now: Instant,
): Promise<PlannedFlag> {
  const trigger = { change_request: request.id }
  if (request.flagId === null) {
    return planFlagCreation(tx, author, project, { patch: { ...patch, key: String(patch.key) }, trigger }, now)
  }
  if (!flag || (flag.deleted && patch.deleted !== false)) {
    throw invalid(null, 'does_not_exist', 'The flag was deleted.')
  }
  return planFlagUpdate(tx, author, project, { stored: flag, patch, trigger }, now)
}

const mapSaved = <V, R>(saved: Saved<V>, map: (value: V) => R): Saved<R> =>
  saved.kind === 'saved' ? { kind: 'saved', value: map(saved.value) } : saved

const authorFor = (user: User, keyLabel: string | null) => ({ user, key: { label: keyLabel ?? '' } })
