import type { Saved } from '../../../domain/approval.ts'
import { scheduledPermit } from '../../../domain/permit.ts'
import type { Instant } from '../../../instant.ts'
import { type Job, type JobContext, LeaseLost } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { planFlagUpdate } from '../../flags/plan-flag.ts'
import { noEvidence } from '../evidence.ts'
import { Gate } from '../gate.ts'
import { openRequest } from '../requests/open-request.ts'
import { announceSchedule } from './announce-schedule.ts'
import { NonRetryableError, patchFor, readOperation } from './operation.ts'
import {
  afterFailure,
  afterFreeze,
  afterMissedRuns,
  afterRun,
  afterSuccess,
  isOvertaken,
  type ScheduledChange,
} from './scheduled-change.ts'

const batchMax = 100
/** Further changes wait for the next run. */
const batchesPerRunMax = 50

/** Applies the changes that are due. */
export const scheduleJob = (onFailure: (change: ScheduledChange, error: unknown) => void): Job => ({
  name: 'scheduled-changes',
  async run(context) {
    for (let batch = 0; batch < batchesPerRunMax; batch++) {
      const due = await context.read(tx => tx.schedules.listDue(context.now, batchMax))
      // Runs that were missed move to the time of the last one before any is applied, so that pairs stay in order.
      if (await skipMissedRuns(context, due)) continue
      for (const change of due) await runOne(context, change, onFailure)
      if (due.length < batchMax) return
    }
  },
})

/** True when a change was moved. */
async function skipMissedRuns(context: JobContext, due: readonly ScheduledChange[]): Promise<boolean> {
  const moved = due.flatMap(change => afterMissedRuns(change, context.now) ?? [])
  for (const change of moved) {
    await context.transaction(async tx => {
      const stored = await tx.schedules.find(change.projectId, change.id)
      // It was rescheduled or cancelled meanwhile.
      if (stored?.version === change.version - 1) await tx.schedules.save(change)
    })
  }
  return moved.length > 0
}

async function runOne(
  context: JobContext,
  change: ScheduledChange,
  onFailure: (change: ScheduledChange, error: unknown) => void,
): Promise<void> {
  try {
    const held = await context.transaction(tx => applyChange(tx, change, context.now))
    if (held !== undefined) onFailure(change, new Error(held))
  } catch (error) {
    // Nothing was written: the change stays due, here or on the node that took over.
    if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
    onFailure(change, error)
    await context.transaction(tx => recordFailure(tx, change, error, context.now))
  }
}

/**
 * Updates the flag and marks the change as done in one transaction, so that it is applied exactly once. Returns why it was not applied, when
 * a freeze or a policy holds it up.
 */
export async function applyChange(
  tx: Stores,
  { projectId, id }: ScheduledChange,
  now: Instant,
): Promise<string | undefined> {
  const change = await tx.schedules.find(projectId, id)
  if (change?.status !== 'pending' || change.dueAt > now) return undefined
  const project = await tx.projects.find(projectId)
  const flag = await tx.flags.find(projectId, change.flagId)
  if (!project || !flag) return undefined
  const partner = await tx.schedules.findPartner(change)
  if (partner && isOvertaken(change, partner, now)) {
    await saveSchedule(tx, project, { ...afterRun(change, now), failureReason: overtaken }, now)
    return undefined
  }
  const operation = readOperation(change.payload)
  const trigger = {
    job_type: 'scheduled_change',
    job_id: String(change.id),
    payload: { ...change.payload, scheduled_at: change.scheduledAt, scheduled_by: change.createdBy.email },
  }
  const patch = patchFor(operation, flag, now)
  const planned = await planFlagUpdate(tx, null, project, { stored: flag, patch, trigger }, now)
  const gate = new Gate(tx, { permit: scheduledPermit(change), evidence: noEvidence(), now })
  const saved = await gate.saveFlag(planned)
  if (saved.kind === 'saved') {
    await tx.schedules.save(afterSuccess(change, operation, now))
    return undefined
  }
  const next = await afterHeldUp(tx, project, change, saved, now)
  await saveSchedule(tx, project, next, now)
  return next.failureReason ?? undefined
}

const overtaken = 'The last run was skipped: the other change of the pair came first.'

async function saveSchedule(tx: Stores, project: Project, change: ScheduledChange, now: Instant): Promise<void> {
  await tx.schedules.save(change)
  await announceSchedule(tx, project, change.flagId, now)
}

/** The change while a freeze, a policy or a lost approval holds it up. */
async function afterHeldUp(
  tx: Stores,
  project: Project,
  change: ScheduledChange,
  held: Exclude<Saved<unknown>, { kind: 'saved' }>,
  now: Instant,
): Promise<ScheduledChange> {
  if (held.kind === 'frozen') return afterFreeze(change, held.frozen.message, held.frozen.until, now)
  if (held.kind !== 'needs_approval') return afterFailure(change, noLongerApproved, { isFinal: false }, now)
  const request = await openRequest(tx, project, held.needed, { reason: 'Scheduled before it needed approval.' }, now)
  const reason = `The change needs approval: change request ${request.id} was opened.`
  return afterFailure(change, reason, { isFinal: true }, now)
}

const noLongerApproved =
  'The approval no longer suffices: a policy or an approver has changed. Schedule the change again.'

const reasonOf = (error: unknown): string =>
  error instanceof Problem ? error.message : 'An internal error occurred; see the server log.'

async function recordFailure(
  tx: Stores,
  { projectId, id, version }: ScheduledChange,
  error: unknown,
  now: Instant,
): Promise<void> {
  const change = await tx.schedules.find(projectId, id)
  // The change was rescheduled in the meantime; the failure belongs to the previous plan.
  if (change?.status !== 'pending' || change.version !== version) return
  const project = await tx.projects.find(projectId)
  if (!project) return
  const isFinal = error instanceof NonRetryableError
  await saveSchedule(tx, project, afterFailure(change, reasonOf(error), { isFinal }, now), now)
}
