import type { Flag } from '@halyard/contract'
import type { InfiniteData, QueryClient } from '@tanstack/react-query'

/** Which flags a list holds. */
export type FlagKind = 'live' | 'deleted' | 'stale'

export interface FlagPage {
  readonly count: number
  readonly results: readonly Flag[]
}

export type FlagPages = InfiniteData<FlagPage>

export const listKey = (projectId: string, kind: FlagKind) => ['flags', projectId, kind] as const
export const flagKey = (projectId: string, flagId: number | string) => ['flag', projectId, String(flagId)] as const

/** Updates a flag in every cached list that should hold it and removes it from the others; nothing is fetched. */
export function cacheFlag(queries: QueryClient, projectId: string, flag: Flag): void {
  cacheFlags(queries, projectId, [flag])
}

export function cacheFlags(queries: QueryClient, projectId: string, flags: readonly Flag[]): void {
  for (const flag of flags) queries.setQueryData(flagKey(projectId, flag.id), flag)
  for (const kind of ['live', 'deleted', 'stale'] as const) {
    queries.setQueryData<FlagPages>(listKey(projectId, kind), data => data && withFlags(data, kind, flags))
  }
}

export const invalidateFlagLists = (queries: QueryClient, projectId: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['flags', projectId] })

export function withFlags(data: FlagPages, kind: FlagKind, flags: readonly Flag[]): FlagPages {
  const changed = new Map(flags.map(flag => [flag.id, flag]))
  let gone = 0
  const pages = data.pages.map(page => {
    if (!page.results.some(({ id }) => changed.has(id))) return page
    const results = page.results.flatMap(old => {
      const flag = changed.get(old.id)
      if (!flag) return old
      changed.delete(old.id)
      if (belongs(flag, kind)) return flag
      gone += 1
      return []
    })
    return { ...page, results }
  })
  // Only the server decides whether another flag is stale.
  const added = kind === 'stale' ? [] : [...changed.values()].filter(flag => belongs(flag, kind))
  return { ...data, pages: counted(added.reduce(insert, pages), added.length - gone) }
}

const belongs = (flag: Flag, kind: FlagKind): boolean =>
  kind === 'deleted' ? flag.deleted : !flag.deleted && (kind === 'live' || flag.active)

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
