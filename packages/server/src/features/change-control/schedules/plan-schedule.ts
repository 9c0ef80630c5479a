import { randomUUID } from 'node:crypto'
import type { Author } from '../../../domain/activity.ts'
import { applyPatch, type Flag, type FreeObject } from '../../../domain/flag.ts'
import { type Instant, plusMilliseconds } from '../../../instant.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Project } from '../../../tenancy.ts'
import { checkFlagContent } from '../../flags/check-flag.ts'
import { appendFlagActivity } from '../../flags/record-flag.ts'
import { announceSchedule } from './announce-schedule.ts'
import { conditionsOf, type Operation, patchFor, readOperation, rolloutOf } from './operation.ts'
import { findRampCondition, isObject } from './ramp-condition.ts'
import {
  checkRecurrence,
  isPaused,
  nextRun,
  type RecurrenceInterval,
  type ScheduleRecurrence,
} from './schedule-recurrence.ts'
import { dueOf, type ScheduledChange } from './scheduled-change.ts'
import { type ScheduledOutcome, scheduledOutcome } from './scheduled-outcome.ts'

const pendingPerProjectMax = 1000
const lateMillisecondsMax = 60_000

/** What is planned, in the fields of the API. This is also what a change request for it contains. */
export interface SchedulePlan {
  readonly payload: FreeObject
  readonly scheduledAt: Instant | null
  readonly isRecurring: boolean
  readonly recurrenceInterval: RecurrenceInterval | null
  readonly cronExpression: string | null
  readonly timezone: string
  readonly endDate: Instant | null
  /** When `update_status` is reverted. */
  readonly pair: PairPlan | null
}

export interface PairPlan {
  readonly scheduledAt: Instant | null
  readonly cronExpression: string | null
}

/** A scheduled change as it would be stored, checked, with the other half of its pair. Planning writes nothing. */
export interface PlannedSchedule {
  readonly project: Project
  readonly author: NonNullable<Author>
  readonly flag: Flag
  /** What it makes of the flag; undefined when it is stopped, which needs no approval. */
  readonly outcome: ScheduledOutcome | undefined
  /** What is approved. */
  readonly content: FreeObject
  readonly created: readonly Omit<ScheduledChange, 'id' | 'approval'>[]
  readonly edited: readonly ScheduledChange[]
  readonly at: Instant
}

/** What is approved after its time runs right away. */
interface PlanOptions {
  readonly now: Instant
  readonly isLate?: boolean
}

/** Raises `invalid` for a time in the past and for a change that cannot be applied to the current flag. */
export async function planSchedule(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { flagId, plan }: { readonly flagId: number; readonly plan: SchedulePlan },
  { now, isLate = false }: PlanOptions,
): Promise<PlannedSchedule> {
  const flag = await tx.flags.find(project.id, flagId)
  if (!flag) throw invalid('record_id', 'does_not_exist', `This project has no flag with id ${flagId}.`)
  if ((await tx.schedules.countPending(project.id)) >= pendingPerProjectMax) {
    throw invalid(null, 'max_length', `A project can have at most ${pendingPerProjectMax} pending changes.`)
  }
  const checked = await checkPlan(tx, project, flag, plan, now, isLate)
  const partner = plan.pair && (await checkPlan(tx, project, flag, revertingPlan(plan, plan.pair), now, isLate))
  if (partner && checked.scheduledAt <= now && partner.scheduledAt <= now) {
    throw invalid('scheduled_at', 'invalid_input', 'Both times of the pair have passed. Schedule it again.')
  }
  const pairId = partner && randomUUID()
  const created = (partner ? [checked, partner] : [checked]).map(({ payload, scheduledAt, recurrence }) => ({
    projectId: project.id,
    flagId: flag.id,
    payload,
    scheduledAt,
    recurrence,
    pairId,
    status: 'pending' as const,
    stepsDone: 0,
    dueAt: dueOf(recurrence, scheduledAt),
    attempts: 0,
    failureReason: null,
    executedAt: null,
    lastExecutedAt: null,
    createdBy: author.user,
    createdAt: now,
    updatedAt: now,
    version: 1,
  }))
  const content = { ...plan, payload: checked.payload }
  return { project, author, flag, outcome: outcomeOf(flag, content, checked), content, created, edited: [], at: now }
}

/** The other half of a pair: the same switch, the other way round. */
function revertingPlan(plan: SchedulePlan, { scheduledAt, cronExpression }: PairPlan): SchedulePlan {
  const { operation, value } = plan.payload
  if (operation !== 'update_status' || typeof value !== 'boolean') {
    throw invalid('pair', 'invalid_input', 'Only update_status can be paired.')
  }
  if ((plan.cronExpression === null) !== (cronExpression === null)) {
    throw invalid('pair', 'invalid_input', 'pair needs cron_expression if and only if the change has one.')
  }
  return { ...plan, payload: { operation, value: !value }, scheduledAt, cronExpression, pair: null }
}

