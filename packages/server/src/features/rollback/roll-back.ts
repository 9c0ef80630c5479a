import type { Flag } from '../../domain/flag.ts'
import { rollbackPermit } from '../../domain/permit.ts'
import { type Instant, plusMilliseconds } from '../../instant.ts'
import { type Job, type JobContext, LeaseLost } from '../../jobs/job-runner.ts'
import { Problem } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { noEvidence } from '../change-control/evidence.ts'
import { Gate } from '../change-control/gate.ts'
import { planFlagUpdate } from '../flags/plan-flag.ts'
import { type RollbackCondition, readConditions, windowMinutesMax } from './condition.ts'
import { type Measured, measure } from './measure.ts'
import { minuteTextOf } from './samples.ts'

const flagsPerReadMax = 200
const minuteMilliseconds = 60_000
const retentionMinutes = windowMinutesMax + 24 * 60

/** Evaluates the rollback conditions of all watched flags and switches off those for which one holds. */
export const rollbackJob = (onError: (flag: Flag, error: unknown) => void): Job => ({
  name: 'rollback',
  async run(context) {
    let after = 0
    for (;;) {
      const flags = await context.read(tx => tx.flags.listWatched(after, flagsPerReadMax))
      for (const flag of flags) await checkFlag(context, flag, onError)
      after = flags.at(-1)?.id ?? after
      if (flags.length < flagsPerReadMax) break
    }
    const oldest = minuteTextOf(plusMilliseconds(context.now, -retentionMinutes * minuteMilliseconds))
    await context.transaction(tx => tx.metrics.removeBefore(oldest))
  },
})

async function checkFlag(
  context: JobContext,
  flag: Flag,
  onError: (flag: Flag, error: unknown) => void,
): Promise<void> {
  try {
    // A cheap read first; only if a condition holds, a write transaction checks it again.
    if (!(await context.read(tx => findHolding(tx, flag, context.now)))) return
    await context.transaction(tx => rollBack(tx, flag, context.now))
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
 * Switches the flag off when one of its conditions holds, in the transaction that evaluated it. A flag that is off is skipped, so that
 * one incident rolls it back once, however many nodes check it.
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
  const planned = await planFlagUpdate(tx, null, project, { stored: flag, patch, trigger }, now)
  const gate = new Gate(tx, { permit: rollbackPermit, evidence: noEvidence(), now })
  return (await gate.saveFlag(planned)).kind === 'saved'
}
