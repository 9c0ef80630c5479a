import type { Instant } from '../../../instant.ts'
import { type Job, type JobContext, LeaseLost } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { updateFlag } from '../../flags/update-flag.ts'
import { ApprovalRequired } from '../authorize-write.ts'
import { Frozen } from '../freezes/freeze.ts'
import { scheduledPermit } from '../permit.ts'
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
    await context.transaction(tx => applyChange(tx, change, context.now))
  } catch (error) {
    // Nothing was written: the change stays due, here or on the node that took over.
    if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
    onFailure(change, error)
    await context.transaction(tx => recordFailure(tx, change, error, context.now))
  }
}

/** Updates the flag and marks the change as done in one transaction, so that it is applied exactly once. */
export async function applyChange(tx: Stores, { projectId, id }: ScheduledChange, now: Instant): Promise<void> {
  const change = await tx.schedules.find(projectId, id)
  if (change?.status !== 'pending' || change.dueAt > now) return
  const project = await tx.projects.find(projectId)
  const flag = await tx.flags.find(projectId, change.flagId)
  if (!project || !flag) return
  const partner = await tx.schedules.findPartner(change)
  if (partner && isOvertaken(change, partner, now)) {
    await tx.schedules.save({ ...afterRun(change, now), failureReason: overtaken })
    await announceSchedule(tx, project, flag.id, now)
    return
  }
  const operation = readOperation(change.payload)
  await tx.schedules.save(afterSuccess(change, operation, now))
  const trigger = {
    job_type: 'scheduled_change',
    job_id: String(change.id),
    payload: { ...change.payload, scheduled_at: change.scheduledAt, scheduled_by: change.createdBy.email },
  }
  const patch = patchFor(operation, flag, now)
  await updateFlag(tx, null, project, { stored: flag, patch, trigger }, now, scheduledPermit(change))
}

const overtaken = 'The last run was skipped: the other change of the pair came first.'

const reasonOf = (error: unknown): string =>
  error instanceof Problem ? error.message : 'An internal error occurred; see the server log.'

async function requestInstead(tx: Stores, project: Project, error: ApprovalRequired, now: Instant): Promise<string> {
  const request = await openRequest(tx, project, error.needed, { reason: 'Scheduled before it needed approval.' }, now)
  return `The change needs approval: change request ${request.id} was opened.`
}

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
  const isGated = error instanceof ApprovalRequired
  const reason = isGated ? await requestInstead(tx, project, error, now) : reasonOf(error)
  const isFinal = isGated || error instanceof NonRetryableError
  const next =
    error instanceof Frozen
      ? afterFreeze(change, error.message, error.until, now)
      : afterFailure(change, reason, { isFinal }, now)
  await tx.schedules.save(next)
  await announceSchedule(tx, project, change.flagId, now)
}
