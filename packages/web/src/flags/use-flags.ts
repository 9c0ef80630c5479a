import { type Flag, type FlagWrite, routes } from '@halyard/contract'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useCall } from '../app/services.ts'
import { type FlagKind, type FlagPage, listKey, rememberFlag } from './flag-cache.ts'

/** The first page is small, so that something is there at once; the rest follows in large ones. */
const firstPageSize = 100
const pageSize = 1000

const filterOf = (kind: FlagKind) =>
  ({
    live: {},
    deleted: { deleted: 'true' },
    stale: { active: 'STALE' },
  })[kind]

/** All flags of a project, newest first: searching and sorting them needs no more requests. */
export function useFlags(projectId: string, kind: FlagKind = 'live') {
  const call = useCall()
  const query = useInfiniteQuery({
    queryKey: listKey(projectId, kind),
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }): Promise<FlagPage> =>
      call(routes.flags.list, {
        params: { project_id: projectId },
        query: {
          ...filterOf(kind),
          limit: String(pageParam === 0 ? firstPageSize : pageSize),
          offset: String(pageParam),
        },
        signal,
      }),
    getNextPageParam: (last, pages) => {
      const loaded = pages.reduce((sum, page) => sum + page.results.length, 0)
      return last.results.length > 0 && loaded < last.count ? loaded : undefined
    },
    // Live updates keep the lists true; only what is stale changes with time alone.
    staleTime: kind === 'stale' ? 30_000 : Number.POSITIVE_INFINITY,
    structuralSharing: false,
  })
  const { hasNextPage, isFetching, fetchNextPage, isError } = query
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) fetchNextPage()
  }, [hasNextPage, isFetching, isError, fetchNextPage])

  const pages = query.data?.pages
  const flags = useMemo(() => {
    if (!pages) return undefined
    // A flag that was created meanwhile shifts the pages by one: each counts once.
    return [...new Map(pages.flatMap(page => page.results).map(flag => [flag.id, flag])).values()]
  }, [pages])
  return { flags, total: pages?.[0]?.count ?? 0, isComplete: !hasNextPage, error: query.error, refetch: query.refetch }
}

/** Changes one flag. The lists show the change at once and take it back if the server refuses. */
export function usePatchFlag(projectId: string) {
  const call = useCall()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ flag, patch }: { flag: Flag; patch: FlagWrite }) =>
      call(routes.flags.update, { params: { project_id: projectId, id: String(flag.id) }, body: patch }),
    onMutate: ({ flag, patch }) => rememberFlag(queries, projectId, { ...flag, ...patch } as Flag),
    onSuccess: flag => rememberFlag(queries, projectId, flag),
    onError: (_error, { flag }) => rememberFlag(queries, projectId, flag),
  })
}
