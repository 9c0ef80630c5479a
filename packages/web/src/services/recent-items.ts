/** A page that was opened lately. */
export interface RecentItem {
  readonly path: string
  readonly label: string
  readonly kind: RecentKind
}

export const recentKinds = ['flag', 'cohort', 'person', 'plugin'] as const
export type RecentKind = (typeof recentKinds)[number]

const storageName = 'halyard.recent'
const itemsMax = 8

export function readRecent(storage: Pick<Storage, 'getItem'>): readonly RecentItem[] {
  try {
    const value: unknown = JSON.parse(storage.getItem(storageName) ?? '[]')
    return Array.isArray(value) ? value.filter(isRecent).slice(0, itemsMax) : []
  } catch {
    return []
  }
}

/** Newest first, each page once. */
export function recordRecent(storage: Pick<Storage, 'getItem' | 'setItem'>, item: RecentItem): void {
  const others = readRecent(storage).filter(({ path }) => path !== item.path)
  try {
    storage.setItem(storageName, JSON.stringify([item, ...others].slice(0, itemsMax)))
  } catch {
    // A full storage costs only a suggestion.
  }
}

export const clearRecent = (storage: Pick<Storage, 'removeItem'>): void => storage.removeItem(storageName)

/** Paths are followed as they are, so only local ones are accepted. */
const isRecent = (value: unknown): value is RecentItem => {
  const { path, label, kind } = (value ?? {}) as Partial<Record<keyof RecentItem, unknown>>
  return (
    typeof path === 'string' &&
    /^\/(?![/\\])/.test(path) &&
    typeof label === 'string' &&
    recentKinds.some(each => each === kind)
  )
}
