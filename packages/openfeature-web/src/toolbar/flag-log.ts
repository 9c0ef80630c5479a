/** A flag that the page has read, with its last result. */
export interface LoggedFlag {
  readonly key: string
  readonly value: unknown
  readonly reason: string | undefined
  readonly variant: string | undefined
  /** The server's own code for the reason, such as `condition_match`. */
  readonly reasonCode: string | undefined
}

/** The flags that the page uses, in the order of their first use. */
export interface FlagLog {
  /** For `OpenFeature.addHooks`. */
  readonly hook: { finally(context: unknown, details: Details): void }
  readonly flags: readonly LoggedFlag[]
  onChange(listener: () => void): () => void
}

interface Details {
  readonly flagKey: string
  readonly value: unknown
  readonly reason?: string
  readonly variant?: string
  readonly errorCode?: string
  readonly flagMetadata?: Readonly<Record<string, unknown>>
}

const flagsMax = 500

export function createFlagLog(): FlagLog {
  const flags = new Map<string, LoggedFlag>()
  const listeners = new Set<() => void>()
  let isPlanned = false

  function note({ flagKey: key, value, reason, variant, errorCode, flagMetadata }: Details): void {
    const code = flagMetadata?.reasonCode
    const logged = {
      key,
      value,
      variant,
      reason: errorCode ?? reason,
      reasonCode: typeof code === 'string' ? code : undefined,
    }
    const previous = flags.get(key)
    if (previous ? isEqual(previous, logged) : flags.size >= flagsMax) return
    flags.set(key, logged)
    if (isPlanned) return
    isPlanned = true
    // A page reads many flags while it renders.
    queueMicrotask(() => {
      isPlanned = false
      for (const listener of listeners) listener()
    })
  }

  return {
    hook: { finally: (_context, details) => note(details) },
    get flags() {
      return [...flags.values()]
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const isEqual = (a: LoggedFlag, b: LoggedFlag): boolean =>
  a.value === b.value && a.reason === b.reason && a.variant === b.variant && a.reasonCode === b.reasonCode
