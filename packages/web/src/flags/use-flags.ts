import { type FlagWrite, routes } from '@halyard/contract'
import {
  infiniteQueryOptions,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { Call } from '../api/client.ts'
import { useCall } from '../services/services.ts'
import { applyPatch, type FlagKind, type FlagPage, flagsInMemoryMax, listKey, settlePatch } from './flag-cache.ts'
import type { SaveMode } from './gate/save-mode.ts'
import type { ListedFlag } from './optimistic-flag.ts'
import { saveFlag } from './save-flag.ts'

/** Small, so that rows appear quickly. */
const firstPageSize = 100

const filterOf = (kind: FlagKind) =>
  ({
    live: {},
    deleted: { deleted: 'true' },
    stale: { active: 'STALE' },
    archived: { archived: 'true' },
  })[kind]

const flagListQuery = (call: Call, projectId: string, kind: FlagKind) =>
  infiniteQueryOptions({
    queryKey: listKey(projectId, kind),
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<FlagPage> =>
      call(routes.flagList.list, {
        params: { project_id: projectId },
        query: {
          ...filterOf(kind),
          limit: String(pageParam === 0 ? firstPageSize : flagsInMemoryMax),
          offset: String(pageParam),
        },
        signal,
      }),
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, page) => sum + page.results.length, 0)
      const isMore = last.results.length > 0 && loaded < last.count && last.count <= flagsInMemoryMax
      return isMore ? loaded : undefined
    },
    // The change stream keeps the lists current; only staleness changes with time alone.
    staleTime: kind === 'stale' ? 30_000 : Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })

/** Loads the first flags while the page's code is loading. */
export const prefetchFlags = (queries: QueryClient, call: Call, projectId: string, kind: FlagKind): Promise<void> =>
  queries.prefetchInfiniteQuery(flagListQuery(call, projectId, kind))

/**
 * The flags of a project, newest first: all of them when they are few enough (`isComplete`), otherwise the first page
 * and their number.
 */
export function useFlags(projectId: string, kind: FlagKind) {
  const query = useInfiniteQuery(flagListQuery(useCall(), projectId, kind))
  const { hasNextPage, isFetching, fetchNextPage, isError } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])

  const pages = query.data?.pages
  const flags = useMemo(() => {
    if (!pages) return undefined
    // A flag created between two requests shifts the pages by one, so duplicates are dropped.
    return [...new Map(pages.flatMap(page => page.results).map(flag => [flag.id, flag])).values()]
  }, [pages])
  const total = pages?.[0]?.count ?? 0
  return {
    flags,
    total,
    firstPage: pages?.[0],
    isComplete: !hasNextPage && total <= flagsInMemoryMax,
    isLong: total > flagsInMemoryMax,
    error: query.error,
    refetch: query.refetch,
  }
}

/** Updates one flag optimistically and rolls back only its own fields if the server rejects the change. */
export function usePatchFlag(projectId: string) {
  const call = useCall()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ flag, patch, mode }: { flag: ListedFlag; patch: FlagWrite; mode: SaveMode }) =>
      saveFlag(call, { projectId, flagId: flag.id, patch }, mode),
    onMutate: ({ flag, patch, mode }) => {
      if (mode.kind !== 'request') applyPatch(queries, projectId, flag, patch)
    },
    onSuccess: (outcome, { flag, patch }) =>
      settlePatch(queries, projectId, flag.id, patch, outcome.kind === 'saved' ? outcome.flag : undefined),
    onError: (_error, { flag, patch }) => settlePatch(queries, projectId, flag.id, patch),
  })
}
