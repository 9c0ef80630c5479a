import type { Change } from '../../storage/changes/changes.ts'
import type { ServedProject } from './served-project.ts'

/** A project in memory or being loaded. */
export interface Entry {
  readonly projectId: number
  current: ServedProject | undefined
  loading: Promise<ServedProject | undefined> | undefined
  refreshing: Promise<void> | undefined
  retry: NodeJS.Timeout | undefined
  /** Failed refreshes in a row. */
  failures: number
  /** Changes that are not yet in `current`. */
  readonly staleFlags: Set<number>
  isStale: boolean
  lastUse: number
  /** The number of callers that keep it in memory. */
  keepers: number
}

export const newEntry = (projectId: number): Entry => ({
  projectId,
  current: undefined,
  loading: undefined,
  refreshing: undefined,
  retry: undefined,
  failures: 0,
  staleFlags: new Set(),
  isStale: false,
  lastUse: 0,
  keepers: 0,
})

/** Returns whether the change affects the served project. */
export function noteChange(entry: Entry, change: Change): boolean {
  if (change.topic === 'flag') entry.staleFlags.add(Number(change.entityId))
  else if (change.topic === 'cohort' || change.topic === 'project') entry.isStale = true
  else return false
  return true
}

export interface SnapshotLimits {
  readonly projectsMax: number
  readonly flagsMax: number
  readonly bytesMax: number
}

/** The least recently used entries whose removal brings the others within the limits; never `loaded`, and none in use. */
export function entriesBeyond(limits: SnapshotLimits, all: Iterable<Entry>, loaded: Entry): readonly Entry[] {
  const entries = [...all]
  let projects = entries.length
  let flags = 0
  let bytes = 0
  for (const { current } of entries) {
    flags += current?.live.length ?? 0
    bytes += current?.bytes ?? 0
  }
  const fits = () => projects <= limits.projectsMax && flags <= limits.flagsMax && bytes <= limits.bytesMax
  const evicted: Entry[] = []
  if (fits()) return evicted
  for (const entry of entries.filter(entry => entry !== loaded).sort((a, b) => a.lastUse - b.lastUse)) {
    if (fits()) break
    if (entry.loading || entry.keepers > 0) continue
    projects -= 1
    flags -= entry.current?.live.length ?? 0
    bytes -= entry.current?.bytes ?? 0
    evicted.push(entry)
  }
  return evicted
}
