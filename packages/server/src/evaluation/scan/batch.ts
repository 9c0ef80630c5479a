import { type EventHistory, personCreatedAt } from '@halyard/engine'
import { readDays } from '../../domain/event-days.ts'

/** The columns to read for each person or group. */
export interface Needs {
  readonly ids: boolean
  /** Distinct ids, or the keys of groups. */
  readonly identities: boolean
  /** Whether the properties of persons include when they were created. */
  readonly createdAt: boolean
  readonly staticCohorts: readonly number[]
  /** Keys of the flags whose stored hash keys are needed. */
  readonly continuityFlags: readonly string[]
  /** The counted events whose histories are needed, by each id of their counts, and the first day of the longest window. */
  readonly events: ReadonlyMap<number, string>
  readonly sinceDay: number
}

/** SQL for the properties as JSON, on both databases. Stored properties never contain a line break outside of text. */
export const propertiesColumn = ({ createdAt }: Needs): string =>
  createdAt
    ? `'{"${personCreatedAt}":"' || t.created_at || '"' || case when t.properties = '{}' then '}' else ',' || substr(t.properties, 2) end`
    : 't.properties'

/** Persons or groups ordered by id, in columns. */
export interface Batch {
  readonly size: number
  /** Whether more rows may follow. */
  readonly hasMore: boolean
  /** The id of the last row; undefined in an empty batch. */
  readonly last: number | undefined
  /** The properties as JSON Lines. */
  readonly properties: string
  readonly ids: readonly number[]
  readonly identities: readonly string[]
  /** Static cohorts by person. */
  readonly cohorts: ReadonlyMap<number, ReadonlySet<number>>
  /** Stored hash keys by person and flag. */
  readonly hashKeys: ReadonlyMap<number, Readonly<Record<string, string>>>
  /** By person and event, as text until a subject is evaluated. */
  readonly histories: ReadonlyMap<number, Readonly<Record<string, HistoryText>>>
}

export interface HistoryText {
  readonly firstDay: number
  /** `day:count,day:count`; null without a day in the window. */
  readonly days: string | null
}

export interface BatchOrder {
  readonly descending: boolean
  readonly search?: string | undefined
}

/** Bounds the memory of a batch, because a worker thread that runs out of memory crashes the process. */
export const batchBytesMax = 16_000_000

/** Reads batches. */
export interface Source {
  /** At most `rows` after an id, fewer when they are long; undefined starts at the beginning. */
  next(after: number | undefined, rows: number): Promise<Batch>
  /** Reads from one snapshot of the database until `close`. */
  freeze(): Promise<void>
  close(): Promise<void>
}

/** The result of one read. Rows that exceed the size limit have a length but no properties. */
export interface Read {
  readonly size: Id
  /** Number of rows with properties. */
  readonly complete: Id
  /** Total length of the properties of all rows; null without rows. */
  readonly bytes: Id | null
}

/**
 * Reads at most `rows` rows within `batchBytesMax` and returns how many rows it requested. One query suffices while no row exceeds its
 * proportional share of the limit; summing up lengths row by row is slower than reading typical rows.
 */
export async function readWithinBounds<R extends Read>(
  rows: number,
  /** Omits the properties of rows longer than `bytesMax`. */
  read: (rows: number, bytesMax: number) => R | Promise<R>,
  /** How many of the next `rows` rows fit into `batchBytesMax`. */
  countFitting: (rows: number) => Id | Promise<Id>,
): Promise<{ readonly read: R; readonly rows: number }> {
  const result = await read(rows, Math.floor(batchBytesMax / rows))
  if (Number(result.complete) === Number(result.size)) return { read: result, rows }
  const isFitting = Number(result.bytes) <= batchBytesMax
  // A row larger than the limit forms a batch of its own.
  const fitting = isFitting ? rows : Math.max(Number(await countFitting(rows)), 1)
  return { read: await read(fitting, Number.MAX_SAFE_INTEGER), rows: fitting }
}

/** Drivers may return 64-bit integers as strings. */
type Id = number | string

export function hashKeysByPerson(
  rows: readonly { readonly person_id: Id; readonly flag_key: string; readonly hash_key: string }[],
): Batch['hashKeys'] {
  const byPerson = new Map<number, Record<string, string>>()
  for (const row of rows) {
    const id = Number(row.person_id)
    const keys = byPerson.get(id) ?? (Object.create(null) as Record<string, string>)
    keys[row.flag_key] = row.hash_key
    byPerson.set(id, keys)
  }
  return byPerson
}

export function cohortsByPerson(rows: readonly { readonly person_id: Id; readonly cohort_id: Id }[]): Batch['cohorts'] {
  const byPerson = new Map<number, Set<number>>()
  for (const row of rows) {
    const id = Number(row.person_id)
    const cohorts = byPerson.get(id) ?? new Set<number>()
    byPerson.set(id, cohorts.add(Number(row.cohort_id)))
  }
  return byPerson
}

/** SQL for the histories of a range of persons, on both databases. The first placeholder is the first day of the longest window. */
export const historiesQuery = (
  placeholder: (position: number) => string,
  joined: (text: string) => string,
  eventIds: readonly number[],
): string => `
  select person_id, event_id, min(day) as first_day,
    ${joined(`case when day >= ${placeholder(1)} then day || ':' || count end`)} as days
  from person_event_days
  where person_id between ${placeholder(2)} and ${placeholder(3)} and event_id in (${eventIds.join(', ')})
  group by person_id, event_id`

export function historiesByPerson(
  rows: readonly {
    readonly person_id: Id
    readonly event_id: Id
    readonly first_day: Id
    readonly days: string | null
  }[],
  names: ReadonlyMap<number, string>,
): Batch['histories'] {
  const byPerson = new Map<number, Record<string, HistoryText>>()
  for (const row of rows) {
    const id = Number(row.person_id)
    const histories = byPerson.get(id) ?? (Object.create(null) as Record<string, HistoryText>)
    const name = names.get(Number(row.event_id))!
    histories[name] = joinTexts(histories[name], { firstDay: Number(row.first_day), days: row.days })
    byPerson.set(id, histories)
  }
  return byPerson
}

/** As `joinHistories`. */
const joinTexts = (one: HistoryText | undefined, other: HistoryText): HistoryText =>
  one === undefined
    ? other
    : {
        firstDay: Math.min(one.firstDay, other.firstDay),
        days: [one.days, other.days].filter(days => days !== null).join() || null,
      }

export const historyOf = ({ firstDay, days }: HistoryText): EventHistory => ({ firstDay, days: readDays(days) })
