import type { EventHistory } from '@halyard/engine'

/** Reads `day:count,day:count`: the databases aggregate the days of an event to one row. */
export const readDays = (text: string | null): EventHistory['days'] =>
  text === null ? [] : text.split(',').map(readDay)

function readDay(text: string): readonly [day: number, count: number] {
  const colon = text.indexOf(':')
  return [Number(text.slice(0, colon)), Number(text.slice(colon + 1))]
}
