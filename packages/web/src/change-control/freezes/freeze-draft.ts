import { type Weekday, writeWeeklyRule } from './freeze-rule.ts'

/** A new freeze as its form has it. */
export interface FreezeDraft {
  readonly reason: string
  readonly kind: 'once' | 'recurring'
  /** Local time of the input; empty for now. */
  readonly starts: string
  readonly ends: string
  readonly days: readonly Weekday[]
  readonly time: string
  readonly hours: number
  readonly zone: string
  /** `set 1`, `project 1`, or empty for the whole organization. */
  readonly scope: string
  readonly tag: string
  readonly exceptRoles: readonly string[]
}

export const newFreezeDraft = (): FreezeDraft => ({
  reason: '',
  kind: 'once',
  starts: '',
  ends: '',
  days: ['FR'],
  time: '16:00',
  hours: 64,
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  scope: '',
  tag: '',
  exceptRoles: [],
})

export const isDayMissing = ({ kind, days }: FreezeDraft): boolean => kind === 'recurring' && days.length === 0

export function freezeToWire(draft: FreezeDraft) {
  const [what, id] = draft.scope.split(' ')
  const tag = draft.tag.trim()
  return {
    reason: draft.reason,
    ...(what === 'set' && { environment_set: Number(id) }),
    ...(what === 'project' && { project: Number(id) }),
    ...(tag !== '' && { tag }),
    ...(draft.exceptRoles.length > 0 && { except_roles: [...draft.exceptRoles] }),
    ...(draft.kind === 'once' ? onceToWire(draft) : weeklyToWire(draft)),
  }
}

const onceToWire = ({ starts, ends }: FreezeDraft) => ({
  ...(starts !== '' && { starts_at: new Date(starts).toISOString() }),
  ends_at: new Date(ends).toISOString(),
})

const weeklyToWire = ({ days, time, hours, zone }: FreezeDraft) => ({
  rrule: writeWeeklyRule({ days: [...days], time }),
  duration_minutes: Math.round(hours * 60),
  time_zone: zone,
})
