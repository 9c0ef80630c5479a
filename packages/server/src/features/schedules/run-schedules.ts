import type { Instant } from '../../instant.ts'
import { type Job, LeaseLost, type Turn } from '../../jobs/job-runner.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { withoutApproval } from '../flags/flag-approval.ts'
import { updateFlag } from '../flags/update-flag.ts'
import { announceSchedule } from './announce-schedule.ts'
import { NonRetryableError, patchFor, readOperation } from './operation.ts'
import { afterFailure, afterSuccess, type ScheduledChange } from './scheduled-change.ts'

const batchMax = 100
/** What is left after so many batches waits for the next turn. */
const roundsMax = 50

/** Makes the changes whose time has come. */
export const scheduleJob = (onFailure: (change: ScheduledChange, error: unknown) => void): Job => ({
  name: 'scheduled-changes',
  async run(turn) {
    for (let round = 0; round < roundsMax; round++) {
      const due = await turn.read(tx => tx.schedules.listDue(turn.now, batchMax))
      for (const change of due) await runOne(turn, change, onFailure)
      if (due.length < batchMax) return
    }
  },
})

async function runOne(
  turn: Turn,
  change: ScheduledChange,
  onFailure: (change: ScheduledChange, error: unknown) => void,
): Promise<void> {
  try {
    await turn.transaction(tx => makeChange(tx, change, turn.now))
  } catch (error) {
    // Nothing was written, and nothing can be: the change stays due, here or on the node that took over.
    if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
    onFailure(change, error)
    await turn.transaction(tx => noteFailure(tx, change, error, turn.now))
  }
}

/** The change and the note that it is made are one transaction, so that it is made once, however many try. */
export async function makeChange(tx: Stores, { projectId, id }: ScheduledChange, now: Instant): Promise<void> {
  const change = await tx.schedules.find(projectId, id)
  if (change?.status !== 'pending' || change.dueAt > now) return
  const project = await tx.projects.find(projectId)
  const flag = await tx.flags.find(projectId, change.flagId)
  if (!project || !flag) return
  const operation = readOperation(change.payload)
  await tx.schedules.save(afterSuccess(change, operation, now))
  const trigger = {
    job_type: 'scheduled_change',
    job_id: String(change.id),
    payload: { ...change.payload, scheduled_at: change.scheduledAt, scheduled_by: change.createdBy.email },
  }
  const patch = patchFor(operation, flag, now)
  await updateFlag(tx, null, project, { stored: flag, patch, trigger }, now, withoutApproval)
}

async function noteFailure(
  tx: Stores,
  { projectId, id, version }: ScheduledChange,
  error: unknown,
  now: Instant,
): Promise<void> {
  const change = await tx.schedules.find(projectId, id)
  // Somebody has planned it anew meanwhile: the failure was of the old plan.
  if (change?.status !== 'pending' || change.version !== version) return
  const reason = error instanceof Problem ? error.message : 'Something went wrong inside Halyard; its log says more.'
  await tx.schedules.save(afterFailure(change, reason, { isFinal: error instanceof NonRetryableError }, now))
  const project = await tx.projects.find(projectId)
  if (project) await announceSchedule(tx, project, change.flagId, now)
}
