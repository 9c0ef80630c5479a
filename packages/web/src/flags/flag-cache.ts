import type { Flag, FlagWrite } from '@halyard/contract'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'
import { type OptimisticFlag, rebased, visibleFlag, withoutPatch, withPatch } from './optimistic-flag.ts'

/** Which flags a list holds. */
export type FlagKind = 'live' | 'deleted' | 'stale' | 'archived'

export interface FlagPage {
  readonly count: number
  readonly results: readonly Flag[]
}

export type FlagPages = InfiniteData<FlagPage>

const flagKinds = ['live', 'deleted', 'stale', 'archived'] as const
export const listKey = (projectId: string, kind: FlagKind) => ['flags', projectId, kind] as const
export const flagKey = (projectId: string, flagId: number | string) => ['flag', projectId, String(flagId)] as const

/** Not in the query cache, whose structural sharing would replace the patches by equal copies. */
const optimisticFlags = new WeakMap<QueryClient, Map<string, OptimisticFlag>>()

function optimisticOf(queries: QueryClient): Map<string, OptimisticFlag> {
  const known = optimisticFlags.get(queries) ?? new Map<string, OptimisticFlag>()
  optimisticFlags.set(queries, known)
  return known
}

const optimisticKey = (projectId: string, flagId: number): string => `${projectId}/${flagId}`

/** Stores a flag as the server has sent it, in every list that should hold it; nothing is fetched. */
export function cacheFlag(queries: QueryClient, projectId: string, flag: Flag): void {
  cacheFlags(queries, projectId, [flag])
}

export function cacheFlags(queries: QueryClient, projectId: string, flags: readonly Flag[]): void {
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
}

/** Shows a patch before the server has confirmed it. */
export function applyPatch(queries: QueryClient, projectId: string, flag: Flag, patch: FlagWrite): void {
  const optimistic = optimisticOf(queries)
  const key = optimisticKey(projectId, flag.id)
  const base = cachedFlag(queries, projectId, flag.id) ?? flag
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
    if (response) show(queries, projectId, [response])
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
}

/** The flag as any cached query has it. */
function cachedFlag(queries: QueryClient, projectId: string, flagId: number): Flag | undefined {
  const single = queries.getQueryData<Flag>(flagKey(projectId, flagId))
  if (single) return single
  for (const kind of flagKinds) {
    for (const { results } of queries.getQueryData<FlagPages>(listKey(projectId, kind))?.pages ?? []) {
      const found = results.find(({ id }) => id === flagId)
      if (found) return found
    }
  }
  return undefined
}

function show(queries: QueryClient, projectId: string, flags: readonly Flag[]): void {
  for (const flag of flags) queries.setQueryData(flagKey(projectId, flag.id), flag)
  for (const kind of flagKinds) {
    queries.setQueryData<FlagPages>(listKey(projectId, kind), data => data && withFlags(data, kind, flags))
  }
}

export const invalidateFlagLists = (queries: QueryClient, projectId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['flags', projectId] })

export function withFlags(data: FlagPages, kind: FlagKind, flags: readonly Flag[]): FlagPages {
  const changed = new Map(flags.map(flag => [flag.id, flag]))
  let removed = 0
  const pages = data.pages.map(page => {
    if (!page.results.some(({ id }) => changed.has(id))) return page
    const results = page.results.flatMap(old => {
      const flag = changed.get(old.id)
      if (!flag) return old
      changed.delete(old.id)
      if (belongs(flag, kind)) return flag
      removed += 1
      return []
    })
    return { ...page, results }
  })
  // Only the server decides whether another flag is stale.
  const added = kind === 'stale' ? [] : [...changed.values()].filter(flag => belongs(flag, kind))
  return { ...data, pages: counted(added.reduce(insert, pages), added.length - removed) }
}

const belongs = (flag: Flag, kind: FlagKind): boolean =>
  kind === 'deleted'
    ? flag.deleted
    : !flag.deleted && flag.archived === (kind === 'archived') && (kind !== 'stale' || flag.active)

/** Lists are sorted newest first. A flag older than all loaded ones arrives with its own page. */
function insert(pages: FlagPage[], flag: Flag): FlagPage[] {
  const isBefore = (other: Flag) =>
    other.created_at < flag.created_at || (other.created_at === flag.created_at && other.id < flag.id)
  const isComplete = pages.reduce((sum, page) => sum + page.results.length, 0) >= (pages[0]?.count ?? 0)
  const at = pages.findIndex(page => page.results.some(isBefore))
  const target = at === -1 && isComplete ? pages.length - 1 : at
  return pages.map((page, index) => {
    if (index !== target) return page
    const place = page.results.findIndex(isBefore)
    const results = page.results.toSpliced(place === -1 ? page.results.length : place, 0, flag)
    return { ...page, results }
  })
}

const counted = (pages: FlagPage[], difference: number): FlagPage[] =>
  difference === 0 ? pages : pages.map(page => ({ ...page, count: page.count + difference }))
