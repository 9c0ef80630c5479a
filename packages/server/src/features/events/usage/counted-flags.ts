import type { Flag } from '../../flags/flag.ts'

/**
 * Which flags and which of their values are counted. Tokens are public: whoever has one could send any number of made-up keys and
 * values, so only what the project really has gets a series of its own.
 */
export interface CountedFlags {
  /** The value as it is counted; undefined when the project has no such flag. */
  valueOf(flagKey: string, value: unknown): string | undefined
  /** Flags whose values are counted with every event: those that could be rolled back. */
  readonly watched: readonly string[]
}

const otherValue = '(other)'
/** Longer keys would not fit into the index over the counts. */
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
      const known = values.get(flagKey)
      if (!known) return undefined
      const text = textOf(value)
      return known.has(text) || /^holdout-\d{1,12}$/.test(text) ? text : otherValue
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
