/** One number of the bench, with what it is held against. */
export interface Figure {
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** The tenth and ninetieth hundredth of the turns, where there were several. */
  readonly spread?: readonly [number, number]
  readonly atMost?: number
  readonly atLeast?: number
  /** Which way is worse, for a figure that a busy machine leaves alone: the guard holds it against what is on record. */
  readonly guard?: 'more is worse' | 'less is worse'
  readonly note?: string
}

/** How much a run does: `full` for the published table, `smoke` for a guard, `tiny` to see that the bench itself works. */
export interface Size {
  readonly name: 'full' | 'smoke' | 'tiny'
  readonly turns: number
  readonly turnMilliseconds: number
  readonly users: number
  readonly connections: number
  readonly flagCounts: readonly number[]
  readonly manyFlags: number
  readonly changes: number
  readonly idleStreams: number
  readonly persons: number
  /** Rows in the database that most of its requests should not notice. */
  readonly stored: number
  readonly starts: number
  readonly engineTurns: number
}

export const sizes: Readonly<Record<Size['name'], Size>> = {
  full: {
    name: 'full',
    turns: 7,
    turnMilliseconds: 1500,
    users: 50_000,
    connections: 32,
    flagCounts: [10, 100, 1000],
    manyFlags: 1000,
    changes: 200,
    idleStreams: 10_000,
    persons: 1_000_000,
    stored: 100_000,
    starts: 5,
    engineTurns: 40,
  },
  smoke: {
    name: 'smoke',
    turns: 4,
    turnMilliseconds: 600,
    users: 5000,
    connections: 32,
    flagCounts: [100],
    manyFlags: 100,
    changes: 30,
    idleStreams: 500,
    persons: 200_000,
    stored: 10_000,
    starts: 1,
    engineTurns: 10,
  },
  tiny: {
    name: 'tiny',
    turns: 1,
    turnMilliseconds: 50,
    users: 50,
    connections: 2,
    flagCounts: [10],
    manyFlags: 10,
    changes: 3,
    idleStreams: 5,
    persons: 100,
    stored: 1000,
    starts: 1,
    engineTurns: 1,
  },
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const spreadOf = (values: readonly number[]): readonly [number, number] => [
  quantile(values, 0.1),
  quantile(values, 0.9),
]

/** Turn by turn, the first over the second: neighbours in time saw the same machine. */
export const ratios = (over: readonly number[], under: readonly number[]): number[] =>
  over.map((value, turn) => value / under[turn]!)

/** Each contestant in every turn, so that whatever else the machine does meets them all alike. */
export async function interleave<T>(
  contestants: Readonly<Record<string, () => Promise<T>>>,
  turns: number,
  warmUps = Math.min(turns, 2),
): Promise<Record<string, T[]>> {
  const results: Record<string, T[]> = {}
  for (let turn = -warmUps; turn < turns; turn++) {
    for (const [name, run] of Object.entries(contestants)) {
      const result = await run()
      results[name] ??= []
      if (turn >= 0) results[name].push(result)
    }
  }
  return results
}

export function isMet({ value, atMost, atLeast }: Figure): boolean | undefined {
  if (atMost !== undefined) return value <= atMost
  return atLeast === undefined ? undefined : value >= atLeast
}

/** More than any noise of a guarded figure, and less than a change that somebody should know of. */
export const alarmFactor = 2.4

/** Whether a figure is so much worse than the one on record that it cannot be noise. */
export function isAlarming({ value, guard }: Figure, onRecord: number | undefined): boolean {
  if (guard === undefined || onRecord === undefined) return false
  const worse = guard === 'more is worse' ? value / onRecord : onRecord / value
  return !(worse <= alarmFactor)
}
