import { type Instant, plusMilliseconds } from '../../instant.ts'
import { type Job, LeaseLost, type Turn } from '../../jobs/job-runner.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Flag } from '../flags/flag.ts'
import { withoutApproval } from '../flags/flag-approval.ts'
import { updateFlag } from '../flags/update-flag.ts'
import { type RollbackCondition, readConditions, windowMinutesMax } from './condition.ts'
import { type Measured, measure } from './measure.ts'
import { minuteTextOf } from './metric-store.ts'

const flagsAtOnceMax = 200
const minuteMilliseconds = 60_000
const keptMinutes = windowMinutesMax + 24 * 60

/** Looks at the metrics of every flag that could be rolled back, and switches off those whose conditions hold. */
export const rollbackJob = (onError: (flag: Flag, error: unknown) => void): Job => ({
  name: 'rollback',
  async run(turn) {
    let after = 0
    for (;;) {
      const flags = await turn.read(tx => tx.flags.listWatched(after, flagsAtOnceMax))
      for (const flag of flags) await watchOne(turn, flag, onError)
      after = flags.at(-1)?.id ?? after
      if (flags.length < flagsAtOnceMax) break
    }
    const oldest = minuteTextOf(plusMilliseconds(turn.now, -keptMinutes * minuteMilliseconds))
    await turn.transaction(tx => tx.metrics.removeBefore(oldest))
  },
})

async function watchOne(turn: Turn, flag: Flag, onError: (flag: Flag, error: unknown) => void): Promise<void> {
  try {
    // Reading comes first and is cheap; only a flag in trouble takes a writing transaction, which looks again.
    if (!(await turn.read(tx => findHolding(tx, flag, turn.now)))) return
    await turn.transaction(tx => rollBack(tx, flag, turn.now))
  } catch (error) {
    if (error instanceof LeaseLost || (error instanceof Problem && error.kind === 'unavailable')) throw error
    onError(flag, error)
  }
}

interface Holding extends Measured {
  readonly index: number
  readonly condition: RollbackCondition
}

async function findHolding(tx: Stores, flag: Flag, now: Instant): Promise<Holding | undefined> {
  for (const [index, { condition }] of readConditions(flag.rollbackConditions).entries()) {
    if (!condition) continue
    const measured = await measure(tx, flag, condition, now)
    if (measured.isHolding) return { index, condition, ...measured }
  }
  return undefined
}

/**
 * Switches the flag off when one of its conditions holds, in the transaction that has measured it. A flag that is off is left alone,
 * so that one incident rolls it back once, whoever looks and however often.
 */
export async function rollBack(tx: Stores, { projectId, id }: Flag, now: Instant): Promise<boolean> {
  const flag = await tx.flags.find(projectId, id)
  const project = await tx.projects.find(projectId)
  if (!flag || !project || flag.deleted || !flag.active || flag.performedRollback) return false
  const holding = await findHolding(tx, flag, now)
  if (!holding) return false
  const { condition, index, value, samples } = holding
  const trigger = {
    job_type: 'rollback',
    job_id: `${flag.id}:${flag.activeSince}`,
    payload: {
      condition_index: index,
      condition: (flag.rollbackConditions.conditions as unknown[])[index],
      value,
      samples,
      operator: condition.operator,
      threshold: condition.threshold,
      window_minutes: condition.windowMinutes,
    },
  }
  const patch = { active: false, performedRollback: true }
  await updateFlag(tx, null, project, { stored: flag, patch, trigger }, now, withoutApproval)
  return true
}