/** Plans another time or content of a pending change, with no attempts yet. Both changes of a pair are paused and resumed together. */
export async function planScheduleEdit(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { id, edit }: { readonly id: number; readonly edit: Partial<SchedulePlan> },
  { now, isLate = false }: PlanOptions,
): Promise<PlannedSchedule> {
  const stored = await tx.schedules.find(project.id, id)
  const flag = stored && (await tx.flags.find(project.id, stored.flagId))
  if (!stored || !flag) throw missing('Scheduled change')
  if (stored.status === 'done') throw invalid(null, 'invalid_input', 'The change has already been applied.')
  const own = await checkEdit(tx, project, flag, { stored, edit }, now, isLate)
  const partner = await tx.schedules.findPartner(stored)
  const partnerEdit = partner && pauseOf(partner, edit, isLate)
  const other = partnerEdit && (await checkEdit(tx, project, flag, { stored: partner, edit: partnerEdit }, now, isLate))
  const pair = other ? { scheduledAt: other.plan.scheduledAt, cronExpression: other.plan.cronExpression } : null
  const content = { ...own.plan, payload: own.checked.payload, pair, scheduledChange: stored.id }
  const outcome = isPaused(own.checked.recurrence) ? undefined : outcomeOf(flag, content, own.checked)
  const edited = (other ? [own, other] : [own]).map(part => editedChange(part, now))
  return { project, author, flag, outcome, content, created: [], edited, at: now }
}

function editedChange({ stored, checked, isTimeKept }: CheckedEdit, now: Instant): ScheduledChange {
  const { payload, scheduledAt, recurrence } = checked
  return {
    ...stored,
    payload,
    scheduledAt,
    recurrence: { ...recurrence, firstAt: isTimeKept ? stored.recurrence.firstAt : recurrence.firstAt },
    status: 'pending',
    stepsDone: 0,
    dueAt: dueOf(recurrence, scheduledAt),
    attempts: 0,
    failureReason: null,
    updatedAt: now,
    version: stored.version + 1,
  }
}

/** Raises `StaleWrite` when another transaction saved the change first. */
export async function commitSchedule(
  tx: Stores,
  { project, author, flag, outcome, created, edited, at }: PlannedSchedule,
  approval: ScheduledChange['approval'],
): Promise<ScheduledChange> {
  const changes: ScheduledChange[] = []
  for (const change of created) changes.push(await tx.schedules.create({ ...change, approval }))
  for (const change of edited) {
    const saved = { ...change, approval: outcome ? approval : change.approval }
    await tx.schedules.save(saved)
    changes.push(saved)
  }
  for (const change of changes) await recordPlan(tx, author, project, flag, 'scheduled', change, at)
  await announceSchedule(tx, project, flag.id, at)
  return changes[0]!
}

/** What pausing or resuming a change means for the other one of its pair. What was approved names the times of both. */
function pauseOf(
  { status, recurrence }: ScheduledChange,
  { isRecurring, pair }: Partial<SchedulePlan>,
  isApproved: boolean,
): Partial<SchedulePlan> | undefined {
  if (isRecurring === undefined || status !== 'pending' || (isApproved && !pair)) return undefined
  const isSwitched = isRecurring ? isPaused(recurrence) : recurrence.isRecurring
  return isSwitched || pair ? { isRecurring, ...pair } : undefined
}

interface CheckedEdit {
  readonly stored: ScheduledChange
  readonly plan: SchedulePlan
  readonly checked: CheckedPlan
  readonly isTimeKept: boolean
}

async function checkEdit(
  tx: Stores,
  project: Project,
  flag: Flag,
  { stored, edit }: { readonly stored: ScheduledChange; readonly edit: Partial<SchedulePlan> },
  now: Instant,
  isLate: boolean,
): Promise<CheckedEdit> {
  const before = planOf(stored)
  const plan = { ...before, ...withoutUndefined(edit), pair: null }
  const isTimeKept = plan.scheduledAt === before.scheduledAt && plan.cronExpression === before.cronExpression
  const timed = isTimeKept ? plan : { ...plan, ...newTime(edit) }
  return { stored, plan, checked: await checkPlan(tx, project, flag, timed, now, isLate), isTimeKept }
}

