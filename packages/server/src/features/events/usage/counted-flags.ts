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
}

const otherValue = '(other)'
/** Longer keys do not fit into the index of `event_counts`. */
const watchedKeyCharactersMax = 200

export function countedFlags(flags: Iterable<Flag>): CountedFlags {
  const values = new Map<string, ReadonlySet<string>>()
  const watched: string[] = []
  for (const flag of flags) {
    values.set(flag.key, valuesOf(flag))
    const isWatched = Object.keys(flag.rollbackConditions).length > 0
    if (isWatched && flag.key.length <= watchedKeyCharactersMax) watched.push(flag.key)
  }
  return {
    valueOf(flagKey, value) {
      const flagValues = values.get(flagKey)
      if (!flagValues) return undefined
      const text = textOf(value)
      return flagValues.has(text) || /^holdout-\d{1,12}$/.test(text) ? text : otherValue
    },
    watched,
  }
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

function valuesOf({ filters }: Flag): ReadonlySet<string> {
  const { variants } = (filters.multivariate ?? {}) as { variants?: unknown }
  const keys = Array.isArray(variants)
    ? variants.map(variant => variant?.key).filter(key => typeof key === 'string')
    : []
  return new Set(['', 'true', 'false', ...keys])
}
