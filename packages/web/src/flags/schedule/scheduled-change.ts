import type { ScheduledChange } from '@halyard/contract'
import type { Messages } from '../../i18n/en.ts'

const hourMilliseconds = 60 * 60 * 1000

/** The state of the schedule form. */
export interface PlannedChange {
  readonly kind: 'on' | 'off' | 'ramp' | 'condition'
  /** Local time, in the format of a datetime-local input. */
  readonly at: string
  readonly condition: number
  readonly to: number
  readonly steps: number
  readonly hours: number
}

export const plannedIn = (milliseconds: number, kind: PlannedChange['kind']): PlannedChange => ({
  kind,
  at: localInput(Date.now() + milliseconds),
  condition: 0,
  to: 100,
  steps: 4,
  hours: 24,
})

/** The request body. `from` is the condition's current rollout percentage. */
export function plannedToWire(planned: PlannedChange, from: number) {
  const start = new Date(planned.at)
  const scheduled_at = start.toISOString()
  switch (planned.kind) {
    case 'ramp':
      return {
        payload: {
          operation: 'ramp' as const,
          value: { condition_index: planned.condition, steps: stepsOf(start, from, planned) },
        },
      }
    case 'condition':
      return {
        scheduled_at,
        payload: {
          operation: 'add_release_condition' as const,
          value: { groups: [{ properties: [], rollout_percentage: planned.to }] },
        },
      }
    default:
      return { scheduled_at, payload: { operation: 'update_status' as const, value: planned.kind === 'on' } }
  }
}

/** Even steps from the current to the target rollout percentage. */
export const stepsOf = (start: Date, from: number, { to, steps, hours }: PlannedChange) =>
  Array.from({ length: steps }, (_, index) => ({
    at: new Date(start.getTime() + index * hours * hourMilliseconds).toISOString(),
    rollout_percentage: Math.round((from + ((to - from) * (index + 1)) / steps) * 100) / 100,
  }))

export function changeSentence(
  { payload }: Pick<ScheduledChange, 'payload'>,
  t: Messages,
  percent: (value: number) => string,
): string {
  const { operation, value } = payload as { operation?: string; value?: unknown }
  if (operation === 'update_status') return value === true ? t.flags.bulkOn : t.flags.bulkOff
  if (operation === 'ramp') {
    const { steps = [], condition_index = 0 } = (value ?? {}) as {
      steps?: { rollout_percentage: number }[]
      condition_index?: number
    }
    return t.schedule.rampTo(condition_index + 1, steps.map(step => percent(step.rollout_percentage)).join(' → '))
  }
  if (operation !== 'add_release_condition') return t.schedule.otherChange
  const { groups = [] } = (value ?? {}) as { groups?: { rollout_percentage?: number | null }[] }
  return t.schedule.addCondition(groups.map(group => percent(group.rollout_percentage ?? 100)).join(', '))
}

function localInput(milliseconds: number): string {
  const date = new Date(milliseconds)
  return new Date(milliseconds - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
