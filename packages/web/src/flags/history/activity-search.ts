/** What the activity page shows, as kept in its URL. */
export interface ActivitySearch {
  readonly user?: string
  readonly kind?: string
  /** Days, `YYYY-MM-DD`, both inclusive. */
  readonly from?: string
  readonly to?: string
  /** The id of a single entry. */
  readonly entry?: string
}

const dayPattern = /^\d{4}-\d{2}-\d{2}$/
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
const dayOf = (value: unknown): string | undefined => {
  const text = textOf(value)
  return text !== undefined && dayPattern.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined
}

/** Anything else in the URL is ignored. */
export function readActivitySearch(search: Record<string, unknown>): ActivitySearch {
  const filters = {
    user: textOf(search.user),
    kind: textOf(search.kind),
    from: dayOf(search.from),
    to: dayOf(search.to),
    entry: textOf(search.entry),
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined && value !== ''))
}

/** The same as parameters of the API. */
export function activityQuery({ user, kind, from, to, entry }: ActivitySearch): Record<string, string> {
  return {
    ...(user && { user }),
    ...(kind && { activity: kind }),
    ...(entry && { entry_id: entry }),
    ...(from && { date_from: `${from}T00:00:00Z` }),
    ...(to && { date_to: `${dayAfter(to)}T00:00:00Z` }),
  }
}

const dayMilliseconds = 24 * 3_600_000
const dayAfter = (day: string): string => new Date(Date.parse(day) + dayMilliseconds).toISOString().slice(0, 10)
