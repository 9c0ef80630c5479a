/** The tasks of an engine; each runs a number of calls and returns that number. */
export type Engine = Readonly<Record<string, () => number | Promise<number>>>

export interface EngineRound {
  /** Per call. */
  readonly nanoseconds: number
}

/** Number of subjects for engines that take a large part of a millisecond per call. */
export const someSubjects = 100

let seen = 0

/** Consumes a result, so that the compiler cannot eliminate the computation. */
export function consume(result: number): void {
  seen += result
  if (seen < 0) throw new Error('The sum of results must not be negative.')
}
