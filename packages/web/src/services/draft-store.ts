/** Unsaved edits of this tab. They survive a reload, an expired session and a server that is down. */
export interface DraftStore {
  /** Undefined when there is none, or none that can be read. */
  read(id: string): unknown
  write(id: string, unsaved: unknown): void
  remove(id: string): void
  isEmpty(): boolean
  /** On sign-out: the next user of this tab must not see them. */
  clear(): void
}

const prefix = 'halyard.draft.'

export function createDraftStore(storage: Storage): DraftStore {
  const names = () =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '').filter(name =>
      name.startsWith(prefix),
    )
  return {
    read(id) {
      try {
        return JSON.parse(storage.getItem(prefix + id) ?? 'null') ?? undefined
      } catch {
        return undefined
      }
    },
    write(id, unsaved) {
      try {
        storage.setItem(prefix + id, JSON.stringify(unsaved))
      } catch {
        // Larger than the browser's quota: the edit is still on screen.
      }
    },
    remove: id => storage.removeItem(prefix + id),
    isEmpty: () => names().length === 0,
    clear() {
      for (const name of names()) storage.removeItem(name)
    },
  }
}
