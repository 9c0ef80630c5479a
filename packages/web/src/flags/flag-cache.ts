import type { Flag, FlagSummary, FlagWrite } from '@halyard/contract'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { summaryOf } from './flag-summary.ts'
import {
  type ListedFlag,
  type OptimisticFlag,
  rebased,
  visibleFlag,
  withoutPatch,
  withPatch,
} from './optimistic-flag.ts'

/** Which flags a list holds. */
export type FlagKind = 'live' | 'deleted' | 'stale' | 'archived'

export interface FlagPage {
  readonly count: number
  readonly results: readonly FlagSummary[]
}

export type FlagPages = InfiniteData<FlagPage>

/** Up to this many flags are searched and sorted in the browser. It is the server's maximum page size. */
export const flagsInMemoryMax = 1000

const flagKinds = ['live', 'deleted', 'stale', 'archived'] as const
export const listKey = (projectId: string, kind: FlagKind) => ['flags', projectId, kind] as const
/** Pages of a long list, which the server searches and sorts. */
export const windowKey = (projectId: string) => ['flag-window', projectId] as const
export const facetsKey = (projectId: string) => ['flag-facets', projectId] as const
/** The first parts of the keys of lists. */
export const flagListKinds: readonly string[] = ['flags', 'flag-window', 'flag-facets']
export const flagKey = (projectId: string, flagId: number | string) => ['flag', projectId, String(flagId)] as const

/** Not in the query cache, whose structural sharing would replace the patches by equal copies. */
const optimisticFlags = new WeakMap<QueryClient, Map<string, OptimisticFlag>>()

function optimisticOf(queries: QueryClient): Map<string, OptimisticFlag> {
  const optimistic = optimisticFlags.get(queries) ?? new Map<string, OptimisticFlag>()
  optimisticFlags.set(queries, optimistic)
  return optimistic
}

const optimisticKey = (projectId: string, flagId: number): string => `${projectId}/${flagId}`

/** Stores a flag as the server has sent it, in every list that should hold it; nothing is fetched. */
export function cacheFlag(queries: QueryClient, projectId: string, flag: Flag): void {
  cacheFlags(queries, projectId, [flag])
}

export function cacheFlags(queries: QueryClient, projectId: string, flags: readonly ListedFlag[]): void {
  const optimistic = optimisticOf(queries)
  const visible = flags.map(flag => {
    const key = optimisticKey(projectId, flag.id)
    const pending = optimistic.get(key)
    if (!pending) return flag
    const next = rebased(pending, flag)
    optimistic.set(key, next)
    return visibleFlag(next)
  })
  show(queries, projectId, visible)
  if (flags.length > 0) refreshWindows(queries, projectId)
}

/** Shows a patch before the server has confirmed it. */
export function applyPatch(queries: QueryClient, projectId: string, flag: ListedFlag, patch: FlagWrite): void {
  const optimistic = optimisticOf(queries)
  const key = optimisticKey(projectId, flag.id)
  const cached = cachedFlag(queries, projectId, flag.id)
  const base = cached && (hasDefinition(cached) || cached.version > flag.version) ? cached : flag
  const next = withPatch(optimistic.get(key), base, patch)
  optimistic.set(key, next)
  show(queries, projectId, [visibleFlag(next)])
}

/**
 * Ends a patch: with the server's response when it was confirmed, without one when it was rejected. Only the fields of
 * this patch go back; later patches and newer server data stay.
 */
export function settlePatch(
  queries: QueryClient,
  projectId: string,
  flagId: number,
  patch: FlagWrite,
  response?: Flag,
): void {
  const optimistic = optimisticOf(queries)
  const key = optimisticKey(projectId, flagId)
  const pending = optimistic.get(key)
  if (!pending) {
    if (response) cacheFlags(queries, projectId, [response])
    return
  }
  // A refetch stores server data directly; it is newer than the base when its version is.
  const cached = cachedFlag(queries, projectId, flagId)
  const sources = [cached && cached.version > pending.base.version ? cached : undefined, response]
  const next = sources.reduce<OptimisticFlag>(
    (state, server) => (server ? rebased(state, server) : state),
    withoutPatch(pending, patch),
  )
  if (next.patches.length > 0) optimistic.set(key, next)
  else optimistic.delete(key)
  show(queries, projectId, [visibleFlag(next)])
  if (response) refreshWindows(queries, projectId)
}

