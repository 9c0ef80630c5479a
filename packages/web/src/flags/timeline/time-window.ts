const minuteMilliseconds = 60_000
/** Before and after the time. */
export const windowMinutes = 60

export interface TimeWindow {
  /** ISO 8601. */
  readonly from: string
  readonly to: string
}

/** The time in the address, to the minute; anything else is ignored. */
export const readTimeSearch = (search: Record<string, unknown>): { at?: string } => {
  const at = typeof search.at === 'string' ? Date.parse(search.at) : Number.NaN
  return Number.isNaN(at) ? {} : { at: toMinute(at) }
}

export const toMinute = (milliseconds: number): string =>
  new Date(Math.floor(milliseconds / minuteMilliseconds) * minuteMilliseconds).toISOString()

export const windowAround = (at: string): TimeWindow => ({
  from: moved(at, -windowMinutes),
  to: moved(at, windowMinutes),
})

export const moved = (at: string, minutes: number): string => toMinute(Date.parse(at) + minutes * minuteMilliseconds)

/** From 0 at the start of the window to 1 at its end. */
export const positionIn = ({ from, to }: TimeWindow, instant: string): number =>
  (Date.parse(instant) - Date.parse(from)) / (Date.parse(to) - Date.parse(from))

/** The value of a `datetime-local` field, in the time zone of the browser. */
export function toLocalField(instant: string): string {
  const date = new Date(instant)
  return new Date(date.getTime() - date.getTimezoneOffset() * minuteMilliseconds).toISOString().slice(0, 16)
}
