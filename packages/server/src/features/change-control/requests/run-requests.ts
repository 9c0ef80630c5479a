import { type ChangeRequest, contentHashOf, moved } from '../../../domain/change-request.ts'
import { type Job, type JobContext, LeaseLost } from '../../../jobs/job-runner.ts'
import { Problem } from '../../../problem.ts'
import type { GatedWrites } from '../gated-writes.ts'
import { applyRequest } from './apply-request.ts'
import { recordRequest } from './record-request.ts'

const batchMax = 100
/** Further requests wait for the next run. */
const batchesPerRunMax = 20

/** Applies approved requests whose time has come, and expires pending ones. */
export const changeRequestJob = (
  writes: GatedWrites,
  onFailure: (request: ChangeRequest, error: unknown) => void,
): Job => ({
  name: 'change-requests',
  async run(context) {
    for (let batch = 0; batch < batchesPerRunMax; batch++) {
      const due = await context.read(tx => tx.changeRequests.listDue(context.now, batchMax))
      for (const request of due) await runOne(context, writes, request, onFailure)
      if (due.length < batchMax) return
    }
  },
})

async function runOne(
  context: JobContext,
  writes: GatedWrites,
  request: ChangeRequest,
  onFailure: (request: ChangeRequest, error: unknown) => void,
): Promise<void> {
  try {
    const project = await context.read(tx => tx.projects.find(request.projectId))
    if (!project) return
    const { now, transaction } = context
    if (request.state === 'approved') {
      await applyRequest({ writes, transaction, project, appliedBy: null, now }, request)
      return
    }
    await transaction(async tx => {
      const stored = await tx.changeRequests.find(project.id, request.id)
      if (stored?.version !== request.version) return
      const isExpired = stored.expiresAt <= now
      // A time that passed without approval is dropped, which makes it different content to approve.
      const contentHash = contentHashOf({ ...stored, applyAt: null })
      const untimed = { applyAt: null, contentHash, failure: missedTime }
      const next = moved(stored, isExpired ? { state: 'expired' } : untimed, now)
      await tx.changeRequests.save(next)
      const activity = isExpired ? 'change_expired' : 'change_missed_time'
      await recordRequest(tx, null, project, next, activity, { reason: isExpired ? expired : missedTime }, now)
    })
  } catch (error) {
    if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
    onFailure(request, error)
  }
}

const expired = 'It was not approved before it expired.'
const missedTime = 'It was not approved before the time at which it should have been applied.'
