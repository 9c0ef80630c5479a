import type { Flag } from '../../../domain/flag.ts'

/**
 * The flags and values that are counted. Tokens are public, so a client could send any number of invented keys and values: only keys and
 * values that exist in the project get their own series.
 */
export interface CountedFlags {
  /** The label under which the value is counted; undefined when the project has no such flag. */
  valueOf(flagKey: string, value: unknown): string | undefined
  /** Flags whose values are counted with every event: those with rollback conditions. */
  readonly watched: readonly string[]
  /** Flags whose values are counted with every event, but by the hour: those that are rolled out now. */
  readonly rollingOut: readonly string[]
}

const otherValue = '(other)'
/** Longer keys do not fit into the index of `event_counts`. */
const watchedKeyCharactersMax = 200
/** Each multiplies the rows that a batch of events writes. */
export const rollingOutMax = 5

export function countedFlags(flags: Iterable<Flag>): CountedFlags {
  const values = new Map<string, ReadonlySet<string>>()
  const watched: string[] = []
  const rollingOut: Flag[] = []
  for (const flag of flags) {
    values.set(flag.key, valuesOf(flag))
    if (flag.key.length > watchedKeyCharactersMax) continue
    if (Object.keys(flag.rollbackConditions).length > 0) watched.push(flag.key)
    else if (isRollingOut(flag)) rollingOut.push(flag)
  }
  return {
    valueOf(flagKey, value) {
      const flagValues = values.get(flagKey)
      if (!flagValues) return undefined
      const text = textOf(value)
      return flagValues.has(text) || /^holdout-\d{1,12}$/.test(text) ? text : otherValue
    },
    watched,
    // The ones changed last.
    rollingOut: rollingOut
      .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
      .slice(0, rollingOutMax)
      .map(({ key }) => key),
  }
}

/** On for a part of the people of a condition, or with variants. */
function isRollingOut({ active, filters }: Flag): boolean {
  const { groups, multivariate } = filters as { groups?: unknown; multivariate?: { variants?: unknown } | null }
  const isPartial = (group: { rollout_percentage?: unknown } | null) => {
    const percentage = group?.rollout_percentage
    return typeof percentage === 'number' && percentage > 0 && percentage < 100
  }
  const variants = multivariate?.variants
  return (
    active && ((Array.isArray(variants) && variants.length > 1) || (Array.isArray(groups) && groups.some(isPartial)))
  )
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

function valuesOf({ filters }: Flag): ReadonlySet<string> {
  const { variants } = (filters.multivariate ?? {}) as { variants?: unknown }
  const keys = Array.isArray(variants)
    ? variants.map(variant => variant?.key).filter(key => typeof key === 'string')
    : []
  return new Set(['', 'true', 'false', ...keys])
}
