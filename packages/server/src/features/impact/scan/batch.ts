/** What has to be read about each person or group. Where nothing is asked for, nothing is read. */
export interface Needs {
  readonly ids: boolean
  /** Distinct ids, or the keys of groups. */
  readonly identities: boolean
  readonly staticCohorts: readonly number[]
  /** Keys of flags whose stored hash keys are wanted. */
  readonly continuityFlags: readonly string[]
}

/** Some persons or groups in the order of their ids, column by column. */
export interface Batch {
  readonly size: number
  /** Whether there may be more behind it. */
  readonly hasMore: boolean
  /** The id of the last one; undefined in an empty batch. */
  readonly last: number | undefined
  /** The properties, a JSON object on each line. */
  readonly properties: string
  readonly ids: readonly number[]
  readonly identities: readonly string[]
  /** The static cohorts of each person that is in one. */
  readonly cohorts: ReadonlyMap<number, ReadonlySet<number>>
  /** The stored hash keys by flag of each person that has some. */
  readonly hashKeys: ReadonlyMap<number, Readonly<Record<string, string>>>
}

export interface BatchOrder {
  readonly descending: boolean
  readonly search?: string | undefined
}

/** A thread that runs out of memory takes the process along, so a batch is no longer than this, whatever people have written about themselves. */
export const batchBytesMax = 16_000_000

/** Where batches come from. */
export interface Source {
  /** At most `rows` behind an id, fewer when they are long; undefined means from the very beginning. */
  next(after: number | undefined, rows: number): Promise<Batch>
  /** From now on until `close` everything is seen as of one moment. */
  freeze(): Promise<void>
  close(): Promise<void>
}

/** What a source has read at once: nothing but lengths of those who were too long. */
export interface Read {
  readonly size: Id
  /** How many of them came with their properties. */
  readonly complete: Id
  /** How long the properties of all of them are together; null when there is nobody. */
  readonly bytes: Id | null
}

/**
 * Reads so many rows, or as many as may be read at once, and answers how many it tried. In one go as long as nobody is longer than their
 * share: then all of them together cannot be too long. To add up lengths row by row takes longer than to read what is usual.
 */
export async function readWithinBounds<R extends Read>(
  rows: number,
  /** Leaves out the properties of those who are longer than `bytesMax`. */
  read: (rows: number, bytesMax: number) => R | Promise<R>,
  /** How many of so many rows are together no longer than a batch may be. */
  countFitting: (rows: number) => Id | Promise<Id>,
): Promise<{ readonly read: R; readonly rows: number }> {
  const found = await read(rows, Math.floor(batchBytesMax / rows))
  if (Number(found.complete) === Number(found.size)) return { read: found, rows }
  const isFitting = Number(found.bytes) <= batchBytesMax
  // One that is longer than all of them may be comes alone.
  const fitting = isFitting ? rows : Math.max(Number(await countFitting(rows)), 1)
  return { read: await read(fitting, Number.MAX_SAFE_INTEGER), rows: fitting }
}

/** A driver may answer 64-bit numbers as text. */
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
