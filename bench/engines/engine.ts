/** What an engine can be asked to do: each a number of calls, which it answers. */
export type Engine = Readonly<Record<string, () => number | Promise<number>>>

export interface EngineTurn {
  /** Of one call. */
  readonly nanoseconds: number
}

/** So many suffice for engines that take a good part of a millisecond. */
export const someSubjects = 100

let seen = 0

/** Takes notice of a result, so that no compiler finds out that nobody needs it. */
export function notice(result: number): void {
  seen += result
  if (seen < 0) throw new Error('Results are counted, and counts do not go below zero.')
}
