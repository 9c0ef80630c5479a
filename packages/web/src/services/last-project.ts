const storageName = 'halyard.last-project'

/** The project that this browser showed last: pages outside of projects go on with it. */
export const readLastProject = (storage: Pick<Storage, 'getItem'>): string | undefined =>
  storage.getItem(storageName) ?? undefined

export function recordLastProject(storage: Pick<Storage, 'setItem'>, projectId: string): void {
  try {
    storage.setItem(storageName, projectId)
  } catch {
    // A full storage costs only the choice.
  }
}
