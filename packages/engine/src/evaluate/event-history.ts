import type { EventHistory, Subject } from '../definition/definition.ts'
import type { Behavior, CountOperator } from '../definition/parse-behavior.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000

/** The number of a calendar day in UTC, counted from 1970-01-01. */
export const dayNumber = (now: number): number => Math.floor(now / dayMilliseconds)

/** Undefined when the person has never performed the event. */
export const historyOf = ({ events }: Subject, event: string): EventHistory | undefined =>
  events !== undefined && Object.hasOwn(events, event) ? events[event] : undefined

/** How often the event was performed in the window. A day in the future, after a clock was set back, counts as today. */
export function countIn(history: EventHistory | undefined, days: number, now: number): number {
  if (history === undefined) return 0
  const from = dayNumber(now) - days + 1
  let sum = 0
  for (const [day, count] of history.days) if (day >= from) sum += count
  return sum
}

export function matchesBehavior(history: EventHistory | undefined, behavior: Behavior, now: number): boolean {
  const { measure, operator, count, days } = behavior
  if (measure === 'first_time') return history !== undefined && history.firstDay >= dayNumber(now) - days + 1
  return comparisons[operator](countIn(history, days, now), count)
}

const comparisons: Readonly<Record<CountOperator, (seen: number, count: number) => boolean>> = {
  exact: (seen, count) => seen === count,
  gt: (seen, count) => seen > count,
  gte: (seen, count) => seen >= count,
  lt: (seen, count) => seen < count,
  lte: (seen, count) => seen <= count,
}
