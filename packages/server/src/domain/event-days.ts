import type { EventHistory } from '@halyard/engine'

/** Reads `day:count,day:count`: the databases aggregate the days of an event to one row. */
export const readDays = (text: string | null): EventHistory['days'] =>
  text === null ? [] : text.split(',').map(readDay)

function readDay(text: string): readonly [day: number, count: number] {
  const colon = text.indexOf(':')
  return [Number(text.slice(0, colon)), Number(text.slice(colon + 1))]
}

/** What was counted live and what was read from ClickHouse: a day may be in both, and then its counts add up. */
export const joinHistories = (one: EventHistory | undefined, other: EventHistory): EventHistory =>
  one === undefined ? other : { firstDay: Math.min(one.firstDay, other.firstDay), days: [...one.days, ...other.days] }
