import type { ScheduledChange } from '@halyard/contract'
import type { Messages } from '../../i18n/en.ts'
import type { Draft } from '../editor/draft.ts'
import { isPaused, onlyOnce, type PlannedRepeat, repeatToWire } from './recurrence.ts'

const hourMilliseconds = 60 * 60 * 1000

/** The state of the schedule form. */
export interface PlannedChange extends PlannedRepeat {
  readonly kind: 'on' | 'off' | 'ramp' | 'condition'
  /** Local time, in the format of a datetime-local input. */
  readonly at: string
  /** The condition that a ramp raises. */
  readonly condition: number
  /** The rollout of an added condition. */
  readonly to: number
  /** The percentages of a ramp, as typed. */
  readonly steps: string
  readonly hours: number
}

const usualSteps = [1, 5, 25, 50, 100]
const stepsMax = 100

/** Starts with the first condition that a ramp can raise. */
export function plannedIn(
  milliseconds: number,
  kind: PlannedChange['kind'],
  rollouts: readonly number[],
): PlannedChange {
  const condition = Math.max(
    0,
    rollouts.findIndex(rollout => rollout < 100),
  )
  return {
    kind,
    at: localInput(Date.now() + milliseconds),
    condition,
    to: 100,
    steps: suggestSteps(rollouts[condition] ?? 0),
    hours: 24,
    ...onlyOnce,
  }
}

export const suggestSteps = (from: number): string => usualSteps.filter(step => step > from).join(', ')

/** The percentages of a ramp; undefined unless they rise from the current rollout to at most 100. */
export function readSteps(text: string, from: number): readonly number[] | undefined {
  const steps = text
    .split(/[\s,;→>]+/)
    .map(part => part.replace(/%$/, ''))
    .filter(part => part !== '')
    .map(Number)
  const isRising = steps.every((step, index) => step > (index === 0 ? from : (steps[index - 1] ?? 0)) && step <= 100)
  return steps.length > 0 && steps.length <= stepsMax && isRising ? steps : undefined
}

/** The request body. `percentages` are those of a ramp. */
export function plannedToWire(planned: PlannedChange, percentages: readonly number[]) {
  const start = new Date(planned.at)
  const scheduled_at = start.toISOString()
  switch (planned.kind) {
    case 'ramp':
      return {
        payload: {
          operation: 'ramp' as const,
          value: { condition_index: planned.condition, steps: stepsOf(start, percentages, planned.hours) },
        },
      }
    case 'condition':
      return {
        scheduled_at,
        payload: { operation: 'add_release_condition' as const, value: { groups: [newCondition(planned)] } },
      }
    default:
      return {
        ...repeatToWire(planned.at, planned, Intl.DateTimeFormat().resolvedOptions().timeZone),
        payload: { operation: 'update_status' as const, value: planned.kind === 'on' },
      }
  }
}

type Interval = 'daily' | 'weekly' | 'monthly' | 'yearly'

/**
 * The request that schedules a canceled change again, with the one that reverts it. Undefined for a change that a new
 * one cannot replace: it is paused, broken, or a ramp that has begun.
 */
export function rescheduledToWire(change: ScheduledChange, partner: ScheduledChange | undefined) {
  if (change.steps_done > 0 || change.broken_reason !== null || isPaused(change)) return undefined
  return {
    record_id: change.record_id,
    payload: change.payload as {
      operation: 'update' | 'update_status' | 'add_release_condition' | 'ramp'
      value: unknown
    },
    // A ramp begins with its first step.
    ...(change.payload.operation !== 'ramp' && timeToWire(change)),
    ...(change.is_recurring && {
      is_recurring: true,
      recurrence_interval: change.recurrence_interval as Interval | null,
      timezone: change.timezone,
      end_date: change.end_date,
    }),
    ...(partner && { pair: timeToWire(partner) }),
  }
}

/** Of what repeats, the next run: the first one may have passed. */
const timeToWire = ({ cron_expression, next_attempt_at, scheduled_at }: ScheduledChange) =>
  cron_expression === null ? { scheduled_at: next_attempt_at ?? scheduled_at } : { cron_expression }

const newCondition = ({ to }: PlannedChange) => ({ properties: [], rollout_percentage: to })

export const stepsOf = (start: Date, percentages: readonly number[], hours: number) =>
  percentages.map((rollout_percentage, index) => ({
    at: new Date(start.getTime() + index * hours * hourMilliseconds).toISOString(),
    rollout_percentage,
  }))

/** The flag once the planned change has been applied completely. */
export function afterPlanned(draft: Draft, planned: PlannedChange, percentages: readonly number[]): Draft {
  const { filters } = draft
  switch (planned.kind) {
    case 'ramp': {
      const groups = filters.groups.map((group, index) =>
        index === planned.condition ? { ...group, rollout_percentage: percentages.at(-1) ?? null } : group,
      )
      return { ...draft, filters: { ...filters, groups } }
    }
    case 'condition':
      return { ...draft, filters: { ...filters, groups: [...filters.groups, newCondition(planned)] } }
    default:
      return { ...draft, active: planned.kind === 'on' }
  }
}

/** A ramp follows its condition when others are added, removed or moved: it is named by where it is now, if that is known. */
export function changeSentence(
  { payload, condition_position = null }: Pick<ScheduledChange, 'payload'> & Partial<ScheduledChange>,
  t: Messages,
  percent: (value: number) => string,
): string {
  const { operation, value } = payload as { operation?: string; value?: unknown }
  if (operation === 'update_status') return value === true ? t.flags.bulkOn : t.flags.bulkOff
  if (operation === 'ramp') {
    const { steps = [], condition_index = 0 } = (value ?? {}) as Ramp
    return t.schedule.rampTo(
      (condition_position ?? condition_index) + 1,
      steps.map(step => percent(step.rollout_percentage)).join(' → '),
    )
  }
  if (operation !== 'add_release_condition') return t.schedule.otherChange
  const { groups = [] } = (value ?? {}) as { groups?: { rollout_percentage?: number | null }[] }
  return t.schedule.addCondition(groups.map(group => percent(group.rollout_percentage ?? 100)).join(', '))
}

export const isPendingRamp = ({ payload, status, broken_reason }: ScheduledChange): boolean =>
  status === 'pending' && broken_reason === null && (payload as { operation?: string }).operation === 'ramp'

/** Steps of a ramp that change nothing any more: applied ones, and those that the condition has reached otherwise. */
export function passedSteps(change: ScheduledChange, rollouts: readonly number[]): readonly number[] {
  if (!isPendingRamp(change)) return []
  const { steps = [], condition_index = 0 } = (change.payload as { value?: Ramp }).value ?? {}
  const current = rollouts[change.condition_position ?? condition_index] ?? 0
  return steps
    .map(({ rollout_percentage }) => rollout_percentage)
    .filter((percentage, index) => index < change.steps_done || percentage <= current)
}

interface Ramp {
  readonly steps?: readonly { readonly rollout_percentage: number }[]
  readonly condition_index?: number
}

function localInput(milliseconds: number): string {
  const date = new Date(milliseconds)
  return new Date(milliseconds - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The due time, or the time of execution. */
export const timeOf = ({ next_attempt_at, executed_at, scheduled_at }: ScheduledChange) =>
  next_attempt_at ?? executed_at ?? scheduled_at
