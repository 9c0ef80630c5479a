import type { ChangeFeed } from '../storage/changes/changes.ts'
import { type AcceptsToken, acceptsToken as acceptsOwnToken } from '../tenancy.ts'
import type { ProjectSource } from './projects/project-source.ts'
import { createRefresher } from './projects/refresh-project.ts'
import type { ServedProject } from './projects/served-project.ts'
import { type Entry, entriesBeyond, newEntry, noteChange } from './projects/snapshot-entry.ts'
import { createTokenIndex } from './projects/token-index.ts'

/** The projects in memory, updated by the change feed. */
export interface Snapshots {
  /** The cached project of a token. Undefined when the token is unknown or not loaded yet. */
  cached(token: string): ServedProject | undefined
  /** Undefined when no project has the token. Raises `unavailable` when it must be loaded and the database cannot be reached. */
  forToken(token: string): Promise<ServedProject | undefined>
  /** By the hash of one of the project's secret keys; otherwise as `forToken`. */
  forSecretKey(hash: string): Promise<ServedProject | undefined>
  /** Undefined when there is no such project; otherwise as `forToken`. */
  forProject(projectId: number): Promise<ServedProject | undefined>
  /** The version in memory at this moment; undefined when the project is not loaded. */
  current(projectId: number): ServedProject | undefined
  /** Keeps a cached project in memory until the returned function is called. */
  keep(projectId: number): () => void
  /** Called after a project in memory has changed; `after` is undefined when it was removed. */
  onSwap(listener: SwapListener): () => void
  /** The number of projects in memory. */
  readonly size: number
  close(): void
}

export type SwapListener = (before: ServedProject, after: ServedProject | undefined) => void

export interface SnapshotsOptions {
  readonly source: ProjectSource
  readonly changes: Pick<ChangeFeed, 'subscribe'>
  /** Beyond any of these limits, the least recently used projects are evicted. */
  readonly projectsMax?: number
  readonly flagsMax?: number
  readonly bytesMax?: number
  /** A stale project could not be read; the version in memory stays in use. */
  readonly onRefreshFailed?: () => void
  readonly acceptsToken?: AcceptsToken
}

const projectsMaxDefault = 5_000
const flagsMaxDefault = 200_000
const bytesMaxDefault = 256 * 1024 * 1024

export function createSnapshots({
  source,
  changes,
  projectsMax = projectsMaxDefault,
  flagsMax = flagsMaxDefault,
  bytesMax = bytesMaxDefault,
  onRefreshFailed = () => {},
  acceptsToken = acceptsOwnToken,
}: SnapshotsOptions): Snapshots {
  const entries = new Map<number, Entry>()
  const listeners = new Set<SwapListener>()
  const tokens = createTokenIndex(source.findIdByToken)
  const secretKeys = createTokenIndex(source.findIdBySecretKey)
  const refresher = createRefresher(source, { onRead: swap, onFailed: onRefreshFailed })
  let uses = 0

  /** One load per project, shared by concurrent callers. */
  function load(projectId: number): Promise<ServedProject | undefined> {
    const entry: Entry = entries.get(projectId) ?? newEntry(projectId)
    entries.set(projectId, entry)
    entry.loading ??= refresher.read(projectId).then(
      served => settle(entry, served),
      error => {
        entries.delete(projectId)
        throw error
      },
    )
    return entry.loading
  }

  /** Changes that arrive during a load are applied before the project is served. */
  async function settle(entry: Entry, served: ServedProject | undefined): Promise<ServedProject | undefined> {
    if (served) entry.current = served
    else remove(entry)
    await refresher.refresh(entry)
    entry.loading = undefined
    evict(entry)
    return entry.current
  }

  function swap(entry: Entry, after: ServedProject | undefined): void {
    const before = entry.current
    if (!before) return
    entry.current = after
    if (after?.project.apiToken !== before.project.apiToken) tokens.forget(entry.projectId)
    if (!after) remove(entry)
    for (const listener of listeners) listener(before, after)
  }

  function remove(entry: Entry): void {
    clearTimeout(entry.retry)
    entry.current = undefined
    entries.delete(entry.projectId)
    tokens.forget(entry.projectId)
    secretKeys.forget(entry.projectId)
  }

  /** Evicts the least recently used projects, except the one just loaded. */
  function evict(loaded: Entry): void {
    for (const entry of entriesBeyond({ projectsMax, flagsMax, bytesMax }, entries.values(), loaded)) remove(entry)
  }

  async function find(projectId: number): Promise<ServedProject | undefined> {
    const entry = entries.get(projectId)
    if (!entry?.current || entry.loading) return load(projectId)
    entry.lastUse = ++uses
    return entry.current
  }

  const unsubscribe = changes.subscribe(async batch => {
    if (batch.some(change => change.topic === 'project')) {
      tokens.forgetUnknown()
      secretKeys.forgetUnknown()
    }
    const touched = new Set<Entry>()
    for (const change of batch) {
      if (change.topic === 'project' && change.projectId !== null) secretKeys.forget(change.projectId)
      const entry = change.projectId === null ? undefined : entries.get(change.projectId)
      if (entry && noteChange(entry, change)) touched.add(entry)
    }
    await refreshAll(touched)
  }, restart)

  /** A project that is being loaded applies noted changes after the read. */
  async function refreshAll(stale: Iterable<Entry>): Promise<void> {
    await Promise.all([...stale].filter(entry => !entry.loading).map(refresher.refresh))
  }

  /** The version in memory stays in use until it has been read again. */
  async function restart(): Promise<void> {
    tokens.forgetUnknown()
    secretKeys.forgetAll()
    for (const entry of entries.values()) entry.isStale = true
    await refreshAll(entries.values())
  }

  return {
    cached(token) {
      const projectId = tokens.get(token)
      const entry = projectId === undefined ? undefined : entries.get(projectId)
      if (!entry?.current || entry.loading || !acceptsToken(entry.current.project, token)) return undefined
      entry.lastUse = ++uses
      return entry.current
    },
    async forToken(token) {
      const projectId = await tokens.find(token)
      const served = projectId === undefined ? undefined : await find(projectId)
      // The token may have been replaced between the two lookups, or expired.
      return served && acceptsToken(served.project, token) ? served : undefined
    },
    async forSecretKey(hash) {
      const projectId = await secretKeys.find(hash)
      return projectId === undefined ? undefined : find(projectId)
    },
    forProject: find,
    current: projectId => entries.get(projectId)?.current,
    keep(projectId) {
      const entry = entries.get(projectId)
      if (entry) entry.keepers += 1
      return () => {
        if (entry) entry.keepers -= 1
      }
    },
    onSwap(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    get size() {
      return entries.size
    },
    close() {
      unsubscribe()
      refresher.close(entries.values())
    },
  }
}
