import { type Instant, plusMilliseconds } from '../../instant.ts'
import { invalid, missing } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import type { Project } from '../../tenancy.ts'
import type { Author } from '../activity/activity.ts'
import { checkFlagContent } from '../flags/check-flag.ts'
import { applyPatch, type Flag, type FreeObject } from '../flags/flag.ts'
import { appendFlagActivity } from '../flags/record-flag.ts'
import { announceSchedule } from './announce-schedule.ts'
import { conditionsOf, type Operation, patchFor, readOperation, rolloutOf } from './operation.ts'
import { findRampCondition, isObject } from './ramp-condition.ts'
import type { ScheduledChange } from './scheduled-change.ts'

const pendingPerProjectMax = 1000
const lateMillisecondsMax = 60_000

/** Throws `invalid` for a time in the past and for a change that cannot be applied to the current flag. */
export async function planChange(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  plan: { readonly flagId: number; readonly payload: FreeObject; readonly scheduledAt: Instant | undefined },
  now: Instant,
): Promise<ScheduledChange> {
  const flag = await tx.flags.find(project.id, plan.flagId)
  if (!flag) throw invalid('record_id', 'does_not_exist', `This project has no flag with id ${plan.flagId}.`)
  if ((await tx.schedules.countPending(project.id)) >= pendingPerProjectMax) {
    throw invalid(null, 'max_length', `A project can have at most ${pendingPerProjectMax} pending changes.`)
  }
  const { scheduledAt, payload } = await checkPlan(tx, project, flag, plan, now)
  const change = await tx.schedules.create({
    projectId: project.id,
    flagId: flag.id,
    payload,
    scheduledAt,
    status: 'pending',
    stepsDone: 0,
    dueAt: scheduledAt,
    attempts: 0,
    failureReason: null,
    executedAt: null,
    createdBy: author.user,
    createdAt: now,
    updatedAt: now,
    version: 1,
  })
  await recordPlan(tx, author, project, flag, 'scheduled', change, now)
  await announceSchedule(tx, project, flag.id, now)
  return change
}

/** Changes the time or content of a pending change and resets its attempts. */
export async function replanChange(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  plan: { readonly id: number; readonly payload: FreeObject | undefined; readonly scheduledAt: Instant | undefined },
  now: Instant,
): Promise<ScheduledChange> {
  const stored = await tx.schedules.find(project.id, plan.id)
  const flag = stored && (await tx.flags.find(project.id, stored.flagId))
  if (!stored || !flag) throw missing('Scheduled change')
  if (stored.status === 'done') throw invalid(null, 'invalid_input', 'The change has already been applied.')
  const { scheduledAt, payload } = await checkPlan(
    tx,
    project,
    flag,
    { payload: plan.payload ?? stored.payload, scheduledAt: plan.scheduledAt ?? stored.scheduledAt },
    now,
  )
  const change: ScheduledChange = {
    ...stored,
    payload,
    scheduledAt,
    status: 'pending',
    stepsDone: 0,
    dueAt: scheduledAt,
    attempts: 0,
    failureReason: null,
    updatedAt: now,
    version: stored.version + 1,
  }
  await tx.schedules.save(change)
  await recordPlan(tx, author, project, flag, 'scheduled', change, now)
  await announceSchedule(tx, project, flag.id, now)
  return change
}

export async function cancelChange(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  id: number,
  now: Instant,
): Promise<void> {
  const change = await tx.schedules.find(project.id, id)
  if (!change) throw missing('Scheduled change')
  await tx.schedules.remove(change.id)
  await announceSchedule(tx, project, change.flagId, now)
  const flag = await tx.flags.find(project.id, change.flagId)
  if (flag && change.status === 'pending') await recordPlan(tx, author, project, flag, 'unscheduled', change, now)
}

/** The time of the first step, and the payload as it is stored: a ramp with the condition that it raises. */
async function checkPlan(
  tx: Stores,
  project: Project,
  flag: Flag,
  plan: { readonly payload: FreeObject; readonly scheduledAt: Instant | undefined },
  now: Instant,
): Promise<{ readonly scheduledAt: Instant; readonly payload: FreeObject }> {
  const operation = readOperation(plan.payload)
  const at = operation.kind === 'ramp' ? (operation.steps[0]?.at ?? now) : plan.scheduledAt
  if (at === undefined) throw invalid('scheduled_at', 'required', 'scheduled_at is required.')
  if (lastTimeOf(operation, at) < plusMilliseconds(now, -lateMillisecondsMax)) {
    throw invalid('scheduled_at', 'invalid_input', 'scheduled_at must not be in the past.')
  }
  if (operation.kind === 'ramp') {
    return { scheduledAt: at, payload: withCondition(plan.payload, operation, flag) }
  }
  await checkFlagContent(tx, project, applyPatch(flag, patchFor(operation, flag, at)), flag)
  return { scheduledAt: at, payload: plan.payload }
}

function withCondition(payload: FreeObject, ramp: Extract<Operation, { kind: 'ramp' }>, flag: Flag): FreeObject {
  const index = findRampCondition(conditionsOf(flag), ramp)
  const condition = index === undefined ? undefined : conditionsOf(flag)[index]
  if (!isObject(condition)) {
    throw invalid('payload', 'invalid_input', `The flag has no condition ${ramp.conditionIndex}.`)
  }
  if ((ramp.steps.at(-1)?.percentage ?? 0) <= rolloutOf(condition)) {
    throw invalid(
      'payload',
      'invalid_input',
      'The ramp does nothing: the rollout of the condition is not below its last step.',
    )
  }
  const { properties = [], variant = null } = condition
  const value = { ...(payload.value as FreeObject), condition_index: index, condition: { properties, variant } }
  return { ...payload, value }
}

const lastTimeOf = (operation: Operation, at: Instant): Instant =>
  operation.kind === 'ramp' ? (operation.steps.at(-1)?.at ?? at) : at

const recordPlan = (
  tx: Stores,
  author: Author,
  project: Project,
  flag: Flag,
  activity: 'scheduled' | 'unscheduled',
  change: ScheduledChange,
  now: Instant,
): Promise<void> =>
  appendFlagActivity(
    tx,
    author,
    project,
    flag,
    {
      activity,
      changes: [],
      trigger: { scheduled_change: change.id, scheduled_at: change.scheduledAt, payload: change.payload },
    },
    now,
  )
