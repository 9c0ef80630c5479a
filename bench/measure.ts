/** One measured value with its target. */
export interface Figure {
  readonly measure: string
  readonly value: number
  readonly unit: string
  /** p10 and p90 of the rounds, if there were several. */
  readonly spread?: readonly [number, number]
  readonly atMost?: number
  readonly atLeast?: number
  readonly note?: string
}

/** Size of a run: `full` for the published table, `smoke` for a first look, `tiny` to test the benchmark itself. */
export interface Size {
  readonly name: 'full' | 'smoke' | 'tiny'
  readonly rounds: number
  readonly roundMilliseconds: number
  readonly connections: number
  readonly flagCounts: readonly number[]
  readonly changes: number
  readonly idleStreams: number
  readonly persons: number
  /** Those of them that send requests again and again; the others are seen once. */
  readonly activePersons: number
  /** Flags in the list of the dashboard. */
  readonly listedFlags: number
  /** Numbers of stored persons, growing. */
  readonly scalePersons: readonly number[]
  readonly scaleRoundMilliseconds: number
  readonly scaleEventMilliseconds: number
  readonly scaleStreams: number
  /** The databases of `scale-behavior`. */
  readonly behaviorDatabases: readonly string[]
}

const behaviorDatabases = ['SQLite', 'PostgreSQL']

export const sizes: Readonly<Record<Size['name'], Size>> = {
  full: {
    name: 'full',
    // Many short rounds: the speed of a shared machine changes within seconds.
    rounds: 15,
    roundMilliseconds: 400,
    connections: 32,
    flagCounts: [10, 100, 1000],
    changes: 200,
    idleStreams: 10_000,
    persons: 100_000,
    activePersons: 20_000,
    listedFlags: 10_000,
    scalePersons: [1_000_000, 3_000_000, 10_000_000],
    scaleRoundMilliseconds: 2000,
    scaleEventMilliseconds: 600_000,
    scaleStreams: 20_000,
    behaviorDatabases,
  },
  smoke: {
    name: 'smoke',
    rounds: 4,
    roundMilliseconds: 600,
    connections: 32,
    flagCounts: [100],
    changes: 30,
    idleStreams: 500,
    persons: 10_000,
    activePersons: 2000,
    listedFlags: 1000,
    scalePersons: [10_000, 30_000],
    scaleRoundMilliseconds: 600,
    scaleEventMilliseconds: 10_000,
    scaleStreams: 1000,
    behaviorDatabases,
  },
  tiny: {
    name: 'tiny',
    rounds: 1,
    roundMilliseconds: 50,
    connections: 2,
    flagCounts: [10],
    changes: 3,
    idleStreams: 5,
    persons: 100,
    activePersons: 20,
    listedFlags: 50,
    scalePersons: [200, 600],
    scaleRoundMilliseconds: 50,
    scaleEventMilliseconds: 500,
    scaleStreams: 20,
    behaviorDatabases,
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

/** Ratios within each round, because measurements close in time saw the same machine state. */
export const ratios = (over: readonly number[], under: readonly number[]): number[] =>
  over.map((value, round) => value / under[round]!)

/** Runs all contestants in every round, so that other load on the machine affects them equally. */
export async function interleave<T>(
  contestants: Readonly<Record<string, () => Promise<T>>>,
  rounds: number,
  warmUps = Math.ceil((rounds * 2) / 7),
): Promise<Record<string, T[]>> {
  const results: Record<string, T[]> = {}
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const result = await run()
      results[name] ??= []
      if (round >= 0) results[name].push(result)
    }
  }
  return results
}

export function isMet({ value, atMost, atLeast }: Figure): boolean | undefined {
  if (atMost !== undefined) return value <= atMost
  return atLeast === undefined ? undefined : value >= atLeast
}
