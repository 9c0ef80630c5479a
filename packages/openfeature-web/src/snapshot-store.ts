import type { FlagSnapshot } from './ofrep.ts'

/** Where the browser keeps the values of the last visit. */
export interface SnapshotStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

export interface SnapshotStore {
  /** Undefined unless the stored values belong to the same server, project and context, and are not too old. */
  read(context: object): FlagSnapshot | undefined
  write(context: object, snapshot: FlagSnapshot): void
}

const ageMillisecondsMax = 30 * 24 * 60 * 60_000

/** One entry per server and project: the values of another user on the same device are replaced, never mixed. */
export function createSnapshotStore(
  storage: SnapshotStorage | undefined,
  url: string,
  token: string,
  now: () => number = Date.now,
): SnapshotStore {
  const name = `halyard:${url}:${token}`
  return {
    read(context) {
      try {
        const entry = JSON.parse(storage?.getItem(name) ?? 'null') as Entry | null
        if (entry === null || entry.context !== contextText(context)) return undefined
        return now() - entry.at < ageMillisecondsMax && Array.isArray(entry.snapshot.flags) ? entry.snapshot : undefined
      } catch {
        return undefined
      }
    },
    write(context, snapshot) {
      try {
        storage?.setItem(name, JSON.stringify({ context: contextText(context), at: now(), snapshot } satisfies Entry))
      } catch {
        // The storage is full or forbidden: the next visit starts without values.
      }
    },
  }
}

interface Entry {
  readonly context: string
  readonly at: number
  readonly snapshot: FlagSnapshot
}

/** The same text for the same context, whatever the order of its fields. */
export function contextText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner,
  )
}