const planOf = ({ payload, scheduledAt, recurrence }: ScheduledChange): SchedulePlan => ({
  payload,
  scheduledAt,
  isRecurring: recurrence.isRecurring,
  recurrenceInterval: recurrence.interval,
  cronExpression: recurrence.cron,
  timezone: recurrence.timeZone,
  endDate: recurrence.endDate,
  pair: null,
})

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T

/** A new rule starts at its own first time unless one is sent. */
const newTime = ({ scheduledAt, cronExpression }: Partial<SchedulePlan>): Partial<SchedulePlan> =>
  scheduledAt === undefined && cronExpression ? { scheduledAt: null } : {}

/** Cancels a change, and the other one of its pair. */
export async function cancelChange(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  id: number,
  now: Instant,
): Promise<void> {
  const change = await tx.schedules.find(project.id, id)
  if (!change) throw missing('Scheduled change')
  const partner = await tx.schedules.findPartner(change)
  const flag = await tx.flags.find(project.id, change.flagId)
  for (const one of partner ? [change, partner] : [change]) {
    await tx.schedules.remove(one.id)
    if (flag && one.status === 'pending') await recordPlan(tx, author, project, flag, 'unscheduled', one, now)
  }
  await announceSchedule(tx, project, change.flagId, now)
}

interface CheckedPlan {
  readonly payload: FreeObject
  readonly scheduledAt: Instant
  readonly recurrence: ScheduleRecurrence
}

/** The time of the first run, and the payload as it is stored: a ramp with the condition that it raises. */
async function checkPlan(
  tx: Stores,
  project: Project,
  flag: Flag,
  plan: SchedulePlan,
  now: Instant,
  isLate: boolean,
): Promise<CheckedPlan> {
  const operation = readOperation(plan.payload)
  const rule: ScheduleRecurrence = {
    isRecurring: plan.isRecurring,
    interval: plan.recurrenceInterval,
    cron: plan.cronExpression,
    timeZone: plan.timezone,
    firstAt: plan.scheduledAt,
    endDate: plan.endDate,
  }
  checkRecurrence(rule)
  if (plan.isRecurring && operation.kind !== 'update') {
    throw invalid('payload', 'invalid_input', 'Only `update` and `update_status` can recur.')
  }
  const scheduledAt = firstTime(operation, plan, rule, now, isLate)
  if (rule.endDate !== null && rule.endDate <= scheduledAt) {
    throw invalid('end_date', 'invalid_input', 'end_date must be after scheduled_at.')
  }
  const recurrence = { ...rule, firstAt: scheduledAt }
  if (operation.kind === 'ramp') {
    return { scheduledAt, payload: withCondition(plan.payload, operation, flag), recurrence }
  }
  await checkFlagContent(tx, project, applyPatch(flag, patchFor(operation, flag, scheduledAt)), flag)
  return { scheduledAt, payload: plan.payload, recurrence }
}

function firstTime(
  operation: Operation,
  plan: SchedulePlan,
  rule: ScheduleRecurrence,
  now: Instant,
  isLate: boolean,
): Instant {
  const requestedAt = operation.kind === 'ramp' ? (operation.steps[0]?.at ?? now) : plan.scheduledAt
  const at = requestedAt ?? (plan.isRecurring ? nextRun(rule, now) : undefined)
  if (at === undefined) throw invalid('scheduled_at', 'required', 'scheduled_at is required.')
  if (lastTimeOf(operation, at) >= plusMilliseconds(now, -lateMillisecondsMax) || isPaused(rule)) return at
  const next = plan.isRecurring ? nextRun(rule, now) : undefined
  if (next !== undefined) return next
  if (plan.isRecurring) throw invalid('end_date', 'invalid_input', 'end_date has passed: there is no further run.')
  if (isLate) return at
  throw invalid('scheduled_at', 'invalid_input', 'scheduled_at must not be in the past.')
}

const outcomeOf = (flag: Flag, { pair }: Pick<SchedulePlan, 'pair'>, { payload, scheduledAt }: CheckedPlan) =>
  scheduledOutcome(flag, { payload, isPair: pair !== null, at: scheduledAt })

/** Plans what a change request asked for. */
export function planApproved(
  tx: Stores,
  author: NonNullable<Author>,
  project: Project,
  { flagId, content }: { readonly flagId: number; readonly content: FreeObject },
  now: Instant,
): Promise<PlannedSchedule> {
  const { scheduledChange, ...plan } = content as unknown as SchedulePlan & { readonly scheduledChange?: number }
  const options = { now, isLate: true }
  return scheduledChange === undefined
    ? planSchedule(tx, author, project, { flagId, plan }, options)
    : planScheduleEdit(tx, author, project, { id: scheduledChange, edit: plan }, options)
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
