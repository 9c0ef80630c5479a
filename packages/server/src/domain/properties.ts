/** Properties of a person or a group. Any JSON values. */
export type Properties = Readonly<Record<string, unknown>>

export const propertiesCharactersMax = 512 * 1024

/** A change to properties. Applied in this order: set once, set, unset. */
export interface PropertyUpdate {
  readonly set: Properties
  /** Only properties that are not set yet. */
  readonly setOnce: Properties
  readonly unset: readonly string[]
}

/** Returns the same object when the update changes nothing, so that callers can skip the write. */
export function updateProperties(current: Properties, update: PropertyUpdate): Properties {
  const next = new Map(Object.entries(current))
  let hasChanged = false
  const put = (name: string, value: unknown) => {
    if (next.has(name) && isSame(next.get(name), value)) return
    next.set(name, value)
    hasChanged = true
  }
  for (const [name, value] of Object.entries(update.setOnce)) if (!next.has(name)) put(name, value)
  for (const [name, value] of Object.entries(update.set)) put(name, value)
  for (const name of update.unset) if (next.delete(name)) hasChanged = true
  return hasChanged ? Object.fromEntries(next) : current
}

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && JSON.stringify(a) === JSON.stringify(b))

export const isEmptyUpdate = ({ set, setOnce, unset }: PropertyUpdate): boolean =>
  unset.length === 0 && Object.keys(set).length === 0 && Object.keys(setOnce).length === 0