/** The flag as any cached query has it, with its definition if one does. */
function cachedFlag(queries: QueryClient, projectId: string, flagId: number): ListedFlag | undefined {
  const single = queries.getQueryData<Flag>(flagKey(projectId, flagId))
  if (single) return single
  const lists = flagKinds.flatMap(kind => queries.getQueryData<FlagPages>(listKey(projectId, kind))?.pages ?? [])
  const windows = queries.getQueriesData<FlagPage>({ queryKey: windowKey(projectId) })
  for (const page of [...lists, ...windows.map(([, data]) => data)]) {
    const flag = page?.results.find(({ id }) => id === flagId)
    if (flag) return flag
  }
  return undefined
}

const hasDefinition = (flag: ListedFlag): flag is Flag => !('coverage' in flag)

function show(queries: QueryClient, projectId: string, flags: readonly ListedFlag[]): void {
  for (const flag of flags) {
    const key = flagKey(projectId, flag.id)
    if (hasDefinition(flag)) queries.setQueryData(key, flag)
    else if ((queries.getQueryData<Flag>(key)?.version ?? flag.version) < flag.version) {
      queries.invalidateQueries({ queryKey: key })
    }
  }
  for (const kind of flagKinds) {
    queries.setQueryData<FlagPages>(listKey(projectId, kind), data => data && withFlags(data, kind, flags))
  }
  const changed = new Map(flags.map(flag => [flag.id, flag]))
  queries.setQueriesData<FlagPage>({ queryKey: windowKey(projectId) }, page => {
    if (!page?.results.some(({ id }) => changed.has(id))) return page
    return { ...page, results: page.results.map(old => summaryOf(changed.get(old.id) ?? old, old)) }
  })
}

/** What a change adds to a long list, removes from it or moves in it is for the server to say. */
function refreshWindows(queries: QueryClient, projectId: string): void {
  queries.invalidateQueries({ queryKey: windowKey(projectId) })
  queries.invalidateQueries({ queryKey: facetsKey(projectId) })
  for (const kind of flagKinds) {
    const key = listKey(projectId, kind)
    const count = queries.getQueryData<FlagPages>(key)?.pages[0]?.count ?? 0
    if (count > flagsInMemoryMax) queries.invalidateQueries({ queryKey: key })
  }
}

export function invalidateFlagLists(queries: QueryClient, projectId: string): Promise<void> {
  refreshWindows(queries, projectId)
  return queries.invalidateQueries({ queryKey: ['flags', projectId] })
}

export function withFlags(data: FlagPages, kind: FlagKind, flags: readonly ListedFlag[]): FlagPages {
  const changed = new Map(flags.map(flag => [flag.id, flag]))
  let removed = 0
  const pages = data.pages.map(page => {
    if (!page.results.some(({ id }) => changed.has(id))) return page
    const results = page.results.flatMap(old => {
      const flag = changed.get(old.id)
      if (!flag) return old
      changed.delete(old.id)
      if (belongs(flag, kind)) return summaryOf(flag, old)
      removed += 1
      return []
    })
    return { ...page, results }
  })
  // Only the server decides whether another flag is stale.
  const candidates = kind === 'stale' ? [] : [...changed.values()].filter(flag => belongs(flag, kind))
  const added = candidates.map(flag => summaryOf(flag)).filter(flag => hasPlace(pages, flag))
  return { ...data, pages: counted(added.reduce(insert, pages), added.length - removed) }
}

const belongs = (flag: ListedFlag, kind: FlagKind): boolean =>
  kind === 'deleted'
    ? flag.deleted
    : !flag.deleted && flag.archived === (kind === 'archived') && (kind !== 'stale' || flag.active)

/** Lists are sorted newest first. */
const isNewer = (flag: FlagSummary) => (other: FlagSummary) =>
  other.created_at < flag.created_at || (other.created_at === flag.created_at && other.id < flag.id)

/** A flag older than all loaded ones has its place on a page that is not loaded, and may be counted already. */
const hasPlace = (pages: readonly FlagPage[], flag: FlagSummary): boolean =>
  pages.reduce((sum, page) => sum + page.results.length, 0) >= (pages[0]?.count ?? 0) ||
  pages.some(page => page.results.some(isNewer(flag)))

function insert(pages: FlagPage[], flag: FlagSummary): FlagPage[] {
  const isBefore = isNewer(flag)
  const at = pages.findIndex(page => page.results.some(isBefore))
  const target = at === -1 ? pages.length - 1 : at
  return pages.map((page, index) => {
    if (index !== target) return page
    const place = page.results.findIndex(isBefore)
    const results = page.results.toSpliced(place === -1 ? page.results.length : place, 0, flag)
    return { ...page, results }
  })
}

const counted = (pages: FlagPage[], difference: number): FlagPage[] =>
  difference === 0 ? pages : pages.map(page => ({ ...page, count: page.count + difference }))
